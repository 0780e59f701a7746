"""CL107: what it advises."""

from __future__ import annotations

from linting import advice, lint


def test_a_launch_that_forgets_the_size_of_shared_memory_is_told_where_it_goes() -> None:
    source = """
        __global__ void reversed(float *a) {
            extern __shared__ float s[];
            s[threadIdx.x] = a[threadIdx.x];
            __syncthreads();
            a[threadIdx.x] = s[255 - threadIdx.x];
        }
        void run(float *a) { reversed<<<1, 256>>>(a); }
    """
    advices = [advice(found) for found in lint(source, "CL107")]
    assert advices == 2 * ["the launch has to say how many bytes `s` has: `<<<grid, block, bytes>>>`"]


def test_arrays_with_a_size_are_not() -> None:
    source = """
        __global__ void reversed(float *a) {
            __shared__ float s[128];
            s[threadIdx.x] = a[threadIdx.x];
        }
        void run(float *a) { reversed<<<1, 256>>>(a); }
    """
    (found,) = lint(source, "CL107")
    assert found.suggestion is not None and found.suggestion.message.startswith("keep threads for which the array")
