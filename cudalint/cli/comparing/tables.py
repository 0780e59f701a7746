"""`cudalint diff` for the terminal: what differs of each kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.cli.comparing.pairing import AccessChange, Compared
from cudalint.cli.comparing.reported import Kernel, Report, and_more, kernels_of, launch_name, launch_names, rows_of
from cudalint.cli.comparing.versions import Version
from cudalint.diagnostics import Diagnostic
from cudalint.facts import LaunchFacts
from cudalint.numerals import count, enumeration
from cudalint.report.formats.style import Style
from cudalint.report.formats.wording import block_and_grid


def text_lines(report: Report, style: Style) -> Iterator[str]:
    comparison = report.comparison
    before: object = None
    for kernel in kernels_of(comparison):
        yield from _kernel(kernel, report, style)
        if kernel.pair is not before:
            first = kernel.launches[0]
            yield from _findings(first.appeared, first.vanished, report, style)
            before = kernel.pair
        yield ""
    if comparison.appeared or comparison.vanished:
        yield style.paint("outside of kernels", "bold")
        yield from _findings(comparison.appeared, comparison.vanished, report, style)
        yield ""
    yield from _summary(report)
    for each in report.failed:
        where = f"{each.pair.either.facts.instantiation}{_shape(each.launch)}"
        yield f"{style.paint('gate failed', 'red')}: `{each.gate.text}`: {where}: {each.reason}{and_more(each)}"
    for (gate, _), why in report.unchecked().items():
        yield f"{style.paint('gate not checked', 'red')}: `{gate}`: {why}"
    if passed := report.passed():
        yield passed


def _summary(report: Report) -> Iterator[str]:
    comparison = report.comparison
    same = sum(not each.differs for each in comparison.launches)
    if same:
        yield f"{count(same, 'launch is', 'launches are')} the same"
    if report.same:
        yield f"{count(len(report.same), 'file is', 'files are')} the same, with all that {_counts_for(report)}"
    if comparison.unknown:
        yield f"not compared: {report.not_compared()}"
    if comparison.cut:
        yield f"not compared (time limit): {report.cut()}"
    if not comparison.pairs and not report.same:
        yield "no kernels"


def _counts_for(report: Report) -> str:
    return "counts for it" if len(report.same) == 1 else "counts for them"


def _shape(launch: LaunchFacts | None) -> str:
    return f", {block_and_grid(launch)}" if launch is not None else ""


def _kernel(kernel: Kernel, report: Report, style: Style) -> Iterator[str]:
    pair = kernel.pair
    title = pair.either.facts.instantiation
    if pair.old and pair.new:
        before = pair.old.facts.instantiation
        title = title if before == title else f"{before} -> {title}"
    else:
        title += " is new" if pair.new else " is gone"
    common = kernel.common_rows()
    apart = _apart(kernel, set(common))
    yield f"{style.paint(title, 'bold')} ({report.where(pair)}){_launches(kernel)}"
    if pair.new is None:
        return
    if len(kernel.launches) > 1 and not apart:
        yield f"  {'; '.join(launch_names(kernel.launches, kernel.launches))}"
    for launches, told in apart.items():
        yield f"  {launches}: {told}"
    rows = list(common.values())
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    for row in rows:
        cells = (row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)))
        yield f"  {'  '.join(cells)}".rstrip()
    for access in _common_accesses(kernel):
        yield f"  {access}"


def _launches(kernel: Kernel) -> str:
    lacks = kernel.pair.old is not None and kernel.pair.new is not None
    many = len(kernel.launches) > 1
    if many:
        number = len(kernel.launches)
        text = f", {number} of {number + kernel.same} launches" if kernel.same else f", {number} launches"
    else:
        text = f", {launch_name(kernel.launches[0])}"
    match kernel.status:
        case "unknown":
            is_old = not kernel.launches[0].old
            return f"{text} (not evaluated {'before' if is_old else 'any more'})"
        case "new" if lacks:
            return f"{text} ({'new launches' if many else 'new launch'})"
        case "gone" if lacks:
            return f"{text} ({'launches are gone' if many else 'launch is gone'})"
    return text


def _apart(kernel: Kernel, common: set[str]) -> dict[str, str]:
    """What launches tell that the others don't, by these; those together that tell the same."""
    if len(kernel.launches) < 2:
        return {}
    accesses = set(_common_accesses(kernel))
    by_text: dict[str, list[Compared]] = {}
    for each in kernel.launches:
        told = [_in_line(row.cells) for name, row in rows_of(each).items() if name not in common]
        told += [text for text in map(access_text, each.accesses) if text not in accesses]
        if told:
            by_text.setdefault(", ".join(told), []).append(each)
    return {enumeration(launch_names(own, kernel.launches)): text for text, own in by_text.items()}


def _in_line(cells: tuple[str, str, str, str]) -> str:
    title, old, new, change = cells
    text = f"{title} {old} {new}" if old else f"{title} {new}"
    return f"{text} ({change})" if change else text


def _common_accesses(kernel: Kernel) -> list[str]:
    first, *others = ([access_text(access) for access in each.accesses] for each in kernel.launches)
    return [text for text in dict.fromkeys(first) if all(text in other for other in others)]


def access_text(change_: AccessChange) -> str:
    access = change_.new or change_.old
    assert access is not None
    what = f"{access.space} {access.operation} of `{access.array}`, line {access.place.line}"
    if change_.old is None:
        return f"new: {what}: {change_.new_figure or 'not known'}"
    if change_.new is None:
        return f"gone: {what}: {change_.old_figure or 'not known'}"
    return f"{what}: {change_.old_figure or 'not known'} -> {change_.new_figure or 'not known'}"


def _findings(
    appeared: Sequence[Diagnostic], vanished: Sequence[Diagnostic], report: Report, style: Style
) -> Iterator[str]:
    sides: tuple[tuple[str, Sequence[Diagnostic], Version], ...] = (
        ("+", appeared, report.new), ("-", vanished, report.old)
    )  # fmt: skip
    for sign, found, version in sides:
        lines = (
            f"  {sign} {style.severity(each.code, each.severity)} {version.place_text(each.place)}: {each.message}"
            for each in found
        )
        yield from dict.fromkeys(lines)
