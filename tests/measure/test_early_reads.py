"""Reads of what an asynchronous copy has not written yet."""

from __future__ import annotations

from cudalint.facts import EarlyRead
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file


def _early(body: str, launch: str = "k<<<4, 64>>>(in, out, tiles);") -> tuple[EarlyRead, ...]:
    source = f"""
    #include <cuda_pipeline.h>
    __device__ void elsewhere(float *);
    __global__ void k(const float *in, float *out, int tiles) {{
        __shared__ float a[4][64];
        int t = threadIdx.x;
        {body}
    }}
    void run(const float *in, float *out, int tiles) {{ {launch} }}
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    return kernel.early_reads


COPY = "__pipeline_memcpy_async(&a[0][t], &in[t], 4); __pipeline_commit();"


def test_a_copy_is_under_way_until_it_is_waited_for() -> None:
    [found] = _early(COPY + "out[t] = a[0][t];")
    assert (found.thread, found.copier, found.waited_at, found.groups) == ((0, 0, 0), (0, 0, 0), None, -1)
    assert not _early(COPY + "__pipeline_wait_prior(0); out[t] = a[0][t];")


def test_a_wait_that_leaves_groups_under_way_says_how_many_were_newer() -> None:
    [found] = _early(COPY + COPY.replace("a[0]", "a[1]") + "__pipeline_wait_prior(2); out[t] = a[0][t];")
    assert (found.kept, found.groups) == (2, 1)
    assert not _early(COPY + COPY.replace("a[0]", "a[1]") + "__pipeline_wait_prior(1); out[t] = a[0][t];")


def test_what_is_stored_after_the_copy_is_not_its() -> None:
    assert not _early(COPY + "a[0][t] = 1.f; out[t] = a[0][t];")


def test_other_bytes_are_no_matter() -> None:
    assert not _early("a[1][t] = in[t];" + COPY + "out[t] = a[1][t];")


def test_a_function_that_is_not_followed_may_wait() -> None:
    assert not _early(COPY + "elsewhere(out); out[t] = a[0][t];")


def test_turns_of_a_loop_that_are_left_out_leave_the_order_of_groups_as_it_is() -> None:
    """1000 turns, of which some stand for the others."""
    loop = """
        for (int i = 0; i < 3; ++i) {
            __pipeline_memcpy_async(&a[i][t], &in[i * 64 + t], 4);
            __pipeline_commit();
        }
        float sum = 0.f;
        for (int i = 0; i < 1000; ++i) {
            __pipeline_wait_prior(PENDING);
            __syncthreads();
            sum += a[i % 4][63 - t];
            if (i + 3 < 1000)
                __pipeline_memcpy_async(&a[(i + 3) % 4][t], &in[(i + 3) * 64 + t], 4);
            __pipeline_commit();
        }
        out[t] = sum;
    """
    assert not _early(loop.replace("PENDING", "2"))
    assert _early(loop.replace("PENDING", "3"))
