"""Races against all pairs of accesses, thread by thread."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in
from hypothesis import HealthCheck, assume, given, settings
from racing import Deadlock, Features, Kernel, Racing, kernels, racing_pairs, steps_of
from random_cases import cases

from cudalint.measure.races import Race, RaceEnd, races_of

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")
QUIET = settings(
    max_examples=cases(100), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)

Key = tuple[str, bool, frozenset[tuple[int, str]]]
"""Array, whether it is one of different blocks, lines and operations."""


def _key(race: Race) -> Key:
    sites = frozenset((each.site.node.span.line, each.site.operation) for each in (race.first, race.second))
    return race.allocation.name, race.reach == "grid", sites


def _expected(kernel: Kernel) -> dict[Key, dict[int, list[Racing]]]:
    found: dict[Key, dict[int, list[Racing]]] = {}
    for world, n in enumerate(kernel.numbers):
        for pair in racing_pairs(kernel, n):
            one, other = pair
            sites = frozenset((step.line, step.what) for _, _, step in pair)
            key = one[2].array, one[1] != other[1], sites
            found.setdefault(key, {}).setdefault(world, []).append(pair)
    return found


def _is_witness(kernel: Kernel, race: Race, pair: Racing) -> bool:
    def is_end(end: RaceEnd, thread: int, block: int, line: int, operation: str) -> bool:
        x, y, _ = end.thread
        own = y * kernel.block[0] + x, end.block[0], end.site.node.span.line, end.site.operation
        return own == (thread, block, line, operation)

    ends = [(thread, block, step.line, step.what) for thread, block, step in pair]
    assert race.byte is not None
    if not all(step.start <= race.byte < step.start + step.bytes for _, _, step in pair):
        return False
    return any(is_end(race.first, *a) and is_end(race.second, *b) for a, b in (ends, ends[::-1]))


def _is_read_by_writer(kernel: Kernel, race: Race, pair: Racing) -> bool:
    """Whether the one of the two that loads has stored before what the other one stores."""
    (thread, block, loads), (_, _, stores) = sorted(pair, key=lambda end: end[2].what)
    if (loads.what, stores.what) != ("load", "store"):
        return False
    same = [
        steps[: steps.index(loads)] for n in kernel.numbers for steps in [steps_of(kernel, thread, block, n)]
        if loads in steps
    ]  # fmt: skip
    return any(step.what == "store" and step.value == stores.value for steps in same for step in steps)


def check(kernel: Kernel) -> None:
    source = kernel.source()
    try:
        expected = _expected(kernel)
    except Deadlock:
        assume(False)
    trace = execute(kernel_in(source), kernel.block, (kernel.blocks, 1, 1), {"n": kernel.numbers})
    assert not trace.unknown, f"{trace.unknown}\n{source}"
    races = races_of(trace)
    assert not races.possible
    found = {_key(race): race for race in races.found}
    assert len(found) == len(races.found), source
    assert set(found) == set(expected), f"{kernel}\n{source}"
    for key, race in found.items():
        by_world = expected[key]
        assert set(race.worlds) == set(by_world), source
        assert any(_is_witness(kernel, race, pair) for pair in by_world[race.world]), f"{race}\n{source}"
        pairs = [pair for each in by_world.values() for pair in each]
        if race.is_benign:
            assert all(pair.is_benign or _is_read_by_writer(kernel, race, pair) for pair in pairs), f"{race}\n{source}"
        elif {(step.what, step.value) for pair in pairs for _, _, step in pair} == {("store", 1)}:
            assert not all(pair.is_benign for pair in pairs), f"{race}\n{source}"
        assert not race.is_conditional
        if race.reach == "warp":
            assert all(pair.one[0] // 32 == pair.other[0] // 32 for pair in pairs if not pair.is_benign), source


@QUIET
@given(kernels(Features(loops=False, leaving=False)))
def test_straight_code_and_branches(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels())
def test_loops_and_returns(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels(Features(leaving=False, halves=True)))
def test_barriers_of_parts_of_warps(kernel: Kernel) -> None:
    check(kernel)
