"""Sizes that a kernel checks before it does anything: it is evaluated for those that it takes."""

from __future__ import annotations

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ROWS = "for (int j = 0; j < h; j++) o[j * 4096 + i] = w[j * 4096 + i];"


def _kernels(*bodies: str) -> tuple[KernelFacts, ...]:
    kernels = "".join(
        f"""
        __global__ void k{number}(const float *w, float *o, int h, int l, int m) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            {body}
        }}"""
        for number, body in enumerate(bodies)
    )
    launches = " ".join(f"k{number}<<<32, 128>>>(w, o, h, l, m);" for number in range(len(bodies)))
    source = f"{kernels}\nvoid run(float *w, float *o, int h, int l, int m) {{ {launches} }}\n"
    return analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels


def _figures(kernel: KernelFacts) -> set[tuple[str, float | None]]:
    """Whether any is wasteful with some sizes, and the figures with usual ones."""
    return {(access.results[0].condition, access.results[0].sectors_per_request) for access in kernel.accesses}


@pytest.mark.parametrize(
    "check",
    [
        "if (h > 128) return;",
        "if (h >= 129 || l > 8) return;",
        "if (h > 128 || l > 8 || m > 32) return;",
        "if (h != 64 || m != 32) return;",
        "if (!(h <= 128 && 16 >= l)) return;",
    ],
)
def test_several_limits_at_once(check: str) -> None:
    [kernel] = _kernels(f"{check} {_ROWS}")
    assert _figures(kernel) == {("", 4)}


@pytest.mark.parametrize("check", ["h > 1024", "h >= 1025", "1024 < h"])
def test_a_size_is_as_large_as_its_limit(check: str) -> None:
    """Rows of 1024 words begin sectors, which rows of 1023 do not. `h` is in a product, which settles sizes, too."""
    loop = "for (int j = threadIdx.x; j < h; j += 128) o[blockIdx.x * h + j] = w[j];"
    [kernel] = _kernels(f"if ({check}) return; {loop}")
    assert [access.results[0].active_lanes for access in kernel.accesses] == [32, 32]


def test_other_kernels_have_limits_of_their_own() -> None:
    """What the first takes for a size is none that the second does anything for."""
    for kernel in _kernels(f"if (h > 32 || l > 4) return; {_ROWS}", f"if (h < 256 || l < 64) return; {_ROWS}"):
        assert _figures(kernel) == {("", 4)}


def test_sizes_that_are_handled_elsewhere_stay_large() -> None:
    """Beyond the limit the rows are read in another order, which is the one of a generic size."""
    [kernel] = _kernels(f"if (h > 128) {{ o[8 * i] = w[i]; return; }} {_ROWS}")
    large = [access.results[0] for access in kernel.accesses][:2]
    assert sorted(result.sectors_per_request or 0 for result in large) == [4, 32]


def test_what_a_loop_leaves_by_is_no_limit_of_a_size() -> None:
    """The condition under which threads come to the end has the counter of a loop in it, which has no value there."""
    loop = "for (int j = 0; j < h; j++) { if (w[j] > 3 && j * l < m) return; o[j * 4096 + i] = w[i]; }"
    [kernel] = _kernels(f"if (h > 128) return; {loop} o[i] = 1;")
    assert kernel.accesses
