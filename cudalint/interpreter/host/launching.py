"""The launches that host code makes: which kernels, with which extents and arguments, under which conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from cudalint.facts import Tiling
from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.calls import bind_parameters
from cudalint.interpreter.device.values import Choice, FunctionValue, Place, RecordValue, Value
from cudalint.interpreter.host import joins
from cudalint.interpreter.host.tiling import tilings
from cudalint.ir import nodes as ir
from cudalint.values.arithmetic import U4, U8, Kind
from cudalint.values.contradictions import exclude_each_other
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import Node, Reason

if TYPE_CHECKING:
    from cudalint.interpreter.host.execution import HostExecutor

Nodes = tuple[Node, Node, Node]
_Guards = tuple[Node, ...]


class HostLaunch(Struct, frozen=True, eq=False):
    """A launch that host code makes, with what is known of its parts."""

    kernel: ir.FunctionRef
    grid: tuple[Node, Node, Node]
    block: tuple[Node, Node, Node]
    shared: Node
    arguments: tuple[Value | Place, ...]
    span: ir.Span
    taken: bool
    """False in a branch that the known values do not take, or no value: inside of `if (type == Half)`, the case of
    `double` of a switch over all types."""
    tilings: tuple[Tiling, ...] = ()
    """The sizes in sight that the grid is rounded up from."""
    guards: tuple[Node, ...] = ()
    """Conditions under which the host code gets to it; false among them where the known values don't lead to it."""
    in_clusters: bool = False
    """Its configuration groups blocks into clusters."""


def record(ex: HostExecutor, expr: ir.Launch) -> None:
    kernels: list[tuple[ir.FunctionRef, _Guards]] = [(expr.kernel, ())] if expr.kernel is not None else []
    if expr.kernel is None and expr.callee is not None:
        kernels = list(_kernels_of(ex.graph, expressions.evaluate(ex, expr.callee)))
    grid = extents_of(ex, expressions.evaluate(ex, expr.grid))
    block = extents_of(ex, expressions.evaluate(ex, expr.block))
    shared = expressions.number(ex, expr.shared) if expr.shared is not None else ex.graph.zero
    is_open = not kernels
    if is_open:
        kernels = [(kernel, ()) for kernel in _fitting(expr)]
    is_open = is_open and len(kernels) > 1
    outer = ex.guards
    for kernel, guards in kernels:
        # What is meant for one of several kernels says nothing about the others.
        arguments = _unknown_arguments(ex, kernel) if is_open else arguments_of(ex, kernel, expr.arguments)
        sizes = () if is_open else tilings(ex, expr.grid, grid)
        # What the arguments check holds as well: `x.data_ptr<float>()` throws for others than floats.
        ex.guards = (*ex.guards, *guards)
        add(ex, kernel, (grid, block), shared, arguments, expr.span, sizes)
        ex.guards = outer


def _fitting(expr: ir.Launch) -> Sequence[ir.FunctionRef]:
    """The overloads of a kernel that may be meant, as far as types of arguments are known: all that take as many where
    these fit none."""
    kernels = [ref for ref in expr.overloads if ref.kind == "kernel"]
    kernels = [ref for ref in kernels if len(ref.parameter_types()) == len(expr.arguments)]
    given = [argument.type for argument in expr.arguments]
    return [ref for ref in kernels if all(map(_may_be, given, ref.parameter_types()))] or kernels


def _may_be(given: ir.Type, wanted: ir.Type) -> bool:
    """Whether what is given for a parameter may become what that takes. Pointers don't become others, but for `void *`;
    of what isn't known, and of numbers and classes, nothing is said."""
    if not isinstance(given, ir.PointerType) or not isinstance(wanted, ir.PointerType) or wanted.reference:
        return True
    return given.pointee == wanted.pointee or not isinstance(given.pointee, ir.Scalar)


def _unknown_arguments(ex: HostExecutor, kernel: ir.FunctionRef) -> tuple[Value | Place, ...]:
    signature = kernel.signature()
    return () if signature is None else tuple(ex.unknown_parameters(signature.parameters).values())


def _kernels_of(graph: Graph, value: Value, guards: _Guards = ()) -> Iterator[tuple[ir.FunctionRef, _Guards]]:
    """The functions that a value may be, each with the conditions under which it is that one."""
    if isinstance(value, FunctionValue):
        yield value.function, guards
    elif isinstance(value, Choice):
        yield from _kernels_of(graph, value.a, (*guards, value.condition))
        yield from _kernels_of(graph, value.b, (*guards, graph.negate(value.condition)))


def add(
    ex: HostExecutor,
    kernel: ir.FunctionRef,
    extents: tuple[Nodes, Nodes],
    shared: Node,
    arguments: tuple[Value | Place, ...],
    span: ir.Span,
    sizes: tuple[Tiling, ...] = (),
    in_clusters: bool = False,
) -> None:
    """`extents`: of the grid and of the block."""
    grid, block = extents
    if not ex.taken:
        # `run<float>(0, 0)` in a function that is there to instantiate a template says nothing about sizes.
        grid, block = _with_threads(ex, grid), _with_threads(ex, block)
    guards = (part for guard in (*ex.guards, *ex.assumed) for part in conjuncts(ex.graph, guard))
    known = tuple(dict.fromkeys(part for part in guards if joins.is_plain(ex.graph, part)))
    taken = ex.taken and not exclude_each_other(known)
    if not taken:
        known = (*known, ex.graph.false)
    shared = as_integer(ex.graph, shared, U8)
    ex.launches.append(HostLaunch(kernel, grid, block, shared, arguments, span, taken, sizes, known, in_clusters))
    numbers = tuple(value for value in arguments if isinstance(value, Node) and not value.kind.is_float)
    ex.made.add((kernel.key, span, grid, block, shared, numbers))


def arguments_of(ex: HostExecutor, kernel: ir.FunctionRef, arguments: tuple[ir.Expr, ...]) -> tuple[Value | Place, ...]:
    signature = kernel.signature()
    if signature is None:
        return tuple(expressions.evaluate(ex, a) for a in arguments)
    return tuple(bind_parameters(ex, signature.parameters, arguments).values())


def function_of(value: Value) -> ir.FunctionRef | None:
    if isinstance(value, FunctionValue):
        return value.function
    if isinstance(value, Choice):
        return function_of(value.a) or function_of(value.b)
    return None


def extents_of(ex: HostExecutor, value: Value) -> tuple[Node, Node, Node]:
    """A dim3 (or a number) as three extents."""
    one = ex.graph.one
    if isinstance(value, Node):
        return (_extent(ex, value), one, one)
    if isinstance(value, RecordValue):
        parts = [value.fields.get(axis, one) for axis in "xyz"]
        x, y, z = (_extent(ex, p) if isinstance(p, Node) else one for p in parts)
        return (x, y, z)
    return (_generic(ex), one, one)


def _extent(ex: HostExecutor, number: Node) -> Node:
    """One that is made of what can't be followed may be any size, and not any number."""
    return _generic(ex) if number.bits & ex.graph.opaque_bits else as_integer(ex.graph, number, U4)


def as_integer(graph: Graph, number: Node, kind: Kind) -> Node:
    """What a launch is handed for a size is an integer. Where something isn't declared, or isn't parsed at all, nothing
    tells of the conversion of a floating-point number."""
    return graph.convert(number, kind) if number.kind.is_float else number


def _with_threads(ex: HostExecutor, extents: Nodes) -> Nodes:
    """Extents of which those are unknown that leave nothing to launch."""
    x, y, z = (_generic(ex) if n.is_const and n.value < 1 else n for n in extents)
    return (x, y, z)


def _generic(ex: HostExecutor) -> Node:
    node = ex.memory.unknown(ir.Scalar("int", 4, "int"), Reason(False, "launch"), (), "launch")
    assert isinstance(node, Node)
    return node
