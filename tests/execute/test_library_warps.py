"""Functions by which lanes exchange something, against the definitions lane by lane."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in, stored

from cudalint.execute.values import Data

LANES = range(64)
BLOCK = (64, 1, 1)
VALUE = "(t * 7 + 3)"


def _value(lane: int) -> int:
    return lane * 7 + 3


@pytest.mark.parametrize("width", [32, 16, 8, 4, 1])
@pytest.mark.parametrize("operand", [0, 1, 3, 5, 16, 31])
def test_shuffles(width: int, operand: int) -> None:
    """CUDA C++ Programming Guide, "Warp Shuffle Functions": a lane without a source keeps its own value."""
    up, down, idx, xor = [], [], [], []
    for lane in LANES:
        first = lane - lane % width
        up.append(_value(lane - operand if lane - operand >= first else lane))
        down.append(_value(lane + operand if lane + operand < first + width else lane))
        idx.append(_value(first + operand % width))
        xor.append(_value(lane ^ operand if (lane ^ operand) < first + width else lane))
    for name, expected in (("_up", up), ("_down", down), ("", idx), ("_xor", xor)):
        found = stored(f"out[t] = __shfl{name}_sync(~0u, {VALUE}, {operand}, {width});", BLOCK)
        assert found == expected, name
        assert stored(f"out[t] = __shfl{name}({VALUE}, {operand}, {width});", BLOCK) == expected, name


def test_a_shuffle_from_lanes_that_differ() -> None:
    expected = [_value(lane - lane % 32 + (lane * 5) % 32) for lane in LANES]
    assert stored(f"out[t] = __shfl_sync(~0u, {VALUE}, t * 5);", BLOCK) == expected


def test_what_all_lanes_have_stays_so() -> None:
    assert stored("out[t] = __shfl_xor_sync(~0u, blockDim.x + 1, 16);", BLOCK) == [65] * 64


def test_data_stays_data() -> None:
    (found, *_) = stored("out[t] = __shfl_xor_sync(~0u, in[t], 1);")
    assert isinstance(found, Data)
    assert found.kind == "loaded"


def test_votes() -> None:
    below = [sum(1 << lane for lane in range(32) if first + lane < 40) for first in (0, 32)]
    signed = [word - (1 << 32) if word >> 31 else word for word in below]
    assert stored("out[t] = __ballot_sync(~0u, t < 40);", BLOCK) == [signed[lane // 32] for lane in LANES]
    assert stored("out[t] = __any_sync(~0u, t >= 40);", BLOCK) == [lane // 32 for lane in LANES]
    assert stored("out[t] = __all_sync(~0u, t < 40);", BLOCK) == [1 - lane // 32 for lane in LANES]
    # Only the lanes that the mask names have a vote.
    assert stored("out[t] = __ballot_sync(0xff, t % 2);") == [0xAA] * 32


def test_the_lanes_that_are_active() -> None:
    found = stored("if (t % 4 == 1) out[t] = __activemask();", BLOCK)
    assert [found[lane] for lane in LANES if lane % 4 == 1] == [0x22222222] * 16


def test_lanes_of_the_same_number() -> None:
    found = stored("out[t] = __match_any_sync(~0u, t % 8);", BLOCK, "unsigned")
    assert found == [sum(1 << lane for lane in range(32) if lane % 8 == own % 8) for own in LANES]


def test_reductions() -> None:
    sums = [sum(_value(lane) for lane in range(first, first + 32)) for first in (0, 32)]
    assert stored(f"out[t] = __reduce_add_sync(~0u, {VALUE});", BLOCK) == [sums[lane // 32] for lane in LANES]
    assert stored("out[t] = __reduce_max_sync(~0u, t ^ 5);", BLOCK) == [31] * 32 + [63] * 32


def test_votes_of_a_block() -> None:
    assert stored("out[t] = __syncthreads_count(t % 3 == 0);", BLOCK) == [22] * 64
    assert stored("out[t] = __syncthreads_and(t < 64);", BLOCK) == [1] * 64
    assert stored("out[t] = __syncthreads_or(t == 64);", BLOCK) == [0] * 64


HEAD = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"


def test_a_tile_of_eight() -> None:
    tile = "auto tile = cg::tiled_partition<8>(cg::this_thread_block());"
    assert stored(f"{tile} out[t] = tile.thread_rank() + 100 * tile.meta_group_rank();", BLOCK, head=HEAD) == [
        lane % 8 + 100 * (lane // 8) for lane in LANES
    ]
    assert stored(f"{tile} out[t] = tile.shfl_down({VALUE}, 2);", BLOCK, head=HEAD) == [
        _value(lane + 2 if lane % 8 < 6 else lane) for lane in LANES
    ]
    ballots = [sum(1 << at for at in range(8) if (own - own % 8 + at) % 3 == 0) for own in LANES]
    assert stored(f"{tile} out[t] = tile.ballot(t % 3 == 0);", BLOCK, head=HEAD) == ballots
    assert stored(f"{tile} out[t] = tile.any(t == 9);", BLOCK, head=HEAD) == [int(8 <= own < 16) for own in LANES]


def test_lanes_that_come_together_are_numbered() -> None:
    found = stored("if (t % 4 == 1) { auto g = cg::coalesced_threads(); out[t] = g.thread_rank(); }", BLOCK, head=HEAD)
    assert [found[lane] for lane in LANES if lane % 4 == 1] == [*range(8), *range(8)]


def test_barriers_of_groups() -> None:
    source = f"""{HEAD}
    __global__ void kernel(int* out) {{
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<32>(block);
        auto grid = cg::this_grid();
        tile.sync(); block.sync(); cg::sync(block); grid.sync(); out[threadIdx.x] = 1;
    }}"""
    trace = execute(kernel_in(source), (64, 1, 1), (2, 1, 1))
    found = [(barrier.kind, barrier.scope) for barrier in trace.barriers if not barrier.is_implied]
    groups = "cooperative-groups"
    assert found == [(groups, "warp"), (groups, "block"), (groups, "block"), ("grid", "block")]
    assert trace.accesses[-1].interval == 3
    # The first thread of each block adds to the counter of the grid's barrier, and reads it.
    steps = [(each.operation, int(each.mask.sum())) for each in trace.accesses if each.allocation.name != "out"]
    assert steps == [("atomic", 2), ("load", 2)]
    assert not trace.unknown


def test_barriers_with_two_halves() -> None:
    source = f"""{HEAD}
    #include <cuda/barrier>
    __global__ void kernel(int* a) {{
        __shared__ cuda::barrier<cuda::thread_scope_block> b;
        __shared__ int s[256];
        auto token = b.arrive(); a[0] = 1; b.wait(std::move(token)); a[1] = 1; b.arrive_and_wait();
        cuda::memcpy_async(cg::this_thread_block(), s, a, sizeof(int) * 256, b); b.arrive_and_wait();
        a[2] = 1;
    }}"""
    trace = execute(kernel_in(source), (64, 1, 1), (1, 1, 1))
    assert [(each.kind, each.part) for each in trace.barriers] == [
        ("named", "arrive"), ("named", "wait"), ("named", "whole"), ("named", "whole"),
    ]  # fmt: skip
    stores = [each for each in trace.accesses if each.operation == "store"]
    assert [each.interval for each in stores] == [0, 1, 3]
    # The threads of the group copy one word after the other, each of both.
    copies = [each for each in trace.accesses if each.operation == "async-copy"]
    assert [each.allocation.name for each in copies] == ["a", "s"] * 4
    assert copies[2].offset[0, :3].tolist() == [256, 260, 264]
    assert len(trace.copies) == 3
