"""Findings are the same however fast the machine is and wherever its memory lies: a baseline rests on that."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cudalint.facts import FileFacts
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.host.executor.state import reached
from cudalint.ir import walk
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_NAMES = [f"n{number}" for number in range(40)]
_ROOT = Path(__file__).parents[2]


def test_what_a_loop_changes_stands_in_the_order_of_the_source(tmp_path: Path) -> None:
    """Generic sizes are given out in this order. A set of symbols has the order of their addresses."""
    declared = " ".join(f"int {name} = 0;" for name in _NAMES)
    changed = " ".join(f"{name} += i;" for name in _NAMES)
    source = tmp_path / "a.cu"
    source.write_text(f"void f(int m) {{ {declared} for (int i = 0; i < m; ++i) {{ {changed} }} }}\n")
    unit = Listing(parse_file(str(source), ParseOptions())).unit()
    (ref,) = [ref for ref in unit.host_functions if ref.name == "f"]
    function = ref.load()
    assert function is not None
    assert [symbol.name for symbol in walk.effects(function.body).assigned if symbol.name in _NAMES] == _NAMES
    assert len(reached(walk.effects(function.body), {})) == len(_NAMES) + 1


def test_a_slow_machine_finds_the_same_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour passes between any two looks at a clock."""
    path = str(_ROOT / "fixtures" / "shared-race" / _most_races())
    fast = analyse_file(path, AnalysisOptions())
    assert any(kernel.races for kernel in fast.kernels)
    now = time.process_time()
    hours = iter(range(1, 10**9))
    for clock in ("monotonic", "process_time"):
        monkeypatch.setattr(time, clock, lambda: now + 3600 * next(hours))
    slow = analyse_file(path, AnalysisOptions(time_limit=1e12))
    assert _outcome(slow) == _outcome(fast)
    assert slow.failures == ()


def _outcome(facts: FileFacts) -> list[object]:
    return [(kernel.name, kernel.races, kernel.barriers, kernel.gaps) for kernel in facts.kernels]


def _most_races() -> str:
    files = sorted((_ROOT / "fixtures" / "shared-race").glob("*.cu"))
    return max(files, key=lambda file: file.read_text().count("expect:")).name
