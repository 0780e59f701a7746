"""The HTML report of several files: which kernel comes first, what is said of each, and what links to it are called."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from cudalint.hardware.cost.by_line import Line
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.causes import with_causes_merged
from cudalint.report.findings.results import FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.html.page import page_of
from cudalint.report.formats.html.sections import rows_by_line
from cudalint.report.formats.html.views import Page, Section
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.runs import result_of

_HELPER = """\
#pragma once
inline __device__ float exchange(float *tile)
{
    tile[threadIdx.x] = threadIdx.x;
    return tile[threadIdx.x ^ 32];
}
"""
_RACE = """\
#include "exchange.cuh"
__global__ void reduce(float *out)
{
    __shared__ float tile[256];
    out[threadIdx.x] = exchange(tile);
}
void run(float *out) { reduce<<<1, 256>>>(out); }
"""
_STRIDED = """\
__global__ void gather(float *out, const float *in, int stride)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[(blockIdx.x * blockDim.x + threadIdx.x) * stride];
}
void run(float *out, const float *in)
{
    gather<<<1 << 20, 256>>>(out, in, 1);
    gather<<<1 << 12, 128>>>(out, in, 32);
}
"""


def _page(folder: Path, texts: dict[str, str]) -> Page:
    for path, text in texts.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    reports = []
    with contextlib.chdir(folder):
        for path in texts:
            if path.endswith(".cu"):
                report = check_file(CheckJob(path, AnalysisOptions(), Selection(), pictures=True, shows_kernels=True))
                assert isinstance(report, FileReport)
                reports.append(report)
        sources = SourceLines()
        return page_of(with_causes_merged(result_of(reports, [], "a100"), sources), sources)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    texts = {"src/exchange.cuh": _HELPER, "src/a.cu": _STRIDED, "src/b.cu": _RACE}
    other = _RACE.replace('"exchange', '"../src/exchange')
    return _page(tmp_path_factory.mktemp("files"), texts | {"lib/c.cu": other})


def _section(page: Page, path: str) -> Section:
    (found,) = [section for section in page.sections if section.path == path]
    return found


def test_kernels_with_errors_come_first(page: Page) -> None:
    """Both launches of the strided one take longer than either race."""
    assert [section.path for section in page.sections][-1] == "src/a.cu"
    assert [section.errors for section in page.sections] == [1, 1, 0]


def test_an_error_is_seen_at_every_kernel_that_has_it(page: Page) -> None:
    """It is told once, as it stands in a function that both kernels call."""
    place: Line = ("src/exchange.cuh", 5)
    sections = [_section(page, "src/b.cu"), _section(page, "lib/c.cu")]
    rows = [rows_by_line(section.codes)[place] for section in sections]
    (told,) = [finding for row in rows for finding in row.findings]
    (pointer,) = [pointer for row in rows for pointer in row.pointers]
    assert (told.code, pointer.words, pointer.anchor, pointer.severity) == ("CL301", "CL301", told.anchor, "error")
    assert all(section.findings == 1 and section.has == "CL301/error" for section in sections)


def test_anchors_name_the_file(page: Page, tmp_path: Path) -> None:
    anchors = {section.path: section.anchor for section in page.sections}
    assert anchors == {
        "src/a.cu": "k-src-a-cu-gather", "src/b.cu": "k-src-b-cu-reduce", "lib/c.cu": "k-lib-c-cu-reduce",
    }  # fmt: skip
    alone = _page(tmp_path, {"lib/c.cu": _RACE.replace("exchange(tile)", "tile[0]")})
    assert [section.anchor for section in alone.sections] == ["k-lib-c-cu-reduce"]


def test_all_figures_of_a_kernel_are_of_one_launch(page: Page) -> None:
    """Of the launch that has the finding: 4096 blocks of 128 threads, whose strided load takes 32 sectors instead of 4.
    The other one has 512 times the threads, and nothing to gain."""
    section = _section(page, "src/a.cu")
    assert "block 128" in section.lead
    assert section.time in section.lead
    assert section.time.endswith(" us")
    assert 0.3 * section.microseconds < section.saved < section.microseconds
    assert {row.bound for row in section.launches} == {"DRAM"}


def test_a_page_begins_with_what_to_do_first(page: Page) -> None:
    """The errors with the kernels that have them, and what brings most: the strided load."""
    (error,) = page.errors
    assert (error.code, error.name, error.number) == ("CL301", "shared-race", 1)
    assert [link.words for link in error.kernels] == ["reduce"]
    (change,) = page.changes
    assert change.rule == "CL101 uncoalesced-access"
    assert change.where == "gather at src/a.cu:3"
    section = _section(page, "src/a.cu")
    assert change.share == pytest.approx(section.saved / section.microseconds)
    assert change.anchor in {finding.anchor for row in section.codes[0].rows for finding in row.findings}
    assert [(tile.figure, tile.words) for tile in page.tiles][:2] == [("1", "error"), ("1", "warning")]


def test_bars_say_what_is_at_stake(page: Page) -> None:
    """Of an error in how many of the launches it is there, of waste how much of the time it takes."""
    (error,) = _section(page, "src/b.cu").stakes
    assert (error.kind, error.words) == ("error", "shared-race in 2 of 2 launches")
    (waste,) = _section(page, "src/a.cu").stakes
    assert waste.kind == "waste"
    assert 0.3 < waste.share < 1.0
