"""Launch configurations: from launch sites, annotations, the command line, the configuration, launch bounds, or the
default.

The order is that of the facts contract. Every configuration comes with the kernel's arguments as values, and with
what had to be assumed about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from cudalint import ir
from cudalint.annotations import Annotation, launch_of
from cudalint.evaluate import walk
from cudalint.evaluate.arithmetic import I8, U4, kind_of
from cudalint.evaluate.checked_sizes import CheckedSizes
from cudalint.evaluate.defaults import stated
from cudalint.evaluate.graph import Graph
from cudalint.evaluate.host import HostLaunch
from cudalint.evaluate.host_memory import Generics
from cudalint.evaluate.memory import Memory
from cudalint.evaluate.nodes import Node, Uniform
from cudalint.evaluate.numeric import Rows
from cudalint.evaluate.values import (
    PLACES,
    Allocation,
    Choice,
    LocalMemory,
    MemoryPlace,
    Place,
    Pointer,
    RecordValue,
    Value,
    map_leaves,
)
from cudalint.expressions import CallOp, Expression, parse_expression
from cudalint.facts import Known, LaunchFacts, LaunchSite, LaunchSource, Tiling
from cudalint.facts import Place as SourcePlace
from cudalint.launch_limits import MAX_EVALUATED, MAX_THREADS, problem_of
from cudalint.options import AnalysisOptions, KernelSettings

DEFAULT_THREADS = 256
DEFAULT_GRID = 64
"""Blocks along each axis that the kernel asks about, where nothing says how many."""
MAX_LAUNCHES = 8
"""Different launches of one instantiation that are evaluated."""

_DEFAULT_EXTENTS = {0: (), 1: (256,), 2: (32, 8), 3: (32, 4, 2)}
"""The default block, spread over as many extents as are open."""

_OTHER_EXTENTS: Mapping[int, tuple[tuple[int, ...], ...]] = {
    1: ((64,), (16,), (32,), (128,), (512,), (8,)),
    2: ((32, 8), (16, 16), (8, 8), (32, 32), (64, 4), (32, 1)),
    3: ((8, 8, 8), (32, 4, 2), (16, 4, 4), (4, 4, 4)),
}
"""Blocks that might as well be meant."""

Block = tuple[int, int, int]
_UNKNOWN: Known = (None, None, None)
Nodes = tuple[Node, Node, Node]
Lookup = Callable[[Expression], Node]
"""Gives a number to an expression of an annotation or option."""


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
    by_default: bool = False
    """See `LaunchFacts`."""

    def key(self) -> object:
        """Equal for launches under which a kernel behaves the same."""
        values = tuple(
            (s.name, v.index) for s, v in self.arguments.items() if isinstance(v, Node) and not v.kind.is_float
        )
        asked = self.site.block if self.site is not None else None
        shared_by = tuple(
            (s.name, v.target.same_as.name)
            for s, v in self.arguments.items()
            if isinstance(v, Pointer) and isinstance(v.target, Allocation) and v.target.same_as is not None
        )
        return (self.block, asked, tuple(n.index for n in self.grid), self.shared.index, values, shared_by)


class ImpossibleLaunch(ValueError):
    """A launch that a user wrote and that no GPU can do."""


class WrittenLaunch(Struct, frozen=True):
    """A launch that a user wrote for a kernel: in an annotation, or in the configuration."""

    block: Expression
    grid: Expression | None
    shared: Expression | None
    source: LaunchSource
    path: str | None
    line: int | None


class Numbers:
    """Plain numbers for launch expressions: generic values stand for what is unknown."""

    def __init__(self, graph: Graph, values: Mapping[Node, int | float] | None = None) -> None:
        self._graph = graph
        self._rows = Rows.of_one_block(graph, values or {})

    def of(self, node: Node) -> int:
        return int(np.asarray(self._rows.value(node)).flat[0])

    def scalar(self, node: Node) -> int | float | bool | None:
        """A value of any kind; None where it isn't known at all (loaded from memory)."""
        if node.bits & self._graph.opaque_bits:
            return None
        value: int | float | bool = np.asarray(self._rows.value(node)).flat[0].item()
        return value


def from_launches(
    launches: Iterable[HostLaunch], function: ir.Function, graph: Graph, generics: Generics
) -> Iterator[Configuration]:
    """The configurations of visible launches. If one leaves the block open, the default stands in, and is named so."""
    blocks: dict[object, tuple[Block, tuple[str, ...]]] = {}
    checked = CheckedSizes(graph)
    for launch in launches:
        launch = checked.of(launch)
        # Most launches of a loop have one block, whose extents are what they are until a symbol among them is settled.
        found = blocks.get((launch.block, _generic_values(graph, launch.block)))
        if found is None:
            found = _block_of(launch.block, graph, function)
            blocks[launch.block, _generic_values(graph, launch.block)] = found
        yield _from_launch(launch, found, function, graph, generics)


def _from_launch(
    launch: HostLaunch, found: tuple[Block, tuple[str, ...]], function: ir.Function, graph: Graph, generics: Generics
) -> Configuration:
    block, assumptions = found
    arguments = kernel_arguments(function, launch.arguments, graph, generics)
    open_ = [extent for extent in launch.block if not extent.is_const]
    source: LaunchSource = "default" if assumptions and open_ else "launch-site"
    by_default = source == "default" and _is_by_default(open_, graph)
    if by_default:
        assumptions = _defaults_in(open_, arguments, graph)
    seen = _known(launch.block) if assumptions else block
    site = _site(SourcePlace(*launch.span), seen, launch.grid, launch.shared, launch.tilings)
    guards = (*launch.guards, *_sizes_of_the_block(launch.block, block, graph))
    return Configuration(
        block, launch.grid, launch.shared, arguments, source, launch.span.path, launch.span.line, assumptions, site,
        guards=guards, by_default=by_default,
    )  # fmt: skip


def _sizes_of_the_block(extents: Nodes, block: Block, graph: Graph) -> Iterator[Node]:
    """What sizes have to be for the block to be the one that is evaluated: with another `n`, `min(n, 32)` is another
    block, and the threads of this one say nothing about it."""
    for extent, number in zip(extents, block, strict=True):
        if not extent.is_const:
            yield graph.binary("==", extent, graph.const(number, extent.kind), extent.kind)


def _is_by_default(open_: Sequence[Node], graph: Graph) -> bool:
    """Whether a block is the one of the launch if no option says otherwise: an impossible one was settled otherwise."""
    return all(graph.rests_on_defaults(extent) for extent in open_)


def _defaults_in(
    open_: Sequence[Node], arguments: Mapping[ir.Symbol, Value | Place], graph: Graph
) -> tuple[str, ...]:
    """The numbers that make a block what it is, called as the kernel calls them."""
    names = {_bare(value): symbol.name for symbol, value in arguments.items() if isinstance(value, Node)}
    return tuple(stated(symbol, names.get(symbol)) for symbol, _ in _generic_values(graph, open_))


def _bare(value: Node) -> Node:
    return value.args[0] if value.op == "cast" else value


def _site(place: SourcePlace, block: Known, grid: Nodes, shared: Node, tilings: tuple[Tiling, ...] = ()) -> LaunchSite:
    bytes_ = int(shared.value) if shared.is_const and shared.value >= 0 else None
    return LaunchSite(place, block, _known(grid), bytes_, None, tilings)


def _known(nodes: Nodes) -> Known:
    x, y, z = (int(n.value) if n.is_const and n.value >= 1 else None for n in nodes)
    return x, y, z


def _block_of(nodes: Nodes, graph: Graph, function: ir.Function) -> tuple[Block, tuple[str, ...]]:
    """The block as numbers. Extents that are unknown symbols get the default's share, and keep it in the grid and
    the arguments."""
    open_ = [n for n in nodes if not n.is_const]
    numbers = Numbers(graph)
    threads = min(function.max_threads or DEFAULT_THREADS, DEFAULT_THREADS)
    if not _is_possible(numbers, nodes):
        for node, extent in zip(open_, _DEFAULT_EXTENTS[len(open_)], strict=False):
            _settle(graph, node, min(extent, threads))
        numbers = Numbers(graph)
    x, y, z = (numbers.of(n) for n in nodes)
    if _is_possible(numbers, nodes) and _whatever_the_sizes(graph, nodes, (x, y, z)):
        return (x, y, z), ()
    if _is_possible(numbers, nodes):
        return (x, y, z), (f"block = {_by((x, y, z))} (the launch leaves it open)",) if open_ else ()
    if not open_:
        return _at_most((x, y, z))
    chosen = min(max(x, 1), MAX_THREADS) if nodes[0].is_const else threads
    return (chosen, 1, 1), (f"block = {chosen} (the launch leaves it open)",)


def _at_most(asked: Block) -> tuple[Block, tuple[str, ...]]:
    """The block as it is asked for, even if none may have as many threads; of far too many the first, whose warps are
    what they would be."""
    if min(asked) >= 1 and math.prod(asked) <= MAX_EVALUATED:
        return asked, ()
    block: list[int] = []
    for extent in asked:
        block.append(min(max(extent, 1), MAX_EVALUATED // math.prod(block)))
    x, y, z = block
    return (x, y, z), (f"block = {_by(block)} (the launch asks for {_by(asked)}, which no block can be)",)


def _by(extents: Sequence[int]) -> str:
    """`32x8`, as people write it."""
    _, y, z = extents
    return "x".join(map(str, extents[: 3 if z > 1 else 2 if y > 1 else 1]))


def _is_possible(numbers: Numbers, nodes: Nodes) -> bool:
    x, y, z = (numbers.of(n) for n in nodes)
    return min(x, y, z) >= 1 and x * y * z <= MAX_THREADS


def _whatever_the_sizes(graph: Graph, nodes: Nodes, block: Block) -> bool:
    """Whether the block is the same for other large sizes: `min(n, 256)` is 256."""
    numbers = Numbers(graph, {symbol: value * 3 + 1 for symbol, value in _generic_values(graph, nodes)})
    return tuple(numbers.of(n) for n in nodes) == block


def _generic_values(graph: Graph, nodes: Sequence[Node]) -> tuple[tuple[Node, int | float], ...]:
    """The unknown symbols that go into extents, with the values that stand for them."""
    symbols = dict.fromkeys(symbol for n in nodes for symbol in graph.atoms(n.bits, graph.uniform_bits))
    return tuple([(symbol, symbol.payload.generic) for symbol in symbols if isinstance(symbol.payload, Uniform)])


def _settle(graph: Graph, node: Node, value: int) -> None:
    """Gives the symbols that an open extent consists of the generic value that makes it `value`, which is not what the
    program has for them any more: one of them, if that does (`channels / heads`), or else all."""
    symbols = _generic_values(graph, (node,))
    for symbol, _ in symbols:
        for factor in (1, *(generic for other, generic in symbols if other is not symbol)):
            settled = value * int(factor)
            if Numbers(graph, {symbol: settled}).of(node) == value:
                _settle_open(graph, symbol, settled)
                return
    for symbol, _ in symbols:
        _settle_open(graph, symbol, value)


def _settle_open(graph: Graph, symbol: Node, value: int) -> None:
    assert isinstance(symbol.payload, Uniform)
    symbol.payload = replace(symbol.payload, is_default=False)
    graph.settle(symbol, value)


def kernel_arguments(
    function: ir.Function, values: Sequence[Value | Place], graph: Graph, generics: Generics
) -> dict[ir.Symbol, Value | Place]:
    """Parameters bound to the launch's arguments; what is missing is unknown."""
    unknown = unknown_arguments(function, graph, generics)
    seen: _Seen = {}
    for symbol, value in zip(function.parameters, values, strict=False):
        bound = _argument(value, symbol.type, symbol.name, graph, seen)
        if bound is not None:
            unknown[symbol] = bound
            _name_after(symbol, bound, graph)
    return unknown


def _name_after(symbol: ir.Symbol, value: Value | Place, graph: Graph) -> None:
    """A number that no variable of the host code holds is called after the kernel's parameter."""
    if isinstance(value, Node):
        bare = _bare(value)
        if isinstance(bare.payload, Uniform) and bare.payload.name.startswith("?"):
            graph.rename(bare, symbol.name)


@contextmanager
def named_after_parameters(configuration: Configuration) -> Iterator[None]:
    """While it is analysed, a kernel's arguments are called after its parameters: those are the names that stand in its
    body and that an `assume` annotation takes."""
    before: list[tuple[Node, str]] = []
    for symbol, value in configuration.arguments.items():
        bare = _bare(value) if isinstance(value, Node) else value
        if isinstance(bare, Node) and isinstance(bare.payload, Uniform):
            before.append((bare, bare.payload.name))
            Graph.rename(bare, symbol.name)
    try:
        yield
    finally:
        for node, name in reversed(before):
            Graph.rename(node, name)


_Seen = dict[Allocation, Allocation]
"""The host's allocations that were passed to a kernel, as the kernel sees them first."""


def _argument(value: Value | Place, type_: ir.Type, name: str, graph: Graph, seen: _Seen) -> Value | Place | None:
    if isinstance(value, PLACES):
        return None
    if isinstance(type_, ir.PointerType):
        return _pointer_argument(value, type_, name, graph, seen)
    if isinstance(type_, ir.Scalar):
        if not isinstance(value, Node) or value.bits & graph.opaque_bits:
            return None
        return graph.convert(value, kind_of(type_))
    if isinstance(type_, ir.RecordType) and isinstance(value, RecordValue):
        return map_leaves(value, lambda leaf, path: _leaf_argument(leaf, name + path, graph, seen))
    return value


def _leaf_argument(leaf: Value, name: str, graph: Graph, seen: _Seen) -> Value:
    if isinstance(leaf, (Pointer, Choice)):
        pointee = leaf.pointee if isinstance(leaf, Pointer) else ir.OpaqueType("?")
        return _pointer_argument(leaf, ir.PointerType(pointee), name, graph, seen) or leaf
    return leaf


def _pointer_argument(
    value: Value, type_: ir.PointerType, name: str, graph: Graph, seen: _Seen | None = None
) -> Value | None:
    """A pointer as the kernel sees it: into an allocation called after the parameter."""
    if isinstance(value, Choice):
        a = _pointer_argument(value.a, type_, name, graph)
        return a or _pointer_argument(value.b, type_, name, graph)
    if not isinstance(value, Pointer):
        return None
    target = value.target
    if isinstance(target, LocalMemory):
        return None
    if target.is_null:
        return Pointer(Allocation(name, "global", is_null=True), graph.const(0, I8), type_.pointee)
    offset = value.offset if target.opaque is None else graph.const(0, I8)
    same_as = seen.get(target) if seen is not None else None
    own = Allocation(name, "global", target.bytes, None, target.size, same_as=same_as)
    if seen is not None and target.opaque is None:
        seen.setdefault(target, own)
    return Pointer(own, offset, type_.pointee)


def unknown_arguments(function: ir.Function, graph: Graph, generics: Generics) -> dict[ir.Symbol, Value | Place]:
    """Parameters of which nothing is known: pointers to allocations, generic sizes."""
    from cudalint.evaluate.host_memory import HostMemory  # The host's memory makes unknown numbers uniform.

    memory = HostMemory(graph, generics)
    return {s: unknown_argument(s.type, s.name, graph, memory) for s in function.parameters}


def with_template(configuration: Configuration, function: ir.Function) -> Configuration:
    """States what an uninstantiated template was evaluated with, as far as its arrays' elements depend on it."""
    if not function.template_types:
        return configuration
    nodes = list(walk.walk(function.body))
    types = [symbol.type for symbol in function.parameters]
    types += [node.symbol.type for node in nodes if isinstance(node, ir.Declare)]
    types += [node.type for node in nodes if hasattr(node, "type")]
    elements = {_element(type_) for type_ in types}
    used = [(f"sizeof({name})", type_.bytes) for name, type_ in function.template_types if type_ in elements]
    if not used:
        return configuration
    text = f"{' = '.join(name for name, _ in used)} = {used[0][1]} (nothing instantiates the template)"
    return replace(configuration, assumptions=(*configuration.assumptions, text))


def _element(type_: ir.Type) -> ir.Type | None:
    """What a pointer or an array leads to in the end; None for anything else."""
    element: ir.Type | None = None
    while isinstance(type_, (ir.PointerType, ir.ArrayType)):
        type_ = element = type_.pointee if isinstance(type_, ir.PointerType) else type_.element
    return element


def unknown_argument(type_: ir.Type, name: str, graph: Graph, memory: Memory) -> Value | Place:
    from cudalint.evaluate.nodes import Reason

    if isinstance(type_, ir.PointerType):
        pointer = Pointer(Allocation(name, "global"), graph.const(0, I8), type_.pointee)
        return MemoryPlace(pointer, type_.pointee) if type_.reference else pointer
    if isinstance(type_, ir.RecordType):
        fields = {}
        for field in type_.fields:
            value = unknown_argument(field.type, f"{name}.{field.name}", graph, memory)
            fields[field.name] = value if not isinstance(value, MemoryPlace) else value.pointer
        return RecordValue(type_, fields)  # type: ignore[arg-type]
    return memory.unknown(type_, Reason(False, "an argument"), (), name)


def without_launch(
    function: ir.Function,
    written: Sequence[WrittenLaunch],
    options: AnalysisOptions,
    graph: Graph,
    generics: Generics,
    lookup: Lookup,
) -> list[Configuration]:
    """The configurations of a kernel that nobody launches in sight; `written` are those of annotations, or else of
    the configuration. Raises `UnknownName` or `ImpossibleLaunch` for one that can't be used."""
    arguments = unknown_arguments(function, graph, generics)
    if written and (written[0].source == "annotation" or options.block is None):
        distinct: dict[object, Configuration] = {}
        for launch in written:
            configuration = _from_written(launch, function, arguments, graph, lookup)
            distinct.setdefault(configuration.key(), configuration)
        return list(distinct.values())
    if options.block is not None:
        return [from_command_line(function, arguments, options, graph)]
    grid = default_grid(function, graph)
    if function.max_threads is not None:
        threads = min(function.max_threads, MAX_THREADS)
        texts = (f"block = {threads} (from __launch_bounds__; no launch in sight)",)
        return [Configuration((threads, 1, 1), grid, graph.zero, arguments, "launch-bounds", None, None, texts)]
    texts = (f"block = {DEFAULT_THREADS} (no launch in sight)",)
    return [Configuration((DEFAULT_THREADS, 1, 1), grid, graph.zero, arguments, "default", None, None, texts)]


def from_command_line(
    function: ir.Function, arguments: Mapping[ir.Symbol, Value | Place], options: AnalysisOptions, graph: Graph
) -> Configuration:
    """`--block`, `--grid` and `--shared`."""
    assert options.block is not None
    if options.grid is not None:
        x, y, z = (graph.const(v, U4) for v in options.grid)
        grid = (x, y, z)
    else:
        grid = default_grid(function, graph)
    shared = graph.const(options.shared or 0, I8)
    block, texts = _at_most(options.block)
    site = _site(SourcePlace(*function.name_span), options.block, grid, shared)
    if options.grid is None:
        site = replace(site, grid=_UNKNOWN)
    return Configuration(block, grid, shared, arguments, "command-line", None, None, texts, site)


def annotated_launches(annotations: Sequence[Annotation], path: str) -> list[WrittenLaunch]:
    """The launches of `launch` annotations of a file."""
    return [WrittenLaunch(*launch_of(a), "annotation", path, a.line) for a in annotations[:MAX_LAUNCHES]]


def configured_launches(function: ir.Function, settings: Iterable[KernelSettings]) -> list[WrittenLaunch]:
    """The launch of the first pattern of the configuration that fits the kernel and gives one."""
    for setting in settings:
        if setting.block is not None and setting.fits(function.name):
            block, grid, shared = (
                parse_expression(text) if text is not None else None
                for text in (setting.block, setting.grid, setting.shared)
            )
            assert block is not None
            return [WrittenLaunch(block, grid, shared, "config", setting.path, setting.line)]
    return []


def _from_written(
    launch: WrittenLaunch,
    function: ir.Function,
    arguments: Mapping[ir.Symbol, Value | Place],
    graph: Graph,
    lookup: Lookup,
) -> Configuration:
    one = graph.one
    extents = _extents(launch.block, lookup, one)
    _check("block", extents)
    block, texts = _block_of(extents, graph, function)
    grid = default_grid(function, graph)
    if launch.grid is not None:
        grid = _extents(launch.grid, lookup, one)
        _check("grid", grid)
    shared = graph.zero
    if launch.shared is not None:
        shared = lookup(launch.shared)
        _check("shared", (shared,))
    site = _site(SourcePlace(*function.name_span), _known(extents) if texts else block, grid, shared)
    if launch.grid is None:
        site = replace(site, grid=_UNKNOWN)
    return Configuration(block, grid, shared, arguments, launch.source, launch.path, launch.line, texts, site)


def other_blocks(configuration: Configuration, function: ir.Function) -> tuple[Block, ...]:
    """Blocks that a launch might have as well, where its block was made up: spread over the axes that the kernel asks
    about."""
    if configuration.source != "default" or configuration.by_default:
        return ()
    asked = _axes_asked(function, ("threadIdx", "blockDim")) or {"x"}
    known = configuration.site.block if configuration.site is not None else _UNKNOWN
    axes = [axis for axis in range(3) if known[axis] is None and "xyz"[axis] in asked]
    found: list[Block] = []
    for extents in _OTHER_EXTENTS.get(len(axes), ()):
        block = [extent or 1 for extent in known]
        for axis, extent in zip(axes, extents, strict=True):
            block[axis] = extent
        found.append((block[0], block[1], block[2]))
    return tuple(found)


def another_use(configuration: Configuration, function: ir.Function, graph: Graph) -> Configuration:
    """The kernel as it might be launched with as well: with any arguments, and with a block twice as wide (or half as
    wide where that is too large) if it asks for the block's size and so is not written for one."""
    x, y, z = configuration.block
    if _axes_asked(function, ("blockDim",)):
        x = 2 * x if 2 * x * y * z <= MAX_THREADS else max(1, x // 2)
    arguments = unknown_arguments(function, graph, Generics(graph))
    return replace(configuration, block=(x, y, z), arguments=arguments)


def _check(name: str, extents: Sequence[Node]) -> None:
    problem = problem_of(name, [node.value if node.is_const else None for node in extents])
    if problem:
        raise ImpossibleLaunch(f"the {name} {problem}")


def _extents(expression: Expression, lookup: Lookup, one: Node) -> Nodes:
    """`dim3(32, 8)` or a plain number."""
    if isinstance(expression, CallOp) and expression.name == "dim3":
        values = [lookup(a) for a in expression.arguments[:3]]
        x, y, z = (*values, one, one, one)[:3]
        return (x, y, z)
    return (lookup(expression), one, one)


def default_grid(function: ir.Function, graph: Graph) -> Nodes:
    """Many blocks along x, and along y and z where the kernel asks for its place there."""
    axes = _axes_asked(function, ("blockIdx",))
    many, one = graph.const(DEFAULT_GRID), graph.one
    return (many, many if "y" in axes else one, many if "z" in axes else one)


def _axes_asked(function: ir.Function, variables: Sequence[str]) -> set[str]:
    """The axes along which a kernel asks for its place."""
    return {
        node.field
        for node in walk.walk(function.body)
        if isinstance(node, ir.Member) and isinstance(node.base, ir.Name) and node.base.symbol.name in variables
    }


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
    )
