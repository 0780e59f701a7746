"""The launches that host code makes in sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from cudalint.facts import LaunchSource
from cudalint.facts import Place as SourcePlace
from cudalint.host.executor.checked_sizes import CheckedSizes
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.launching import HostLaunch
from cudalint.host.executor.values import Place, Value
from cudalint.host.values.graph import Graph, stated
from cudalint.host.values.nodes import Node, without_cast
from cudalint.ir import nodes as ir
from cudalint.launches.arguments import kernel_arguments
from cudalint.launches.blocks import ChosenBlock, block_of, generic_values
from cudalint.launches.configuration import (
    Block,
    Configuration,
    Numbers,
    Way,
    grid_asked,
    known_extents,
    site_of,
)
from cudalint.launches.program.mentions import CALLING


def from_launches(
    launches: Iterable[HostLaunch], function: ir.Function, graph: Graph, generics: Generics
) -> Iterator[Configuration]:
    """The configurations of visible launches. If one leaves the block open, the default stands in, and is named so."""
    blocks: dict[object, ChosenBlock] = {}
    checked = CheckedSizes(graph)
    for launch in launches:
        launch = checked.of(launch)
        launch = replace(launch, grid=grid_asked(launch.grid, function, graph))
        # Most launches of a loop have one block, whose extents are what they are until a number is chosen for a symbol
        # among them.
        found = blocks.get((launch.block, generic_values(graph, launch.block)))
        if found is None:
            found = block_of(launch.block, graph, function)
            blocks[launch.block, generic_values(graph, launch.block)] = found
        yield _from_launch(launch, found, function, graph, generics)


def telling(configurations: Iterable[Configuration], graph: Graph) -> list[Configuration]:
    """Without launches of no block, and without those that leave the block open, where others at the same place tell
    more. Host code that collects work until there is enough of it (`if (++count == steps) k<<<steps / 96, 96>>>`) comes
    to its launch later than a loop that is followed for a moment; and what is called from several places may be called
    from one where sizes are set."""
    found = list(configurations)
    numbers = Numbers(graph)
    for tells in (lambda each: min(map(numbers.of, each.grid)) >= 1, lambda each: each.source == "launch-site"):
        kept = [each for each in found if tells(each)]
        places = {(each.path, each.line) for each in kept}
        found = [each for each in found if (each.path, each.line) not in places or tells(each)]
    return found


def _called_from(launch: HostLaunch, place: SourcePlace) -> SourcePlace | None:
    """The call that brings a launch in a source its numbers. What stands in a header is the same for all who include
    it."""
    is_in_source = place.path.endswith(CALLING)
    return SourcePlace(*launch.from_call) if launch.from_call is not None and is_in_source else None


def _from_launch(
    launch: HostLaunch, chosen: ChosenBlock, function: ir.Function, graph: Graph, generics: Generics
) -> Configuration:
    block, assumptions = chosen.extents, chosen.assumptions
    arguments = kernel_arguments(function, launch.arguments, graph, generics)
    open_ = [extent for extent in launch.block if not extent.is_const]
    source: LaunchSource = "default" if assumptions and open_ else "launch-site"
    by_default = source == "default" and _is_by_default(open_, graph)
    if by_default:
        assumptions = _defaults_in(open_, arguments, graph)
    seen = known_extents(launch.block) if assumptions else block
    place = SourcePlace(*launch.written_at)
    site = site_of(place, seen, launch.grid, launch.shared, launch.tilings)
    cluster = function.cluster or (known_extents(launch.cluster) if launch.cluster is not None else None)
    site = replace(site, cluster=cluster)
    guards = (*launch.guards, *_sizes_of_the_block(launch, block, graph))
    return Configuration(
        block, launch.grid, launch.shared, arguments, source, place.path, place.line, assumptions, site,
        guards=guards, by_default=by_default or chosen.is_of_large_sizes, open_extents=tuple(open_),
        asked_block=launch.block, ways=(Way(place, launch.guards),), vanished=launch.vanished,
        is_cooperative=launch.is_cooperative,
        called_from=_called_from(launch, place),
    )  # fmt: skip


def _sizes_of_the_block(launch: HostLaunch, block: Block, graph: Graph) -> Iterator[Node]:
    """What sizes have to be for the block to be the one that is evaluated: with another `n`, `min(n, 32)` is another
    block, and the threads of this one say nothing about it. What a switch has sent another way (`case 1024:` before
    this `default:`) is never the block here."""
    for extent, number in zip(launch.block, block, strict=True):
        if not extent.is_const:
            asked = graph.binary("==", extent, graph.const(number, extent.kind), extent.kind)
            is_denied = any(_denies(guard, extent, number) for guard in launch.guards)
            yield graph.zero if is_denied else asked


def _denies(guard: Node, extent: Node, number: int) -> bool:
    """Whether a condition is `extent != number`."""
    if guard.op != "!=" or len(guard.args) != 2:
        return False
    left, right = (without_cast(each) for each in guard.args)
    bare = without_cast(extent)
    return (left is bare and right.whole == number) or (right is bare and left.whole == number)


def _is_by_default(open_: Sequence[Node], graph: Graph) -> bool:
    """Whether a block is the one of the launch if no option says otherwise: an impossible one was replaced."""
    return all(graph.rests_on_defaults(extent) for extent in open_)


def _defaults_in(open_: Sequence[Node], arguments: Mapping[ir.Symbol, Value | Place], graph: Graph) -> tuple[str, ...]:
    """The numbers that make a block what it is, called as the kernel calls them."""
    names = {without_cast(value): symbol.name for symbol, value in arguments.items() if isinstance(value, Node)}
    return tuple(stated(graph, symbol, names.get(symbol)) for symbol, _ in generic_values(graph, open_))
