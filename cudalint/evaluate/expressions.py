"""Evaluating expressions: values of rvalues, places of lvalues, with the loads and stores that this takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from cudalint import ir
from cudalint.evaluate import calls, objects, walk
from cudalint.evaluate.arithmetic import BOOL, COMPARISONS, I8, kind_of
from cudalint.evaluate.conversions import as_number, as_pointer, cast, cast_pointer, convert
from cudalint.evaluate.graph import UNINITIALISED, Node, Reason
from cudalint.evaluate.memory import address_of, decay, dereference
from cudalint.evaluate.pointers import (
    advance,
    move_choice,
    move_pointer,
    pointee_of,
    pointer_difference,
    pointer_place,
)
from cudalint.evaluate.values import (
    PLACES,
    Allocation,
    ArrayValue,
    Choice,
    FunctionValue,
    LocalPlace,
    MemoryPlace,
    Place,
    Pointer,
    RecordValue,
    Subscripts,
    TemporaryPlace,
    Value,
    Within,
    join,
)

if TYPE_CHECKING:
    from cudalint.evaluate.executor import Executor

_T = TypeVar("_T")
_BUILTIN_AXES = {"x": 0, "y": 1, "z": 2}
_MAX_TABLE_BYTES = 8192
"""Constant tables beyond this size are data."""


# --- entry points ----------------------------------------------------------------------------------


def evaluate(ex: Executor, expr: ir.Expr) -> Value:
    """The value of an expression; lvalues are read."""
    handler = _EVALUATORS.get(type(expr))
    if handler is not None:
        result: Value = handler(ex, expr)
        return result
    return read(ex, place(ex, expr), expr.span)


def place(ex: Executor, expr: ir.Expr) -> Place:
    """What an lvalue denotes; for an rvalue, a temporary that holds it."""
    handler = _PLACES.get(type(expr))
    if handler is not None:
        result: Place = handler(ex, expr)
        return result
    return TemporaryPlace(evaluate(ex, expr), expr.type)


def number(ex: Executor, expr: ir.Expr) -> Node:
    """The value of an arithmetic expression as a node; anything else becomes an address or an opaque number."""
    return as_number(ex, evaluate(ex, expr), expr.type)


def condition(ex: Executor, expr: ir.Expr) -> Node:
    """The truth value of an expression."""
    return ex.graph.truth(number(ex, expr))


def discard(ex: Executor, expr: ir.Expr) -> None:
    """Evaluates an expression for its effects: a plain lvalue is not read."""
    if isinstance(expr, ir.Cast) and isinstance(expr.type, ir.Scalar) and expr.type.kind == "void":
        place(ex, expr.operand)
    elif type(expr) in _EVALUATORS:
        evaluate(ex, expr)
    else:
        place(ex, expr)


def read(ex: Executor, where: Place, span: ir.Span) -> Value:
    if isinstance(where, LocalPlace) and where.symbol.storage not in ("local", "parameter"):
        _initialise_global(ex, where.symbol)
    return ex.memory.read(ex.state, where, ex.context(span))


def write(ex: Executor, where: Place, value: Value, span: ir.Span) -> None:
    if isinstance(where, LocalPlace) and not where.path:
        # Most of what is written: it leaves no event behind, which would need a context.
        ex.state.variables[where.symbol] = value
        return
    ex.memory.write(ex.state, where, value, ex.context(span))


def initial_value(ex: Executor, symbol: ir.Symbol, initializer: ir.Expr | None) -> Value | Place:
    """What a declared variable starts with; for a reference, the place that it names."""
    if isinstance(symbol.type, ir.PointerType) and symbol.type.reference:
        if initializer is None:
            return TemporaryPlace(ex.graph.zero, symbol.type)
        where = place(ex, initializer)
        if isinstance(where, TemporaryPlace) and isinstance(where.value, ArrayValue):
            # `f({1, 2})` for a reference to an array, whose elements are found from where it lies.
            return objects.materialise(ex, where.value, where.type, initializer.span)
        return where
    if initializer is None:
        return ex.memory.unknown(symbol.type, UNINITIALISED, (), symbol.name)
    return convert(ex, evaluate(ex, initializer), symbol.type)


# --- names, members, subscripts ----------------------------------------------------------------------


def _name_place(ex: Executor, expr: ir.Name) -> Place:
    return symbol_place(ex, expr.symbol)


def symbol_place(ex: Executor, symbol: ir.Symbol) -> Place:
    value = ex.state.variables.get(symbol)
    if isinstance(value, PLACES):
        return value
    if value is None and symbol.storage in ("shared", "dynamic-shared", "constant", "device"):
        return _variable_memory(ex, symbol)
    return LocalPlace(symbol, (), symbol.type)


def _variable_memory(ex: Executor, symbol: ir.Symbol) -> Place:
    """A variable that lives in memory: shared, constant, or a device global."""
    if symbol.storage == "constant" and _initialise_global(ex, symbol):
        return LocalPlace(symbol, (), symbol.type)
    target = ex.globals.get(symbol)
    if target is None:
        space = {"constant": "constant", "device": "global"}.get(symbol.storage, "shared")
        size = symbol.type.bytes if symbol.storage != "dynamic-shared" and symbol.type.bytes else None
        target = Allocation(symbol.name, space, size, symbol)  # type: ignore[arg-type]
        ex.globals[symbol] = target
    subscripts = Subscripts(symbol, ())
    return MemoryPlace(Pointer(target, ex.graph.const(0, I8), symbol.type, subscripts), symbol.type)


def _initialise_global(ex: Executor, symbol: ir.Symbol) -> bool:
    """Gives a variable with a static initialiser its value, once; False where it has none."""
    if symbol in ex.state.variables:
        return True
    if symbol.type.bytes > _MAX_TABLE_BYTES:
        return False
    initializer = symbol.initializer() if symbol.initializer is not None else None
    if initializer is None:
        return False
    ex.state.variables[symbol] = initial_value(ex, symbol, initializer)
    return True


def _name_value(ex: Executor, expr: ir.Name) -> Value:
    symbol = expr.symbol
    held = ex.state.variables.get(symbol)
    if isinstance(held, (Node, Pointer)) and not isinstance(symbol.type, ir.RecordType):
        return held
    if symbol.storage == "builtin":
        return _builtin_value(ex, symbol)
    outside = symbol.storage in ("global", "static") and symbol not in ex.state.variables
    if outside and not _initialise_global(ex, symbol):
        reason = Reason(False, f"`{symbol.name}` is set elsewhere")
        ex.state.variables[symbol] = ex.memory.unknown(symbol.type, reason, (), symbol.name)
    return read(ex, symbol_place(ex, symbol), expr.span)


def _builtin_value(ex: Executor, symbol: ir.Symbol) -> Value:
    if symbol.name == "warpSize":
        return ex.graph.const(32)
    if isinstance(symbol.type, ir.RecordType):
        fields: dict[str, Value] = {axis: builtin(ex, symbol.name, axis) for axis in "xyz"}
        return RecordValue(symbol.type, fields)
    return ex.graph.zero


def builtin(ex: Executor, name: str, axis: str) -> Node:
    """threadIdx.x and the like."""
    position = _BUILTIN_AXES.get(axis, 0)
    configuration = ex.configuration
    if configuration is None:
        return ex.graph.one
    if name == "threadIdx":
        one_thread = configuration.block[position].is_const and configuration.block[position].value == 1
        return ex.graph.zero if one_thread else ex.graph.thread[position]
    if name == "blockIdx":
        one_block = configuration.grid[position].is_const and configuration.grid[position].value == 1
        return ex.graph.zero if one_block else ex.graph.block[position]
    if name == "blockDim":
        return configuration.block[position]
    return configuration.grid[position]


def _member_value(ex: Executor, expr: ir.Member) -> Value:
    base = expr.base
    if isinstance(base, ir.Name) and base.symbol.storage == "builtin":
        return builtin(ex, base.symbol.name, expr.field)
    return read(ex, _member_place(ex, expr), expr.span)


def _member_place(ex: Executor, expr: ir.Member) -> Place:
    base = pointer_place(ex, evaluate(ex, expr.base), expr.base.type) if expr.arrow else place(ex, expr.base)
    return field_place(ex, base, expr.field, expr.type)


def field_place(ex: Executor, base: Place, name: str, type_: ir.Type) -> Place:
    if isinstance(base, LocalPlace):
        inner = base.step(name, type_)
        return _through_reference(ex, inner)
    if isinstance(base, TemporaryPlace):
        value = base.value
        if isinstance(value, RecordValue) and name in value.fields:
            return TemporaryPlace(value.fields[name], type_)
        return TemporaryPlace(ex.memory.smear(value, type_), type_)
    field = base.type.field(name) if isinstance(base.type, ir.RecordType) else None
    offset = field.offset if field else 0
    pointer = base.pointer
    subscripts = pointer.subscripts
    if subscripts is not None:
        subscripts = Subscripts(subscripts.symbol, subscripts.indices, subscripts.inner + offset)
    moved = ex.graph.binary("+", pointer.offset, ex.graph.const(offset, I8), I8)
    if base.record is not None:
        record: Within | None = Within(base.record.bytes, base.record.align, base.record.offset + offset)
    else:
        record = Within(base.type.bytes, base.type.align, offset) if isinstance(base.type, ir.RecordType) else None
    inner_place = MemoryPlace(Pointer(pointer.target, moved, type_, subscripts, pointer.one_of), type_, record)
    if isinstance(type_, ir.PointerType) and type_.reference:
        return pointer_place(ex, read(ex, inner_place, ir.Span("", 0, 0, 0, 0)), type_)
    return inner_place


def _through_reference(ex: Executor, inner: LocalPlace) -> Place:
    """A field of reference type names the place that it was bound to."""
    if not (isinstance(inner.type, ir.PointerType) and inner.type.reference):
        return inner
    value = ex.memory.read(ex.state, inner, ex.context(inner.symbol.span))
    return dereference(value, ex.graph) if isinstance(value, Pointer) else TemporaryPlace(value, inner.type.pointee)


def _index_place(ex: Executor, expr: ir.Index) -> Place:
    base = _array_base(ex, expr.base)
    index = number(ex, expr.index)
    if isinstance(base, LocalPlace):
        return base.step(index, expr.type)
    if isinstance(base, Choice):
        moved = move_choice(ex, base, index, expr.type)
        return pointer_place(ex, moved, ir.PointerType(expr.type))
    if isinstance(base, Pointer):
        # In a template the type may be known of the value only: `auto row = t + i; row[1]`.
        is_dependent = isinstance(expr.type, ir.OpaqueType) and not expr.type.bytes
        element = base.pointee if is_dependent else expr.type
        return dereference(advance(ex, base, index, element, subscript=True), ex.graph)
    return pointer_place(ex, base, ir.PointerType(expr.type))


def _array_base(ex: Executor, base: ir.Expr) -> LocalPlace | Value:
    """The array or pointer that is subscripted, without decaying a local array to a pointer."""
    inner = base
    while isinstance(inner, ir.Cast) and not inner.explicit and isinstance(inner.operand.type, ir.ArrayType):
        inner = inner.operand
    if isinstance(inner.type, ir.ArrayType):
        where = place(ex, inner)
        if isinstance(where, LocalPlace):
            _initialise_global(ex, where.symbol)
            # A parameter that is declared as an array is a pointer.
            value = None if where.path else ex.state.variables.get(where.symbol)
            return value if isinstance(value, (Pointer, Choice)) else where
        if isinstance(where, MemoryPlace):
            return decay(where, ex.graph)
        return where.value
    return evaluate(ex, base)


# --- operators -----------------------------------------------------------------------------------------


def _unary_place(ex: Executor, expr: ir.Unary) -> Place:
    if expr.op == "*":
        return pointer_place(ex, evaluate(ex, expr.operand), expr.operand.type)
    if expr.op in ("++x", "--x"):
        where = place(ex, expr.operand)
        _step(ex, where, expr)
        return where
    return TemporaryPlace(_unary_value(ex, expr), expr.type)


def _unary_value(ex: Executor, expr: ir.Unary) -> Value:
    if expr.op == "*":
        return read(ex, _unary_place(ex, expr), expr.span)
    if expr.op == "&":
        if isinstance(expr.operand, ir.FunctionName):
            return FunctionValue(expr.operand.function)
        return address_of(place(ex, expr.operand), ex.graph)
    if expr.op in ("++x", "--x"):
        where = place(ex, expr.operand)
        return _step(ex, where, expr)[1]
    if expr.op in ("x++", "x--"):
        return _step(ex, place(ex, expr.operand), expr)[0]
    operand, kind = number(ex, expr.operand), kind_of(expr.type)
    if expr.op == "!":
        return ex.graph.negate(operand)
    if expr.op == "~":
        return ex.graph.invert(operand, kind)
    if expr.op == "-":
        return ex.graph.binary("-", ex.graph.const(0, kind), operand, kind)
    return ex.graph.convert(operand, kind)


def _step(ex: Executor, where: Place, expr: ir.Unary) -> tuple[Value, Value]:
    """Increments or decrements a place; the value before and after."""
    old = read(ex, where, expr.operand.span)
    step = ex.graph.const(1 if "+" in expr.op else -1, I8)
    new: Value
    if isinstance(old, (Pointer, Choice)):
        pointee = expr.type.pointee if isinstance(expr.type, ir.PointerType) else ir.OpaqueType("?")
        new = move_pointer(ex, old, step, pointee)
    else:
        base = as_number(ex, old, expr.type)
        kind = base.kind
        new = ex.graph.binary("+", base, ex.graph.const(step.value, kind), kind)
    write(ex, where, new, expr.operand.span)
    return old, new


def _binary_value(ex: Executor, expr: ir.Binary) -> Value:
    if expr.op in ("&&", "||"):
        return _short_circuit(ex, expr)
    if expr.op == ",":
        discard(ex, expr.left)
        return evaluate(ex, expr.right)
    left, right = evaluate(ex, expr.left), evaluate(ex, expr.right)
    return operate(ex, expr.op, left, right, expr.left.type, expr.right.type, expr.type)


def _short_circuit(ex: Executor, expr: ir.Binary) -> Node:
    """The right side is evaluated only for the lanes that the left side leaves undecided."""
    graph = ex.graph
    left = condition(ex, expr.left)
    if left.is_const:
        decided = bool(left.value) == (expr.op == "||")
        return graph.truth(left) if decided else condition(ex, expr.right)
    taken = left if expr.op == "&&" else graph.negate(left)
    if not ex.memory.recording or not _is_worth_a_branch(expr.right):
        right = _for_some(ex, taken, expr.right, condition)
    else:
        sides = ex.record_branch(taken, "conditional", expr.span)
        right = ex.side(sides, lambda: _arm(ex, taken, expr.right, condition))
    return graph.binary(expr.op, left, right, BOOL)


def _is_worth_a_branch(expr: ir.Expr) -> bool:
    """Whether the right side of `&&` or `||` loads or calls something; the compiler evaluates others in any case."""
    return any(
        isinstance(node, (ir.Index, ir.Call)) or (isinstance(node, ir.Unary) and node.op == "*")
        for node in walk.walk(expr)
    )


def _arm(ex: Executor, taken: Node, expr: ir.Expr, handler: Callable[[Executor, ir.Expr], _T]) -> _T:
    ex.step(expr)
    guard, ex.state.guard = ex.state.guard, len(ex.state.conditions)
    result = _for_some(ex, taken, expr, handler)
    ex.state.guard = guard
    return result


def _for_some(ex: Executor, taken: Node, expr: ir.Expr, handler: Callable[[Executor, ir.Expr], _T]) -> _T:
    """Evaluates an expression for the lanes of a condition; what it changes, it changes for those only."""
    state = ex.state
    before, variables = state.conditions, state.variables
    state.variables = dict(variables)
    state.assume(taken)
    result = handler(ex, expr)
    ended = state.dead
    state.conditions, state.dead = before, False
    state.variables = ex.join_variables(taken, state.variables, variables)
    if ended:
        state.assume(ex.graph.negate(taken))
    return result


def operate(
    ex: Executor, op: str, left: Value, right: Value, left_type: ir.Type, right_type: ir.Type, type_: ir.Type
) -> Value:
    """A binary operator on values, with pointer arithmetic."""
    pointers = (Pointer, Choice)
    if op in ("+", "-") and isinstance(left, pointers) and not isinstance(right, pointers):
        index = as_number(ex, right, right_type)
        if op == "-":
            index = ex.graph.binary("-", ex.graph.const(0, I8), index, I8)
        return move_pointer(ex, left, index, pointee_of(left_type, left))
    if op == "+" and isinstance(right, pointers):
        return move_pointer(ex, right, as_number(ex, left, left_type), pointee_of(right_type, right))
    if isinstance(left, Pointer) and isinstance(right, Pointer) and left.target is right.target:
        return pointer_difference(ex, op, left, right, left_type)
    a, b = as_number(ex, left, left_type), as_number(ex, right, right_type)
    kind = kind_of(type_)
    if op in COMPARISONS or op in (">", ">="):
        kind = a.kind if a.kind.bytes >= b.kind.bytes else b.kind
    if kind.is_float and op not in COMPARISONS and op not in ("+", "-", "*", "/", ">", ">="):
        return ex.opaque(f"of `{op}` on floating-point values", type_, (a, b))
    return ex.graph.binary(op, a, b, kind)


def _assign_place(ex: Executor, expr: ir.Assign) -> Place:
    where, _ = _assign(ex, expr)
    return where


def _assign_value(ex: Executor, expr: ir.Assign) -> Value:
    return _assign(ex, expr)[1]


def _assign(ex: Executor, expr: ir.Assign) -> tuple[Place, Value]:
    if expr.op:
        where = place(ex, expr.target)
        old = read(ex, where, expr.target.span)
        right = evaluate(ex, expr.value)
        type_ = _compound_type(expr)
        if isinstance(old, Node) and isinstance(type_, ir.Scalar):
            old = ex.graph.convert(old, kind_of(type_))
        value = operate(ex, expr.op, old, right, expr.target.type, expr.value.type, type_)
    else:
        value = evaluate(ex, expr.value)
        where = place(ex, expr.target)
    value = convert(ex, value, expr.target.type)
    write(ex, where, value, _place_of_store(expr))
    return where, value


def _place_of_store(expr: ir.Assign) -> ir.Span:
    """For both halves of a record's copy, nvcc names the line of what is copied."""
    is_copy = isinstance(expr.target.type, ir.RecordType) and not isinstance(expr.value, (ir.Call, ir.Construct))
    return expr.value.span if is_copy and expr.value.span.line != expr.target.span.line else expr.target.span


def _compound_type(expr: ir.Assign) -> ir.Type:
    """The type in which `a op= b` computes: the wider of both (C11 6.3.1.8, as far as it matters here)."""
    a, b = expr.target.type, expr.value.type
    if isinstance(a, ir.Scalar) and isinstance(b, ir.Scalar) and expr.op not in ("<<", ">>"):
        if b.kind == "float" and a.kind != "float":
            return b
        if a.kind != "float" and (b.bytes > a.bytes or (b.bytes == a.bytes >= 4 and b.kind == "uint")):
            return b
    return a


def _conditional_value(ex: Executor, expr: ir.Conditional) -> Value:
    graph = ex.graph
    test = condition(ex, expr.condition)
    if test.is_const:
        return evaluate(ex, expr.then if test.value else expr.otherwise)
    sides = ex.record_branch(test, "conditional", expr.span)
    then = ex.side(sides, lambda: _arm(ex, test, expr.then, evaluate))
    otherwise = ex.side(sides, lambda: _arm(ex, graph.negate(test), expr.otherwise, evaluate))
    then, otherwise = convert(ex, then, expr.type), convert(ex, otherwise, expr.type)
    return ex.preferred(test, then, otherwise) or join(graph, test, then, otherwise)


def _conditional_place(ex: Executor, expr: ir.Conditional) -> Place:
    test = condition(ex, expr.condition)
    if test.is_const:
        return place(ex, expr.then if test.value else expr.otherwise)
    a, b = place(ex, expr.then), place(ex, expr.otherwise)
    if isinstance(a, MemoryPlace) and isinstance(b, MemoryPlace):
        chosen = join(ex.graph, test, address_of(a, ex.graph), address_of(b, ex.graph))
        return pointer_place(ex, chosen, ir.PointerType(expr.type))
    return TemporaryPlace(join(ex.graph, test, read(ex, a, expr.span), read(ex, b, expr.span)), expr.type)


# --- conversions -----------------------------------------------------------------------------------------


def _cast_value(ex: Executor, expr: ir.Cast) -> Value:
    type_ = expr.type
    if isinstance(expr.operand.type, ir.ArrayType) and isinstance(type_, ir.PointerType) and not type_.reference:
        where = place(ex, expr.operand)
        if isinstance(where, LocalPlace):
            _initialise_global(ex, where.symbol)
            value = None if where.path else ex.state.variables.get(where.symbol)
            if isinstance(value, (Pointer, Choice)):
                return cast_pointer(ex, value, type_.pointee)
        if isinstance(where, TemporaryPlace):
            return where.value if not isinstance(where.value, ArrayValue) else decay(where, ex.graph)
        return as_pointer(decay(where, ex.graph), type_.pointee)
    if _cuts_off(expr.operand.type, type_):
        return ex.graph.convert(_read_low_half(ex, expr.operand), kind_of(type_))
    return cast(ex, evaluate(ex, expr.operand), expr.operand.type, type_)


def _cuts_off(source: ir.Type, type_: ir.Type) -> bool:
    """Whether only the lower half of a 64-bit integer is used: `int label = labels[i]`."""
    return (
        isinstance(source, ir.Scalar)
        and isinstance(type_, ir.Scalar)
        and source.kind in ("int", "uint")
        and type_.kind in ("int", "uint")
        and (source.bytes, type_.bytes) == (8, 4)
    )


def _read_low_half(ex: Executor, operand: ir.Expr) -> Node:
    """The value of an expression of which the upper half is cut off: if it is read from memory, that half is not."""
    events = len(ex.memory.events)
    value = number(ex, operand)
    if type(operand) not in _EVALUATORS:
        ex.memory.narrow_load(events, 4)
    return value


def _cast_place(ex: Executor, expr: ir.Cast) -> Place:
    """A cast of an lvalue (to a reference, to a base class, of an array) still names the same place."""
    inner = place(ex, expr.operand)
    if isinstance(expr.type, ir.PointerType) and expr.type.reference:
        target = expr.type.pointee
    elif isinstance(expr.type, (ir.RecordType, ir.ArrayType)):
        target = expr.type
    elif isinstance(expr.operand.type, ir.Scalar) and isinstance(expr.type, ir.Scalar) and not isinstance(
        inner, TemporaryPlace
    ):
        return TemporaryPlace(cast(ex, read(ex, inner, expr.span), expr.operand.type, expr.type), expr.type)
    else:
        return TemporaryPlace(_cast_value(ex, expr), expr.type)
    if isinstance(inner, MemoryPlace):
        pointer = as_pointer(inner.pointer, target)
        return MemoryPlace(pointer, target, inner.record)
    if isinstance(inner, LocalPlace):
        return LocalPlace(inner.symbol, inner.path, target)
    return TemporaryPlace(inner.value, target)


# --- the rest ----------------------------------------------------------------------------------------------


def _function_value(ex: Executor, expr: ir.FunctionName) -> Value:
    return FunctionValue(expr.function)


def _unknown_value(ex: Executor, expr: ir.UnknownExpr) -> Value:
    values = [evaluate(ex, child) for child in expr.children]
    ex.gap(expr.span, expr.reason)
    args = tuple(v for v in values if isinstance(v, Node))[:8]
    return ex.opaque(f"of {expr.reason}", expr.type, args)


def assembly(ex: Executor, statement: ir.Asm) -> None:
    calls.assembly(ex, statement)


def _launch_value(ex: Executor, expr: ir.Launch) -> Value:
    return calls.launch(ex, expr)


_EVALUATORS: dict[type, Callable[..., Value]] = {
    ir.Constant: objects.literal_value,
    ir.Name: _name_value,
    ir.Member: _member_value,
    ir.Unary: _unary_value,
    ir.Binary: _binary_value,
    ir.Assign: _assign_value,
    ir.Conditional: _conditional_value,
    ir.Cast: _cast_value,
    ir.Call: calls.call_value,
    ir.Construct: calls.construct_value,
    ir.InitList: objects.init_list_value,
    ir.Lambda: objects.lambda_value,
    ir.Launch: _launch_value,
    ir.FunctionName: _function_value,
    ir.New: objects.new_value,
    ir.UnknownExpr: _unknown_value,
}
_PLACES: dict[type, Callable[..., Place]] = {
    ir.Name: _name_place,
    ir.Member: _member_place,
    ir.Index: _index_place,
    ir.Unary: _unary_place,
    ir.Assign: _assign_place,
    ir.Conditional: _conditional_place,
    ir.Cast: _cast_place,
    ir.Call: calls.call_place,
    ir.Construct: calls.construct_place,
}
