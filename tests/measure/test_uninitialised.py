"""Shared arrays that are read before anything is written, against executions statement by statement."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in
from hypothesis import HealthCheck, given, settings
from racing import Kernel, kernels, steps_of
from random_cases import cases

from cudalint.measure.providers.uninitialised import first_reads

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")


@settings(
    max_examples=cases(60), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
@given(kernels())
def test_what_is_never_written(kernel: Kernel) -> None:
    """An array that threads read, and nobody ever writes in any world, is told; one that is only written is not."""
    source = kernel.source()
    reads: dict[str, set[int]] = {}
    writes: dict[str, set[int]] = {}
    for world, n in enumerate(kernel.numbers):
        for block in range(kernel.blocks):
            for thread in range(kernel.threads):
                for step in steps_of(kernel, thread, block, n):
                    if step.array in ("s", "c"):
                        (reads if step.what == "load" else writes).setdefault(step.array, set()).add(world)
    trace = execute(kernel_in(source), kernel.block, (kernel.blocks, 1, 1), {"n": kernel.numbers})
    found = {each.array.name: each for each in first_reads(trace)}
    updated = {name for name, each in found.items() if each.event.operation == "atomic"}
    for array in ("s", "c"):
        if array in reads and array not in writes:
            assert array in found and found[array].written is None, source
        if array not in reads and array not in updated:
            assert array not in found, source
