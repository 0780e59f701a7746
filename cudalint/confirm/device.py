"""The GPU through CuPy: the only module that imports it. Nothing here knows of facts or predictions."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cudalint.confirm.sources import MAIN, Build
from cudalint.confirm.trials import Buffer, Device, ModuleFigures, Trial
from cudalint.system.disk.tools import tool

_CANARY_BYTES = 1 << 16
_CANARY = 0xA5
_ALIGNMENT = 256
_OPT_IN_BYTES = 48 * 1024
"""Above this, dynamic shared memory has to be asked for (CUDA C++ Programming Guide, section "Shared Memory")."""
_PATTERN_BYTES = 1 << 22
_WARM_UPS = 3
_REPEATS = 25
_TIMING_BUDGET = 300.0
"""Milliseconds after which no further repetition is timed."""


class Missing(Exception):
    """What there would have to be, in one line."""


class CompileFailure(Exception):
    """The compiler's first complaint."""


class Fault(Exception):
    """The kernel's error, as the driver names it. The context is of no use after it, unless `launch` is set."""

    def __init__(self, message: str, *, launch: bool) -> None:
        super().__init__(message)
        self.launch = launch


class Gpu(Protocol):
    """What a trial needs of a GPU. The tests have another one."""

    def compile(self, trial: Trial) -> Kernel: ...

    def fill(self, buffer: Buffer, pattern: NDArray[np.uint8]) -> Memory: ...


class Memory(Protocol):
    address: int
    """Of the buffer's first byte."""

    def read(self) -> NDArray[np.uint8]: ...

    def is_overrun(self) -> bool: ...


class Kernel(Protocol):
    def figures(self) -> ModuleFigures: ...

    def launch(self, arguments: Sequence[bytes]) -> None: ...

    def time(self, arguments: Sequence[bytes]) -> float: ...

    def write_global(self, name: str, value: NDArray[Any]) -> None: ...

    def read_global(self, name: str, like: NDArray[Any]) -> NDArray[Any]: ...


def pattern_of(buffer: Buffer, index: int, trial: Trial) -> NDArray[np.uint8]:
    """What a buffer is filled with, over and over: the same random bytes whenever the seed is the same. Integers are
    small: they may be sizes or indices."""
    random = np.random.default_rng([trial.seed, index])
    kind, width = buffer.element_kind, buffer.element_bytes
    count = min(_PATTERN_BYTES, buffer.bytes) // width + 1
    values: NDArray[Any]
    if kind == "float" and width in (2, 4, 8):
        values = (random.random(count) + 0.5).astype(f"f{width}")
    elif kind in ("int", "uint") and width in (1, 2, 4, 8) and not trial.zero_integers:
        values = random.integers(0, 100, count).astype(f"u{width}")
    else:
        return np.zeros(1, dtype=np.uint8)
    return values.view(np.uint8)


def digest(content: NDArray[np.uint8]) -> str:
    return hashlib.sha256(content.tobytes()).hexdigest()


# --- CuPy ----------------------------------------------------------------------------------------------------


@cache
def cupy() -> Any:
    """CuPy with a GPU behind it, or why there is none."""
    try:
        import cupy as module
    except ImportError as error:
        if "cupy" in str(error).partition("(")[0].lower() and not isinstance(error, ModuleNotFoundError):
            raise Missing(f"CuPy cannot be loaded: {first_line(error)}") from None
        raise Missing("CuPy is not installed (pip install 'cudalint[gpu]')") from None
    try:
        count = module.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise Missing(f"no GPU can be used: {first_line(error)}") from None
    if not count:
        raise Missing("no GPU is there")
    return module


def first_line(error: BaseException | str) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def device() -> Device:
    module = cupy()
    runtime = module.cuda.runtime
    properties = runtime.getDeviceProperties(0)
    name = properties["name"]
    return Device(
        name=name.decode() if isinstance(name, bytes) else str(name),
        architecture=f"sm_{properties['major']}{properties['minor']}",
        driver=_driver_version() or f"for CUDA {_version(runtime.driverGetVersion())}",
        runtime=_version(runtime.runtimeGetVersion()),
        compiler="NVRTC {}.{}".format(*module.cuda.nvrtc.getVersion()),
        cupy=str(module.__version__),
        nvcc=module.cuda.get_nvcc_path(),
    )


def _driver_version() -> str | None:
    """The driver's own version, where the system says it."""
    program = tool("nvidia-smi")
    if program is None:
        return None
    command = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return first_line(said.stdout) if said.stdout.strip() else None


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


class CupyGpu:
    def compile(self, trial: Trial) -> Kernel:
        build = trial.build
        os.makedirs(trial.folder, exist_ok=True)
        for name, text in build.files.items():
            with open(os.path.join(trial.folder, name), "wb") as file:
                file.write(text)
        try:
            function, module = self._nvrtc(build, trial.folder)
            return CupyKernel(function, module, trial, "nvrtc")
        except CompileFailure as failure:
            nvcc = cupy().cuda.get_nvcc_path()
            if nvcc is None or trial.sites:
                raise
            try:
                function, module = self._nvcc(build, trial.folder)
            except CompileFailure as second:
                raise CompileFailure(f"NVRTC: {failure}; nvcc: {second}") from None
            return CupyKernel(function, module, trial, "nvcc")

    def _nvrtc(self, build: Build, folder: str) -> tuple[Any, Any]:
        main = os.path.join(folder, MAIN)
        text = build.files[MAIN].decode("utf-8", "replace")
        code = f'{build.prelude}\n#line 1 "{main}"\n{text}'
        # What has no execution space is a constexpr or a constructor that the kernel calls.
        options = (*_with_standard(build.options), "-lineinfo", "--device-as-default-execution-space", f"-I{folder}")
        try:
            module = cupy().RawModule(code=code, options=options, name_expressions=[build.name_expression])
            return module.get_function(build.name_expression), module
        except Exception as error:
            raise CompileFailure(_complaint(error, folder, build)) from None

    def _nvcc(self, build: Build, trial_folder: str) -> tuple[Any, Any]:
        main = os.path.join(trial_folder, MAIN)
        code = f'#line 1 "{main}"\n{build.whole.decode("utf-8", "replace")}'
        folder = os.path.dirname(os.path.abspath(build.original))
        options = (*_with_standard(build.options), "-lineinfo", f"-I{folder}")
        try:
            module = cupy().RawModule(code=code, options=options, backend="nvcc")
            return module.get_function(build.mangled_name), module
        except Exception as error:
            raise CompileFailure(_complaint(error, folder, build)) from None

    def fill(self, buffer: Buffer, pattern: NDArray[np.uint8]) -> Memory:
        return CupyMemory(pattern, buffer.bytes)


def _with_standard(options: tuple[str, ...]) -> tuple[str, ...]:
    return options if any(o.startswith("-std") for o in options) else ("-std=c++17", *options)


def _complaint(error: Exception, folder: str, build: Build) -> str:
    """The first error of a compiler's log, with the user's name of the file."""
    lines = [line.strip() for line in str(error).splitlines()]
    first = next((line for line in lines if re.search(r"\berror\b", line)), first_line(error))
    return first.replace(os.path.join(folder, MAIN), build.original).replace(folder + os.sep, "")[:300]


class CupyMemory:
    """A buffer between two stretches of known bytes, filled by copies: ncu is to see no kernels but the user's."""

    def __init__(self, pattern: NDArray[np.uint8], size: int) -> None:
        self._bytes = size
        behind = -(-size // _ALIGNMENT) * _ALIGNMENT - size + _CANARY_BYTES
        self._array = cupy().empty(_CANARY_BYTES + size + behind, dtype=np.uint8)
        self.address = int(self._array.data.ptr) + _CANARY_BYTES
        self._upload(-_CANARY_BYTES, np.full(_CANARY_BYTES, _CANARY, dtype=np.uint8))
        self._upload(size, np.full(behind, _CANARY, dtype=np.uint8))
        filled = min(len(pattern), size)
        self._upload(0, pattern[:filled])
        while filled < size:
            # Whole patterns, twice as many each time.
            more = min(filled, size - filled)
            runtime = cupy().cuda.runtime
            runtime.memcpy(self.address + filled, self.address, more, runtime.memcpyDeviceToDevice)
            filled += more

    def _upload(self, offset: int, content: NDArray[np.uint8]) -> None:
        start = _CANARY_BYTES + offset
        self._array[start : start + len(content)].set(np.ascontiguousarray(content))

    def read(self) -> NDArray[np.uint8]:
        return self._piece(_CANARY_BYTES, self._bytes)

    def is_overrun(self) -> bool:
        before, end = self._piece(0, _CANARY_BYTES), _CANARY_BYTES + self._bytes
        behind = self._piece(end, len(self._array) - end)
        return bool((before != _CANARY).any() or (behind != _CANARY).any())

    def _piece(self, start: int, size: int) -> NDArray[np.uint8]:
        result: NDArray[np.uint8] = self._array[start : start + size].get()
        return result


class CupyKernel:
    def __init__(self, function: Any, module: Any, trial: Trial, backend: str) -> None:
        self._function = function
        self._module = module
        self._trial = trial
        self._backend = backend

    def figures(self) -> ModuleFigures:
        attributes = self._function.attributes
        return ModuleFigures(
            registers=attributes["num_regs"],
            static_shared=attributes["shared_size_bytes"],
            local=attributes["local_size_bytes"],
            blocks_per_sm=self._blocks_per_sm(),
            backend=self._backend,
        )

    def _blocks_per_sm(self) -> int | None:
        x, y, z = self._trial.block
        try:
            self._opt_in()
            blocks: int = cupy().cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
                self._function.kernel.ptr, x * y * z, self._trial.dynamic_shared
            )
        except Exception:
            return None  # The launch is beyond the device's limits; running it says how.
        return blocks

    def _opt_in(self) -> None:
        asked, needed = self._trial.opted_in, self._trial.dynamic_shared
        if asked is None and needed > _OPT_IN_BYTES - self._function.attributes["shared_size_bytes"]:
            asked = needed
        if asked:
            self._function.max_dynamic_shared_size_bytes = asked

    def launch(self, arguments: Sequence[bytes]) -> None:
        try:
            self._opt_in()
            self._start(arguments)
        except Exception as error:
            raise Fault(first_line(error), launch=True) from None
        try:
            cupy().cuda.runtime.deviceSynchronize()
        except Exception as error:
            raise Fault(first_line(error), launch=False) from None

    def _start(self, arguments: Sequence[bytes]) -> None:
        """Parameters go by the driver's own interface, as images of their bytes: structs have no other way."""
        images = [ctypes.create_string_buffer(image, max(1, len(image))) for image in arguments]
        pointers = (ctypes.c_void_p * max(1, len(images)))(*[ctypes.addressof(image) for image in images])
        cupy().cuda.driver.launchKernel(
            self._function.kernel.ptr,
            *self._trial.grid,
            *self._trial.block,
            self._trial.dynamic_shared,
            cupy().cuda.get_current_stream().ptr,
            ctypes.addressof(pointers),
            0,
        )

    def time(self, arguments: Sequence[bytes]) -> float:
        events = cupy().cuda
        for _ in range(_WARM_UPS):
            self._start(arguments)
        times: list[float] = []
        while len(times) < _REPEATS and sum(times) < _TIMING_BUDGET:
            start, end = events.Event(), events.Event()
            start.record()
            self._start(arguments)
            end.record()
            end.synchronize()
            times.append(events.get_elapsed_time(start, end))
        return median(times)

    def write_global(self, name: str, value: NDArray[Any]) -> None:
        pointer = self._module.get_global(name)
        pointer.copy_from_host(value.ctypes.data_as(ctypes.c_void_p), value.nbytes)

    def read_global(self, name: str, like: NDArray[Any]) -> NDArray[Any]:
        result = np.empty_like(like)
        self._module.get_global(name).copy_to_host(result.ctypes.data_as(ctypes.c_void_p), result.nbytes)
        return result

