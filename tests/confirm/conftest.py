"""A GPU that is none: it answers as the tests want, in the same processes in which a real one would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cudalint.confirm.preparing import Prepared, PrepareJob, prepare
from cudalint.options.analysis import AnalysisOptions

Prepare = Callable[[str], Prepared]


@pytest.fixture
def prepared(tmp_path: Path) -> Prepare:
    """Prepares a source text."""

    def of(text: str) -> Prepared:
        path = tmp_path / "kernel.cu"
        path.write_text(text, encoding="utf-8")
        result = prepare(PrepareJob(str(path), AnalysisOptions(), str(tmp_path / "build")))
        assert isinstance(result, Prepared)
        return result

    return of
