"""The accesses of a kernel whose pitch is another size than the row's length.

This is a property of the kernel, whichever numbers a launch gives it: where the host code makes the arguments plain
or equal, the kernel is executed once more with sizes that are only names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of
from cudalint.evaluate.checks.pitch import pitch_mismatches
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import KernelFacts, PitchMismatch, Place
from cudalint.interpreter.device.events import AccessEvent, Event
from cudalint.interpreter.device.executor import Executor, Extents, GaveUp
from cudalint.interpreter.device.values import Place as ValuePlace
from cudalint.interpreter.device.values import RecordValue, Value
from cudalint.interpreter.host.checked_sizes import equal
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.processes.deadline import Deadline
from cudalint.values.arithmetic import kind_of
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, render, without_cast

_GENERIC = 4096


class PitchCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "pitches"
    found: list[PitchMismatch] = field(default_factory=list)

    def add(self, run: Run) -> None:
        if not run.is_refused:
            subject = run.subject
            until = subject.executing_until()
            self.found += _pitches(subject.function, run.configuration, run.execution, until, subject.right_pitches)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, pitches=tuple(self.found))


def _pitches(
    function: ir.Function, configuration: Configuration, execution: Execution, deadline: Deadline, right: set[object]
) -> tuple[PitchMismatch, ...]:
    """The wrong pitches of a kernel that was executed under one configuration; `deadline` is that of another execution.
    `right` collects what was executed before without a finding, in all of the file: launches that make the same sizes
    plain are alike, and so are the instantiations of a template.
    """
    view, events = execution.view, execution.events
    sizes = _sizes(function)
    if len(sizes) < 2 or not _scales_by(function, sizes):
        return ()
    plain = _settled(sizes, configuration)
    like = (function.span, tuple(map(str, plain)))
    if plain and like in right:
        return ()
    if plain:
        events = _execute(view.graph, function, configuration, plain, deadline)
    accesses = [event for event in events if isinstance(event, AccessEvent)]
    found: dict[object, PitchMismatch] = {}
    for mismatch in pitch_mismatches(accesses, view, configuration.source != "default"):
        if _are_equal(mismatch.pitch, mismatch.length, configuration):
            continue
        context, other = mismatch.event.context, mismatch.by_other
        found.setdefault(
            (context.span, context.frames),
            PitchMismatch(
                Place(*context.span),
                frames_of(context.frames),
                mismatch.event.operation,
                mismatch.event.target.name,
                view.index,
                render(mismatch.pitch),
                render(mismatch.length),
                Place(*other.context.span) if other is not None else None,
            ),
        )
    if plain and not found:
        right.add(like)
    return tuple(found.values())


def _are_equal(pitch: Node, length: Node, configuration: Configuration) -> bool:
    """Whether the host only goes on to the launch where both are one number."""
    both = {without_cast(pitch), without_cast(length)}
    sides = (pair for guard in configuration.guards for pair in equal(guard))
    return any({without_cast(side) for side in pair} == both for pair in sides)


class _Size(Struct, frozen=True):
    """An integer parameter, or such a field of one."""

    symbol: ir.Symbol
    field: str | None
    type: ir.Type

    def __str__(self) -> str:
        return self.symbol.name if self.field is None else f"{self.symbol.name}.{self.field}"

    def value(self, arguments: Mapping[ir.Symbol, Value | ValuePlace]) -> object:
        argument = arguments.get(self.symbol)
        if self.field is None:
            return argument
        return argument.fields.get(self.field) if isinstance(argument, RecordValue) else None

    def is_named_by(self, expr: ir.Expr) -> bool:
        expr = walk.without_casts(expr)
        if self.field is not None and isinstance(expr, ir.Member) and expr.field == self.field:
            return isinstance(expr.base, ir.Name) and expr.base.symbol is self.symbol
        return isinstance(expr, ir.Name) and expr.symbol is self.symbol and self.field is None


def _sizes(function: ir.Function) -> list[_Size]:
    sizes: list[_Size] = []
    for symbol in function.parameters:
        if _is_integer(symbol.type):
            sizes.append(_Size(symbol, None, symbol.type))
        elif isinstance(symbol.type, ir.RecordType):
            sizes += [_Size(symbol, f.name, f.type) for f in symbol.type.fields if _is_integer(f.type)]
    return sizes


def _is_integer(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint") and type_.bytes >= 4


def _settled(sizes: Sequence[_Size], configuration: Configuration) -> list[_Size]:
    """The sizes that the launch gives numbers, or the same number as another."""
    values = [size.value(configuration.arguments) for size in sizes]
    return [
        size
        for size, value in zip(sizes, values, strict=True)
        if isinstance(value, Node) and (value.is_const or sum(value is other for other in values) > 1)
    ]


def _scales_by(function: ir.Function, sizes: Sequence[_Size]) -> bool:
    """Whether the body multiplies anything by one of the sizes: most kernels don't, and need no second look."""
    for node in walk.nodes_in(function):
        if isinstance(node, ir.Binary) and node.op == "*":
            operands = [node.left, node.right]
        elif isinstance(node, ir.Call) and node.function is not None and node.function.is_user:
            operands = [*node.arguments]
        else:
            continue
        if any(size.is_named_by(operand) for operand in operands for size in sizes):
            return True
    return False


def _execute(
    graph: Graph, function: ir.Function, configuration: Configuration, plain: Sequence[_Size], deadline: Deadline
) -> Sequence[Event]:
    """The events of an execution in which these sizes are names."""
    arguments = dict(configuration.arguments)
    for position, size in enumerate(plain):
        name = graph.uniform(str(size), _GENERIC + 64 * position, kind_of(size.type))
        record = arguments.get(size.symbol)
        if size.field is None:
            arguments[size.symbol] = name
        elif isinstance(record, RecordValue):
            arguments[size.symbol] = record.with_field(size.field, name)
    x, y, z = (graph.const(v) for v in configuration.block)
    executor = Executor(graph, Extents((x, y, z), configuration.grid), deadline=deadline)
    try:
        executor.run_kernel(function, arguments)
    except GaveUp:
        return ()
    return executor.memory.events
