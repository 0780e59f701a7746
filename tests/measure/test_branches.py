"""Divergence of warps and missed barriers, against executions thread by thread."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest
from executing import execute, kernel_in
from hypothesis import HealthCheck, given, settings
from racing import WARP, Features, If, Kernel, Loop, Step, kernels, steps_of
from random_cases import cases

from cudalint.measure.barriers import missed_barriers
from cudalint.measure.divergence import divergence_of

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")
QUIET = settings(
    max_examples=cases(80), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
KINDS = {"block": 0, "warp": WARP, "half": WARP}
"""Threads that a barrier may be common to; 0 for all of the block."""


def _threads(kernel: Kernel, n: int, block: int) -> dict[int, list[Step]]:
    return {thread: steps_of(kernel, thread, block, n) for thread in range(kernel.threads)}


class Expected(NamedTuple):
    """Of a branch: executions by warps, and those that split; lanes of the latter that go where the condition holds,
    and others; turns of the slowest lane and of the mean one, of loops."""

    warps: float
    split: float
    lanes: tuple[float, float]
    slowest: float
    mean: float


def _loops_in(body: Iterable[object]) -> Iterator[int]:
    for each in body:
        if isinstance(each, Loop):
            yield each.line
            yield from _loops_in(each.body)
        elif isinstance(each, If):
            yield from _loops_in([*each.then, *each.otherwise])


def _expected_branches(kernel: Kernel, n: int) -> dict[int, Expected]:
    """By line. Of a loop, an execution is all of its turns."""
    loops = set(_loops_in(kernel.body))
    tests: dict[tuple[int, int, int, tuple[int, ...]], dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for block in range(kernel.blocks):
        for thread, steps in _threads(kernel, n, block).items():
            for step in steps:
                if step.what == "branch":
                    execution = step.turn[:-1] if step.line in loops else step.turn
                    tests[step.line, block, thread // WARP, execution][thread].append(bool(step.value))
    found: dict[int, Expected] = defaultdict(lambda: Expected(0, 0, (0, 0), 0, 0))
    for (line, *_), lanes in tests.items():
        by_turn = itertools.zip_longest(*lanes.values())
        is_split = any({True, False} <= set(ways) for ways in by_turn)
        turns = [sum(each) for each in lanes.values()]
        own = (sum(turns), len(turns) - sum(turns)) if is_split and line not in loops else (0, 0)
        slowest, mean = (max(turns), sum(turns) / len(turns)) if line in loops else (0, 0.0)
        before = found[line]
        found[line] = Expected(
            before.warps + 1, before.split + is_split, (before.lanes[0] + own[0], before.lanes[1] + own[1]),
            before.slowest + slowest, before.mean + mean,
        )  # fmt: skip
    return found


@QUIET
@given(kernels())
def test_divergence(kernel: Kernel) -> None:
    source = kernel.source()
    trace = execute(kernel_in(source), kernel.block, (kernel.blocks, 1, 1), {"n": kernel.numbers})
    found = {site.node.span.line: each for site, each in divergence_of(trace).items()}
    for world, n in enumerate(kernel.numbers):
        expected = _expected_branches(kernel, n)
        for line, each in expected.items():
            if line not in found:
                assert not each.split, source
                continue
            own = found[line]
            assert own.split[world] == each.split, f"{line}\n{source}"
            # What all lanes of all worlds take alike is no event.
            assert own.warps[world] in (0, each.warps) or each.split == 0, f"{line}\n{source}"
            assert (own.lanes[0][world], own.lanes[1][world]) == each.lanes
            if own.warps[world] == each.warps:
                assert own.slowest[world] == pytest.approx(each.slowest), f"{line}\n{source}"
                assert own.mean[world] == pytest.approx(each.mean), f"{line}\n{source}"
        assert {line for line, each in found.items() if each.split[world]} <= set(expected)


def _expected_missed(kernel: Kernel, n: int) -> set[tuple[int, str]]:
    """Lines of barriers, and what becomes of threads that don't come to one: `gone` or `elsewhere`."""
    found = set()
    for block in range(kernel.blocks):
        threads = _threads(kernel, n, block)
        totals = {
            kind: {t: sum(step.what == kind for step in steps) for t, steps in threads.items()} for kind in KINDS
        }
        comers: dict[tuple[int, str, int, tuple[int, ...]], dict[int, int]] = defaultdict(dict)
        for thread, steps in threads.items():
            counts = dict.fromkeys(KINDS, 0)
            for step in steps:
                if step.what in KINDS:
                    group = thread // KINDS[step.what] if KINDS[step.what] else 0
                    comers[step.line, step.what, group, step.turn][thread] = counts[step.what]
                    counts[step.what] += 1
        for (line, kind, group, _), come in comers.items():
            size = KINDS[kind] or kernel.threads
            for thread in range(group * size, min(group * size + size, kernel.threads)):
                if thread in come or (kind == "half" and thread % WARP >= WARP // 2):
                    continue
                is_elsewhere = kind != "half" and totals[kind][thread] > max(come.values())
                found.add((line, "elsewhere" if is_elsewhere else "gone"))
    return found


def _found_missed(kernel: Kernel) -> list[set[tuple[int, str]]]:
    source = kernel.source()
    trace = execute(kernel_in(source), kernel.block, (kernel.blocks, 1, 1), {"n": kernel.numbers})
    worlds: list[set[tuple[int, str]]] = [set() for _ in kernel.numbers]
    for missed in missed_barriers(trace):
        line = missed.node.span.line
        n = kernel.numbers[missed.world]
        threads = _threads(kernel, n, missed.block[0])
        waiting, absent = (x + y * kernel.block[0] for x, y, _ in (missed.waiting, missed.absent))
        turns = {step.turn for step in threads[waiting] if step.line == line}
        assert turns - {step.turn for step in threads[absent] if step.line == line}, source
        assert missed.world in missed.worlds
        for world in missed.worlds:
            worlds[world].add((line, "elsewhere" if missed.absence == "elsewhere" else "gone"))
    return worlds


@QUIET
@given(kernels(Features(leaving=False)))
def test_missed_barriers(kernel: Kernel) -> None:
    found = _found_missed(kernel)
    for n, each in zip(kernel.numbers, found, strict=True):
        assert each == _expected_missed(kernel, n), kernel.source()


@QUIET
@given(kernels())
def test_missed_barriers_with_returns(kernel: Kernel) -> None:
    """Whether one who has returned would have come to another barrier is not asked."""
    found = _found_missed(kernel)
    for n, each in zip(kernel.numbers, found, strict=True):
        expected = {line for line, _ in _expected_missed(kernel, n)}
        assert {line for line, _ in each} == expected, kernel.source()


@QUIET
@given(kernels(Features(leaving=False, halves=True)))
def test_missed_barriers_of_parts_of_warps(kernel: Kernel) -> None:
    found = _found_missed(kernel)
    for n, each in zip(kernel.numbers, found, strict=True):
        assert each == _expected_missed(kernel, n), kernel.source()
