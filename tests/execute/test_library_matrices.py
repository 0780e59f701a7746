"""Warp matrix functions: how many instructions a call is, and what they touch."""

from __future__ import annotations

import numpy as np
import pytest
from executing import execute, kernel_in

from cudalint.execute.library import HANDLERS, NOT_FOLLOWED
from cudalint.ir.builtins import BUILTINS

BODY = """
#include <mma.h>
using namespace nvcuda;
__global__ void kernel(const half* a, float* c, int pitch) {{
    {body}
}}"""


def _touched(body: str, name: str) -> tuple[list[int], np.ndarray]:
    trace = execute(kernel_in(BODY.format(body=body)), (32, 1, 1), (1, 1, 1), {"pitch": 16})
    events = [each for each in trace.accesses if each.allocation.name == name]
    times = np.zeros(4096, int)
    for each in events:
        offsets = np.broadcast_to(each.offset, each.mask.shape)[each.mask]
        for byte in range(each.bytes):
            np.add.at(times, offsets + byte, 1)
    return [each.bytes for each in events], times


@pytest.mark.parametrize(
    ("use", "layout"), [("matrix_a", "row"), ("matrix_a", "col"), ("matrix_b", "row"), ("matrix_b", "col")]
)
def test_each_byte_of_an_operand_is_loaded_once(use: str, layout: str) -> None:
    fragment = f"wmma::fragment<wmma::{use}, 16, 16, 16, half, wmma::{layout}_major> f;"
    _, times = _touched(f"{fragment} wmma::load_matrix_sync(f, a, 16);", "a")
    assert times[: 16 * 16 * 2].tolist() == [1] * 512
    assert not times[512:].any()


@pytest.mark.parametrize("layout", ["row", "col"])
def test_each_byte_of_an_accumulator_is_stored_once(layout: str) -> None:
    fragment = "wmma::fragment<wmma::accumulator, 16, 16, 16, float> f; wmma::fill_fragment(f, 0.f);"
    _, times = _touched(f"{fragment} wmma::store_matrix_sync(c, f, pitch, wmma::mem_{layout}_major);", "c")
    assert times[: 16 * 16 * 4].tolist() == [1] * 1024


def test_halves_of_shared_memory_come_by_ldmatrix() -> None:
    """Four tiles of eight lines at once, a line of 16 bytes for each lane."""
    fragment = "wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;"
    bytes_, times = _touched(f"__shared__ half s[1024]; {fragment} wmma::load_matrix_sync(f, s, 16);", "s")
    assert bytes_ == [16]
    assert times[:512].tolist() == [1] * 512


def test_every_effect_has_a_handler_or_a_reason() -> None:
    effects = {known.effect for known in BUILTINS.values() if known.effect}
    assert effects - set(HANDLERS) == set(NOT_FOLLOWED)
    assert not set(NOT_FOLLOWED) & set(HANDLERS)
