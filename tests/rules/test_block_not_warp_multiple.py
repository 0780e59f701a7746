"""CL501: how many idle lanes a block may have, which depends on whether its shape is a choice."""

from __future__ import annotations

from math import prod

import pytest
from cudalint.rules.cl501_block_not_warp_multiple import nearest_full_blocks
from hypothesis import assume, given
from hypothesis import strategies as st
from linting import lint

from cudalint.hardware.targets import find_target
from cudalint.report.findings.causes import merged_by_cause
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.wording import notes


def _launched(block: str) -> str:
    return f"""
        __global__ void scale(float *data, int n) {{
            int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
            int i = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + t;
            if (i < n) data[i] *= 2.0f;
        }}
        void launch(float *data, int n) {{ scale<<<1024, {block}>>>(data, n); }}
    """


@pytest.mark.parametrize(
    "block",
    [
        "416",  # 13 warps, all full.
        "dim3(16, 25)",  # 400 threads in 13 warps: the shape follows the data, and 16 of 416 lanes are few.
        "dim3(8, 3, 5)",  # 120 threads in 4 warps, 8 of 128 lanes.
    ],
)
def test_a_few_idle_lanes_of_a_shape_are_borne(block: str) -> None:
    assert not lint(_launched(block), "CL501")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("400", "16 of 416 lanes have no thread (4%)"),
        ("dim3(1, 400)", "16 of 416 lanes have no thread (4%)"),  # A plain number, along another axis.
        ("dim3(15, 15)", "31 of 256 lanes have no thread (12%)"),  # 225 threads in 8 warps.
    ],
)
def test_idle_lanes_are_counted(block: str, message: str) -> None:
    (diagnostic,) = lint(_launched(block), "CL501")
    assert message in diagnostic.message


@given(st.integers(1, 1024), st.integers(1, 64), st.integers(1, 16))
def test_no_full_block_is_nearer(x: int, y: int, z: int) -> None:
    """Against a search of all blocks that differ in one extent: an x of 1 is a choice, other extents of 1 are not."""
    target = find_target("a100")
    block = (max(1, x // (y * z)), y, z)
    threads = prod(block)
    assume(threads % target.warp_size)
    full = set()
    for axis, others in enumerate((block[1] * block[2], block[0] * block[2], block[0] * block[1])):
        if axis == 0 or block[axis] > 1:
            sizes = range(1, min(target.max_block_dimensions[axis], target.max_threads_per_block // others) + 1)
            full |= {extent * others for extent in sizes if extent * others % target.warp_size == 0}
    nearest = {max((f for f in full if f < threads), default=None), min((f for f in full if f > threads), default=None)}
    found = nearest_full_blocks(block, target)
    assert {prod(size) for size in found} == nearest - {None}
    assert all(sum(a != b for a, b in zip(size, block, strict=True)) == 1 for size in found)


def test_launches_with_a_block_of_one_size_are_reported_together() -> None:
    """A macro launches what it is given: 100 has one cause wherever that is used, and 200 is another finding."""
    text = """
        __global__ void one(float *data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
        __global__ void two(float *data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 2; }
        #define TEST(KERNEL, BLOCK) KERNEL<<<1024, BLOCK>>>(data)
        void launch(float *data) {
            TEST(one, 100);
            TEST(two, 100);
            TEST(one, 100);
            TEST(two, 200);
            TEST(two, 100);
        }
    """
    found = lint(text, "CL501")
    first, other = merged_by_cause([d for d in found if d.place.line != 9], SourceLines()), found
    (first,) = first
    assert (first.place.line, [each.place.line for each in first.also]) == (6, [7, 8, 10])
    assert next(notes(first)) == ("also", "the same at 3 more places, at lines 7, 8, 10")
    # Both kernels have an entry with all of their launches: it is one, since they have a block in common.
    (entry,) = merged_by_cause(other, SourceLines())
    assert {each.place.line for each in (entry, *entry.also)} == {6, 7, 8, 9, 10}


def _written_for(threads: int, index: str, bounds: str = "") -> str:
    return f"""
        __device__ int place() {{ return {index}; }}
        __global__ void {bounds} scale(float *data) {{ data[place()] *= 2.0f; }}
        void launch(float *data) {{ scale<<<1024, {threads}>>>(data); }}
    """


@pytest.mark.parametrize(
    ("source", "suggested"),
    [
        (_written_for(140, "blockIdx.x * blockDim.x + threadIdx.x"), "128 threads or 160 threads"),
        # Another number of threads would leave elements out, or do some twice.
        (_written_for(140, "blockIdx.x * 140 + threadIdx.x"), None),
        (_written_for(140, "blockIdx.x * blockDim.x + threadIdx.x", "__launch_bounds__(140)"), "128 threads"),
    ],
)
def test_other_sizes_are_for_kernels_that_ask_for_the_size(source: str, suggested: str | None) -> None:
    (diagnostic,) = lint(source, "CL501")
    said = diagnostic.suggestion.message.partition(": ")[2] if diagnostic.suggestion else None
    assert said == suggested
