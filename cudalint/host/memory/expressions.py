"""What expressions of host code give, and which variables or memory lvalues name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cudalint.facts import Place
from cudalint.host.memory import calls, conditions, launching, touching
from cudalint.host.memory.places import (
    COUNT,
    SOMEWHERE,
    Memory,
    Where,
    as_pointer,
    elements_of,
    is_computed,
    is_vector,
    spelled,
    variable,
)  # fmt: skip
from cudalint.host.memory.pointers import LED_TO, NULL, Address, Allocation, Key, Pointer, Value, joined, moved
from cudalint.host.memory.quantities import Quantity, constant, product
from cudalint.host.memory.state import either
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

_WHOLE: Final = ("int", "uint", "bool")
_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})


def value(an: Analysis, expr: ir.Expr) -> Value:
    """The value of an expression; what it does happens."""
    match expr:
        case ir.Constant():
            return _constant(expr)
        case ir.Name() | ir.Member() | ir.Index():
            return read(an, place(an, expr), expr)
        case ir.Unary():
            return _unary(an, expr)
        case ir.Binary():
            return _binary(an, expr)
        case ir.Assign():
            return _assign(an, expr)
        case ir.Conditional():
            return _conditional(an, expr)
        case ir.Cast():
            return _cast(an, expr)
        case ir.Call():
            return calls.call(an, expr)
        case ir.Construct():
            return calls.constructed(an, expr)
        case ir.Launch():
            launching.launch(an, expr)
        case ir.New():
            return _new(an, expr)
        case ir.Lambda():
            for capture in expr.captures:
                if capture.by_reference:
                    an.captured.add(capture.symbol)
        case ir.StatementExpr():
            for statement in expr.statements:
                an.execute(statement)
            return value(an, expr.value) if expr.value is not None else None
        case ir.InitList():
            for element in expr.elements:
                value(an, element)
        case ir.UnknownExpr():
            an.silent += 1
            for child in expr.children:
                value(an, child)
            an.silent -= 1
    return None


def place(an: Analysis, expr: ir.Expr) -> Where:
    """What an lvalue names; None for what is not followed."""
    match expr:
        case ir.Name(symbol=symbol):
            return _named(an, symbol)
        case ir.Member():
            return _member(an, expr)
        case ir.Index():
            return _element(an, expr)
        case ir.Unary(op="*"):
            return _led_to(an, value(an, expr.operand), expr.operand)
        case ir.Cast():
            return place(an, expr.operand)
        case ir.Assign():
            value(an, expr)
            return place(an, expr.target)
        case ir.Call() if expr.name in ("operator[]", "at", "front", "back") and expr.receiver is not None:
            for argument in expr.arguments:
                value(an, argument)
            elements = elements_of(an, expr.receiver)
            return Memory(Pointer(elements.targets, False, None)) if elements is not None else None
    value(an, expr)
    return None


def read(an: Analysis, where: Where, expr: ir.Expr) -> Value:
    """What an lvalue holds."""
    type_ = ir.referent(expr.type)
    if isinstance(where, Memory):
        if isinstance(type_, ir.ArrayType):
            return where.pointer
        touching.by_host(an, where.pointer, expr, writes=False)
        where = None
    if where is None or SOMEWHERE in where or where[0] in an.captured:
        is_array = where is not None and isinstance(type_, ir.ArrayType)
        if is_array and where is not None and where[0] not in an.captured:
            return Address(where)
        return an.numbers.fresh(an.text_of(Place(*expr.span))) if _is_whole(type_) else None
    if isinstance(type_, ir.ArrayType):
        return Address(where)
    found = an.state.get(where)
    if found is None and _is_whole(type_):
        return an.numbers.of(an.state.age(where), spelled(where))
    return found


def write(an: Analysis, where: Where, found: Value, expr: ir.Expr) -> None:
    """Stores a value."""
    if isinstance(where, Memory):
        touching.by_host(an, where.pointer, expr, writes=True)
    elif where is not None and SOMEWHERE in where:
        an.state.forget(where[: where.index(SOMEWHERE)])
    elif where is not None:
        an.state.set(where, found)


def initialise(an: Analysis, symbol: ir.Symbol, initializer: ir.Expr | None) -> None:
    """Gives a variable that comes to life its first value."""
    key: Key = (symbol,)
    if initializer is None:
        an.state.forget(key)
    elif ir.is_reference(symbol.type):
        where = place(an, initializer)
        an.state.set(key, where.pointer if isinstance(where, Memory) else Address(where) if where else None)
    elif is_vector(symbol.type):
        an.state.forget(key)
        an.variables.pop(key, None)
        if isinstance(initializer, ir.Construct) and initializer.arguments:
            first = value(an, initializer.arguments[0])
            if isinstance(first, Quantity):
                an.state.set((symbol, COUNT), first)
        else:
            value(an, initializer)
    elif isinstance(symbol.type, ir.ArrayType) and isinstance(initializer, ir.InitList):
        found = [value(an, element) for element in initializer.elements]
        an.state.forget(key)
        for position, each in enumerate(found):
            if each is not None:
                an.state.set((symbol, f"[{position}]"), each)
    else:
        first = value(an, initializer)
        _note_computed(an, symbol, initializer)
        is_part = isinstance(symbol.type, (ir.ArrayType, ir.RecordType, ir.OpaqueType))
        an.state.set(key, None if is_part else first)


def _constant(expr: ir.Constant) -> Value:
    if isinstance(expr.type, ir.PointerType):
        return NULL if expr.value == 0 else None
    return constant(int(expr.value)) if isinstance(expr.value, int) and _is_whole(expr.type) else None


def _is_whole(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind in _WHOLE


def _named(an: Analysis, symbol: ir.Symbol) -> Where:
    if ir.is_reference(symbol.type):
        refers = an.state.get((symbol,))
        if isinstance(refers, Address):
            return refers.key
        return Memory(refers) if isinstance(refers, Pointer) else (symbol, LED_TO)
    if symbol.storage in ("device", "constant"):
        if symbol.is_const or symbol.is_managed:
            return None
        return Memory(Pointer(frozenset({variable(an, (symbol,))})))
    return (symbol,)


def _led_to(an: Analysis, found: Value, pointer: ir.Expr) -> Where:
    """What a pointer leads to."""
    if isinstance(found, Address):
        return found.key
    if isinstance(found, Pointer):
        return Memory(found)
    bare = walk.without_casts(pointer)
    if isinstance(bare, ir.Name) and (isinstance(bare.type, ir.PointerType) and bare.symbol not in an.captured):
        where = _named(an, bare.symbol)
        return (*where, LED_TO) if isinstance(where, tuple) else None
    return None


def _member(an: Analysis, expr: ir.Member) -> Where:
    where = _led_to(an, value(an, expr.base), expr.base) if expr.arrow else place(an, expr.base)
    return (*where, expr.field) if isinstance(where, tuple) else where


def _element(an: Analysis, expr: ir.Index) -> Where:
    base = value(an, expr.base)
    index = value(an, expr.index)
    if isinstance(base, Address):
        number = index.value if isinstance(index, Quantity) else None
        return (*base.key, SOMEWHERE if number is None else f"[{number}]")
    if isinstance(base, Pointer):
        return Memory(_stepped(base, index, expr.base.type))
    return None


def _stepped(pointer: Pointer, index: Value, type_: ir.Type) -> Pointer:
    """A pointer that is some elements further on."""
    element = type_.pointee if isinstance(type_, ir.PointerType) else getattr(type_, "element", None)
    if not isinstance(index, Quantity) or element is None or not element.bytes:
        return moved(pointer, None)
    return moved(pointer, product(index, constant(element.bytes)))


def _unary(an: Analysis, expr: ir.Unary) -> Value:
    if expr.op == "&":
        where = place(an, expr.operand)
        return where.pointer if isinstance(where, Memory) else Address(where) if where is not None else None
    if expr.op == "*":
        return read(an, place(an, expr), expr)
    if expr.op in walk.STEPS:
        where = place(an, expr.operand)
        old = read(an, where, expr.operand)
        new = _sum(an, old, constant(1), "+" if "+" in expr.op else "-", expr.type)
        write(an, where, new, expr.operand)
        return new if expr.op.endswith("x") else old
    found = value(an, expr.operand)
    if expr.op == "!":
        known = conditions.truth(found)
        return constant(int(not known)) if known is not None else None
    if expr.op == "-" and isinstance(found, Quantity):
        return an.numbers.operation("*", found, constant(-1))
    return found if expr.op == "+" else None


def _sum(an: Analysis, left: Value, right: Value, op: str, type_: ir.Type) -> Value:
    """`left + right` and the like, of numbers, or of a pointer and a number."""
    if isinstance(left, Address):
        left = as_pointer(an, left)
    if isinstance(left, Pointer):
        if isinstance(right, Quantity) and op == "-":
            right = an.numbers.operation("*", right, constant(-1))
        return _stepped(left, right, type_) if op in ("+", "-") else None
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return an.numbers.operation(op, left, right)
    return None


def _binary(an: Analysis, expr: ir.Binary) -> Value:
    if expr.op in ("&&", "||"):
        holds, fails = conditions.ways(an, expr)
        known = None if not holds.dead and not fails.dead else not holds.dead
        an.state = either((holds, fails))
        return constant(int(known)) if known is not None else None
    left, right = value(an, expr.left), value(an, expr.right)
    if expr.op == ",":
        return right
    if expr.op in _COMPARISONS:
        return _compared(expr.op, left, right)
    if isinstance(expr.type, ir.PointerType) and isinstance(expr.right.type, (ir.PointerType, ir.ArrayType)):
        return _sum(an, right, left, expr.op, expr.type)
    if not isinstance(expr.type, ir.PointerType) and not _is_whole(expr.type):
        return None
    return _sum(an, left, right, expr.op, expr.type)


def _compared(op: str, left: Value, right: Value) -> Value:
    if not isinstance(left, Quantity) or not isinstance(right, Quantity):
        return None
    if left == right:
        return constant(int(op in ("==", "<=", ">=")))
    a, b = left.value, right.value
    if a is None or b is None:
        return None
    outcomes = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    return constant(int(outcomes[op]))


def _assign(an: Analysis, expr: ir.Assign) -> Value:
    found = value(an, expr.value)
    where = place(an, expr.target)
    type_ = ir.referent(expr.target.type)
    if expr.op:
        old = read(an, where, expr.target)
        found = _sum(an, old, found, expr.op, type_)
    if isinstance(type_, (ir.RecordType, ir.OpaqueType, ir.ArrayType)) or (
        isinstance(type_, ir.Scalar) and not _is_whole(type_)
    ):
        found = None
    if isinstance(expr.target, ir.Name):
        _note_computed(an, expr.target.symbol, expr.value)
    write(an, where, found, expr.target)
    return found


def _note_computed(an: Analysis, symbol: ir.Symbol, given: ir.Expr) -> None:
    if symbol in an.computed or not _is_whole(symbol.type):
        return
    if not isinstance(walk.without_casts(given), ir.Constant) and is_computed(an, given):
        an.computed.add(symbol)


def _conditional(an: Analysis, expr: ir.Conditional) -> Value:
    then, otherwise = conditions.ways(an, expr.condition)
    found: list[Value] = []
    ends = []
    for state, side in ((then, expr.then), (otherwise, expr.otherwise)):
        if not state.dead:
            an.state = state
            found.append(value(an, side))
            ends.append(an.state)
    an.state = either(ends)
    alive = [each for each, state in zip(found, ends, strict=True) if not state.dead]
    if not alive:
        return None
    return alive[0] if len(alive) == 1 else joined(*alive)


def _cast(an: Analysis, expr: ir.Cast) -> Value:
    found = value(an, expr.operand)
    if isinstance(expr.type, ir.PointerType):
        if isinstance(found, Quantity):
            return NULL if found.value == 0 else None
        return found
    if isinstance(found, Quantity):
        return found if _is_whole(expr.type) else None
    return None


def _new(an: Analysis, expr: ir.New) -> Value:
    count = an.number(expr.count) if expr.count is not None else constant(1)
    if expr.initial is not None:
        value(an, expr.initial)
    if isinstance(expr.element, (ir.RecordType, ir.OpaqueType)) or not expr.element.bytes:
        return None
    allocation = Allocation("pageable", "new", Place(*expr.span))
    an.allocated(allocation, product(count, constant(expr.element.bytes)))
    return Pointer(frozenset({allocation}))
