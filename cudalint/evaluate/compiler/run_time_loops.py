"""Loops whose length is only known at run time: the compiler makes some copies of the body, which take turns.

Read from what nvcc 13.0 makes of some hundred loops (PTX of sm_90, -O3). An innermost loop that counts by a constant,
and that nothing in its body leaves, becomes four copies, or two if it is larger, and a loop for the iterations that are
left over. Those come last if the loop counts from a constant and first otherwise. Branches, barriers, shuffles and
atomics in the body change nothing of that; functions with loops of their own (`sinf`) do. The assembler makes sixteen
copies of four where they are short and straight (SASS of sm_80 and sm_90).
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cudalint import ir
from cudalint.evaluate.execute import walk
from cudalint.heuristics import heuristic

_COPIES = 4
_COPIES_OF_SHORT = 16
_MOST_IN_SIXTEEN = 26
_MOST_IN_FOUR = 51
_MOST_IN_TWO = 101
"""Instructions before code is generated: bodies of 53 were still doubled twice, and such of 55 once; of
some 26 there were sixteen copies, of 28 four."""
_HEAD = 5
"""The counter, its step, its comparison, the jump, and a sum that the loop carries along."""
_ACCESS = 3
"""An index that is made wider, an address, and the access."""
_CALL = 4
_COMPARISONS = ("<", "<=", ">", ">=", "!=")
_WITH_LOOPS = frozenset({"sinf", "cosf", "tanf", "sincosf", "sin", "cos", "tan", "sincos"})
"""They reduce large angles in a loop."""


_KNOWN: WeakKeyDictionary[ir.For, Copies | None] = WeakKeyDictionary()
"""Every access of a loop, under every launch, asks for the same."""


class Copies(NamedTuple):
    """Iteration `i` of a loop is made by copy `i % number`, but for those that are left over."""

    number: int
    step: int
    """Of `n` iterations `n % step` are left over."""
    rest_is_first: bool

    def turns(self, iteration: NDArray[np.int64], length: int) -> list[NDArray[np.bool_]]:
        """Which of these iterations of a loop of some length each copy makes, and at last which are left over."""
        rest = length % self.step
        is_rest = iteration < rest if self.rest_is_first else iteration >= length - rest
        place = (iteration - rest if self.rest_is_first else iteration) % self.number
        return [*(~is_rest & (place == copy) for copy in range(self.number)), is_rest]


@heuristic("copies-of-loops", "PTX and SASS of some hundred loops, nvcc 13.0").otherwise(None)
def copies_of(loop: ir.For) -> Copies | None:
    """What becomes of a loop of unknown length; None if it stays as it is, or if that can't be told."""
    if loop not in _KNOWN:
        _KNOWN[loop] = _copies_of(loop)
    return _KNOWN[loop]


def _copies_of(loop: ir.For) -> Copies | None:
    if not _counts_evenly(loop) or not all(map(_is_plain, walk.walk(loop.body))):
        return None
    step = loop.unroll or _as_many_as_fit(loop)
    if step < 2:
        return None
    number = _COPIES_OF_SHORT if not loop.unroll and _is_short(loop) else step
    start = loop.init.initializer if isinstance(loop.init, ir.Declare) else None
    return Copies(number, step, start is None or not isinstance(walk.without_casts(start), ir.Constant))


def _counts_evenly(loop: ir.For) -> bool:
    """Whether the number of iterations follows from the loop's head alone."""
    counter = walk.root(loop.increment)
    test = walk.without_casts(loop.condition) if loop.condition is not None else None
    if counter is None or not _is_even_step(loop.increment) or not isinstance(test, ir.Binary):
        return False
    if test.op not in _COMPARISONS or not any(_is(side, counter) for side in (test.left, test.right)):
        return False
    changed = {*walk.effects(loop.body).assigned}
    names = {node.symbol for node in walk.walk(test) if isinstance(node, ir.Name)}
    return not changed & names and not any(isinstance(node, (ir.Call, ir.Index)) for node in walk.walk(test))


def _is(expr: ir.Expr, symbol: ir.Symbol) -> bool:
    bare = walk.without_casts(expr)
    return isinstance(bare, ir.Name) and bare.symbol is symbol


def _is_even_step(step: ir.Expr | None) -> bool:
    if isinstance(step, ir.Unary):
        return step.op in walk.STEPS
    if not isinstance(step, ir.Assign) or step.op not in ("+", "-"):
        return False
    return isinstance(walk.without_casts(step.value), ir.Constant)


def _is_plain(node: object) -> bool:
    """Whether a loop with this in its body is still an innermost one that only its head leaves."""
    if isinstance(node, ir.Call):
        return node.name not in _WITH_LOOPS and (node.function is None or not node.function.is_user)
    return not isinstance(node, (ir.For, ir.RangeFor, ir.While, ir.DoWhile, ir.Break, ir.Return, ir.Switch, ir.Asm))


def _as_many_as_fit(loop: ir.For) -> int:
    size = _size(loop)
    return _COPIES if size <= _MOST_IN_FOUR else _COPIES // 2 if size <= _MOST_IN_TWO else 1


def _is_short(loop: ir.For) -> bool:
    branches = any(isinstance(node, (ir.If, ir.Conditional)) or _divides(node) for node in walk.walk(loop.body))
    return not branches and _size(loop) <= _MOST_IN_SIXTEEN


def _divides(node: object) -> bool:
    return isinstance(node, ir.Binary) and node.op in ("/", "%") and not isinstance(node.right, ir.Constant)


def _size(loop: ir.For) -> int:
    return _HEAD + sum(map(_instructions, walk.walk(loop.body)))


def _instructions(node: object) -> int:
    match node:
        case ir.Index() | ir.Unary(op="*"):
            return _ACCESS
        case ir.Binary() | ir.Conditional() | ir.If() | ir.Unary(op="++x" | "x++" | "--x" | "x--" | "-" | "~"):
            return 1
        case ir.Assign(op=op):
            return 1 if op else 0
        case ir.Call():
            return _CALL
        case _:
            return 0
