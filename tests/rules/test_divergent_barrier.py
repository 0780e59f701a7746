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


def test_a_number_of_the_host_code_is_not_taken_for_the_parameter_of_its_name() -> None:
    """Of the 1 << n elements, half are sorted: with n = 1, one thread comes. The kernel's own n is 2 then."""
    source = (
        "__global__ void k(float *o, int n) { if (threadIdx.x < n / 2) { o[threadIdx.x] = 0; __syncthreads(); } }\n"
        "void run(float *o, int n) { k<<<1, 64>>>(o, 1 << n); }"
    )
    (found,) = lint(source, "CL302")
    assert found.message.endswith("thread (0, 0, 0) waits, thread (1, 0, 0) does not come where the host's n = 1")
