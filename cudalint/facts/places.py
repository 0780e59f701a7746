"""Places in source files."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A piece of source: lines and columns start at 1, columns count bytes, the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Frame(NamedTuple):
    """One call through which an access was reached, innermost first."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    """0 where nothing but the line is known."""
    end_column: int = 0

    @property
    def place(self) -> Place:
        """The call, or where its line begins."""
        return Place(*self) if self.end_line else Place(self.path, self.line, 1, self.line, 1)
