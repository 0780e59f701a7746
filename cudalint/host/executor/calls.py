"""Calls: known device functions, inlining of everything whose body is in sight, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from cudalint.host.executor import expressions, inlining
from cudalint.host.executor.conversions import cast, convert
from cudalint.host.executor.function_names import number_by_name
from cudalint.host.executor.memory import address_of, dereference
from cudalint.host.executor.values import (
    PLACES,
    Allocation,
    Choice,
    Closure,
    FunctionValue,
    LocalMemory,
    LocalPlace,
    MemoryPlace,
    Place,
    Pointer,
    RecordValue,
    TemporaryPlace,
    Text,
    Value,
    few_of,
    nodes_of,
)
from cudalint.host.values.nodes import UNINITIALISED, Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


def call_value(ex: Execution, expr: ir.Call) -> Value:
    result = _call(ex, expr)
    return expressions.read(ex, result, expr.span) if isinstance(result, PLACES) else result


def call_place(ex: Execution, expr: ir.Call) -> Place:
    result = _call(ex, expr)
    return result if isinstance(result, PLACES) else TemporaryPlace(result, expr.type)


def _call(ex: Execution, expr: ir.Call) -> Value | Place:
    ref = expr.function
    if ref is None or not ref.is_user:
        result = _library_result(ex, expr)
        if result is not None:
            return result
    called = _closure_of(ex, expr)
    if called is not None:
        return called
    if ref is not None and ref.never_returns():
        ex.state.dead = True
        return ex.graph.zero
    if ref is not None:
        inlined = inlining.inline(ex, ref, lambda f: bind(ex, f, expr.arguments, _this(ex, expr)), expr.span)
        if inlined is not None:
            return inlined
    number = number_by_name(ex, expr)
    if number is not None:
        return number
    answer = ex.answers.of(expr)
    return unknown_call(ex, expr) if answer is None else answer


def _library_result(ex: Execution, expr: ir.Call) -> Value | Place | None:
    """What a function of the library gives; None for other functions, and where no more is known than of those."""
    known = ex.library.get(expr.name)
    if known is None:
        return None
    try:
        result: Value | Place | None = known(ex, expr)
    except (IndexError, ValueError):
        # The call does not compile: arguments are missing, or hold an error and are left out of the tree.
        return None
    return result


def _closure_of(ex: Execution, expr: ir.Call) -> Value | Place | None:
    """Calls a lambda (or a function through a pointer); None where the callee is neither."""
    source = expr.receiver if expr.receiver is not None else expr.callee
    if source is None or (expr.function is not None and not _is_call_operator(expr)):
        return None
    named = isinstance(source, ir.Name | ir.Lambda)
    if expr.receiver is not None and isinstance(source.type, ir.RecordType) and not named:
        return None
    value = expressions.evaluate(ex, source)
    if isinstance(value, Closure):
        ref = expr.function if expr.function is not None and expr.function.load() is not None else value.function
        return with_captured(ex, value, ref, lambda: _inlined(ex, ref, expr))
    if isinstance(value, FunctionValue):
        return _inlined(ex, value.function, expr)
    return None


def _inlined(ex: Execution, ref: ir.FunctionRef, expr: ir.Call) -> Value | Place | None:
    return inlining.inline(ex, ref, lambda f: bind(ex, f, expr.arguments, None), expr.span)


def with_captured(
    ex: Execution, closure: Closure, ref: ir.FunctionRef, call: Callable[[], Value | Place | None]
) -> Value | Place | None:
    """Calls a lambda. The variables that it captured by copy are its own: what they are outside is another matter. Of
    numbers that it changes (`mutable`), nobody counts how often it did."""
    function = ref.load()
    outside = {symbol: ex.state.variables.get(symbol) for symbol in closure.captured}
    assigned = walk.effects(function.body).assigned if function is not None and closure.captured else ()
    for symbol, value in closure.captured.items():
        is_changed = symbol in assigned and not isinstance(value, (Pointer, Choice))
        ex.state.variables[symbol] = (
            ex.unknown("a lambda changes its copy", symbol.type, (), symbol) if is_changed else value
        )
    result = call()
    for symbol, before in outside.items():
        if before is None:
            ex.state.variables.pop(symbol, None)
        else:
            ex.state.variables[symbol] = before
    return result


def _is_call_operator(expr: ir.Call) -> bool:
    return expr.name == "operator()"


def _this(ex: Execution, expr: ir.Call) -> Value | None:
    if expr.receiver is None:
        return None
    where = expressions.place(ex, expr.receiver)
    if isinstance(where, TemporaryPlace):
        where = expressions.materialise(ex, where.value, where.type, expr.span)
    return address_of(where, ex.graph)


def bind(
    ex: Execution, function: ir.Function, arguments: tuple[ir.Expr, ...], this: Value | None
) -> Mapping[ir.Symbol, Value | Place]:
    """The parameters of a function with the arguments of a call."""
    bound = bind_parameters(ex, function.parameters, arguments)
    if function.this is not None and this is not None:
        bound[function.this] = this
    return bound


def bind_parameters(
    ex: Execution, parameters: tuple[ir.Symbol, ...], arguments: tuple[ir.Expr, ...]
) -> dict[ir.Symbol, Value | Place]:
    bound: dict[ir.Symbol, Value | Place] = {}
    for symbol, argument in zip(parameters, arguments, strict=False):
        bound[symbol] = expressions.initial_value(ex, symbol, argument)
    for symbol in parameters[len(arguments) :]:
        bound[symbol] = ex.memory.unknown(symbol.type, UNINITIALISED)
    return bound


_OF_TEMPLATE = "a call of which only template arguments tell the function, and nothing gives them"
class Operands(Struct, frozen=True):
    """What a call was given, as far as it has been evaluated by then: a chain of calls is too long to be followed twice
    at each of its links."""

    receiver: Place | None = None
    arguments: Sequence[Value] | None = None


class _Reached(Struct):
    """What a function whose body is not in sight is given."""

    seen: list[Node] = field(default_factory=list)
    """Numbers."""
    reads: bool = False
    """Whether it is given a pointer to memory."""
    written: list[tuple[Place, ir.Expr]] = field(default_factory=list)
    """Local objects that it may change."""
    stored: list[tuple[Place, ir.Expr]] = field(default_factory=list)
    """Elements of arrays that an operator changes."""


def unknown_call(ex: Execution, expr: ir.Call, given: Operands | None = None) -> Value:
    """A call whose body is not in sight: its result and what it can reach through its arguments are unknown. An
    operator of a library's type is such a call, and reads its operands where the library defines it."""
    reached = _reached(ex, expr, given or Operands())
    args = few_of(n for n in reached.seen if not n.is_const)
    for where, argument in (*reached.written, *reached.stored):
        value = ex.unknown(f"`{expr.name}` sets it", where.type, args, argument.span)
        ex.note_set(where, value)
        expressions.write(ex, where, value)
    text = f"it is the result of {f'`{expr.name}`' if expr.name else _OF_TEMPLATE}"
    if reached.reads:
        # What it was given a pointer for.
        return ex.memory.unknown(expr.type, Reason(text, expr.span), args)
    return ex.unknown(text, expr.type, args, expr.span)


def _reached(ex: Execution, expr: ir.Call, given: Operands) -> _Reached:
    reached = _Reached()
    if expr.receiver is not None:
        receiver = expressions.place(ex, expr.receiver) if given.receiver is None else given.receiver
        reached.seen += _receiver_values(ex, expr, receiver)
    outputs = expr.function.outputs() if expr.function is not None else frozenset()
    for position, argument in enumerate(expr.arguments):
        if position in outputs:
            where = expressions.place(ex, argument)
            reached.seen += nodes_of(expressions.read(ex, where, argument.span))
            if isinstance(where, LocalPlace):
                reached.written.append((where, argument))
            elif _assigns(expr.name):
                reached.stored.append((where, argument))
            continue
        value = expressions.evaluate(ex, argument) if given.arguments is None else given.arguments[position]
        reached.seen += nodes_of(value)
        if isinstance(value, Pointer) and isinstance(value.target, LocalMemory):
            reached.written.append((dereference(value, ex.graph), argument))
        elif isinstance(value, Pointer) and isinstance(value.target, Allocation):
            reached.reads = True
    return reached


def _receiver_values(ex: Execution, expr: ir.Call, where: Place) -> list[Node]:
    """What a method sees of its object; an assignment operator of a library type (half) writes it."""
    if isinstance(where, TemporaryPlace):
        return list(nodes_of(where.value))
    value: list[Node] = []
    if expr.name != "operator=":
        value = list(nodes_of(expressions.read(ex, where, expr.receiver.span if expr.receiver else expr.span)))
    if _assigns(expr.name) and expr.receiver is not None:
        new = ex.unknown(f"`{expr.name}` sets it", where.type, few_of(value), expr.span)
        expressions.write(ex, where, new)
    return value


def _assigns(name: str) -> bool:
    """Whether an operator changes its first operand: `a[i] += h` of a library's type."""
    return name in _COUNTING or (name.startswith("operator") and name.endswith("=") and name not in _COMPARING)


_COMPARING = frozenset({"operator==", "operator!=", "operator<=", "operator>="})
_COUNTING = frozenset({"operator++", "operator--"})


def construct_value(ex: Execution, expr: ir.Construct) -> Value:
    if expr.arguments and isinstance(expr.type, ir.RecordType) and "basic_string" in expr.type.name:
        text = expressions.evaluate(ex, expr.arguments[0])
        if isinstance(text, Text):
            return text
    if expr.constructor is not None:
        ref = expr.constructor
        function = ref.load()  # It names the bases, and with them fields that the object has.
        if function is not None and _is_member_wise(function, expr.type):
            return _member_by_member(ex, expr, function)
        symbol = ir.Symbol("temporary", expr.type, "local", expr.span)
        ex.state.variables[symbol] = ex.memory.unknown(expr.type, UNINITIALISED)
        where = LocalPlace(symbol, (), expr.type)
        this = address_of(where, ex.graph)
        done = inlining.inline(ex, ref, lambda f: bind(ex, f, expr.arguments, this), expr.span)
        if done is not None:
            return ex.memory.read(ex.state, where, ex.place_of(expr.span))
    if not expr.arguments:
        return ex.memory.unknown(expr.type, UNINITIALISED)
    values = [_constructed_from(ex, expr, position) for position in range(len(expr.arguments))]
    if len(values) == 1 and values[0] is not None:
        return cast(ex, values[0], expr.arguments[0].type, expr.type)
    seen = [n for value in values if value is not None for n in nodes_of(value)]
    return ex.unknown("its constructor has no body in sight", expr.type, few_of(seen))


def _is_member_wise(function: ir.Function, type_: ir.Type) -> bool:
    """Whether a constructor does nothing but to give each member one of its parameters, as that of `dim3` does."""
    if function.body.statements if isinstance(function.body, st.Block) else True:
        return False
    given = function.member_initializers
    if not isinstance(type_, ir.RecordType) or [name for name, _ in given] != [field.name for field in type_.fields]:
        return False
    parameters = {symbol for symbol in function.parameters if isinstance(symbol.type, ir.Scalar)}
    return all(isinstance(value, ir.Name) and value.symbol in parameters for _, value in given)


def _member_by_member(ex: Execution, expr: ir.Construct, function: ir.Function) -> Value:
    """What such a constructor makes, without an object in memory, a scope and a frame for it: host code makes blocks
    and grids all the time."""
    unset = ex.memory.unknown(expr.type, UNINITIALISED)
    assert isinstance(unset, RecordValue)
    bound, fields = bind(ex, function, expr.arguments, None), dict(unset.fields)
    for field_, (name, value) in zip(unset.type.fields, function.member_initializers, strict=True):
        assert isinstance(value, ir.Name)
        given = bound[value.symbol]
        assert not isinstance(given, PLACES)
        fields[name] = convert(ex, given, field_.type)
    return RecordValue(unset.type, fields)


def _constructed_from(ex: Execution, expr: ir.Construct, position: int) -> Value | None:
    """An argument of a constructor whose body is not in sight. None for memory to which the object keeps a reference,
    through which its methods do what nobody sees."""
    argument = expr.arguments[position]
    if expr.constructor is None or position not in expr.constructor.outputs():
        return expressions.evaluate(ex, argument)
    where = expressions.place(ex, argument)
    if not isinstance(where, MemoryPlace):
        return expressions.read(ex, where, argument.span)
    return None


def construct_place(ex: Execution, expr: ir.Construct) -> Place:
    return TemporaryPlace(construct_value(ex, expr), expr.type)


