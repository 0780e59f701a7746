"""The registers and shared memory that compiled kernels take, as cubin files and `ptxas` tell them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from cudalint.regexes import regex

_LENGTH_PREFIXED = regex(r"(\d+)_GLOBAL__N_")


class SpillLine(Struct, frozen=True):
    """A line of the source in whose code registers are stored to local memory, or loaded again."""

    path: str
    line: int
    stores: int
    """Instructions."""
    loads: int


class Usage(Struct, frozen=True):
    """What one compiled kernel takes."""

    registers: int
    """Per thread."""
    static_shared_bytes: int | None
    """Per block; None where that isn't said."""
    source: str
    """`cubin` or `ptxas`."""
    stack_bytes: int | None = None
    """Of each thread's local memory; None where that isn't said."""
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    spill_lines: tuple[SpillLine, ...] = ()
    """Where nvdisasm was there to say it."""


class UsageError(Exception):
    """Nothing can be read from a file, or nvcc does not compile; the message is one line."""


class HeaderNotFoundError(UsageError):
    """nvcc does not find a header: nothing is wrong with the file, and the rest is said of it without registers."""


def usage_of(name: str, linkage_name: str, known: Mapping[str, Usage]) -> Usage | None:
    """The usage of a kernel by what it is called in compiled code, or by its plain name if only one has that.

    Compilers differ in the names of what has internal linkage, and types that the front end could not resolve change
    the names too.
    """
    if linkage_name:
        if linkage_name in known:
            return known[linkage_name]
        wanted = _normal(linkage_name)
        for symbol, usage in known.items():
            if _normal(symbol) == wanted:
                return usage
    named = [usage for symbol, usage in known.items() if name == symbol or f"{len(name)}{name}" in _normal(symbol)]
    return named[0] if len(named) == 1 else None


def _normal(symbol: str) -> str:
    """A mangled name without what the compilers spell differently: nvcc's anonymous namespaces carry a hash of the
    file, and clang marks static functions by an L."""
    match = _LENGTH_PREFIXED.search(symbol)
    if match:
        end = match.start() + len(match[1]) + int(match[1])
        symbol = symbol[: match.start()] + "@" + symbol[end:]
    return re.sub(r"^(_ZN?)L(?=\d)", r"\1", symbol)


def merged(parts: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    """All kernels of several sources; where two have one, the first is believed."""
    result: dict[str, Usage] = {}
    for part in parts:
        for name, usage in part.items():
            result.setdefault(name, usage)
    return result


_ENTRY = regex(r"Compiling entry function '([^']+)'")
_SPILLED = regex(
    r"^spilled (?P<kernel>\S+) (?P<line>\d+) (?P<stores>\d+) (?P<loads>\d+) (?P<path>.*)$", re.MULTILINE
)
_USED = regex(r"Used (\d+) registers")
_SHARED = regex(r"\b(\d+)(?:\+\d+)? bytes smem")
_PROPERTIES = regex(r"Function properties for (\S+)")
_STACK = regex(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def read_ptxas(text: str) -> dict[str, Usage]:
    """What `ptxas -v` prints about each kernel, with the lines of spills that were put behind it."""
    spills: dict[str, list[SpillLine]] = {}
    for found in _SPILLED.finditer(text):
        line = SpillLine(found["path"], int(found["line"]), int(found["stores"]), int(found["loads"]))
        spills.setdefault(found["kernel"], []).append(line)
    return {name: replace(usage, spill_lines=tuple(spills.get(name, ()))) for name, usage in _entries(text)}


def spilled_text(kernel: str, line: SpillLine) -> str:
    """A line of text that `read_ptxas` finds again."""
    return f"spilled {kernel} {line.line} {line.stores} {line.loads} {line.path}\n"


def _entries(text: str) -> Iterator[tuple[str, Usage]]:
    entry: str | None = None
    is_its_own = False
    stack: tuple[int | None, int | None, int | None] = (None, None, None)
    for line in text.splitlines():
        compiling = _ENTRY.search(line)
        if compiling:
            entry, stack = compiling[1], (None, None, None)
        properties = _PROPERTIES.search(line)
        if properties:
            is_its_own = properties[1] == entry
        frame = _STACK.search(line)
        if frame and is_its_own:
            stack, is_its_own = (int(frame[1]), int(frame[2]), int(frame[3])), False
        used = _USED.search(line)
        if used and entry is not None:
            shared = _SHARED.search(line)
            yield entry, Usage(int(used[1]), int(shared[1]) if shared else 0, "ptxas", *stack)
            entry = None
