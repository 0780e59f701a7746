"""Numbers as C++ spells them. Reading the text costs a tenth of asking clang for the value."""

from __future__ import annotations

from typing import Final

from cudalint.numerals import whole
from cudalint.regexes import regex

_INTEGER: Final = regex(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlLzZ]*")
_FLOATING: Final = regex(r"([0-9][0-9']*\.?[0-9']*(?:[eE][+-]?[0-9]+)?|\.[0-9']+(?:[eE][+-]?[0-9]+)?)[fFlL]?")
_ARRAY_NEW: Final = regex(r"(?::\s*:\s*)?new\b[^({;]*\[")
_PLACED_NEW: Final = regex(r"(?::\s*:\s*)?new\s*\(")


def integer(text: str) -> int | None:
    """The value of an integer literal, None where the text isn't one (a macro's name)."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    digits = match.group(1).replace("'", "")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return whole(digits.lstrip("0") or "0", 8)
    return whole(digits, 0)


def floating(text: str) -> float | None:
    """The value of a decimal floating-point literal, None where the text isn't one."""
    match = _FLOATING.fullmatch(text)
    return float(match.group(1).replace("'", "")) if match else None


def is_array_new(text: str) -> bool:
    """Whether the text of a `new` expression allocates an array: the tree tells a count no different from an
    initializer. More may follow: in instances of templates, clang gives the expression no end but that of the word."""
    return _ARRAY_NEW.match(text) is not None


def is_placed_new(text: str) -> bool:
    """Whether the text of a `new` expression goes on with what it is told of the place: `new (buffer) T`,
    `new (std::nothrow) T[n]`."""
    return _PLACED_NEW.match(text) is not None
