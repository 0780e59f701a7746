"""A block that no launch in sight gives, from how a kernel counts its own threads."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file


@pytest.mark.parametrize(
    ("bounds", "index", "block"),
    [
        # 64 threads at most, of which rows of 8 leave 8 rows.
        ("__launch_bounds__(64)", "threadIdx.y * 8 + threadIdx.x", (8, 8, 1)),
        ("", "threadIdx.x + 16 * threadIdx.y", (16, 16, 1)),
        # Such rows may be those of an image.
        ("", "threadIdx.y * 512 + threadIdx.x", (32, 8, 1)),
        # A padded row has more elements than there are threads.
        ("", "threadIdx.y * 33 + threadIdx.x", (32, 8, 1)),
        ("__launch_bounds__(64)", "threadIdx.y * width + threadIdx.x", (32, 2, 1)),
    ],
)
def test_rows_of_threads(bounds: str, index: str, block: tuple[int, int, int]) -> None:
    source = f"__global__ void {bounds} k(float* a, int width) {{ int i = {index}; a[i] = 0; }}"
    (kernel,) = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert kernel.launches[0].block == block
