"""What all tests of evaluation share."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cudalint.measure.work import unread


@pytest.fixture(autouse=True)
def _stores_without_reads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of these tests are a statement or two, and store to shared arrays that nobody reads: a compiler drops
    such stores (which has tests of its own), and here it is they that are looked at."""
    monkeypatch.setattr(unread, "_UNREAD", replace(unread._UNREAD, is_on=False))
