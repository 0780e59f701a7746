"""JUnit's XML: a suite for each file, with a case for each finding, or one that passed.

Findings that don't fail a run (`--fail-on`) are cases that passed and say something.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.regexes import regex
from cudalint.report.findings.results import CheckResult, Failure, is_at_least
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import plain, wording
from cudalint.report.formats.presentation import Presentation

_NOT_XML = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""XML 1.0, section 2.2: characters that no document may contain, not even escaped."""


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    root = Element("testsuites", name="cudalint")
    by_path: dict[str, list[Diagnostic]] = {path: [] for path in result.paths}
    for diagnostic in result.diagnostics:
        by_path.setdefault(diagnostic.place.path, []).append(diagnostic)
    for failure in result.failures:
        _failed_suite(root, failure)
    for path in sorted(by_path):
        _suite(root, path, by_path[path], shown.fail_on)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield tostring(root, encoding="unicode")


def _suite(root: Element, path: str, diagnostics: Sequence[Diagnostic], fail_on: Severity) -> None:
    failing = sum(is_at_least(diagnostic.severity, fail_on) for diagnostic in diagnostics)
    cases = max(1, len(diagnostics))
    suite = SubElement(root, "testsuite", name=_clean(path), tests=str(cases), failures=str(failing), errors="0")
    if not diagnostics:
        SubElement(suite, "testcase", name="cudalint", classname=_clean(path))
    for diagnostic in diagnostics:
        _case(suite, diagnostic, is_at_least(diagnostic.severity, fail_on))


def _case(suite: Element, diagnostic: Diagnostic, fails: bool) -> None:
    place = diagnostic.place
    name = f"{diagnostic.code} {diagnostic.name} at {place.line}:{place.column}"
    case = SubElement(suite, "testcase", name=name, classname=_clean(place.path), file=_clean(place.path))
    case.set("line", str(place.line))
    where = f"{place.path}:{place.line}:{place.column}"
    text = _clean("\n".join((f"{where}: {diagnostic.message}", *wording.explanation(diagnostic))))
    if fails:
        SubElement(case, "failure", message=_clean(diagnostic.message), type=diagnostic.severity).text = text
    else:
        SubElement(case, "system-out").text = text


def _failed_suite(root: Element, failure: Failure) -> None:
    is_error = failure.severity == "error"
    suite = SubElement(root, "testsuite", name=_clean(failure.path), tests="1", failures="0")
    suite.set("errors", str(int(is_error)))
    case = SubElement(suite, "testcase", name="cudalint", classname=_clean(failure.path))
    if not is_error:
        SubElement(case, "skipped", message=_clean(failure.message))
        return
    SubElement(case, "error", message=_clean(failure.message), type="not-linted").text = _clean(failure.message)


def _clean(text: str) -> str:
    return plain.xml(_NOT_XML.sub("\ufffd", text))
