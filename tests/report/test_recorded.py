"""Results about launches that were recorded: in the order of the program's real time, with measured times beside those
of the time model. Expected is what the arithmetic beside it says."""

from __future__ import annotations

import contextlib
import json
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from handmade import column_read, strided_load
from msgspec.structs import replace
from schemas import sarif_schema

from cudalint.cli.described import Described, Job, describe
from cudalint.cli.facts import as_json, as_text
from cudalint.cli.roofline import costs_of
from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts, LaunchFacts, RecordedFacts
from cudalint.kinds import SHOWN_KINDS, Kind
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import text_of
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.formats import FORMATS
from cudalint.registry import Selection
from cudalint.report.findings.causes import with_causes_merged
from cudalint.report.findings.merging import merge
from cudalint.report.findings.results import CheckResult, FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import costs, github, losses, roofline, wording
from cudalint.report.formats.html.page import page_of
from cudalint.report.formats.html.views import Page
from cudalint.report.formats.presentation import Presentation, by_cost
from cudalint.report.formats.roofline import KernelRoof
from cudalint.report.formats.style import Style
from cudalint.run.api.rendering import rendered
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.runs import result_of

_SOURCE = """\
__global__ void scale(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[i] * 2.0f;
}
__global__ void gather(const float *in, float *out, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride] + 1.0f;
}
__global__ void columns(const float *in, float *out, int width)
{
    out[threadIdx.x * width + blockIdx.x] = in[threadIdx.x * width + blockIdx.x] + 1.0f;
}
"""
_KINDS: frozenset[Kind] = frozenset({"costs"})
_BYTES = 4 << 24
_GATHERED = 100 * 20.25 + 50 * 9.0
_ALL = 10 * 7.5 + _GATHERED + 1 * 4.0 + 3 * 55.0


def _launch(count: int, grid: int, block: int, time_us: float | None, *arguments: int | str) -> RecordedLaunch:
    return RecordedLaunch(count, (grid, 1, 1), (block, 1, 1), arguments=arguments, time_us=time_us)


def _recording(is_timed: bool) -> Recording:
    """Of a scale that does what it should, of a gather that takes nearly all of the time, some of it with a stride, and
    of a kernel that goes down columns and takes a twentieth."""

    def time(microseconds: float) -> float | None:
        return microseconds if is_timed else None

    first, second = f"p0+0/{_BYTES}", f"p1+0/{_BYTES}"
    gathered = (
        _launch(100, 4096, 256, time(20.25), first, second, 8),
        _launch(50, 4096, 256, time(9.0), first, second, 1),
        _launch(1, 64, 128, time(4.0), first, second, 32),
    )
    down = _launch(3, 4096, 256, time(55.0), first, second, 4096)
    return Recording(
        1,
        (
            RecordedKernel("_Z5scalePfi", (_launch(10, 4096, 256, time(7.5), first, 1 << 20),), parameters=(8, 4)),
            RecordedKernel("_Z6gatherPKfPfi", gathered, parameters=(8, 8, 4)),
            RecordedKernel("_Z7columnsPKfPfi", (down,), parameters=(8, 8, 4)),
        ),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("recorded")
    (found / "a.cu").write_text(_SOURCE)
    for name, is_timed in (("timed.json", True), ("made.json", False)):
        (found / name).write_text(text_of(_recording(is_timed)))
    return found


def _checked(folder: Path, recording: str) -> CheckResult:
    with contextlib.chdir(folder):
        options = AnalysisOptions(recordings=(recording,))
        report = check_file(CheckJob("a.cu", options, Selection(), pictures=True, shows_kernels=True))
        assert isinstance(report, FileReport), report
        return with_causes_merged(result_of([report], [], "a100"), SourceLines())


@pytest.fixture(scope="module")
def timed(folder: Path) -> CheckResult:
    return _checked(folder, "timed.json")


def _waste(result: CheckResult) -> list[Diagnostic]:
    return [each for each in by_cost(result.diagnostics) if each.cost is not None]


def test_what_takes_most_of_the_program_comes_first(timed: CheckResult) -> None:
    first, second = _waste(timed)[:2]
    assert [first.kernel, second.kernel] == ["gather", "columns"]
    of_first, of_second = costs.of(first), costs.of(second)
    assert of_first is not None
    assert of_second is not None
    # Of its kernel the second takes more, of the program far less.
    assert (of_first.share or 0) < (of_second.share or 0)
    assert of_first.program_share == pytest.approx((of_first.share or 0) * _GATHERED / _ALL)
    assert of_second.program_share == pytest.approx((of_second.share or 0) * 165 / _ALL)
    # The stride of 32 has worse figures, in a launch that nobody would miss.
    assert first.launches[0].block == (256, 1, 1)
    assert f"{costs.share(of_first.program_share or 0)} of the program's recorded time" in costs.phrase(of_first)


def test_what_nobody_has_measured_is_ordered_by_the_time_model(folder: Path) -> None:
    result = _checked(folder, "made.json")
    assert next(each.kernel for each in _waste(result)) == "columns"
    head, *_ = losses.kernels(result)
    assert head == "Kernels that lose most, as the time model has it:"


def test_recorded_findings_come_before_others_within_waste(timed: CheckResult) -> None:
    recorded = _waste(timed)[-1]
    assert recorded.cost is not None
    assert recorded.cost.kernel is not None
    assert (recorded.cost.program_share or 0) < 0.1
    own = replace(recorded.cost.kernel, launch=replace(recorded.cost.kernel.launch, recorded=None))
    other = replace(recorded, name="elsewhere", cost=replace(recorded.cost, share=0.99, kernel=own))
    error = replace(column_read(), severity="error")
    assert [each.name for each in by_cost([other, recorded, error])] == [error.name, recorded.name, "elsewhere"]


def test_kernels_that_lose_most_of_the_recorded_time(timed: CheckResult) -> None:
    head, first, second = losses.kernels(timed)
    assert head == "Kernels that lose most, by the time that was recorded:"
    share = round(100 * _GATHERED / _ALL)
    assert first.startswith(f"  gather, block 256, grid 4096: {share}% of the recorded time, 20.2 us a launch (about ")
    assert "us on a100, bound by DRAM, as the time model has it); " in first
    assert first.endswith("x faster without its finding")
    assert second.startswith("  columns, block 256, grid 4096: 6% of the recorded time, 55.0 us a launch (about ")


def test_measured_times_have_three_digits() -> None:
    times = (0.9, 4.0, 20.25, 120.0, 999.6, 3210.0, 5e9)
    expected = ["0.900 us", "4.00 us", "20.2 us", "120 us", "1.00 ms", "3.21 ms", "5000 s"]
    assert [costs.measured(time) for time in times] == expected


def _as_both(facts: FileFacts, options: AnalysisOptions) -> tuple[str, str]:
    return as_text(facts, options, Style()), as_json(facts, options)


def test_facts_have_both_times(folder: Path) -> None:
    with contextlib.chdir(folder):
        options = AnalysisOptions(recordings=("timed.json",), kinds=SHOWN_KINDS)
        shown = describe(Job("a.cu", options, _as_both))
    assert isinstance(shown, Described)
    words, document = shown.value
    lines = words.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("a.cu:1: scale"))
    assert lines[at].endswith("(the 10 launches of it that were recorded, 3% of the program's time)")
    assert lines[at + 1].startswith("  7.50 us as recorded; about ")
    assert " us as the time model has it, bound by " in lines[at + 1]
    kernel = json.loads(document)["kernels"][0]
    assert kernel["launches"][0]["recorded"]["time_us"] == 7.5
    assert kernel["costs"][0]["time_us"] > 0
    with contextlib.chdir(folder):
        unmeasured = replace(options, recordings=("made.json",))
        untimed = describe(Job("a.cu", unmeasured, _as_both))
    assert isinstance(untimed, Described)
    assert " us as recorded" not in untimed.value[0]


@pytest.fixture(scope="module")
def roofs(folder: Path) -> list[KernelRoof]:
    with contextlib.chdir(folder):
        options = AnalysisOptions(recordings=("timed.json",), kinds=_KINDS, target="a100")
        answer = describe(Job("a.cu", options, costs_of))
    assert isinstance(answer, Described)
    return [each for each in answer.value if each.kernel == "scale"]


def test_the_measured_point_below_the_roof(roofs: list[KernelRoof]) -> None:
    """A product for each of 2^20 elements in 7.5 us: 140 GFLOP/s, with 8 bytes for each, of which DRAM can move 194."""
    (kernel,) = roofs
    assert kernel.measured_gflops == pytest.approx((1 << 20) / 7.5 / 1e3)
    document: Any = roofline.json_object(roofs)
    (found,) = document["kernels"]
    assert found["measured_gflops"] == pytest.approx(139.8, abs=0.1)
    assert found["recorded"]["total_us"] == 75.0
    assert found["reached_gflops"] != found["measured_gflops"]
    shown = "\n".join(roofline.text_lines(roofs, Style()))
    plot, sentence = shown.split("\n\n")[:2]
    assert "A" in plot
    assert "  small letters: as the time model has it; capitals: as recorded; *: several" in plot
    assert "; 7.50 us as recorded; " in sentence
    assert " of 194 GFLOP/s that the roof allows, 140 as recorded" in sentence
    drawn = ElementTree.fromstring(roofline.svg(roofs))
    marks = [each.get("class") for each in drawn.iter() if each.tag.endswith("circle")]
    assert marks == ["b", "x"]
    words = list(drawn.itertext())
    assert {"a", "A", "filled: as the time model has it; hollow: as recorded"} <= set(words)


def test_nothing_is_said_of_what_was_not_measured(roofs: list[KernelRoof]) -> None:
    without = [replace(each, launch=replace(each.launch, recorded=None)) for each in roofs]
    document: Any = roofline.json_object(without)
    assert not {"measured_gflops", "recorded"} & set(document["kernels"][0])
    everything = "\n".join((*roofline.text_lines(without, Style()), roofline.svg(without)))
    assert "recorded" not in everything


def test_a_kernel_whose_time_the_model_does_not_know(roofs: list[KernelRoof]) -> None:
    cost = replace(roofs[0].cost, time_us=None, reason="data decides")
    shown = "\n".join(roofline.text_lines([replace(roofs[0], cost=cost)], Style()))
    assert "  a100: not known: data decides; 7.50 us as recorded" in shown


def _page(folder: Path, result: CheckResult) -> Page:
    with contextlib.chdir(folder):
        return page_of(result, SourceLines())


def test_the_html_report(folder: Path, timed: CheckResult) -> None:
    shown = _page(folder, timed)
    assert [section.name for section in shown.sections] == ["gather", "columns", "scale"]
    first = shown.sections[0]
    assert "bound by DRAM; 20.2 us as recorded, for block 256, grid 4096" in first.lead
    assert first.time.endswith(" us; 20.2 us as recorded")
    assert [row.time.split("; ")[1] for row in first.launches] == ["20.2 us as recorded", "4.00 us as recorded"]
    (roof,) = [figure for figure in first.figures if figure.title == "Roofline"]
    assert roof.caption.endswith("; hollow: as recorded")
    assert roof.picture.count("<circle") == 2
    labels = [each for each in ElementTree.fromstring(roof.picture).iter("text") if "GFLOP/s" in (each.text or "")]
    assert len(labels) == 2
    heights = [float(each.get("y", "0")) for each in labels]
    assert abs(heights[0] - heights[1]) >= 11


@pytest.mark.parametrize("recording", ["timed.json", "made.json"])
def test_the_html_report_says_where_times_come_from(folder: Path, recording: str) -> None:
    result = _checked(folder, recording)
    with contextlib.chdir(folder):
        lines, _ = rendered("html", result, SourceLines(), Presentation())
    (footer,) = (line for line in lines if line.startswith("<footer>"))
    assert "Times are estimates of a model" in footer
    assert (", but for those as recorded, which were measured " in footer) == (recording == "timed.json")


def test_the_summary_of_a_step_goes_by_recorded_time(folder: Path, timed: CheckResult) -> None:
    """The gather loses more of the program than the other kernel, which would be far faster."""

    def rows(result: CheckResult) -> list[list[str]]:
        lines = github.step_summary(result).splitlines()
        table = lines[next(at for at, line in enumerate(lines) if line.startswith("| kernel |")) :]
        return [line.strip("| ").split(" | ") for line in table[: table.index("")]]

    head, _, *kernels = rows(timed)
    assert head[-2:] == ["faster without it", "of the recorded time"]
    share = f"{round(100 * _GATHERED / _ALL)}%"
    assert [(each[0], each[-1]) for each in kernels] == [
        ("`gather`", share), ("`columns`", f"{round(100 * 165 / _ALL)}%"),
    ]  # fmt: skip
    gains = [float(each[-2].removesuffix("x")) for each in kernels]
    assert gains[0] < gains[1]
    head, _, *kernels = rows(_checked(folder, "made.json"))
    assert head[-1] == "faster without it"
    assert kernels[0][0] == "`columns`"


def test_what_separates_recorded_launches(timed: CheckResult) -> None:
    first, second = _waste(timed)[:2]
    assert first.separated_by == "stride > 1"
    assert ("where", "`stride > 1`, which is so in some of the launches that were recorded") in wording.notes(first)
    assert "where" not in dict(wording.notes(second))
    needing = replace(first, code="CL102", separated_by="stride % 4 == 0")
    assert dict(wording.notes(needing))["unless"].startswith("`stride % 4 == 0`, which is so in some ")


def test_what_some_of_several_launches_have_separates_none_of_all() -> None:
    """Launches of one block all have it, of those of another only some."""
    recorded = RecordedFacts(3, 2, 2, "l.json", None, None, None)
    launches = [_made(recorded, block) for block in (128, 256)]
    both = [replace(strided_load(), launches=(each,), separated_by="n > 1") for each in launches]
    (one,) = merge(both)
    assert one.separated_by == "n > 1"
    (one,) = merge([both[0], replace(both[1], separated_by="")])
    assert one.separated_by == ""
    assert len(one.launches) == 2


def _made(recorded: RecordedFacts, block: int) -> LaunchFacts:
    return LaunchFacts((block, 1, 1), (8, 1, 1), 0, "recorded", None, None, {"n": 4}, recorded=recorded)


def test_every_format_shows_recorded_launches(
    folder: Path, timed: CheckResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    made = {name: rendered(name, timed, SourceLines(), Presentation()) for name in FORMATS}
    assert {name: failures for name, (_, failures) in made.items() if failures} == {}
    shown = {name: "\n".join(lines) for name, (lines, _) in made.items()}
    assert all("CL101" in words and "None" not in words.replace('"None"', "") for words in shown.values())
    launched = "the 150 launches of it that were recorded, 2 different ones, 91"
    assert [name for name in FORMATS if launched in shown[name]] == ["text", "sarif", "github", "junit", "html"]
    document = json.loads(shown["json"])
    schema = json.loads(resources.files("cudalint").joinpath("schemas", "diagnostics.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    by_kernel = {each["kernel"]: each for each in document["diagnostics"] if each["code"] == "CL101"}
    assert by_kernel["gather"]["separated_by"] == "stride > 1"
    assert "separated_by" not in by_kernel["columns"]
    (launch,) = by_kernel["columns"]["launches"]
    assert (launch["source"], launch["path"], launch["line"]) == ("recorded", None, None)
    assert launch["recorded"]["share"] == pytest.approx(165 / _ALL)
    jsonschema.validate(json.loads(shown["sarif"]), sarif_schema())
    ElementTree.fromstring(shown["junit"])
    json.loads(shown["gitlab"])
