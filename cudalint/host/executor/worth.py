"""Which functions of host code are executed although they launch nothing."""

from __future__ import annotations

import itertools

from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import named

_MOST_INLINED = 400
"""Nodes of a function that is executed for its result."""
_MOST_SETTING = 8_000
"""Nodes of one that returns nothing and sets global variables, and is executed for those."""
_MOST_FILLING = 8_000
"""Nodes of one that puts numbers into a record that it is given, and is executed for those."""
_MOST_CHECKING = 8_000
"""Nodes of one that checks what it is given, and is executed for what is left then."""
_MOST_BYTES = 1024
_ENDING = named("end-of-program")
_MOST_CALLS = 3
"""Functions that call each other, the last of which checks."""


@heuristic("small-helpers", "helpers of host code that make sizes").otherwise(False)
def is_small(function: ir.Function) -> bool:
    return _size(function.body, _MOST_INLINED + 1) <= _MOST_INLINED


def is_for_effects(function: ir.Function) -> bool:
    """Whether a longer function is executed for what it sets, or for what holds after it."""
    return is_setting(function) or is_filling(function) or is_checking(function)


@heuristic("setters", "functions of host code that set numbers").otherwise(False)
def is_setting(function: ir.Function) -> bool:
    """Whether a function is called for what it puts into global variables, or into parts of them."""
    if _size(function.body, _MOST_SETTING) >= _MOST_SETTING:
        return False
    targets = (node.target for node in walk.walk(function.body) if isinstance(node, ir.Assign))
    is_void = isinstance(function.result, ir.Scalar) and function.result.kind == "void"
    return is_void and any(_is_global(target) for target in targets)


@heuristic("records-filled", "functions of host code that fill a record: constructors, readers of options").otherwise(
    False
)
def is_filling(function: ir.Function) -> bool:
    """Whether a function is called for the numbers that it puts into a record: the object that it constructs or is a
    method of, or one that a parameter points or refers to (`parse(argc, argv, &options)`)."""
    if _size(function.body, _MOST_FILLING) >= _MOST_FILLING:
        return False
    given = frozenset(function.parameters) | ({function.this} if function.this is not None else set())
    return any(_is_given_number(place, given) for node in walk.walk(function.body) for place in _places_set(node))


def _places_set(node: object) -> tuple[ir.Expr, ...]:
    """The places that an assignment sets, or that a call is given the address of."""
    if isinstance(node, ir.Assign):
        return (node.target,)
    if isinstance(node, ir.Call):
        addresses = (walk.without_casts(argument) for argument in node.arguments)
        return tuple(each.operand for each in addresses if isinstance(each, ir.Unary) and each.op == "&")
    return ()


def _is_given_number(place: ir.Expr, given: frozenset[ir.Symbol]) -> bool:
    """Whether a place is a whole number that is a field of what one of these variables points or refers to."""
    base = place
    while isinstance(base, ir.Member):
        base = base.base
    is_whole = isinstance(place.type, ir.Scalar) and place.type.kind in ("int", "uint")
    return base is not place and is_whole and isinstance(base, ir.Name) and base.symbol in given


def is_checking(function: ir.Function, calls: int = 0) -> bool:
    """Whether a function ends the program, or throws, unless something holds of what it is given."""
    if _size(function.body, _MOST_CHECKING) >= _MOST_CHECKING or not isinstance(function.body, st.Block):
        return False
    given = frozenset(function.parameters)
    return any(_is_check(statement, given, calls) for statement in function.body.statements)


def _is_check(statement: st.Stmt, given: frozenset[ir.Symbol], calls: int) -> bool:
    if isinstance(statement, st.If):
        sides = (statement.then, statement.otherwise)
        return _names(statement.condition, given) and any(side is not None and _ends(side) for side in sides)
    if not isinstance(statement, st.ExprStmt) or not _names(statement, given):
        return False
    if not isinstance(statement.expr, ir.Call):
        # `assert(n > 0)` is a condition with two results.
        return _ends(statement)
    ref = statement.expr.function
    if ref is None or not ref.is_user or calls >= _MOST_CALLS or not ref.acts():
        return False
    called = ref.load()
    return called is not None and is_checking(called, calls + 1)


def _names(part: st.Stmt | ir.Expr, symbols: frozenset[ir.Symbol]) -> bool:
    return any(isinstance(node, ir.Name) and node.symbol in symbols for node in walk.walk(part))


def _ends(side: st.Stmt) -> bool:
    """Whether the program ends there, or something is thrown: as a rule the message is made before."""
    if isinstance(side, st.Block):
        return bool(side.statements) and _ends(side.statements[-1])
    return isinstance(side, st.ExprStmt) and any(_is_ending(node) for node in walk.walk(side))


def _is_ending(node: object) -> bool:
    if isinstance(node, ir.Construct):
        return node.constructor is not None and node.constructor.never_returns()
    if not isinstance(node, ir.Call):
        return False
    return node.name in _ENDING or (node.function is not None and node.function.never_returns())


def _size(body: st.Stmt, most: int) -> int:
    """Its nodes, of which no more are counted."""
    return sum(1 for _ in itertools.islice(walk.walk(body), most))


def _is_global(target: ir.Expr) -> bool:
    """A global variable, or a part of a record or of a short array: what fills a long one decides no launch."""
    symbol = walk.root(target)
    if symbol is None or symbol.storage != "global":
        return False
    is_whole = isinstance(target, ir.Name) or isinstance(symbol.type, ir.RecordType)
    return is_whole or (isinstance(symbol.type, ir.ArrayType) and symbol.type.bytes <= _MOST_BYTES)
