"""CL308 and CL309: how large a grid may be in which blocks wait for each other, and how they are launched."""

from __future__ import annotations

import pytest
from linting import lint

_RESIDENT_THREADS = 108 * 2048
"""Of an A100, whose multiprocessors hold up to 32 blocks each."""
_BARRIER = """
__global__ void k(int *count) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile int *)count < gridDim.x)
            ;
    }
}
"""


@pytest.mark.parametrize("block", [64, 256, 1024])
def test_the_smallest_size_is_the_first_that_does_not_fit(block: int) -> None:
    """One block more than is resident, for which one element is enough."""
    host = f"void run(int *count, int n) {{ k<<<(n + {block - 1}) / {block}, {block}>>>(count); }}"
    (found,) = lint(_BARRIER + host, "CL308")
    assert f"with n = {_RESIDENT_THREADS + 1} " in found.message


@pytest.mark.parametrize(("blocks", "is_told"), [(108 * 8, False), (108 * 8 + 1, True)])
def test_a_grid_that_is_given(blocks: int, is_told: bool) -> None:
    """8 blocks of 256 threads for each of 108 multiprocessors."""
    host = f"void run(int *count) {{ k<<<{blocks}, 256>>>(count); }}"
    assert bool(lint(_BARRIER + host, "CL308")) == is_told


@pytest.mark.parametrize(
    "grid",
    [
        "min((n + 255) / 256, 864)", "blocks", "blocks * 2", "min((n + 255) / 256, 2 * sms)",
    ],
)  # fmt: skip
def test_grids_that_the_program_bounds_or_chooses(grid: str) -> None:
    """Neither a number of blocks that is asked for nor one that is clamped is a size that grows."""
    host = f"""
#include <algorithm>
using std::min;
void run(int *count, int n, int blocks) {{
    int sms;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    k<<<{grid}, 256>>>(count);
}}"""
    assert not lint(_BARRIER + host, "CL308")


def test_a_guard_in_front_of_the_launch_counts() -> None:
    """Sizes that the host code turns away are none that the grid is made of."""
    launch = "k<<<(n + 255) / 256, 256>>>(count);"
    assert not lint(_BARRIER + f"void run(int *count, int n) {{ if (n <= 100000) {launch} }}", "CL308")
    assert lint(_BARRIER + f"void run(int *count, int n) {{ if (n <= 1000000) {launch} }}", "CL308")


@pytest.mark.parametrize("told", [False, True])
def test_cooperative_attributes(told: bool) -> None:
    """A launch with the attribute of cooperative launches fails where not all of its blocks are resident."""
    kind = "cudaLaunchAttributePriority" if told else "cudaLaunchAttributeCooperative"
    host = f"""
void run(int *count, int n) {{
    cudaLaunchAttribute attributes[1];
    attributes[0].id = {kind};
    cudaLaunchConfig_t config = {{}};
    config.gridDim = dim3((n + 255) / 256);
    config.blockDim = dim3(256);
    config.attrs = attributes;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, k, count);
}}"""
    assert bool(lint(_BARRIER + host, "CL308")) == told
