"""What functions out of sight give that are called after it, wherever a program has them from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cudalint.heuristics import heuristic
from cudalint.host.executor import expressions
from cudalint.host.values.arithmetic import kind_of
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_ROUNDED_UP: Final = regex(
    r"(?i)(?:i|int|u)?_?(?:ceil_?div|div_?ceil|div_?up|div_?round_?up|round_?up_?div|c_?div)"
)
_OF_WARPS: Final = regex(r"(?i)(?:k|get|device)?_?warp_?size(?:_?(?:of)?_?(?:current)?_?device)?")
_INTEGERS: Final = frozenset({"int", "uint"})
_OF_TWO: Final = 2


def rounds_up(function: str) -> bool:
    """Whether a function of two numbers gives their quotient rounded up: `ceildiv(n, 256)`."""
    return _ROUNDED_UP.fullmatch(function) is not None


def is_of_warps(name: str) -> bool:
    """Whether a name is that of the number of threads of a warp: `getWarpSizeCurrentDevice`."""
    return _OF_WARPS.fullmatch(name) is not None


@heuristic("told-by-names", "host functions whose headers are missing").otherwise(None)
def number_by_name(ex: Execution, call: ir.Call) -> Node | None:
    """The number that a function gives by what it is called; None where that says nothing."""
    if not isinstance(call.type, ir.Scalar) or call.type.kind not in _INTEGERS:
        return None
    kind, graph = kind_of(call.type), ex.graph
    if not call.arguments and is_of_warps(call.name):
        size = ex.properties.get("warpSize")
        return graph.const(size, kind) if size is not None else None
    if len(call.arguments) != _OF_TWO or not rounds_up(call.name):
        return None
    a, b = (expressions.evaluate(ex, argument) for argument in call.arguments)
    if not isinstance(a, Node) or not isinstance(b, Node) or (b.is_const and b.value == 0):
        return None
    up = graph.binary("-", graph.binary("+", a, b, kind), graph.const(1, kind), kind)
    return graph.binary("/", up, b, kind)
