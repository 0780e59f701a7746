"""The macros that a project's Makefile defines whenever it compiles a file: `-DPRECISION=1`.

They choose what the program is, so that a reader of the source alone would see another one. Only what every compilation
of the file has in common counts, outside of conditionals; what the user says comes before it.
"""

from __future__ import annotations

import itertools
import os
import shlex
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import surroundings
from cudalint.toolchain.buildfiles.build import BuildMacro, macros_among
from cudalint.toolchain.buildfiles.makefile import expanded, makefile_beside, recipes_of, variables_of

_SOURCE: Final = regex(r"\.(?:cu|cpp|cc|cxx|c)\Z")
_HEADER: Final = regex(r"\.(?:h|hh|hpp|hxx|cuh|inl)\Z")
_ANY: Final = frozenset("%*")
_MOST_WORDS: Final = 4_000
_LEVELS: Final = 4
_NO_FILE: Final = "-"


class _Compilation(Struct, frozen=True):
    sources: tuple[str, ...]
    """What is compiled: names, or patterns of them."""
    macros: frozenset[BuildMacro]
    words: tuple[str, ...]
    """Of the command."""


def makefile_macros(path: str) -> tuple[BuildMacro, ...]:
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
    if makefile is not None:
        name = os.path.basename(path)
        return [each for each in _compilations(makefile) if not is_source or _compiles(each, name)]
    return _compilations_from_above(os.path.abspath(path)) if is_source else []


def _compilations_from_above(path: str) -> list[_Compilation]:
    """What the nearest Makefile above the folder of a source says of it, by its path from there."""
    for folder in itertools.islice(surroundings(os.path.dirname(path), _LEVELS), 1, None):
        makefile = makefile_beside(os.path.join(folder, _NO_FILE))
        if makefile is not None:
            within = os.path.relpath(path, folder).replace(os.sep, "/")
            return [each for each in _compilations(makefile) if _names(each, within)]
    return []


def _names(compilation: _Compilation, within: str) -> bool:
    """Whether what is compiled is a path, or a pattern that it fits."""
    patterns = (os.path.normpath(source).replace("%", "*") for source in compilation.sources)
    return any(pattern == within or ("/" in pattern and fnmatchcase(within, pattern)) for pattern in patterns)


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
            macros = frozenset({macro.name: macro for macro in macros_among(words)}.values())
            found.append(_Compilation(sources, macros, tuple(words)))
    return tuple(found)


def _words(command: str) -> list[str]:
    """No words where the shell would not take them for any either."""
    try:
        return shlex.split(command)[:_MOST_WORDS]
    except ValueError:
        return []
