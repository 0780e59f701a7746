"""CL603: what it advises."""

from __future__ import annotations

import pytest
from linting import advice, lint

_SUM = """
    __global__ void sum(const float *in, float *out, int n, int width) {{
        __shared__ float s[256];
        int t = threadIdx.x;
        s[t] = in[blockIdx.x * 256 + t];
        __syncthreads();
        for (int k = 1; k < blockDim.x; k *= 2) {{
            {step}
            __syncthreads();
        }}
        if (t == 0) out[blockIdx.x] = s[0];
    }}
    void run(const float *in, float *out, int width) {{ sum<<<4096, 256>>>(in, out, 1 << 20, width); }}
"""


@pytest.mark.parametrize(
    ("step", "words"),
    [
        # CL401 says of the same branch that neighbouring threads should do the work: then there is nothing to divide.
        ("if (t % (2 * k) == 0) s[t] += s[t + k];", "give the work to neighbouring threads"),
        ("s[t] += (t * k) % width;", "count along in the loop"),
    ],
)
def test_a_remainder_that_parts_lanes_is_not_needed(step: str, words: str) -> None:
    (found,) = lint(_SUM.format(step=step), "CL603")
    assert advice(found).startswith(words)
