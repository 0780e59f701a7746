"""Whether data parts threads before a barrier: a count that is the same for all, flags of each, and masks."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in

from cudalint.facts.barriers import Parting
from cudalint.measure.disagreement import of_blocks, of_warps, parting_of
from cudalint.measure.seen import Seen

_HEAD = "__global__ void kernel(const int* in, int* out)"


def _parting(body: str) -> Parting | None:
    """At the conditions before the only barrier, of a block of 64 threads or of its warps, in a grid of two."""
    function = kernel_in(f"{_HEAD} {{ int t = threadIdx.x; {body} }}")
    seen = Seen(function, execute(function, (64, 1, 1), (2, 1, 1)))
    lanes, event = seen.trace.lanes, seen.trace.barriers[0]
    in_warps = event.kind == "syncwarp"
    groups = of_warps(lanes, event.expected, event.named) if in_warps else of_blocks(lanes, event.expected)
    found = [parting_of(guard, event.node, seen, groups) for guard in seen.ways.guards_of(event.node, event.stack)]
    return next((each for each in found if each), None)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # One count for the block, with which threads compare their numbers: 63 parts the last thread from the others.
        ("int n = in[blockIdx.x]; for (int i = t; i < n; i += 64) { __syncthreads(); }", "number"),
        ("if (t < in[blockIdx.x]) __syncthreads();", "number"),
        # In whole blocks, and by the first element of each turn, all make the same turns.
        ("int n = (in[blockIdx.x] + 63) / 64 * 64; for (int i = t; i < n; i += 64) { __syncthreads(); }", None),
        ("int n = in[blockIdx.x]; for (int i = 0; i < n; i += 64) { __syncthreads(); }", None),
        ("if (in[blockIdx.x]) __syncthreads();", None),
        # Each thread looks in a place of its own.
        ("if (in[t] > 0) __syncthreads();", "data"),
        ("if (in[blockIdx.x * 64 + t] > 0) __syncthreads();", "data"),
        # Whole warps go one way.
        ("if (in[t / 32] > 0) __syncthreads();", "data"),
        ("if (in[t / 32] > 0) __syncwarp();", None),
        ("if (in[t / 16] > 0) __syncwarp();", "data"),
        # Those that have left by their own data are not waited for.
        ("if (in[t] > 0) return; __syncthreads();", None),
    ],
)
def test_what_parts_threads(body: str, expected: Parting | None) -> None:
    assert _parting(body) == expected


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("0xffffffff", "number"),
        # The mask names those alone whom the known part of the condition lets through, or fewer.
        ("0xffff", None),
        ("0xff", None),
        ("0x1ffff", "number"),
    ],
)
def test_lanes_that_no_mask_names_are_not_missed(mask: str, expected: Parting | None) -> None:
    """The first 16 lanes of a warp come, or none."""
    assert _parting(f"if (t % 32 < 16 && in[t / 32] > 0) __syncwarp({mask});") == expected


@pytest.mark.parametrize(("flags", "expected"), [(32, None), (16, None), (8, "data")])
def test_each_half_of_a_warp_may_go_its_own_way(flags: int, expected: Parting | None) -> None:
    """Each half gives a mask of itself; one flag for 16 threads keeps halves together, one for 8 does not."""
    assert _parting(f"unsigned half = 0xffffu << (t & 16); if (in[t / {flags}] > 0) __syncwarp(half);") == expected
