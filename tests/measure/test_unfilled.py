"""Elements of a tile that nobody has written, since those who would have returned: in blocks of four threads, of which
the last one has two elements only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from executing import execute, kernel_in

from cudalint.measure.seen import Seen
from cudalint.measure.unfilled import Hole, holes

_ONE_WORLD: Any = SimpleNamespace(made=())
_FILL = "__shared__ float s[4]; int t = threadIdx.x, i = blockIdx.x * 4 + t;"
_HALF = "if (i >= n) return; s[t] = in[i]; __syncthreads();"


def _holes(body: str, blocks: int = 3, n: int = 10) -> list[Hole]:
    function = kernel_in(f"__global__ void kernel(const float* in, float* out, int n) {{ {_FILL} {body} }}")
    trace = execute(function, (4, 1, 1), (blocks, 1, 1), {"n": n})
    return list(holes(Seen(function, trace), _ONE_WORLD))


def test_an_element_of_whoever_skips_the_store() -> None:
    """Its value goes through shared memory into what thread 0 stores."""
    (hole,) = _holes(
        "if (i < n) s[t] = in[i]; __syncthreads(); if (t < 2) s[t] += s[t + 2]; __syncthreads();"
        " if (t < 1) s[t] += s[t + 1]; __syncthreads(); if (t == 0) out[blockIdx.x] = s[0];"
    )
    assert (hole.block, hole.thread, hole.absent, hole.has_returned) == ((2, 0, 0), (0, 0, 0), (2, 0, 0), False)


def test_an_element_of_whoever_has_returned() -> None:
    """Of 10 elements, threads 2 and 3 of block 2 have none: thread 0 reads what thread 3 would have written."""
    (hole,) = _holes(f"{_HALF} out[i] = s[3 - t];")
    assert hole.block == (2, 0, 0)
    assert (hole.thread, hole.absent) == ((0, 0, 0), (3, 0, 0))
    assert hole.array.name == "s"
    assert (hole.read.operation, hole.store.operation) == ("load", "store")


@pytest.mark.parametrize(
    "body",
    [
        # Whoever is behind the end stays, and writes.
        "s[t] = i < n ? in[i] : 0; __syncthreads(); if (i < n) out[i] = s[3 - t];",
        # Each reads its own.
        f"{_HALF} out[i] = s[t];",
        # What is read is not stored where it is of a hole.
        f"{_HALF} float x = s[3 - t]; if (blockIdx.x * 4 + 3 - t < n) out[i] = x;",
        # The first thread, which is always there, has filled all of it.
        "if (t == 0) for (int k = 0; k < 4; k++) s[k] = 0; if (i >= n) return; __syncthreads(); out[i] = s[3 - t];",
        # Data says what is written.
        "if (i >= n) return; s[(int)in[i] & 3] = 1; __syncthreads(); out[i] = s[3 - t];",
    ],
)
def test_what_is_no_hole(body: str) -> None:
    assert _holes(body) == []


def test_without_a_block_that_is_full_nothing_says_that_it_would_be_written() -> None:
    """One block, of which half has nothing to do: perhaps the upper half of the tile is left alone always."""
    assert _holes(f"{_HALF} out[i] = s[3 - t];", blocks=1, n=2) == []
    assert _holes(f"{_HALF} out[i] = s[3 - t];", blocks=2, n=8) == []
