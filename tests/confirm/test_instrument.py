"""The instrumented build: what is wrapped, what is recorded, what is counted from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.confirm import instrument
from cudalint.confirm.instrument import HEAD_WORDS, Site, count, decode, instrumented, sites_of
from cudalint.confirm.sources import MAIN
from cudalint.facts import Place


def _wrapped(text: str, *pieces: str) -> str:
    sites = []
    for index, piece in enumerate(pieces):
        begin = text.index(piece)
        line = text.count("\n", 0, begin) + 1
        column = begin - (text.rfind("\n", 0, begin) + 1) + 1
        sites.append(Site(index, Place("a.cu", line, column, line, column + len(piece)), "global", "a"))
    return instrument._with_reports(text.encode(), sites).decode()


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("x = a[i];", ["a[i]"], "x = (cudalint_at<0>(a[i]));"),
        ("a[b[i]] = 1;", ["a[b[i]]", "b[i]"], "(cudalint_at<0>(a[(cudalint_at<1>(b[i]))])) = 1;"),
        ("atomicAdd(&h[f(i, 2)], 1);", ["atomicAdd(&h[f(i, 2)], 1)"], "atomicAdd((cudalint_to<0>(&h[f(i, 2)])), 1);"),
        ("x = __ldg(p + i);", ["__ldg(p + i)"], "x = __ldg((cudalint_to<0>(p + i)));"),
        ("\n  *p = *q;", ["*p", "*q"], "\n  (cudalint_at<0>(*p)) = (cudalint_at<1>(*q));"),
        ("M(x = 1);", ["M(x = 1)"], "M(x = 1);"),
    ],
)
def test_accesses_are_wrapped(text: str, pieces: list[str], expected: str) -> None:
    assert _wrapped(text, *pieces) == expected


def test_a_whole_kernel_keeps_its_lines(prepared) -> None:  # type: ignore[no-untyped-def]
    source = (
        "__global__ void k(const float *in, float *out)\n{\n    __shared__ float t[32][32];\n"
        "    t[threadIdx.y][threadIdx.x] = in[threadIdx.x];\n    __syncthreads();\n"
        "    out[threadIdx.x] += t[threadIdx.x][threadIdx.y];\n}\nvoid f(float *p) { k<<<1, dim3(32, 32)>>>(p, p); }\n"
    )
    [candidate] = prepared(source).candidates
    sites = sites_of(candidate.kernel)
    assert len(sites) == 4
    changed = instrumented(candidate.trial, sites)
    text = changed.build.files[MAIN].decode()
    assert text.count("cudalint_at<") == 4
    assert text.count("\n") == source.count("\n")
    assert "cudalint_record" in changed.build.prelude
    assert changed.folder != candidate.trial.folder


@given(st.lists(st.integers(0, 31), min_size=1, max_size=32, unique=True), st.integers(1, 64))
def test_records_are_decoded_and_counted(lanes: list[int], stride: int) -> None:
    """Two requests of one site: the model's figures of the addresses that were written down."""
    mask = sum(1 << lane for lane in lanes)
    heads = np.array([7, mask, 4, 0] * 2, dtype=np.uint32)
    addresses = np.tile(np.arange(32, dtype=np.uint64) * np.uint64(4 * stride), 2)
    log = decode(addresses, heads, 2)
    [figures] = count(log, {7: "load"})[7]
    expected = len({lane * 4 * stride // 32 for lane in lanes})
    assert (figures.figure, figures.requests, figures.active_lanes) == (expected, 2, len(lanes))


def test_shared_records_pass_the_banks() -> None:
    heads = np.array([0, 0xFFFFFFFF, 4, 1], dtype=np.uint32)
    [figures] = count(decode(np.arange(32, dtype=np.uint64) * np.uint64(128), heads, 1), {0: "store"})[0]
    assert (figures.figure, figures.ideal) == (32, 1)


def test_more_records_than_there_is_room_for() -> None:
    heads = np.array([0, 1, 4, 0], dtype=np.uint32)
    log = decode(np.zeros(32, dtype=np.uint64), heads, 1000)
    assert len(log.sites) == len(heads) // HEAD_WORDS == 1


def test_lines_that_don_t_compile_are_left_out() -> None:
    sites = [Site(n, Place("a.cu", n, 1, n, 5), "global", "a") for n in (3, 4)]
    assert [s.index for s in instrument.without_lines(sites, "a.cu(4): error: no")] == [3]
