"""The names of the formats that reports are written in, and how their files are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

PATCH: Final = "patch"
"""No report but a unified diff of the edits: for files only."""

Format = Literal["text", "concise", "json", "sarif", "github", "gitlab", "junit", "html"]

SUFFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": (".txt",),
    "concise": (".txt",),
    "json": (".json",),
    "sarif": (".sarif", ".json"),
    "github": (".txt",),
    "gitlab": (".json",),
    "junit": (".xml",),
    "html": (".html", ".htm"),
}
"""Each of them with the endings of its files, the usual one first."""

SHOWING_KERNELS: Final = frozenset({"html"})
"""Formats that show kernels with their figures, whatever was found in them."""

FORMATS: Final = tuple(SUFFIXES)
