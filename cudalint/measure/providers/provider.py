"""What a provider of facts is: it says which kind it collects and which others it needs, is shown every execution of a
kernel under a launch, and puts what it has found into the kernel's facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, ClassVar, Protocol, Self, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, LaunchFacts
from cudalint.facts.files import OfLaunches
from cudalint.hardware.targets import Target
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, bits_of, render
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind, Kinds
from cudalint.launches.configuration import Block, Configuration
from cudalint.launches.open_sizes import open_sizes
from cudalint.launches.variants import another_use, other_blocks
from cudalint.measure.executed import Compiled, Executed, InWorlds, execute, in_worlds
from cudalint.measure.work.counts import Work
from cudalint.measure.work.lengths import Lengths
from cudalint.options.analysis import AnalysisOptions
from cudalint.reasons import ReasonKind
from cudalint.system.processes.deadline import Deadline

K = TypeVar("K")
T = TypeVar("T", bound=OfLaunches)
_FURTHER_STEPS = 50_000
"""Of all that a launch is executed for again, about a second: a kernel that takes much is executed once or twice more,
in another block or with a barrier, and what is not tried then is not claimed."""


class Subject(Protocol):
    """The kernel that facts are collected of, which can be executed again in other ways."""

    graph: Graph
    function: ir.Function
    options: AnalysisOptions
    right_pitches: set[object]
    """What other analyses of the file found no wrong pitch in (`collect.pitches`)."""

    @property
    def target(self) -> Target:
        """The GPU that it is judged by."""

    @property
    def until(self) -> Deadline:
        """When the time for the kernel is used up."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing of it so far."""

    def is_over(self) -> bool:
        """Whether the time for the file is used up."""

    def has_gap(self, reason: str, kind: ReasonKind) -> None:
        """Notes that something of it was not analysed."""

    def has_part(self, launch: int, kinds: Kinds) -> None:
        """Notes that facts of some kinds may be missing under a launch."""


class Run(Struct, eq=False):
    """One launch of the kernel, executed."""

    subject: Subject
    index: int
    """Its place among the kernel's launches."""
    configuration: Configuration
    launch: LaunchFacts
    chosen: InWorlds
    """All worlds of it."""
    compiled: Compiled
    """What functions of the file were compiled to."""
    statements: Sequence[Node] = ()
    """What users say of the launch."""
    begun: int = 0
    """The steps of all executions until this one was done."""
    _another: InWorlds | None = None
    """As it might be launched with as well."""
    _lengths: Lengths | None = None
    _work: dict[int, Work] = field(default_factory=dict)

    @property
    def executed(self) -> Executed:
        """Its execution in all worlds."""
        return self.chosen.executed

    def may_be_tried(self) -> bool:
        """Whether it may be executed once more in another way."""
        return self.compiled.steps - self.begun <= _FURTHER_STEPS and not self.subject.is_over()

    def changed(self, function: ir.Function) -> Executed:
        """A variant of the kernel in the same worlds."""
        return execute(function, self.executed.batch, self.compiled, self.subject.until)

    def with_block(self, block: Block) -> Executed:
        """The kernel in the same worlds, in other blocks."""
        batch = replace(self.executed.batch, block=block)
        return execute(self.subject.function, batch, self.compiled, self.subject.until)

    def elsewhere(self, function: ir.Function | None = None) -> Executed:
        """The kernel, or a variant of it, as it might be launched with as well: with any arguments, in another block.
        """
        if self._another is None:
            subject = self.subject
            self._another = in_worlds(
                another_use(self.configuration, subject.function, subject.graph), subject.function, subject.graph,
                self.statements, subject.target, self.compiled, subject.until,
            )  # fmt: skip
        executed = self._another.executed
        return executed if function is None else execute(function, executed.batch, self.compiled, self.subject.until)

    def with_statements(self, statements: Sequence[Node]) -> InWorlds:
        """The launch in all worlds in which some more is stated. A number that the program has by default is open where
        something is stated of it."""
        subject = self.subject
        return in_worlds(
            self.configuration, subject.function, subject.graph, (*self.statements, *statements), subject.target,
            self.compiled, subject.until,
        )  # fmt: skip

    def with_other_blocks(self, *blocks: Block) -> Iterator[Executed]:
        """The same worlds with these blocks, and with others that a block that nobody gives may be."""
        function = self.subject.function
        for block in (*blocks, *other_blocks(replace(self.configuration, source="default"), function)):
            yield self.with_block(block)

    @property
    def lengths(self) -> Lengths:
        """How long loops are taken for in its first world, of which nothing in sight says that."""
        if self._lengths is None:
            self._lengths = self.executed.lengths(open_sizes(self.configuration, self.subject.graph))
        return self._lengths

    def work(self, world: int = 0) -> Work:
        """Instructions and operations of one of its worlds."""
        if world not in self._work:
            lengths = self.executed.lengths(world=world) if world else self.lengths
            self._work[world] = self.executed.work(lengths, world)
        return self._work[world]

    @property
    def free(self) -> set[str]:
        """The numbers that nobody gives, and of which the launch is not made, by name."""
        graph, configuration = self.subject.graph, self.configuration
        bits = bits_of((*configuration.grid, configuration.shared))
        made_of = {render(symbol) for symbol in graph.atoms(bits, graph.uniform_bits)}
        worlds = self.executed.batch.worlds[0]
        return {name for name, choice in worlds.items() if choice.basis != "given" and name not in made_of}

    @property
    def is_refused(self) -> bool:
        """Whether the device refuses the launch for its threads: no address is wrong in a kernel that is not run. Its
        races are those of a block that fits, too."""
        return prod(self.configuration.block) > self.subject.target.max_threads_per_block


def also_under(fact: T, launch: int) -> T:
    """A fact that is there under one more launch."""
    if launch == fact.launch or launch in fact.also_in:
        return fact
    record: Any = fact
    more: T = replace(record, also_in=(*fact.also_in, launch))
    return more


def keep(found: dict[K, T], key: K, fact: T) -> None:
    """Keeps the first fact of its key, with the launches of the others."""
    found[key] = also_under(found[key], fact.launch) if key in found else fact


class Provider(Struct, eq=False):
    """The facts of one kind about one kernel."""

    kind: ClassVar[Kind]
    needs: ClassVar[tuple[Kind, ...]] = ()
    """The kinds that have to be collected before it."""

    @classmethod
    def of(cls, subject: Subject) -> Self:
        """One that was shown no launch yet."""
        return cls()

    def add(self, run: Run) -> None:
        """Collects what one launch shows."""
        raise NotImplementedError

    def add_last(self, run: Run) -> None:
        """Collects what may only take the work that is left when all kinds were shown the launch."""

    def finish(self, subject: Subject) -> None:
        """Is called when all launches were shown."""

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        """The kernel's facts with those of this kind."""
        raise NotImplementedError


class SiteProvider(Provider, eq=False):
    """Of places of the source: one fact each, which has what each launch makes of it in `results`, if it has that."""

    into: ClassVar[str]
    """The field of the kernel's facts."""
    found: dict[object, Any] = field(default_factory=dict)

    def note(self, key: object, fact: Any, result: Any = None) -> None:
        """Keeps a fact if it is the first of its key; adds what a launch makes of it, or that it is there under it."""
        known = self.found.setdefault(key, fact)
        if result is not None:
            self.found[key] = replace(known, results=(*known.results, result))
        elif known is not fact and hasattr(known, "also_in"):
            self.found[key] = also_under(known, fact.launch)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        """In the order of their places."""
        found = {self.into: tuple(sorted(self.found.values(), key=self.rank))}
        return replace(facts, **found)

    @staticmethod
    def rank(fact: Any) -> tuple[object, ...]:
        """By what facts are sorted."""
        return (fact.place,)
