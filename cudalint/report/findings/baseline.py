"""A baseline: the findings that a project knows of and has put up with, so that only new and worse ones are reported.

A finding is known if the baseline has one of the same identity (file, rule, kernel, source text: no line) whose
figures are at least as bad. One whose text was edited is known if the message is the same in the same kernel, and one
whose file was renamed, if kernel, text and message are. Each entry of the baseline stands for one finding.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.report.findings.identity import Identity, identity_of
from cudalint.report.findings.places import path_from
from cudalint.report.findings.results import SEVERITIES, excess, is_at_least
from cudalint.report.findings.sources import SourceLines
from cudalint.system.disk.documents import DocumentError, json_of
from cudalint.system.disk.regular import read_own
from cudalint.system.disk.replacing import write_whole

_SCHEMA = 1
_TOLERANCE = 1.01
"""Figures that differ by less than a hundredth are the same."""


class BaselineError(ValueError):
    """A file that is no baseline, or can't be read or written."""


class Entry(Struct, frozen=True):
    """A known finding."""

    identity: Identity
    severity: Severity
    message: str
    excess: float

    def is_as_bad_as(self, other: Entry) -> bool:
        return is_at_least(self.severity, other.severity) and self.excess * _TOLERANCE >= other.excess


class Comparison(NamedTuple):
    new: tuple[Diagnostic, ...]
    known: tuple[Diagnostic, ...]
    gone: int
    """Entries of files that were linted, of which nothing is left."""


def write_baseline(path: str, diagnostics: Iterable[Diagnostic], sources: SourceLines) -> int:
    """Writes all findings, in an order and a form that make small differences; returns how many there are."""
    entries = sorted(_entries(diagnostics, sources, path), key=lambda e: (e.identity, e.severity, e.message, e.excess))
    lines = [json.dumps(_as_json(entry), ensure_ascii=False) for entry in entries]
    text = f'{{"schema": {_SCHEMA}, "tool": "cudalint", "findings": [\n' + ",\n".join(lines) + "\n]}\n"
    try:
        write_whole(path, text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise BaselineError(f"{path}: cannot be written: {error.strerror}") from None
    return len(entries)


def load_baseline(path: str) -> tuple[Entry, ...]:
    try:
        # Where a configuration may have it read has been looked at.
        document = json_of(read_own(path), "surrogateescape")
    except FileNotFoundError:
        raise BaselineError(f"{path}: no such file; `--write-baseline {path}` makes it") from None
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror}") from None
    except DocumentError as error:
        raise BaselineError(f"{path}: not a baseline: {error}") from None
    if not isinstance(document, dict) or document.get("tool") != "cudalint":
        raise BaselineError(f"{path}: not a baseline; `--write-baseline FILE` makes one")
    if document.get("schema") != _SCHEMA:
        raise BaselineError(f"{path}: a baseline of another version; write it again with --write-baseline")
    try:
        return tuple(_from_json(found) for found in document["findings"])
    except (KeyError, TypeError, ValueError):
        raise BaselineError(f"{path}: not a baseline: an entry lacks a value; write it again") from None


def compare(
    baseline: Sequence[Entry], diagnostics: Sequence[Diagnostic], sources: SourceLines, path: str,
    linted: Iterable[str], minor: Sequence[Diagnostic] = (),
) -> Comparison:  # fmt: skip
    """What of the findings is new, by the baseline that was loaded from `path`. Those that are `minor` are there, too,
    and nobody is told of them."""
    found = dict(enumerate(_entries(diagnostics, sources, path)))
    left = list(baseline)
    for own in (found, dict(enumerate(_entries(minor, sources, path)))):
        for key in (_same_text, _same_message, _same_but_moved):
            left = _match(left, own, key)
    relative = _relative_to(path)
    files = {relative(file) for file in linted}
    gone = sum(entry.identity.path in files for entry in left)
    known = tuple(diagnostic for index, diagnostic in enumerate(diagnostics) if index not in found)
    return Comparison(tuple(diagnostics[index] for index in found), known, gone)


Key = Callable[[Entry], Hashable]


def _same_text(entry: Entry) -> Hashable:
    return entry.identity


def _same_message(entry: Entry) -> Hashable:
    return entry.identity._replace(text=""), entry.message


def _same_but_moved(entry: Entry) -> Hashable:
    return entry.identity._replace(path=""), entry.message


def _match(entries: Sequence[Entry], found: dict[int, Entry], key: Key) -> list[Entry]:
    """Takes known findings out of `found`, the worst first, each by the mildest entry that will do; returns the
    entries that are left."""
    by_key: dict[Hashable, list[Entry]] = {}
    for entry in sorted(entries, key=_badness):
        by_key.setdefault(key(entry), []).append(entry)
    for index, finding in sorted(found.items(), key=lambda item: _badness(item[1]), reverse=True):
        candidates = by_key.get(key(finding), [])
        fitting = next((entry for entry in candidates if entry.is_as_bad_as(finding)), None)
        if fitting is not None:
            candidates.remove(fitting)
            del found[index]
    return [entry for candidates in by_key.values() for entry in candidates]


def _badness(entry: Entry) -> tuple[int, float]:
    return -SEVERITIES.index(entry.severity), entry.excess


def _entries(diagnostics: Iterable[Diagnostic], sources: SourceLines, path: str) -> list[Entry]:
    relative = _relative_to(path)
    return [
        Entry(identity_of(d, sources, relative), d.severity, d.message, round(excess(d), 4)) for d in diagnostics
    ]


def _relative_to(path: str) -> Callable[[str], str]:
    """Paths in a baseline count from its own folder on."""
    return partial(path_from, os.path.realpath(os.path.dirname(os.path.abspath(path))))


def _as_json(entry: Entry) -> dict[str, object]:
    values = {"severity": entry.severity, "message": entry.message, "excess": entry.excess}
    return {**entry.identity._asdict(), **values}


def _from_json(found: dict[str, Any]) -> Entry:
    identity = Identity(*(str(found[name]) for name in Identity._fields))
    severity = found["severity"]
    if severity not in SEVERITIES:
        raise ValueError(severity)
    return Entry(identity, severity, str(found["message"]), float(found["excess"]))
