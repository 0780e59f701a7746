"""What the fuzzer has found once, reduced: each text is linted, and every report of it is sound."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_fuzz import Linted, _assert_sound, lint  # noqa: F401  # A fixture is used by its name.

_CORPUS = sorted(Path(__file__).with_name("corpus").iterdir())


@pytest.mark.parametrize("path", _CORPUS, ids=lambda path: path.stem)
def test_what_was_found_once(path: Path, lint: Linted) -> None:  # noqa: F811
    _assert_sound(*lint(path.read_bytes()))
