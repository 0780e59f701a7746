"""Occupancy against NVIDIA's calculator, and the cliffs against trying every figure."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from cudalint.hardware.occupancy import Limits, Setting, occupancy
from cudalint.hardware.targets import find_target
from cudalint.hardware.whatif import by_block_size, by_registers, cliffs

REFERENCE = json.loads((Path(__file__).parent / "occupancy_reference.json").read_text(encoding="utf-8"))
A100 = find_target("a100")
# The calculator's way to say that a resource sets no limit.
INT_MAX = 2**31 - 1


def test_the_calculator_agrees_to_the_last_block() -> None:
    rows = [dict(zip(REFERENCE["columns"], row, strict=True)) for row in REFERENCE["rows"]]
    assert len(rows) >= 2000
    assert len({row["architecture"] for row in rows}) == 11
    wrong = []
    for row in rows:
        target = find_target(row["architecture"])
        shared = row["static_shared"], row["dynamic_shared"]
        carveout = None if row["carveout"] == -1 else row["carveout"]
        result = occupancy(target, row["threads"], row["registers"], *shared, Setting(carveout))
        limits = Limits(
            warps=row["limit_warps"],
            blocks=row["limit_blocks"],
            registers=None if row["limit_registers"] == INT_MAX else row["limit_registers"],
            shared_memory=None if row["limit_shared_memory"] == INT_MAX else row["limit_shared_memory"],
        )
        without = occupancy(target, row["threads"], row["registers"], *shared, Setting(carveout, False)).blocks_per_sm
        assert (without == 0 and result.blocks_per_sm > 0) <= result.needs_opt_in
        same = (result.blocks_per_sm, without) == (row["blocks"], row["blocks_without_opt_in"])
        if not same or result.limits != limits or result.launchable != (row["blocks"] > 0):
            wrong.append((row, result))
    assert wrong == []


def test_reserved_shared_memory_counts() -> None:
    assert occupancy(A100, 32, None, static_shared=4096).limits.shared_memory == 32


def test_all_limiters_are_named() -> None:
    result = occupancy(A100, 64, 32)
    assert result.blocks_per_sm == 32 and result.occupancy == 1.0
    assert result.limiters == ("warps", "blocks", "registers")
    assert result.limits == Limits(warps=32, blocks=32, registers=32, shared_memory=164)


def test_partial_warps_count_in_full() -> None:
    assert occupancy(A100, 33, None).warps_per_sm == 64


def test_unknown_registers_set_no_limit() -> None:
    assert occupancy(A100, 1024, None).limits.registers is None
    assert occupancy(find_target("v100"), 1024, None).limits.shared_memory is None


def test_the_opt_in_is_needed_above_48_kb() -> None:
    assert not occupancy(A100, 256, None, dynamic_shared=49152).needs_opt_in
    assert occupancy(A100, 256, None, static_shared=1, dynamic_shared=49152).needs_opt_in


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "obstacle"),
    [
        (1025, 32, 0, "1025 threads per block, at most 1024"),
        (32, 257, 0, "257 registers per thread, at most 256"),
        # Nine warps are checked as twelve, three in each sub-partition.
        (288, 200, 0, "76800 registers allocated per block, at most 65536"),
        (32, 32, 166913, "166913 bytes of shared memory per block, at most 166912"),
    ],
)
def test_obstacles(threads: int, registers: int, shared: int, obstacle: str) -> None:
    result = occupancy(A100, threads, registers, dynamic_shared=shared)
    assert (result.blocks_per_sm, result.obstacles) == (0, (obstacle,))
    assert not result.launchable


@pytest.mark.parametrize("arguments", [(0, 32, 0, 0), (32, -1, 0, 0), (32, 32, -1, 0), (32, 32, 0, -1)])
def test_impossible_arguments_are_refused(arguments: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"at least one|negative"):
        occupancy(A100, *arguments)


def test_cliffs_are_the_nearest_figures_that_add_a_block() -> None:
    rng = random.Random(5)
    found = 0
    for _ in range(400):
        target = find_target(rng.choice(["v100", "t4", "a100", "rtx3090", "h100", "rtx5090"]))
        threads, registers, shared = rng.randint(1, 1024), rng.randint(1, 255), rng.randint(0, 40_000)
        now = occupancy(target, threads, registers, shared).blocks_per_sm
        nearest = {cliff.resource: cliff.value for cliff in cliffs(target, threads, registers, shared)}
        found += len(nearest)
        # Less of a resource never holds fewer blocks, so that it is enough to look at the edge; without a
        # cliff, not even the least of the resource may help.
        count, size = nearest.get("registers", 0), nearest.get("shared_memory", -1)
        assert occupancy(target, threads, count + 1, shared).blocks_per_sm == now
        assert occupancy(target, threads, registers, size + 1).blocks_per_sm == now
        assert count == 0 or occupancy(target, threads, count, shared).blocks_per_sm > now
        assert size == -1 or occupancy(target, threads, registers, size).blocks_per_sm > now
    assert found > 200


def test_a_cliff_from_a_launch_that_fails_is_the_first_that_works() -> None:
    (cliff,) = cliffs(A100, 1024, 80)
    assert (cliff.value, cliff.occupancy.blocks_per_sm) == (64, 1)
    (cliff,) = cliffs(A100, 1024, 32, dynamic_shared=200_000)
    assert (cliff.value, cliff.occupancy.needs_opt_in) == (166912, True)


def test_tables() -> None:
    sizes = by_block_size(A100, 40, dynamic_shared=8192, sizes=(96, 256))
    assert [(row.value, row.occupancy) for row in sizes] == [
        (threads, occupancy(A100, threads, 40, 0, 8192)) for threads in (96, 256)
    ]
    counts = by_registers(A100, 256, dynamic_shared=8192)
    assert [row.value for row in counts] == sorted(row.value for row in counts)
    assert counts[0].occupancy.occupancy > counts[-1].occupancy.occupancy
