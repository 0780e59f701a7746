"""Tests run the program on files that they make themselves: nothing of that belongs in a user's cache of results.

`gaps.txt` beside this names the tests that fail, with the cause: they are run, and one that passes has to leave it.
`slow.txt` has parts of the names of tests that take long: they run with `-m slow`, and all there are with `-m ""`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

os.environ["CUDALINT_NO_CACHE"] = "1"

_GAPS, _SLOW = (Path(__file__).with_name(name) for name in ("gaps.txt", "slow.txt"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the slow ones, and those of `gaps.txt`, where a line that begins with `#` is the cause of those that follow
    it."""
    cause, causes = "", {}
    for line in _GAPS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            cause = line.lstrip("# ")
        elif line:
            causes[line] = cause
    slow = _SLOW.read_text(encoding="utf-8").split()
    for item in items:
        if any(part in item.nodeid for part in slow):
            item.add_marker(pytest.mark.slow)
        if item.nodeid in causes:
            item.add_marker(pytest.mark.xfail(reason=causes[item.nodeid], strict=True))


@pytest.fixture
def stores_without_reads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """For kernels of a statement or two that store to shared arrays which nobody reads: a compiler drops such stores
    (`tests/measure/test_unread.py`), and here it is they that are looked at."""
    from cudalint.measure.work import shared

    monkeypatch.setattr(shared, "_UNREAD", replace(shared._UNREAD, is_on=False))
