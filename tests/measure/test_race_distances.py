"""Sizes under which two accesses meet that are far apart for large ones."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ANNOTATED = "// cudalint: launch(block = 512, grid = 1)\n"


def races(source: str) -> list[tuple[str, str, str | None]]:
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    return [(race.certainty, race.element, race.reason) for race in facts.races or ()]


_NO_WORLD = pytest.mark.xfail(
    reason="no world is chosen for what is only added to an index: distances are not tried", strict=True
)


@pytest.mark.parametrize(
    ("lowest", "beyond", "found"),
    [
        # Thread 200 stores to element 200, and thread 15 to element 15 + x: they meet for x = 185 only.
        pytest.param(0, 1000, [("certain", "a[200]", "x = 185")], marks=_NO_WORLD),
        # There is no other.
        pytest.param(185, 186, [("certain", "a[200]", None)], marks=_NO_WORLD),
        (0, 185, []),
        (186, 1000, []),
    ],
)
def test_a_size_of_a_stated_range_takes_the_value_that_brings_threads_together(
    lowest: int, beyond: int, found: list[tuple[str, str, str | None]]
) -> None:
    source = (
        f"{_ANNOTATED}__global__ void k(float *a, int x) {{ __requires(x >= {lowest}); __requires(x < {beyond});"
        " if (threadIdx.x == 15) a[threadIdx.x + x] = 1; if (threadIdx.x == 200) a[threadIdx.x] = 2; }"
    )
    assert races(source) == found


@_NO_WORLD
def test_an_offset_of_which_nothing_is_known_may_be_one() -> None:
    kernel = "__global__ void k(float *a, int d) { int t = threadIdx.x; float v = a[t + d]; BARRIER; a[t] += v; }"
    [(certainty, element, reason)] = races(_ANNOTATED + kernel.replace("BARRIER", ""))
    # Warps run apart from each other: the first thread of the second stores what the last of the first still reads.
    assert (certainty, element) == ("possible", "a[32]")
    assert reason is not None and "`d`" in reason
    assert not races(_ANNOTATED + kernel.replace("BARRIER", "__syncthreads()"))


def test_a_guard_keeps_halves_apart_whatever_the_size() -> None:
    kernel = "__global__ void k(float *a, int n) { int t = threadIdx.x; if (t < n) a[t] += a[t + n]; }"
    assert not races(_ANNOTATED + kernel)


def test_a_visible_launch_passes_a_size_and_no_distance() -> None:
    source = (
        "__global__ void k(float *a, int n) { int t = threadIdx.x; a[t] += a[t + n]; }"
        "void run(float *a, int n) { k<<<1, 512>>>(a, n); }"
    )
    assert not races(source)


@_NO_WORLD
@pytest.mark.parametrize("condition", ["t > k", "t * k > 100", "t > 3 + k && k % 2 == 0"])
def test_threads_that_are_active_in_some_iterations_only_may_meet(condition: str) -> None:
    loop = f"for (int k = 0; k < 8; k++) {{ float v = a[t + d]; if ({condition}) a[t] += v; }}"
    [(certainty, _, reason)] = races(
        f"{_ANNOTATED}__global__ void k(float *a, int d) {{ int t = threadIdx.x; {loop} }}"
    )
    assert certainty == "possible"
    assert reason is not None and "it depends on `d`" in reason
