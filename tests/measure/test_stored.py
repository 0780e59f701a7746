"""Which values are the same whoever stores them: by arithmetic on what goes into them."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in

from cudalint.measure.elements import is_crowded
from cudalint.measure.races import Race, races_of
from cudalint.measure.seen import Seen
from cudalint.measure.stored import Stored

_BLOCK, _GRID = (32, 4, 1), (2, 1, 1)


def _races(body: str, grid: tuple[int, int, int] = _GRID) -> tuple[list[Race], Seen]:
    parameters = "float* out, const float* in, const unsigned char* bytes, const int* numbers, int* counts"
    function = kernel_in(f"__global__ void kernel({parameters}) {{ {body} }}")
    seen = Seen(function, execute(function, _BLOCK, grid, {}))
    found = races_of(seen.trace, codes=Stored(seen).codes)
    return [race for race in (*found.found, *found.possible) if not race.is_benign], seen


@pytest.mark.parametrize(
    ("body", "races"),
    [
        # All rows of threads, and both blocks, compute one value for each element.
        ("out[threadIdx.x] = 2 * in[threadIdx.x];", False),
        ("out[threadIdx.x] = 2 * in[threadIdx.x] + threadIdx.y;", True),
        ("out[threadIdx.x] = 2 * in[threadIdx.x + blockIdx.x];", True),
        # A copy, and what is computed of it, are two values.
        ("float v = in[0]; if (threadIdx.y) out[0] = v; else out[0] = v + 1;", True),
        # Both blocks have the same in shared memory, but for what a block's number has gone into.
        (("__shared__ float s[32]; if (!threadIdx.y) s[threadIdx.x] = in[threadIdx.x] * 3; __syncthreads();"
         " if (!threadIdx.y) out[threadIdx.x] = s[31 - threadIdx.x] * 2;"), False),
        (("__shared__ float s[32]; if (!threadIdx.y) s[threadIdx.x] = in[threadIdx.x] * blockIdx.x; __syncthreads();"
         " if (!threadIdx.y) out[threadIdx.x] = s[31 - threadIdx.x] * 2;"), True),
    ],
)  # fmt: skip
def test_threads_store_one_value(body: str, races: bool) -> None:
    found, _ = _races(body)
    assert any(race.allocation.name == "out" for race in found) is races


@pytest.mark.parametrize(
    ("index", "is_more"),
    [
        # 256 threads to 256 elements, to 129 at most, to 9 that lie on both sides of the first, and to any of all.
        ("bytes[i]", False), ("bytes[i] / 2", True), ("numbers[i] % 5", True), ("numbers[i]", False),
        ("(bytes[i] & 3) + 4 * (bytes[i + 1] & 3)", True), ("bytes[i] + 256 * threadIdx.x", False),
    ],
)  # fmt: skip
def test_more_threads_than_elements(index: str, is_more: bool) -> None:
    found, seen = _races(f"int i = threadIdx.x + 32 * threadIdx.y + 128 * blockIdx.x; counts[{index}] += 1;")
    update = next(race for race in found if race.second.site.operation == "store" and race.reach != "grid")
    assert is_crowded(update.second.site, update, seen) is is_more
