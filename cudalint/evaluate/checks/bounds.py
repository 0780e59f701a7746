"""Whether accesses leave an array of known size: for certain, or only in the last block of a grid that is rounded up.

Sizes are expressions of the host code (`n * sizeof(float)`), so that both the addresses and the size are evaluated for
the same values of `n`: for a multiple of everything that a block could be, and for one more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.checks.probes import (
    Offender,
    Values,
    active_lanes,
    allowed,
    inputs,
    look,
    overflows,
)
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import Context
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, below, bits_of, render
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import Monomial, spelled_sum, terms_of

_MAX_SYMBOLS = 4
_MAX_APART = 1
"""Sizes beside those of the grid: each of them is tried with each of these."""
_LONGEST_TEXT = 80
"""Characters of a size as a message spells it."""
_BLOCK_BITS = tuple(8 << axis for axis in range(3))


class Touch(Struct, frozen=True, eq=False):
    """Something that threads do to `bytes` bytes at `offset` of an array (or to one element of it, counted in ones)."""

    context: Context
    offset: Node
    bytes: int


class Leaving(Struct, frozen=True):
    """An access that leaves its array."""

    kind: Literal["always", "tail"]
    """`tail`: only where the size is no multiple of what the blocks take."""
    offender: Offender
    extent: int
    """The array's size in bytes, with these values."""
    values: tuple[tuple[str, int], ...]
    condition: str | None = None
    """Under which all blocks stay inside, for a tail."""


def leaving(touch: Touch, extent: Node, view: LaunchView, is_made_up: bool = False) -> Leaving | None:
    """Whether some thread leaves an array of `extent` bytes, as far as that is beyond doubt. Of a launch that was made
    up, only what all threads touch alike is."""
    graph = view.graph
    if graph.false in view.guards:
        return None
    on = dependence(touch.context, touch.offset, graph)
    if on.by_data or on.is_never:
        return _whoever_comes(touch, extent, view)
    is_of_any = is_made_up and extent.is_const and not _chosen_by(touch) & (THREAD_BITS | BLOCK_BITS)
    if view.assumptions and not is_of_any:
        return _tail_of_open_block(touch, extent, view)
    if not (extent.bits | _bits(touch, view)) & graph.uniform_bits:
        return _certainly(touch, int(extent.value), view) if extent.is_const else None
    if extent.is_const and int(extent.value) < touch.bytes:
        # Whatever the sizes are, there is no room for one element.
        return None if _is_optional(touch, graph) else _certainly(touch, int(extent.value), view)
    if extent.is_const and not _chosen_by(touch) & (graph.uniform_bits | BLOCK_BITS):
        return None if _is_optional(touch, graph) else _for_any_size(touch, int(extent.value), view)
    return _for_sizes(touch, extent, view, {})


def _tail_of_open_block(touch: Touch, extent: Node, view: LaunchView) -> Leaving | None:
    """The same of a launch that leaves its block open (`k<<<(n + threads - 1) / threads, threads>>>`): a tail that no
    guard keeps inside is there with whatever block."""
    held = view.open_block
    if held is None or extent.is_const:
        return None
    found = _for_sizes(touch, extent, view, held)
    return found if found is not None and found.kind == "tail" else None


def assumed_extent(touches: Sequence[Touch], view: LaunchView) -> Node | None:
    """The size of an array of which nobody sees the allocation, given all that touches it: as many elements as the grid
    has threads, if that is what a launch that needs no rounding up touches exactly."""
    graph = view.graph
    on = [dependence(touch.context, touch.offset, graph) for touch in touches]
    known = [touch for touch, own in zip(touches, on, strict=True) if not (own.by_data or own.is_never)]
    bits = 0
    for touch in known:
        bits |= _grid_bits(dependence(touch.context, touch.offset, graph).bits, view)
    held = view.open_block if view.assumptions else {}
    if held is None:
        return None
    chosen = _open(bits, held, graph)
    if not chosen or len(chosen) > 2:
        return None
    if all(set(_open(_bits(touch, view), held, graph)) != set(chosen) for touch in known):
        return None
    count = graph.const(1, I8)
    for symbol in chosen:
        count = graph.binary("*", count, symbol, I8)
    # Where data decides whether threads get there, the array is large enough for all of them.
    reached = [touch for touch in touches if not touch.offset.bits & graph.opaque_bits]
    ends = [(_last(reached, values, view), _number(count, values, view))
            for values in _fitting(count, chosen, view, held)]
    elements = {end // number if end is not None and end % number == 0 else 0 for end, number in ends}
    if len(elements) != 1 or not 0 < (size := elements.pop()) <= 64 or any(size % touch.bytes for touch in known):
        return None
    return graph.binary("*", count, graph.const(size, I8), I8)


def extent_text(graph: Graph, extent: Node, element: int) -> str | None:
    """A size as a number of elements, in the names of the host code; None where it is no multiple of them, or where
    nobody would read it: what comes to one of two sizes, or is long."""
    parts: dict[Monomial, int] = {}
    for monomial, coefficient in terms_of(graph, extent).items():
        if not coefficient.is_const or int(coefficient.value) % element:
            return None
        parts[monomial] = int(coefficient.value) // element
    if any(node.op == "select" for node in below((extent,), graph.uniform_bits)):
        return None
    text = spelled_sum(parts)
    return text if len(text) <= _LONGEST_TEXT else None


# --- what it depends on --------------------------------------------------------------------------------


def _is_optional(touch: Touch, graph: Graph) -> bool:
    """Whether a flag of the launch decides if anybody gets there."""
    conditions = (condition.bits for condition in touch.context.conditions)
    return any(bits & graph.uniform_bits and not bits & ~graph.uniform_bits for bits in conditions)


def _chosen_by(touch: Touch) -> int:
    """The leaves that decide about the address, but for those that only say who gets there."""
    return touch.offset.bits | bits_of(loop.condition for loop in touch.context.loops)


def _grid_bits(own: int, view: LaunchView) -> int:
    """The leaves of the grid's extents that matter to what depends on some leaves: along which axes there are blocks to
    be told apart."""
    bits = 0
    for bit, extent in zip(_BLOCK_BITS, view.grid, strict=True):
        bits |= extent.bits if own & bit else 0
    return bits


def _open(bits: int, held: Values, graph: Graph) -> list[Node]:
    """The sizes among some leaves, but for those that stay what they are."""
    return [symbol for symbol in inputs(graph, bits) if symbol not in held]


def _bits(touch: Touch, view: LaunchView) -> int:
    own = dependence(touch.context, touch.offset, view.graph).bits
    return own | _grid_bits(own, view)


# --- trying --------------------------------------------------------------------------------------------


def _certainly(touch: Touch, extent: int, view: LaunchView) -> Leaving | None:
    if any(axis.is_const and axis.value < 1 for axis in view.grid):
        # Nothing is launched.
        return None
    if _stays_inside(touch, extent, view):
        return None
    offender = look(view, touch.context, touch.offset, lambda r: _outside(touch, r, extent)).offender
    return Leaving("always", offender, extent, ()) if offender is not None else None


def _stays_inside(touch: Touch, extent: int, view: LaunchView) -> bool:
    """Whether no lane could leave an array, active or not."""
    low, high = view.quick().rows(touch.context.loops).ends(touch.offset)
    return low >= 0 and high + touch.bytes <= extent


def _whoever_comes(touch: Touch, extent: Node, view: LaunchView) -> Leaving | None:
    """An access of which data decides who gets there, to an array that has no room for one element: dynamic shared
    memory that the launch forgets."""
    graph = view.graph
    has_room = not extent.is_const or int(extent.value) >= touch.bytes
    if view.assumptions or has_room or _chosen_by(touch) & graph.opaque_bits or _is_optional(touch, graph):
        return None
    return _certainly(touch, int(extent.value), view)


def _for_any_size(touch: Touch, extent: int, view: LaunchView) -> Leaving | None:
    """An array of a fixed size and an element that depends on the thread alone, where sizes say who gets there: a
    thread leaves the array with every size, the smallest with which anybody gets there among them. The sizes that the
    grid is computed from are for several blocks."""
    graph = view.graph
    chosen = inputs(graph, _bits(touch, view))
    if len(chosen) > _MAX_SYMBOLS or set(chosen) != set(graph.atoms(_bits(touch, view), graph.uniform_bits)):
        return None
    if _stays_inside(touch, extent, view):
        return None
    first: tuple[Values, Offender] | None = None
    for values in _small_and_large(chosen, view):
        seen = look(view, touch.context, touch.offset, lambda r: _outside(touch, r, extent), values)
        if seen.reached and (seen.offender is None or _overflows(touch, values, view)):
            return None
        if seen.offender is not None:
            first = first or (values, seen.offender)
    if first is None:
        return None
    return Leaving("always", first[1], extent, tuple((render(u), int(first[0][u])) for u in chosen))


def _small_and_large(chosen: Sequence[Node], view: LaunchView) -> Iterator[dict[Node, int | float]]:
    axes = [(axis, inputs(view.graph, extent.bits)) for axis, extent in enumerate(view.grid)]
    of_grid = {symbol for _, found in axes for symbol in found}
    own = [u for u in chosen if u not in of_grid]
    rest = list(itertools.product(alternatives.ALL_SIZES, repeat=len(own))) if len(own) <= _MAX_APART else []
    for size, sizes in itertools.product(alternatives.ALL_SIZES if of_grid else (1,), rest):
        values: dict[Node, int | float] = {**dict.fromkeys(of_grid, size), **dict(zip(own, sizes, strict=True))}
        blocks = view.valued(values).grid
        if allowed(view, values) and all(blocks[axis] > 1 for axis, found in axes if found):
            yield values


def _outside(touch: Touch, rows: Rows, extent: int) -> NDArray[np.bool_]:
    addresses = rows.integers(touch.offset)
    outside: NDArray[np.bool_] = (addresses < 0) | (addresses + touch.bytes > extent)
    return outside


def _for_sizes(touch: Touch, extent: Node, view: LaunchView, held: Values) -> Leaving | None:
    """Looks at sizes that blocks of any shape divide, and at others; those that are held keep their values."""
    graph = view.graph
    own, chosen = _open(_bits(touch, view), held, graph), _open(extent.bits, held, graph)
    others = set(graph.atoms(extent.bits | _bits(touch, view), graph.uniform_bits)).difference(held)
    if not own or others != set(chosen) or len(chosen) > _MAX_SYMBOLS:
        # Nobody knows how large one unknown number is beside another.
        return None

    def tried(values: Values) -> Offender | None:
        size = _number(extent, values, view)
        return look(view, touch.context, touch.offset, lambda r: _outside(touch, r, size), values).offender

    def found(
        kind: Literal["always", "tail"], values: Values, offender: Offender, condition: str | None
    ) -> Leaving | None:
        if _overflows(touch, values, view):
            return None
        named = tuple((render(u), int(values[u])) for u in chosen if _has_say(u, values, touch, extent, view))
        return Leaving(kind, offender, _number(extent, values, view), named, condition)

    fitting = list(_fitting(extent, chosen, view, held))
    if len(fitting) < 2:
        return None
    outside = [(values, offender) for values in fitting if (offender := tried(values)) is not None]
    if len(outside) == len(fitting):
        # For all of them: then also for sizes beside them.
        more = [{**values, **{u: values[u] + 1 for u in chosen}} for values in fitting]
        if all(tried(values) is not None for values in more if allowed(view, values)):
            return found("always", *outside[0], None)
    fitting = [values for values in fitting if all(values is not bad for bad, _ in outside)]
    if not fitting:
        return None
    sizes = _open(_grid_bits(dependence(touch.context, touch.offset, graph).bits, view), held, graph)
    for moved in _moves(sizes):
        values = {**fitting[0], **{symbol: fitting[0][symbol] + 1 for symbol in moved}}
        offender = tried(values) if allowed(view, values) else None
        if offender is not None and offender.in_last_block:
            return found("tail", values, offender, _remainder(moved, fitting[0], tried, view))
    return None


def _has_say(symbol: Node, values: Values, touch: Touch, extent: Node, view: LaunchView) -> bool:
    """Whether a size decides about an array's extent, the grid or the address, as none does that another one stands in
    for (`n ? n : usual`)."""
    if dependence(touch.context, touch.offset, view.graph).bits & symbol.bits:
        return True
    other = {**values, symbol: 2 * values[symbol] + 1}
    extents = [_number(extent, each, view) for each in (values, other)]
    return extents[0] != extents[1] or view.valued(values).grid != view.valued(other).grid


def _moves(sizes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """Each size alone, and then all together: a product of sizes is a multiple of a block as long as one of them is."""
    yield from ([symbol] for symbol in sizes)
    if len(sizes) > 1:
        yield sizes


def _remainder(
    moved: Sequence[Node], fitting: Values, tried: Callable[[Values], Offender | None], view: LaunchView
) -> str | None:
    """The condition on one size under which no thread leaves the array."""
    if len(moved) > 1:
        return None
    (symbol,) = moved
    step = next((d for d in _steps(view) if not tried({**fitting, symbol: fitting[symbol] + d})), None)
    return f"{render(symbol)} % {step} == 0" if step else None


def _steps(view: LaunchView) -> Iterator[int]:
    """What blocks may take of a size, smallest first."""
    threads = math.prod(view.block)
    most = threads * 32
    yield from (d for d in range(2, threads + 1) if threads % d == 0)
    yield from (d for d in range(2 * threads, most + 1, threads) if most % d == 0)


def _fitting(
    extent: Node, chosen: Sequence[Node], view: LaunchView, held: Values
) -> Iterator[dict[Node, int | float]]:
    """Sizes that are multiples of whatever a block and its threads' elements may be, different from one another."""
    threads = math.prod(view.block)
    unit = (16, 4, 1, 1)[len(chosen) - 1] * threads * (32 // math.gcd(threads, 32))
    for numbers in alternatives.multiples(len(chosen), unit):
        values: dict[Node, int | float] = {**dict(zip(chosen, numbers, strict=True)), **held}
        if not allowed(view, values) or not _is_launched(values, view):
            continue
        if not _wraps(extent, values, view) and _number(extent, values, view) > 0:
            yield values


def _is_launched(values: Values, view: LaunchView) -> bool:
    """Whether sizes leave any blocks: `rows / devices / 32` are none where there are as many devices as rows."""
    return min(Rows.of_one_block(view.graph, values, view.block).counts(view.grid)) >= 1


def _wraps(extent: Node, values: Values, view: LaunchView) -> bool:
    """Whether the size is too large for the type that the host code computes it in."""
    total = 0
    for monomial, coefficient in terms_of(view.graph, extent).items():
        total += math.prod((_number(node, values, view) for node in monomial), start=_number(coefficient, values, view))
    return total != _number(extent, values, view) or total >= 1 << 40


def _overflows(touch: Touch, values: Values, view: LaunchView) -> bool:
    """Whether the program's own arithmetic overflows for such sizes, so that they say nothing about its bounds."""
    rows = view.valued(values).rows(touch.context.loops)
    active = active_lanes(rows, dependence(touch.context, touch.offset, view.graph).known)
    return overflows([touch.offset, *touch.context.conditions, *view.grid], rows, active)


def _number(node: Node, values: Values, view: LaunchView) -> int:
    return int(np.asarray(view.valued(values).base.value(node)).flat[0])


def _last(touches: Sequence[Touch], values: Values, view: LaunchView) -> int | None:
    """One past the last byte that active lanes touch; None where there are none."""
    ends = [end for touch in touches if (end := _end(touch, values, view)) is not None]
    return max(ends, default=None)


def _end(touch: Touch, values: Values, view: LaunchView) -> int | None:
    """One past the last byte that active lanes touch."""
    rows = view.valued(values).rows(touch.context.loops)
    active = active_lanes(rows, dependence(touch.context, touch.offset, view.graph).known)
    return int(rows.integers(touch.offset)[active].max()) + touch.bytes if active.any() else None
