"""What all tests of evaluation share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _stores_without_reads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of these tests are a statement or two, and store to shared arrays that nobody reads: a compiler drops
    such stores (`cudalint.codegen.unread`, which has fixtures of its own), and here it is they that are looked at."""
    monkeypatch.setattr("cudalint.codegen.machine.without_unread", lambda accesses, execution: list(accesses))
