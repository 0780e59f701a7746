"""What CL305 suggests: it says which line to change, and how."""

from __future__ import annotations

import pytest
from linting import advice, lint

from cudalint.report.findings.causes import merged_by_cause
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.wording import notes

_KERNELS = {
    # Each thread may have the same 2 to add, or all of them together.
    "*sum += 2;": "let one thread of the block do it (`if (threadIdx.x == 0)`) if it is meant once for all of them",
    "*sum += in[threadIdx.x];": "update `sum[0]` with an atomic such as `atomicAdd`",
    "sum[0] = sum[0] + in[threadIdx.x];": "update `sum[0]` with an atomic such as `atomicAdd`",
    "sum[threadIdx.x / 2] = in[threadIdx.x];": "let one thread write `sum[0]`, or give each thread an element",
    "sum[threadIdx.x] = sum[threadIdx.x + 1];": "write into another array than `sum`, which other threads still read",
    "float x = sum[threadIdx.x + 1];\n sum[threadIdx.x] = x;": (
        "put `__syncthreads()` before line 3, between the two accesses"
    ),
    "float x = sum[threadIdx.x / 32];\n if (threadIdx.x % 32 == 0) sum[threadIdx.x / 32] = x * in[threadIdx.x];": (
        "put `__syncwarp()` before line 3, between the two accesses"
    ),
}
_ELSEWHERE = "write into another array than `{}`, which other threads still read, and exchange the two later"


@pytest.mark.parametrize("body", _KERNELS, ids=str)
def test_suggestions(body: str) -> None:
    source = f"__global__ void k(float *sum, const float *in) {{\n{body}\n}}\nvoid run(float *a, float *b) {{"
    (found,) = lint(source + " k<<<1, 64>>>(a, b); }", "CL305")
    assert advice(found).startswith(_KERNELS[body])


def test_blocks_take_another_kernel() -> None:
    source = """
        __global__ void k(float *a) {
            if (threadIdx.x == 0) a[blockIdx.x] = 1;
            float x = a[blockIdx.x + 1];
            if (x > 0) a[100 + blockIdx.x * 32 + threadIdx.x] = x;
        }
        void run(float *a) { k<<<64, 32>>>(a); }
    """
    (found,) = lint(source, "CL305")
    assert "make a second kernel of what follows line 3" in advice(found)


def test_what_is_read_first_is_written_elsewhere() -> None:
    """In an n-body step, all threads read all places before each writes its own: a barrier orders one block only."""
    source = """
        __global__ void k(float *x, int n) {
            float sum = 0;
            for (int j = 0; j < 64 * 32; j++) sum += x[j];
            x[blockIdx.x * 32 + threadIdx.x] = sum;
        }
        void run(float *x, int n) { k<<<64, 32>>>(x, n); }
    """
    (found,) = lint(source, "CL305")
    assert "of block" in found.message
    assert advice(found) == _ELSEWHERE.format("x")


def test_a_barrier_is_enough_for_blocks_with_a_part_of_their_own() -> None:
    source = """
        __global__ void k(float *x) {
            float next = x[blockIdx.x * 65 + threadIdx.x + 1];
            x[blockIdx.x * 65 + threadIdx.x] = next;
        }
        void run(float *x) { k<<<64, 64>>>(x); }
    """
    (found,) = lint(source, "CL305")
    assert advice(found).startswith("put `__syncthreads()` before line 4, between the two accesses")


def test_blocks_have_no_iterations_in_common() -> None:
    source = """
        __global__ void k(float *a, int n) {
            for (int i = 0; i < n; i++) {
                float x = a[blockIdx.x * 32 + threadIdx.x + i];
                __syncthreads();
                a[blockIdx.x * 32 + threadIdx.x] = x;
                __syncthreads();
            }
        }
        void run(float *a, int n) { k<<<64, 32>>>(a, n); }
    """
    (found,) = lint(source, "CL305")
    assert found.message.startswith("race on `a[")
    assert " of block " in found.message
    assert "iteration" not in found.message


def test_steps_that_all_threads_take_are_reported_together() -> None:
    """All threads fill one word, bit by bit: one thread should, and a reader hears of it once."""
    source = """
        __global__ void k(unsigned *word, unsigned base, unsigned kind) {
            word[0] = 0;
            word[0] |= base;

            word[0] |= kind << 4;

            word[0] |= 1 << 8;
        }
        void run(unsigned *word, unsigned base, unsigned kind) { k<<<1, 128>>>(word, base, kind); }
    """
    (found,) = merged_by_cause(lint(source, "CL305"), SourceLines())
    assert next(notes(found)) == ("also", "the same at 2 more places, at lines 6, 8")


def test_no_barrier_orders_rows_that_lie_in_each_other() -> None:
    """Row 1 begins in the middle of row 0: threads 16 and (0, 1) make different numbers of one element."""
    source = """
        __global__ void k(float *a, int n) {
            for (int j = threadIdx.x; j < n; j += 32) {
                float x = a[threadIdx.y * 16 + j];
                a[threadIdx.y * 16 + j] = x + threadIdx.y;
            }
        }
        void run(float *a) { k<<<1, dim3(32, 4)>>>(a, 32); }
    """
    remedies = [advice(found) for found in lint(source, "CL305")]
    assert remedies
    assert all("__sync" not in text and "give each thread an element of its own" in text for text in remedies)


def test_no_barrier_is_named_where_not_all_threads_come() -> None:
    """Odd threads leave before the loop; nothing in it may be a barrier of the block."""
    source = """
        __global__ void k(float *a, int n) {
            if (threadIdx.x % 2) return;
            float x = a[threadIdx.x + 64];
            a[threadIdx.x] = x;
        }
        void run(float *a) { k<<<1, 256>>>(a, 32); }
    """
    (found,) = lint(source, "CL305")
    assert advice(found) == _ELSEWHERE.format("a")


def test_why_an_update_has_no_edit() -> None:
    """What each thread adds is the same, and may be meant once."""
    kernel = "__global__ void k(float *sum, const float *in) { *sum += in[0]; }\n"
    (found,) = lint(f"{kernel}void run(float *a, float *b) {{ k<<<1, 64>>>(a, b); }}", "CL305")
    assert found.no_edit == "which threads are to update it, each or one for all, is not known"


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("*flag |= 1;", "warning"),
        ("*flag += 1;", "error"),
        ("if (*flag == 0) { *flag = 1; *other = 1; }", "warning"),
        ("if (*flag == 0) { *flag = 1; other[threadIdx.x] = 1; }", "error"),
        ("int unused = *flag; if (threadIdx.x == 0) *flag = 1;", "warning"),
        ("int used = *flag; if (threadIdx.x == 0) *flag = 1; other[threadIdx.x] = used;", "error"),
        # Half of the threads set it, and those that look may or may not come first.
        ("if (threadIdx.x % 2) *flag = 1; if (*flag == 0) other[threadIdx.x] = 1;", "error"),
    ],
)
def test_races_with_one_outcome_are_warnings(body: str, severity: str) -> None:
    source = f"__global__ void k(int *flag, int *other) {{ {body} }}"
    (found,) = lint(source + "void run(int *a, int *b) { k<<<1, 64>>>(a, b); }", "CL305")
    assert found.severity == severity
    assert ("benign by value" in found.message) == (severity == "warning")
