"""Sine and cosine in double precision, which load the coefficients of a polynomial from a table in global memory.

The table is `__cudart_sin_cos_coeffs`, 64 bytes for either polynomial; the quadrant that an angle lies in says which
one a lane takes. Read from what nvcc 13.0 compiles for sm_90: `sin`, `cos`, `sinpi` and `cospi` of a double have three
such loads of 16 bytes (the last two are not followed here), `sincos` and `tan` have none. Measured on an H200 on 21
lines of four programs: 1.0 to 2.0 sectors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cudalint import ir
from cudalint.evaluate.execute.values import Allocation, MemoryPlace, Pointer
from cudalint.evaluate.execute.walk import walk
from cudalint.evaluate.symbolic.arithmetic import F8, I8
from cudalint.evaluate.symbolic.nodes import Node

if TYPE_CHECKING:
    from cudalint.evaluate.execute.executor import Executor

_TABLE = "__cudart_sin_cos_coeffs"
_POLYNOMIAL_BYTES = 64
_LOADED_BYTES = 16
_AHEAD = {"sin": 0, "cos": 1}
"""By how many quadrants the function is ahead of the sine."""


def load_coefficients(ex: Executor, call: ir.Call, name: str, angle: Node) -> None:
    """Records what a call of `name` loads, if it is a function with a table."""
    if name not in _AHEAD or call.type.bytes != F8.bytes or not ex.memory.recording:
        return
    if angle.is_const and not any(isinstance(node, ir.Name) for node in walk(call.arguments[0])):
        return  # The compiler has the sine of a number that the source spells out.
    graph = ex.graph
    turns = graph.binary("*", graph.convert(angle, F8), graph.const(2 / math.pi, F8), F8)
    quadrant = graph.convert(graph.function("rint", turns, F8), I8)
    ahead = graph.binary("+", quadrant, graph.const(_AHEAD[name], I8), I8)
    which = graph.binary("&", ahead, graph.const(1, I8), I8)
    offset = graph.binary("*", which, graph.const(_POLYNOMIAL_BYTES, I8), I8)
    # Each call has a table of its own: which coefficients another call has loaded is another angle's affair.
    table = Allocation(_TABLE, "global", 2 * _POLYNOMIAL_BYTES)
    place = MemoryPlace(Pointer(table, offset, call.type), call.type)
    ex.memory.access(place, ex.context(call.span), "load", _LOADED_BYTES)
