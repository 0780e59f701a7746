"""Rows that are too long or too short: `row * S + col` where the program itself bounds `col` by another size than `S`.

An offset as a polynomial over the kernel's arguments shows the pitch `S`, the row that it is multiplied with, and the
column that is left. How far row and column go is read from the conditions that they stand under, where one of these
compares exactly that value, and otherwise from the values themselves under two choices of all arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from cudalint.evaluate.checks.probes import active_lanes, symbols
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.situations import Situation
from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import AccessEvent
from cudalint.interpreter.device.memory import element_bytes
from cudalint.scenarios import alternatives
from cudalint.values.nodes import Node, without_not
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import Terms, terms_of

_MAX_EVENTS = 64
_MAX_SYMBOLS = 8


class Mismatch(Struct, frozen=True, eq=False):
    """An access whose pitch is `pitch`, although its row has `length` elements."""

    event: AccessEvent
    pitch: Node
    length: Node
    by_other: AccessEvent | None
    """Another access of the array, with rows of that length; None where the row's own bound says it."""


class _Indexed(Struct, frozen=True, eq=False):
    """`row * pitch + column`; in bytes, as the offset is."""

    event: AccessEvent
    pitch: Node
    row: Node
    column: Node


def pitch_mismatches(
    events: Sequence[AccessEvent], view: LaunchView, block_is_known: bool = True
) -> Iterator[Mismatch]:
    """The accesses of arrays in global memory that are indexed with the wrong pitch, as far as that is beyond doubt."""
    settings = _Settings(view, block_is_known)
    by_array: dict[object, list[_Indexed]] = {}
    for event in _worth_a_look(events, view):
        indexed = _indexed(event, view)
        if indexed is not None:
            by_array.setdefault(event.target.name, []).append(indexed)
    for accesses in by_array.values():
        yield from _of_array(accesses, settings)


def _of_array(accesses: Sequence[_Indexed], settings: _Settings) -> Iterator[Mismatch]:
    """What one array is indexed with wrongly. A pitch is right if the columns of any access go up to it."""
    right: dict[Node, AccessEvent] = {}
    others: list[tuple[_Indexed, Node]] = []
    for one in accesses:
        length = _bound(one.event, one.column, settings) if one.pitch not in right else None
        if length is one.pitch:
            right[one.pitch] = one.event
        elif length is not None:
            others.append((one, length))
    for one, length in others:
        if one.pitch in right:
            continue
        rows = _bound(one.event, one.row, settings)
        if (rows is one.pitch or length in right) and not _holds_squares(one, rows or one.pitch, settings.view):
            yield Mismatch(one.event, one.pitch, length, None if rows is one.pitch else right[length])


def _holds_squares(one: _Indexed, rows: Node, view: LaunchView) -> bool:
    """Whether the allocation is made for rows of the pitch's length after all, as many of them as there are."""
    size = one.event.target.size
    wanted = tuple(sorted((rows, one.pitch), key=lambda node: node.index))
    return size is not None and wanted in terms_of(view.graph, size)


def _worth_a_look(events: Sequence[AccessEvent], view: LaunchView) -> Iterator[AccessEvent]:
    graph, seen = view.graph, set[object]()
    for event in events:
        target, on = event.target, dependence(event.context, event.offset, graph)
        is_other = event.one_of or target.space != "global" or target.opaque is not None
        if is_other or on.is_astray or on.value_by_data or on.is_never:
            continue
        key = (target.name, event.offset.index, tuple(c.index for c in event.context.conditions))
        if key not in seen and len(seen) < _MAX_EVENTS and event.offset.bits & graph.uniform_bits:
            seen.add(key)
            yield event


def _indexed(event: AccessEvent, view: LaunchView) -> _Indexed | None:
    """An offset of one row, times one argument, plus a column."""
    graph = view.graph
    terms = terms_of(graph, event.offset)
    pitch = _pitch_of(terms)
    if pitch is None or len(symbols(graph, dependence(event.context, event.offset, graph).bits)) > _MAX_SYMBOLS:
        return None
    row, column = terms[(pitch,)], terms[()]
    if row.is_const or column.is_const:
        return None
    return _Indexed(event, pitch, row, column)


def _pitch_of(terms: Terms) -> Node | None:
    """The argument that is multiplied by the row, if nothing else is added but the column."""
    pitches = [monomial for monomial in terms if monomial]
    if len(pitches) != 1 or () not in terms or len(pitches[0]) != 1:
        return None
    return pitches[0][0] if pitches[0][0].op == "uniform" else None


# --- how far an index goes -----------------------------------------------------------------------------


class _Settings:
    """Two choices of all arguments, in which no two are equal, and none is what it was in the other."""

    def __init__(self, view: LaunchView, block_is_known: bool) -> None:
        self.view = view
        self.slack = 1 if block_is_known else alternatives.SEPARATION
        """How far from its size an index may end: a block that was made up may fill a part of its last tile only."""

    def of(self, chosen: Sequence[Node], turn: int) -> tuple[Situation, dict[Node, int | float]]:
        values: dict[Node, int | float] = dict(zip(chosen, alternatives.apart(len(chosen), turn), strict=True))
        return self.view.valued(values), values


def _bound(event: AccessEvent, index: Node, settings: _Settings) -> Node | None:
    """The argument up to which an index (in bytes) goes."""
    return _guarding(event, index, settings) or _reached(event, index, settings)


def _guarding(event: AccessEvent, index: Node, settings: _Settings) -> Node | None:
    """The argument that a condition compares exactly this index with."""
    view, element = settings.view, element_bytes(event.element)
    rows = view.quick().rows(event.context.loops)
    scaled = rows.integers(index)
    for compared, bound in _comparisons(event):
        if bound.op != "uniform" or compared.kind.is_float or compared.bits & view.graph.opaque_bits:
            continue
        if np.array_equal(rows.integers(compared) * element, scaled):
            return bound
    return None


def _comparisons(event: AccessEvent) -> Iterator[tuple[Node, Node]]:
    """(a, b) for each condition a < b on the way."""
    for condition in event.context.deciding:
        inner = without_not(condition)
        if inner.op == "<" and condition is inner:
            yield _bare(inner.args[0]), _bare(inner.args[1])
        elif inner.op == "<=" and condition is not inner:
            yield _bare(inner.args[1]), _bare(inner.args[0])


def _bare(node: Node) -> Node:
    return node.args[0] if node.op == "cast" and not node.args[0].kind.is_float else node


def _reached(event: AccessEvent, index: Node, settings: _Settings) -> Node | None:
    """The argument that is one more than the largest value of the index, under both choices of arguments."""
    graph = settings.view.graph
    chosen = symbols(graph, dependence(event.context, event.offset, graph).bits)
    candidates = set(chosen)
    for turn in (0, 1):
        situation, values = settings.of(chosen, turn)
        end = _end(event, index, situation)
        candidates = {u for u in candidates if end is not None and 0 <= values[u] - end < settings.slack}
    return candidates.pop() if len(candidates) == 1 else None


def _end(event: AccessEvent, index: Node, situation: Situation) -> int | None:
    rows: Rows = situation.rows(event.context.loops)
    active = active_lanes(rows, dependence(event.context, event.offset, rows.graph).known)
    if not active.any():
        return None
    return int(rows.integers(index)[active].max()) // element_bytes(event.element) + 1
