"""Asking the user's nvcc for the registers that each kernel of a file takes, and remembering the answer.

Compiling takes a second or so, and linting happens often, so that what nvcc printed is kept on disk until the file,
a header of the project that it includes, the options or nvcc itself change.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.regexes import regex
from cudalint.system.disk.arguments import as_path, harmless
from cudalint.system.disk.cache_folder import cache_folder
from cudalint.system.disk.regular import read_kept, read_regular
from cudalint.system.disk.replacing import replacing
from cudalint.system.disk.tools import safe_environment, tool, tool_at
from cudalint.toolchain.toolkit.disassembly import spill_lines
from cudalint.toolchain.toolkit.usage import HeaderNotFoundError, Usage, UsageError, read_ptxas, spilled_text

SECONDS = 60.0
"""After this time a compilation is given up."""
_CACHE_FORMAT = 2
_OF_PACKAGES = os.path.join("cu[0-9]*", "bin", "nvcc")
"""Where the wheels of `nvidia-cuda-nvcc` have it since version 13."""
_NEEDS_LINKING = "Unresolved extern"
"""What ptxas says of functions that other files define: such files are compiled for linking."""
_NOT_FOUND = regex(
    r"(?:fatal|catastrophic) error\s*:\s*(?:'?([^':\s]+)'?(?:: No such file or directory| file not found)"
    r"|cannot open source file \"([^\"]+)\")"
)
"""What gcc and clang, and nvcc's own front end, say of a header that is nowhere."""
_OF_TORCH = regex(r"(torch|ATen|c10|caffe2)/")
_OF_SHELLS = regex(r"[$`\\\r\n\0]")
"""What means something to a shell inside of double quotes, between which nvcc puts what it hands to the compilers."""


class Compilation(Struct, frozen=True):
    """How to compile one file."""

    path: str
    architecture: str
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str | None = None
    extra: tuple[str, ...] = ()
    max_registers: int | None = None
    cuda_path: str | None = None
    text: str | None = None
    """The file's content, where it isn't what lies on disk."""

    def arguments(self) -> list[str]:
        found = ["-cubin", f"-arch={self.architecture}", "-lineinfo", "-Xptxas", "-v"]
        found += [f"-I{as_path(folder)}" for folder in self.include_dirs]
        found += [f"-D{define}" for define in self.defines]
        found += harmless(self.extra)
        if self.std is not None:
            found.append(f"-std={self.std}")
        if self.max_registers is not None:
            found.append(f"-maxrregcount={self.max_registers}")
        return found


def find_nvcc(cuda_path: str | None) -> str | None:
    """The nvcc of the named toolkit, else the one in PATH, that of CUDA_HOME or CUDA_PATH, or of NVIDIA's packages for
    Python, as the extra `ptxas` installs them."""
    named = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    homes = [cuda_path] if cuda_path else [home for home in named if home and os.path.isabs(home)]
    inside = [tool_at(os.path.join(home, "bin", "nvcc")) for home in homes]
    on_path = None if cuda_path else tool("nvcc")
    return on_path or next((found for found in inside if found), None) or (None if cuda_path else _nvcc_of_packages())


def _nvcc_of_packages() -> str | None:
    """The newest nvcc of the environment that this program is installed in."""
    folders = (os.path.join(folder, "nvidia") for folder in dict.fromkeys(sysconfig.get_paths().values()))
    found = [path for folder in folders for path in glob.glob(os.path.join(glob.escape(folder), _OF_PACKAGES))]
    return next(filter(None, (tool_at(path) for path in sorted(found, reverse=True))), None)


def compiled_usage(compilation: Compilation) -> dict[str, Usage]:
    """The usage of every kernel that nvcc finds in the file. Raises UsageError."""
    nvcc = find_nvcc(compilation.cuda_path)
    if nvcc is None:
        raise UsageError("no nvcc found")
    entry = _cache_entry(nvcc, compilation)
    kept = _kept(entry)
    if kept is not None:
        return read_ptxas(kept)
    output, dependencies = _compile(nvcc, compilation)
    _keep(entry, output, {} if compilation.text is not None else _hashes([compilation.path, *dependencies]))
    return read_ptxas(output)


def _compile(nvcc: str, compilation: Compilation) -> tuple[str, list[str]]:
    """What nvcc prints, and the project's files that it read."""
    with tempfile.TemporaryDirectory(prefix="cudalint-") as folder:
        source = os.path.abspath(compilation.path)
        arguments = compilation.arguments()
        if compilation.text is not None:
            source = os.path.join(folder, "source.cu")
            with open(source, "w", encoding="utf-8") as file:
                file.write(compilation.text)
            arguments.append(f"-I{os.path.dirname(os.path.abspath(compilation.path))}")
        listing = os.path.join(folder, "dependencies")
        for word in (*arguments, source):
            if _OF_SHELLS.search(word):
                raise UsageError(f"`{word}` is not for nvcc, which hands it to a shell")
        command = [nvcc, *arguments, "-MMD", "-MF", listing, "-o", os.path.join(folder, "out.cubin"), source]
        status, output = _run(command)
        if status != 0 and _NEEDS_LINKING in output:
            status, output = _run([*command, "-rdc=true"])
        if status != 0:
            error = _first_error(output, status)
            missing = _NOT_FOUND.search(error)
            if missing is not None:
                raise HeaderNotFoundError(_without_header(missing[1] or missing[2]))
            raise UsageError(f"nvcc fails: {error}")
        return output + _spilled(nvcc, command[command.index("-o") + 1], source, compilation), _dependencies(listing)


def _without_header(name: str) -> str:
    where = "-I names its folder"
    if _OF_TORCH.match(name):
        program = "from torch.utils.cpp_extension import include_paths; print(*include_paths())"
        where = f"-I names its folder, those of PyTorch as `python -c '{program}'` prints them"
    return f"nvcc finds no {name}, and registers stay unknown: {where}; or --registers gives their number"


def _spilled(nvcc: str, cubin: str, source: str, compilation: Compilation) -> str:
    """The lines in whose code registers are spilled, as text; nothing without nvdisasm."""
    disassembler = find_nvdisasm(nvcc)
    if disassembler is None:
        return ""
    status, listing = _run([disassembler, "-g", "-c", cubin])
    found = spill_lines(listing) if status == 0 else ()
    named = ((kernel, replace(line, path=compilation.path) if line.path == source else line) for kernel, line in found)
    return "".join(spilled_text(*each) for each in named)


def find_nvdisasm(nvcc: str) -> str | None:
    """The disassembler beside a compiler, or in PATH."""
    return tool_at(os.path.join(os.path.dirname(os.path.realpath(nvcc)), "nvdisasm")) or tool("nvdisasm")


def _run(command: Sequence[str]) -> tuple[int, str]:
    try:
        # The user asked for this program, and no shell reads the arguments.
        run = subprocess.run(  # noqa: S603
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            env=safe_environment(),
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"nvcc takes longer than {SECONDS:g} seconds") from None
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be run: {error.strerror or error}") from error
    return run.returncode, (run.stdout + run.stderr).decode("utf-8", "replace")


def _first_error(output: str, status: int) -> str:
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\b(?:error|fatal)\b", line)]
    return (errors or lines or [f"exit status {status}"])[0]


def _dependencies(listing: str) -> list[str]:
    """The files of a make rule; nvcc escapes spaces and continues lines with backslashes."""
    try:
        with open(listing, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except OSError:
        return []
    _, _, names = text.replace("\\\n", " ").partition(": ")
    return [name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", names)]


# --- the answers that are kept -----------------------------------------------------------------------------


def _cache_entry(nvcc: str, compilation: Compilation) -> str | None:
    """Where the answer to this question is kept; None where nothing can be."""
    root = cache_folder()
    try:
        state = os.stat(nvcc)
    except OSError:
        return None
    if root is None:
        return None
    path = os.path.abspath(compilation.path)
    program = [os.path.realpath(nvcc), state.st_mtime_ns, state.st_size]
    tools = [*program, find_nvdisasm(nvcc)]
    question = [_CACHE_FORMAT, tools, os.getcwd(), path, compilation.arguments(), compilation.text]
    digest = hashlib.sha256(json.dumps(question).encode("utf-8", "surrogatepass")).hexdigest()
    return os.path.join(root, "ptxas", f"{digest}.json")


def _kept(entry: str | None) -> str | None:
    """What nvcc printed the last time, if no file that it read has changed."""
    if entry is None:
        return None
    try:
        answer = json.loads(read_kept(entry))
        files, output = answer["files"], answer["output"]
        same = isinstance(files, dict) and isinstance(output, str) and _hashes(list(files)) == files
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return output if same else None


def _keep(entry: str | None, output: str, files: Mapping[str, str | None]) -> None:
    """Several workers may keep the same answer at once."""
    if entry is None:
        return
    try:
        os.makedirs(os.path.dirname(entry), exist_ok=True)
        with replacing(entry) as temporary, open(temporary, "w", encoding="utf-8") as file:
            json.dump({"files": files, "output": output}, file)
    except OSError:
        # A cache that can't be written to costs time and nothing else.
        return


def _hashes(paths: Sequence[str]) -> dict[str, str | None]:
    return {os.path.abspath(path): _hash(path) for path in paths}


def _hash(path: str) -> str | None:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest()
    except OSError:
        return None
