"""Which functions of host code are executed although they launch nothing."""

from __future__ import annotations

import itertools

from cudalint import ir
from cudalint.evaluate.execute import walk

_MOST_INLINED = 400
"""Nodes of a function that is executed for its result."""
_MOST_SETTING = 8_000
"""Nodes of one that returns nothing and sets global variables, and is executed for those."""
_MOST_BYTES = 1024


def is_small(function: ir.Function) -> bool:
    return _size(function.body, _MOST_INLINED + 1) <= _MOST_INLINED


def is_setting(function: ir.Function) -> bool:
    """Whether a function is called for what it puts into global variables, or into parts of them."""
    if _size(function.body, _MOST_SETTING) >= _MOST_SETTING:
        return False
    targets = (node.target for node in walk.walk(function.body) if isinstance(node, ir.Assign))
    is_void = isinstance(function.result, ir.Scalar) and function.result.kind == "void"
    return is_void and any(_is_global(target) for target in targets)


def _size(body: ir.Stmt, most: int) -> int:
    """Its nodes, of which no more are counted."""
    return sum(1 for _ in itertools.islice(walk.walk(body), most))


def _is_global(target: ir.Expr) -> bool:
    """A global variable, or a part of a record or of a short array: what fills a long one decides no launch."""
    symbol = walk.root(target)
    if symbol is None or symbol.storage != "global":
        return False
    is_whole = isinstance(target, ir.Name) or isinstance(symbol.type, ir.RecordType)
    return is_whole or (isinstance(symbol.type, ir.ArrayType) and symbol.type.bytes <= _MOST_BYTES)
