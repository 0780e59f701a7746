"""Divisors of integers for which there is a faster way than to divide: numbers that the host knows before a launch, for
which it can compute a multiplier, and powers of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from cudalint.execute.trace import Stack
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.kept import kept
from cudalint.measure.places import called
from cudalint.measure.work.compiler import is_power_of_two

_OF_THREADS = ("threadIdx", "blockIdx")
_HELD = ("constant", "device", "global", "static", "template")
"""Variables that are not a function's."""
_KEEP = frozenset({"*", "<<", "/", ">>"})
"""What makes powers of two of powers of two."""
_LOOKED_UP = (ir.Name, ir.Index, ir.Call)
"""What is no constant in what an index begins with or is stepped by."""


class Given(Struct):
    """What a function gives one of its variables."""

    values: list[tuple[str, ir.Expr]] = field(default_factory=list)
    """With the operator: "" where that is all, "*" for `*=`."""
    is_stepped: bool = False
    """Counted up or down by one."""
    is_open: bool = False
    """Something else may change it as well."""


def has_faster_way(divisor: ir.Expr, function: ir.Function, stack: Stack, kernel: ir.Function) -> bool:
    """Whether the divisor of a place in `function`, to which calls lead, is one of those."""
    return _is_common(divisor, function, stack, kernel, frozenset()) or _is_power(divisor, function, frozenset())


def _is_common(e: Any, function: ir.Function, stack: Stack, kernel: ir.Function, seen: frozenset[ir.Symbol]) -> bool:
    """Whether it is one number for all threads of a launch and all turns of loops, or one of an array of such."""
    match e:
        case ir.Name(symbol=symbol):
            return _is_common_name(symbol, function, stack, kernel, seen)
        case ir.Index(base=base, index=index):
            return _is_common(base, function, stack, kernel, seen) and _counts(index, function)
        case ir.Call(function=reference) if reference is not None and reference.is_user:
            return False
        case ir.Assign() | ir.Construct() | ir.InitList() | ir.Lambda() | ir.StatementExpr():
            return False
    return all(_is_common(part, function, stack, kernel, seen) for part in walk.children(e))


def _is_common_name(
    symbol: ir.Symbol, function: ir.Function, stack: Stack, kernel: ir.Function, seen: frozenset[ir.Symbol]
) -> bool:
    if symbol.storage == "builtin":
        return symbol.name not in _OF_THREADS
    if symbol.storage in _HELD:
        return True
    if symbol.storage == "parameter" and symbol not in _given(function):
        return _is_common_parameter(symbol, function, stack, kernel, seen)
    return symbol.storage == "local" and _are_common(symbol, function, stack, kernel, seen)


def _is_common_parameter(
    symbol: ir.Symbol, function: ir.Function, stack: Stack, kernel: ir.Function, seen: frozenset[ir.Symbol]
) -> bool:
    if not stack:
        return True
    arguments = stack[0].arguments
    at = function.parameters.index(symbol) if symbol in function.parameters else len(arguments)
    caller = called(stack[1]) if len(stack) > 1 else kernel
    return at < len(arguments) and caller is not None and (
        _is_common(arguments[at], caller, stack[1:], kernel, frozenset())
    )


def _are_common(
    symbol: ir.Symbol, function: ir.Function, stack: Stack, kernel: ir.Function, seen: frozenset[ir.Symbol]
) -> bool:
    """Whether all that a variable is given is the same for all."""
    given = _given(function).get(symbol)
    if given is None or given.is_open or given.is_stepped or symbol in seen:
        return False
    inner = seen | {symbol}
    return bool(given.values) and all(
        not op and _is_common(value, function, stack, kernel, inner) for op, value in given.values
    )


def _counts(index: ir.Expr, function: ir.Function) -> bool:
    """Whether an index says a place in a small array, such as one for each dimension: no thread's own."""
    for node in walk.walk(index):
        if isinstance(node, ir.Name) and node.symbol.storage not in _HELD:
            own = _given(function).get(node.symbol)
            values = [value for _, value in own.values] if own is not None and not own.is_open else []
            if not values or any(isinstance(part, _LOOKED_UP) for value in values for part in walk.walk(value)):
                return False
    return True


def _is_power(e: Any, function: ir.Function, seen: frozenset[ir.Symbol]) -> bool:
    """Whether it is a power of two in each turn: `2 * k` of a `k` that begins with 1 and doubles."""
    e = walk.without_casts(e)
    match e:
        case ir.Constant(value=value):
            return isinstance(value, int) and is_power_of_two(value)
        case ir.Binary(op="<<", left=left):
            return _is_power(left, function, seen)
        case ir.Binary(op="*", left=left, right=right):
            return _is_power(left, function, seen) and _is_power(right, function, seen)
        case ir.Name(symbol=symbol) if symbol.storage == "local":
            given = _given(function).get(symbol)
            if given is None or given.is_open or given.is_stepped or not given.values:
                return False
            return symbol in seen or all(
                (op in _KEEP or not op)
                and (op in ("<<", ">>") or _is_power(value, function, seen | {symbol}))
                for op, value in given.values
            )
    return False


@kept(32)
def _given(function: ir.Function) -> Mapping[ir.Symbol, Given]:
    """What becomes of the variables that a function changes."""
    found: dict[ir.Symbol, Given] = {}
    plain: set[int] = set()
    for node in walk.nodes_in(function):
        if isinstance(node, st.Declare) and node.initializer is not None:
            found.setdefault(node.symbol, Given()).values.append(("", node.initializer))
        elif isinstance(node, ir.Assign) and isinstance(node.target, ir.Name):
            found.setdefault(node.target.symbol, Given()).values.append((node.op, node.value))
            plain.add(id(node))
        elif isinstance(node, ir.Unary) and node.op in walk.STEPS and isinstance(node.operand, ir.Name):
            found.setdefault(node.operand.symbol, Given()).is_stepped = True
            plain.add(id(node))
    for node in walk.nodes_in(function):
        if isinstance(node, (ir.Assign, ir.Unary, ir.Call, ir.Construct, st.Asm)) and id(node) not in plain:
            for symbol in walk.effects(node).assigned:
                found.setdefault(symbol, Given()).is_open = True
    return found
