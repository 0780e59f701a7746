"""The formats that reports are written in: one entry says all that the rest of the program asks about one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

PATCH: Final = "patch"
"""No report but a unified diff of the edits: for files only."""

Format = Literal["text", "concise", "json", "sarif", "github", "gitlab", "junit", "html"]


class OutputFormat(Struct, frozen=True):
    """What there is to know of a format before a report is made in it."""

    endings: tuple[str, ...]
    """Of its files, the usual one first."""
    reporter: str
    """The module of `cudalint.report.formats` whose `render` makes its lines; it is imported when it is asked for."""
    is_sorted: bool = False
    """Whether findings come to the reporter in the order that is asked for; others get to know the order."""
    is_for_people: bool = False
    """Whether its lines are text for a terminal, from which what steers one is taken. A table of how often rules found
    something (`--statistics`) may stand in their place."""
    shows_kernels: bool = False
    """Whether it shows kernels with their figures, whatever was found in them."""


OUTPUT_FORMATS: Final[Mapping[Format, OutputFormat]] = {
    "text": OutputFormat((".txt",), "text", is_for_people=True),
    "concise": OutputFormat((".txt",), "concise", is_sorted=True, is_for_people=True),
    "json": OutputFormat((".json",), "diagnostics_json", is_sorted=True),
    "sarif": OutputFormat((".sarif", ".json"), "sarif"),
    "github": OutputFormat((".txt",), "github"),
    "gitlab": OutputFormat((".json",), "gitlab", is_sorted=True),
    "junit": OutputFormat((".xml",), "junit", is_sorted=True),
    "html": OutputFormat((".html", ".htm"), "html.page", shows_kernels=True),
}

FORMATS: Final = tuple(OUTPUT_FORMATS)
"""Their names, in the order in which they are listed."""
SHOWING_KERNELS: Final = frozenset(name for name, entry in OUTPUT_FORMATS.items() if entry.shows_kernels)
