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
