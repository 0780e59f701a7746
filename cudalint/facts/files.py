"""Kernels and files: all facts together, and what could not be analysed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from cudalint.facts.accesses import Access
from cudalint.facts.arithmetic import Arithmetic
from cudalint.facts.axes import UnreadAxis
from cudalint.facts.barriers import AbsentLane, Barrier, UnmaskedCall
from cudalint.facts.branches import Branch
from cudalint.facts.clusters import ClusterRace
from cudalint.facts.collectives import CollectiveCall
from cudalint.facts.constants import ConstantLoad
from cudalint.facts.copies import EarlyRead
from cudalint.facts.costs import LaunchCost
from cudalint.facts.faults import Misalignment, OutOfBounds, PitchMismatch
from cudalint.facts.host import HostFacts
from cudalint.facts.launch_faults import LaunchFault, Uncovered
from cudalint.facts.launches import LaunchFacts, ParameterFacts
from cudalint.facts.local_arrays import LocalArray
from cudalint.facts.needs import Need
from cudalint.facts.neighbours import Neighbours
from cudalint.facts.orders import BlockWait, PlainSpin, Publication
from cudalint.facts.overflows import Overflow
from cudalint.facts.places import Place
from cudalint.facts.products import MatrixProduct
from cudalint.facts.races import Race
from cudalint.facts.resources import Occupancy, Resources
from cudalint.facts.reuse import Reuse
from cudalint.facts.uninitialised import Uninitialised
from cudalint.kinds import EVERY_KIND, SHOWN_KINDS, Kinds
from cudalint.numerals import count
from cudalint.reasons import Problem, ReasonKind
from cudalint.shortfalls import Shortfall


class OfLaunches(Protocol):
    """A fact that is reported of one launch and stands for others."""

    @property
    def launch(self) -> int:
        """Their positions among those of their kernel."""

    @property
    def also_in(self) -> tuple[int, ...]: ...


class KernelFacts(Struct, frozen=True, eq=False):
    """All that is known of one instantiation of a kernel."""

    name: str
    instantiation: str
    place: Place
    """From the declaration's first token to the closing brace."""
    name_place: Place
    launches: tuple[LaunchFacts, ...]
    accesses: tuple[Access, ...]
    resources: Resources
    branches: tuple[Branch, ...] | None = None
    barriers: tuple[Barrier, ...] | None = None
    races: tuple[Race, ...] | None = None
    unmasked_calls: tuple[UnmaskedCall, ...] = ()
    absent_lanes: tuple[AbsentLane, ...] = ()
    occupancy: tuple[Occupancy, ...] | None = None
    roofline: None = None
    costs: tuple[LaunchCost, ...] | None = None
    arithmetic: tuple[Arithmetic, ...] = ()
    """What takes more than it has to, in the order of places."""
    reuse: tuple[Reuse, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    constants: tuple[ConstantLoad, ...] = ()
    local_arrays: tuple[LocalArray, ...] = ()
    uninitialised: tuple[Uninitialised, ...] = ()
    waits: tuple[BlockWait, ...] = ()
    spins: tuple[PlainSpin, ...] = ()
    signals: tuple[Publication, ...] = ()
    publications: tuple[Publication, ...] = ()
    early_reads: tuple[EarlyRead, ...] = ()
    cluster_races: tuple[ClusterRace, ...] = ()
    collectives: tuple[CollectiveCall, ...] = ()
    products: tuple[MatrixProduct, ...] = ()
    axes: tuple[UnreadAxis, ...] = ()
    launch_faults: tuple[LaunchFault, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()
    misalignments: tuple[Misalignment, ...] = ()
    out_of_bounds: tuple[OutOfBounds, ...] = ()
    overflows: tuple[Overflow, ...] = ()
    pitches: tuple[PitchMismatch, ...] = ()
    parameters: tuple[ParameterFacts, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What could not be analysed, with the reason (rule CL902)."""
    left_out: tuple[LeftOutLaunches, ...] = ()
    need: Need | None = None
    """What of its code not every GPU has: the strictest."""
    unusable: tuple[UnusableAnnotation, ...] = ()
    asks_block_size: bool = True
    """Whether it, or what it calls, reads `blockDim`. What does not is written for the blocks that it gets."""
    collected: Kinds = EVERY_KIND
    """The kinds of facts that were asked for. Of the others nothing is here, which says nothing."""

    def __repr__(self) -> str:
        """A line, as all of it is pages; `cudalint facts` prints that."""
        said = f"{count(len(self.launches), 'launch', 'launches')}, {count(len(self.accesses), 'access', 'accesses')}"
        return f"<KernelFacts of {self.instantiation or self.name} at {self.place.path}:{self.place.line}: {said}>"

    def cost_of(self, launch: int) -> LaunchCost | None:
        """What a launch costs, given its position among the launches."""
        return next((cost for cost in self.costs or () if cost.launch == launch), None)

    def occupancy_of(self, launch: int) -> Occupancy | None:
        return next((each for each in self.occupancy or () if each.launch == launch), None)

    def launches_of(self, fact: OfLaunches) -> tuple[LaunchFacts, ...]:
        """The launches under which something is there, that which it is reported of first."""
        return tuple(self.launches[index] for index in (fact.launch, *fact.also_in))

    @property
    def is_unasked(self) -> bool:
        """Whether nobody wants it to be evaluated."""
        return any(gap.kind == "unasked" for gap in self.gaps)


def without(facts: KernelFacts, kinds: Kinds) -> KernelFacts:
    """The facts of a kernel without those kinds that were only collected since others need them."""
    if not kinds:
        return facts
    left: dict[str, Any] = {kind: () if kind == "accesses" else None for kind in kinds & SHOWN_KINDS}
    return replace(facts, **left)


class UnusableAnnotation(Struct, frozen=True):
    """An annotation of a kernel that is well formed and says nothing about it."""

    place: Place
    message: str


class LeftOutLaunches(Struct, frozen=True):
    """Launches at one place that were not evaluated, since others of the kernel stand for them."""

    path: str | None
    line: int | None
    launches: int
    is_least: bool = False
    """A loop makes more of them than were followed."""


class Gap(Struct, frozen=True):
    """Something in a kernel that was not analysed."""

    path: str
    line: int
    reason: str
    remedy: str | None = None
    """The annotation or option that would supply it."""
    kind: ReasonKind = "other"
    problem: Problem | None = None
    """Of the front end's, the one that is the reason."""

    @property
    def own_reason(self) -> str:
        """The reason without what all those of the front end begin with."""
        return self.reason if self.problem is None else _placed(self.problem)


def not_resolved(problem: Problem) -> str:
    """Why a kernel is not known in full that has a problem of the front end."""
    return f"the front end could not resolve part of its body: {_placed(problem)}"


def _placed(problem: Problem) -> str:
    return f"{problem.line}:{problem.column}: {problem.message}"


class FileFacts(Struct, frozen=True, eq=False):
    """All that is known of one file."""

    path: str
    status: Literal["ok", "partial", "failed"]
    problems: tuple[Problem, ...] = ()
    kernels: tuple[KernelFacts, ...] = ()
    sources: Mapping[str, str] = {}
    """Paths of the user's files that contributed (the file and its headers), to what they are called."""
    parameters: frozenset[tuple[str, str]] = frozenset()
    """Each kernel with each of its scalar parameters."""
    failures: tuple[Shortfall, ...] = ()
    """What the user asked for and could not be had, and what was left for lack of time; everything else was done."""
    host: HostFacts | None = None
    """What its host code does, if somebody asks."""
    stand_ins: tuple[str, ...] = ()
    """The headers of libraries that the file or its own headers include, of which only this package's stand-ins were
    read."""

    def __repr__(self) -> str:
        return f"<FileFacts of {self.path}: {self.status}, {count(len(self.kernels), 'kernel')}>"
