"""The rendered reports, compared with files.

After a wanted change, `CUDALINT_UPDATE_GOLDEN=1 python -m pytest tests/report` writes them anew; read the
difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from handmade import (
    TILE_SOURCE,
    access,
    column_read,
    file_facts,
    kernel,
    launch,
    place,
    sample,
    strided_load,
)
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Picture, Related, Suggestion
from cudalint.facts import Gap, Place, Problem
from cudalint.report.findings.causes import merged_by_cause
from cudalint.report.findings.results import CheckResult, Failure, coverage_of
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import concise, facts_text, text
from cudalint.report.formats.presentation import Presentation
from cudalint.report.formats.style import Style

_GOLDEN = Path(__file__).parent / "golden"

_AWKWARD = (
    "\tt[y][x] = in[y * width + x];  // tabs\n"
    "float *größe = 0; t[x][größe[y]] = 0;\n"
    f"{'int padding; ' * 30}t[x][y] = 1;\n"
    "t[x]\n    [y] = 2;\n"
)


def _check(name: str, lines: Iterable[str]) -> None:
    rendered = "\n".join(lines) + "\n"
    golden = _GOLDEN / f"{name}.txt"
    if os.environ.get("CUDALINT_UPDATE_GOLDEN"):
        golden.write_text(rendered, encoding="utf-8")
    assert rendered == golden.read_text(encoding="utf-8")


def _result(*diagnostics: Diagnostic, **changes: object) -> CheckResult:
    known = CheckResult("a100", diagnostics, (), 1, coverage_of(file_facts()))
    return replace(known, **changes)


def _text(result: CheckResult, pictures: int | None = 0, style: Style | None = None) -> list[str]:
    sources = SourceLines(
        {"tile.cu": TILE_SOURCE, "awkward.cu": _AWKWARD, "other.cuh": "struct Row {\n  float x, y;\n};\n"}
    )
    return list(text.render(result, sources, Presentation(style or Style(), pictures)))


def _concise(*diagnostics: Diagnostic) -> list[str]:
    return list(concise.render(_result(*diagnostics), SourceLines(), Presentation()))


def _awkward_diagnostics() -> Iterable[Diagnostic]:
    plain = Diagnostic("CL201", "bank-conflict", "error", place(1, 2, 9, "awkward.cu"), "tabs", "k", "k")
    yield plain
    yield replace(plain, place=place(2, 21, 36, "awkward.cu"), message="columns count bytes", severity="info")
    yield replace(plain, place=place(3, 391, 398, "awkward.cu"), message="a long line")
    yield replace(plain, place=Place("awkward.cu", 4, 1, 5, 8), message="two lines")
    yield replace(plain, place=place(90, 1, 5, "awkward.cu"), message="past the end of the file")
    yield replace(plain, place=place(1, 1, 2, "gone.cu"), message="the file is gone")
    yield replace(
        plain,
        place=place(1, 2, 9, "awkward.cu"),
        message="related places in another file, and no instantiation",
        instantiation="",
        related=(
            Related(place(2, 9, 10, "other.cuh"), "the field"),
            Related(place(2, 3, 8, "other.cuh"), "its type"),
        ),
        suggestion=Suggestion(
            "two edits of one line",
            (
                Edit(place(2, 3, 8, "other.cuh"), "float2"),
                Edit(place(2, 9, 13, "other.cuh"), "xy"),
            ),
        ),
    )


def _many_launches() -> Diagnostic:
    launches = [launch(line=n, block=(n, 2, 1), assumptions=(f"n{n} = 1",)) for n in range(20, 26)]
    sources = ("annotation", "config", "command-line")
    launches[:3] = [replace(known, source=source) for known, source in zip(launches, sources, strict=False)]
    return replace(column_read(), launches=tuple(launches), assumptions=("K % 4 == 0",))


def _with_variants() -> Diagnostic:
    milder = [
        replace(column_read(), message=f"{ways}-way bank conflict on `t`", instantiation=f"tile<{ways}>")
        for ways in (8, 4, 2)
    ]
    milder[0] = replace(milder[0], launches=(launch(), launch(block=(64, 1, 1))))
    return replace(column_read(), variants=tuple(milder))


def _of_one_cause() -> Iterable[Diagnostic]:
    """Two arrays on neighbouring lines and one further on are told together, the other cause between them is not; a
    line of a function that three kernels call is told once, and so are the lines that nobody can read for want of a
    header, whatever is said of each."""
    plain = replace(strided_load(), launches=(launch(),), assumptions=(), causes=("stride 8",), about="in")
    yield plain
    yield replace(plain, place=place(9, 5, 12), message="the same of `out`", about="out")
    yield replace(plain, place=place(10, 5, 12), message="a cause of its own", causes=("stride 4",), about="in")
    yield replace(plain, place=place(16, 5, 12), message="the same of `t`", about="t")
    called = replace(plain, place=place(12, 1, 2), message="in a function", causes=())
    for kernel_name in ("first", "second<1>", "second<2>", "third", "fourth"):
        yield replace(called, kernel=kernel_name, instantiation=kernel_name)
    unread = Diagnostic("CL902", "incomplete-analysis", "info", place(3, 1, 1), "expected ';'", "", "")
    for line in (3, 5, 6, 7, 8, 9, 11, 13):
        yield replace(unread, place=place(line, 1, 1), message=f"error {line}", causes=("headers",))


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("finding", lambda: _text(_result(column_read()))),
        ("findings_with_pictures", lambda: _text(_result(strided_load(), column_read()), None)),
        ("colours", lambda: _text(_result(strided_load(), column_read()), None, Style(enabled=True))),
        ("ascii", lambda: _text(_result(strided_load()), None, Style(unicode=False))),
        ("worst_picture_only", lambda: _text(_result(strided_load(), column_read()), 1)),
        ("awkward_sources", lambda: _text(_result(*_awkward_diagnostics()))),
        ("many_launches", lambda: _text(_result(_many_launches()))),
        ("variants", lambda: _text(_result(_with_variants()))),
        ("one_cause", lambda: _text(_result(*merged_by_cause(list(_of_one_cause()), SourceLines())))),
        ("failures", lambda: _text(_result(failures=(Failure("a.cu", "gone"), Failure("b.cu", "gone"))))),
        ("concise", lambda: _concise(strided_load(), column_read())),
    ],
)
def test_reports(name: str, render: Callable[[], list[str]]) -> None:
    _check(name, render())


def _with_picture(picture: Picture) -> list[str]:
    return _text(_result(replace(column_read(), picture=picture, suggestion=None)), None)


@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("banks_broadcast", Picture("banks", sample(lambda lane: lane // 2 * 8), 0, 4)),
        ("banks_two_way_half_warp", Picture("banks", sample(lambda lane: lane * 8, active=24), 0, 4)),
        ("banks_wide", Picture("banks", sample(lambda lane: lane * 16), 0, 16)),
        ("banks_conflict_in_several", Picture("banks", sample(lambda lane: lane % 4 * 4 + lane // 4 * 128), 0, 4)),
        ("sectors_full", Picture("sectors", sample(lambda lane: lane * 4), 0, 4)),
        ("sectors_shifted", Picture("sectors", sample(lambda lane: lane * 4 - 4), 0, 4)),
        ("sectors_column", Picture("sectors", sample(lambda lane: lane * 4096 + 2), 0, 1)),
        ("sectors_beyond_the_picture", Picture("sectors", sample(lambda lane: lane * 64 + 24), 0, 16)),
    ],
)
def test_pictures(name: str, picture: Picture) -> None:
    lines = _with_picture(picture)
    assert max(map(len, lines)) <= 100
    _check(name, lines)


def test_facts_table() -> None:
    inlined = access(8, "unknown", array="params.rows", operation="atomic", space="global")
    ranged = access(9, "range")
    result = replace(
        ranged.results[0], reason=None, sectors_range=(4.0, 8.5), ideal_sectors=4.0, assumptions=("n > 0",)
    )
    ranged = replace(ranged, space="global", results=(result,))
    other = access(10, results=())
    facts = file_facts(
        status="partial",
        problems=(Problem("tile.cu", 3, 1, "'foo.h' file not found"),),
        kernels=(
            kernel(accesses=(inlined, ranged, access(10))),
            kernel(accesses=(other,), launches=(launch(assumptions=("block = 256",), source="default", path=None),)),
            kernel(gaps=(Gap("tile.cu", 7, "inline PTX", "--assume"), Gap("tile.cu", 8, "recursion"))),
        ),
    )
    _check("facts", facts_text.render(facts, Style()))
    _check("facts_without_kernels", facts_text.render(file_facts(kernels=()), Style()))


def test_a_line_for_what_several_kernels_meet_in_one_place() -> None:
    """As no kernel is named on it, each further one would be the same line again."""
    others = [replace(column_read(), kernel=name, instantiation=name) for name in ("tile32", "tile64")]
    assert len(_concise(*others)) == 1
