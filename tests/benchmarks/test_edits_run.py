"""What a program says of its time."""

from __future__ import annotations

import pytest
from edits_run import _time


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("time 8.9000 ms | tflops 1.62", 8.9),  # The rate is no time: it would turn a gain into a loss.
        (" NRepetitions=100 N=7 elapsed time=0.25 GDOF/s=12.5", 0.25),
        ("Average kernel execution time (n_diff = 3): 0.000123 (s)", 0.000123),
        ("Average execution time per iteration: 1.5e-05 (s)", 1.5e-05),
        ("Total kernel execution time for 100 runs: 12", 12.0),
        ("host execution time: 700 ms", 0.0),
        ("Kernel time: 3.5 (us) for 100 blocks", 3.5),
        ("PASS", 0.0),
    ],
)
def test_times_are_told_from_rates(line: str, seconds: float) -> None:
    assert _time(line) == seconds
