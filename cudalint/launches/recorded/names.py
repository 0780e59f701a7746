"""Which kernel of the source a recorded one is.

Compilers differ in the names of what has internal linkage: nvcc puts it into a namespace that it calls after a hash of
the file, clang marks it by an L, and both then count the parts of the name that they refer back to differently. Keys
are equal for names that differ by nothing else.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

_HIDDEN: Final = "h:"
_INTERNAL: Final = re.compile(r"N(\d{1,6})_INTERNAL_")
_ANONYMOUS: Final = re.compile(r"(\d{1,6})_GLOBAL__N_")
_LOCAL: Final = re.compile(r"L(?=\d+[A-Za-z_])")
_REFERENCE: Final = re.compile(r"S[0-9A-Z]*_")
_LENGTH: Final = re.compile(r"\d{1,6}")
_ANONYMOUS_NAME: Final = "12_GLOBAL__N_1"


def key_of(symbol: str) -> str:
    """The same for a kernel, whoever has compiled it; what is hidden is a key already."""
    if symbol.startswith(_HIDDEN):
        return symbol
    symbol = _without_internal(symbol)
    symbol = _with_plain_anonymous(symbol)
    return _REFERENCE.sub("S_", _LOCAL.sub("", symbol))


def hidden(symbol: str) -> str:
    """A name that says nothing to whoever doesn't have the source."""
    if symbol.startswith(_HIDDEN):
        return symbol
    return _HIDDEN + hashlib.sha256(key_of(symbol).encode()).hexdigest()[:32]


def is_same(linkage_name: str, recorded: str) -> bool:
    """Whether a function of the source, by what it is called in compiled code, is a recorded kernel."""
    if not linkage_name:
        return False
    return (hidden(linkage_name) if recorded.startswith(_HIDDEN) else key_of(linkage_name)) == key_of(recorded)


def _without_internal(symbol: str) -> str:
    """Without nvcc's namespaces: `N42_INTERNAL_0a7a1740_..._6840010b6op_addE` is `6op_add`."""
    while (found := _INTERNAL.search(symbol)) is not None:
        start = found.end(1) + int(found[1])
        only = _only_part(symbol, start)
        nested = "" if only is not None else "N"
        end = only if only is not None else start
        rest = end + 1 if only is not None else end
        symbol = symbol[: found.start()] + nested + symbol[start:end] + symbol[rest:]
    return symbol


def _only_part(symbol: str, at: int) -> int | None:
    """Where the E of a nested name stands that has one plain part from here on; None where it has others."""
    length = _LENGTH.match(symbol, at)
    if length is None:
        return None
    end = length.end() + int(length[0])
    return end if symbol[end : end + 1] == "E" else None


def _with_plain_anonymous(symbol: str) -> str:
    """With the name that the standard gives to namespaces without one; nvcc's has a hash of the file in it."""
    found = _ANONYMOUS.search(symbol)
    at = 0
    while found is not None:
        end = found.end(1) + int(found[1])
        symbol = symbol[: found.start()] + _ANONYMOUS_NAME + symbol[end:]
        at = found.start() + len(_ANONYMOUS_NAME)
        found = _ANONYMOUS.search(symbol, at)
    return symbol


def base_name(text: str) -> str:
    """The plain name of a function in a demangled text: `k` of `void ns::k<float>(float const*)`."""
    return text.partition("(")[0].partition("<")[0].rpartition(":")[2].rpartition(" ")[2]


def fits(function_name: str, linkage_name: str, recorded: str) -> bool:
    """Whether a function of the source may be a recorded kernel: it is, by its name in compiled code, or no more than
    a plain or demangled name was recorded, which is the function's."""
    return is_same(linkage_name, recorded) or base_name(recorded) == function_name
