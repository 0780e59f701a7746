"""What CL302 suggests, for threads that go another way and for those that have left."""

from __future__ import annotations

import pytest
from linting import advice, lint


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ("if (threadIdx.x < 40) { s[threadIdx.x] = 0; __syncthreads(); }", "let every thread come to it"),
        ("if (threadIdx.x > 40) return; s[threadIdx.x] = 0; __syncthreads();", "let the threads that have no"),
    ],
)
def test_suggestions(body: str, start: str) -> None:
    source = f"__global__ void k() {{ __shared__ float s[64]; {body} }}\nvoid run() {{ k<<<1, 64>>>(); }}"
    (found,) = lint(source, "CL302")
    assert advice(found).startswith(start)
