"""The report for people: each finding with its code frame, its launches, its assumptions and its way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.numerals import count
from cudalint.report.findings.requirements import requirements
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import costs, frames, losses, pictures, wording
from cudalint.report.formats.presentation import Presentation, by_cost, in_order
from cudalint.report.formats.style import Style

WORST = 3
"""How many findings get a picture where nobody asked for all."""
_MOST_FINDINGS = 40
_MOST_REQUIREMENTS = 5
"""That are shown where nobody asks for all; errors always are."""


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    with_picture = [d for d in by_cost(result.diagnostics) if d.picture is not None]
    drawn = {id(diagnostic) for diagnostic in with_picture[: shown.pictures]}
    losing = list(losses.kernels(result)) if not shown.quiet else []
    if losing:
        yield from (*losing, "")
    shown_ones, more = _of_those_shown(in_order(result.diagnostics, shown.order), shown)
    for diagnostic in shown_ones:
        yield from _finding(diagnostic, sources, shown, id(diagnostic) in drawn)
        yield ""
    if more:
        yield from (f"and {count(more, 'more finding')}: --all", "")
    if not shown.quiet:
        yield from _requirements(result, shown)
        yield from costs.minor(result)
        yield wording.last_line(result)


def _of_those_shown(found: Sequence[Diagnostic], shown: Presentation) -> tuple[Sequence[Diagnostic], int]:
    """The findings of a list that is not too long, with all that there are in their kernels, and how many others there
    are."""
    if shown.shows_all or len(found) <= _MOST_FINDINGS:
        return found, 0
    kernels = {(d.place.path, d.kernel) for d in found[:_MOST_FINDINGS] if d.kernel}
    of_kernels = [n for n, d in enumerate(found) if (d.place.path, d.kernel) in kernels or d.severity == "error"]
    shown_ones = sorted({*range(_MOST_FINDINGS), *of_kernels})
    return [found[number] for number in shown_ones], len(found) - len(shown_ones)


def _requirements(result: CheckResult, shown: Presentation) -> Iterator[str]:
    """A line for each kernel of what its callers have to see to, as nothing in sight shows that they do."""
    found = requirements(result.minor)
    if not found:
        return
    most = len(found) if shown.shows_all or shown.shows_conditional else _MOST_REQUIREMENTS
    yield "What no launch in sight decides:"
    for each in found[:most]:
        yield f"  {each.path}: `{each.kernel}` {each.text}"
    if len(found) > most:
        yield f"  and {count(len(found) - most, 'more kernel')}: --conditional"
    yield ""


def _finding(diagnostic: Diagnostic, sources: SourceLines, shown: Presentation, draws: bool) -> Iterator[str]:
    gutter, style = frames.gutter_width(diagnostic), shown.style
    head = style.rule(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.code, diagnostic.severity)
    yield f"{head}{style.paint(f': {diagnostic.message}', 'bold')}"
    if diagnostic.is_headline:
        yield f"  {style.paint('-->', 'blue')} {diagnostic.place.path}"
        return
    yield from frames.code_frame(diagnostic, sources, style, gutter)
    margin = " " * gutter
    for label, text in wording.notes(diagnostic):
        yield f"{margin} {style.paint('=', 'blue')} {style.paint(f'{label}:', 'bold')} {text}"
    if diagnostic.suggestion:
        yield from _suggestion(diagnostic.suggestion, sources, style, gutter)
    if shown.say_why and diagnostic.no_edit:
        yield f"{margin} {style.paint('=', 'blue')} {style.paint('no edit:', 'bold')} {diagnostic.no_edit}"
    if draws and diagnostic.picture:
        yield from (f" {line}" for line in pictures.draw(diagnostic.picture, style))


def _suggestion(suggestion: Suggestion, sources: SourceLines, style: Style, gutter: int) -> Iterator[str]:
    margin = " " * gutter
    label = "help (look before you apply it):" if suggestion.applicability == "unsafe" else "help:"
    yield f"{margin} {style.paint('=', 'blue')} {style.paint(label, 'bold')} {wording.advice(suggestion)}"
    yield from frames.edit_lines(suggestion.edits, sources, style, gutter)
