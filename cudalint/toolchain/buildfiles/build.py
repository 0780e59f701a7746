"""What the build files of a project say of how its sources are compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex

_MACRO: Final = regex(r"[A-Za-z_]\w*(?:=[^$`\s;]*)?")
_STANDARD: Final = regex(r"-{1,2}std[= ](?:c|gnu)\+\+(\d\w)")


class BuildMacro(Struct, frozen=True):
    """A macro as it is defined for every compilation of a file."""

    name: str
    value: str | None = None

    @property
    def definition(self) -> str:
        """As clang's `-D` takes it."""
        return self.name if self.value is None else f"{self.name}={self.value}"


class Build(Struct, frozen=True):
    """What one build file, or several, say of a file."""

    macros: tuple[BuildMacro, ...] = ()
    """Those that are always defined."""
    possible: tuple[BuildMacro, ...] = ()
    """Those that are defined under conditions, or for other sources."""
    folders: tuple[str, ...] = ()
    """In which headers are looked for."""
    standard: int | None = None
    """Of C++, as two digits."""


def macro_of(definition: str) -> BuildMacro | None:
    """`NAME` or `NAME=VALUE`, with or without `-D`; None where only the build tool knows what it is."""
    definition = definition.strip().removeprefix("-D").strip().replace('\\"', '"')
    if not _MACRO.fullmatch(definition):
        return None
    name, equals, value = definition.partition("=")
    return BuildMacro(name, value if equals else None)


def macros_among(words: Iterable[str]) -> Iterator[BuildMacro]:
    """The macros of `-DNAME`, `-D NAME` and `-DNAME=VALUE` among the words of a command."""
    listed = list(words)
    for position, word in enumerate(listed):
        following = listed[position + 1] if position + 1 < len(listed) else ""
        macro = macro_of(word if word != "-D" else following) if word.startswith("-D") else None
        if macro is not None:
            yield macro


def folders_among(words: Iterable[str]) -> Iterator[str]:
    """The folders of `-IFOLDER` and `-I FOLDER` among the words of a command."""
    listed = list(words)
    for position, word in enumerate(listed):
        if word.startswith("-I"):
            folder = word[2:] or (listed[position + 1] if position + 1 < len(listed) else "")
            if folder:
                yield folder


def standard_among(words: Iterable[str]) -> int | None:
    """The standard of C++ that the words of a command ask for."""
    found = _STANDARD.findall(" ".join(words))
    return int(found[-1]) if found and found[-1].isdigit() else None


def together(builds: Iterable[Build]) -> Build:
    """What several say, of which an earlier one counts more."""
    listed = list(builds)
    macros = {macro.name: macro for build in reversed(listed) for macro in build.macros}
    possible = {macro.name: macro for build in reversed(listed) for macro in build.possible if macro.name not in macros}
    folders = dict.fromkeys(folder for build in listed for folder in build.folders)
    standards = [build.standard for build in listed if build.standard is not None]
    return Build(tuple(macros.values()), tuple(possible.values()), tuple(folders), standards[0] if standards else None)
