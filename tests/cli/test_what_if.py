"""`cudalint what-if`: what other rows, blocks, arguments and targets would make of a kernel."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cudalint.cli import run

Run = Callable[..., Any]

_SOURCE = """__global__ void turned(float *out, const float *in, int n) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
__global__ void scaled(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
void run(float *out, const float *in) {
    turned<<<dim3(32, 32), dim3(32, 32)>>>(out, in, 1024);
    scaled<<<(1000000 + 255) / 256, 256>>>(out, 1000000);
}
"""


class _Result(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def cudalint(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command with the real analysis, in this process."""

    def call(*line: str) -> _Result:
        status = run(line)
        return _Result(status, *capsys.readouterr())

    return call


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "a.cu"
    path.write_text(_SOURCE, encoding="utf-8")
    return str(path)


def _variants(result: Any) -> list[dict[str, Any]]:
    assert result.status == 0, result.err
    [kernel] = json.loads(result.out)["kernels"]
    variants: list[dict[str, Any]] = kernel["variants"]
    return variants


def test_rows(cudalint: Run, source: str) -> None:
    """1024 blocks of 32 warps store a row in one wavefront each, and load a column of 32 words in 32 or in one."""
    line = ("--kernel", "turned", "--pad", "t=33", "--target", "a100,h100", "--format", "json")
    found = _variants(cudalint("what-if", source, *line))
    assert [(each["target"], each["wavefronts"]) for each in found] == [
        ("a100", 32768 * 33), ("a100", 32768 * 2), ("h100", 32768 * 33), ("h100", 32768 * 2)
    ]  # fmt: skip
    assert [each["vanished"] for each in found] == [[], ["CL201:5"], [], ["CL201:5"]]
    assert [each["is_best"] for each in found] == [False, True, False, True]


def test_blocks(cudalint: Run, source: str) -> None:
    """The grid covers 3907 blocks of 256 threads. Blocks of 16 threads leave half of each warp empty (CL501)."""
    line = ("--kernel", "scaled", "--block", "512", "--block", "16", "--param", "n=1000", "--format", "json")
    found = _variants(cudalint("what-if", source, *line))
    assert [(each["block"][0], each["grid"][0]) for each in found] == [(256, 3907), (512, 1954), (16, 62512)]
    assert [bool(each["appeared"]) for each in found] == [False, False, True]
    assert not any(each["is_comparable"] for each in found[1:])


def test_what_a_kernel_is_written_for(cudalint: Run, source: str) -> None:
    """A smaller block leaves most of the tile undone, however fast it is."""
    result = cudalint("what-if", source, "--kernel", "turned", "--block", "32,8")
    assert "doesn't read blockDim" in result.out
    assert "\n  *" not in result.out


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (("--kernel", "other"), "there is no kernel `other`"),
        (("--pad", "u=33"), "there is no array `u`"),
        (("--pad", "t=16"), "16 are fewer"),
        (("--registers", "0"), "no number of registers"),
    ],
)
def test_what_can_not_be(cudalint: Run, source: str, line: tuple[str, ...], reason: str) -> None:
    result = cudalint("what-if", source, *line)
    assert reason in result.out + result.err
