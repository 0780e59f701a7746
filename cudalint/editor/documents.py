"""The files that an editor holds, with what is known of each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from msgspec import Struct, field

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.editor.analysing import Analysed, Asked, Hover, KernelHover
from cudalint.editor.positions import is_in, size


class Document(Struct, eq=False):
    """A file that is open, and what came of its text when it was last analysed."""

    uri: str
    path: str
    text: str
    version: int | None
    changed: float
    """When, on the clock of the event loop."""
    analysed: Analysed | None = None
    analysed_text: str | None = None
    """The text that it was made of."""
    findings: tuple[Diagnostic, ...] = ()
    """Those that are shown, in headers that it includes too."""
    about: frozenset[str] = frozenset()
    """The URIs of all files in which it has findings."""
    is_done: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether there is nothing more to be known of the text, or it is another one by now."""
    asked: Asked | None = None
    """What it was last analysed for."""
    together: tuple[tuple[tuple[Edit, ...], ...], tuple[tuple[Edit, ...], ...]] | None = None
    """Sets of edits, and those of them that hold when all are made; once somebody has asked."""
    unusable: tuple[tuple[str, str], ...] = ()
    """Files of recorded launches that can't be used for it, each with the reason."""

    @property
    def is_current(self) -> bool:
        """Whether what is known is about the text as it is now."""
        return self.analysed is not None and self.analysed_text == self.text

    @property
    def is_open(self) -> bool:
        """Whether of the text as it is now all is known but which edits hold."""
        return self.is_current and self.analysed is not None and self.analysed.is_open

    def rests_on(self, path: str) -> bool:
        """Whether that file had a say, or may have one once it is there."""
        return self.analysed is not None and path in self.analysed.files

    def accesses_at(self, line: int, column: int) -> list[Hover]:
        """The narrowest accesses around a position: a copy loads and stores at one place."""
        found = [a for a in self._accesses() if a.place.path == self.path and is_in(line, column, a.place)]
        narrowest = min((size(access.place) for access in found), default=None)
        return [access for access in found if size(access.place) == narrowest]

    def kernels_at(self, line: int, column: int, by_name: bool) -> list[KernelHover]:
        """Those whose name, or else whose code, is at a position."""
        return [k for k in self.kernels() if is_in(line, column, k.place if by_name else k.whole)]

    def kernels(self) -> Iterator[KernelHover]:
        """Of this file, not of its headers."""
        known = self.analysed.kernels if self.analysed is not None else ()
        return (kernel for kernel in known if kernel.place.path == self.path)

    def _accesses(self) -> tuple[Hover, ...]:
        return self.analysed.accesses if self.analysed is not None else ()


class Documents(Struct, eq=False):
    by_uri: dict[str, Document] = field(default_factory=dict)

    def at(self, path: str) -> Document | None:
        return next((document for document in self.by_uri.values() if document.path == path), None)

    def texts(self) -> dict[str, str]:
        return {document.path: document.text for document in self.by_uri.values()}

    def resting_on(self, document: Document) -> list[Document]:
        """Others that are open and include it, or are of one program with it."""
        return [other for other in self.by_uri.values() if other is not document and other.rests_on(document.path)]
