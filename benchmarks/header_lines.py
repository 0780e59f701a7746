"""The lines that the toolkit's own headers give to the accesses of its functions.

`atomicAdd`, `__ldg` or `load_matrix_sync` are functions that headers of the toolkit define inline. nvcc's line table
gives their instructions the line inside the header, and Nsight Compute lists them there; only some of them are listed
at the call as well. Where a toolkit is installed, `facts` can therefore be read beside a profile line by line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from cudalint.facts import GRID_ARRIVES, GRID_WAITS, Access, FileFacts, Frame, KernelFacts, LibraryCall, Place
from cudalint.source.code import CodeText, code_text
from cudalint.system.disk.regular import read_regular
from cudalint.toolchain.toolkit.nvcc import find_nvcc

_HEADERS = (
    "device_atomic_functions.hpp", "sm_20_atomic_functions.hpp", "sm_32_atomic_functions.hpp",
    "sm_60_atomic_functions.hpp", "sm_32_intrinsics.hpp", os.path.join("crt", "mma.hpp"),
    "cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.h", "cuda_bf16.hpp",
)  # fmt: skip
_REDUCTIONS = os.path.join("cub", "block", "specializations", "block_reduce_warp_reductions.cuh")
_COPIES = os.path.join("cub", "detail", "uninitialized_copy.cuh")
_SYNC = os.path.join("cooperative_groups", "details", "sync.h")
_HELPERS = os.path.join("cooperative_groups", "details", "helpers.h")


class _Body(NamedTuple):
    """What stands in the toolkit for a function that has no name there, or another one."""

    function: str
    places: tuple[tuple[str, str], ...]
    """The files and what is looked for in them, outermost first: where `at` matches, if the pattern has it."""


_BODIES: Mapping[str, _Body] = {
    "_write_aggregate": _Body("BlockReduce", (
        (_REDUCTIONS, r"\buninitialized_copy_single\(temp_storage\.warp_aggregates"), (_COPIES, r"\*ptr = "),
    )),
    "_read_aggregate": _Body("BlockReduce", (
        (_REDUCTIONS, r"\bApplyWarpAggregates<[^\n]*constant_v<1>"),
        (_REDUCTIONS, r"\bApplyWarpAggregates<[^\n]*SUCCESSOR_WARP"),
        (_REDUCTIONS, r"\btemp_storage\.warp_aggregates\[SUCCESSOR_WARP"),
    )),
    GRID_ARRIVES: _Body("sync_grids_arrive", (
        (_SYNC, r"\bsync_grids_arrive\(volatile[^{]*\{(?s:.)*?(?P<at>NV_IF_ELSE_TARGET)"),
    )),
    GRID_WAITS: _Body("sync_grids_wait", (
        (_HELPERS, r"\bsync\(unsigned int \*bar\)[^}]*?(?P<at>details::sync_grids_wait)"),
        (_SYNC, r"\bsync_grids_wait\([^{]*\{(?s:.)*?(?P<at>NV_IF_ELSE_TARGET)"),
    )),
}  # fmt: skip
"""By the names that the accesses of the bundled headers' own functions and of barriers carry."""
_CUB_FOLDERS = ("", "cccl")
_MARKER = "cuda_runtime_api.h"
_USUAL_HOME = "/usr/local/cuda"
_COPIED = ("__half2", "__nv_bfloat162")
"""Classes with a copy constructor and assignment of their own, which load and store them."""
_AFTER_PARAMETERS = re.compile(r"(?:\s|\bconst\b|\bnoexcept\b)*\{\s*")
_CALL = re.compile(r"\b(?!if\b|return\b)[A-Za-z_]\w*\s*\(|\basm\b")
_QUALIFIERS = re.compile(r"\b(?:const|volatile)\b|\bnvcuda::|\bwmma::")
_LONG_INT = re.compile(r"\blong int\b")
_LAST_WORD = re.compile(r"\s\w+\s*$")
_LOOSE_SPACE = re.compile(r"\s+(?=\W|$)|(?<=\W)\s+|^\s+")


def headers_folder(cuda_path: str | None) -> str | None:
    """Where the headers of the named toolkit are, else those of the one that is installed."""
    nvcc = find_nvcc(cuda_path)
    beside_nvcc = os.path.join(os.path.dirname(os.path.realpath(nvcc)), os.pardir) if nvcc else None
    others = () if cuda_path else (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), _USUAL_HOME)
    for home in (cuda_path, beside_nvcc, *others):
        folder = os.path.normpath(os.path.join(home, "include")) if home else ""
        if os.path.isfile(os.path.join(folder, _MARKER)):
            return folder
    return None


def with_toolkit_lines(facts: FileFacts, cuda_path: str | None) -> FileFacts:
    """The facts, with a second entry for each access that a function of the toolkit makes: at the header's line."""
    accesses = (access for kernel in facts.kernels for access in kernel.accesses)
    if not any(access.made_by is not None or access.element_type in _COPIED for access in accesses):
        return facts
    folder = headers_folder(cuda_path)
    if folder is None:
        return facts
    return replace(facts, kernels=tuple(_with_lines(kernel, folder) for kernel in facts.kernels))


def _with_lines(kernel: KernelFacts, folder: str) -> KernelFacts:
    return replace(kernel, accesses=(*kernel.accesses, *_inside(kernel, folder)))


def _inside(kernel: KernelFacts, folder: str) -> Iterator[Access]:
    """From the outermost function to the innermost: the profiler lists some instructions at the call, too."""
    for access in kernel.accesses:
        inlined_from = (Frame(access.place.path, access.place.line), *access.inlined_from)
        for name, place in _places(access, folder):
            yield replace(
                access, place=place, compiled_at=None, function=name, inlined_from=inlined_from, made_by=None
            )  # fmt: skip
            inlined_from = (Frame(place.path, place.line), *inlined_from)


def _places(access: Access, folder: str) -> Iterator[tuple[str, Place]]:
    for maker in _makers(access):
        place = place_inside(folder, maker)
        if place is not None:
            yield maker.name, place
    if access.made_by is not None and access.made_by.arguments is None:
        body = _BODIES.get(access.made_by.name)
        for name, pattern in body.places if body is not None else ():
            place = _place_of_text(folder, name, pattern)
            if body is not None and place is not None:
                yield body.function, place


@cache
def _place_of_text(folder: str, name: str, pattern: str) -> Place | None:
    for beside in _CUB_FOLDERS:
        path = os.path.join(folder, beside, name)
        source = _header(path)
        found = re.search(pattern, source.code)
        if found is not None:
            start, end = found.span("at" if "at" in found.groupdict() else 0)
            return Place(path, *source.position(start), *source.position(end))
    return None


def _makers(access: Access) -> Iterator[LibraryCall]:
    """The function that makes an access, and what that calls for it."""
    made_by = access.made_by if access.made_by is not None and access.made_by.arguments is not None else None
    if made_by is not None:
        yield made_by
    element = access.element_type
    if element not in _COPIED or (made_by is not None and made_by.name.endswith("::operator=")):
        return
    if access.operation == "load":
        yield LibraryCall(element, (f"{element}&",))
    elif access.operation == "store":
        yield LibraryCall(f"{element}::operator=", (f"{element}&&",))


@cache
def place_inside(folder: str, call: LibraryCall) -> Place | None:
    """Where a header in `folder` does what the function is for: the first call or assembly in its body."""
    for name in _HEADERS:
        path = os.path.join(folder, name)
        for source, start, end in _bodies(path, call):
            found = _CALL.search(source.code, start, end)
            at = found.start() if found is not None else start
            return Place(path, *source.position(at), *source.position(found.end() if found is not None else end))
    return None


def _bodies(path: str, call: LibraryCall) -> Iterator[tuple[CodeText, int, int]]:
    """The extents of the bodies of definitions that take what the call passes."""
    # Most headers have no such function, and telling comments from code takes longer than to look.
    if call.arguments is None or call.name not in _text(path):
        return
    source = _header(path)
    for match in re.finditer(rf"\b{re.escape(call.name)}\s*\(", source.code):
        end = source.close(match.end() - 1)
        body = _AFTER_PARAMETERS.match(source.code, end) if end is not None else None
        if body is None or end is None or not _takes(source.code[match.end() : end - 1], call.arguments):
            continue
        yield source, body.end(), source.close(source.code.index("{", end)) or len(source.code)


@cache
def _text(path: str) -> str:
    """The text of a header; nothing where it can't be read."""
    try:
        return read_regular(path).decode("latin-1").replace("\r\n", "\n")
    except OSError:
        return ""


@cache
def _header(path: str) -> CodeText:
    return code_text(_text(path))


def _takes(parameters: str, arguments: tuple[str, ...]) -> bool:
    """Whether parameters are of the types of the arguments: pointers and references, if there are any of them."""
    declared = [parameter for parameter in _separated(parameters) if parameter.strip()]
    if len(declared) > len(arguments):
        return False
    pairs = list(zip(declared, arguments, strict=False))
    pointed = [(parameter, argument) for parameter, argument in pairs if "*" in parameter or "&" in parameter]
    if not pointed:
        return [_type(_unnamed(parameter)) for parameter in declared] == [_type(a) for a in arguments]
    return all(
        _type(parameter) == _type(argument) and ("&&" in parameter) == ("&&" in argument)
        for parameter, argument in pointed
    )


def _separated(parameters: str) -> Iterator[str]:
    """Parameters, parted at the commas that are not inside `<>`."""
    depth, start = 0, 0
    for at, character in enumerate(parameters):
        depth += (character == "<") - (character == ">")
        if character == "," and not depth:
            yield parameters[start:at]
            start = at + 1
    yield parameters[start:]


def _unnamed(parameter: str) -> str:
    """`const float f` without its name."""
    return _LAST_WORD.sub("", parameter)


def _type(spelled: str) -> str:
    """A type without what headers and programs spell differently."""
    plain = _QUALIFIERS.sub("", re.split(r"[*&]", spelled)[0])
    return _LOOSE_SPACE.sub("", _LONG_INT.sub("long", plain))
