"""Sine and cosine, which load from tables in global memory.

In double precision it is the coefficients of a polynomial: `__cudart_sin_cos_coeffs` has 64 bytes for either one, and
the quadrant that an angle lies in says which one a lane takes. Read from what nvcc 13.0 compiles for sm_90: `sin`,
`cos`, `sinpi` and `cospi` of a double have three such loads of 16 bytes (the last two are not followed here), `sincos`
and `tan` have none. Measured on an H200 on 21 lines of four programs: 1.0 to 2.0 sectors.

In single precision it is the bits of 2/pi, `__cudart_i2opi_f`, that reduce large angles: a loop loads word after word,
the same in all lanes that are there (nvcc 13.0, sm_90; measured: 1.0 sector for `sinf`, `cosf`, `tanf` and `sincosf` of
angles to a million, no load for angles to 2048). Angles that are data, or rest on a number that nothing in sight gives,
are rather small, and nothing is listed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cudalint import ir
from cudalint.evaluate.execute.values import Allocation, MemoryPlace, Pointer
from cudalint.evaluate.execute.walk import walk
from cudalint.evaluate.symbolic.arithmetic import BOOL, F4, F8, I8
from cudalint.evaluate.symbolic.nodes import Node

if TYPE_CHECKING:
    from cudalint.evaluate.execute.executor import Executor

_TABLE = "__cudart_sin_cos_coeffs"
_POLYNOMIAL_BYTES = 64
_LOADED_BYTES = 16
_AHEAD = {"sin": 0, "cos": 1}
"""By how many quadrants the function is ahead of the sine."""


_BITS_OF_PI = "__cudart_i2opi_f"
_REDUCED = frozenset({"sin", "cos", "sincos", "tan"})
_LARGEST_ANGLE = 105615.0
"""Beyond, products of floats are not enough to reduce an angle."""


def load_tables(ex: Executor, call: ir.Call, name: str, angle: Node) -> None:
    """Records what a call of `name` loads, if it is a function with a table."""
    if call.name.startswith("__") or not ex.memory.recording:
        return
    if angle.is_const and not any(isinstance(node, ir.Name) for node in walk(call.arguments[0])):
        return  # The compiler has the sine of a number that the source spells out.
    is_double = F8.bytes in (call.type.bytes, angle.kind.bytes)
    if is_double and name in _AHEAD:
        _load_coefficients(ex, call, name, angle)
    elif not is_double and name in _REDUCED and _is_followed(ex, angle):
        _load_bits_of_pi(ex, call, angle)


def _is_followed(ex: Executor, angle: Node) -> bool:
    graph = ex.graph
    return not angle.bits & graph.opaque_bits and not any(
        number.kind.is_float for number in graph.atoms(angle.bits, graph.uniform_bits)
    )


def _load_bits_of_pi(ex: Executor, call: ir.Call, angle: Node) -> None:
    graph, state = ex.graph, ex.state
    size = graph.function("fabs", graph.convert(angle, F4), F4)
    is_large = graph.binary("<", graph.const(_LARGEST_ANGLE, F4), size, BOOL)
    if is_large is graph.false:
        return
    before, guard = state.conditions, state.guard
    state.assume(is_large)
    state.guard = None
    table = Allocation(_BITS_OF_PI, "global", 24)
    word = ir.Scalar("unsigned int", 4, "uint")
    place = MemoryPlace(Pointer(table, graph.const(0, I8), word), word)
    ex.memory.access(place, ex.context(call.span), "load", word.bytes)
    state.conditions, state.guard = before, guard


def _load_coefficients(ex: Executor, call: ir.Call, name: str, angle: Node) -> None:
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
