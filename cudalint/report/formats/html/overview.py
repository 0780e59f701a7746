"""What a page begins with: the errors, the changes that bring most, what was looked at, and a map of the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup

from cudalint.diagnostics import Diagnostic
from cudalint.numerals import count
from cudalint.report.drawing.svg import number, text_of
from cudalint.report.drawing.treemap import Area, treemap
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.results import CheckResult
from cudalint.report.formats import costs, plain, wording
from cudalint.report.formats.html.source import prose
from cudalint.report.formats.html.views import Change, ErrorRule, Failures, Legend, Link, Map, Section, Tile
from cudalint.report.formats.losses import Loss, losses

_MOST_CHANGES = 5
_MOST_NAMES = 3
_MOST_CELLS = 40
"""Kernels that are drawn each by itself."""
_WIDE, _HIGH = 1140.0, 240.0
"""Of the map, for areas to be square in; it is as wide as the page, and of few kernels less high."""
_FOR_EACH = 24.0
_LEAST_CELL = 0.001
"""Of the map; what is smaller nobody could point at."""
_ONE_LINE, _TWO_LINES = 20.0, 38.0
"""Of height, for a name, and for one with its time below it."""


# --- changes and errors ---------------------------------------------------------------------------------------


def changes_of(
    diagnostics: Sequence[Diagnostic], known: Sequence[Diagnostic], anchors: Mapping[int, str]
) -> Iterator[Change]:
    """The findings that take most time, those of a baseline among them, of all kernels that they are about together: of
    the time that was recorded, or else of one launch of each as the time model has it. `anchors` is where each is
    shown, by its identity."""
    every = (*((each, False) for each in diagnostics), *((each, True) for each in known))
    found = [(each, losses(everything_in([each])), is_known) for each, is_known in every]
    ranked = [one for one in found if one[1]]
    ranked.sort(key=lambda one: _weight(one[1]), reverse=True)
    for diagnostic, lost, is_known in ranked[:_MOST_CHANGES]:
        suggestion = diagnostic.suggestion
        first = lost[0]
        place = diagnostic.place
        yield Change(
            anchor=anchors.get(id(diagnostic), ""),
            what=prose(suggestion.message if suggestion is not None else diagnostic.message),
            rule=f"{diagnostic.code} {diagnostic.name}",
            code=diagnostic.code,
            severity=diagnostic.severity,
            where=f"{_subject(diagnostic)} at {_end(place.path)}:{place.line}",
            brings=_brings(lost),
            share=min(1.0, first.all.share or 0.0),
            has_edit=suggestion is not None and bool(suggestion.edits),
            is_known=is_known,
            sizes="" if first.kernel.launch.recorded_us else costs.for_sizes(first.kernel).strip(),
        )


def _weight(lost: Sequence[Loss]) -> tuple[float, ...]:
    return tuple(map(sum, zip(*(loss.weight for loss in lost), strict=True)))


def _subject(diagnostic: Diagnostic) -> str:
    names = list(dict.fromkeys(each.kernel for each in everything_in([diagnostic]) if each.kernel))
    if len(names) < 2:
        return names[0] if names else diagnostic.name
    return f"{names[0]} and {count(len(names) - 1, 'more kernel')}"


def _end(path: str) -> str:
    """A file with its folder: many are called `main.cu`."""
    return "/".join(path.split("/")[-2:])


def _brings(lost: Sequence[Loss]) -> str:
    """`9.7x faster, 470 us of 520 us go away`; of several kernels that of the one that gains most time."""
    first = lost[0]
    if first.kernel.is_nominal:
        return f"{first.brings}; {costs.how_long(first.kernel)}"
    recorded = first.kernel.launch.recorded_us
    whole = recorded or first.kernel.time_us
    times = f"{costs.duration(whole * (first.all.share or 0.0))} of {costs.duration(whole)}"
    return f"{first.brings}, {times} go away" + (" as recorded" if recorded else "")


def errors_of(diagnostics: Iterable[Diagnostic], anchors: Mapping[int, str]) -> Iterator[ErrorRule]:
    """The rules that have errors, those with most first, and the kernels that these are in."""
    by_rule: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.severity == "error":
            by_rule.setdefault(diagnostic.code, []).append(diagnostic)
    for code, found in sorted(by_rule.items(), key=lambda each: (-len(each[1]), each[0])):
        links = {_subject(diagnostic): anchors.get(id(diagnostic), "") for diagnostic in reversed(found)}
        named = [Link(name, anchor) for name, anchor in reversed(links.items())]
        more = len(named) - _MOST_NAMES
        yield ErrorRule(code, found[0].name, len(found), tuple(named[:_MOST_NAMES]), max(0, more))


# --- how much was looked at -----------------------------------------------------------------------------------


def tiles_of(result: CheckResult, sections: Sequence[Section]) -> Iterator[Tile]:
    for severity in ("error", "warning", "info"):
        amount = result.count(severity)
        if amount or severity == "error":
            yield Tile(str(amount), count(amount, severity).partition(" ")[2], severity if amount else "")
    coverage = result.coverage
    kernels = len(coverage.kernels) or len(sections)
    with_findings = sum(bool(section.findings) for section in sections)
    yield Tile(str(kernels), f"{'kernel' if kernels == 1 else 'kernels'}, {with_findings} with findings")
    if coverage.accesses:
        share = coverage.evaluated / len(coverage.accesses)
        yield Tile(_percent(share), f"of {count(len(coverage.accesses), 'access', 'accesses')} evaluated", share=share)


def _percent(share: float) -> str:
    """Less than all is never called all."""
    return f"{min(share * 100, 99 if share < 1 else 100):.0f}%"


def not_covered(result: CheckResult) -> str:
    """One line: what the page says nothing of."""
    coverage = result.coverage
    lost = {failure.path for failure in result.failures if failure.severity == "error"}
    partly = {failure.path for failure in result.failures} - lost
    held_back = sum(diagnostic.held_back != "conditional" for diagnostic in result.minor)
    unknown = coverage.unknown_kernels if coverage.is_of_accesses else 0
    parts = [
        (len(lost), "path not linted", "paths not linted"),
        (len(partly), "path in part", "paths in part"),
        (unknown, "kernel not evaluated", "kernels not evaluated"),
        (coverage.launches_left_out, "launch not evaluated", "launches not evaluated"),
        (held_back, "minor finding not shown", "minor findings not shown"),
    ]
    return ", ".join(count(amount, one, many) for amount, one, many in parts if amount)


def details_of(result: CheckResult) -> Iterator[Markup]:
    """The same in full."""
    yield prose(f"{wording.summary(result)}.")
    yield from (prose(f"{text}.") for text in costs.minor(result))


def failures_of(result: CheckResult, is_whole: bool) -> Iterator[Failures]:
    """Files that could not be linted at all, or not in full, by the reasons: those first that most files share."""
    paths: dict[str, list[str]] = {}
    for failure in result.failures:
        if (failure.severity == "error") == is_whole:
            paths.setdefault(failure.message, []).append(failure.path)
    for message in sorted(paths, key=lambda message: -len(paths[message])):
        yield Failures(prose(message), tuple(paths[message]))


# --- the map --------------------------------------------------------------------------------------------------


def map_of(sections: Sequence[Section]) -> Map | None:
    """Kernels by the time that they take, coloured by what binds them, and apart those whose time rests on sizes that
    nothing gives; None where that would show no more than the list does."""
    timed = sorted((section for section in sections if section.map_time), key=lambda section: -section.map_time)
    of_any_size = [section for section in sections if section.is_nominal and not section.map_time]
    if len(timed) + len(of_any_size) < 2:
        return None
    total = sum(section.map_time for section in timed)
    legend: dict[str, float] = {}
    for section in timed:
        legend[section.bound] = legend.get(section.bound, 0.0) + section.map_time / total
    for section in of_any_size:
        legend.setdefault(section.bound, 0.0)
    picture, height = _drawn(timed, [section.map_time for section in timed])
    others, height_of_those = _drawn(of_any_size, [1.0] * len(of_any_size))
    return Map(
        picture=picture,
        height=height,
        of_any_size=others,
        height_of_those=height_of_those,
        legend=tuple(
            Legend(name, look_of(name), costs.share(share) if share else "")
            for name, share in sorted(legend.items(), key=_by_share)
        ),
        is_recorded=any(section.recorded for section in timed),
        unknown=len(sections) - len(timed) - len(of_any_size),
    )


def _drawn(sections: Sequence[Section], sizes: Sequence[float]) -> tuple[Markup, int]:
    """Kernels of some sizes, the largest first, and how high that is."""
    if not sections:
        return Markup(""), 0
    total = sum(sizes)
    drawn = [size for size in sizes[:_MOST_CELLS] if size >= _LEAST_CELL * total]
    left = sum(sizes[len(drawn) :])
    high = min(_HIGH, max(5, len(sections)) * _FOR_EACH)
    areas = treemap(drawn + [left] * bool(left), _WIDE, high)
    cells = [_cell(*each) for each in zip(sections, areas, (size / total for size in drawn), strict=False)]
    if left:
        cells.append(_rest(len(sections) - len(drawn), areas[-1]))
    return Markup("").join(cells), int(high)


def _by_share(item: tuple[str, float]) -> float:
    return -item[1]


_LOOKS = {
    "DRAM": "dram", "L2": "l2", "L1": "l1", "shared memory": "shared", "constant memory": "l1",
    "instruction issue": "issue", "latency": "latency",
}  # fmt: skip


def look_of(bound: str) -> str:
    """The class of its colour: all arithmetic has one."""
    is_arithmetic = "arithmetic" in bound or bound in ("special functions", "tensor cores")
    return "arithmetic" if is_arithmetic else _LOOKS.get(bound, "none")


def _cell(section: Section, area: Area, share: float) -> Markup:
    errors = f", {count(section.errors, 'error')}" if section.errors else ""
    time = f"{section.time}, {costs.share(share)}" if section.map_time else "sizes not given"
    title = text_of(plain.page(f"{section.name}: {time}, bound by {section.bound or 'nothing known'}{errors}"))
    name = ("! " if section.errors else "") + section.name
    words = f'<text x="6" y="16">{text_of(plain.page(name))}</text>'
    if area.height >= _TWO_LINES:
        words += f'<text class="t" x="6" y="32">{text_of(plain.page(time))}</text>'
    look = look_of(section.bound) + (" bad" if section.errors else "")
    return Markup(  # noqa: S704  # Numbers and names of this module's own, and text that is escaped.
        f'<a href="#{section.anchor}" data-cell="{section.anchor}"><title>{title}</title>'
        f"{_box(area, look, words)}</a>"
    )


def _rest(kernels: int, area: Area) -> Markup:
    words = f'<text x="6" y="16">{count(kernels, "more kernel")}</text>'
    return Markup(f"<g>{_box(area, 'none', words)}</g>")  # noqa: S704


def _box(area: Area, look: str, words: str) -> str:
    """Across in shares of the width, which is the page's; text is cut off at the edge."""
    x, width = (f"{100 * value / _WIDE:.2f}%" for value in (area.x, area.width))
    return (
        f'<svg x="{x}" y="{number(area.y)}" width="{width}" height="{number(area.height)}">'
        f'<rect class="cell {look}" width="100%" height="100%"/>{words if area.height >= _ONE_LINE else ""}</svg>'
    )
