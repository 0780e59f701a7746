"""Comments that allow findings, written above their lines: for code that somebody has looked at and leaves as it is.

Comments change no program, so nothing is tried before they are written. But what of a finding stands on other lines is
seen only when its first line is allowed; therefore there are several passes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.facts import Place
from cudalint.fixes.edits import apply_edits
from cudalint.frontend.python.detect import SUFFIX as PYTHON_SUFFIX
from cudalint.options.annotations import Annotation, AnnotationKind, read_annotations
from cudalint.project.discovery import SourceFile
from cudalint.report.findings.results import CheckResult, Failure, FileReport
from cudalint.run.fixing.writing import Change, Grounds, write_together
from cudalint.run.runs import Configured, Lint
from cudalint.source.lines import Lines
from cudalint.system.disk.encoding import to_bytes, to_text
from cudalint.system.disk.regular import read_regular

MOST_PASSES = 5
OF_ANNOTATIONS = ("CL901", "CL903")
"""What is wrong with an annotation is to be mended and not to be allowed."""

Shown = Callable[[Sequence[FileReport], Sequence[Failure]], CheckResult]
"""Puts reports together, and leaves what the user wants to hear of."""


class Allowed(Struct, frozen=True):
    """What has come of it."""

    result: CheckResult
    """What is left."""
    lines: int
    """How many comments were written."""
    refused: tuple[Failure, ...]
    """Places that have none, and why."""


def problem_of_reason(reason: str) -> str | None:
    """Why a text is no reason that a comment can give."""
    if not reason.strip():
        return "is empty; it says to whoever reads the code why this is fine"
    if not reason.isprintable():
        return "has to be one line of text"
    return "ends in what continues a line" if reason.rstrip().endswith(("\\", "??/")) else None


def allow(
    configured: Sequence[Configured],
    lint: Lint,
    reason: str,
    grounds: Grounds,
    shown: Shown,
    moved: Callable[[Sequence[Edit]], None],
) -> Allowed:
    """Writes a comment for all findings that are shown. `moved` is given the edits of each pass before what they change
    is linted again."""
    first, failures = lint.reports(configured)
    reports = {report.path: report for report in first}
    refused: dict[tuple[str, int], Failure] = {}
    lines = 0
    result = shown(list(reports.values()), failures)
    for _ in range(MOST_PASSES):
        written: list[Edit] = []
        for path, findings in _by_file(result.diagnostics).items():
            edits, problems = _written(path, findings, reason.strip(), grounds)
            written += edits
            refused |= problems
        if not written:
            break
        lines += len(written)
        moved(written)
        changed = {os.path.realpath(edit.place.path) for edit in written}
        concerned = {path for path, r in reports.items() if changed & {os.path.realpath(path), *r.sources}}
        again, others = lint.reports([_alone(each) for each in configured if each.file.path in concerned])
        reports = {path: report for path, report in reports.items() if path not in concerned}
        reports |= {report.path: report for report in again}
        failures = [*failures, *others]
        result = shown(list(reports.values()), failures)
    return Allowed(result, lines, tuple(refused.values()))


def _alone(each: Configured) -> Configured:
    file: SourceFile = replace(each.file, is_optional=False)
    return each._replace(file=file)


def _by_file(diagnostics: Iterable[Diagnostic]) -> Mapping[str, list[Diagnostic]]:
    found: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.code not in OF_ANNOTATIONS:
            found.setdefault(diagnostic.place.path, []).append(diagnostic)
    return found


def _written(
    path: str, findings: Sequence[Diagnostic], reason: str, grounds: Grounds
) -> tuple[list[Edit], dict[tuple[str, int], Failure]]:
    """The comments that were written into a file, and the lines that have none."""
    by_line: dict[int, dict[str, None]] = {}
    for finding in findings:
        by_line.setdefault(finding.place.line, {})[finding.name] = None
    problem = grounds.problem_of(path)
    if path.endswith(PYTHON_SUFFIX):
        problem = "kernels in Python have their comments written by hand"
    if problem is not None:
        return [], {(path, 0): Failure(path, problem)}
    try:
        before = read_regular(path)
    except OSError as error:
        return [], {(path, 0): Failure(path, f"cannot be read: {error.strerror or error}")}
    text = original = to_text(before)
    edits: list[Edit] = []
    refused: dict[tuple[str, int], Failure] = {}
    # From the last line on, so that the numbers of the others stay what they are.
    for line in sorted(by_line, reverse=True):
        edit = comment_above(path, text, line, tuple(by_line[line]), reason)
        if edit is None:
            refused[path, line] = Failure(f"{path}:{line}", "no comment of its own can stand above this line")
        else:
            edits.append(edit)
            text = apply_edits(text, [edit])
    if text != original:
        failure = write_together({path: Change(before, to_bytes(text))})
        if failure is not None:
            return [], {(path, 0): Failure(*failure)}
    return edits, refused


def comment_above(path: str, text: str, line: int, names: tuple[str, ...], reason: str) -> Edit | None:
    """A comment of its own above a line; None where it would be none, or would be one for another line: in a string, in
    the middle of a macro, above a directive."""
    found = _commented("allow", path, text, line, names, reason)
    return found[0] if found is not None and found[1].target_line == line + 1 else None


def comment_for(
    kind: AnnotationKind, path: str, text: str, line: int, names: tuple[str, ...], reason: str
) -> Edit | None:
    """A comment above a line, for all of the kernel that begins there or of the file; None where it would be none."""
    found = _commented(kind, path, text, line, names, reason)
    return found[0] if found is not None and (kind == "allow-file" or found[1].target_line == line + 1) else None


def _commented(
    kind: AnnotationKind, path: str, text: str, line: int, names: tuple[str, ...], reason: str
) -> tuple[Edit, Annotation] | None:
    """A comment of its own above a line, and the one annotation that it adds."""
    lines = Lines(text)
    if line > len(lines) or (line > 1 and lines.line(line - 1).rstrip("\r").endswith("\\")):
        return None
    indent = re.match(r"[ \t]*", lines.line(line))
    end = "\r" if lines.line(line).endswith("\r") else ""
    comment = f"{indent[0] if indent else ''}// cudalint: {kind}({', '.join(names)}) -- {reason}{end}\n"
    edit = Edit(Place(path, line, 1, line, 1), comment)
    old, new = _annotations(text), _annotations(apply_edits(text, [edit]))
    own = [a for a in new if a.line == line and a.kind == kind and a.arguments == names and a.reason == reason]
    if len(own) != 1 or not own[0].stands_alone or len(new) != len(old) + 1:
        return None
    return edit, own[0]


def _annotations(text: str) -> Sequence[Annotation]:
    return read_annotations(text).annotations
