"""Phrases about launches."""

from __future__ import annotations

import pytest

from cudalint.analysis import analyse_file
from cudalint.options import AnalysisOptions
from cudalint.reporters.wording import launch_phrase


@pytest.mark.parametrize(
    ("more", "phrase"),
    [
        ("", "block 64, grid 8 (launch at a.cu:2)"),
        (", 512", "block 64, grid 8, 512 bytes of dynamic shared memory (launch at a.cu:2)"),
        # A number that stands for any would be read as the program's own.
        (", n * 4", "block 64, grid 8, an unknown number of bytes of dynamic shared memory (launch at a.cu:2)"),
    ],
)
def test_dynamic_shared_memory_of_a_launch(more: str, phrase: str) -> None:
    source = (
        "__global__ void k(int *a) { extern __shared__ int s[]; a[threadIdx.x] = s[threadIdx.x]; }\n"
        f"void run(int *a, int n) {{ k<<<8, 64{more}>>>(a); }}\n"
    )
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert launch_phrase(kernel.launches[0]) == phrase
