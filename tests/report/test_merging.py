"""One list from what several launches, instantiations and files report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from handmade import access, column_read, file_facts, kernel, launch, place, strided_load
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related
from cudalint.facts import Frame, LaunchFacts, Place
from cudalint.kinds import EVERY_KIND, NO_KIND, Kinds
from cudalint.report.findings.merging import gather, joined, merge
from cudalint.report.findings.results import (
    AllowedRule,
    CheckResult,
    Coverage,
    FileReport,
    KernelSite,
    TriedLaunch,
    coverage_of,
    excess,
    total_coverage,
    worst_first,
)
from cudalint.report.findings.showing import certainty_of
from cudalint.report.formats.wording import notes


def _report(path: str, **changes: object) -> FileReport:
    known = FileReport(path, "ok", (), (), (), (), Coverage(), {})
    return replace(known, **changes)


def test_findings_that_differ_by_launch_become_one() -> None:
    first = replace(column_read(), assumptions=("a",))
    second = replace(first, launches=(launch(line=20), launch()), assumptions=("a", "b"), instantiation="tile32<2>")
    (merged,) = merge([first, second])
    assert [known.line for known in merged.launches] == [15, 20]
    assert merged.assumptions == ("a", "b")


def test_assumptions_of_different_launches_stay_separate() -> None:
    first = replace(column_read(), assumptions=("n == 8",))
    second = replace(first, launches=(launch(line=20),), assumptions=("n >= 1024",))
    third = replace(first, launches=(launch(line=30),), assumptions=())
    (merged,) = merge([first, second, third])
    assert [known.line for known in merged.launches] == [15, 30]
    assert (merged.assumptions, merged.variants) == (("n == 8",), (second,))
    other = "block 32x32, grid 8x8 (launch at tile.cu:20), with n >= 1024 assumed"
    assert ("also for", other) in list(notes(merged))


def test_instantiations_without_a_finding_are_named() -> None:
    """A finding of two of four instantiations, one of which was not evaluated in full."""
    first, second = (replace(column_read(), instantiation=f"tile32<{type_}>") for type_ in ("double", "long"))
    evaluated = [(first.kernel, f"tile32<{type_}>") for type_ in ("double", "float", "long")]
    (found,) = gather([_report("a.cu", diagnostics=(first, second), whole=frozenset(evaluated))])
    assert found.not_in == ("tile32<float>",)
    assert dict(notes(found))["not in"] == "tile32<float>"


def test_parts_of_one_finding_are_related_to_the_first() -> None:
    there = Related(place(3, 1, 5), "the other access")
    changes = {"part_of": "barrier 0", "figures": {"races": 2.0, "arrays": 1.0}, "related": (there,)}
    first = replace(column_read(), **changes)
    second = replace(first, place=place(12, 1, 5), message="race on `t`", severity="error")
    other = replace(first, part_of="barrier 1")
    whole, alone = joined([replace(first, severity="warning"), other, second])
    assert alone is other
    assert (whole.place, whole.message, whole.severity) == (first.place, first.message, "error")
    assert whole.related == (there, Related(second.place, "race on `t`"))
    assert (whole.figures, excess(whole)) == ({"races": 4.0, "arrays": 2.0}, 2)
    # A race on an array more is something new, where one of the two was known.
    assert excess(first) == 1


@pytest.mark.parametrize("change", [{"kernel": "other"}, {"code": "CL202"}, {"place": place(9, 26, 33)}])
def test_findings_that_differ_otherwise_stay_separate(change: dict[str, object]) -> None:
    assert len(merge([column_read(), replace(column_read(), **change)])) == 2  # type: ignore[arg-type]


def test_other_figures_are_variants_of_the_worst() -> None:
    mild, worst = replace(column_read(), message="2-way", figures={}), column_read()
    milder = replace(mild, message="1.5-way", launches=(launch(line=20),))
    (merged,) = merge([mild, worst, milder, replace(mild, launches=(launch(line=30),))])
    assert merged.message == worst.message
    assert merged.launches == worst.launches
    assert [variant.message for variant in merged.variants] == ["2-way", "1.5-way"]
    assert [known.line for known in merged.variants[0].launches] == [15, 30]


def test_launches_of_another_file_stand_before_made_up_ones() -> None:
    """Of a kernel in a header that one file launches and another one only includes."""
    launched = column_read("tile.cuh")
    made_up = replace(launched, launches=(replace(launch(), source="default", path=None, line=None),))
    site = KernelSite(made_up.kernel, "/tile.cuh")
    includer = _report("b.cu", diagnostics=(made_up,), unlaunched=frozenset({site}))
    launcher = _report("a.cu", launched=frozenset({site}))
    assert gather([includer, launcher]) == ()
    assert _launches(gather([includer, _report("a.cu")])) == [made_up.launches]
    # Another kernel of the same name is not meant.
    assert _launches(gather([replace(includer, diagnostics=(launched,)), launcher])) == [launched.launches]
    other = KernelSite(made_up.kernel, "/other.cuh")
    assert _launches(gather([includer, _report("a.cu", launched=frozenset({other}))])) == [made_up.launches]


def _launches(found: Iterable[Diagnostic]) -> list[tuple[LaunchFacts, ...]]:
    return [each.launches for each in found]


def test_launches_and_instantiations_that_a_finding_holds_in() -> None:
    """Of one instantiation under three launches and another one under two, it is found under two of the first's."""
    found = [column_read(), replace(column_read(), launches=(launch(line=20),))]
    first, second = (found[0].kernel, found[0].instantiation), (found[0].kernel, "other<1>")
    tried = {first: _tried(10, 20, 30), second: _tried(40, 50)}
    report = _report("a.cu", diagnostics=tuple(found), whole=frozenset({first, second}), tried=tried)
    (merged,) = gather([report])
    assert merged.worlds == (2, 4)
    assert certainty_of(merged) == "likely"
    (one,) = gather([replace(report, diagnostics=tuple(found[:1]))])
    assert one.worlds == (1, 4)
    assert certainty_of(one) == "conditional"
    assert certainty_of(replace(one, severity="error")) == "likely"
    (sized,) = gather([replace(report, diagnostics=tuple(replace(d, condition="n > 1") for d in found))])
    assert (sized.worlds, sized.condition, certainty_of(sized)) == ((0, 4), "n > 1", "conditional")
    (mixed,) = gather([replace(report, diagnostics=(replace(found[0], condition="n > 1"), found[1]))])
    assert (mixed.worlds, mixed.condition) == ((1, 4), "")


def _tried(*lines: int, in_part: Kinds = NO_KIND) -> tuple[TriedLaunch, ...]:
    return tuple(TriedLaunch(frozenset({("tile.cu", line)}), in_part) for line in lines)


def test_what_stands_at_a_launch_is_about_that_launch() -> None:
    """Of a kernel with four launches one has a block that is no multiple of a warp, and two stand at its line."""
    place = Place("tile.cu", 10, 5, 10, 40)
    found = replace(column_read(), code="CL501", place=place, launches=(launch(line=10),))
    own, other = (found.kernel, found.instantiation), (found.kernel, "other<1>")
    tried = {own: _tried(10, 20, 30, 40), other: _tried(20)}
    report = _report("tile.cu", diagnostics=(found,), whole=frozenset({own, other}), tried=tried)
    (merged,) = gather([report])
    assert (merged.worlds, merged.not_in, certainty_of(merged)) == ((1, 1), (), "certain")
    (merged,) = gather([replace(report, tried={**tried, own: _tried(10, 10, 20, 30), other: _tried(10)})])
    assert (merged.worlds, merged.not_in, certainty_of(merged)) == ((1, 3), ("other<1>",), "conditional")
    in_code = replace(found, place=place._replace(line=4, end_line=4))
    (merged,) = gather([replace(report, diagnostics=(in_code,))])
    assert (merged.worlds, certainty_of(merged)) == ((1, 5), "conditional")


def test_launches_that_were_looked_at_in_part_do_not_count_where_nothing_was_found() -> None:
    """Races are a matter of their own: where not all were sought, all else is known."""
    race = replace(column_read(), code="CL301", severity="warning", launches=(launch(line=15),))
    own = (race.kernel, race.instantiation)
    races: Kinds = frozenset({"races"})
    cases = ((races, "CL301", 2), (races, "CL101", 4), (EVERY_KIND, "CL301", 2), (EVERY_KIND, "CL101", 2))
    for missing, code, known in cases:
        tried = {own: (*_tried(15, 20), *_tried(30, 40, in_part=missing))}
        (merged,) = gather([_report("a.cu", diagnostics=(replace(race, code=code),), tried=tried)])
        assert merged.worlds == (1, known)
    # It was found before time ran out.
    partly = replace(race, launches=(replace(race.launches[0], in_part=EVERY_KIND),))
    tried = {own: (*_tried(15, in_part=EVERY_KIND), *_tried(20))}
    (merged,) = gather([_report("a.cu", diagnostics=(partly,), tried=tried)])
    assert merged.worlds == (1, 2)


def test_a_shared_header_is_reported_once_and_in_order() -> None:
    header = column_read("tile.cuh")
    reports = [
        _report("b.cu", diagnostics=(header, column_read("b.cu"))),
        _report("a.cu", diagnostics=(header, column_read("a.cu"), strided_load("a.cu"))),
    ]
    found = [(d.place.path, d.code) for d in gather(reports)]
    assert found == [("a.cu", "CL101"), ("a.cu", "CL201"), ("b.cu", "CL201"), ("tile.cuh", "CL201")]


def test_a_file_under_two_names_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tile.cu").touch()
    reports = [
        _report("other.cu", diagnostics=(column_read(str(tmp_path / "tile.cu")),)),
        _report("tile.cu", diagnostics=(column_read("tile.cu"),)),
    ]
    assert [d.place.path for d in gather(reports)] == ["tile.cu"]


def test_a_suppression_that_one_file_needs_is_not_unused() -> None:
    unused = replace(column_read("tile.cuh"), code="CL901", kernel="")
    other = replace(unused, message="of another rule of the same annotation")
    first, second = (AllowedRule(unused.place, rule) for rule in ("CL101", "CL201"))
    reports = [_report("a.cu", unused=((first, unused), (second, other))), _report("b.cu", used=(first,))]
    assert gather(reports) == (other,)
    assert gather(reports[:1]) == (unused, other)


def test_a_fragment_is_covered_by_the_file_that_includes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fragment = _report("part.cu", status="partial", diagnostics=(column_read("part.cu"),))
    whole = _report("main.cu", sources={str(tmp_path / "part.cu"): "part.cu"})
    assert gather([fragment, whole]) == ()
    assert len(gather([fragment, replace(whole, status="partial")])) == 1
    assert len(gather([replace(fragment, status="ok"), whole])) == 1


def test_an_includer_that_was_understood_in_part_covers_what_it_has_kernels_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    header = _report("part.cuh", status="partial", diagnostics=(column_read("part.cuh"),))
    includer = _report("main.cu", status="partial", sources={str(tmp_path / "part.cuh"): "part.cuh"})
    own, known = (Coverage(frozenset({place(4, 1, 9, path)})) for path in ("main.cu", str(tmp_path / "part.cuh")))
    assert len(gather([header, replace(includer, coverage=own)])) == 1
    assert gather([header, replace(includer, coverage=known)]) == ()


def test_coverage_counts_sites_once() -> None:
    facts = file_facts(kernels=(kernel(), kernel(instantiation="tile32<2>"), kernel("tile.cuh")))
    coverage = coverage_of(facts)
    assert (len(coverage.kernels), len(coverage.accesses), coverage.evaluated) == (2, 4, 2)
    twice = total_coverage([coverage, coverage])
    assert twice == coverage


def test_an_access_that_one_launch_leaves_open_is_not_evaluated() -> None:
    good, bad = access(8), access(8, "unknown")
    through = access(8, inlined_from=(Frame("tile.cu", 9),))
    coverage = coverage_of(file_facts(kernels=(kernel(accesses=(good,)), kernel(accesses=(bad, through)))))
    assert (len(coverage.accesses), coverage.evaluated) == (2, 1)
    assert coverage_of(file_facts(kernels=(kernel(accesses=(access(8, results=()),)),))).evaluated == 0


def test_worst_first() -> None:
    error = replace(strided_load(), severity="error", figures={})
    assert [excess(d) for d in (column_read(), strided_load(), error)] == [32, 8, 1]
    ordered = list(worst_first([strided := strided_load(), column := column_read(), error]))
    assert [id(d) for d in ordered] == [id(error), id(column), id(strided)]


@pytest.mark.parametrize(
    ("severity", "reached"),
    [("error", ("error", "warning", "info")), ("warning", ("warning", "info")), ("info", ("info",))],
)
def test_reaches(severity: str, reached: tuple[str, ...]) -> None:
    result = CheckResult("a100", (replace(column_read(), severity=severity),))  # type: ignore[arg-type]
    assert tuple(s for s in ("error", "warning", "info") if result.reaches(s)) == reached  # type: ignore[arg-type]
