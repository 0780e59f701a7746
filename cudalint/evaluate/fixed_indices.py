"""Accesses whose address the compiler can compute but for the thread and the block.

The evaluator puts a launch's arguments and block in, the compiler does not know them: to it, elements of `t[x * pitch]`
with a pitch of 4 are not aligned to 16 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint import ir
from cudalint.evaluate import walk

_ACCESSES = (ir.Index, ir.Member, ir.Unary, ir.Name)


def fixed_indices(function: ir.Function) -> frozenset[ir.Span]:
    """The places of the accesses in a kernel's own body into which no size goes that is known at run time only."""
    open_: set[ir.Symbol] = set(function.parameters)
    nodes = list(walk.walk(function.body))
    flows = list(_flows(nodes))
    while True:
        new = {target for target, source in flows if target not in open_ and _mentions(source, open_)}
        if not new:
            break
        open_ |= new
    return frozenset(n.span for n in nodes if isinstance(n, _ACCESSES) and not _mentions(n, open_))


def _flows(nodes: list[object]) -> Iterator[tuple[ir.Symbol, object]]:
    """What is put into which variable."""
    for node in nodes:
        if isinstance(node, ir.Declare) and node.initializer is not None:
            yield node.symbol, node.initializer
        elif isinstance(node, ir.Assign):
            symbol = walk.root(node.target)
            # What is stored behind a pointer or in shared memory does not change where that is.
            if symbol is not None and symbol.storage == "local" and not isinstance(symbol.type, ir.PointerType):
                yield symbol, node.value
            elif isinstance(node.target, ir.Name):
                yield node.target.symbol, node.value


def _mentions(source: object, symbols: set[ir.Symbol]) -> bool:
    return any(
        isinstance(n, ir.Name) and (n.symbol in symbols or n.symbol.name in ("blockDim", "gridDim"))
        for n in walk.walk(source)
    )


__all__ = ["fixed_indices"]
