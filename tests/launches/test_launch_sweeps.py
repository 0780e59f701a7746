"""Host code that launches one kernel in several ways: with blocks from a table, through a launcher's template."""

from __future__ import annotations

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file


def _kernels(source: str) -> list[KernelFacts]:
    return list(analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels)


_SWEEP = """
__global__ void k(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 1; }
void run(float *a, int n, int threads) { k<<<(n + threads - 1) / threads, %s>>>(a, n); }
int main() {
    int sizes[] = {32, 64, 128, 256, 512, 1024};
    for (int j = 0; j < sizeof(sizes) / sizeof(int); j++) run(0, 8192, sizes[j]);
}
"""


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("threads", [(32, 1, 1), (64, 1, 1), (128, 1, 1), (256, 1, 1), (512, 1, 1), (1024, 1, 1)]),
        ("dim3(32, threads / 32)", [(32, 1, 1), (32, 2, 1), (32, 4, 1), (32, 8, 1), (32, 16, 1), (32, 32, 1)]),
    ],
)
def test_each_block_of_a_table_is_a_launch(block: str, expected: list[tuple[int, int, int]]) -> None:
    [kernel] = _kernels(_SWEEP % block)
    assert [launch.block for launch in kernel.launches] == expected


_FILLED = """
__global__ void k(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 1; }
int main(int argc, char **argv) {
    int sizes[24], limit = argc > 1 ? 8 : 24;
    for (int i = 0; %s; i++) sizes[i] = (i + 1) << 8;
    for (int j = 0; j < %s; j++) {
        const int n = sizes[j];
        k<<<(n + 127) / 128, 128>>>(0, n);
    }
}
"""


@pytest.mark.parametrize(
    ("until", "tried", "expected"),
    [
        ("i < 24", "4", [256, 512, 768, 1024]),
        # How many are tried, nobody knows; the first one is tried if any is.
        ("i < 24", "limit", [256]),
        # How many are filled, nobody knows.
        ("i < argc", "4", [None]),
        ("i < 24 && argc > 1", "limit", [None]),
    ],
)
def test_sizes_are_those_that_a_loop_has_filled_a_list_with(
    until: str, tried: str, expected: list[int | None]
) -> None:
    [kernel] = _kernels(_FILLED % (until, tried))
    assert [launch.parameters.get("n") for launch in kernel.launches] == expected


def test_a_list_that_a_loop_copies_is_not_followed() -> None:
    """Reading tables takes time that counts, and what they hold is mostly not known anyway."""
    filled = _FILLED.replace("(i + 1) << 8", "table[i]").replace("int sizes", "int table[24] = {64}, sizes")
    source = filled % ("i < 24", "1")
    [kernel] = _kernels(source)
    assert [launch.parameters.get("n") for launch in kernel.launches] == [None]


def test_a_loop_that_launches_the_same_again_is_one_launch() -> None:
    loop = "for (int i = 0; i < 100; i++) k<<<16, 256>>>(0, 4096);"
    [kernel] = _kernels(f"__global__ void k(float *a, int n) {{ a[n * threadIdx.x] = 1; }} int main() {{ {loop} }}")
    assert [launch.parameters["n"] for launch in kernel.launches] == [4096]


def test_a_function_that_is_called_again_computes_the_same() -> None:
    """2^11 elements: 2048 / 4 threads in each call, although the loop launches nothing new in the second."""
    source = """
    __global__ void stage(float *a, int stride) { a[stride + threadIdx.x] = 1; }
    __global__ void last(float *a) { a[threadIdx.x] = 1; }
    void run(float *a, int log2n) {
        int n = 1 << log2n;
        for (; log2n > 11; log2n -= 2, n >>= 2) stage<<<n / 1024, 256>>>(a, n / 4);
        last<<<1, n / 4>>>(a);
    }
    int main() { run(0, 23); run(0, 23); run(0, 23); }
    """
    blocks = {kernel.name: [launch.block[0] for launch in kernel.launches] for kernel in _kernels(source)}
    assert blocks["last"] == [512]


def test_what_a_later_iteration_launches_has_its_numbers() -> None:
    """Rows of 16, 32, 64 items: `wide` is for 64 of them and more, which the third iteration comes to, however much
    the loop inside does before. With the first iteration's numbers, no lane would do anything in `wide`."""
    inside = "total += i;" * 15
    source = f"""
    __global__ void narrow(float *a, int n) {{ for (int i = 0; i < n; i++) a[i * 32 + threadIdx.x] = 1; }}
    __global__ void wide(float4 *a, int n) {{ for (int i = 0; i < n; i++) a[i * 32 + threadIdx.x] = float4(); }}
    int main() {{
        int total = 0;
        for (int items = 16; items <= 1024; items *= 2)
            for (int i = 1; i <= 16384; i *= 2) {{
                {inside}
                if (items % 64 == 0) wide<<<i + total % 2, 256>>>(0, items / 64);
                else narrow<<<i + total % 2, 256>>>(0, items / 16);
            }}
    }}
    """
    launches = {kernel.name: kernel.launches[0].parameters["n"] for kernel in _kernels(source)}
    assert launches == {"narrow": 1, "wide": 1}


_LAUNCHER = """
using Body = void (*)(float *a);
__device__ void one(float *a) { a[threadIdx.x] = 1; }
__device__ void two(float *a) { a[2 * threadIdx.x] = 1; }
template <Body F> __global__ void k(float *a) { F(a); }
template <Body F> void run(float *a) { k<F><<<8, 128>>>(a); }
int main(int argc, char **argv) {
    int which = 1;
    if (argc > 1) which = atoi(argv[1]);
    switch (which) {
    case 1: run<one>(0); break;
    case 2: run<two>(0); break;
    }
}
"""


def test_a_launcher_is_looked_at_with_each_kernel_that_it_is_given() -> None:
    sectors = {k.instantiation: k.accesses[0].results[0].sectors_per_request for k in _kernels(_LAUNCHER)}
    assert sectors == {"k<&one>": 4.0, "k<&two>": 8.0}


def test_what_a_dispatcher_does_for_other_sizes_is_impossible() -> None:
    source = """
    template <int N> __global__ void k(float *a) { a[N * threadIdx.x] = 1; }
    int main() {
        int threads = 128;
        switch (threads) {
        case 64: k<64><<<8, threads>>>(0); break;
        case 128: k<128><<<8, threads>>>(0); break;
        }
    }
    """
    assert [kernel.instantiation for kernel in _kernels(source)] == ["k<128>"]


_CHECKED = """
#include <cassert>
#include <vector>
__global__ void k(unsigned char *a, size_t width, size_t height) { a[blockIdx.x * 32 + threadIdx.x] = 1; }
void run(const std::vector<unsigned char> &pixels, unsigned char *a, size_t width, size_t height) {
    size_t size = 3 * width * height;
    %s
    k<<<dim3(width / 32 + 1, height / 32 + 1), 32>>>(a, width, height);
}
"""


@pytest.mark.parametrize("check", ["assert(pixels.size() == size);", "if (pixels.size() != size) return;"])
def test_a_size_that_is_checked_against_others_leaves_them_alone(check: str) -> None:
    """The width was taken for 4, so that there was one block along x."""
    [checked] = _kernels(_CHECKED % check)
    assert min(checked.launches[0].grid[:2]) > 1
