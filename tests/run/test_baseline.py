"""Trials of edits take what the host code came to from the analysis of the file as it is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cudalint.diagnostics import Edit
from cudalint.facts import FileFacts, Place
from cudalint.fixes.edits import MovedLines
from cudalint.measure.providers.accesses import AccessCollector
from cudalint.measure.providers.provider import Run
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run import batches
from cudalint.run.analysis import analyse_edited
from cudalint.run.baseline import Baseline
from cudalint.run.file_analysis import FileAnalysis
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_SOURCE = """
template <int N> __global__ void turned(const float *in, float *out, int n) {
    __shared__ float tile[N];
    int t = threadIdx.x;
    if (t < n) tile[t] = in[t];
    out[t] = tile[N - 1 - t];
}
__global__ void other(float *out, int n) { if (threadIdx.x < n) out[threadIdx.x] = 0; }
void run(const float *in, float *out, int n) {
    turned<256><<<4, 256>>>(in, out, 256);
    turned<128><<<8, 128>>>(in, out, 128);
    other<<<1, 64>>>(out, n);
}
"""
_BARRIER = "__syncthreads();\n    "
_EDIT = Edit(Place("a.cu", 6, 5, 6, 5), _BARRIER)


def _analysed(text: str, baseline: Baseline | None = None, only: tuple[str, ...] = ()) -> FileFacts:
    facts = analyse("a.cu", _options(text, only), baseline=baseline)
    assert isinstance(facts, FileFacts)
    return facts


def _options(text: str, only: tuple[str, ...] = ()) -> AnalysisOptions:
    return AnalysisOptions(unsaved=(("a.cu", text),), only=only)


def _told(facts: FileFacts) -> str:
    """What trials look at."""
    return repr([
        (
            kernel.name,
            kernel.instantiation,
            [(launch.block, launch.grid, launch.line) for launch in kernel.launches],
            [(access.place, [replace(result, sample=None) for result in access.results]) for access in kernel.accesses],
            kernel.races,
            kernel.barriers,
            kernel.branches,
        )
        for kernel in facts.kernels
    ])  # fmt: skip


def test_a_trial_executes_no_host_code(monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[str] = []
    original = FileAnalysis.of

    def of(*args: object, **named: object) -> FileAnalysis:
        executed.append("")
        return original(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(FileAnalysis, "of", of)
    options = AnalysisOptions(unsaved=(("a.cu", _SOURCE),))
    report = check_file(CheckJob("a.cu", options, Selection(), pictures=False))
    assert isinstance(report, FileReport)
    races = [one for one in report.diagnostics if one.code == "CL301"]
    assert [one.suggestion.edits for one in races if one.suggestion] == [(_EDIT,)] * 2
    assert len(executed) == 1


def test_what_it_comes_to_is_what_a_whole_analysis_comes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = Baseline()
    _analysed(_SOURCE, baseline)
    edited = _SOURCE.replace("    out[t]", f"    {_BARRIER}out[t]")
    used: list[object] = []
    original = batches.Kept.executed
    monkeypatch.setattr(batches.Kept, "executed", lambda *args: (used.append(args), original(*args))[1])
    resumed = analyse_edited("a.cu", _options(edited, ("turned",)), baseline, {"a.cu": edited}, MovedLines.of([_EDIT]))
    assert resumed is not None
    assert len(used) == 2
    assert _told(resumed) == _told(_analysed(edited, only=("turned",)))
    # The first launch has moved by one line.
    assert [kernel.launches[0].line for kernel in resumed.kernels] == [11, 12]


def test_what_is_understood_otherwise_is_analysed_as_a_whole() -> None:
    baseline = Baseline()
    _analysed(_SOURCE, baseline)
    broken = _SOURCE.replace("    out[t]", "    missing(); out[t]")
    assert analyse_edited("a.cu", _options(broken, ("turned",)), baseline, {"a.cu": broken}, MovedLines.of([])) is None


def test_worlds_are_chosen_anew_for_what_a_number_was_not_used_for() -> None:
    baseline = Baseline()
    _analysed(_SOURCE, baseline)
    edited = _SOURCE.replace("    out[threadIdx.x] = 0", "    out[threadIdx.x * n] = 0").replace(
        "n) out[threadIdx.x] = 0", "n) out[threadIdx.x * n] = 0"
    )
    resumed = analyse_edited("a.cu", _options(edited, ("other",)), baseline, {"a.cu": edited}, MovedLines.of([]))
    assert resumed is not None
    assert _told(resumed) == _told(_analysed(edited, only=("other",)))


def test_lines_that_edits_move() -> None:
    moved = MovedLines.of([_EDIT, Edit(Place("a.cu", 10, 1, 12, 1), ""), Edit(Place("b.h", 1, 1, 1, 1), "\n\n")])
    assert [moved.line("a.cu", line) for line in (5, 7, 13)] == [5, 8, 12]
    assert moved.line("b.h", 2) == 4
    assert moved.line("c.h", 2) == 2


def test_what_findings_cost_is_measured_of_kernels_that_have_any(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
__global__ void small(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 0; }
__global__ void large(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 0; }
void run(float *out) {
    small<<<1 << 16, 32, 16384>>>(out);
    large<<<1 << 13, 256>>>(out);
}
"""
    measured: list[str] = []
    analysed: list[object] = []
    add, of = AccessCollector.add, FileAnalysis.of

    def noted(self: AccessCollector, run: Run) -> None:
        measured.append(run.subject.function.name)
        add(self, run)

    def counted(*args: object, **named: object) -> FileAnalysis:
        analysed.append(args)
        return of(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(AccessCollector, "add", noted)
    monkeypatch.setattr(FileAnalysis, "of", counted)
    report = check_file(CheckJob("a.cu", _options(source), Selection(("CL503",)), pictures=False))
    assert isinstance(report, FileReport)
    assert [(one.kernel, one.cost is not None and one.cost.share is not None) for one in report.diagnostics] == [
        ("small", True)
    ]
    assert measured == ["small"]
    assert len(analysed) == 1
