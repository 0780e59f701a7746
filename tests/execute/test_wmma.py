"""Which fragments' accesses are known; the figures are those of fixtures/bank-conflict/warp_matrices.cu."""

from __future__ import annotations

import pytest

from cudalint.execute.library.matrices import Fragment, fragment_of
from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_NAMES = "nvcuda::wmma::fragment<nvcuda::wmma::{}, 16, 16, 16, {}{}>"


def facts(body: str, block: int = 32) -> KernelFacts:
    source = (
        f"#include <mma.h>\nusing namespace nvcuda;\n// cudalint: launch(block = {block}, grid = 1)\n"
        f"__global__ void k(const half *a, const double *d, int ld) {{ {body} }}"
    )
    [found] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    return found


def test_a_fragment_s_type_says_how_its_matrix_lies() -> None:
    left = _NAMES.format("matrix_a", "__half", ", nvcuda::wmma::col_major")
    assert fragment_of(left) == Fragment("matrix_a", 16, 16, "__half", along=False)
    right = "wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::col_major>"
    assert fragment_of(right) == Fragment("matrix_b", 8, 16, "signed char", along=True)
    sums = _NAMES.format("accumulator", "float", "")
    assert fragment_of(sums, "col_major") == Fragment("accumulator", 16, 16, "float", along=False)
    assert fragment_of(sums) is None
    assert fragment_of("fragment") is None


@pytest.mark.parametrize(
    ("fragment", "pointer"),
    [
        ("wmma::matrix_a, 16, 16, 16, signed char, wmma::col_major", "(const signed char *)a"),
        ("wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::u4, wmma::row_major", "(const unsigned *)a"),
    ],
)
def test_other_fragments_are_gaps(fragment: str, pointer: str) -> None:
    found = facts(f"wmma::fragment<{fragment}> m; wmma::load_matrix_sync(m, {pointer}, ld);")
    assert not found.accesses
    assert [gap.reason for gap in found.gaps] == [
        "the accesses of `load_matrix_sync` are not known for this fragment"
    ]


def test_the_pitch_is_what_the_function_asks_for() -> None:
    found = facts(
        "wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> m; wmma::load_matrix_sync(m, a, ld);"
    )
    assert [access.results[0].sectors_per_request for access in found.accesses] == [8.0]
    assert not found.misalignments


@pytest.mark.parametrize(("own", "races"), [("", ["s"]), (" + 256 * (threadIdx.x / 32)", [])])
def test_warps_that_store_to_one_matrix_race(own: str, races: list[str]) -> None:
    body = (
        "__shared__ float s[512]; wmma::fragment<wmma::accumulator, 16, 16, 16, float> m; wmma::fill_fragment(m, 0);"
        f" wmma::store_matrix_sync(s{own}, m, 16, wmma::mem_row_major);"
    )
    found = facts(body, block=64)
    assert [race.array for race in found.races or () if race.certainty == "certain"] == races


_SHARED = {
    # Wavefronts of each load from shared memory with lines of 16, 24, 40 and 64 elements, as ncu counted them on sm_90.
    "matrix_a, 8, 8, 4, double, wmma::row_major": (8, 4, 4, 8),
    "matrix_a, 8, 8, 4, double, wmma::col_major": (8, 4, 4, 8),
    "matrix_b, 8, 8, 4, double, wmma::row_major": (8, 4, 4, 8),
    "matrix_b, 8, 8, 4, double, wmma::col_major": (8, 4, 4, 8),
    "matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major": (2, 1, 1, 8),
    "matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major": (2, 1, 1, 8),
    "matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major": (2, 1, 1, 8),
    "matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major": (2, 1, 1, 8),
    "matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major": (4, 2, 2, 8),
    "matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::col_major": (2, 1, 1, 4),
    "matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major": (2, 1, 1, 4),
    "matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major": (4, 2, 2, 8),
}


@pytest.mark.parametrize("fragment", _SHARED)
def test_wide_elements_come_as_they_were_measured(fragment: str) -> None:
    types = {"double": "double", "bfloat": "__nv_bfloat16", "tf32": "float"}
    type_ = next(type_ for name, type_ in types.items() if name in fragment)
    for pitch, wavefronts in zip((16, 24, 40, 64), _SHARED[fragment], strict=True):
        found = facts(
            f"__shared__ {type_} s[4096]; wmma::fragment<wmma::{fragment}> m; wmma::load_matrix_sync(m, s, {pitch});"
        )
        assert not found.gaps
        # Loads of one call that cost the same are one access.
        assert [access.results[0].wavefronts_per_request for access in found.accesses] == [wavefronts]


@pytest.mark.parametrize(
    ("layout", "bytes_", "wavefronts", "sectors"),
    [("row", 16, (8, 4, 4, 8), 16.0), ("col", 8, (8, 8, 8, 8), 8.0)],
)
def test_sums_of_doubles_come_and_go_as_they_were_measured(
    layout: str, bytes_: int, wavefronts: tuple[int, ...], sectors: float
) -> None:
    for pitch, measured in zip((16, 24, 40, 64), wavefronts, strict=True):
        found = facts(
            "__shared__ double s[4096]; wmma::fragment<wmma::accumulator, 8, 8, 4, double> m; "
            f"wmma::load_matrix_sync(m, s, {pitch}, wmma::mem_{layout}_major); "
            f"wmma::store_matrix_sync((double *)d, m, {pitch}, wmma::mem_{layout}_major);"
        )
        load, store = found.accesses
        assert (load.bytes, load.results[0].wavefronts_per_request) == (bytes_, measured)
        assert (store.bytes, store.results[0].sectors_per_request) == (bytes_, sectors)
