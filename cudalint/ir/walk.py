"""Walking the IR: all nodes below a statement, and what a loop body may assign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.kept import kept
from cudalint.regexes import regex

STEPS = ("++x", "--x", "x++", "x--")
"""The operators that change their operand."""
_NODES = regex(r"\b(Expr|Stmt|Case)\b")
_LAST_FIRST: dict[type, tuple[str, ...]] = {}


def _child_fields(class_: type[Any]) -> tuple[str, ...]:
    """The fields that hold nodes, by what they are declared as; the last one first."""
    names = _LAST_FIRST.get(class_)
    if names is None:
        fields = reversed(class_.__annotations__.items())
        names = _LAST_FIRST[class_] = tuple(name for name, type_ in fields if _NODES.search(type_))
    return names


def children(node: Any) -> list[Any]:
    """The IR nodes directly below a statement or an expression, in source order."""
    found = _children_last_first(node, _child_fields(type(node)))
    found.reverse()
    return found


def walk(node: Any) -> Iterator[Any]:
    """All IR nodes below and including `node`."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        # Half of all nodes are names and constants, which have nothing below them.
        if names := _child_fields(type(current)):
            pending += _children_last_first(current, names)


@kept(256)
def nodes_in(function: ir.Function) -> tuple[Any, ...]:
    """All IR nodes of a function's body, which many ask for something."""
    return tuple(walk(function.body))


@kept(256)
def parents_in(function: ir.Function) -> dict[int, Any]:
    """What each node of a function's body is directly in, by its identity."""
    found: dict[int, Any] = {}
    for node in nodes_in(function):
        for child in children(node):
            found.setdefault(id(child), node)
    return found


def _children_last_first(node: Any, names: tuple[str, ...]) -> list[Any]:
    found: list[Any] = []
    for name in names:
        value = getattr(node, name)
        if type(value) is tuple:
            found += value[::-1]
        elif value is not None:
            found.append(value)
    return found


def without_casts(expr: ir.Expr) -> ir.Expr:
    """What is converted, before all conversions."""
    while isinstance(expr, ir.Cast):
        expr = expr.operand
    return expr


def conjuncts(condition: ir.Expr, holds: bool) -> Iterator[tuple[ir.Expr, bool]]:
    """What has to be so, each for itself, where a condition holds, or where it doesn't: `a && b` is two of them. They
    are without the casts around them."""
    bare = without_casts(condition)
    if isinstance(bare, ir.Unary) and bare.op == "!":
        yield from conjuncts(bare.operand, not holds)
    elif isinstance(bare, ir.Binary) and bare.op == ("&&" if holds else "||"):
        yield from conjuncts(bare.left, holds)
        yield from conjuncts(bare.right, holds)
    else:
        yield bare, holds


def root(expr: Any) -> ir.Symbol | None:
    """The variable at the bottom of an lvalue: `a` in `a[i].x`, `p` in `*p` and `p->x`."""
    while True:
        if isinstance(expr, ir.Name):
            return expr.symbol
        if isinstance(expr, (ir.Member, ir.Index)):
            expr = expr.base
        elif isinstance(expr, (ir.Unary, ir.Cast)):
            expr = expr.operand
        elif isinstance(expr, ir.Assign):
            expr = expr.target
        elif isinstance(expr, ir.Binary) and expr.op in ("+", "-"):
            expr = expr.left
        else:
            return None


class Effects(Struct, frozen=True):
    """What a piece of code may do to the variables around it."""

    assigned: tuple[ir.Symbol, ...]
    """Roots of everything assigned, incremented, or passed to a call that may change it. They stand in the order of the
    source: that of a set of symbols is the one of their addresses, and no figure may depend on those."""
    closures: tuple[ir.Symbol, ...]
    """Variables that are called: closures, whose bodies assign too."""


def effects(*parts: Any) -> Effects:
    """The effects of statements and expressions, by their syntax."""
    assigned: dict[ir.Symbol, None] = {}
    closures: dict[ir.Symbol, None] = {}
    for part in parts:
        for node in walk(part) if part is not None else ():
            if type(node) in _WITH_EFFECTS:
                _add_effects(node, assigned, closures)
    return Effects(tuple(assigned), tuple(closures))


_WITH_EFFECTS = frozenset({ir.Assign, ir.Unary, ir.Call, ir.Construct, st.Asm})
"""Few nodes are of these types; asking for them one by one takes longer than the walk."""


def _add_effects(node: Any, assigned: dict[ir.Symbol, None], closures: dict[ir.Symbol, None]) -> None:
    if isinstance(node, ir.Assign):
        _add_root(assigned, node.target)
    elif isinstance(node, ir.Unary):
        if node.op in (*STEPS, "&"):
            _add_root(assigned, node.operand)
    elif isinstance(node, st.Asm):
        for operand in node.operands:
            _add_root(assigned, operand)
    else:
        _call_effects(node, assigned, closures)


def value_before(function: ir.Function, symbol: ir.Symbol, node: Any) -> ir.Expr | None:
    """What a variable was given last in front of the statement that a node is in, by one before it in the same block.
    None where that is done elsewhere, or depends on something."""
    parents = parents_in(function)
    statement, around = node, parents.get(id(node))
    while around is not None and not isinstance(around, st.Block):
        statement, around = around, parents.get(id(around))
    if around is None or symbol in effects(statement).assigned:
        return None
    at = next(number for number, each in enumerate(around.statements) if each is statement)
    for each in reversed(around.statements[:at]):
        if isinstance(each, st.Declare) and each.symbol is symbol:
            return each.initializer
        if symbol in effects(each).assigned:
            return _given_by(each, symbol)
    return None


def _given_by(statement: st.Stmt, symbol: ir.Symbol) -> ir.Expr | None:
    match statement:
        case st.ExprStmt(expr=ir.Assign(op="", target=ir.Name(symbol=given), value=value)) if given is symbol:
            return value
    return None


def stepped(part: Any) -> Iterator[ir.Symbol]:
    """The variables that are counted up or down."""
    for node in walk(part):
        if isinstance(node, ir.Unary) and node.op in STEPS and isinstance(node.operand, ir.Name):
            yield node.operand.symbol
        elif isinstance(node, ir.Assign) and node.op in ("+", "-") and isinstance(node.target, ir.Name):
            yield node.target.symbol


def _add_root(assigned: dict[ir.Symbol, None], expr: Any) -> None:
    symbol = root(expr)
    if symbol is not None:
        assigned[symbol] = None


def _call_effects(
    call: ir.Call | ir.Construct, assigned: dict[ir.Symbol, None], closures: dict[ir.Symbol, None]
) -> None:
    if isinstance(call, ir.Construct):
        assigned |= dict.fromkeys(passed_to(call.constructor, call.arguments))
        return
    if call.receiver is not None:
        _add_root(assigned, call.receiver)
        if call.name == "operator()":
            _add_root(closures, call.receiver)
    if call.callee is not None:
        _add_root(closures, call.callee)
    assigned |= dict.fromkeys(passed_to(call.function, call.arguments))


def passed_to(function: ir.FunctionRef | None, arguments: Sequence[ir.Expr]) -> Iterator[ir.Symbol]:
    """The variables that a call may change through its arguments: what parameters point or refer to. Of the library's
    functions only references to what is not constant count, and whole objects, which may hold pointers."""
    is_user = function is not None and function.is_user
    types = function.parameter_types() if function is not None and is_user else ()
    outputs = function.outputs() if function is not None and not is_user else frozenset()
    for position, argument in enumerate(arguments):
        if position < len(types):
            may_change = isinstance(types[position], (ir.PointerType, ir.ArrayType))
        else:
            leading = isinstance(argument.type, (ir.PointerType, ir.ArrayType, ir.RecordType))
            may_change = leading or position in outputs
        symbol = root(argument) if may_change else None
        if symbol is not None:
            yield symbol


def is_fixed(symbol: ir.Symbol) -> bool:
    """Whether the compiler knows the value of a variable: it is constant, and not what a caller gives."""
    return symbol.is_const and symbol.storage not in ("parameter", "shared", "dynamic-shared", "builtin")


def needs_a_branch(condition: ir.Expr) -> bool:
    """Whether a condition loads or calls something; the compiler evaluates others also where they don't count."""
    return any(
        isinstance(node, (ir.Index, ir.Call)) or (isinstance(node, ir.Unary) and node.op == "*")
        for node in walk(condition)
    )
