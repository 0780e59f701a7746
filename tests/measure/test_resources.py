"""Where a kernel's registers come from, and the occupancy under each of its launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import KernelFacts
from cudalint.hardware.occupancy import occupancy
from cudalint.hardware.targets import find_target
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.formats.facts_text import occupancy_phrase
from cudalint.run.analysis import analyse_file

A100 = find_target("a100")
_DATA = Path(__file__).parents[1] / "data"

_SOURCE = """
__global__ void %s k(float *a) {
    __shared__ float s[1024];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
int main() { k<<<100, 256, 4096>>>(0); k<<<100, 2000>>>(0); }
"""


def _kernel(source: str, **options: object) -> KernelFacts:
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),), **options))  # type: ignore[arg-type]
    (kernel,) = facts.kernels
    return kernel


def test_the_figures_are_the_models() -> None:
    kernel = _kernel(_SOURCE % "", registers=40)
    first, second = kernel.occupancy or ()
    expected = occupancy(A100, 256, 40, 4096, 4096)
    assert (first.blocks_per_sm, first.warps_per_sm, first.occupancy) == (6, 48, 0.75)
    assert first.limiters == expected.limiters == ("registers",)
    assert first.limits == {"warps": 8, "blocks": 32, "registers": 6, "shared_memory": 18}
    # The launch asks for what no block can be, whatever was evaluated in its place.
    assert (second.blocks_per_sm, second.limiters) == (0, ("warps", "registers"))
    assert second.obstacles[0] == "2000 threads per block, at most 1024"


def test_unknown_registers_set_no_limit_and_have_a_table() -> None:
    kernel = _kernel(_SOURCE % "")
    assert (kernel.resources.registers, kernel.resources.registers_source) == (None, None)
    first = (kernel.occupancy or ())[0]
    assert first.blocks_per_sm == 8 and first.limits["registers"] is None
    assert (40, 6, 0.75) in first.by_registers and (255, 1, 0.125) in first.by_registers
    known = (_kernel(_SOURCE % "", registers=40).occupancy or ())[0]
    assert known.by_registers == ()


_TILED = """
__global__ void %s k(float *c, const float *a, const float *b, int n) {
    float sums[8][8] = {};
    for (int i = 0; i < n; i++) {
        float left[8], right[8];
        for (int y = 0; y < 8; y++) left[y] = a[i * 64 + y * 8 + threadIdx.x];
        for (int x = 0; x < 8; x++) right[x] = b[i * 64 + x * 8 + threadIdx.x];
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++) sums[y][x] += left[y] * right[x];
    }
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) c[(y * 8 + x) * 256 + threadIdx.x] = sums[y][x];
}
int main() { k<<<5000, 256>>>(0, 0, 0, 7); }
"""


def test_registers_are_estimated_where_nobody_has_counted_them() -> None:
    """64 sums and 16 operands are alive at once; `ptxas` 13.0 takes 96, with which two blocks of 256 fit."""
    kernel = _kernel(_TILED % "")
    (occupancy,) = kernel.occupancy or ()
    assert (kernel.resources.registers, kernel.resources.registers_source) == (None, None)
    assert 80 < (kernel.resources.registers_estimate or 0) <= 96
    # What was there before is without it, and no rule reads it.
    assert (occupancy.blocks_per_sm, occupancy.limits["registers"]) == (8, None)
    assert occupancy.most is not None
    assert occupancy.most.registers == int(0.8 * (kernel.resources.registers_estimate or 0))
    assert occupancy.most.limiters == ("registers",)
    assert 2 <= occupancy.most.blocks_per_sm <= 3
    said = occupancy_phrase(occupancy, kernel.resources)
    assert said.startswith("occupancy at most about 38%: 3 blocks, 24 warps per SM, limited by registers (at least")


def test_what_is_counted_is_not_estimated() -> None:
    kernel = _kernel(_TILED % "", registers=96)
    (occupancy,) = kernel.occupancy or ()
    assert (kernel.resources.registers_estimate, occupancy.most) == (None, None)
    # A ceiling is no count, but the occupancy is computed with it.
    kernel = _kernel(_TILED % "__launch_bounds__(256, 2)")
    (occupancy,) = kernel.occupancy or ()
    assert (kernel.resources.registers, occupancy.most) == (128, None)
    assert 80 < (kernel.resources.registers_estimate or 0) <= 96


def test_an_estimate_that_changes_nothing_is_not_spoken_of() -> None:
    kernel = _kernel(_SOURCE % "")
    first = (kernel.occupancy or ())[0]
    assert first.most is not None and first.most.blocks_per_sm == first.blocks_per_sm
    assert occupancy_phrase(first, kernel.resources).endswith("limited by warps (registers unknown)")


@pytest.mark.parametrize(
    ("bounds", "registers"),
    [
        # What `ptxas` 13.0 stopped at for sm_80, with a kernel that would take more.
        ("__launch_bounds__(256, 4)", 64),
        ("__launch_bounds__(256, 3)", 80),
        ("__launch_bounds__(100, 5)", 96),
        ("__launch_bounds__(96, 7)", 80),
        ("__launch_bounds__(33, 9)", 96),
        ("__launch_bounds__(1024, 1)", 64),
        ("__launch_bounds__(512, 1)", 128),
        # One warp may have all that an instruction can name.
        ("__launch_bounds__(32, 1)", 255),
    ],
)
def test_launch_bounds_with_blocks(bounds: str, registers: int) -> None:
    resources = _kernel(_SOURCE % bounds).resources
    assert (resources.registers, resources.registers_source) == (registers, "launch-bounds")


def test_launch_bounds_without_blocks_say_nothing_of_registers() -> None:
    resources = _kernel(_SOURCE % "__launch_bounds__(256)").resources
    assert (resources.registers, resources.max_threads) == (None, 256)


def test_the_tighter_ceiling_counts() -> None:
    for most, expected in [(32, (32, "maxrregcount")), (128, (64, "launch-bounds"))]:
        resources = _kernel(_SOURCE % "__launch_bounds__(256, 4)", max_registers=most).resources
        assert (resources.registers, resources.registers_source) == expected
    assert _kernel(_SOURCE % "", max_registers=48).resources.registers == 48


def test_the_users_word_comes_first() -> None:
    resources = _kernel(_SOURCE % "__launch_bounds__(256, 4)", max_registers=32, registers=17).resources
    assert (resources.registers, resources.registers_source) == (17, "command-line")


def test_compiled_kernels() -> None:
    cubin = str(_DATA / "registers_sm80.cubin")
    facts = analyse_file(str(_DATA / "registers.cu"), AnalysisOptions(cubins=(cubin,)))
    found = {k.name: (k.resources.registers, k.resources.registers_source) for k in facts.kernels}
    counts = {"tiled": 23, "hidden": 14, "internal": 8, "plain": 8, "bounded": 10}
    assert found == {name: (registers, "cubin") for name, registers in counts.items()}
    assert facts.failures == ()


def test_a_cubin_that_is_gone_is_said_once_and_the_rest_is_done() -> None:
    options = AnalysisOptions(unsaved=(("a.cu", _SOURCE % ""),), cubins=("none.cubin",))
    facts = analyse_file("a.cu", options)
    assert len(facts.kernels) == 1
    (failure,) = facts.failures
    assert failure.message == "--cubin none.cubin: cannot read it: No such file or directory"


def test_dynamic_shared_memory_that_nobody_knows_sets_no_limit() -> None:
    source = """
    __global__ void k(float *a) { extern __shared__ float s[]; s[threadIdx.x] = a[0]; a[1] = s[threadIdx.x]; }
    void f(int n) { k<<<1, 128, n * 4>>>(0); }
    """
    (only,) = _kernel(source).occupancy or ()
    assert only.limits["shared_memory"] is None and only.blocks_per_sm == 16


def test_a_kernel_without_a_launch_has_an_occupancy_too() -> None:
    kernel = _kernel("__global__ void k(float *a) { a[threadIdx.x] = 1; }")
    (only,) = kernel.occupancy or ()
    assert (only.launch, only.blocks_per_sm, only.occupancy) == (0, 8, 1.0)


@pytest.mark.parametrize("target", ["gtx1080", "b300"])
def test_a_gpu_without_tensor_cores_has_costs(target: str) -> None:
    """Of matrices, too, which it would need another instruction for: what it has none of sets no limit."""
    products = """
#include <mma.h>
using namespace nvcuda;
__global__ void k(half *a, half *b, float *o) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::fill_fragment(z, 0.0f);
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(o, z, 16, wmma::mem_row_major);
}
int main() { k<<<100, 32>>>(0, 0, 0); }
"""
    for source in (_TILED % "", products):
        kernel = _kernel(source, target=target)
        assert not [gap for gap in kernel.gaps if "internal" in gap.reason]
        (cost,) = kernel.costs or ()
        assert cost.time_us
