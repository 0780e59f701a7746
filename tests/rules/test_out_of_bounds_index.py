"""CL107: what it advises."""

from __future__ import annotations

import pytest
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


_MATRIX = """
    #include <cuda_runtime.h>
    __global__ void fill(float *out, int width, int height) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        STATEMENT
    }
    int main() {
        int width = 1000, height = 500;
        float *out;
        cudaMalloc(&out, width * height * sizeof(float));
        fill<<<dim3(63, 32), dim3(16, 16)>>>(out, width, height);
    }
"""


@pytest.mark.parametrize(
    ("statement", "condition", "edit"),
    [
        ("out[y * width + x] = 1;", "x < width && y < height", "if (x >= width || y >= height) return;"),
        ("out[height * x + y] = 1;", "x < width && y < height", "if (x >= width || y >= height) return;"),
        ("int at = x + y * width; out[at] = 1;", "x < width && y < height", "if (x >= width || y >= height) return;"),
        # What the kernel asks already is not asked for again; who leaves has to ask for all.
        ("if (y < height) out[y * width + x] = 1;", "x < width", "if (x >= width || y >= height) return;"),
        ("out[(y + 1) * width + x] = 1;", "x < width && y + 1 < height", "if (x >= width || y + 1 >= height) return;"),
        ("out[y * 1024 + x] = 1;", "y * 1024 + x < height * width", "if (y * 1024 + x >= height * width) return;"),
        ("__syncthreads(); out[y * width + x] = 1;", "x < width && y < height", ""),
    ],
)
def test_a_guard_asks_for_row_and_column(statement: str, condition: str, edit: str) -> None:
    (found,) = lint(_MATRIX.replace("STATEMENT", statement), "CL107")
    assert found.suggestion is not None
    assert advice(found).startswith(f"guard it with `if ({condition})`")
    assert [each.text.strip() for each in found.suggestion.edits] == ([edit] if edit else [])


def test_numbers_of_one_launch_are_no_edit() -> None:
    again = "fill<<<dim3(1, 1), dim3(16, 16)>>>(out, 16, 16);\n    }\n"
    source = _MATRIX.replace("STATEMENT", "out[y * width + x] = 1;").rstrip().removesuffix("}") + again
    (found,) = lint(source, "CL107")
    assert advice(found).startswith("guard it with `if (x < width && y < height)`")
    assert found.no_edit == "those numbers need not be the arrays' sizes in other launches"


_SQUARE = """
    #include <cstdlib>
    __global__ void transpose(float *out, const float *in, int n) {
        int i = blockIdx.y * blockDim.y + threadIdx.y;
        int j = blockIdx.x * blockDim.x + threadIdx.x;
        out[j * n + i] = in[i * n + j];
    }
    int main(int argc, char **argv) {
        int n = SIZE;
        float *in, *out;
        cudaMalloc(&in, n * n * sizeof(float));
        cudaMalloc(&out, n * n * sizeof(float));
        transpose<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(out, in, n);
    }
"""


@pytest.mark.parametrize(
    ("size", "rule"),
    [
        ("1000", "CL107"),
        ("argc > 1 ? atoi(argv[1]) : 1000", "CL107"),
        ("argc > 1 ? atoi(argv[1]) : 1024", "CL106"),
        ("atoi(argv[1])", "CL106"),
    ],
)
def test_a_guard_is_the_same_however_the_size_is_given(size: str, rule: str) -> None:
    told = lint(_SQUARE.replace("SIZE", size), rule)
    assert told
    for found in told:
        assert found.suggestion is not None
        assert advice(found).startswith("guard it with `if (i < n && j < n)`")
        assert [each.text.strip() for each in found.suggestion.edits] == ["if (i >= n || j >= n) return;"]


@pytest.mark.parametrize("size", ["1000", "argc > 1 ? atoi(argv[1]) : 1000"])
def test_what_runs_over_may_get_cheaper_all_the_same(size: str) -> None:
    (found,) = lint(_SQUARE.replace("SIZE", size), "CL101")
    assert found.suggestion is not None and found.suggestion.edits
