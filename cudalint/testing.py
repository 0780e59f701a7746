"""For tests of rules: what a fixture says that the linter must find in it, and whether it does.

    out[i] = t[x][y];  // expect: CL201 "32-way"

    // expect: CL101 "32 sectors" CL201 "2-way"
    // todo-expect: CL104
    a[i] = t[x][y];

An expectation names a code and, in quotes, a part of the message, or of `MESSAGE if CONDITION` for a finding that is
conditional. It refers to its own line, or to the next line of
code when it stands alone. `todo-expect` says what should be found and isn't yet, `todo-drop` what is found and should
not be: finding the one, or missing the other, is a failure too, so that the comment gets corrected. A line may have
several of them, as comments behind one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, cast

from cudalint.diagnostics import Diagnostic
from cudalint.regexes import regex
from cudalint.source.comments import read_comments

_DIRECTIVE = regex(
    r"(?P<kind>(?:todo-)?expect|todo-drop):(?P<items>(?:\s*[A-Z]+\d+(?:\s*\"[^\"]*\")?,?)*)(?P<rest>[^\n]*?)(?=//|\n|$)"
)
_ITEM = regex(r"(?P<code>[A-Z]+\d+)(?:\s*\"(?P<part>[^\"]*)\")?")


class Expectation(NamedTuple):
    line: int
    code: str
    part: str
    """What the message must hold, its condition included; empty for any message."""
    kind: Literal["expect", "todo-expect", "todo-drop"] = "expect"

    def is_met_by(self, diagnostic: Diagnostic) -> bool:
        same_place = (self.line, self.code) == (diagnostic.place.line, diagnostic.code)
        return same_place and self.part in _message(diagnostic)


def _message(diagnostic: Diagnostic) -> str:
    """The message of a finding, with its condition where it has one."""
    return f"{diagnostic.message} if {diagnostic.condition}" if diagnostic.condition else diagnostic.message


def expectations_in(source: str) -> Iterator[Expectation]:
    read = read_comments(source)
    for comment in read.comments:
        for directive in _DIRECTIVE.finditer(comment.text):
            rest = directive["rest"].removesuffix("*/").strip()
            if not directive["items"].strip() or rest:
                raise ValueError(f"line {comment.line}: can't read the expectation `{comment.text}`")
            line = comment.line
            if comment.stands_alone:
                line = read.next_code_line(comment.end_line) or line
            for item in _ITEM.finditer(directive["items"]):
                kind = cast(Literal["expect", "todo-expect", "todo-drop"], directive["kind"])
                yield Expectation(line, item["code"], item["part"] or "", kind)


def differences(source: str, diagnostics: Iterable[Diagnostic]) -> list[str]:
    """What is missing, what is too much, and which `todo-` has come true; one line each."""
    waiting = list(expectations_in(source))
    found: list[str] = []
    for diagnostic in diagnostics:
        met = next((expected for expected in waiting if expected.is_met_by(diagnostic)), None)
        where = f"line {diagnostic.place.line}: {diagnostic.code} {_message(diagnostic)}"
        if met is None:
            found.append(f"unexpected, {where}")
            continue
        waiting.remove(met)
        if met.kind == "todo-expect":
            found.append(f"found at last (make it an `expect`), {where}")
    said = {"expect": "missing", "todo-drop": "gone at last (delete the `todo-drop`)"}
    found += (f'{said[e.kind]}, line {e.line}: {e.code} "{e.part}"' for e in waiting if e.kind in said)
    return found


def differences_in(fixture: Path, rules: Sequence[str]) -> list[str]:
    """Lints a file with these rules, by code or name, and compares with its comments; empty if all is as expected."""
    from cudalint.options.analysis import AnalysisOptions
    from cudalint.registry import Selection
    from cudalint.report.findings.merging import gather
    from cudalint.report.findings.results import FileReport
    from cudalint.run.file_findings import check_file
    from cudalint.run.job import CheckJob

    report = check_file(CheckJob(str(fixture), AnalysisOptions(), Selection(tuple(rules)), pictures=False))
    if not isinstance(report, FileReport):
        return [report.message]
    found = [diagnostic for diagnostic in gather([report]) if diagnostic.place.path == str(fixture)]
    return differences(fixture.read_text(encoding="utf-8"), found)
