"""Redundant barriers against brute force: without those that are reported, no two threads meet."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_THREADS = 64
_SIZE = 64

Step = tuple[str, int, int]
"""A load or a store of `s[(a * t + b) % 64]`, or a barrier."""
_accesses = st.tuples(st.sampled_from(("load", "store")), st.sampled_from((0, 1, 1, 2)), st.sampled_from((0, 0, 1, 32)))
_steps = st.lists(st.one_of(_accesses, st.just(("barrier", 0, 0))), min_size=2, max_size=8)


def _source(steps: list[Step], rounds: int) -> tuple[str, dict[int, int]]:
    """The kernel, and by line the step that is a barrier."""
    lines = ["__global__ void k(float *out) {", f"__shared__ float s[{_SIZE}];", "float x = 0;"]
    lines += [f"for (int r = 0; r < {rounds}; r++) {{"]
    barriers: dict[int, int] = {}
    for number, (what, a, b) in enumerate(steps):
        element = f"s[({a} * threadIdx.x + {b}) % {_SIZE}]"
        code = {"load": f"x += {element};", "store": f"{element} = threadIdx.x;", "barrier": "__syncthreads();"}[what]
        lines.append(code)
        if what == "barrier":
            barriers[len(lines)] = number
    lines += ["}", f"out[blockIdx.x * {_THREADS} + threadIdx.x] = x;", "}"]
    lines += [f"void run(float *out) {{ k<<<4, {_THREADS}>>>(out); }}"]
    return "\n".join(lines), barriers


@cache
def _meet(one: Step, other: Step) -> bool:
    """Whether two threads touch one element by these accesses, a store among them."""
    if "store" not in (one[0], other[0]):
        return False
    threads = np.arange(_THREADS)
    touched = [(step[1] * threads + step[2]) % _SIZE for step in (one, other)]
    same = touched[0][:, None] == touched[1][None, :]
    np.fill_diagonal(same, False)
    return bool(same.any())


def _conflicts(steps: list[Step], rounds: int, gone: set[int]) -> set[tuple[int, int]]:
    """Pairs of steps by which two threads meet in one barrier interval."""
    intervals: list[list[int]] = [[]]
    for _ in range(rounds):
        for number, step in enumerate(steps):
            if step[0] != "barrier":
                intervals[-1].append(number)
            elif number not in gone:
                intervals.append([])
    pairs = {(a, b) for interval in intervals for a, b in product(set(interval), repeat=2) if a <= b}
    return {(a, b) for a, b in pairs if _meet(steps[a], steps[b])}


@settings(max_examples=cases(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_steps, rounds=st.integers(2, 3))
def test_what_is_reported_may_go(tmp_path: Path, steps: list[Step], rounds: int) -> None:
    source, barriers = _source(steps, rounds)
    path = tmp_path / "k.cu"
    path.write_text(source, encoding="utf-8")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    sites = kernel.barriers or ()
    gone = {barriers[site.place.line] for site in sites if any(result.redundant for result in site.results)}
    event(f"{len(gone)} of {len(barriers)} barriers")
    assert _conflicts(steps, rounds, gone) == _conflicts(steps, rounds, set())
    for barrier in set(barriers.values()) - gone:
        # And none is left that could go as well: nothing here is unknown.
        assert _conflicts(steps, rounds, gone | {barrier}), "it could have gone too"


def test_pairs_in_a_row_are_one_barrier() -> None:
    """The brute force itself: of two barriers in a row one may go, and not both."""
    steps: list[Step] = [("store", 1, 0), ("barrier", 0, 0), ("barrier", 0, 0), ("load", 1, 1), ("barrier", 0, 0)]
    assert all(not _conflicts(steps, 2, {one}) for one, _ in pairwise((1, 2, 3)))
    assert _conflicts(steps, 2, {1, 2})
