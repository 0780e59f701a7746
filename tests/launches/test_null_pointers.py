"""Null pointers that launches pass: arrays that are not there, or that were lost on the way."""

from __future__ import annotations

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """
__global__ void k(float *out, const float *bias, int n, int has_bias) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1;
    %s out[i + 4096] = bias[32 * i];
}
void launch(float *out, float *bias, int has_bias) { %s }
"""
_NULL, _GIVEN = "k<<<8, 128>>>(out, nullptr, 1024, has_bias);", "k<<<8, 128>>>(out, bias, 1024, has_bias);"


def _kernel(condition: str, launches: str) -> KernelFacts:
    (kernel,) = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _KERNEL % (condition, launches)),))).kernels
    return kernel


def _sectors(kernel: KernelFacts) -> list[float | None]:
    return [result.sectors_per_request for a in kernel.accesses if a.array == "bias" for result in a.results]


@pytest.mark.parametrize("condition", ["", "if (i < n)"])
def test_an_array_that_is_read_in_any_case_is_there(condition: str) -> None:
    """32 lanes, 128 bytes apart: 32 sectors. Who passes null is a test, or sets it where nobody looks."""
    assert _sectors(_kernel(condition, _NULL)) == [32]


@pytest.mark.parametrize("condition", ["if (bias)", "if (has_bias)", "if (out[i] > 0)"])
def test_an_array_that_may_not_be_read_is_not(condition: str) -> None:
    """A launch without the array goes no way that needs it, whatever says which way that is: no lane comes there, so
    that there are no figures."""
    assert _sectors(_kernel(condition, _NULL)) == [None]


@pytest.mark.parametrize("condition", ["if (bias)", "if (has_bias)"])
def test_a_launch_with_the_array_is_another_one(condition: str) -> None:
    assert _sectors(_kernel(condition, _NULL + _GIVEN)) == [None, 32]
    assert len(_kernel(condition, _GIVEN + _GIVEN).launches) == 1
