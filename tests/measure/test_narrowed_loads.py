"""How much of a 64-bit integer is loaded where 32 bits of it are used, against what nvcc 13.0 makes of the same
kernels (nvdisasm, sm_90)."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("w[i]", 4),
        ("s + w[i]", 4),
        ("w[i] * 3", 4),
        ("w[i] - w[i + 7]", 4),
        ("w[i] << 2", 4),
        ("-w[i]", 4),
        ("~w[i] ^ 5", 4),
        ("w[i] % 8", 8),
        ("w[i] >> 4", 8),
        ("w[i] / 3 + 1", 8),
    ],
)
def test_what_is_cut_off_is_not_loaded(value: str, expected: int) -> None:
    source = f"__global__ void k(const long* w, int* o, int s) {{ int i = threadIdx.x; int e = {value}; o[i] = e; }}"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert {access.bytes for access in kernel.accesses if access.array == "w"} == {expected}
