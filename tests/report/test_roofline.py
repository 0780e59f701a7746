"""`cudalint roofline`: kernels below the roofs of GPUs. Expected is what the arithmetic beside it says."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from cudalint.cli.described import Described, Job, describe
from cudalint.cli.roofline import costs_of
from cudalint.kinds import Kind
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.formats import roofline
from cudalint.report.formats.roofline import KernelRoof
from cudalint.report.formats.style import Style

_KINDS: frozenset[Kind] = frozenset({"costs"})
_SUM = """
__global__ void sum(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
__global__ void copy(const int *a, int *b) { b[threadIdx.x] = a[threadIdx.x]; }
void run(float *a, float *b, float *c, int *d) {
    sum<<<1 << 14, 256>>>(a, b, c, 1 << 22);
    copy<<<1, 256>>>(d, d);
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> list[KernelRoof]:
    """Both kernels, on two targets."""
    path = tmp_path_factory.mktemp("roofline") / "sum.cu"
    path.write_text(_SUM)
    answers = (describe(Job(str(path), _options(target), costs_of)) for target in ("a100", "sm_90"))
    return [kernel for answer in answers if isinstance(answer, Described) for kernel in answer.value]


def _options(target: str) -> AnalysisOptions:
    return AnalysisOptions(kinds=_KINDS, target=target)


def test_a_sum_of_vectors_stands_below_both_roofs(kernels: list[KernelRoof]) -> None:
    """An addition for 12 bytes: 1/12. An A100 does 19.5 TFLOP/s and moves 1.555 TB/s, which meet at 12.5."""
    document: Any = roofline.json_object(kernels)
    assert [target["name"] for target in document["targets"]] == ["a100", "h100"]
    assert document["targets"][0]["ridge"] == pytest.approx(12.5, abs=0.05)
    sums = [kernel for kernel in document["kernels"] if kernel["kernel"] == "sum"]
    assert len(sums) == 2
    for kernel in sums:
        assert kernel["bound"] == "dram"
        assert kernel["arithmetic_intensity"] == pytest.approx(1 / 12, rel=0.01)
        # Of the third of its bytes that it stores, L2 keeps what never waits for DRAM.
        assert 0.5 < kernel["reached_gflops"] / kernel["attainable_gflops"] < 1.5
    assert sums[0]["attainable_gflops"] == pytest.approx(1555 / 12, rel=0.01)


def test_in_a_terminal_the_bound_is_the_longest_bar(kernels: list[KernelRoof]) -> None:
    text = "\n".join(roofline.text_lines(kernels[:2], Style()))
    assert text.startswith("a100: 19.5 TFLOP/s FP32, 1555 GB/s, ridge 12.5 FLOP/byte\n")
    of_sum = text[text.index("\na  ") :].split("\n\n")[0].splitlines()
    assert of_sum[1].endswith("sum.cu:2: sum, block 256, grid 16384")
    assert of_sum[2].startswith("  a100: about ") and ", bound by DRAM; 0.0833 FLOP/byte" in of_sum[2]
    assert of_sum[3].split()[:2] == ["DRAM", "█" * 30]
    assert "no floating-point arithmetic" in text.split("copy, block 256, grid 1")[1]


def test_a_picture_has_a_spot_below_each_roof(kernels: list[KernelRoof]) -> None:
    words = list(ElementTree.fromstring(roofline.svg(kernels)).itertext())
    assert words.count("a") == 2
    assert [word for word in words if word.startswith("a  ") and word.endswith("sum, block 256, grid 16384")]
