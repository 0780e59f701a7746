"""CL111: where it tells an overflow, how it is mended, and which rules leave it to it."""

from __future__ import annotations

from linting import advice, lint

from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.file_facts import analyse

_ROWS = """
    __global__ void clear(float *x, int cols) {
        int row = blockIdx.x;
        for (int c = threadIdx.x; c < cols; c += blockDim.x)
            x[row * cols + c] = 0.0f;
    }
    int main() {
        const int rows = 300000, cols = 8192;
        float *x;
        cudaMalloc(&x, (size_t)rows * cols * sizeof(float));
        clear<<<rows, 256>>>(x, cols);
    }
"""
"""299999 * 8192 = 2457591808 is more than 2^31."""


def test_the_cast_stands_at_the_first_factor() -> None:
    (found,) = lint(_ROWS, "CL111")
    assert found.severity == "error" and advice(found) == "cast the first factor to `size_t`"
    assert found.suggestion is not None
    (edit,) = found.suggestion.edits
    lines = _ROWS.splitlines()
    line = lines[edit.place.line - 1]
    at = edit.place.column - 1
    assert line[:at] + edit.text + line[at:] == line.replace("row * cols", "(size_t)row * cols")


def test_a_mended_program_is_silent() -> None:
    assert not lint(_ROWS.replace("row * cols", "(size_t)row * cols"), "CL111")


def test_addresses_wrap_around_as_on_the_device() -> None:
    """The last row begins at 2457591808 - 2^32 elements from the start: far in front of it."""
    options = AnalysisOptions(unsaved=(("a.cu", _ROWS),))
    facts = analyse("a.cu", options)
    assert isinstance(facts, FileFacts)
    (kernel,) = facts.kernels
    (outside,) = kernel.out_of_bounds
    assert outside.offset == 4 * (299999 * 8192 - 2**32)


def test_an_index_that_overflows_is_not_told_as_one_that_is_out_of_bounds() -> None:
    assert not lint(_ROWS, "CL107")


def test_of_counts_that_are_cut_off_the_kernel_is_not_blamed() -> None:
    source = """
        #include <cstdint>
        __global__ void fill(float *x, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n)
                x[i] = 1.0f;
        }
        int main() {
            const int64_t rows = 163840, cols = 14336;
            float *x;
            cudaMalloc(&x, rows * cols * sizeof(float));
            int n = rows * cols;
            fill<<<(n + 255) / 256, 256>>>(x, n);
        }
    """
    (found,) = lint(source, "CL111")
    assert found.place.line == 12 and "2348810240" in found.message
    assert not lint(source, "CL107")


def test_products_of_open_sizes_are_for_those_who_ask() -> None:
    source = _ROWS.split("int main")[0] + "void run(float *x, int rows, int cols) { clear<<<rows, 256>>>(x, cols); }"
    assert not lint(source, "CL111")
    facts = analyse("a.cu", AnalysisOptions(unsaved=(("a.cu", source),)))
    assert isinstance(facts, FileFacts)
    assert [found.ground for found in facts.kernels[0].overflows] == ["sizes"]
