"""CL107: what it advises."""

from __future__ import annotations

from linting import advice, lint


def test_a_launch_that_forgets_the_size_of_shared_memory_is_reported_where_it_goes() -> None:
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
    assert found.suggestion is None and found.no_edit == "whether the index or the array is wrong is not known"


def test_the_declaration_is_the_one_of_the_kernel() -> None:
    """Two kernels with an `extern` array of one name, of which the second one reads beyond its own: 64 elements."""
    kernel = """
        __global__ void k{0}(float *a) {{
            extern __shared__ float s[];
            s[threadIdx.x] = a[threadIdx.x];
            __syncthreads();
            a[threadIdx.x] = s[threadIdx.x + {0}];
        }}
    """
    run = "void run(float *a) { k0<<<1, 64, 256>>>(a); k1<<<1, 64, 256>>>(a); }"
    source = kernel.format(0) + kernel.format(1) + run
    (found,) = lint(source, "CL107")
    declared = [number for number, line in enumerate(source.split("\n"), 1) if "extern" in line]
    assert [related.place.line for related in found.related] == declared[1:]


def test_a_guard_is_named_where_the_kernel_has_the_number_that_is_allocated() -> None:
    source = """
        #include <cuda_runtime.h>
        __global__ void scale(float *y, int n, float factor) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            y[i] *= factor;
        }
        int main() {
            int n = 1000000;
            float *y;
            cudaMalloc(&y, n * 4);
            scale<<<(n + 255) / 256, 256>>>(y, n, 2.0f);
        }
    """
    found, *_ = lint(source, "CL107")
    assert advice(found) == "guard it with `if (i < n)`: `n` is 1000000 in this launch"
    without, *_ = lint(source.replace("(y, n, 2.0f)", "(y, 7, 2.0f)"), "CL107")
    assert without.suggestion is None


def test_an_array_in_a_record_is_called_by_its_field() -> None:
    source = """
        struct View { float *data; int sizes[2]; };
        __global__ void k(View view) { view.data[threadIdx.x] = view.sizes[2]; }
        void run(View view) { k<<<1, 64>>>(view); }
    """
    (found,) = lint(source, "CL107")
    assert found.message == "thread (0, 0, 0) reads element 2 of `view.sizes`, which has 2 elements"
