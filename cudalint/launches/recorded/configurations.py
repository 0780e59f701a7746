"""The recorded launches of one kernel as launches to evaluate: those of blocks of one shape are worlds of one batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cudalint.facts import LaunchSite, RecordedFacts
from cudalint.facts import Place as SourcePlace
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.memory import Memory
from cudalint.host.executor.values import Place, Value
from cudalint.host.values.arithmetic import I8, U4, Number
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.arguments import unknown_arguments
from cudalint.launches.configuration import Block, Configuration, Nodes, RecordedWorld
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.launches.recorded.arguments import bytes_of
from cudalint.launches.recorded.merging import merged
from cudalint.launches.recorded.program import RecordedProgram
from cudalint.launches.recorded.records import (
    VERSION,
    ArgumentBytes,
    RecordedKernel,
    RecordedLaunch,
    RecordedPointer,
    Recording,
)
from cudalint.launches.recorded.values import RecordedValues
from cudalint.worlds.choosing import MOST_WORLDS

MOST_GROUPS = 8
"""Of launches of one kernel that are evaluated."""


_Given = tuple[RecordedLaunch, tuple[ArgumentBytes, ...] | None]
"""A launch, with its arguments where they are known."""


class _Group(NamedTuple):
    """Launches that are worlds of one batch: of one shape of blocks, with null pointers in the same places, and with
    the same memory for the same parameters."""

    block: Block
    chosen: Sequence[_Given]
    """Those that are evaluated, the one that takes most first."""
    weight: float
    made: int
    """How often."""
    different: int
    total_us: float | None
    """Of all of them; None where not all were timed."""

    @classmethod
    def of(cls, launches: list[_Given]) -> _Group:
        launches = sorted(launches, key=lambda each: -each[0].weight)
        own = [launch for launch, _ in launches]
        times = [launch.count * launch.time_us for launch in own if launch.time_us is not None]
        return cls(
            own[0].block, _chosen(launches), math.fsum(launch.weight for launch in own),
            sum(launch.count for launch in own), len(own), math.fsum(times) if len(times) == len(own) else None,
        )  # fmt: skip

    @property
    def has_arguments(self) -> bool:
        return self.chosen[0][1] is not None


def has_its_parameters(kernel: RecordedKernel, function: ir.Function) -> bool:
    """Whether a recorded kernel takes what a function of the same name takes, as far as both are known."""
    if kernel.parameters is None:
        return True
    own = [symbol.type for symbol in function.parameters]
    sizes = [8 if ir.is_reference(type_) else type_.bytes for type_ in own]
    both = zip(sizes, kernel.parameters, strict=False)
    return len(sizes) == len(kernel.parameters) and all(not size or size == recorded for size, recorded in both)


def recorded_configurations(
    function: ir.Function, kernel: RecordedKernel, program: RecordedProgram, static: int, graph: Graph,
    generics: Generics, otherwise: Callable[[], Sequence[Configuration]],
    stated: Callable[[Configuration], Configuration],
) -> list[Configuration]:  # fmt: skip
    """The launches of a kernel that declares so many bytes of `static` shared memory, those first that take most.
    `otherwise` is how it is launched as far as nothing was recorded: where a recording has no arguments, they are what
    the source says of them. `stated` puts in what users say of arguments."""
    groups = program.once(kernel, _groups)
    making = _Making(function, program, static, graph, generics)
    known = otherwise() if any(not group.has_arguments for group in groups) else ()
    made = (making.configuration(group) if group.has_arguments else making.given(group, known) for group in groups)
    return [_with_distinct_worlds(stated(each), graph) for each in made]


def _with_distinct_worlds(configuration: Configuration, graph: Graph) -> Configuration:
    """A launch whose worlds differ in what it is given: that may be less than was recorded, where users say another
    number."""
    if not configuration.worlds:
        return configuration
    given = OpenNumbers(configuration, graph).all
    weights: dict[tuple[tuple[Node, Number], ...], float] = {}
    for world in configuration.worlds:
        numbers = tuple((symbol, world.numbers[symbol]) for symbol in given if symbol in world.numbers)
        weights[numbers] = weights.get(numbers, 0.0) + world.weight
    worlds = tuple(RecordedWorld(dict(numbers), weight) for numbers, weight in weights.items())
    return replace(configuration, worlds=worlds)


def _groups(kernel: RecordedKernel) -> Sequence[_Group]:
    """Those that take most. What a profiler has seen without arguments is left out where launches of the same sizes
    have some: it may be these."""
    # Streams are nothing that a kernel sees.
    unordered = tuple(replace(launch, stream=0, cooperative=False) for launch in kernel.launches)
    (alike,) = merged([Recording(VERSION, (replace(kernel, launches=unordered),))]).kernels
    known = {(own.grid, own.block, own.cluster) for own in alike.launches if own.arguments is not None}
    found: dict[object, list[_Given]] = {}
    for launch in alike.launches:
        if launch.arguments is None and (launch.grid, launch.block, launch.cluster) in known:
            continue
        arguments = None
        if launch.arguments is not None and kernel.parameters is not None:
            both = zip(launch.arguments, kernel.parameters, strict=True)
            arguments = tuple(bytes_of(argument, size) for argument, size in both)
        found.setdefault((launch.block, launch.cluster, _shape(arguments)), []).append((launch, arguments))
    heaviest = sorted(found.values(), key=lambda own: -math.fsum(launch.weight for launch, _ in own))
    return tuple(map(_Group.of, heaviest[:MOST_GROUPS]))


def _shape(arguments: Sequence[ArgumentBytes] | None) -> object:
    """Where pointers are among arguments, and which of them are the same."""
    if arguments is None:
        return None
    numbers: dict[RecordedPointer, int] = {}
    return tuple(
        tuple((at, numbers.setdefault(own, len(numbers))) for at, own in sorted(each.pointers.items()))
        for each in arguments
    )


class _Making(Struct, frozen=True, eq=False):
    """Makes launches of one kernel of what was recorded."""

    function: ir.Function
    program: RecordedProgram
    static: int
    graph: Graph
    generics: Generics

    def configuration(self, group: _Group) -> Configuration:
        """Its launches as worlds of one. Where some number is not known there are worlds for that: then they are of
        the launch alone that takes most."""
        chosen = group.chosen
        values, arguments = self._arguments(chosen)
        if not values.is_whole:
            chosen = chosen[:1]
            values, arguments = self._arguments(chosen)
        launches = [launch for launch, _ in chosen]
        x, y, z = (
            values.number(f"gridDim.{axis}", [launch.grid[number] for launch in launches], U4)
            for number, axis in enumerate("xyz")
        )
        dynamic = [launch.dynamic(self.static) for launch in launches]
        shared = values.number("the dynamic shared memory", dynamic, I8)
        weights = _weights(launches) if values.is_whole else ()
        worlds = tuple(RecordedWorld(values.numbers(number), weight) for number, weight in enumerate(weights))
        return Configuration(
            group.block, (x, y, z), shared, arguments, "recorded", None, None, (), self._site(group),
            worlds=worlds, recorded=_facts(group, len(chosen), values.is_whole, self.program),
        )  # fmt: skip

    def given(self, group: _Group, known: Sequence[Configuration]) -> Configuration:
        """The one of its launches that takes most, of which nobody has recorded the arguments: they are those of the
        only launch in sight that it may be, or else nothing is known of them."""
        first = group.chosen[0][0]
        x, y, z = (self.graph.const(blocks, U4) for blocks in first.grid)
        shared = self.graph.const(first.dynamic(self.static), I8)
        arguments, guards = self._otherwise(group, (x, y, z), known)
        return Configuration(
            group.block, (x, y, z), shared, arguments, "recorded", None, None, (), self._site(group), guards=guards,
            recorded=_facts(group, 1, False, self.program),
        )  # fmt: skip

    def _otherwise(
        self, group: _Group, grid: Nodes, known: Sequence[Configuration]
    ) -> tuple[Mapping[ir.Symbol, Value | Place], tuple[Node, ...]]:
        """Arguments, and what has to hold of them for the grid to be the one that was recorded."""
        fitting = []
        for each in known:
            pairs = zip(each.grid, grid, strict=True)
            alike = [self.graph.binary("==", extent, blocks, extent.kind) for extent, blocks in pairs]
            if each.block == group.block and all(not equal.is_const or equal.value for equal in alike):
                fitting.append((each, tuple(equal for equal in alike if not equal.is_const)))
        is_in_sight = len(fitting) == 1 and fitting[0][0].source == "launch-site"
        if is_in_sight:
            ((only, alike_),) = fitting
            return only.arguments, (*only.guards, *alike_)
        return unknown_arguments(self.function, self.graph, self.generics), ()

    def _arguments(
        self, chosen: Sequence[_Given]
    ) -> tuple[RecordedValues, dict[ir.Symbol, Value | Place]]:
        given = [own for _, own in chosen if own is not None]
        values = RecordedValues(self.graph, Memory(self.graph, self.generics), self.program.path, given)
        arguments = {
            symbol: values.argument(symbol, [own[position] for own in given])
            for position, symbol in enumerate(self.function.parameters)
        }
        return values, arguments

    def _site(self, group: _Group) -> LaunchSite:
        """Nothing is known of the kernel's limit of dynamic shared memory but that it was high enough."""
        first = group.chosen[0][0]
        place = SourcePlace(*self.function.name_span)
        return LaunchSite(place, group.block, first.grid, first.dynamic(self.static), None)


def _weights(launches: Sequence[RecordedLaunch]) -> Sequence[float]:
    """See `RecordedWorld`: of a launch with twice the blocks of the first there are half as many as of that one."""
    whole = sum(launch.count * launch.blocks for launch in launches) / launches[0].blocks
    return [launch.count / whole for launch in launches]


def _facts(group: _Group, evaluated: int, is_whole: bool, program: RecordedProgram) -> RecordedFacts:
    total = group.total_us
    share = total / program.time_us if total is not None and program.time_us else None
    return RecordedFacts(
        group.made, group.different, evaluated, program.path, group.chosen[0][0].time_us, total, share, is_whole
    )


def _chosen(launches: Sequence[_Given]) -> Sequence[_Given]:
    """As many as a batch has worlds: what takes most, and then always that with most arguments that none of those
    before has, of several that which takes most."""
    left = [(launch, set(_parts(*launch))) for launch in launches]
    chosen: list[_Given] = []
    best = 0
    while left and len(chosen) < MOST_WORLDS:
        own, seen = left.pop(best)
        chosen.append(own)
        for _, parts in left:
            parts -= seen
        best = max(range(len(left)), key=lambda at: (len(left[at][1]), -at), default=0)
    return chosen


def _parts(launch: RecordedLaunch, arguments: Sequence[ArgumentBytes] | None) -> Iterator[object]:
    """What may differ between launches. Of where memory lies, only how addresses are aligned makes a difference."""
    yield from enumerate(launch.grid)
    yield "shared", launch.shared
    for number, argument in enumerate(arguments or ()):
        yield number, argument.data
        yield from ((number, at, pointer.offset % SECTOR_BYTES) for at, pointer in argument.pointers.items())
