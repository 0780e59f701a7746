"""`--history FILE`: a line for each run in a file, and what has changed since the last one like it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Struct, field

from cudalint.diagnostics import Diagnostic
from cudalint.numerals import count
from cudalint.project.revisions import head_of
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.results import CheckResult, Failure
from cudalint.report.formats.costs import duration
from cudalint.report.formats.losses import losses
from cudalint.system.disk.regular import read_own

_SCHEMA: Final = 1
_MOST_BYTES: Final = 64 << 20


class HistoryError(ValueError):
    """A file that is no history, or can't be read; the message is one line."""


class Entry(Struct, frozen=True):
    """What a run came to."""

    date: str
    """In UTC."""
    target: str
    paths: tuple[str, ...]
    """As they were named."""
    files: int
    kernels: int
    errors: int
    warnings: int
    infos: int
    rules: Mapping[str, int]
    """How often each found something that is reported."""
    lost_us: float
    """Of the kernels with findings, one launch of each, what the time model says that would go away without them, be
    they in a baseline or not. Launches whose sizes nothing gives have no time."""
    losing_kernels: int
    """With such a time."""
    failures: int
    revision: str | None = None
    """Of git, which the work tree may have gone on from."""
    schema: int = _SCHEMA
    held_back: Mapping[str, int] = field(default_factory=dict)
    """Findings that are only counted, by the reason."""
    known: Mapping[str, int] = field(default_factory=dict)
    """How often each rule found what a baseline has, which is not among those that are reported."""
    untimed: int = 0
    """Findings, known ones too, that cost time, and nothing says how much: the sizes of their launches are open."""
    scope: tuple[str, ...] = ()
    """The options that left a part of these files, or of the rules, out; empty for a run that tells of all."""

    @property
    def findings(self) -> int:
        return self.errors + self.warnings + self.infos

    def is_like(self, other: Entry) -> bool:
        """Whether both are about the same part of the same files, judged by the same GPU."""
        return (self.target, self.paths, self.scope) == (other.target, other.paths, other.scope)


def entry_of(result: CheckResult, paths: Sequence[str], scope: Sequence[str] = ()) -> Entry:
    found = (*result.diagnostics, *result.known)
    losing = [loss for loss in losses(everything_in(found)) if not loss.kernel.is_nominal]
    return Entry(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        target=result.target,
        paths=tuple(paths),
        files=result.files,
        kernels=len(result.coverage.kernels),
        errors=result.count("error"),
        warnings=result.count("warning"),
        infos=result.count("info"),
        rules=_by_rule(result.diagnostics),
        lost_us=round(sum(loss.saved for loss in losing), 3),
        losing_kernels=len(losing),
        failures=len(result.failures),
        revision=head_of(paths[0]) if paths else None,
        held_back=dict(sorted(Counter(str(diagnostic.held_back) for diagnostic in result.minor).items())),
        known=_by_rule(result.known),
        untimed=sum(map(_has_no_time, found)),
        scope=tuple(scope),
    )


def _has_no_time(diagnostic: Diagnostic) -> bool:
    kernel = diagnostic.cost.kernel if diagnostic.cost is not None else None
    return kernel is not None and kernel.is_nominal


def _by_rule(diagnostics: Sequence[Diagnostic]) -> Mapping[str, int]:
    return dict(sorted(Counter(diagnostic.code for diagnostic in diagnostics).items()))


def read_history(path: str) -> list[Entry]:
    """The runs that a file tells of, the oldest first; none where there is no file. Raises HistoryError."""
    try:
        data = read_own(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HistoryError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST_BYTES:
        raise HistoryError(f"{path}: not a history that --history has written: it is too large")
    found: list[Entry] = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=Entry))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise HistoryError(f"{path}: line {number} is none that --history has written") from None
    return found


def append(path: str, entry: Entry) -> Failure | None:
    """Adds a line; why it can't be where it can't."""
    line = json.dumps(msgspec.to_builtins(entry), ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
    try:
        with open(path, "ab") as file:
            file.write(line)
    except OSError as error:
        return Failure(path, f"the history cannot be written: {error.strerror or error}")
    return None


def change_lines(entry: Entry, before: Sequence[Entry]) -> Iterator[str]:
    """What has changed since the last run of the same part of the same paths for the same GPU."""
    if entry.scope:
        yield f"In the history as a part of these paths only, beside other runs with {' '.join(entry.scope)}"
    last = next((each for each in reversed(before) if each.is_like(entry)), None)
    if last is None:
        of = "this part of these paths" if entry.scope else "these paths"
        yield f"No earlier run of {of} for this GPU in the history"
        return
    revision = f", {last.revision[:10]}" if last.revision else ""
    yield f"Since {last.date[: len('2000-01-01')]}{revision}: {_findings(last, entry)}"
    yield from _changed(last.rules, entry.rules, "")
    yield from _changed(last.known, entry.known, " in the baseline")
    if max(last.lost_us, entry.lost_us) > 0:
        lost = f"{_time(last.lost_us)} -> {_time(entry.lost_us)}"
        kernels = f"{count(last.losing_kernels, 'kernel')} then and {entry.losing_kernels} now"
        yield f"  time lost by the model, with one launch of each kernel: {lost} ({kernels} lose any)"
    if max(last.untimed, entry.untimed) > 0:
        without = f"{count(last.untimed, 'finding')} then and {entry.untimed} now"
        yield f"  without a time, as nothing gives the sizes of their launches: {without}"


def _changed(old: Mapping[str, int], new: Mapping[str, int], where: str) -> Iterator[str]:
    for code in sorted({*old, *new}):
        if old.get(code, 0) != new.get(code, 0):
            yield f"  {code}  {old.get(code, 0)} -> {new.get(code, 0)}{where}"


def _findings(old: Entry, new: Entry) -> str:
    if old.findings == new.findings:
        return f"{count(new.findings, 'finding')}, as before"
    return f"{old.findings} -> {count(new.findings, 'finding')}"


def _time(microseconds: float) -> str:
    return duration(microseconds) if microseconds else "none"


def check_place(path: str) -> None:
    """Raises HistoryError where no file can be, before any work is done."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise HistoryError(f"{path}: there is no folder {folder}")
    if os.path.isdir(path):
        raise HistoryError(f"{path}: it is a folder")
