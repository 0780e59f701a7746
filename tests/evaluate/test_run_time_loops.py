"""Copies of loops whose length is known at run time only, read from what nvcc 13.0 makes of them (PTX, SASS; -O3)."""

from __future__ import annotations

import pytest

from cudalint import ir
from cudalint.analysis import analyse_file
from cudalint.evaluate.compiler.run_time_loops import Copies, copies_of
from cudalint.evaluate.execute import walk
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import lower_unit
from cudalint.frontend.parse import parse_file
from cudalint.options import AnalysisOptions

_SHORT = Copies(16, 4, rest_is_first=False)
_FOUR = Copies(4, 4, rest_is_first=False)
_REST_FIRST = Copies(16, 4, rest_is_first=True)


@pytest.mark.parametrize(
    ("loop", "copies"),
    [
        ("for (int k = 0; k < w; k++) l += s[i + k];", _SHORT),
        ("for (unsigned k = 0; k < (unsigned)w; k++) l += s[i + k] * t[k];", _SHORT),
        ("for (int k = 0; k < w; k += 2) l += s[i + k];", _SHORT),
        ("for (int k = 0; k < w; k++) atomicAdd(&o[i + k], s[k]);", _SHORT),
        ("for (int k = 0; k < w; k++) { l += s[i + k]; __syncthreads(); }", _SHORT),
        # What counts from a number that is not known has the iterations that are left over first.
        ("for (int k = w - 1; k >= 0; k--) l += s[i + k];", _REST_FIRST),
        ("for (int k = -w; k <= w; k++) l += s[i + k];", _REST_FIRST),
        ("for (int k = threadIdx.x; k < w; k += 32) l += s[k];", _REST_FIRST),
        # Branches, divisions and more than a few instructions are not multiplied again.
        ("for (int k = 0; k < w; k++) if (i - k >= 0) l += s[i - k] * t[k];", _FOUR),
        ("for (int k = 0; k < w; k++) { float d = s[i + k] - l; l += t[k] / (d * d + 1.f); }", _FOUR),
        ("for (int k = 0; k < w; k++) l += s[i+k]*t[k] + s[i+k+n]*t[k+n] + s[i-k]*t[n-k];", _FOUR),
        (
            """for (int k = 0; k < w; k++)
                l += s[i+k]*t[k] + s[i+k+n]*t[k+n] + s[i-k]*t[n-k] + s[i+2*k]*t[2*k] + s[i-2*k]*t[3*k] + s[i-3*k];""",
            Copies(2, 2, rest_is_first=False),
        ),
        ("\n#pragma unroll 1\nfor (int k = 0; k < w; k++) l += s[i + k];", None),
        ("for (int k = 0; k < w; k++) l += sinf(s[i + k]);", None),
        ("for (int k = 0; k < w; k++) { if (s[i + k] < 0) break; l += s[i + k]; }", None),
        ("for (int k = threadIdx.x; k < w; k += blockDim.x) l += s[k];", None),
        ("for (int k = w; k > 0; k >>= 1) l += s[i + k];", None),
        ("for (int k = 0; k < w; k++) for (int m = 0; m < n; m++) l += s[i + m + k * n];", None),
    ],
)  # fmt: skip
def test_copies(loop: str, copies: Copies | None) -> None:
    source = f"""__global__ void k(const float *s, const float *t, float *o, int n, int w) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float l = 0;
      {loop}
      o[i] = l;
    }}"""
    unit = lower_unit(parse_file("a.cu", ParseOptions(), source.encode()))
    kernel = unit.kernels[0].load()
    assert kernel is not None
    outer = next(node for node in walk.walk(kernel.body) if isinstance(node, ir.For))
    assert copies_of(outer) == copies


@pytest.mark.parametrize(
    ("taps", "figures"),
    [
        # Measured (ncu, sm_90) on 4 warps of 5 taps: 4 for the first copy, 4.75 for the others and for what is left:
        # `n - k` is aligned for k = 0 only, and the first warp has no lanes in the sector before its first one.
        (5, {4.0, 4.75}),
        # The first copy has the taps 0 and 4: 4, and (4 + 3 * 5) / 4 as 16 bytes off is in the middle of a sector.
        (8, {4.38, 4.75}),
        # What is left over is one instruction: (4 + 4.75 + 4.75) / 3.
        (3, {4.5}),
    ],
)  # fmt: skip
def test_each_copy_has_figures_of_its_own(taps: int, figures: set[float]) -> None:
    source = f"""__global__ void fir(const float *s, const float *t, float *o, int n, int w) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float sum = 0;
      for (int k = 0; k < w; ++k)
        if (i - k >= 0) sum += s[i - k] * t[k];
      o[i] = sum;
    }}
    void run(float *s, float *t, float *o) {{ fir<<<1, 128>>>(s, t, o, 128, {taps}); }}"""
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [load] = [access for access in kernel.accesses if access.array == "s"]
    assert {round(result.sectors_per_request or 0, 2) for result in load.results} == figures
