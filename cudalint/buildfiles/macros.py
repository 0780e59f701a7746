"""The macros that a project's Makefile defines whenever it compiles a file: `-DPRECISION=1`.

They choose what the program is, so that a reader of the source alone would see another one. Only what every compilation
of the file has in common counts, outside of conditionals; what the user says comes before it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from cudalint.buildfiles.makefile import expanded, makefile_beside, recipes_of, variables_of
from cudalint.disk import recorder as disk
from cudalint.heuristics import heuristic

_MACRO: Final = re.compile(r"[A-Za-z_]\w*(?:=[^$`\s]*)?")
_SOURCE: Final = re.compile(r"\.(?:cu|cpp|cc|cxx|c)\Z")
_HEADER: Final = re.compile(r"\.(?:h|hh|hpp|hxx|cuh|inl)\Z")
_ANY: Final = frozenset("%*")
_MOST_WORDS: Final = 4_000


class BuildMacro(Struct, frozen=True):
    """A macro as it is defined for every compilation of a file."""

    name: str
    value: str | None = None

    @property
    def definition(self) -> str:
        """As clang's `-D` takes it."""
        return self.name if self.value is None else f"{self.name}={self.value}"


class _Compilation(Struct, frozen=True):
    sources: tuple[str, ...]
    """What is compiled: names, or patterns of them."""
    macros: frozenset[BuildMacro]
    words: tuple[str, ...]
    """Of the command."""


@heuristic("build-macros", "`-D` of Makefiles").otherwise(())
def build_macros(path: str) -> tuple[BuildMacro, ...]:
    """What the Makefile in the file's folder defines for it; for a header, what it defines for every source."""
    compilations = _compilations_of(path)
    if not compilations:
        return ()
    shared = frozenset.intersection(*(each.macros for each in compilations))
    return tuple(sorted(shared, key=lambda macro: macro.name))


def commands_for(path: str) -> list[tuple[str, ...]]:
    """The words of the commands with which the Makefile in its folder compiles a file, or, for a header, any source."""
    return [compilation.words for compilation in _compilations_of(path)]


def _compilations_of(path: str) -> list[_Compilation]:
    is_source = _SOURCE.search(path) is not None
    makefile = makefile_beside(path) if is_source or _HEADER.search(path) else None
    if makefile is None:
        return []
    name = os.path.basename(path)
    return [each for each in _compilations(makefile) if not is_source or _compiles(each, name)]


def _compiles(compilation: _Compilation, name: str) -> bool:
    suffix = os.path.splitext(name)[1]
    return any(
        os.path.basename(source) == name or (_ANY.intersection(source) and source.endswith(suffix))
        for source in compilation.sources
    )


@disk.remembered(8)
def _compilations(makefile: str) -> tuple[_Compilation, ...]:
    variables = variables_of(makefile)
    found = []
    for line, _, automatic in recipes_of(makefile):
        words = _words(expanded(line.text.lstrip("\t @+-"), {**variables, **automatic})) if line.is_certain else []
        sources = tuple(word for word in words if _SOURCE.search(word) and not word.startswith("-"))
        if sources:
            macros = frozenset({macro.name: macro for macro in _macros(words)}.values())
            found.append(_Compilation(sources, macros, tuple(words)))
    return tuple(found)


def _words(command: str) -> list[str]:
    """No words where the shell would not take them for any either."""
    try:
        return shlex.split(command)[:_MOST_WORDS]
    except ValueError:
        return []


def _macros(words: list[str]) -> Iterator[BuildMacro]:
    """Each `-DNAME`, `-D NAME` and `-DNAME=VALUE`, but those with a value that only the shell or make knows."""
    for position, word in enumerate(words):
        if not word.startswith("-D"):
            continue
        definition = word[2:] or (words[position + 1] if position + 1 < len(words) else "")
        if _MACRO.fullmatch(definition):
            name, equals, value = definition.partition("=")
            yield BuildMacro(name, value if equals else None)
