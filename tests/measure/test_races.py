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


def _told(source: str, possible: bool = False, threads: int = 64) -> dict[tuple[int, int], Race]:
    races = races_of(execute(kernel_in(source), (threads, 1, 1), (1, 1, 1)))
    found = races.possible if possible else races.found
    return {(race.first.site.node.span.line, race.second.site.node.span.line): race for race in found}


def test_data_decides_whether() -> None:
    found = _told("""__global__ void k(const int* in, int* out) {
    __shared__ int s[64], flag;
    int t = threadIdx.x;
    s[t] = t;
    if (in[t] > 0)
        out[t] = s[63 - t];
    if (in[t] < 0)
        flag = 1;
    flag = 2;
}
""")
    assert {key: (race.is_conditional, race.is_benign) for key, race in found.items()} == {
        (4, 6): (True, False), (8, 8): (True, True), (8, 9): (True, False), (9, 9): (False, True),
    }  # fmt: skip


def test_data_decides_where() -> None:
    source = """__global__ void k(const int* in, int* out) {
    __shared__ int s[64], u[64];
    int t = threadIdx.x;
    s[t] = 0;
    atomicAdd(&s[in[t]], 1);
    __syncthreads();
    out[t] = s[in[t]];
    u[0] = t;
    u[in[t]] = 0;
}
"""
    assert set(_told(source)) == {(8, 8)}
    possible = _told(source, possible=True)
    assert {key: race.is_covered for key, race in possible.items()} == {(4, 5): True, (8, 9): False, (9, 9): False}
    assert all(race.byte is None for race in possible.values())


def test_what_is_loaded_from_one_constant_place() -> None:
    found = _told("""__global__ void k(const int* in, int* out) {
    __shared__ int one, each, changed, s[65];
    int t = threadIdx.x;
    one = in[0];
    each = in[t];
    changed = out[0];
    s[t] = in[t];
    s[t + 1] = in[t + 1];
    out[t] = 0;
}
""")
    assert {key: race.is_benign for key, race in found.items() if key[0] != 9 and key[1] != 9} == {
        (4, 4): True, (5, 5): False, (6, 6): False, (7, 8): True,
    }  # fmt: skip


def test_what_its_reader_has_stored() -> None:
    found = _told("""__global__ void k(int n, int* out) {
    __shared__ int size, last;
    int t = threadIdx.x;
    size = 5;
    out[t] = size;
    last = t;
    out[t] += last;
}
""")
    assert {key: race.is_benign for key, race in found.items()} == {
        (4, 4): True, (4, 5): True, (6, 6): False, (6, 7): False,
    }  # fmt: skip


def test_the_next_turn() -> None:
    found = _told("""__global__ void k(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; i++) {
        s[t] = i;
        __syncthreads();
        sum += s[63 - t];
    }
    out[t] = sum;
}
""")
    assert [(key, race.is_carried) for key, race in found.items()] == [((7, 5), True)]


def test_what_is_outside_of_an_array_is_no_race() -> None:
    assert not _told("""__global__ void k(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t >= 32)
        s[32 + t % 2] = t;
}
""")
