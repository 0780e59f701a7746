"""The work of small kernels, by arithmetic: what each thread computes, and what the compiler leaves of it."""

from __future__ import annotations

import pytest
from executing import kernel_in, work_of
from msgspec.structs import replace

from cudalint.execute.lanes import Extents, Lanes
from cudalint.measure.work import compiler
from cudalint.measure.work.counts import Work


def works(source: str, block: Extents, grid: Extents = (1, 1, 1), **arguments: object) -> list[Work]:
    function = kernel_in(source)
    given = {p: arguments[p.name] for p in function.parameters if p.name in arguments}
    worlds = max((len(value) for value in arguments.values() if isinstance(value, list)), default=1)
    blocks = [(x, y, 0) for y in range(grid[1]) for x in range(grid[0])]
    found, trace = work_of(function, Lanes(block, [[extent] * worlds for extent in grid], blocks), given)
    assert not trace.unknown
    return found


def work(source: str, block: Extents, grid: Extents = (1, 1, 1), **arguments: object) -> Work:
    (found,) = works(source, block, grid, **arguments)
    return found


def off(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(compiler, name, replace(getattr(compiler, name), is_on=False))


ADDITION = """__global__ void k(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}"""


def test_what_a_thread_does_once() -> None:
    # 4 blocks of 4 warps, and one addition for each of 500 threads.
    found = work(ADDITION, (128, 1, 1), (4, 1, 1), n=500)
    assert found.operations == {"fp32": 500}
    assert found.instructions["load"] == 2 * 16 and found.instructions["store"] == 16
    # One IMAD.WIDE for each of three addresses, and one IMAD for the index that they share.
    assert found.instructions["address"] == 3 * 16 and found.instructions["integer"] == 16


def test_warps_that_a_branch_leaves_out_execute_nothing_behind_a_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    # 64 of 512 threads are 2 of 16 warps. Without a jump all 16 execute the body, with none of their lanes active.
    assert work(ADDITION, (128, 1, 1), (4, 1, 1), n=64).instructions["store"] == 16
    off(monkeypatch, "PREDICATION")
    assert work(ADDITION, (128, 1, 1), (4, 1, 1), n=64).instructions["store"] == 2


def test_each_world_has_its_own() -> None:
    first, second = works(ADDITION, (128, 1, 1), (4, 1, 1), n=[500, 512])
    assert (first.operations["fp32"], second.operations["fp32"]) == (500, 512)


PRODUCT = """__global__ void k(const float *a, float *c, float f) {
  c[threadIdx.x] = f * a[threadIdx.x] + 1.0f;
}"""


def test_a_product_that_is_added_to_is_one_instruction_and_two_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    found = work(PRODUCT, (64, 1, 1))
    assert found.operations["fp32"] == 2 * 64 and found.instructions["float"] == 2
    off(monkeypatch, "CONTRACTION")
    found = work(PRODUCT, (64, 1, 1))
    assert found.operations["fp32"] == 2 * 64 and found.instructions["float"] == 2 * 2


FIXED = """__global__ void k(const float *a, float *c, float f, float g, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += (f - g) * a[i];
  c[threadIdx.x] = sum;
}"""


def test_what_no_turn_changes_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # 10 turns of one fused multiply-add, and one difference before them; one warp.
    found = work(FIXED, (32, 1, 1), n=10)
    assert found.instructions["float"] == 10 + 1 and found.instructions["load"] == 10
    assert found.operations["fp32"] == 32 * (10 * 2 + 1)
    off(monkeypatch, "HOISTING")
    assert work(FIXED, (32, 1, 1), n=10).instructions["float"] == 10 * 2


def test_a_load_that_no_turn_changes_is_executed_once_if_nothing_is_stored_meanwhile() -> None:
    loop = """__global__ void k(const float *a, float *c, int n) {{
      float sum = 0.0f;
      for (int i = 0; i < n; ++i) {{ {} }}
      c[1] = sum;
    }}"""
    assert work(loop.format("sum += a[threadIdx.x];"), (32, 1, 1), n=10).instructions["load"] == 1
    assert work(loop.format("sum += a[threadIdx.x]; c[i] = sum;"), (32, 1, 1), n=10).instructions["load"] == 10


def test_loops_of_known_length_have_no_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """__global__ void k(const float *a, float *c) {
      float sum = 0.0f;
      for (int i = 0; i < 8; ++i) sum += a[threadIdx.x + 32 * i] * (float)i;
      c[threadIdx.x] = sum;
    }"""
    found = work(source, (32, 1, 1))
    assert found.instructions["branch"] == found.instructions["loop"] == 0
    # One address for 8 loads, which add 128 bytes each to it, and one of the store.
    assert found.instructions["load"] == 8 and found.instructions["address"] == 2
    off(monkeypatch, "OFFSETS")
    assert work(source, (32, 1, 1)).instructions["address"] == 8 + 1


def test_a_loop_with_a_barrier_is_tested_in_each_turn() -> None:
    source = """__global__ void k(float *c, int n) {
      __shared__ float s[64];
      for (int i = 0; i < n; ++i) {
        s[threadIdx.x] = (float)i;
        __syncthreads();
        c[threadIdx.x] = s[63 - threadIdx.x];
        __syncthreads();
      }
    }"""
    # 2 warps, 6 turns: a comparison and a jump back in each, and one addition for `i`.
    found = work(source, (64, 1, 1), n=6)
    assert found.instructions["branch"] == 2 * 6 * 2 and found.instructions["loop"] == 2 * 6
    assert found.instructions["barrier"] == 2 * 6 * 2 and found.instructions["load"] == 2 * 6


def test_short_loops_are_copied_and_share_their_test(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """__global__ void k(float *c, int n, float x) {
      for (int i = 0; i < n; ++i) x = x * x;
      c[threadIdx.x] = x;
    }"""
    # Machine code (nvcc 13.0, sm_90): 16 products and one test, 4 of PTX's copies of 4 turns.
    found = work(source, (32, 1, 1), n=64)
    assert found.instructions["float"] == 64 and found.instructions["branch"] == 2 * 64 / 16
    off(monkeypatch, "UNROLLING")
    assert work(source, (32, 1, 1), n=64).instructions["branch"] == 2 * 64


def test_neighbouring_words_of_shared_memory_are_loaded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """__global__ void k(float *c) {{
      __shared__ float s[1024];
      s[threadIdx.x] = 1.0f;
      __syncthreads();
      float sum = 0.0f;
      for (int i = 0; i < 8; ++i) sum += s[{}];
      c[threadIdx.x] = sum;
    }}"""
    # 8 words from a multiple of 32 bytes are two of 16 bytes; from one of 8 bytes, four of 8 bytes; apart, eight.
    assert work(source.format("threadIdx.x * 8 + i"), (32, 1, 1)).instructions["load"] == 2
    assert work(source.format("threadIdx.x * 2 + i"), (32, 1, 1)).instructions["load"] == 4
    assert work(source.format("threadIdx.x * 8 + i * 2"), (32, 1, 1)).instructions["load"] == 8
    # 3 words on, the first is alone, the next 4 are aligned, and the last 3 are most of 4.
    assert work(source.format("threadIdx.x * 8 + i + 3"), (32, 1, 1)).instructions["load"] == 3
    off(monkeypatch, "WIDE")
    assert work(source.format("threadIdx.x * 8 + i"), (32, 1, 1)).instructions["load"] == 8


def test_a_signed_address_is_stepped_and_an_unsigned_one_is_computed_anew() -> None:
    source = """__global__ void k(const float *a, float *c, {0} n, {0} width) {{
      float sum = 0.0f;
      for ({0} i = 0; i < n; ++i) sum += a[i * width + threadIdx.x];
      c[threadIdx.x] = sum;
    }}"""
    found = work(source.format("long"), (32, 1, 1), n=64, width=32)
    # Its pointer moves by 4 * width, one instruction in each of 64 turns; the store's address is one more.
    assert found.instructions["address"] == 64 + 1
    # In 32 bits that may wrap around, an index is added to in each turn, then multiplied and added to the pointer.
    found = work(source.format("unsigned"), (32, 1, 1), n=64, width=32)
    assert found.instructions["address"] == 64 + 1 and found.instructions["integer"] == 64


TILES = """__global__ void k(int K, float alpha, float beta, const float *A, const float *B, float *C) {
  __shared__ float a[32 * 8], b[8 * 32];
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  float results[4 * 4] = {0.0f};
  for (int k = 0; k < K; k += 8) {
    for (int i = 0; i < 256; i += 64) {
      a[threadIdx.x + i] = A[threadIdx.x + i];
      b[threadIdx.x + i] = B[threadIdx.x + i];
    }
    __syncthreads();
    A += 256; B += 256;
    for (int d = 0; d < 8; ++d)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          results[i * 4 + j] += a[d * 32 + row * 4 + i] * b[d * 32 + column * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int at = (row * 4 + i) * 32 + column * 4 + j;
      C[at] = alpha * results[i * 4 + j] + beta * C[at];
    }
}"""


def test_the_product_of_two_matrices() -> None:
    # 64 threads compute 32 by 32 results: 2 operations for each of K products, and 3 at the end.
    found = work(TILES, (64, 1, 1), K=64)
    assert found.operations["fp32"] == 2 * 32 * 32 * 64 + 3 * 32 * 32
    # 2 warps: 16 fused multiply-adds for each k, then a product and a fused one for each result.
    assert found.instructions["float"] == 2 * (16 * 64 + 2 * 16)
    # For each k two loads of 4 words from shared memory; for each of 8 tiles 8 words from global memory; 16 results.
    assert found.instructions["load"] == 2 * (2 * 64 + 8 * 8 + 16)
    assert found.instructions["barrier"] == 2 * 2 * 8


def test_functions_are_counted_for_each_call() -> None:
    source = """__device__ float power(float x, int n) { float y = 1.0f; for (int i = 0; i < n; ++i) y *= x; return y; }
    __global__ void k(float *c, float x, int n, int m) { c[threadIdx.x] = power(x, n) + power(x + 1.0f, m); }"""
    # 10 and 20 products in two calls, and two additions.
    found = work(source, (32, 1, 1), n=10, m=20)
    assert found.operations["fp32"] == 32 * (10 + 20 + 2)


def test_nobody_computes_what_is_not_needed() -> None:
    source = """__global__ void k(const float *a, float *c, float x) {
      float unused = a[threadIdx.x] * x;
      c[threadIdx.x] = x;
    }"""
    found = work(source, (32, 1, 1))
    assert not found.operations and found.instructions["load"] == 0


def test_a_value_of_either_side_of_a_branch() -> None:
    source = """__global__ void k(const float *a, float *c, float x) {
      float y = x;
      if (threadIdx.x < 32) { y = x * 2.0f; } else { y = x + 3.0f; }
      c[threadIdx.x] = y * a[threadIdx.x];
    }"""
    # Without a jump both warps execute both sides; of threads, each does one of them.
    found = work(source, (64, 1, 1))
    assert found.operations["fp32"] == 64 + 64
    assert found.instructions["float"] == 2 * 3


def test_quotient_and_remainder_are_one_division() -> None:
    source = "__global__ void k(int *c, int n) {{ c[threadIdx.x] = {}; }}"
    both = work(source.format("(int)threadIdx.x / n + (int)threadIdx.x % n"), (32, 1, 1), n=7)
    one = work(source.format("(int)threadIdx.x / n"), (32, 1, 1), n=7)
    assert both.instructions["division"] == one.instructions["division"]


BULK = """#include <cuda/barrier>
__global__ void k(const float *a, float *c) {{
  __shared__ alignas(16) float s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  cuda::memcpy_async(&s[threadIdx.x * {words}], &a[threadIdx.x * {words}], cuda::aligned_size_t<{bytes}>({bytes}), bar);
  bar.arrive_and_wait();
  c[threadIdx.x] = s[255 - threadIdx.x];
}}"""


def test_a_bulk_copy_is_issued_for_one_lane_after_the_other() -> None:
    # 4 bytes are copied by one LDGSTS for each of 2 warps; 16 bytes by a turn of 8 instructions for each of 64 threads.
    assert work(BULK.format(words=1, bytes=4), (64, 1, 1)).instructions["copy"] == 2
    assert work(BULK.format(words=4, bytes=16), (64, 1, 1)).instructions["copy"] == 8 * 64


def test_an_array_with_an_index_that_is_not_known_is_in_local_memory() -> None:
    source = """__global__ void k(const float *a, float *c, int n) {
      float sums[4] = {0.0f};
      for (int i = 0; i < n; ++i) { sums[i & 3] += a[i]; __syncthreads(); }
      c[threadIdx.x] = sums[0] + sums[1];
    }"""
    # Zeros are stored at once. In each of 10 turns an element is loaded, added to and stored; then two are loaded.
    found = work(source, (32, 1, 1), n=10)
    assert found.operations["fp32"] == 32 * (10 + 1)
    assert found.instructions["local"] == 1 + 10 * 2 + 2
    assert found.instructions["load"] == 10 and found.instructions["store"] == 1


def test_a_variable_that_one_loop_after_another_changes() -> None:
    """40 turns of one FFMA each, twice: whatever the second loop finds, the first one has computed in its turns."""
    source = """__global__ void k(float *out, int n) {
      int t = threadIdx.x;
      float x = out[t];
      for (int i = 0; i < n; i++) x = x * 1.5f + 0.25f;
      for (int i = 0; i < n; i++) x = x * 1.5f + 0.25f;
      out[t] = x;
    }"""
    assert work(source, (32, 1, 1), n=40).instructions["float"] == 80


def test_loops_of_other_kinds_that_are_not_to_be_unrolled() -> None:
    source = """__global__ void k(float *out, int n) {
      float x = out[threadIdx.x];
      int left = n;
    #pragma unroll 1
      while (left > 0) { x = x * 1.5f + 0.25f; left--; }
      out[threadIdx.x] = x;
    }"""
    # A test and a jump back for each turn.
    assert work(source, (32, 1, 1), n=40).instructions["branch"] == 80
