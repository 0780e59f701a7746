"""Arrays whose elements or rows have a size that only an instantiation of the template knows."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_LAUNCH = "// cudalint: launch(block = dim3(32, 8), grid = 4)\n"
_STORE = " t[threadIdx.y][threadIdx.x] = o[threadIdx.x]; }"


def test_rows_of_unknown_length_have_no_address() -> None:
    kernel = "template <int PAD> __global__ void k(float *o) { __shared__ float t[32][32 + PAD];"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _LAUNCH + kernel + _STORE),))).kernels
    results = {access.array: access.results[0] for access in facts.accesses}
    assert results["t"].status == "unknown"
    assert results["t"].reason == "the address could not be evaluated: the length of its rows is not known"
    assert (results["o"].status, results["o"].sectors_per_request) == ("exact", 4.0)
    assert not facts.misalignments and all(race.certainty == "possible" for race in facts.races or ())


def test_a_parameter_s_type_is_taken_for_a_usual_one_and_said_to_be() -> None:
    kernel = "template <typename T, typename F> __global__ void k(const float *o) { __shared__ T t[32][33];"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _LAUNCH + kernel + _STORE),))).kernels
    [result] = [access.results[0] for access in facts.accesses if access.array == "t"]
    # A warp is one row of the block, and writes 32 words that follow each other.
    assert result.wavefronts_per_request == 1.0
    assert facts.launches[0].assumptions == ("T = float, F = float (nothing instantiates the template)",)


def test_the_type_of_an_element_comes_with_the_pointer_that_is_moved() -> None:
    kernel = "template <typename T> __global__ void k(T *o) { auto row = o + 1; *row = row[threadIdx.x]; }"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _LAUNCH + kernel),))).kernels
    [load] = [access.results[0] for access in facts.accesses if access.operation == "load"]
    # 32 words from the second word of a sector on.
    assert load.sectors_per_request == 5.0
    assert facts.launches[0].assumptions == ("T = float (nothing instantiates the template)",)


def test_sizeof_is_the_size_that_is_taken_and_reads_nothing() -> None:
    kernel = (
        "template <typename T> __global__ void k(T *o) { extern __shared__ char s[]; T *t = (T *)(s + 8 * sizeof(T));"
        " T x = o[threadIdx.x + sizeof(*o)]; o[threadIdx.x + sizeof(o[0])] = x; t[threadIdx.x] = x; }"
    )
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _LAUNCH + kernel),))).kernels
    # From element 4 on, half a sector in: 5 sectors for the 128 bytes. Only the statements' own accesses are there.
    sectors = [(a.array, a.operation, a.results[0].sectors_per_request) for a in facts.accesses]
    assert sorted(sectors, key=str) == [("o", "load", 5.0), ("o", "store", 5.0), ("s", "store", None)]
    assert facts.launches[0].assumptions == ("T = int (nothing instantiates the template)",)


def test_elements_that_depend_on_it_have_the_size_that_they_have_for_it() -> None:
    source = (
        "template <typename T> struct Pair { T a, b; };"
        "template <typename T> __global__ void k(Pair<T> *o) { o[threadIdx.x].a = 0; }"
    )
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = [access.results[0] for access in facts.accesses]
    # Thirty-two pairs of 8 bytes: 256 bytes, or 8 sectors.
    assert result.sectors_per_request == 8.0
    assert any("T = float" in text for text in facts.launches[0].assumptions)


def test_a_template_s_numbers_are_unknown_or_given() -> None:
    source = _LAUNCH + "template <int N> __global__ void k(float *o) { o[threadIdx.x * N] = o[threadIdx.y]; }"
    for params, status, sectors in [((), "unknown", None), (((None, "N", "2"),), "exact", 8.0)]:
        options = AnalysisOptions(unsaved=(("a.cu", source),), params=params)
        [facts] = analyse_file("a.cu", options).kernels
        [result] = [access.results[0] for access in facts.accesses if access.operation == "store"]
        # Thirty-two floats that lie 8 bytes apart: four to a sector.
        assert (result.status, result.sectors_per_request) == (status, sectors)


def test_the_default_of_a_template_s_number_is_used() -> None:
    source = _LAUNCH + "template <int N = 4> __global__ void k(float *o) { o[threadIdx.x * N] = 0; }"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert [access.results[0].sectors_per_request for access in facts.accesses] == [16.0]


def test_an_instantiation_knows_them() -> None:
    source = (
        "template <typename T, int PAD> __global__ void k(T *o) {"
        " __shared__ T t[32][32 + PAD]; t[threadIdx.x][threadIdx.y] = o[threadIdx.x]; }"
        "void run(float *o) { k<float, 0><<<4, dim3(32, 8)>>>(o); }"
    )
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    # Rows of 32 words: a column lies in one bank.
    assert [a.results[0].wavefronts_per_request for a in facts.accesses if a.array == "t"] == [32.0]


def test_what_limits_a_loop_over_bits_is_a_number_of_bits() -> None:
    """With thousands of levels, `1 << d` would be 0, and all threads would add to the same element."""
    source = (
        "__global__ void k(int levels, float *o) { for (int d = 0; d < levels; ++d) { int half = 1 << d;"
        " int first = threadIdx.x * half * 2; if (threadIdx.x < blockDim.x / (half * 2))"
        " o[first + 2 * half - 1] += o[first + half - 1]; __syncthreads(); } }"
        "__global__ void down(int levels, float *o) { for (int d = levels - 1; d >= 0; --d) { int half = 1 << d;"
        " int first = threadIdx.x * half * 2; if (threadIdx.x < blockDim.x / (half * 2))"
        " o[first + 2 * half - 1] += o[first + half - 1]; __syncthreads(); } }"
        "void f(int n, float *o) { k<<<1, 256>>>(n, o); down<<<1, 256>>>(n, o); }"
    )
    kernels = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert not any(race.certainty == "certain" for facts in kernels for race in facts.races or ())


def test_a_size_up_to_which_a_number_is_doubled_is_none() -> None:
    source = (
        "__global__ void k(int n, float *o) { for (int s = 1; s < n; s <<= 1) if (threadIdx.x < n / s)"
        " o[threadIdx.x * s] = 0; } void f(int n, float *o) { k<<<1, 256>>>(n, o); }"
    )
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert not any("n == 16" in access.results[0].assumptions for access in facts.accesses)


def test_rows_that_data_leaves_some_lanes_on_rest_on_their_length() -> None:
    """Of 8 floats and more each row begins in a sector of its own, whichever lanes data leaves."""
    source = """
__global__ void firsts(const float *rows, const int *wanted, float *out, int length) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (wanted[i] > 0) out[i] = rows[i * length];
}
void run(const float *a, const int *b, float *c, int length) { firsts<<<64, 256>>>(a, b, c, length); }
"""
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [access] = [each for each in kernel.accesses if each.array == "rows"]
    assert access.results[0].status == "range"
    [text] = access.results[0].assumptions
    assert int(text.removeprefix("length = ")) >= 8
