"""The launches that host code makes: which kernels, with which extents and arguments, under which conditions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from cudalint.facts import Tiling
from cudalint.host.executor import expressions, joins
from cudalint.host.executor.calls import bind_parameters
from cudalint.host.executor.tiling import tilings
from cudalint.host.executor.values import Choice, FunctionValue, Place, RecordValue, Value
from cudalint.host.executor.vanished import Vanished
from cudalint.host.values.arithmetic import U4, U8, Kind, wrap
from cudalint.host.values.contradictions import exclude_each_other
from cudalint.host.values.evaluation import number_of
from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import UNREAD_EXTENT, Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

Nodes = tuple[Node, Node, Node]
Guards = tuple[Node, ...]


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
    cluster: tuple[Node, Node, Node] | None = None
    """How many blocks its configuration groups into a cluster, where it says that."""
    vanished: Vanished | None = None
    """Where an extent is 0: the last quotient that has become 0 though there was something to divide."""
    is_cooperative: bool = False
    """All its blocks are resident at one time, or it fails."""
    called_at: ir.Span | None = None
    """Where it is written, if not at the launch itself: of a function that launches the kernel that it is given
    (`launch(kernel, grid, block, ...)`), the outermost call that hands the kernel over."""
    from_call: ir.Span | None = None
    """The call of the function that it is written in, which its numbers come through; None where nobody calls that."""

    @property
    def written_at(self) -> ir.Span:
        """Where whoever reads of it would look for it."""
        return self.called_at or self.span

    @property
    def in_clusters(self) -> bool:
        """Whether that is more than one for certain."""
        return self.cluster is not None and any(extent.is_const and extent.value > 1 for extent in self.cluster)


class Found(Struct, eq=False):
    """What an execution leaves behind."""

    executed: set[str]
    """Keys of the functions that have been executed with launches in them."""
    launches: list[HostLaunch] = field(default_factory=list)
    statements: int = 0
    """That were executed, from all roots."""
    made: set[object] = field(default_factory=set)
    """The launches that differ by place, extents or whole numbers among their arguments."""
    unfollowed: set[ir.Span] = field(default_factory=set)
    """Launches of loops that go on to make others there."""
    opt_ins: dict[str, list[Node]] = field(default_factory=dict)
    """By a kernel's key: the bytes to which its limit of dynamic shared memory is raised."""
    vanished: list[Vanished] = field(default_factory=list)
    """Quotients of numbers that have become 0 since the last launch."""
    ruled_out: set[str] = field(default_factory=set)
    """Keys of the functions that are called on sides of branches against which a template's arguments decide."""


def launched(ex: Execution, expr: ir.Launch) -> Value:
    """`kernel<<<grid, block, shared>>>(arguments)`."""
    if not ex.code.is_wanted(expr):
        return ex.graph.zero
    kernels: list[tuple[ir.FunctionRef, Guards]] = [(expr.kernel, ())] if expr.kernel is not None else []
    if expr.kernel is None and expr.callee is not None:
        kernels = list(kernels_of(ex.graph, expressions.evaluate(ex, expr.callee)))
    grid = extents_of(ex, expressions.evaluate(ex, expr.grid))
    block = extents_of(ex, expressions.evaluate(ex, expr.block))
    shared = shared_bytes(ex, expr.shared)
    is_open = not kernels
    if is_open:
        kernels = [(kernel, ()) for kernel in _fitting(expr)]
    is_open = is_open and len(kernels) > 1
    for kernel, guards in kernels:
        # What is meant for one of several kernels says nothing about the others.
        arguments = _unknown_arguments(ex, kernel) if is_open else arguments_of(ex, kernel, expr.arguments)
        sizes = () if is_open else tilings(ex, expr.grid, grid)
        # What the arguments check holds as well: `x.data_ptr<float>()` throws for others than floats.
        with ex.under(guards):
            add(ex, kernel, (grid, block), shared, arguments, expr.span, sizes)
    return ex.graph.zero


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


def _unknown_arguments(ex: Execution, kernel: ir.FunctionRef) -> tuple[Value | Place, ...]:
    signature = kernel.signature()
    return () if signature is None else tuple(ex.unknown_parameters(signature.parameters).values())


def kernels_of(graph: Graph, value: Value, guards: Guards = ()) -> Iterator[tuple[ir.FunctionRef, Guards]]:
    """The functions that a value may be, each with the conditions under which it is that one."""
    if isinstance(value, FunctionValue):
        yield value.function, guards
    elif isinstance(value, Choice):
        yield from kernels_of(graph, value.a, (*guards, value.condition))
        yield from kernels_of(graph, value.b, (*guards, graph.negate(value.condition)))


def add(
    ex: Execution,
    kernel: ir.FunctionRef,
    extents: tuple[Nodes, Nodes],
    shared: Node,
    arguments: tuple[Value | Place, ...],
    span: ir.Span,
    sizes: tuple[Tiling, ...] = (),
    cluster: Nodes | None = None,
    is_cooperative: bool = False,
) -> None:
    """`extents`: of the grid and of the block."""
    grid, block = extents
    if not ex.taken:
        # `run<float>(0, 0)` in a function that is there to instantiate a template says nothing about sizes.
        grid, block = _with_threads(ex, grid), _with_threads(ex, block)
    guards = (part for guard in ex.state.guards for part in conjuncts(ex.graph, guard))
    known = tuple(dict.fromkeys(part for part in guards if joins.is_plain(ex.graph, part)))
    is_excluded = exclude_each_other(known) or any(part.is_const and not part.value for part in known)
    taken = ex.taken and not is_excluded
    if not taken:
        known = (*known, ex.graph.false)
    shared = whole_number(ex.graph, shared, U8) or _generic(ex)
    is_nothing = taken and any(extent.is_const and extent.value < 1 for extent in (*grid, *block))
    vanished = ex.found.vanished[-1] if is_nothing and ex.found.vanished else None
    ex.found.vanished.clear()
    launch = HostLaunch(
        kernel, grid, block, shared, arguments, span, taken, sizes, known, cluster, vanished, is_cooperative,
        *_calls_to(ex, kernel),
    )  # fmt: skip
    ex.found.launches.append(launch)
    numbers = tuple(value for value in arguments if isinstance(value, Node) and not value.kind.is_float)
    ex.found.made.add((kernel.key, span, grid, block, shared, numbers))


def _calls_to(ex: Execution, kernel: ir.FunctionRef) -> tuple[ir.Span | None, ir.Span | None]:
    """The outermost of the calls by which a kernel has come to its launch as an argument, None where it has not; and
    the innermost of those outside of it."""
    functions = ex.state.functions
    handed = next((i for i, each in enumerate(functions) if each.call is not None and kernel.key in each.given), None)
    outside = [each.call for each in functions[:handed] if each.call is not None]
    return (functions[handed].call if handed is not None else None), (outside[-1] if outside else None)


def arguments_of(ex: Execution, kernel: ir.FunctionRef, arguments: tuple[ir.Expr, ...]) -> tuple[Value | Place, ...]:
    signature = kernel.signature()
    if signature is None:
        return tuple(expressions.evaluate(ex, a) for a in arguments)
    return tuple(bind_parameters(ex, signature.parameters, arguments).values())


def extents_of(ex: Execution, value: Value) -> tuple[Node, Node, Node]:
    """A dim3 (or a number) as three extents."""
    one = ex.graph.one
    if isinstance(value, Node):
        return (_extent(ex, value), one, one)
    if isinstance(value, RecordValue):
        parts = [value.fields.get(axis, one) for axis in "xyz"]
        x, y, z = (_extent(ex, p) if isinstance(p, Node) else one for p in parts)
        return (x, y, z)
    return (_generic(ex), one, one)


def _extent(ex: Execution, number: Node) -> Node:
    """One that is made of what can't be followed may be any size, and not any number."""
    whole = whole_number(ex.graph, number, U4)
    return _generic(ex) if whole is None or number.bits & ex.graph.opaque_bits else whole


def whole_number(graph: Graph, number: Node, kind: Kind) -> Node | None:
    """A number as a launch takes it: what a program writes as a fraction is cut off, as C does. None for one that is
    not finite or that the integer can't hold (`1e999` bytes), of which C doesn't say what it becomes."""
    if not number.kind.is_float or number.bits & graph.opaque_bits:
        return number
    value = float(number_of(graph, number))
    held = math.isfinite(value) and wrap(int(value), kind) == int(value)
    return graph.convert(number, kind) if held else None


def shared_bytes(ex: Execution, expr: ir.Expr | None) -> Node:
    """Those of dynamic shared memory that a launch gives a block."""
    if expr is None:
        return ex.graph.zero
    bare = whole_number(ex.graph, expressions.number(ex, walk.without_casts(expr)), U8)
    return _generic(ex) if bare is None else whole_number(ex.graph, expressions.number(ex, expr), U8) or _generic(ex)


def _with_threads(ex: Execution, extents: Nodes) -> Nodes:
    """Extents of which those are unknown that leave nothing to launch."""
    x, y, z = (_generic(ex) if n.is_const and n.value < 1 else n for n in extents)
    return (x, y, z)


def _generic(ex: Execution) -> Node:
    node = ex.memory.unknown(ir.Scalar("int", 4, "int"), Reason(UNREAD_EXTENT), (), UNREAD_EXTENT)
    assert isinstance(node, Node)
    return node
