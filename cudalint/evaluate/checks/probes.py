"""Trying an access with other sizes: in which of them some active lane does something wrong, and which lane."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.situations import QUICK, Effort, Situation
from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import Context
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import BOOL, I4, U4
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, Node, Uniform, bits_of
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import is_address

Values = Mapping[Node, int | float]
"""Numbers for uniform symbols."""
Offends = Callable[[Rows], NDArray[np.bool_]]
"""[rows, threads], or what broadcasts to it: the lanes that would do something wrong if they were active."""


class Offender(Struct, frozen=True):
    """The first thread, in the order of the blocks and iterations evaluated, that does something wrong."""

    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    offset: int
    """Bytes from the start of the array; the index for an array in registers."""
    in_last_block: bool
    """No block with a larger index along an axis of several blocks is in the grid."""


class Seen(Struct, frozen=True):
    """What one choice of sizes shows."""

    reached: bool
    offender: Offender | None


def active_lanes(rows: Rows, conditions: Sequence[Node]) -> NDArray[np.bool_]:
    """[rows, threads] the lanes for which conditions hold that can be evaluated."""
    return rows.mask(conditions) & (rows.weights[:, None] > 0)


def symbols(graph: Graph, bits: int) -> list[Node]:
    """The integer symbols among some leaves, without addresses."""
    found = graph.atoms(bits, graph.uniform_bits)
    return [u for u in found if not u.kind.is_float and u.kind != BOOL and not is_address(u)]


def inputs(graph: Graph, bits: int) -> list[Node]:
    """Those of them that may be any number, as far as anybody knows: not what a loop of the host code makes."""
    return [u for u in symbols(graph, bits) if not (isinstance(u.payload, Uniform) and u.payload.is_computed)]


_EXACT = {"+": np.add, "*": np.multiply, "-": np.subtract, "<<": np.left_shift}


def overflows(nodes: Sequence[Node], rows: Rows, active: NDArray[np.bool_]) -> bool:
    """Whether arithmetic with sizes and blocks that goes into some values overflows in an active lane."""
    seen, open_bits = set[int](), rows.graph.uniform_bits | BLOCK_BITS
    pending = [*nodes]
    while pending:
        node = pending.pop()
        if node.index in seen or not node.bits & open_bits:
            continue
        seen.add(node.index)
        pending.extend(node.args)
        # Differences of unsigned numbers wrap on purpose as often as not.
        if node.op in _EXACT and (node.kind == I4 or (node.kind == U4 and node.op != "-")):
            exact = _EXACT[node.op](*(rows.full(argument).astype(np.int64) for argument in node.args))
            if (exact != rows.full(node))[active].any():
                return True
    return False


def allowed(view: LaunchView, values: Values) -> bool:
    """Whether the user's assumptions and the launch's own conditions leave room for these values."""
    key, before = frozenset((symbol.index, value) for symbol, value in values.items()), view.graph.work
    if key in view.allowing:
        found, work = view.allowing[key]
        # What is left out for its work must not depend on what was asked before.
        view.graph.work += work
        return found
    found = _leave_room(view, values)
    view.allowing[key] = found, view.graph.work - before
    return found


def _leave_room(view: LaunchView, values: Values) -> bool:
    graph, bits = view.graph, bits_of(values)
    # The others, which none of these values goes into, are none of their business.
    own = [guard for guard in view.guards if guard.bits & bits or not guard.bits]
    return all(holds(graph, condition, values) for condition in (*view.assumed, *own))


def look(
    view: LaunchView,
    context: Context,
    offset: Node,
    offends: Offends,
    values: Values | None = None,
    effort: Effort = QUICK,
) -> Seen:
    """Evaluates an access under some values of the uniform symbols; those that aren't named keep their generic ones."""
    on = dependence(context, offset, view.graph)
    if on.is_never:
        return Seen(False, None)
    situation = view.valued(values or {}, effort)
    rows = situation.rows(context.loops)
    active = active_lanes(rows, on.known)
    bad = active & offends(rows)
    if not bad.any():
        return Seen(bool(active.any()), None)
    row, linear = (int(i) for i in np.argwhere(bad)[0])
    return Seen(True, _offender(situation, rows, row, linear, int(rows.full(offset)[row, linear])))


def _offender(situation: Situation, rows: Rows, row: int, linear: int, offset: int) -> Offender:
    x, y, z = (int(axis[0, linear]) for axis in situation.threads.indices)
    block = tuple(int(b) for b in rows.blocks[row])
    last = any(b == extent - 1 > 0 for b, extent in zip(block, situation.grid, strict=True))
    return Offender((x, y, z), block, offset, last)  # type: ignore[arg-type]


def residues(view: LaunchView, chosen: Sequence[Node], modulus: int) -> Iterator[dict[Node, int | float]]:
    """Values for some symbols, one or several at a time moved off their generic multiples of 32 by all remainders of a
    small power of two; only those that the user's assumptions and the launch's conditions allow."""
    found, fixed = 0, _fixed(view, chosen)
    for start in _starts(view.graph, chosen, modulus):
        for moved in alternatives.moved(len(chosen), modulus):
            values: dict[Node, int | float] = {u: a + by for u, a, by in zip(chosen, start, moved, strict=True)} | fixed
            if allowed(view, values):
                found += 1
                yield values
        if found or not view.guards:
            break


def _starts(graph: Graph, chosen: Sequence[Node], modulus: int) -> Iterator[Sequence[int | float]]:
    """What sizes are moved from: their generic values, some that are easily read, and what is just below generic ones,
    where a launch is for no larger ones: `if (n <= 32) k<8><<<…>>>(n)`."""
    generic = [graph.generic(symbol) for symbol in chosen]
    yield [value // 32 * 32 + 32 for value in generic]
    for size in alternatives.WITNESSES[1::-1]:
        yield [size] * len(chosen)
    yield [max(0, value - 1) // modulus * modulus for value in generic]


def _fixed(view: LaunchView, chosen: Sequence[Node]) -> dict[Node, int | float]:
    """The symbols that are one number wherever the launch is made: in the case of a switch, say."""
    equalities = [guard.args for guard in view.guards if guard.op == "=="]
    pairs = [pair for a, b in equalities for pair in ((a, b), (b, a))]
    return {symbol: int(number.value) for symbol, number in pairs if symbol in chosen and number.is_const}
