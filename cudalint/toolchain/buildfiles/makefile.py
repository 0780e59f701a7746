"""Makefiles, read as text: nothing of them is executed, and what only `make` could find out stays unknown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.folders import small_text

_NAMES: Final = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which `make` looks for them (GNU Make Manual, section 3.2)."""
_LARGEST: Final = 1 << 18
RULE: Final = regex(r"^([^\s#:=][^#:=]*?)\s*::?(?!=)\s*([^#;]*)")
"""The targets of a rule, and what they need."""
_ASSIGNMENT: Final = regex(r"^\s*(?:export\s+)?([\w.-]+)\s*(\+|\?|::?:?)?=\s*(.*?)\s*$")
_REFERENCE: Final = regex(r"\$(?:\((?P<round>[\w.-]+)\)|\{(?P<curly>[\w.-]+)\}|(?P<letter>[\w<^@]))")
_CONDITIONAL: Final = regex(r"^\s*(ifn?eq|ifn?def|endif)\b")
_MOST_NESTED: Final = 8
"""Variables that name variables are followed so far."""


class Line(Struct, frozen=True):
    """One line of a Makefile, with those that continue it."""

    text: str
    number: int
    is_certain: bool = True
    """Whether it stands outside of conditionals: which of these hold only `make` knows."""


def makefile_beside(path: str) -> str | None:
    """The Makefile that `make` would read in the folder of a file."""
    names = (os.path.join(os.path.dirname(path), name) for name in _NAMES)
    return next((name for name in names if disk.is_file(name)), None)


@disk.remembered(8)
def lines_of(makefile: str) -> Sequence[Line]:
    found: list[Line] = []
    begun, number, depth = "", 0, 0
    for position, line in enumerate(small_text(makefile)[:_LARGEST].splitlines(), 1):
        number = number or position
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        conditional = _CONDITIONAL.match(begun + line)
        if conditional is not None:
            depth += -1 if conditional[1] == "endif" else 1
        found.append(Line(begun + line, number, depth == 0))
        begun, number = "", 0
    return found


@disk.remembered(8)
def variables_of(makefile: str) -> Mapping[str, str]:
    """The variables that are set outside of conditionals, as they are written."""
    known: dict[str, str] = {}
    for line in lines_of(makefile):
        is_assignment = line.is_certain and not line.text.startswith("\t")
        assigned = _ASSIGNMENT.match(line.text.partition("#")[0]) if is_assignment else None
        if assigned is None:
            continue
        name, how, value = assigned[1], assigned[2], assigned[3]
        if how == "+":
            value = f"{known.get(name, '')} {value}".strip()
        elif how == "?" and name in known:
            continue
        known[name] = value
    return known


def recipes_of(makefile: str) -> Iterator[tuple[Line, list[str], dict[str, str]]]:
    """The lines of recipes, with the targets that they make and the automatic variables that they may use."""
    rule: tuple[list[str], dict[str, str]] | None = None
    for line in lines_of(makefile):
        if line.text.startswith("\t"):
            if rule is not None:
                yield line, *rule
            continue
        match = RULE.match(line.text)
        if match is not None:
            targets, needed = match[1].split(), match[2].split()
            first = needed[0] if needed else ""
            rule = targets, {"@": targets[0], "<": first, "^": " ".join(needed)}


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """With references to variables replaced; one that nothing sets is empty, as for `make`. A `$` that is meant for the
    shell becomes another letter of those that make a word unknown."""

    def value(reference: re.Match[str]) -> str:
        return variables.get(reference["round"] or reference["curly"] or reference["letter"], "")

    for _ in range(_MOST_NESTED):
        text = _REFERENCE.sub(value, text.replace("$$", "`"))
    return text
