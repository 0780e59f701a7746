"""The text of macros. The tree shows what they expand to, but not the strings of `asm` statements in them, and libclang
does not say where in a macro something is spelled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final

from cudalint.frontend.lower import headers
from cudalint.regexes import regex

_DEFINITION: Final = regex(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)\n]*\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE | re.ASCII
)
_NAME: Final = regex(r'"(?:\\.|[^"\\])*"|(\w+)', re.ASCII)
_DEEPEST: Final = 8
"""Macros that use macros are followed so far."""


class Macros:
    """The macros that some texts define; of several definitions of one name the first counts."""

    def __init__(self, texts: Callable[[], Iterable[str]]) -> None:
        """`texts` is called once, if anybody asks for a macro."""
        self._texts = texts

    @cached_property
    def _bodies(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for text in self._texts():
            for match in _DEFINITION.finditer(text):
                found.setdefault(match[1], re.sub(r"\\\r?\n", " \n", match[2]))
        return found

    def assemblies(self, name: str, depth: int = 0) -> list[headers.Assembly]:
        """Each `asm` statement that a macro expands to, in their order."""
        body = self._bodies.get(name, "")
        if depth >= _DEEPEST:
            return []
        found: list[headers.Assembly] = []
        for match in _NAME.finditer(body):
            assembly = headers.assembly(body, match.start()) if match[1] else None
            if assembly is not None:
                found.append(assembly)
            elif match[1] and match[1] != name:
                found += self.assemblies(match[1], depth + 1)
        return found
