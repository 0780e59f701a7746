"""What the text of a program says of an access: where it stands, where its address is made, and which record it lies
in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
from msgspec import Struct

from cudalint.execute.library.groups import GRID_COUNTER
from cudalint.execute.memory import Allocation, plus
from cudalint.execute.trace import AccessEvent, Stack
from cudalint.execute.values import Data, Pointer
from cudalint.facts import GRID_ARRIVES, GRID_WAITS, Frame, LibraryCall, Space
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import BUILTINS
from cudalint.ir.kept import kept
from cudalint.ir.walk import nodes_in, root, walk
from cudalint.worlds.records import Batch

_EXPRESSIONS = get_args(ir.Expr)


class Within(Struct, frozen=True):
    """The record in memory of which something is a part."""

    type: ir.RecordType | ir.ArrayType
    offset: int | None
    """Bytes from its start to the part; None where an index says it."""

    @property
    def align(self) -> int:
        of: ir.Type = self.type
        while isinstance(of, ir.ArrayType):
            of = of.element
        return of.align if isinstance(of, ir.RecordType) else of.bytes


def frames_of(stack: Stack) -> tuple[Frame, ...]:
    return tuple([Frame(*call.span) for call in stack])


def spans_of(node: Any, stack: Stack) -> tuple[ir.Span, tuple[ir.Span, ...]]:
    """Where a node stands and the calls stand that lead there: the same in each launch."""
    return node.span, tuple(call.span for call in stack)


def function_of(stack: Stack, kernel: str) -> str:
    """The name of the function that an access stands in."""
    if not stack:
        return kernel
    call, reference = stack[0], reference_of(stack[0])
    if reference is not None:
        return reference.name
    return call.name if isinstance(call, ir.Call) and call.name else "operator()"


def reference_of(call: ir.Call | ir.Construct) -> ir.FunctionRef | None:
    """The function or the constructor that is called, if it is one by name."""
    return call.constructor if isinstance(call, ir.Construct) else call.function


def called(call: ir.Call | ir.Construct) -> ir.Function | None:
    """The function of the user's that a call leads to, where it is in sight."""
    reference = reference_of(call)
    return reference.load() if reference is not None and reference.is_user else None


def functions_in(kernel: ir.Function) -> Iterator[tuple[ir.Function, Stack]]:
    """A kernel and the user's functions that it calls, each once, with the calls that lead there, innermost first."""
    seen = {id(kernel)}
    pending: list[tuple[ir.Function, Stack]] = [(kernel, ())]
    while pending:
        function, stack = pending.pop()
        yield function, stack
        for node in nodes_in(function):
            body = called(node) if isinstance(node, (ir.Call, ir.Construct)) else None
            if body is not None and id(body) not in seen:
                seen.add(id(body))
                pending.append((body, (node, *stack)))


def element_of(event: AccessEvent) -> str:
    """The type of what is accessed."""
    node = event.within if isinstance(event.within, _EXPRESSIONS) else event.node
    type_ = ir.referent(node.type) if isinstance(node, _EXPRESSIONS) else None
    if isinstance(node, ir.Call) and node.arguments:
        argument = ir.referent(node.arguments[0].type)
        type_ = ir.pointee(argument) if isinstance(argument, ir.PointerType) else type_
    return ir.type_name(type_) if type_ is not None else "?"


def record_of(event: AccessEvent) -> Within | None:
    """The record that an access touches a part of. What a function of a library touches by one call in several pieces
    is one as well."""
    if isinstance(event.within, (ir.RecordType, ir.ArrayType)):
        return Within(event.within, None) if event.bytes < event.within.bytes else None
    return record_at(event.within if event.within is not None else event.node, event.bytes)


def record_at(node: Any, bytes_: int) -> Within | None:
    """The outermost record that a field of so many bytes is named of, or the one that is accessed as a whole in several
    pieces of so many."""
    if not isinstance(node, (ir.Member, ir.Index, ir.Name, ir.Unary, ir.Cast)):
        return None
    own = ir.referent(node.type)
    if isinstance(own, (ir.RecordType, ir.ArrayType)) and bytes_ < own.bytes:
        return Within(own, None)
    found: Within | None = None
    offset: int | None = 0
    while isinstance(node, (ir.Member, ir.Index)):
        if isinstance(node, ir.Index):
            if not isinstance(ir.referent(node.base.type), ir.ArrayType):
                break
            offset = None
            node = node.base
            continue
        base = ir.referent(node.base.type)
        of = ir.pointee(base) if node.arrow else base
        if not isinstance(of, ir.RecordType):
            break
        field = of.field(node.field)
        if field is None or ir.is_reference(field.type):
            break
        offset = None if offset is None else offset + field.offset
        found = Within(of, offset)
        if node.arrow:
            break
        node = node.base
    return found


def is_view(event: AccessEvent, record: Within, declared: ir.Type | None) -> bool:
    """Whether a cast has made a struct of what the array is declared to hold."""
    type_ = event.allocation.type or declared
    while isinstance(type_, ir.ArrayType):
        type_ = type_.element
    return type_ is not None and type_.bytes != record.type.bytes


def made_at(event: AccessEvent) -> tuple[ir.Span, Stack]:
    """Where the address of an access is made, and the calls through which that is reached, innermost first: of an
    access in another file than the kernel's to what an argument names, or to a fixed part of it, that is the
    argument."""
    span, stack = event.node.span, event.stack
    if not stack or span.path == stack[-1].span.path:
        return span, stack
    for depth, pointers in enumerate(event.passed, 1):
        argument = next((argument for pointer, argument in pointers if _is_part_of(event, pointer)), None)
        if argument is None:
            break
        span, stack = argument.span, event.stack[depth:]
    return span, stack


def _is_part_of(event: AccessEvent, pointer: Any) -> bool:
    if pointer.allocation is not event.allocation:
        return False
    if isinstance(pointer.offset, Data) or isinstance(event.offset, Data):
        return pointer.offset is event.offset
    moved = np.asarray(plus(event.offset, -pointer.offset))
    return bool((moved == moved.flat[0]).all())


def made_by(event: AccessEvent, kernel: ir.Function) -> LibraryCall | None:
    """The function of a library whose own access it is."""
    node = event.node
    if event.allocation.name == GRID_COUNTER:
        return LibraryCall(GRID_ARRIVES if event.operation == "atomic" else GRID_WAITS, None)
    if event.maker:
        return LibraryCall(event.maker, None)
    if isinstance(node, ir.Call) and node.name in BUILTINS and not _is_users(node):
        return LibraryCall(node.name, tuple(ir.type_name(argument.type) for argument in node.arguments))
    function = _function_around(event.stack, kernel)
    operator = _operators_in(function).get(node.span) if function is not None else None
    if operator is None and isinstance(node, ir.Call) and not _is_users(node):
        return LibraryCall(node.name, None)
    return operator


def _is_users(call: ir.Call) -> bool:
    return call.function is not None and call.function.is_user


def _function_around(stack: Stack, kernel: ir.Function) -> ir.Function | None:
    """The function of the user's in whose text an access stands."""
    if not stack:
        return kernel
    reference = reference_of(stack[0])
    return reference.load() if reference is not None else None


@kept(16)
def _operators_in(function: ir.Function) -> dict[ir.Span, LibraryCall]:
    """Operators of a library's types, by the spans of the operands that they load or store: what is innermost comes
    first. A record is assigned by one as well."""
    found: dict[ir.Span, LibraryCall] = {}
    for node in reversed(nodes_in(function)):
        operands: tuple[ir.Expr, ...] = ()
        if isinstance(node, ir.Call) and node.name.startswith("operator") and not _is_users(node):
            operands = node.arguments if node.receiver is None else (node.receiver,)
            owner = "" if node.receiver is None else f"{ir.type_name(node.receiver.type)}::"
            types = tuple(ir.type_name(argument.type) for argument in node.arguments)
            made = LibraryCall(owner + node.name, types)
        elif isinstance(node, ir.Assign) and isinstance(node.target.type, ir.RecordType):
            operands = (node.target, node.value)
            name = ir.type_name(node.target.type)
            # Another one for what has no place of its own.
            is_result = isinstance(node.value, (ir.Call, ir.Construct, ir.Cast))
            made = LibraryCall(f"{name}::operator=", (f"{name}&&" if is_result else f"{name}&",))
        for operand in operands:
            found.setdefault(operand.span, made)
        if operands and isinstance(node, ir.Call):
            # Where the operator is what is noted to load or store.
            found.setdefault(node.span, made)
    return found


def named(event: AccessEvent, kernel: ir.Function) -> str:
    """What an array is called: two parameters of a kernel may lead to one, and the access names one of them."""
    if not event.stack and isinstance(event.node, (ir.Index, ir.Member, ir.Unary)):
        symbol = root(event.node)
        of_kernel = {parameter.name for parameter in kernel.parameters}
        if symbol in kernel.parameters and event.allocation.name in of_kernel:
            return symbol.name
    return event.allocation.name


def space_of(allocation: Allocation) -> Space:
    """Of what other memory a pointer leads to there is none among the accesses of a trace."""
    assert allocation.space != "nowhere" and allocation.space != "cluster"
    return allocation.space


@kept(16)
def pointees_of(kernel: ir.Function) -> dict[str, ir.Type]:
    """What each parameter is declared to point to, and what the fields of structures do that are passed, by name."""
    found: dict[str, ir.Type] = {}
    left = [(symbol.name, symbol.type) for symbol in kernel.parameters]
    while left:
        name, type_ = left.pop()
        if isinstance(type_, ir.PointerType):
            found[name] = type_.pointee
        elif isinstance(type_, ir.RecordType):
            left += [(f"{name}.{field.name}", field.type) for field in type_.fields]
    return found


def declared_type(allocation: Allocation, function: ir.Function) -> ir.Type | None:
    """What the parameter that leads to memory is declared to point to."""
    for parameter in function.parameters:
        if parameter.name == allocation.name and isinstance(parameter.type, ir.PointerType):
            return parameter.type.pointee
    return None


# --- what arrays are called ----------------------------------------------------------------------------


def name_of(node: Any, stack: Stack, array: Allocation, batch: Batch) -> str:
    """The parameter that the kernel's own text names at an access, if it is one of several; else the array's name."""
    parameters = {
        symbol
        for symbol, value in batch.arguments.items()
        if isinstance(value, Pointer) and value.allocation is array
    }
    if len(parameters) < 2:
        return array.name
    named = {each.symbol for each in walk(stack[-1] if stack else node) if isinstance(each, ir.Name)} & parameters
    return named.pop().name if len(named) == 1 else array.name
