"""The page of a whole run."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cudalint import __version__
from cudalint.diagnostics import Diagnostic
from cudalint.hardware.cost.by_line import Line
from cudalint.numerals import count
from cudalint.report.drawing.svg import style as style_of_pictures
from cudalint.report.findings.results import SEVERITIES, CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import plain
from cudalint.report.formats.html.findings import Findings
from cudalint.report.formats.html.overview import (
    changes_of,
    details_of,
    errors_of,
    failures_of,
    look_of,
    map_of,
    not_covered,
    tiles_of,
)
from cudalint.report.formats.html.requests import Pictures
from cudalint.report.formats.html.sections import Group, groups_of, rows_by_line, section_of
from cudalint.report.formats.html.source import prose
from cudalint.report.formats.html.views import Link, Page, Rule, Section
from cudalint.report.formats.pages import address_on_network
from cudalint.report.formats.presentation import Presentation, by_cost

_PACKAGE = "cudalint.report.formats.html"
_MOST_AT_ONCE = 40
"""Kernels that a browser makes ready before the page is shown; where there are more, each when it is opened."""


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    """The lines of the page."""
    page = page_of(result, sources)
    style, script = _asset("report.css") + style_of_pictures(), _asset("report.js")
    written = _environment().get_template("report.html").render(
        page=page,
        style=Markup(style),  # noqa: S704  # This package's own, as is the script.
        script=Markup(script),  # noqa: S704
        style_digest=_digest(style),
        script_digest=_digest(script),
    )
    # Whoever prints the page may do so on a runner, which takes `##[` for a command wherever it stands.
    yield from _below(written, page.base).replace("##", "#&#35;").split("\n")


def _environment() -> Environment:
    """Escapes all that isn't markup, and shows what can't be seen."""
    environment = Environment(
        loader=PackageLoader(_PACKAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=StrictUndefined, finalize=_shown,
    )  # fmt: skip
    environment.filters |= {"percent": _percent, "heat": _heat, "count": count, "look": look_of}
    return environment


def _shown(value: object) -> object:
    return plain.page(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(name: str) -> str:
    return resources.files(_PACKAGE).joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _percent(share: float) -> str:
    """`31`, `2`; nothing for less than half a percent."""
    return f"{100 * share:.0f}" if share >= 0.005 else ""


def _heat(share: float) -> int:
    """From 0 for nothing to 9, in steps that grow: a tenth of a kernel is to be seen."""
    return min(9, round(9 * share**0.5)) if share >= 0.005 else 0


def page_of(result: CheckResult, sources: SourceLines) -> Page:
    ordered = by_cost(result.diagnostics)
    groups, others = groups_of(result.kernels, ordered)
    pictures = Pictures()
    findings = Findings(sources, pictures, address_on_network())
    sections = [section_of(group, sources, pictures) for group in groups]
    shown_at = _place_findings(groups, sections, findings)
    shown_at |= {id(diagnostic): f"o{number}" for number, diagnostic in enumerate(others, 1)}
    anchors = _anchors(sections)
    return Page(
        title=_title(result.paths),
        base=_base(result),
        version=__version__,
        target=result.target,
        tiles=tuple(tiles_of(result, sections)),
        changes=tuple(changes_of(result.diagnostics, result.known, shown_at)),
        errors=tuple(errors_of(ordered, shown_at)),
        map=map_of(sections),
        not_covered=not_covered(result),
        details=tuple(details_of(result)),
        sections=tuple(sections),
        is_large=len(sections) > _MOST_AT_ONCE,
        others=tuple(findings.view(d, shown_at[id(d)], anchors) for d in others),
        allowed=tuple(findings.view(d, f"a{number}", anchors) for number, d in enumerate(result.suppressed, 1)),
        rules=tuple(_rules(result.diagnostics)),
        severities=tuple(Rule(each, each, result.count(each)) for each in SEVERITIES if result.count(each)),
        folders=tuple(Rule(name, name, n) for name, n in sorted(Counter(s.folder for s in sections).items())),
        failures=tuple(failures_of(result, is_whole=True)),
        partial=tuple(failures_of(result, is_whole=False)),
        symbols=pictures.symbols(),
        has_recorded_times=any(launch.recorded_us for each in result.kernels for launch in each.facts.launches),
    )


def _rules(diagnostics: Iterable[Diagnostic]) -> Iterator[Rule]:
    """Those of findings, the ones first that have most."""
    names = {diagnostic.code: diagnostic.name for diagnostic in diagnostics}
    for code, number in sorted(Counter(d.code for d in diagnostics).items(), key=lambda each: (-each[1], each[0])):
        yield Rule(code, names[code], number)


def _base(result: CheckResult) -> str:
    """The folder that all paths are below, where they are absolute; empty where they are short anyway."""
    paths = {*result.paths, *(kernel.facts.place.path for kernel in result.kernels)}
    if not paths or not all(map(os.path.isabs, paths)):
        return ""
    base = os.path.commonpath([os.path.dirname(path) for path in paths])
    return "" if base == os.path.dirname(base) else base


def _below(written: str, base: str) -> str:
    """With what is below the base called by its path from there."""
    if not base:
        return written
    return re.sub(rf"(?<![\w./-]){re.escape(str(escape(plain.page(base))))}/(?=[^<\s])", "", written)


def _anchors(sections: Iterable[Section]) -> dict[Line, str]:
    """Where each line is shown; one that several kernels show, where the first of them has it."""
    anchors: dict[Line, str] = {}
    for section in sections:
        for line, row in rows_by_line(section.codes).items():
            anchors.setdefault(line, row.anchor)
    return anchors


def _place_findings(groups: Sequence[Group], sections: Sequence[Section], findings: Findings) -> dict[int, str]:
    """Puts each finding below its line, and a link to it below the other lines that it is reported for. Returns the
    anchors of findings, by their identity."""
    everywhere = _anchors(sections)
    shown_at: dict[int, tuple[str, str]] = {}
    taken = Counter[str]()
    for group, section in zip(groups, sections, strict=True):
        rows = rows_by_line(section.codes)
        anchors = {**everywhere, **{line: row.anchor for line, row in rows.items()}}
        races = tuple(race for shown in group.kernels for race in shown.facts.races or ())
        for diagnostic in group.findings:
            anchor = f"{section.anchor}-{diagnostic.code}-L{diagnostic.place.line}"
            taken[anchor] += 1
            anchor += f"-{taken[anchor]}" if taken[anchor] > 1 else ""
            shown_at[id(diagnostic)] = (anchor, diagnostic.code)
            view = findings.view(diagnostic, anchor, anchors, races)
            row = rows.get((diagnostic.place.path, diagnostic.place.line))
            (row.findings if row is not None else section.rest).append(view)
    for group, section in zip(groups, sections, strict=True):
        rows = rows_by_line(section.codes)
        for part, diagnostic in group.parts:
            row = rows.get((part.place.path, part.place.line))
            anchor, code = shown_at[id(diagnostic)]
            pointer = Link(code, anchor, prose(part.message), part.severity, code)
            if row is not None:
                if anchor not in row.anchors:
                    row.pointers.append(pointer)
            elif anchor not in {link.anchor for link in section.pointers} and diagnostic not in group.findings:
                section.pointers.append(pointer)
    return {number: anchor for number, (anchor, _) in shown_at.items()}


def _title(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else count(len(paths), "file")
