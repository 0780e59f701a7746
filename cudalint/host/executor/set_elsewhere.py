"""Numbers of a library's file that one function sets and another one launches with: `setup(n)`, and then `run()`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import walk


@heuristic("numbers-set-elsewhere", "libraries whose set-up and run are two functions").otherwise(())
def set_elsewhere(functions: Iterable[ir.FunctionRef]) -> Iterator[ir.Symbol]:
    """The numbers outside of functions that some of these functions set to what they are given, and that are 0 before:
    nobody launches anything with that. Where they are something else, that is a default."""
    for ref in functions:
        function = ref.load() if ref.names_numbers() else None
        for node in walk.nodes_in(function) if function is not None else ():
            if isinstance(node, ir.Assign) and not node.op and isinstance(node.target, ir.Name):
                symbol = node.target.symbol
                is_given = not isinstance(walk.without_casts(node.value), ir.Constant)
                if is_given and symbol.storage == "global" and _is_zero_at_first(symbol):
                    yield symbol


def _is_zero_at_first(symbol: ir.Symbol) -> bool:
    if not isinstance(symbol.type, ir.Scalar) or symbol.type.kind == "bool" or symbol.initializer is None:
        return False
    first = symbol.initializer()
    plain = walk.without_casts(first) if first is not None else None
    return isinstance(plain, ir.Constant) and plain.value == 0
