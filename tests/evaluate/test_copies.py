"""What unrolling makes of an access to shared memory: instructions with figures of their own."""

from __future__ import annotations

import pytest
from evaluating import evaluate
from linting import lint

_BODY = "float x = 0; for (int d = 0; d < {length}; d++) x += s[(t << d) & 1023]; a[t] = x;"


def test_each_iteration_has_its_conflicts() -> None:
    """Lanes 2^d words apart share a bank with every (32 / 2^d)-th lane: 1, 2, 4, 8 and 16 wavefronts."""
    [access] = [access for access in evaluate(_BODY.format(length=5)).accesses if access.array == "s"]
    assert [result.wavefronts_per_request for result in access.results] == [1, 2, 4, 8, 16]
    assert [result.requests for result in access.results] == [1] * 5


def test_alike_iterations_are_one() -> None:
    [access] = evaluate("for (int d = 0; d < 8; d++) s[2 * t + d] = d;").accesses
    assert [result.wavefronts_per_request for result in access.results] == [2]


@pytest.mark.parametrize(("stride", "message"), [(1, "6.2-way"), (0, "")])
def test_a_reader_is_told_the_mean_once(stride: int, message: str) -> None:
    """(1 + 2 + 4 + 8 + 16) / 5 = 6.2; without a stride there is nothing to tell."""
    body = f"for (int d = 0; d < 5; d++) x += s[({stride} * t << d) & 1023];"
    source = f"""
    __global__ void k(float *a) {{
        __shared__ float s[1024];
        int t = threadIdx.x;
        s[t] = t;
        __syncthreads();
        float x = 0;
        {body}
        a[t] = x;
    }}
    void run(float *a) {{ k<<<1, 32>>>(a); }}
    """
    found = [diagnostic.message for diagnostic in lint(source, "CL201")]
    assert len(found) == (1 if message else 0) and all(message in text for text in found)
