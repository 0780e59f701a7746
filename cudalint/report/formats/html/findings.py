"""Findings as the page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup
from msgspec import Struct

from cudalint.catalogue import page_in
from cudalint.diagnostics import Diagnostic, Picture
from cudalint.facts import Race, RaceEnd
from cudalint.hardware.cost.by_line import Line
from cudalint.numerals import thread
from cudalint.report.drawing import requests as drawing
from cudalint.report.drawing.races import Step, race
from cudalint.report.drawing.svg import Drawing
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import costs, wording
from cudalint.report.formats.html.requests import Pictures
from cudalint.report.formats.html.source import diff_of, prose
from cudalint.report.formats.html.views import Finding, Link

_MOST_PLACES = 12

Anchors = Mapping[Line, str]
"""Of the lines that the page shows."""


class Findings(Struct, frozen=True, eq=False):
    """Makes views of findings; `pages` says where the rules' pages are, and is empty where they are on no network."""

    sources: SourceLines
    pictures: Pictures
    pages: str

    def view(self, diagnostic: Diagnostic, anchor: str, anchors: Anchors, races: tuple[Race, ...] = ()) -> Finding:
        suggestion = diagnostic.suggestion
        place = diagnostic.place
        where = f"{place.path}:{place.line}" if not diagnostic.is_headline else place.path
        return Finding(
            anchor=anchor,
            code=diagnostic.code,
            name=diagnostic.name,
            severity=diagnostic.severity,
            message=prose(diagnostic.message),
            where=Link(where, anchors.get((place.path, place.line), "")),
            page=page_in(self.pages, diagnostic.code) if self.pages.startswith("https://") else "",
            notes=tuple((label, prose(text)) for label, text in _notes(diagnostic)),
            assumed=tuple(map(prose, wording.assumptions_of(diagnostic.assumptions, diagnostic.launches))),
            places=tuple(_places(diagnostic, anchors)),
            help=prose(wording.advice(suggestion)) if suggestion is not None else Markup(""),
            is_unsafe=suggestion is not None and suggestion.applicability == "unsafe",
            diff=tuple(diff_of(suggestion.edits, self.sources)) if suggestion is not None else (),
            pictures=tuple(self._pictures(diagnostic, races)),
            justification=diagnostic.justification.reason if diagnostic.justification is not None else "",
        )

    def _pictures(self, diagnostic: Diagnostic, races: tuple[Race, ...]) -> Iterator[Markup]:
        if diagnostic.picture is not None:
            yield self.pictures.place(drawing_of(diagnostic.picture), always=True)
        lines = {(diagnostic.place.path, diagnostic.place.line)}
        lines |= {(related.place.path, related.place.line) for related in diagnostic.related}
        if diagnostic.code.startswith(_RACES):
            for each in races:
                ends = {(end.place.path, end.place.line) for end in (each.first, each.second)}
                if ends <= lines:
                    yield Markup(_race(each).inline())  # noqa: S704  # Drawings escape their texts.
                    return


_GAIN = 1.05
"""From which on a factor is shown."""
_RACES = "CL3"
_PLACES = "the same at "
"""Begins the note of places, which the page lists."""


def drawing_of(picture: Picture) -> Drawing:
    sample, row = picture.sample, picture.request
    draw = drawing.banks if picture.kind == "banks" else drawing.sectors
    return draw(sample.addresses[row], sample.mask[row], picture.bytes)


def _race(found: Race) -> Drawing:
    return race(_step(found.first, found), _step(found.second, found), f"{found.element}: nothing orders them")


def _step(end: RaceEnd, found: Race) -> Step:
    who = thread(end.thread, end.block, always=found.reach == "grid")
    return Step(who, f"line {end.place.line}: {end.operation}", end.operation != "load")


def _notes(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """What is to be said beside the message, but for what has a place of its own."""
    launches = wording.launch_phrases(diagnostic.launches)
    if launches:
        yield "for", "; ".join(launches)
    for label, text in wording.notes(diagnostic):
        if label not in ("assumed", "kernel", "also for") and not text.startswith(_PLACES):
            yield label, text
    yield from (("also for", text) for text in wording.variant_phrases(diagnostic))
    cost = costs.of(diagnostic)
    if cost is not None and cost.speedup is not None and cost.speedup >= _GAIN:
        yield "gain", f"the kernel would be {cost.speedup:.2g}x as fast"


def _places(diagnostic: Diagnostic, anchors: Anchors) -> Iterator[Link]:
    found = [(related.place, related.message) for related in diagnostic.related]
    found += [
        (other.place, "the same" + (f" in `{other.kernel}`" if other.kernel != diagnostic.kernel else ""))
        for other in diagnostic.also
    ]
    own = diagnostic.place
    seen: dict[tuple[str, int, int, str], None] = {}
    for place, message in found:
        if place != own:
            is_own_line = (place.path, place.line) == (own.path, own.line)
            seen.setdefault((place.path, place.line, place.column if is_own_line else 0, message), None)
    for path, line, column, message in list(seen)[:_MOST_PLACES]:
        if column:
            # Whoever reads it is there.
            yield Link(f"this line, column {column}", "", prose(message))
            continue
        here = path == own.path
        yield Link(f"line {line}" if here else f"{path}:{line}", anchors.get((path, line), ""), prose(message))
    if len(seen) > _MOST_PLACES:
        yield Link(f"and {len(seen) - _MOST_PLACES} more places")
