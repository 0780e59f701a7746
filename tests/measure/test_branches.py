"""Divergence of warps and missed barriers, against executions thread by thread."""

from __future__ import annotations

from collections import defaultdict

import pytest
from executing import execute, kernel_in
from hypothesis import HealthCheck, given, settings
from racing import WARP, Features, Kernel, Step, kernels, steps_of
from random_cases import cases

from cudalint.measure.branches import divergence_of, missed_barriers

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")
QUIET = settings(
    max_examples=cases(80), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
KINDS = {"block": 0, "warp": WARP, "half": WARP}
"""Threads that a barrier may be common to; 0 for all of the block."""


def _threads(kernel: Kernel, n: int, block: int) -> dict[int, list[Step]]:
    return {thread: steps_of(kernel, thread, block, n) for thread in range(kernel.threads)}


def _expected_branches(kernel: Kernel, n: int) -> dict[int, tuple[int, int]]:
    """Of each line, how many executions by warps there are, and how many of them split."""
    ways: dict[tuple[int, int, int, tuple[int, ...]], set[bool]] = defaultdict(set)
    for block in range(kernel.blocks):
        for thread, steps in _threads(kernel, n, block).items():
            for step in steps:
                if step.what == "branch":
                    ways[step.line, block, thread // WARP, step.turn].add(bool(step.value))
    found: dict[int, tuple[int, int]] = {}
    for (line, *_), each in ways.items():
        warps, split = found.get(line, (0, 0))
        found[line] = warps + 1, split + (len(each) == 2)
    return found


@QUIET
@given(kernels())
def test_divergence(kernel: Kernel) -> None:
    source = kernel.source()
    trace = execute(kernel_in(source), kernel.block, (kernel.blocks, 1, 1), {"n": kernel.numbers})
    found = {site.node.span.line: each for site, each in divergence_of(trace).items()}
    for world, n in enumerate(kernel.numbers):
        expected = _expected_branches(kernel, n)
        for line, (warps, split) in expected.items():
            if line not in found:
                assert not split, source
                continue
            assert found[line].split[world] == split, f"{line}\n{source}"
            assert found[line].warps[world] in (0, warps) or split == 0, f"{line}\n{source}"
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
        if missed.absence == "elsewhere":
            assert missed.instead is not None
            assert missed.instead.span.line in {step.line for step in threads[absent]}
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
