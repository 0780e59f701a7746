"""Phrases about launches."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.report.formats.wording import launch_phrase, launch_phrases
from cudalint.run.analysis import analyse_file


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


def test_launches_that_read_the_same_are_reported_once() -> None:
    source = (
        "__global__ void k(int *a, int n) { a[threadIdx.x * n] = 1; }\n"
        "void run(int *a) { k<<<8, 64>>>(a, 2); k<<<8, 64>>>(a, 3); k<<<1, 64>>>(a, 2); }\n"
    )
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert sorted(launch.parameters["n"] for launch in kernel.launches) == [2, 2, 3]
    assert sorted(launch_phrases(kernel.launches)) == [
        "block 64, grid 1 (launch at a.cu:2)",
        "block 64, grid 8 (launch at a.cu:2)",
    ]
