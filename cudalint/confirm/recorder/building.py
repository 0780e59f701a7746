"""The library that the driver loads, built once for each compiler and CUDA, and kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from cudalint.confirm.recorder.headers import Cupti, find_cupti
from cudalint.system.disk.cache_folder import cache_folder
from cudalint.system.disk.regular import is_kept
from cudalint.system.disk.tools import safe_environment, tool, tool_at
from cudalint.toolchain.toolkit.nvcc import find_nvcc

_FOLDER: Final = os.path.dirname(os.path.abspath(__file__))
_SOURCES: Final = (
    "injection.cpp", "launch_table.h", "hash_table.h", "launch_files.h", "exports.map", "stand_ins/crt/host_defines.h",
)  # fmt: skip
_STAND_INS: Final = os.path.join(_FOLDER, "stand_ins")
_VERSIONS: Final = ("cuda.h", "cupti_version.h")
_COMPILERS: Final = ("c++", "g++", "clang++")
_SECONDS: Final = 120.0
_LIBRARY: Final = "libcudalint-record.so"
_OPTIONS: Final = ("-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
_ALONE: Final = ("-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL")
"""Programs bring a C++ library of their own, which may be older than the compiler's."""
_ONLY_FOR_THE_USER: Final = 0o700
_MOST_LETTERS: Final = 300
"""Of what a compiler says."""


class BuildError(Exception):
    """The library can't be built; the message is one line."""


@contextmanager
def built_library() -> Iterator[str]:
    """The path of the library. Raises BuildError."""
    cupti = find_cupti()
    if cupti is None:
        raise BuildError(
            "no CUPTI is found, with which launches are recorded: it comes with the CUDA toolkit (CUDA_HOME names one) "
            "and as the wheels nvidia-cuda-cupti and nvidia-cuda-runtime"
        )
    compiler = _compiler()
    kept = _kept(compiler, cupti)
    if kept is not None and is_kept(kept):
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="cudalint-") as folder:
        made = os.path.join(folder, _LIBRARY)
        _compile(compiler, cupti, made)
        yield (_keep(made, kept) if kept is not None else None) or made


def _compiler() -> list[str]:
    """The user's own with its options, else the first that is there."""
    own = shlex.split(os.environ.get("CXX", ""))
    if own:
        found = tool_at(own[0]) if os.path.isabs(own[0]) else tool(own[0])
        if found is None:
            raise BuildError(f"CXX names the compiler {own[0]}, which can't be run")
        return [found, *own[1:]]
    found = next(filter(None, map(tool, _COMPILERS)), None)
    if found is not None:
        return [found]
    nvcc = find_nvcc(None)
    if nvcc is None:
        raise BuildError(
            "no C++ compiler is found, with which the library that records launches is built (CXX names one)"
        )
    return [nvcc]


def _command(compiler: Sequence[str], cupti: Cupti, made: str, is_alone: bool) -> list[str]:
    linked = f"-Wl,--version-script={os.path.join(_FOLDER, 'exports.map')},-rpath,{os.path.dirname(cupti.library)}"
    options = [*_OPTIONS, *(_ALONE if is_alone else ()), linked]
    sources = [os.path.join(_FOLDER, _SOURCES[0]), "-o", made, cupti.library, "-ldl"]
    if os.path.basename(compiler[0]) == "nvcc":
        # It hands these to the compiler of the host, in one word for each.
        passed = [word for option in (*options, "-idirafter", _STAND_INS) for word in ("-Xcompiler", _quoted(option))]
        return [*compiler, "-std=c++17", "-shared", *passed, *(f"-I{own}" for own in cupti.folders), *sources]
    return [*compiler, *options, *(f"-I{own}" for own in cupti.folders), "-idirafter", _STAND_INS, *sources]


def _quoted(option: str) -> str:
    return f'"{option}"'


def _compile(compiler: Sequence[str], cupti: Cupti, made: str) -> None:
    said = ""
    for is_alone in (True, False):
        command = _command(compiler, cupti, made, is_alone)
        try:
            # The user asked for this program, and no shell reads the arguments.
            done = subprocess.run(  # noqa: S603
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False,
                env=safe_environment(),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise BuildError(f"{compiler[0]} takes longer than {_SECONDS:g} seconds") from None
        except OSError as error:
            raise BuildError(f"{compiler[0]} can't be run: {error.strerror or error}") from error
        if done.returncode == 0:
            return
        said = said or _first_error((done.stderr + done.stdout).decode("utf-8", "replace"), done.returncode)
    raise BuildError(f"the library that records launches can't be built with {compiler[0]}: {said}")


def _first_error(output: str, status: int) -> str:
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line]
    return (errors or lines or [f"exit status {status}"])[0][:_MOST_LETTERS]


# --- the library that is kept ------------------------------------------------------------------------------


def _kept(compiler: Sequence[str], cupti: Cupti) -> str | None:
    """Where it is kept for this compiler and this CUDA; None where nothing can be."""
    root = cache_folder()
    if root is None:
        return None
    digest = hashlib.sha256(repr((_OPTIONS, _ALONE, *compiler, cupti)).encode())
    for name in _SOURCES:
        with open(os.path.join(_FOLDER, name), "rb") as file:
            digest.update(file.read())
    headers = [os.path.join(folder, name) for folder in cupti.folders for name in _VERSIONS]
    for path in (os.path.realpath(compiler[0]), os.path.realpath(cupti.library), *headers):
        with suppress(OSError):
            status = os.stat(path)
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return os.path.join(root, "recorder", digest.hexdigest()[:24], _LIBRARY)


def _keep(made: str, kept: str) -> str | None:
    """Puts the library where it is kept; None where that can't be. Whoever could write there could have programs load
    what they like, so the folder is the user's alone."""
    folder = os.path.dirname(kept)
    try:
        for own in (os.path.dirname(folder), folder):
            os.makedirs(own, _ONLY_FOR_THE_USER, exist_ok=True)
            if not _is_own(own):
                return None
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".new")
        os.close(handle)
        shutil.copyfile(made, temporary)
        os.chmod(temporary, _ONLY_FOR_THE_USER)
        os.replace(temporary, kept)
    except OSError:
        return None
    return kept if is_kept(kept) else None


def _is_own(folder: str) -> bool:
    status = os.lstat(folder)
    others = stat.S_IWGRP | stat.S_IWOTH
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & others
