"""The launch of a kernel that nobody launches in sight: from annotations, the command line, the configuration, launch
bounds, or the default. The order is that of the facts contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.facts import LaunchSource
from cudalint.facts import Place as SourcePlace
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.values import Place, Value
from cudalint.host.values.arithmetic import I8, U4
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.arguments import unknown_arguments
from cudalint.launches.blocks import at_most, block_of
from cudalint.launches.configuration import UNKNOWN, Configuration, Nodes, default_grid, known_extents, site_of
from cudalint.launches.distinct import MAX_LAUNCHES
from cudalint.launches.made_up import made_up_block
from cudalint.options.analysis import AnalysisOptions, KernelSettings
from cudalint.options.annotations import Annotation, launch_of
from cudalint.options.expressions import CallOp, Expression, parse_expression
from cudalint.options.limits import problem_of

Lookup = Callable[[Expression], Node]
"""Gives a number to an expression of an annotation or option."""


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
    block, source, text = made_up_block(function)
    return [Configuration(block, grid, graph.zero, arguments, source, None, None, (text,))]


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
    chosen = at_most(options.block)
    block, texts = chosen.extents, chosen.assumptions
    site = site_of(SourcePlace(*function.name_span), options.block, grid, shared)
    if options.grid is None:
        site = replace(site, grid=UNKNOWN)
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
    chosen = block_of(extents, graph, function)
    block, texts = chosen.extents, chosen.assumptions
    grid = default_grid(function, graph)
    if launch.grid is not None:
        grid = _extents(launch.grid, lookup, one)
        _check("grid", grid)
    shared = graph.zero
    if launch.shared is not None:
        shared = lookup(launch.shared)
        _check("shared", (shared,))
    site = site_of(SourcePlace(*function.name_span), known_extents(extents) if texts else block, grid, shared)
    if launch.grid is None:
        site = replace(site, grid=UNKNOWN)
    return Configuration(block, grid, shared, arguments, launch.source, launch.path, launch.line, texts, site)


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
