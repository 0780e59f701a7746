"""The same numbers, given by host code in sight and by a recording: figures, findings and edits are the same."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts
from cudalint.launches.recorded.records import VERSION, Argument, RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import text_of
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection, all_rules
from cudalint.report.findings.showing import certainty_of
from cudalint.run.analysis import analyse_file
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.system.disk import recorder as disk

_MIB = 1 << 20
_ROOM = 4 * _MIB
_ALL = Selection(select=tuple(rule.code for rule in all_rules() if not rule.code.startswith("CL8")))
"""Those of host code (CL8xx) look at launches in the source, of which a recording says nothing."""
_PLACES = ("place", "name_place", "launches")
"""What facts say of the launches themselves, which is not the same."""
_INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
_REVERSED = """
extern __shared__ float s[];
__global__ void k(float *x, int n)
{
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = s[n - threadIdx.x];
}
"""
_SHIFTED = f"""
__global__ void k(float *out, const float *in, int n)
{{
    {_INDEX}
    if (i > 0 && i < n)
        out[i] = in[i - 1];
}}
"""
_DOUBLED = f"__global__ void k(float *x, int n) {{ {_INDEX} if (i < n) x[i] = 2.0f * x[i]; }}"


class _Case(NamedTuple):
    """A kernel with one array, or two, and numbers; `passed` is what the launch hands over."""

    code: str
    passed: str
    symbol: str
    arguments: tuple[Argument, ...]
    grid: tuple[int, int] = (1024, 1)
    block: tuple[int, int] = (256, 1)
    shared: int = 0
    expected: frozenset[str] = frozenset()
    """Codes of the findings."""

    def source(self) -> str:
        (across, down), (width, height) = self.grid, self.block
        launch = f"k<<<dim3({across}, {down}), dim3({width}, {height}), {self.shared}>>>({self.passed});"
        allocated = f"cudaMalloc(&x, {_ROOM}); cudaMalloc(&y, {_ROOM});"
        limit = "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 240000);"
        return f"{self.code}\nint main()\n{{\n    float *x, *y; {allocated} {limit}\n    {launch}\n}}\n"

    def recording(self, with_arguments: bool = True) -> Recording:
        arguments = self.arguments if with_arguments else None
        launch = RecordedLaunch(1, (*self.grid, 1), (*self.block, 1), self.shared, arguments)
        sizes = tuple(8 if isinstance(argument, str) else 4 for argument in self.arguments)
        return Recording(
            VERSION, (RecordedKernel(self.symbol, (launch,), parameters=sizes if with_arguments else None),)
        )


_X, _Y = f"p0+0/{_ROOM}", f"p1+0/{_ROOM}"
_CASES = {
    "race in a block": _Case(
        """
__global__ void k(float *x, int n)
{
    __shared__ float s[256];
    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    x[blockIdx.x * 256 + threadIdx.x] = s[(threadIdx.x + n) % 256];
}
""",
        "x, 33", "_Z1kPfi", (_X, 33), expected=frozenset({"CL301"}),
    ),
    "race between blocks": _Case(
        "__global__ void k(float *x, int n) { x[threadIdx.x * n] += 1.0f; }", "x, 3", "_Z1kPfi", (_X, 3), (64, 1),
        expected=frozenset({"CL101", "CL305", "CL504", "CL507"}),
    ),
    "one array twice": _Case(_SHIFTED, "x, x, 262144", "_Z1kPfPKfi", (_X, _X, 1 << 18), expected=frozenset({"CL305"})),
    "out of bounds": _Case(
        f"__global__ void k(float *x, int n) {{ {_INDEX} if (i <= n) x[i] = 1.0f; }}",
        f"x, {_MIB}", "_Z1kPfi", (_X, _MIB), (4097, 1), expected=frozenset({"CL107"}),
    ),
    "dynamic shared memory": _Case(
        _REVERSED, "x, 256", "_Z1kPfi", (_X, 256), shared=1024, expected=frozenset({"CL107"})
    ),
    "much shared memory": _Case(
        _REVERSED, "x, 256", "_Z1kPfi", (_X, 256), shared=100_000, expected=frozenset({"CL503"})
    ),
    "too much shared memory": _Case(
        _REVERSED, "x, 256", "_Z1kPfi", (_X, 256), shared=240_000, expected=frozenset({"CL202"})
    ),
    "misaligned": _Case(
        f"""
__global__ void k(float *x, const float *y)
{{
    {_INDEX}
    float4 v = ((const float4 *)y)[i];
    x[i] = v.x + v.y + v.z + v.w;
}}
""",
        "x, y + 1", "_Z1kPfPKf", (_X, f"p1+4/{_ROOM}"), (1023, 1), expected=frozenset({"CL102", "CL601"}),
    ),
    "bank conflicts": _Case(
        """
extern __shared__ float s[];
__global__ void k(float *x, int pitch)
{
    s[threadIdx.y * pitch + threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x + blockIdx.x * 1024];
    __syncthreads();
    x[threadIdx.y * 32 + threadIdx.x + blockIdx.x * 1024] = s[threadIdx.x * pitch + threadIdx.y];
}
""",
        "x, 32", "_Z1kPfi", (_X, 32), block=(32, 32), shared=4096, expected=frozenset({"CL201"}),
    ),
    "a column": _Case(
        f"__global__ void k(float *x, const float *y, int n, int m) {{ {_INDEX} if (i < n) x[i] = y[i * m]; }}",
        "x, y, 32768, 16", "_Z1kPfPKfii", (_X, _Y, 1 << 15, 16), (128, 1), expected=frozenset({"CL101"}),
    ),
    "partial warps": _Case(
        _DOUBLED, "x, 100000", "_Z1kPfi", (_X, 100_000), (1000, 1), (100, 1), expected=frozenset({"CL501"})
    ),
    "few blocks": _Case(_DOUBLED, "x, 300", "_Z1kPfi", (_X, 300), (3, 1), (128, 1), expected=frozenset({"CL504"})),
    "launch bounds": _Case(
        _DOUBLED.replace("void", "void __launch_bounds__(128)"), "x, 100000", "_Z1kPfi", (_X, 100_000),
        expected=frozenset({"CL502"}),
    ),
    "an axis too many": _Case(
        _DOUBLED, "x, 16384", "_Z1kPfi", (_X, 1 << 14), (64, 8), expected=frozenset({"CL305", "CL507"})
    ),
    "divergence": _Case(
        f"""
__global__ void k(float *x, int n)
{{
    {_INDEX}
    if (i % n == 0)
        for (int j = 0; j < 100; j++) x[i] = sinf(x[i]);
    else
        for (int j = 0; j < 100; j++) x[i] = cosf(x[i]) * 2.0f;
}}
""",
        "x, 2", "_Z1kPfi", (_X, 2), expected=frozenset({"CL101", "CL401", "CL605"}),
    ),
    "a barrier that not all reach": _Case(
        f"""
__global__ void k(float *x, int n)
{{
    {_INDEX}
    if (i >= n)
        return;
    __shared__ float s[256];
    s[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = s[255 - threadIdx.x];
}}
""",
        "x, 262000", "_Z1kPfi", (_X, 262_000), expected=frozenset({"CL306"}),
    ),
}  # fmt: skip


def _results(folder: Path, case: _Case, recording: Recording | None) -> tuple[list[Diagnostic], FileFacts]:
    source = folder / "a.cu"
    source.write_text(case.source())
    recordings: tuple[str, ...] = ()
    if recording is not None:
        (folder / "launches.json").write_text(text_of(recording))
        recordings = (str(folder / "launches.json"),)
    disk.forget()
    options = AnalysisOptions(recordings=recordings)
    report = check_file(CheckJob(str(source), options, _ALL, pictures=False))
    return list(report.diagnostics), analyse_file(str(source), options)


def _said(diagnostic: Diagnostic) -> tuple[object, ...]:
    suggestion = diagnostic.suggestion
    edits = (suggestion.message, suggestion.edits, suggestion.applicability) if suggestion is not None else None
    return (
        diagnostic.code, certainty_of(diagnostic), diagnostic.message, dict(diagnostic.figures), edits,
        diagnostic.no_edit, diagnostic.condition, diagnostic.separated_by, diagnostic.held_back,
    )  # fmt: skip


@pytest.mark.parametrize("name", _CASES)
def test_what_was_recorded_is_as_what_is_in_sight(tmp_path: Path, name: str) -> None:
    case = _CASES[name]
    seen, facts = _results(tmp_path, case, None)
    found, recorded = _results(tmp_path, case, case.recording())
    assert {each.code for each in seen} == case.expected
    assert list(map(_said, found)) == list(map(_said, seen))
    (of_seen,), (of_recorded,) = facts.kernels, recorded.kernels
    assert [launch.source for launch in of_recorded.launches] == ["recorded"]
    same = (name for name in of_seen.__struct_fields__ if name not in _PLACES)
    assert [name for name in same if str(getattr(of_seen, name)) != str(getattr(of_recorded, name))] == []


@pytest.mark.parametrize("name", _CASES)
def test_without_arguments_those_in_sight_count(tmp_path: Path, name: str) -> None:
    case = _CASES[name]
    seen, _ = _results(tmp_path, case, None)
    found, _ = _results(tmp_path, case, case.recording(with_arguments=False))
    assert list(map(_said, found)) == list(map(_said, seen))
