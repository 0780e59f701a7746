"""What unrolling makes of an access to shared memory: instructions with figures of their own."""

from __future__ import annotations

import pytest
from evaluating import evaluate
from linting import lint

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_BODY = "float x = 0; for (int d = 0; d < {length}; d++) x += s[(t << d) & 1023]; a[t] = x;"


def test_each_iteration_has_its_conflicts() -> None:
    """Lanes 2^d words apart share a bank with every (32 / 2^d)-th lane: 1, 2, 4, 8 and 16 wavefronts."""
    [access] = [access for access in evaluate(_BODY.format(length=5)).accesses if access.array == "s"]
    assert [result.wavefronts_per_request for result in access.results] == [1, 2, 4, 8, 16]
    assert [result.requests for result in access.results] == [1] * 5


def test_alike_iterations_are_one() -> None:
    [access] = evaluate("for (int d = 0; d < 8; d++) s[2 * t + d] = d;").accesses
    assert [result.wavefronts_per_request for result in access.results] == [2]


def test_each_execution_has_its_sectors() -> None:
    """Two rows of 16 threads in a warp, 64 bytes of each: 2 sectors where they begin at a multiple of 32 bytes, else 3.
    Of seven neighbours from three elements to the left on, the middle one does (H200, nvcc 13.0: 4 and 6 sectors)."""
    body = """
        int w = 1024, i = threadIdx.x + 16 * blockIdx.x, j = threadIdx.y + 16 * blockIdx.y;
        int x = 0;
        for (int k = 0; k < 7; k++) {
            int c = i + k - 3;
            if (c >= 0 && c < w) x += (int)a[j * w + c];
        }
        a[j * w + i] = x;"""
    load = evaluate(body, (16, 16, 1), (64, 64, 1)).accesses[0]
    found = sorted((round(result.sectors_per_request or 0), result.requests or 0) for result in load.results)
    assert [sectors for sectors, _ in found] == [4, 6]
    # Who leaves the picture at its ends makes a little less of them.
    assert found[1][1] == pytest.approx(6 * found[0][1], rel=0.01)
    assert {result.ideal_sectors for result in load.results} == {4}


def test_many_executions_stand_for_all() -> None:
    """Forty figures for one access are told as two: 4 sectors in one of eight iterations, 5 in the others."""
    body = "int x = 0; for (int k = 0; k < 40; k++) { int c = t + k; if (c < 4096) x += (int)a[c]; } a[t + 9999] = x;"
    load = evaluate(body).accesses[0]
    assert {result.sectors_per_request: result.requests for result in load.results} == {4: 5, 5: 35}


@pytest.mark.parametrize(("stride", "message"), [(1, "6.2-way"), (0, "")])
def test_a_reader_is_told_the_mean_once(stride: int, message: str) -> None:
    """(1 + 2 + 4 + 8 + 16) / 5 = 6.2; without a stride there is nothing to tell."""
    body = f"for (int d = 0; d < 5; d++) x += s[({stride} * t << d) & 1023];"
    source = f"""
    __global__ void k(float *a) {{
        __shared__ float s[1024];
        int t = threadIdx.x;
        s[t] = t;
        __syncthreads();
        float x = 0;
        {body}
        a[t] = x;
    }}
    void run(float *a) {{ k<<<1, 32>>>(a); }}
    """
    found = [diagnostic.message for diagnostic in lint(source, "CL201")]
    assert len(found) == (1 if message else 0) and all(message in text for text in found)


def test_asynchronous_copies_of_16_bytes_in_a_short_loop() -> None:
    """32 lanes of 16 bytes beside each other pass the banks in 4 wavefronts; 512 bytes apart they all write the same 4
    banks, one after the other: 18 in the mean."""
    source = """
    #include <cuda_pipeline.h>
    __global__ void k(const float4 *a, float *out) {
        __shared__ float4 s[2048];
        for (int d = 0; d < 2; d++)
            __pipeline_memcpy_async(&s[threadIdx.x * (d ? 32 : 1)], &a[threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x].x;
    }
    void run(const float4 *a, float *out) { k<<<1, 32>>>(a, out); }
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    copy = next(a for a in kernel.accesses if a.operation == "async-copy" and a.space == "shared")
    assert [(result.status, result.wavefronts_per_request) for result in copy.results] == [("exact", 18)]


def test_wide_copies_from_places_that_data_gives() -> None:
    """How many wavefronts they take depends on where lanes read, which data says; where they write is known."""
    source = """
    #include <cuda_pipeline.h>
    __global__ void k(const float4 *a, const int *rows, float *out) {
        __shared__ float4 s[32];
        if (rows[blockIdx.x] != 0)
            __pipeline_memcpy_async(&s[threadIdx.x], &a[rows[threadIdx.x]], 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x].x;
    }
    void run(const float4 *a, const int *rows, float *out) { k<<<64, 32>>>(a, rows, out); }
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = next(a for a in kernel.accesses if a.operation == "async-copy" and a.space == "shared").results
    assert (result.status, result.wavefronts_per_request) == ("unknown", None)
    assert result.reason is not None and "where this one reads is not known" in result.reason
