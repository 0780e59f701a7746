"""What is wrong with a file, in terms by which it is recognised in a shorter one."""

from __future__ import annotations

import os

from msgspec import Struct

from cudalint.cli.reducing.pieces import renamed, without_comments
from cudalint.regexes import regex
from cudalint.report.findings.results import Failure, FileReport
from cudalint.source.lines import Lines

_PARTICULARS = regex(r"`[^`]*`|\([^()]*\)|\d+(?:\.\d+)?")
_ABOUT_THE_CODE = "CL904"


class Fault(Struct, frozen=True):
    """A finding on a line, or that the file can't be linted."""

    code: str = ""
    """Of the finding; empty for a failure."""
    line: str = ""
    """The text of the finding's line, without comments."""
    failure: str = ""
    """What the failure says, without names and numbers."""
    message: str = ""
    """As the user saw it."""
    is_whole: bool = False
    """Nothing in the file was unknown: nothing may be in what is left of it, or it may be another fault."""

    def is_shown_by(self, answer: FileReport | Failure, data: str, names: dict[str, str] | None = None) -> bool:
        """Whether linting a text came to the same; `names` are those that have changed in it."""
        if not self.code:
            return any(_general(message) == self.failure for message in failures_of(answer))
        if isinstance(answer, Failure) or (self.is_whole and answer.status != "ok"):
            return False
        codes = {diagnostic.code for diagnostic in answer.diagnostics}
        if _ABOUT_THE_CODE in codes and self.code != _ABOUT_THE_CODE:
            return False
        wanted = _squeezed(renamed(self.line, names or {}))
        lines = Lines(data)
        return any(
            diagnostic.code == self.code and _squeezed(without_comments(lines.line(diagnostic.place.line))) == wanted
            for diagnostic in answer.diagnostics
            if os.path.realpath(diagnostic.place.path) == os.path.realpath(answer.path)
        )


def fault_in(answer: FileReport | Failure, data: str, line: int | None, rule: str | None) -> Fault | None:
    """What a report is about: that the file can't be linted, or else the first finding on the line and of the rule that
    are asked for. None where there is no such thing."""
    messages = failures_of(answer)
    if messages and rule is None and line is None:
        return Fault(failure=_general(messages[0]), message=messages[0])
    if isinstance(answer, Failure):
        return None
    lines = Lines(data)
    for diagnostic in answer.diagnostics:
        place = diagnostic.place
        is_here = os.path.realpath(place.path) == os.path.realpath(answer.path) and place.line <= len(lines)
        is_meant = rule is None or rule.lower() in (diagnostic.code.lower(), diagnostic.name)
        if is_here and is_meant and (line is None or place.line <= line <= place.end_line):
            text = without_comments(lines.line(place.line))
            whole = answer.status == "ok"
            return Fault(diagnostic.code, text, "", f"{diagnostic.code}: {diagnostic.message}", whole)
    return None


def failures_of(answer: FileReport | Failure) -> tuple[str, ...]:
    """What could not be done, for the file or in it."""
    if isinstance(answer, Failure):
        return (answer.message,)
    return tuple(each.message for each in answer.failures)


def _general(message: str) -> str:
    return _PARTICULARS.sub("", message)


def _squeezed(line: str) -> str:
    return "".join(line.split())
