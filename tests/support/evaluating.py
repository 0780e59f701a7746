"""Small kernels from their bodies, evaluated by the whole analysis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cudalint.facts import AccessResult, KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_PATH = "kernel.cu"
Extents = tuple[int, int, int]


def evaluate(
    body: str,
    block: Extents = (32, 1, 1),
    grid: Extents = (1, 1, 1),
    arguments: str = "5, 7",
    before: str = "",
) -> KernelFacts:
    """The facts of a kernel with the parameters `float* a, float* b, int n, int m`, `threadIdx.x` being `t`.

    `arguments` are n and m at the launch; code `before` the kernel may define device functions.
    """
    source = f"""{before}
__global__ void k(float* a, float* b, int n, int m) {{
    __shared__ float s[1024];
    int t = threadIdx.x;
    {body}
}}
void launch(float* a, float* b, int unknown, int other) {{
    k<<<dim3({", ".join(map(str, grid))}), dim3({", ".join(map(str, block))})>>>(a, b, {arguments});
}}
"""
    (kernel,) = analyse_file(_PATH, AnalysisOptions(unsaved=((_PATH, source),))).kernels
    return kernel


def results(kernel: KernelFacts, array: str = "a") -> list[AccessResult]:
    """The results of the accesses of one array, in source order."""
    return [access.results[0] for access in kernel.accesses if access.array == array]


def only(kernel: KernelFacts, array: str = "a") -> AccessResult:
    (result,) = results(kernel, array)
    return result


def elements(result: AccessResult, bytes_: int = 4) -> list[list[int]]:
    """The elements that the active lanes of each sampled request touch, in lane order."""
    assert result.sample is not None
    rows = zip(result.sample.addresses, result.sample.mask, strict=True)
    return [(np.asarray(addresses[mask]) // bytes_).tolist() for addresses, mask in rows]


def uniform_elements(result: AccessResult) -> list[int]:
    """The element of each sampled request, where all its lanes touch the same."""
    found: Sequence[set[int]] = [set(lanes) for lanes in elements(result)]
    assert all(len(lanes) == 1 for lanes in found), found
    return [min(lanes) for lanes in found]
