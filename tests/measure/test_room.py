"""Shared arrays have room for so many threads."""

from __future__ import annotations

from executing import execute, kernel_in

from cudalint.measure.bounds import threads_with_room


def _room(body: str, threads: int = 256, **arguments: object) -> tuple[int, str] | None:
    source = f"""
        __global__ void k(float *a, int n) {{
            __shared__ float tile[64];
            __shared__ float pairs[2][100];
            {body}
        }}
    """
    return threads_with_room(execute(kernel_in(source), (threads, 1, 1), (2, 1, 1), arguments))


def test_an_array_has_room_for_its_elements() -> None:
    assert _room("tile[threadIdx.x] = 1;") == (64, "tile")
    assert _room("tile[threadIdx.x] = 1;", threads=64) is None
    assert _room("pairs[1][threadIdx.x] = 1;") == (100, "pairs")
    assert _room("pairs[1][threadIdx.x] = 1; tile[threadIdx.x / 2] = 1;") == (100, "pairs")


def test_what_more_than_threads_decide_says_nothing() -> None:
    assert _room("if (threadIdx.x < 64) tile[threadIdx.x] = 1;") is None
    assert _room("tile[threadIdx.x + n] = 1;", n=[0, 5]) is None
    assert _room("if (threadIdx.x + blockIdx.x * 256 < n) tile[threadIdx.x] = 1;", n=300) is None
    assert _room("if (a[threadIdx.x] > 0) tile[threadIdx.x] = 1;") is None
