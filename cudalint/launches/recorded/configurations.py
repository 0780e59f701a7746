"""The recorded launches of one kernel as launches to evaluate: those of blocks of one shape are worlds of one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from cudalint.facts import Place as SourcePlace
from cudalint.facts import LaunchSite, RecordedFacts
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.memory import Memory
from cudalint.host.values.arithmetic import I8, U4
from cudalint.host.values.graph import Graph
from cudalint.ir import nodes as ir
from cudalint.launches.arguments import unknown_arguments
from cudalint.launches.configuration import Block, Configuration, RecordedWorld
from cudalint.launches.recorded.arguments import bytes_of
from cudalint.launches.recorded.program import RecordedProgram
from cudalint.launches.recorded.records import ArgumentBytes, RecordedKernel, RecordedLaunch
from cudalint.launches.recorded.values import RecordedValues
from cudalint.worlds.choosing import MOST_WORLDS

MOST_GROUPS = 8
"""Of launches of one kernel that are evaluated."""


class _Group(Struct, frozen=True, eq=False):
    """Launches that are worlds of one batch: of one shape of blocks, with null pointers in the same places, and with
    the same memory for the same parameters."""

    block: Block
    launches: Sequence[tuple[RecordedLaunch, tuple[ArgumentBytes, ...] | None]]
    """Those that take most first."""

    @property
    def weight(self) -> float:
        return sum(launch.weight for launch, _ in self.launches)


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
    generics: Generics,
) -> list[Configuration]:  # fmt: skip
    """The launches of a kernel that declares so many bytes of `static` shared memory, those first that take most."""
    groups = sorted(_groups(kernel), key=lambda group: -group.weight)
    return [_configuration(group, function, program, static, graph, generics) for group in groups[:MOST_GROUPS]]


def _groups(kernel: RecordedKernel) -> Iterator[_Group]:
    found: dict[object, list[tuple[RecordedLaunch, tuple[ArgumentBytes, ...] | None]]] = {}
    for launch in kernel.launches:
        arguments = None
        if launch.arguments is not None and kernel.parameters is not None:
            both = zip(launch.arguments, kernel.parameters, strict=True)
            arguments = tuple(bytes_of(argument, size) for argument, size in both)
        found.setdefault((launch.block, launch.cluster, _shape(arguments)), []).append((launch, arguments))
    for own in found.values():
        own.sort(key=lambda each: -each[0].weight)
        yield _Group(own[0][0].block, own)


def _shape(arguments: Sequence[ArgumentBytes] | None) -> object:
    """Where pointers are among arguments, and which of them lead into the same memory."""
    if arguments is None:
        return None
    numbers: dict[int | None, int] = {}
    return tuple(
        tuple((at, numbers.setdefault(own.allocation, len(numbers))) for at, own in sorted(each.pointers.items()))
        for each in arguments
    )


def _configuration(
    group: _Group, function: ir.Function, program: RecordedProgram, static: int, graph: Graph, generics: Generics
) -> Configuration:
    chosen = _chosen(group)
    launches = [launch for launch, _ in chosen]
    values = RecordedValues(graph, Memory(graph, generics), program.path)
    arguments = unknown_arguments(function, graph, generics)
    given = [own for _, own in chosen if own is not None]
    if len(given) == len(chosen):
        for position, symbol in enumerate(function.parameters):
            arguments[symbol] = values.argument(symbol, [own[position] for own in given])
    x, y, z = (
        values.number(f"gridDim.{axis}", [launch.grid[number] for launch in launches], U4)
        for number, axis in enumerate("xyz")
    )
    shared = values.number("the dynamic shared memory", [launch.dynamic(static) for launch in launches], I8)
    weights = _weights(launches)
    worlds = tuple(RecordedWorld(values.numbers(number), weight) for number, weight in enumerate(weights))
    first = launches[0]
    # Nothing is known of the kernel's limit of dynamic shared memory but that it was high enough.
    site = LaunchSite(SourcePlace(*function.name_span), group.block, first.grid, first.dynamic(static), None)
    return Configuration(
        group.block, (x, y, z), shared, arguments, "recorded", None, None, (), site,
        worlds=worlds, recorded=_facts(group, chosen[0][0], len(chosen), program),
    )  # fmt: skip


def _weights(launches: Sequence[RecordedLaunch]) -> Sequence[float]:
    """See `RecordedWorld`: of a launch with twice the blocks of the first there are half as many as of that one."""
    whole = sum(launch.count * launch.blocks for launch in launches) / launches[0].blocks
    return [launch.count / whole for launch in launches]


def _facts(group: _Group, first: RecordedLaunch, evaluated: int, program: RecordedProgram) -> RecordedFacts:
    launches = [launch for launch, _ in group.launches]
    times = [launch.count * launch.time_us for launch in launches if launch.time_us is not None]
    total = sum(times) if len(times) == len(launches) else None
    share = total / program.time_us if total is not None and program.time_us else None
    return RecordedFacts(
        sum(launch.count for launch in launches), len(launches), evaluated, program.path, first.time_us, total, share
    )


def _chosen(group: _Group) -> list[tuple[RecordedLaunch, tuple[ArgumentBytes, ...] | None]]:
    """As many as a batch has worlds: what takes most, and then always that with most arguments that none of those
    before has, of several that which takes most."""
    left = list(group.launches)
    chosen = [left.pop(0)]
    seen: set[object] = set(_parts(*chosen[0]))
    while left and len(chosen) < MOST_WORLDS:
        best = max(range(len(left)), key=lambda at: (len(set(_parts(*left[at])) - seen), -at))
        own = left.pop(best)
        seen.update(_parts(*own))
        chosen.append(own)
    return chosen


def _parts(launch: RecordedLaunch, arguments: Sequence[ArgumentBytes] | None) -> Iterator[object]:
    """What may differ between launches. Where memory lies is nothing that a kernel does anything with."""
    yield from enumerate(launch.grid)
    yield "shared", launch.shared
    for number, argument in enumerate(arguments or ()):
        yield number, argument.data

