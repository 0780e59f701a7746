"""Arrays whose elements or rows have a size that only an instantiation of the template knows."""

from __future__ import annotations

import pytest

from cudalint.analysis import analyse_file
from cudalint.options import AnalysisOptions

_LAUNCH = "// cudalint: launch(block = dim3(32, 8), grid = 4)\n"
_STORE = " t[threadIdx.y][threadIdx.x] = o[threadIdx.x]; }"


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (
            "template <int PAD> __global__ void k(float *o) { __shared__ float t[32][32 + PAD];",
            "the length of its rows is not known",
        ),
        (
            "template <typename T> __global__ void k(const float *o) { __shared__ T t[32][33];",
            "the size of its elements is not known",
        ),
    ],
)
def test_an_address_among_elements_of_unknown_size_is_unknown(kernel: str, reason: str) -> None:
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _LAUNCH + kernel + _STORE),))).kernels
    results = {access.array: access.results[0] for access in facts.accesses}
    assert results["t"].status == "unknown"
    assert results["t"].reason == f"the address could not be evaluated: {reason}"
    assert (results["o"].status, results["o"].sectors_per_request) == ("exact", 4.0)
    assert not facts.races and not facts.misalignments


def test_an_instantiation_knows_them() -> None:
    source = (
        "template <typename T, int PAD> __global__ void k(T *o) {"
        " __shared__ T t[32][32 + PAD]; t[threadIdx.x][threadIdx.y] = o[threadIdx.x]; }"
        "void run(float *o) { k<float, 0><<<4, dim3(32, 8)>>>(o); }"
    )
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    # Rows of 32 words: a column lies in one bank.
    assert [a.results[0].wavefronts_per_request for a in facts.accesses if a.array == "t"] == [32.0]
