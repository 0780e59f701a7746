"""How CL106 spells sizes."""

from __future__ import annotations

import pytest
from linting import lint


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ('int n; scanf("%d", &n);', "n"),
        ("struct { int width, height; } size; fread(&size.height, 4, 1, stdin); int n = size.height;", "size.height"),
    ],
)
def test_a_size_that_is_read_is_called_after_its_variable(code: str, name: str) -> None:
    source = f"""
        #include <cstdio>
        __global__ void k(float *a) {{ a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }}
        int main() {{
            {code}
            float *a;
            cudaMalloc(&a, n * sizeof(float));
            k<<<(n + 127) / 128, 128>>>(a);
        }}
    """
    (found,) = lint(source, "CL106")
    assert f"which has {name} elements, with {name} = " in found.message


def test_arrays_are_listed_as_in_a_sentence() -> None:
    source = """
        __global__ void k(float *a, const float *b, const float *c) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            a[i] = b[i] + c[i];
        }
        void run(float *a, const float *b, const float *c, int n) { k<<<(n + 127) / 128, 128>>>(a, b, c); }
    """
    (found,) = lint(source, "CL106")
    assert "inside `a`, `b` and `c` unless `n % 128 == 0`" in found.message


def test_a_size_that_is_one_of_two_is_reported_as_a_number() -> None:
    """With 513 elements, block 4 of 128 threads begins at element 512, and thread 1 is the first behind the end."""
    source = """
        __global__ void k(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
        void run(int asked, int capability) {
            int n = asked ? asked : 1 << (capability >= 50 ? 20 : 19);
            float *a;
            cudaMalloc(&a, n * sizeof(float));
            k<<<(n + 127) / 128, 128>>>(a);
        }
    """
    (found,) = lint(source, "CL106")
    assert found.message.endswith(
        "thread (1, 0, 0) of block (4, 0, 0) writes element 513 of `a`, which has 513 elements, with asked = 513"
    )


def test_what_a_loop_makes_is_not_any_number() -> None:
    """The loop leaves a power of two, of which one from 128 on is a multiple of the block."""
    source = """
        __global__ void k(unsigned *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
        unsigned rounded(unsigned n) {
            if (n == 0) return 0;
            unsigned bit = 0x80000000;
            while ((n & bit) == 0) bit = bit >> 1;
            if ((n & (~bit)) != 0) return bit << 1;
            return bit;
        }
        unsigned *held[8];
        void run(int which, unsigned n) {
            n = rounded(n);
            int blocks = (n + 127) / 128;
            k<<<blocks, 128>>>(held[which]);
        }
    """
    assert lint(source, "CL106") == ()
