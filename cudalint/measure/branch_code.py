"""The code behind a branch: its sides, what the compiler makes of them, and what is executed there.

The limits were read from what `nvcc -O3` (13.0, sm_90) made of 400 conditions in 52 public programs: 40 of the 42 that
guard the rest of a kernel became `@P EXIT`, five in six of the bodies up to the limit no jump, most longer ones a jump.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cudalint.execute.trace import Site, Stack
from cudalint.facts import Compiled
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.measure.places import called

LOOPS = (st.For, st.While, st.DoWhile, st.RangeFor)
_PREDICATED = 9.0
_TWO_SIDED = 11.0
_SHORT_CIRCUIT = 2.0
"""The right side of `&&` and `||`, which as a rule loads."""
_SHORT = 16.0
"""Instructions of a side that all lanes may as well execute."""
_DIVISION = 8.0
"""A division by a value that is not constant: a reciprocal and its corrections."""
_DEEPEST = 8
"""Calls in one another that are followed."""
_LEAVING = (st.Return, st.Break, st.Continue)
_STEPS = ("++x", "--x", "x++", "x--")

Side = tuple[Any, ...]
"""Statements, or expressions, that are executed one after the other."""


def sides_of(node: Any) -> tuple[Side, ...]:
    """What is executed where the condition holds, and where it does not; each case; a loop with what is computed before
    its turns."""
    match node:
        case st.If(then=then, otherwise=otherwise) | ir.Conditional(then=then, otherwise=otherwise):
            return ((then,),) if otherwise is None else ((then,), (otherwise,))
        case ir.Binary(right=right):
            return ((right,),)
        case st.Switch(cases=cases):
            return tuple(case.body for case in cases)
    return ((node,),) if isinstance(node, LOOPS) else ()


# --- what the compiler makes of it -------------------------------------------------------------------------


@heuristic("predicated-branches", "`nvcc -O3` (13.0, sm_90) of 400 conditions").otherwise("branch")
def compiled_form(node: Any, stack: Stack, kernel: ir.Function) -> Compiled:
    """The likely form of one branch in machine code."""
    if isinstance(node, (*LOOPS, st.Switch)):
        return "branch"
    sides = sides_of(node)
    around = _around(node, stack, kernel)
    is_in_loop = any(isinstance(each, LOOPS) for each in around)
    if isinstance(node, st.If) and not is_in_loop:
        ends_it = not stack and _leaves(sides[0]) and _weigh(sides[0], _PREDICATED) is not None
        if ends_it or (len(sides) == 1 and _is_last(node, around)):
            return "exit"
    if is_in_loop and any(map(_leaves, sides)):
        return "branch"
    limit = _TWO_SIDED if len(sides) > 1 else _PREDICATED if isinstance(node, st.If) else _SHORT_CIRCUIT
    return "branch" if _weigh([part for side in sides for part in side], limit) is None else "predicated"


def _around(node: Any, stack: Stack, kernel: ir.Function) -> list[Any]:
    """What a node is in, the innermost first, through the calls that lead there; the node itself is the first."""
    found: list[Any] = []
    inner = node
    for call in (*stack, None):
        function = kernel if call is None else called(call)
        if function is None:
            return found
        parents = walk.parents_in(function)
        if inner is not function.body and id(inner) not in parents:
            return found
        while inner is not None:
            found.append(inner)
            inner = parents.get(id(inner))
        inner = call
    return found


def _leaves(side: Side) -> bool:
    """Whether nothing behind a side is executed by who goes there."""
    last = side[-1] if side else None
    match last:
        case st.Block(statements=statements):
            return _leaves(statements)
        case st.If(then=then, otherwise=otherwise) if otherwise is not None:
            return _leaves((then,)) and _leaves((otherwise,))
    return isinstance(last, _LEAVING)


def _is_last(node: Any, around: Iterable[Any]) -> bool:
    """Whether nothing is executed behind a statement, in the kernel."""
    inner = node
    for outer in around:
        match outer:
            case st.Block(statements=statements) if inner is not outer and inner is not statements[-1]:
                return False
            case st.Switch():
                return False
        inner = outer
    return True


def _weigh(parts: Iterable[Any], most: float) -> float | None:
    """Machine instructions of straight code, with those of the user's functions that it calls; None where they are
    more than that, or there are loops."""
    total = 0.0
    for node in _nodes(parts, _DEEPEST):
        if isinstance(node, LOOPS):
            return None
        total += _operation(node)
        if total > most:
            return None
    return total


def _nodes(parts: Iterable[Any], depth: int) -> Iterator[Any]:
    for part in parts:
        for node in walk.walk(part):
            yield node
            function = called(node) if depth and isinstance(node, (ir.Call, ir.Construct)) else None
            if function is not None:
                yield from _nodes((function.body,), depth - 1)


def _operation(node: Any) -> float:
    match node:
        case ir.Index(base=base):
            # An address and an access; of `a[i][j]` once.
            return 0.0 if isinstance(base, ir.Index) else 2.0
        case ir.Unary(op="*"):
            return 1.0
        case ir.Unary(op=op):
            return 1.0 if op in (*_STEPS, "-", "~") else 0.0
        case ir.Binary(op=op, right=right):
            return _DIVISION if op in ("/", "%") and not isinstance(right, ir.Constant) else 1.0
        case ir.Assign(op=op, target=target):
            return (3.0 if _is_memory(target) else 1.0) if op else 0.0
        case ir.Conditional():
            return 1.0
        case ir.Call(name=name, function=function):
            return 0.0 if function is not None and function.is_user else builtin(name).weight
    return 0.0


def _is_memory(target: ir.Expr) -> bool:
    nodes = walk.walk(target)
    return any(isinstance(node, ir.Index) or (isinstance(node, ir.Unary) and node.op == "*") for node in nodes)


# --- what is executed --------------------------------------------------------------------------------------


def executed_in(side: Side, stack: Stack, by_place: Mapping[Site, float]) -> float:
    """Of what is counted by statements, what belongs to a side of a branch, with the functions that are called
    there."""
    inside = {id(node) for part in side for node in walk.walk(part)}
    return sum(count for site, count in by_place.items() if _is_in(site, stack, inside))


def _is_in(site: Site, stack: Stack, inside: set[int]) -> bool:
    depth = len(site.stack) - len(stack)
    if depth < 0 or site.stack[depth:] != stack:
        return False
    if depth:
        return id(site.stack[depth - 1]) in inside
    return id(site.library if site.library is not None else site.statement) in inside


# --- what a branch is for ----------------------------------------------------------------------------------


def chosen_variable(node: Any) -> str | None:
    """The variable that is all that an `if` sets, where its sides are short arithmetic that every lane may execute."""
    if not isinstance(node, st.If):
        return None
    names = {_set_by(side) for side in sides_of(node)}
    return names.pop() if len(names) == 1 else None


def _set_by(side: Side) -> str | None:
    statements = list(_plain(side))
    if len(statements) != 1 or _weigh(statements, _SHORT) is None:
        return None
    match statements[0]:
        case st.ExprStmt(expr=ir.Assign(target=ir.Name(symbol=symbol), value=value)) if not _is_more(value):
            return symbol.name
    return None


def _plain(statements: Iterable[Any]) -> Iterator[Any]:
    for each in statements:
        if isinstance(each, st.Block):
            yield from _plain(each.statements)
        else:
            yield each


def _is_more(value: ir.Expr) -> bool:
    """Whether an expression does more than to compute from numbers at hand: it may reach memory or change something."""
    nodes = list(walk.walk(value))
    return any(isinstance(node, _MORE) or (isinstance(node, ir.Unary) and node.op in _REACHES) for node in nodes)


_MORE = (ir.Index, ir.Assign, ir.Call)
_REACHES = frozenset({"*", *_STEPS})
