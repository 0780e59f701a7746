"""The report for people: each finding with its code frame, its launches, its assumptions and its way out."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.findings.results import CheckResult
from cudalint.findings.sources import SourceLines
from cudalint.reporters import costs, frames, losses, pictures, wording
from cudalint.reporters.order import by_cost, in_order
from cudalint.reporters.presentation import Presentation
from cudalint.reporters.style import Style

WORST = 3
"""How many findings get a picture where nobody asked for all."""


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    with_picture = [d for d in by_cost(result.diagnostics) if d.picture is not None]
    drawn = {id(diagnostic) for diagnostic in with_picture[: shown.pictures]}
    losing = list(losses.kernels(result)) if not shown.quiet else []
    if losing:
        yield from (*losing, "")
    for diagnostic in in_order(result.diagnostics, shown.order):
        yield from _finding(diagnostic, sources, shown, id(diagnostic) in drawn)
        yield ""
    if not shown.quiet:
        yield from costs.minor(result)
        yield wording.last_line(result)


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
