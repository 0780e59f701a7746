"""One launch to evaluate a kernel under, and what the facts say of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from cudalint.facts import KnownExtents, LaunchFacts, LaunchSite, LaunchSource, RecordedFacts, Tiling
from cudalint.facts import Place as SourcePlace
from cudalint.host.executor.values import Allocation, Place, Pointer, Value
from cudalint.host.executor.vanished import Vanished
from cudalint.host.values.arithmetic import Number
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir import walk

DEFAULT_GRID = 64
"""Blocks along each axis that the kernel asks about, where nothing says how many."""
_MOST_CALLEES = 64
Block = tuple[int, int, int]
UNKNOWN: KnownExtents = (None, None, None)
Nodes = tuple[Node, Node, Node]


class RecordedWorld(NamedTuple):
    """A launch that was recorded."""

    numbers: Mapping[Node, Number]
    """What stands for each symbol."""
    weight: float
    """How often it was made, for each time that there is as much work as in the first world."""


class Way(NamedTuple):
    """One way to a launch."""

    place: SourcePlace
    guards: tuple[Node, ...]
    """What is checked on it."""


class Configuration(Struct, frozen=True, eq=False):
    """One launch to evaluate a kernel under."""

    block: Block
    grid: Nodes
    shared: Node
    arguments: Mapping[ir.Symbol, Value | Place]
    source: LaunchSource
    path: str | None
    line: int | None
    assumptions: tuple[str, ...]
    site: LaunchSite | None = None
    """What is visible or stated of it; None where nobody says anything."""
    twins: tuple[LaunchSite, ...] = ()
    """Launches elsewhere that are the same."""
    guards: tuple[Node, ...] = ()
    """Conditions under which the host code gets to it."""
    asked_block: Nodes | None = None
    """The block as host code in sight asks for it; None where there is no such code."""
    ways: tuple[Way, ...] = ()
    """Where that host code makes it: at this place, at those of `twins`, and from wherever they are come to."""
    vanished: Vanished | None = None
    """See `HostLaunch`."""
    by_default: bool = False
    """See `LaunchFacts`."""
    open_extents: tuple[Node, ...] = ()
    """Those of the block that a launch in sight leaves open."""
    guesses: tuple[str, ...] = ()
    made_up: tuple[str, ...] = ()
    """See `LaunchFacts`."""
    worlds: tuple[RecordedWorld, ...] = ()
    """What its worlds are, where they are launches that were recorded."""
    recorded: RecordedFacts | None = None
    """See `LaunchFacts`."""
    is_cooperative: bool = False
    """All its blocks are resident at one time, or it fails."""
    called_from: SourcePlace | None = None
    """See `LaunchFacts`."""

    def key(self) -> object:
        """Equal for launches under which a kernel behaves the same."""
        values = tuple((name, number.index) for name, number in self.numbers())
        grid = tuple(n.index for n in self.grid)
        return (self.block, self.asked(), grid, self.shared.index, values, self.shared_by(), self.absent())

    def numbers(self) -> tuple[tuple[str, Node], ...]:
        """The arguments on which branches and addresses may depend."""
        return tuple((s.name, v) for s, v in self.arguments.items() if isinstance(v, Node) and not v.kind.is_float)

    def asked(self) -> KnownExtents | None:
        """The block as far as the launch site gives it."""
        return self.site.block if self.site is not None else None

    def shared_by(self) -> tuple[tuple[str, str], ...]:
        """The parameters that are given the array of another one, which comes second."""
        return tuple(
            (s.name, v.target.same_as.name)
            for s, v in self.arguments.items()
            if isinstance(v, Pointer) and isinstance(v.target, Allocation) and v.target.same_as is not None
        )

    def absent(self) -> tuple[str, ...]:
        """The parameters that are given a null pointer: what is only done for arrays that there are is left out."""
        return tuple(
            s.name
            for s, v in self.arguments.items()
            if isinstance(v, Pointer) and isinstance(v.target, Allocation) and v.target.is_null
        )


class Numbers:
    """Plain numbers for launch expressions: generic values stand for what is unknown."""

    def __init__(self, graph: Graph, values: Mapping[Node, int | float] | None = None) -> None:
        self._graph = graph
        self._evaluated = Evaluated(graph, values or {})

    def of(self, node: Node) -> int:
        return int(self._evaluated.first(node))

    def scalar(self, node: Node) -> int | float | bool | None:
        """A value of any kind; None where it isn't known at all (loaded from memory)."""
        return None if node.bits & self._graph.opaque_bits else self._evaluated.first(node)


def site_of(
    place: SourcePlace, block: KnownExtents, grid: Nodes, shared: Node, tilings: tuple[Tiling, ...] = ()
) -> LaunchSite:
    """What is in sight of a launch."""
    bytes_ = int(shared.value) if shared.is_const and shared.value >= 0 else None
    return LaunchSite(place, block, known_extents(grid), bytes_, None, tilings)


def known_extents(nodes: Nodes) -> KnownExtents:
    x, y, z = (int(n.value) if n.is_const and n.value >= 1 else None for n in nodes)
    return x, y, z


def default_grid(function: ir.Function, graph: Graph) -> Nodes:
    """Many blocks along the axes along which the kernel asks for its place, or along x. Along others they would all do
    the same work."""
    many, one = graph.const(DEFAULT_GRID), graph.one
    axes = axes_asked(function, ("blockIdx",))
    return _along(axes, (many, many, many), graph) if axes else (many, one, one)


def grid_asked(grid: Nodes, function: ir.Function, graph: Graph) -> Nodes:
    """The grid of a launch. Of one that is unknown as a whole (a `dim3` that C code passes on to its launch) the axes
    along which the kernel, with what it calls, doesn't ask for its place have one block, or else all would do the same
    work."""
    if any(n.is_const for n in grid):
        return grid
    axes: set[str] = set()
    for one in _with_callees(function):
        axes |= axes_asked(one, ("blockIdx", "gridDim")) if one is not None else set("xyz")
    return _along(axes, grid, graph)


def _along(axes: Collection[str], grid: Nodes, graph: Graph) -> Nodes:
    """A grid that has one block along all other axes."""
    x, y, z = (blocks if axis in axes else graph.one for axis, blocks in zip("xyz", grid, strict=True))
    return x, y, z


def axes_asked(function: ir.Function, variables: Sequence[str]) -> set[str]:
    """The axes along which a kernel asks for its place."""
    return {
        node.field
        for node in walk.nodes_in(function)
        if isinstance(node, ir.Member) and isinstance(node.base, ir.Name) and node.base.symbol.name in variables
    }


def thread_axes(function: ir.Function) -> set[str]:
    """The axes along which a kernel, or what it calls of the user's, asks which thread it is; x among them where
    there are others."""
    axes: set[str] = set()
    for one in _with_callees(function):
        axes |= axes_asked(one, ("threadIdx",)) if one is not None else set()
    return axes | {"x"} if axes else axes


def asks_block_size(function: ir.Function) -> bool:
    """Whether a kernel, or what it calls, reads `blockDim`; a call that can't be followed may."""
    return any(one is None or axes_asked(one, ("blockDim",)) for one in _with_callees(function, of_user=False))


def _with_callees(function: ir.Function, of_user: bool = True) -> Iterator[ir.Function | None]:
    """A function and those that it calls, of the user's or all; None at the end where there are more."""
    pending, seen = [function], set[str]()
    while pending:
        one = pending.pop()
        yield one
        for node in walk.nodes_in(one):
            if not isinstance(node, ir.Call) or node.function is None or node.function.key in seen:
                continue
            if of_user and not node.function.is_user:
                continue
            seen.add(node.function.key)
            if len(seen) > _MOST_CALLEES:
                yield None
                return
            called = node.function.load()
            if called is not None:
                pending.append(called)


def launch_facts(configuration: Configuration, graph: Graph) -> LaunchFacts:
    """The configuration as facts: plain numbers, and the arguments that are plain."""
    numbers = Numbers(graph)
    x, y, z = (max(1, numbers.of(n)) for n in configuration.grid)
    parameters: dict[str, int | float | bool] = {}
    for symbol, value in configuration.arguments.items():
        if isinstance(value, Node) and value.is_const:
            parameters[symbol.name] = value.value
    return LaunchFacts(
        configuration.block,
        (x, y, z),
        max(0, numbers.of(configuration.shared)),
        configuration.source,
        configuration.path,
        configuration.line,
        parameters,
        configuration.assumptions,
        configuration.site,
        configuration.twins,
        by_default=configuration.by_default,
        guesses=configuration.guesses,
        made_up=configuration.made_up,
        recorded=configuration.recorded,
    )
