"""The edits that make floats of the literals and functions for whose sake floats are computed as doubles.

Literals get a suffix where they stand, macros that are nothing but a number are converted where they are used, and
functions that are called with a float and an integer get the name of the one for floats. What is rounded changes by it:
such edits are never safe.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.spelling import TextOf
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_LITERAL = regex(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?")
_NAME = regex(r"[A-Za-z_]\w*")
_OF_THE_LIBRARY = regex(r"M_(?:E|LOG2E|LOG10E|LN2|LN10|PI|PI_2|PI_4|1_PI|2_PI|2_SQRTPI|SQRT2|SQRT1_2)")
"""Macros of `<cmath>`, all of which are numbers."""
_CALL = regex(r"((?:::)?(?:std::)?)(pow|fmod|atan2|hypot|fmax|fmin|fdim|copysign|remainder)(?=\s*\()")
"""Functions of two numbers that have a namesake for floats: of one number there is an overload for floats as it is."""
_NUMBER = regex(r"\(*\s*[-+]?\s*(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?\s*\)*\s*")
_TEMPLATE = regex(r"\btemplate\b")
_NO_FUNCTION = regex(r"\b(?:namespace|extern)\b")


def float_edits(causes: Iterable[Place], text_of: TextOf) -> tuple[Edit, ...]:
    """The edits for all of some literals, macros and calls, or none where one is spelled otherwise, or is in a template
    that could be used for doubles and would then lose digits."""
    edits: dict[Place, Edit] = {}
    for place in causes:
        edit = _edit(place, text_of)
        if edit is None:
            return ()
        edits[place] = edit
    return tuple(edits[place] for place in sorted(edits))


def function_around(place: Place, text_of: TextOf) -> tuple[str, int]:
    """The outermost braces around a place that are no namespace, by the path and where they open; -1 outside of all."""
    source = code_text(text_of(place.path))
    around = _braces_around(source, source.extent(place)[0])
    inner = [at for at in around if not _NO_FUNCTION.search(source.code, source.statement_start(at), at)]
    return place.path, inner[0] if inner else -1


def _edit(place: Place, text_of: TextOf) -> Edit | None:
    source = code_text(text_of(place.path))
    begin, end = source.extent(place)
    if not source.code[begin : begin + 1].strip():
        return None  # In a directive or a literal.
    spelled = source.text[begin:end]
    if _LITERAL.fullmatch(spelled):
        if not _is_exact(spelled) and in_template(source, begin):
            return None
        return Edit(Place(place.path, place.end_line, place.end_column, place.end_line, place.end_column), "f")
    if _NAME.fullmatch(spelled):
        return (
            Edit(place, f"float({spelled})")
            if _is_number(spelled, source) and not in_template(source, begin)
            else None
        )
    call = _CALL.match(spelled)
    if call is None or in_template(source, begin):
        return None
    after = source.position(begin + call.end())
    return Edit(Place(place.path, *after, *after), "f") if not call[1] else None


def _is_exact(literal: str) -> bool:
    """Whether a float has this very value."""
    value = float(literal)
    try:
        return bool(struct.unpack("f", struct.pack("f", value))[0] == value)
    except OverflowError:
        return False


def _is_number(name: str, source: CodeText) -> bool:
    """Whether a macro stands for a single number, and always for the same."""
    if _OF_THE_LIBRARY.fullmatch(name):
        return True
    defined = re.findall(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b(?!\()[ \t]*([^\n/]*)", source.text, re.MULTILINE)
    return len(defined) == 1 and _NUMBER.fullmatch(defined[0]) is not None


def in_template(source: CodeText, offset: int) -> bool:
    """Whether an offset is in the braces of a template."""
    around = _braces_around(source, offset)
    return any(_TEMPLATE.search(source.code, source.statement_start(at), at) for at in around)


def _braces_around(source: CodeText, offset: int) -> list[int]:
    """Where the braces open that an offset is in, the outermost first."""
    opened: list[int] = []
    for brace in re.finditer(r"[{}]", source.code[:offset]):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            opened.pop()
    return opened
