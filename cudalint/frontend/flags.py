"""From options to the arguments of clang: language, architecture, and the folders of headers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from cudalint.frontend.precompiled import precompiled
from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.arguments import as_path, harmless

HEADERS_ROOT: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers")
BUNDLED_ROOT: Final = os.path.join(HEADERS_ROOT, "include")
LIBRARIES_ROOT: Final = os.path.join(HEADERS_ROOT, "libraries")
"""Stand-ins for the headers of PyTorch, CUTLASS, OpenCV and others: for a file that finds none of its own."""
_PRELUDE: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "prelude.h")
_STREAMS_PRELUDE: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "prelude_streams.h")
_STREAMS: Final = regex(rb"<(?:iostream|fstream|sstream|iomanip)>")
_FIXED_FLAGS: Final = (
    "-x", "cuda",
    # On Windows `long` would have 4 bytes, and a result must not depend on the machine that lints.
    "--target=x86_64-unknown-linux-gnu",
    # Host code and its launches are parsed all the same.
    "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
    "-nostdinc", "-nostdinc++", "-nobuiltininc", "-fbracket-depth=2100",
    "-ferror-limit=0", "-Wno-everything", "-fno-spell-checking", "-fconstexpr-steps=100000",
    # nvcc and its host compilers take a template with default arguments for one without (C++17, P0522).
    "-frelaxed-template-template-args",
    # Host functions may be variadic, and device code must not be what forbids it.
    "-Xclang", "-fcuda-allow-variadic-functions",
    # Which C++20 has: with them, libclang crashes on `delete` behind a precompiled header, and knows no `operator new`.
    "-Xclang", "-fno-cxx-modules",
)  # fmt: skip

_PRECOMPILED: Final = "-include-pch"
_PREPROCESSOR_FLAGS: Final = ("-isystem", "-include", "-idirafter", "-iquote", "-I", "-D", "-U")

_NEWEST_ARCHITECTURE: Final = 90
"""The newest that this libclang knows; later ones are parsed as this one with `__CUDA_ARCH__` redefined."""
_DEFAULT_ARCHITECTURE: Final = 80
_OLD_STANDARDS: Final = frozenset({"98", "03", "0x", "11", "1y", "14", "1z", "17"})

_SYSTEM_MARKERS: Final = ("cuda_runtime_api.h", "stdlib.h", "cstdlib", os.path.join("thrust", "version.h"))
"""A folder with one of these has what the bundled headers declare, with other internals."""


class ParseOptions(Struct, frozen=True):
    """How a file is to be parsed, as a user or a compilation database says."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    """`NAME` or `NAME=VALUE`."""
    std: str | None = None
    """A language standard such as `c++20`; the bundled headers need C++17, older ones are raised to it."""
    cuda_path: str | None = None
    """A toolkit, whose headers are used for whatever the bundled ones do not have."""
    arch: str = "sm_80"
    extra: tuple[str, ...] = ()
    """Further arguments: folders of headers, forced includes and macros; all others are left out."""
    users: tuple[str, ...] = ()
    """What of all that the user names, so that it may be read wherever it is: nothing that a repository says."""
    refused: tuple[str, ...] = ()
    """What the file itself names of its options and leads out of its project."""


def prelude_flags(options: ParseOptions, text: bytes, *, plain: bool = False) -> list[str]:
    """The flags that every parse has, and the prelude: in its precompiled form where that is possible, unless the
    plain one is asked for."""
    basic = (*_FIXED_FLAGS, _standard_flag(options.std), *_architecture_flags(options.arch))
    header = None
    if not plain and _fits_precompiled(options.extra):
        header = precompiled(_STREAMS_PRELUDE if _STREAMS.search(text) else _PRELUDE, basic)
    return [*basic, _PRECOMPILED, header] if header else [*basic, "-include", _PRELUDE]


def precompiled_among(flags: Sequence[str]) -> Sequence[str]:
    """The precompiled form of the prelude that flags name, if they do."""
    return flags[flags.index(_PRECOMPILED) + 1 :][:1] if _PRECOMPILED in flags else ()


def _fits_precompiled(extra: tuple[str, ...]) -> bool:
    """Whether further arguments leave the language as it is; clang rejects a precompiled header otherwise."""
    return all(not argument.startswith("-") or argument.startswith(_PREPROCESSOR_FLAGS) for argument in extra)


def option_flags(options: ParseOptions) -> Iterator[str]:
    for define in options.defines:
        yield f"-D{define}"
    for folder in options.include_dirs:
        if not _has_system_headers(folder):
            yield f"-I{as_path(folder)}"
    yield from harmless(options.extra)


def is_bundled(path: str) -> bool:
    """Whether a path leads to what comes with this package, however it is spelled: somebody may be in its folder."""
    return os.path.join(os.path.abspath(path), "").startswith(os.path.join(HEADERS_ROOT, ""))


def system_folders(options: ParseOptions) -> tuple[str, ...]:
    """The named folders that have headers of a toolkit or of the standard libraries."""
    folders = [folder for folder in options.include_dirs if _has_system_headers(folder)]
    if options.cuda_path:
        include = os.path.join(options.cuda_path, "include")
        # Where CUDA 13 has Thrust, CUB and libcu++.
        libraries = os.path.join(include, "cccl")
        folders += [libraries, include] if disk.is_folder(libraries) else [include]
    return tuple(folders)


@disk.remembered(None)
def _has_system_headers(folder: str) -> bool:
    return any(disk.is_file(os.path.join(folder, marker)) for marker in _SYSTEM_MARKERS)


def _standard_flag(std: str | None) -> str:
    version = (std or "17").removeprefix("gnu++").removeprefix("c++")
    return "-std=c++17" if version in _OLD_STANDARDS or not version.isalnum() else f"-std=c++{version}"


def _architecture_flags(arch: str) -> tuple[str, ...]:
    """The flags for a name such as `sm_86`, `compute_90a` or `100`."""
    match = re.search(r"(?<!\d)(\d{2,3})([a-z]?)$", arch)
    number = int(match[1]) if match else _DEFAULT_ARCHITECTURE
    suffix = "a" if match and number >= _NEWEST_ARCHITECTURE and match[2] == "a" else ""
    # "Architecture-Specific Features" of the CUDA C++ Programming Guide.
    own = (f"-D__CUDA_ARCH_FEAT_SM{number}_ALL",) if suffix else ()
    if number > _NEWEST_ARCHITECTURE:
        others = ("-U__CUDA_ARCH_FEAT_SM90_ALL", "-U__CUDA_ARCH__", f"-D__CUDA_ARCH__={number * 10}")
        return ("--cuda-gpu-arch=sm_90a", *others, *own)
    return (f"--cuda-gpu-arch=sm_{number}{suffix}", *(("-U__CUDA_ARCH_FEAT_SM90_ALL", *own) if suffix else ()))
