"""Diagnostics: what a rule reports, in the shape of `cudalint check --format json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cudalint.facts import LaunchFacts, Place, Sample

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains the finding."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text at `place` by `text`."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that the model has tried: `before` and `after` hold the same figures for both versions."""

    message: str
    edits: tuple[Edit, ...] = ()
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What a reporter can draw: one warp-level request of the access."""

    kind: Literal["banks", "sectors"]
    sample: Sample
    request: int
    """Which request of the sample."""
    bytes: int


@dataclass(frozen=True, slots=True)
class Justification:
    """Why a finding is not reported: the annotation that allows it."""

    place: Place
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Diagnostic:
    code: str
    name: str
    severity: Severity
    place: Place
    message: str
    kernel: str
    instantiation: str
    launches: tuple[LaunchFacts, ...] = ()
    assumptions: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    related: tuple[Related, ...] = ()
    suggestion: Suggestion | None = None
    picture: Picture | None = None
    variants: tuple[Diagnostic, ...] = ()
    """The same finding under other launches or instantiations, where its figures differ; worst first."""
    justification: Justification | None = None
    """Set for findings that an annotation allows; formats that know of such list them."""
