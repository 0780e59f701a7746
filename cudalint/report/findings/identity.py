"""What makes a finding the same one after the code around it has moved: its file, rule, kernel and source text."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cudalint.diagnostics import Diagnostic
from cudalint.report.findings.places import text_at
from cudalint.report.findings.sources import SourceLines

_LONGEST = 200


class Identity(NamedTuple):
    """Lines and columns are no part of it, nor are figures. Several findings of a kernel may share one."""

    path: str
    code: str
    kernel: str
    text: str
    """The source that the finding is about, without spaces; the start of it, if it is long."""


def identity_of(diagnostic: Diagnostic, sources: SourceLines, relative: Callable[[str], str]) -> Identity:
    """`relative` gives the path as it is to be compared."""
    text = text_at(diagnostic.place, sources)[:_LONGEST]
    return Identity(relative(diagnostic.place.path), diagnostic.code, diagnostic.kernel, text)


def fingerprints(
    diagnostics: Iterable[Diagnostic], sources: SourceLines, relative: Callable[[str], str]
) -> list[str]:
    """A short text for each finding, different for different findings of a run, and the same from run to run."""
    seen: Counter[Identity] = Counter()
    found = []
    for diagnostic in diagnostics:
        identity = identity_of(diagnostic, sources, relative)
        seen[identity] += 1
        data = "\0".join((*identity, str(seen[identity]))).encode("utf-8", "surrogateescape")
        found.append(hashlib.sha256(data).hexdigest()[:32])
    return found
