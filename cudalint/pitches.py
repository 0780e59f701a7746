"""The accesses of a kernel whose pitch is another size than the row's length.

This is a property of the kernel, whichever numbers a launch gives it: where the host code makes the arguments plain
or equal, the kernel is executed once more with sizes that are only names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cudalint import ir
from cudalint.evaluate import walk
from cudalint.evaluate.events import AccessEvent, Event
from cudalint.evaluate.executor import Configuration as Extents
from cudalint.evaluate.executor import Executor, GaveUp
from cudalint.evaluate.figures import LaunchView
from cudalint.evaluate.graph import Graph, Node, kind_of, render
from cudalint.evaluate.pitch import pitch_mismatches
from cudalint.facts import Frame, PitchMismatch, Place
from cudalint.launch import Configuration

_GENERIC = 4096


def pitches(
    function: ir.Function, configuration: Configuration, events: Sequence[Event], view: LaunchView
) -> tuple[PitchMismatch, ...]:
    """The wrong pitches of a kernel that was executed under one configuration."""
    sizes = _sizes(function)
    if len(sizes) < 2 or not _scales_by(function, sizes):
        return ()
    plain = _settled(sizes, configuration)
    if plain:
        events = _execute(view.graph, function, configuration, plain)
    accesses = [event for event in events if isinstance(event, AccessEvent)]
    found: dict[object, PitchMismatch] = {}
    for mismatch in pitch_mismatches(accesses, view):
        context, other = mismatch.event.context, mismatch.by_other
        found.setdefault(
            (context.span, context.frames),
            PitchMismatch(
                Place(*context.span),
                tuple(Frame(s.path, s.line) for s in context.frames),
                mismatch.event.operation,
                mismatch.event.target.name,
                view.index,
                render(mismatch.pitch),
                render(mismatch.length),
                Place(*other.context.span) if other is not None else None,
            ),
        )
    return tuple(found.values())


def _sizes(function: ir.Function) -> list[ir.Symbol]:
    """The integer parameters."""
    return [
        s
        for s in function.parameters
        if isinstance(s.type, ir.Scalar) and s.type.kind in ("int", "uint") and s.type.bytes >= 4
    ]


def _settled(sizes: Sequence[ir.Symbol], configuration: Configuration) -> list[ir.Symbol]:
    """The parameters that the launch gives numbers, or the same size as another."""
    values = [configuration.arguments.get(symbol) for symbol in sizes]
    return [
        symbol
        for symbol, value in zip(sizes, values, strict=True)
        if isinstance(value, Node) and (value.is_const or sum(value is other for other in values) > 1)
    ]


def _scales_by(function: ir.Function, sizes: Sequence[ir.Symbol]) -> bool:
    """Whether the body multiplies anything by one of the parameters: most kernels don't, and need no second look."""
    for node in walk.walk(function.body):
        if isinstance(node, ir.Binary) and node.op == "*" and any(_names(o, sizes) for o in (node.left, node.right)):
            return True
        is_users = isinstance(node, ir.Call) and node.function is not None and node.function.is_user
        if is_users and any(_names(argument, sizes) for argument in node.arguments):
            return True
    return False


def _names(expr: ir.Expr, sizes: Sequence[ir.Symbol]) -> bool:
    while isinstance(expr, ir.Cast):
        expr = expr.operand
    return isinstance(expr, ir.Name) and any(expr.symbol is size for size in sizes)


def _execute(
    graph: Graph, function: ir.Function, configuration: Configuration, plain: Sequence[ir.Symbol]
) -> Sequence[Event]:
    """The events of an execution in which these parameters are names."""
    arguments = dict(configuration.arguments)
    for position, symbol in enumerate(plain):
        arguments[symbol] = graph.uniform(symbol.name, _GENERIC + 64 * position, kind_of(symbol.type))
    open_ = replace(configuration, arguments=arguments)
    x, y, z = (graph.const(v) for v in open_.block)
    executor = Executor(graph, Extents((x, y, z), open_.grid))
    try:
        executor.run_kernel(function, open_.arguments)
    except GaveUp:
        return ()
    return executor.memory.events
