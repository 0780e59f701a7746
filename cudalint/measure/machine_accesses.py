"""The accesses of the machine that those of the source become: wide ones, halves of integers, and none where a value is
in a register.

What is decided about instructions in `work/` is looked up here for each access of the source: the addresses that its
executions touch stay what they are, since a wide access begins at a multiple of its width.

The lanes of a warp may go to several arrays, as a pointer leads each of them to one: `(t & 1 ? even : odd)[t / 2]`.
The execution leaves an event for each array. To the machine they are one instruction, and the lanes of a warp one
request, which takes the sectors of all of the arrays; what is measured of the access is the mean over its requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import COMPUTED, Data
from cudalint.ir import nodes as ir
from cudalint.measure.requests import AccessSite, site_of
from cudalint.measure.work import compiler
from cudalint.measure.work.counts import Laid
from cudalint.measure.work.graph import Visit
from cudalint.measure.work.terms import Term
from cudalint.measure.work.wide import Wide, wide_accesses

_EXPRESSIONS = get_args(ir.Expr)


class Made(NamedTuple):
    """What the machine makes of the executions of an access."""

    wide: Wide | None
    """The access that they are parts of."""
    share: float
    """How many accesses each of them is."""


class MachineSite(NamedTuple):
    """What the compiler makes of one access of the source, as calls lead there."""

    made: tuple[Made, ...]
    """In as many ways as it does; none where all executions find their values in registers."""
    copies: int
    """How often the machine's code has it: more than once where loops are unrolled."""
    reason: str
    """Why no request is made, if none is."""


SiteKey = tuple[Any, Any, str, int]
"""The node, the calls that lead there, the operation and the bytes."""


def machine_sites(laid: Laid, volatile: Iterable[ir.Span] = ()) -> dict[SiteKey, MachineSite]:
    """By access of the source."""
    wide = wide_accesses(laid.graph.charges.values(), laid.starts)
    by_term: dict[int, Wide] = {}
    for charge in laid.graph.charges.values():
        if id(charge) in wide:
            by_term[id(charge.term)] = wide[id(charge)]
    visits: dict[SiteKey, list[Visit]] = defaultdict(list)
    for visit in laid.graph.accesses():
        visits[visit.node, visit.stack, visit.operation, visit.bytes].append(visit)
    verbatim = frozenset(volatile)
    return {
        key: _read(own, _site(own, by_term), laid)
        for key, own in visits.items() if not verbatim or key[0].span not in verbatim
    }  # fmt: skip


def _read(visits: Sequence[Visit], site: MachineSite, laid: Laid) -> MachineSite:
    """An access, with a reason where it is a store to a variable that nobody reads: it would be what it is if somebody
    did."""
    memories = [visit.term.info.memory for visit in visits if visit.operation == "store" and visit.earlier is None]
    if not memories or not all(each.symbol in laid.unread for each in memories):
        return site
    return site._replace(reason=f"nobody reads `{memories[0].name}`, so the compiler drops what is stored there")


def unreached(laid: Laid, trace: Trace) -> Iterator[AccessEvent]:
    """The accesses that no lane comes to in any world, without addresses; none where not all was executed."""
    if trace.is_cut or trace.gaps or trace.left_out:
        return
    reached = {(event.node, event.stack, event.operation) for event in trace.accesses}
    for visit in laid.graph.accesses():
        key = visit.node, visit.stack, visit.operation
        memory = getattr(visit.term.info, "memory", None)
        if key not in reached and isinstance(memory, Allocation) and memory.space in ("global", "shared"):
            reached.add(key)
            yield AccessEvent(
                visit.node, visit.operation, visit.bytes, memory, COMPUTED, trace.lanes.full & False, 0.0, 0,
                visit.stack, 0,
            )  # fmt: skip


def copied_records(laid: Laid) -> frozenset[Any]:
    """The accesses that are halves of copies: stores of nothing but what one load found, and these loads."""
    origins: dict[Any, set[Any]] = defaultdict(set)
    for visit in laid.graph.accesses():
        if visit.operation == "store":
            origins[visit.node].update(map(_loaded_by, visit.term.arguments[1:]))
    copies = {store: found for store, found in origins.items() if len(found) == 1 and None not in found}
    return frozenset(copies).union(*copies.values())


def _loaded_by(value: Any) -> Any:
    """The load that a value comes from as it is; None for any other."""
    if isinstance(value, Term) and value.op == "field":
        value = value.arguments[0]
    return value.node if isinstance(value, Term) and value.op == "load" else None


def _site(visits: Sequence[Visit], wide: Mapping[int, Wide]) -> MachineSite:
    fresh = [visit for visit in visits if visit.earlier is None and not _is_unread(visit)]
    if not fresh:
        return MachineSite((), len(visits), _reason(visits[0]))
    by_kind: dict[Wide | None, int] = defaultdict(int)
    for visit in fresh:
        by_kind[wide.get(id(visit.term))] += 1
    made = tuple(
        Made(kind, number / len(visits) / (kind.parts if kind is not None else 1)) for kind, number in by_kind.items()
    )
    return MachineSite(made, len(fresh), "")


def _is_unread(visit: Visit) -> bool:
    """Whether a part of a record is copied that nobody asks for: counters have no loads of those."""
    type_ = ir.referent(visit.node.type) if isinstance(visit.node, _EXPRESSIONS) else None
    is_part = isinstance(type_, ir.RecordType) and visit.bytes < type_.bytes
    return compiler.UNUSED.is_on and is_part and visit.operation == "load" and not visit.term.places


def _reason(visit: Visit) -> str:
    if visit.operation == "store":
        return "the record's field is what is there already, so it is not stored"
    if visit.earlier is None:
        return "nobody reads this field of the copy, so it is not loaded"
    what = "store" if visit.is_stored else "load"
    return f"it repeats the {what} at line {visit.earlier.span.line}, whose value is still in a register"


def machine_events(events: Sequence[AccessEvent], site: MachineSite | None) -> Iterator[list[AccessEvent]]:
    """The executions of an access as the machine makes them: once for each way in which it does."""
    if site is None:
        yield list(events)
        return
    for made in site.made:
        if made.wide is None and made.share == 1:
            yield list(events)
        else:
            yield [_made(event, made) for event in events]


def _made(event: AccessEvent, made: Made) -> AccessEvent:
    weight = event.weight * made.share if made.share != 1 else event.weight
    if made.wide is None:
        return event._replace(weight=weight)
    offset, past, width = event.offset, made.wide.past, made.wide.bytes
    if not isinstance(offset, Data):
        offset = (offset + past) // width * width - past
    return event._replace(weight=weight, offset=offset, bytes=width)


# --- requests whose lanes go to several arrays ---------------------------------------------------------


_DISTANCE = 1 << 40
"""Bytes from one array to the next: more than any has, and whole sectors and rounds of the banks."""


def whole_sites(trace: Trace) -> dict[AccessSite, list[AccessEvent]]:
    """The executions of each access, in their order; those of several arrays by one pointer as one."""
    found: dict[AccessSite, list[AccessEvent]] = {}
    for event in _whole(trace.accesses):
        site = site_of(event)
        found.setdefault(site, []).append(event)
    return found


def _whole(events: Iterable[AccessEvent]) -> Iterator[AccessEvent]:
    parts: list[AccessEvent] = []
    for event in events:
        if parts and not _goes_on(parts, event):
            yield _together(parts)
            parts = []
        if event.chosen is None:
            yield event
        else:
            parts.append(event)
    if parts:
        yield _together(parts)


def _goes_on(parts: Sequence[AccessEvent], event: AccessEvent) -> bool:
    """Whether an event is of the same execution as those before it: each array comes once in it."""
    last = parts[-1]
    return (
        event.chosen is last.chosen and event.node is last.node and event.stack is last.stack
        and (event.operation, event.bytes) == (last.operation, last.bytes)
        and all(event.allocation is not part.allocation for part in parts)
    )  # fmt: skip


def _together(parts: Sequence[AccessEvent]) -> AccessEvent:
    """One event for the lanes of all parts, whose arrays are taken to begin with whole sectors, far from each other."""
    first = parts[0]
    assert first.chosen is not None
    mask, weight = np.logical_or.reduce([part.mask for part in parts]), first.weight
    if any(isinstance(part.offset, Data) for part in parts):
        offset: Any = next(part.offset for part in parts if isinstance(part.offset, Data))
    else:
        order = {part: number for number, part in enumerate(first.chosen.parts)}
        offset = np.zeros(mask.shape, np.int64)
        for part in parts:
            offset = np.where(part.mask, np.asarray(part.offset) + order[part.allocation] * _DISTANCE, offset)
    return first._replace(allocation=first.chosen, offset=offset, mask=mask, weight=weight)
