"""How often a file is parsed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from clang.cindex import TranslationUnit

_OPTIONS = 2
"""Where they stand among the arguments behind the path."""


def parses_of(source: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The path of a file, once for each parse from now on; it is preprocessed at a tenth of the cost, which doesn't
    count."""
    found: list[str] = []
    from_source = TranslationUnit.from_source

    def counted(path: str, *arguments: Any) -> TranslationUnit:
        if path == str(source) and not arguments[_OPTIONS] & TranslationUnit.PARSE_SKIP_FUNCTION_BODIES:
            found.append(path)
        return from_source(path, *arguments)

    monkeypatch.setattr(TranslationUnit, "from_source", counted)
    return found
