"""`cudalint diff --format markdown`: what a change brings, the worst first, and a row for each kernel that differs, to
be put into a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.cli.comparing.figures import KINDS, SHOWN, differ, judgement
from cudalint.cli.comparing.pairing import Compared
from cudalint.cli.comparing.reported import UNKNOWN, Kernel, Report, and_more, kernels_of, shown
from cudalint.diagnostics import Diagnostic
from cudalint.facts import LaunchFacts
from cudalint.facts.costs import Bound
from cudalint.numerals import count, dimensions
from cudalint.report.findings.results import worst_first
from cudalint.report.formats import costs, plain

_MOST_ROWS = 40
_MOST_FINDINGS = 20
"""A comment on GitHub has no more than 65,536 characters."""
_LONGEST = 300
_ALWAYS = ("time", "sectors", "wavefronts", "occupancy")
_ARROW = "→"


def lines(report: Report) -> Iterator[str]:
    yield "### cudalint: kernels that have changed"
    yield ""
    before = f"`{report.revision[:10]}`" if report.revision else "the other version"
    kernels = sorted(kernels_of(report.comparison), key=_slower_first)
    yield from _findings(_new(report))
    if kernels:
        yield from _table(kernels, report)
        yield ""
        yield (
            f"Of the launch that takes longest, by the model of cudalint for {report.new.target}; before is {before}. "
            "No GPU measured this."
        )
    else:
        yield f"No kernel has other figures than in {before}."
    gone = [*_gone(report)]
    if gone:
        yield ""
    yield from _most(gone)
    yield from _gates(report)
    if report.comparison.unknown:
        yield ""
        yield f"Not compared: {plain.cell(report.not_compared())}."
    if report.comparison.cut:
        yield ""
        yield f"Not compared (time limit): {plain.cell(report.cut())}."


def _table(kernels: Sequence[Kernel], report: Report) -> Iterator[str]:
    told = kernels[:_MOST_ROWS]
    longest = [_longest(kernel) for kernel in told]
    columns = [name for name in SHOWN if name in _ALWAYS or any(_is_told(each, name) for each in longest)]
    heads = ["kernel", "block", *("time, bound by" if name == "time" else KINDS[name].title for name in columns)]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for kernel, each in zip(told, longest, strict=True):
        cells = (_cell(name, each) for name in columns)
        yield f"| {_name(kernel, report)} | {_launch(kernel, each)} | {' | '.join(cells)} |"
    if len(kernels) > _MOST_ROWS:
        yield ""
        yield f"{len(kernels) - _MOST_ROWS} more kernels have changed."


def _is_told(each: Compared, name: str) -> bool:
    if each.old is None or each.new is None or not each.is_known:
        return False
    return differ(each.old.get(name), each.new.get(name))


def _time(each: Compared) -> float:
    return max((figures or {}).get("time") or 0.0 for figures in (each.old, each.new))


def _longest(kernel: Kernel) -> Compared:
    return max(kernel.launches, key=_time)


def _slower_first(kernel: Kernel) -> float:
    """What has become slower most comes first; what can't be compared in between."""
    each = _longest(kernel)
    old, new = ((figures or {}).get("time") for figures in (each.old, each.new))
    return -(new / old) if old and new else -1.0


def _name(kernel: Kernel, report: Report) -> str:
    pair = kernel.pair
    names = dict.fromkeys(each.facts.instantiation for each in pair if each is not None)
    version = report.new if pair.new is not None else report.old
    path = version.shown(pair.either.facts.place.path)
    return "<br>".join(plain.cell(text) for text in (f" {_ARROW} ".join(map(_code, names)), _code(path)))


def _launch(kernel: Kernel, each: Compared) -> str:
    old, new = (_extents(launch) for launch in (each.old_launch, each.new_launch))
    text = new or old
    match kernel.status:
        case "unknown":
            text = f"not evaluated {'before' if not each.old else 'any more'}: {text}"
        case "new" | "gone":
            text = f"{kernel.status}: {text}"
        case "both" if old != new:
            text = f"{old} {_ARROW} **{new}**"
    others = len(kernel.launches) - 1
    if others:
        speed = f"; each takes {kernel.speed()} of its time before" if kernel.speed() else ""
        text += f"<br>and {count(others, 'more launch', 'more launches')}{speed}"
    return text


def _extents(launch: LaunchFacts | None) -> str:
    if launch is None:
        return ""
    return f"{dimensions(launch.block)}, grid {dimensions(launch.grid)}{' assumed' if launch.grid_is_assumed else ''}"


def _cell(name: str, each: Compared) -> str:
    old, new = (
        _value(name, figures, bound)
        for figures, bound in ((each.old, each.old_bound), (each.new, each.new_bound))
    )  # fmt: skip
    if each.old is None or each.new is None or not each.is_known:
        return new if each.new else old
    if not _is_told(each, name) and (name != "time" or each.old_bound == each.new_bound):
        return new
    judged = judgement(name, each.old.get(name), each.new.get(name))
    return f"{old} {_ARROW} **{new}**{f' ({judged})' if judged else ''}"


def _value(name: str, figures: object, bound: Bound | None) -> str:
    value = figures.get(name) if isinstance(figures, dict) else None
    if value is None:
        return UNKNOWN
    text = shown(name, value)
    return f"{text}, {costs.NAMES.get(bound, bound)}" if name == "time" and bound else text


def _findings(told: Sequence[str]) -> Iterator[str]:
    yield from _most(told)
    if told:
        yield ""


def _most(told: Sequence[str]) -> Iterator[str]:
    yield from told[:_MOST_FINDINGS]
    if len(told) > _MOST_FINDINGS:
        yield f"- and {count(len(told) - _MOST_FINDINGS, 'more finding')}"


def _new(report: Report) -> list[str]:
    """Errors first."""
    return list(
        dict.fromkeys(
            f"- **new {each.severity}**: {_told(each, report.new.place_text(each.place))}"
            for each in worst_first(_all_of(report, is_new=True))
        )
    )


def _gone(report: Report) -> list[str]:
    """Their lines are those of the old version, which is said."""
    return list(
        dict.fromkeys(
            f"- gone: {_told(each, f'{report.old.shown(each.place.path)}, old line {each.place.line}')}"
            for each in _all_of(report, is_new=False)
        )
    )


def _told(each: Diagnostic, place: str) -> str:
    kernel = f" in {_code(each.kernel)}" if each.kernel else ""
    return plain.cell(f"{each.code} {place}{kernel}: {each.message}"[:_LONGEST])


def _all_of(report: Report, is_new: bool) -> Iterator[Diagnostic]:
    comparison = report.comparison
    for each in comparison.launches:
        yield from each.appeared if is_new else each.vanished
    yield from comparison.appeared if is_new else comparison.vanished


def _gates(report: Report) -> Iterator[str]:
    for each in report.failed:
        shape = f", {_extents(each.launch)}" if each.launch is not None else ""
        name = plain.cell(_code(each.pair.either.facts.instantiation))
        why = plain.cell(f"{each.reason}{and_more(each)}")
        yield ""
        yield f"**Gate failed**: {plain.cell(_code(each.gate.text))}: {name}{shape}: {why}"
    for (gate, _), why in report.unchecked().items():
        yield ""
        yield f"**Gate not checked**: {plain.cell(_code(gate))}: {plain.cell(why)}"
    if passed := report.passed():
        yield ""
        yield f"{passed}."


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"
