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
