"""Diagnostics: what a rule reports, in the shape of `cudalint check --format json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct, field

from cudalint.facts import FindingCost, LaunchFacts, Place, Sample

Severity = Literal["error", "warning", "info"]
Certainty = Literal["certain", "likely", "conditional"]
"""How sure a finding is: see `findings/showing.py`, where the rule stands."""
HeldBack = Literal["small", "unknown", "few", "conditional", "no-action"]
"""Why a finding is counted and not shown, unless everything is asked for: it takes little of its kernel; nothing says
what it takes; it is there in few of its kernel's launches and instantiations; it is a requirement of it; whoever reads
it can do nothing about it."""


class Worlds(NamedTuple):
    """How many of the launches and instantiations of its kernel that were evaluated a finding holds in."""

    held: int = 1
    tried: int = 1


class Related(Struct, frozen=True):
    """Another place that explains the finding."""

    place: Place
    message: str


class Edit(Struct, frozen=True):
    """Replace the text at `place` by `text`."""

    place: Place
    text: str


Applicability = Literal["safe", "unsafe", "display"]
"""What edits do to the program: it behaves as before, as far as everything in sight shows; its author has to look; or
there are none, and the suggestion is in words."""


class Suggestion(Struct, frozen=True):
    """A change that the model has tried: `before` and `after` hold the same figures for both versions.

    A rule says the best that its edits can be; `fixes/proof.py` says what they are.
    """

    message: str
    edits: tuple[Edit, ...] = ()
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)
    applicability: Applicability = "display"
    no_edit: str = ""
    """Why there are none, in one clause."""
    otherwise: Suggestion | None = None
    """What is said, in words, where the edits turn out not to hold."""
    rewrites: bool = False
    """Whether its edits spell accesses anew, or others in their place: then arrays are compared and not accesses."""
    relaunches: bool = False
    """Whether its edits launch other blocks, as many threads as before or a few more, or give them more shared memory.
    """
    of_launches: bool = False
    """Whether its edits change nothing outside of its kernel but the launches of that."""
    drops_tail: bool = False
    """Whether its edits let threads of the last blocks leave; all others do what they did."""
    moves_data: bool = False
    """Whether data would have to lie in another way, wherever they come from."""


class Picture(Struct, frozen=True, eq=False):
    """What a reporter can draw: one warp-level request of the access."""

    kind: Literal["banks", "sectors"]
    sample: Sample
    request: int
    """Which request of the sample."""
    bytes: int
    """That a lane moves."""
    taken: float = 0.0
    """Wavefronts or sectors that the request takes."""


class Justification(Struct, frozen=True):
    """Why a finding is not reported: the annotation that allows it."""

    place: Place
    reason: str


class Diagnostic(Struct, frozen=True, eq=False):
    code: str
    name: str
    severity: Severity
    place: Place
    message: str
    kernel: str
    instantiation: str
    launches: tuple[LaunchFacts, ...] = ()
    kernel_place: Place | None = None
    """The text of its kernel; None where it is about none."""
    assumptions: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    related: tuple[Related, ...] = ()
    suggestion: Suggestion | None = None
    picture: Picture | None = None
    variants: tuple[Diagnostic, ...] = ()
    """The same finding under other launches or instantiations, where its figures differ; worst first."""
    not_in: tuple[str, ...] = ()
    """Instantiations of its kernel that were evaluated without a gap, and in which nothing of it was found."""
    causes: tuple[str, ...] = ()
    """What it has in common with others of its rule, wherever in a run they stand: those that share one of these are
    reported as one finding (`causes.py`), as those at one place are anyway."""
    about: str = ""
    """The array that the message is about, where others of one cause may be about others."""
    worded: str = ""
    """The message with the names of its figures in braces, for rules whose figures may be reported as ranges."""
    headline: str = ""
    """What is reported in place of this one and of all that share a cause with it, but where each is asked for: then
    nothing but causes brings findings together."""
    also: tuple[Diagnostic, ...] = ()
    """Others of the same cause, which this one stands for."""
    is_headline: bool = False
    """Whether its message is that one, and `also` has all that it is reported for."""
    cost: FindingCost | None = None
    """What it takes of its kernel; None for findings that are not about time."""
    condition: str = ""
    """What has to hold of a number that nothing in sight gives for it to be there (`s00 > 1`), or, of what a kernel
    requires, what has to hold for it not to be; empty where it doesn't depend on any."""
    is_example: bool = False
    """Whether the condition has one of several sizes for which it is there (`n == 1`)."""
    kept: str = ""
    """That recorded launches keep the condition, in words."""
    separated_by: str = ""
    """What separates the recorded launches that it is there in from the others."""
    worlds: Worlds = Worlds()
    held_back: HeldBack | None = None
    """Why it is only counted, where it is."""
    habit: str = ""
    """How its code goes about it: what does the same in other kernels of the file is reported with it."""
    part_of: str = ""
    """Parts of the same are one finding of their kernel, unless an annotation allows some of them."""
    no_edit: str = ""
    """Why no edit comes along, in one clause; empty where one does, and where nobody can tell."""
    justification: Justification | None = None
    """Set for findings that an annotation allows; formats that know of such list them."""

    def __repr__(self) -> str:
        """A line, as the format `concise` has it; the figures, the launches and the advice are in its fields."""
        place = self.place
        return f"<{self.code} {self.name} at {place.path}:{place.line}:{place.column}: {self.message}>"

    @property
    def occurrences(self) -> int:
        """How many findings it stands for."""
        return len(self.also) + (not self.is_headline)
