"""Redundant barriers against brute force: a barrier is needed exactly where two threads touch the same element, one of
them not only reading, in intervals that it alone keeps apart."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import pytest
from executing import kernel_in
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.measure.executed import Compiled, execute
from cudalint.measure.redundant import redundant_barriers
from cudalint.worlds.records import Batch

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")
THREADS = 64
SIZE = 64


class Step(NamedTuple):
    """An access to `(a * t + b) % SIZE` of an array by the threads below a number, or a barrier."""

    what: str
    array: str = ""
    a: int = 0
    b: int = 0
    below: int = THREADS


class Pair(NamedTuple):
    """Two steps, and the turns of the loop around them."""

    one: tuple[int, int]
    other: tuple[int, int]


BARRIER = Step("barrier")
ACCESSES = st.builds(
    Step, st.sampled_from(("load", "store", "store", "atomic")), st.sampled_from("sc"), st.sampled_from((0, 1, 1, 2)),
    st.sampled_from((0, 0, 1, 32)), st.sampled_from((THREADS, THREADS, 32, 1)),
)  # fmt: skip
STEPS = st.lists(st.one_of(ACCESSES, st.just(BARRIER)), min_size=2, max_size=8)


def _source(steps: list[Step], rounds: int) -> tuple[str, dict[int, int]]:
    """The kernel, and by line the step that is a barrier."""
    lines = ["__global__ void k(int *out) {", f"__shared__ int s[{SIZE}], c[{SIZE}];", "int x = 0, t = threadIdx.x;"]
    lines += [f"for (int r = 0; r < {rounds}; r++) {{"]
    barriers: dict[int, int] = {}
    for number, step in enumerate(steps):
        element = f"{step.array}[({step.a} * t + {step.b}) % {SIZE}]"
        code = {
            "load": f"x += {element};", "store": f"{element} = t;", "atomic": f"atomicAdd(&{element}, 1);",
            "barrier": "__syncthreads();",
        }[step.what]  # fmt: skip
        lines.append(f"if (t < {step.below}) {code}" if step.below < THREADS else code)
        if step == BARRIER:
            barriers[len(lines)] = number
    lines += ["}", f"out[blockIdx.x * {THREADS} + t] = x;", "}"]
    return "\n".join(lines), barriers


@cache
def _conflict(one: Step, other: Step) -> bool:
    """Whether two threads touch one element by these accesses, not both only reading."""
    if one.array != other.array or one.what == other.what == "load":
        return False
    places = [[(step.a * t + step.b) % SIZE for t in range(step.below)] for step in (one, other)]
    return any(p == q and t != u for t, p in enumerate(places[0]) for u, q in enumerate(places[1]))


def _together(steps: list[Step], rounds: int, gone: set[int]) -> set[Pair]:
    """The conflicting steps that no barrier keeps apart but those that are gone."""
    intervals: list[list[tuple[int, int]]] = [[]]
    for turn in range(rounds):
        for number, step in enumerate(steps):
            if step != BARRIER:
                intervals[-1].append((turn, number))
            elif number not in gone:
                intervals.append([])
    pairs = (pair for interval in intervals for pair in combinations_with_replacement(interval, 2))
    return {Pair(one, other) for one, other in pairs if _conflict(steps[one[1]], steps[other[1]])}


def _redundant(steps: list[Step], rounds: int) -> tuple[set[int], set[int]]:
    """The barriers, and those that are told to be redundant."""
    source, barriers = _source(steps, rounds)
    batch = Batch(
        (THREADS, 1, 1), ((4, 1, 1),), (0,), {}, ({},), ("",), (((0, 0, 0), (3, 0, 0)),), ((2.0, 2.0),)
    )  # fmt: skip
    places = redundant_barriers(execute(kernel_in(source), batch, Compiled()))
    return set(barriers.values()), {barriers[place.line] for place in places}


@settings(
    max_examples=cases(80), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
@given(steps=STEPS, rounds=st.integers(2, 3))
def test_barriers_that_may_go(steps: list[Step], rounds: int) -> None:
    barriers, gone = _redundant(steps, rounds)
    event(f"{len(gone)} of {len(barriers)} barriers")
    with_all = _together(steps, rounds, set())
    assert _together(steps, rounds, gone) == with_all
    for barrier in barriers - gone:
        assert _together(steps, rounds, gone | {barrier}) != with_all, "it could have gone too"


def test_of_two_in_a_row_one_may_go() -> None:
    steps = [Step("store", "s", 1), BARRIER, BARRIER, Step("load", "s", 1, 1), BARRIER]
    with_all = _together(steps, 2, set())
    assert all(_together(steps, 2, {one}) == with_all for one in (1, 2))
    assert _together(steps, 2, {1, 2}) != with_all
    assert _redundant(steps, 2) == ({1, 2, 4}, {2})
