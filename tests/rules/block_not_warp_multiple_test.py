"""CL501: how many idle lanes a block may have, which depends on whether its shape is a choice."""

from __future__ import annotations

import pytest
from linting import lint


def _launched(block: str) -> str:
    return f"""
        __global__ void scale(float *data, int n) {{
            int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
            int i = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + t;
            if (i < n) data[i] *= 2.0f;
        }}
        void launch(float *data, int n) {{ scale<<<1024, {block}>>>(data, n); }}
    """


@pytest.mark.parametrize(
    "block",
    [
        "416",  # 13 warps, all full.
        "dim3(16, 25)",  # 400 threads in 13 warps: the shape follows the data, and 16 of 416 lanes are few.
        "dim3(8, 3, 5)",  # 120 threads in 4 warps, 8 of 128 lanes.
    ],
)
def test_a_few_idle_lanes_of_a_shape_are_borne(block: str) -> None:
    assert not lint(_launched(block), "CL501")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("400", "16 of 416 lanes have no thread (4%)"),
        ("dim3(1, 400)", "16 of 416 lanes have no thread (4%)"),  # A plain number, along another axis.
        ("dim3(15, 15)", "31 of 256 lanes have no thread (12%)"),  # 225 threads in 8 warps.
    ],
)
def test_idle_lanes_are_counted(block: str, message: str) -> None:
    (diagnostic,) = lint(_launched(block), "CL501")
    assert message in diagnostic.message
