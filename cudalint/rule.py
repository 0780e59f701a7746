"""What a rule is: a small class with a code, a name, a severity, a documentation page and a check.

A rule sees the facts of one kernel at a time and yields diagnostics. The engine knows no single rule: it
imports every module of each package that the entry point group `cudalint.rules` names and takes the `Rule`
subclasses defined there. The class's docstring is the rule's page (what it does, why it is bad, example).

Rules about annotations (unused suppressions and the like) see no kernel but what became of a file's annotations;
they are `AnnotationRule`s, which differ from other rules in what their check is given and in nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, TypedDict, Unpack

from msgspec import Struct, field

from cudalint.diagnostics import Diagnostic, HeldBack, Picture, Related, Severity, Suggestion
from cudalint.facts import FileFacts, KernelFacts, LaunchFacts, Place
from cudalint.hardware.targets import Target
from cudalint.kinds import EVERY_KIND, NO_KIND, Kinds
from cudalint.options.suppressions import AnnotationReview


class RuleContext(Struct, frozen=True):
    """What a check may use beside the kernel's facts."""

    file: FileFacts
    target: Target
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The user's settings for this rule, by the rule's own option names."""
    text_of: Callable[[str], str] = lambda path: ""
    """The text of a source by its path, for edits; empty where there is none."""


class RuleBase(ABC):
    """What all rules have: a code, a name, a severity and a page."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    """One line for `cudalint rules`."""
    on_by_default: ClassVar[bool] = True
    judges_by_target: ClassVar[bool] = False
    """Whether its findings depend on the sizes and limits of the GPU."""
    is_waste: ClassVar[bool] = False
    """Whether its findings are about time that a kernel loses, and not about what it computes: they are reported with
    what they cost, and left out where that is little."""
    thresholds: ClassVar[Mapping[str, float]] = {}
    """The rule's options and their default values."""
    relative: ClassVar[tuple[str, ...]] = ()
    """Those of them under which a finding is too little beside the rest of its kernel to be reported."""
    reads: ClassVar[Kinds] = EVERY_KIND
    """The kinds of facts that it looks at. Of others nothing is there unless another rule needs them."""
    guide: ClassVar[tuple[str, ...]] = ()
    """The pages of the guide behind it, as `cudalint.guide` names them."""
    by_hand: ClassVar[str] = ""
    """Why its findings come without an edit where a finding has no reason of its own, in one clause."""

    def limits(self, context: RuleContext) -> Mapping[str, float]:
        """The rule's thresholds, as the user has set them."""
        return {**self.thresholds, **context.thresholds}

    def finding(
        self,
        kernel: KernelFacts | None,
        *,
        place: Place,
        message: str,
        severity: Severity | None = None,
        suggestion: Suggestion | None = None,
        no_edit: str = "",
        **more: Unpack[More],
    ) -> Diagnostic:
        """A diagnostic of this rule, of the rule's severity unless another one is given; `kernel` is None where it is
        about none. `more` are other fields of a `Diagnostic`."""
        return Diagnostic(
            self.code, self.name, severity or self.severity, place, message,
            kernel=kernel.name if kernel is not None else "",
            instantiation=kernel.instantiation if kernel is not None else "",
            kernel_place=kernel.place if kernel is not None else None,
            suggestion=suggestion,
            no_edit=_why_by_hand(suggestion, no_edit or self.by_hand),
            **more,
        )  # fmt: skip


class More(TypedDict, total=False):
    """What a rule may say of a finding beyond its place and message: `cudalint.diagnostics.Diagnostic` explains it."""

    launches: tuple[LaunchFacts, ...]
    assumptions: tuple[str, ...]
    figures: Mapping[str, float]
    related: tuple[Related, ...]
    picture: Picture | None
    causes: tuple[str, ...]
    about: str
    worded: str
    headline: str
    part_of: str
    held_back: HeldBack | None
    condition: str
    is_example: bool
    kept: str
    habit: str


def _why_by_hand(suggestion: Suggestion | None, reason: str) -> str:
    if suggestion is None:
        return reason
    return "" if suggestion.edits else suggestion.no_edit or reason


class Rule(RuleBase):
    """A rule about kernels."""

    @abstractmethod
    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        """Yields the rule's findings in one kernel."""

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        """Yields what the rule has to say about the file as a whole; most have nothing."""
        return iter(())


class AnnotationRule(RuleBase):
    """A rule about the annotations of one source file."""

    reads = NO_KIND

    @abstractmethod
    def check(self, review: AnnotationReview) -> Iterator[Diagnostic]:
        """Yields the rule's findings among one file's annotations."""
