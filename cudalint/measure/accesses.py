"""What is said of each access under one launch: the figures of its requests, and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import numpy as np
from msgspec.structs import replace

from cudalint.execute.drawn import Drawn, Known, some_of
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data, Undeclared, is_common
from cudalint.facts import AccessResult, Status, Strides
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.measure.defaults import defaults_behind
from cudalint.measure.distinct import Extent, Pattern, pattern_of, weights_by_row
from cudalint.measure.executed import Executed
from cudalint.measure.machine_accesses import MachineSite, machine_events, whole_sites
from cudalint.measure.requests import WIDTHS, AccessSite, Figures, figures_of, unit_of
from cudalint.measure.samples import sample, sized
from cudalint.measure.sensitivity import Sensitivity, where
from cudalint.worlds.records import Batch

_DIGITS = 9
"""Of figures: sums of weights differ from plain numbers by less."""
_TOLERANCE = 1e-6
GOOD = 1.25
"""How many times the fewest possible a request may take for it to be as good as one that takes these."""
_UNIFORM = "it depends on loaded data; the figure is the mean over uniform data"
_BY_DATA = "the address depends on loaded data"
_MOST_NAMES = 3
"""Arrays that are named."""
_COPIES = (
    "the wavefronts of 16-byte asynchronous copies depend on where each lane reads and writes: no rule is known for"
    " such an order, or where this one reads is not known"
)
_MOST_COPIES = 64
_MOST_DRAWN = 32
"""Executions one after the other that numbers are drawn for, and as many from all others."""
_FEWEST_DRAWS = 64
"""For all executions of an access, for the mean to be one."""
_MOST_HALVED = 2
"""Conditions that leave half of the lanes each: of more of them lanes rather come together."""
_TABLE_ENTRIES = 1 << 16
"""As many as an integer of two bytes tells apart."""
_LEAST_CODE = 2


def results_of(
    executed: Executed, launch: int, is_asked: Callable[[AccessSite], bool] = lambda site: True
) -> Iterator[tuple[AccessSite, Sequence[AccessEvent], Sequence[AccessResult]]]:
    """All accesses of the machine that are reached in some world, as far as somebody asks for them."""
    patterns: dict[int, Pattern] = {}
    lists: set[Any] = set()
    for site, events in whole_sites(executed.trace).items():
        if site.space not in ("global", "shared") or not is_asked(site):
            continue
        of_machine = executed.machine.get((site.node, site.stack, site.operation, site.bytes))
        if of_machine is not None and of_machine.reason:
            widths = [made.wide.bytes for made in of_machine.made if made.wide is not None]
            as_made = site._replace(bytes=widths[0]) if widths else site
            yield as_made, events, (_left_out(site, of_machine, launch),)
            continue
        drawn, is_drawn, is_scattered = _with_numbers(events, executed)
        for own in machine_events(drawn, of_machine):
            wide = site._replace(bytes=own[0].bytes)
            result = _result(wide, own, executed, launch, patterns)
            if of_machine is not None and not is_drawn and of_machine.copies > 1 and _differs(result):
                copies = _copies(wide, own, executed, patterns)
                if len(copies) > 1:
                    yield wide, events, [_result(wide, copy, executed, launch, patterns) for copy in copies]
                    continue
            if is_drawn and _is_scaled(events):
                result = _gathered(result, events)
            elif is_scattered and (_walks_lists(result, events, executed) or _from_lists(events, lists)):
                lists.add(site.node)
                result = _of_data(result)
            elif is_scattered and not _is_looked_up(events, result):
                apart = _in_rows_of_lanes(wide, events, executed, launch)
                result = _of_data(apart) if apart is not None else _gathered(result, events)
            elif is_scattered or (is_drawn and _differs(result)):
                result = _of_data(result)
            yield wide, events, (result,)


def _with_numbers(events: Sequence[AccessEvent], executed: Executed) -> tuple[Sequence[AccessEvent], bool, bool]:
    """The executions with numbers drawn for the data that goes into their addresses; whether there is any, and whether
    lanes of a warp go to different places by it."""
    if not any(type(event.offset) is Drawn for event in events):
        return events, False, False
    found, scattered = [], False
    some = list(_some_of_many(events))
    draws = max(1, _FEWEST_DRAWS // len(some))
    for draw in range(draws):
        known: Known = {}
        for event in some:
            if type(event.offset) is Drawn:
                numbers, differs = event.offset.numbers(executed.trace.lanes, known, draw)
                scattered |= differs
                event = event._replace(offset=numbers)
            found.append(event if draws == 1 else event._replace(weight=event.weight / draws))
    return found, True, scattered


def _is_scaled(events: Sequence[AccessEvent]) -> bool:
    return any(type(event.offset) is Drawn and event.offset.is_scaled for event in events[:_MOST_DRAWN])


def _some_of_many(events: Sequence[AccessEvent]) -> Iterator[AccessEvent]:
    """The first executions, and some of the others for all of those: what is drawn is a sample in any case."""
    rest = len(events) - _MOST_DRAWN
    if rest <= _MOST_DRAWN:
        yield from events
        return
    yield from events[:_MOST_DRAWN]
    for number in range(_MOST_DRAWN):
        event = events[_MOST_DRAWN + number * rest // _MOST_DRAWN]
        yield event._replace(weight=event.weight * (rest / _MOST_DRAWN))


def _copies(
    site: AccessSite, events: Sequence[AccessEvent], executed: Executed, patterns: dict[int, Pattern]
) -> list[list[AccessEvent]]:
    """The executions of an access of which the machine's code has several copies, as a loop is unrolled: those together
    that take as much."""
    if len(events) > _MOST_COPIES:
        return []
    groups: dict[tuple[float, ...], list[AccessEvent]] = {}
    for event in events:
        cost = figures_of(site, [event], executed.trace, patterns).cost
        groups.setdefault(tuple(np.round(cost, 2).tolist()), []).append(event)
    return list(groups.values())


def _walks_lists(result: AccessResult, events: Sequence[AccessEvent], executed: Executed) -> bool:
    """Whether every lane walks through a list of its own in a loop that data ends (rows of a sparse matrix, edges of a
    node, strings): lists lie as far apart as they are long, and random data shows about what real data costs. Where
    nothing but data tells lanes apart; places around a lane's own, as many as data says, are no list."""
    if not result.reached_by_data or result.strides is None or not result.strides.turn:
        return False
    drawn = [event.offset for event in events if type(event.offset) is Drawn]
    return all(is_common(each.without_data(executed.trace.lanes)) for each in drawn)


def _from_lists(events: Sequence[AccessEvent], lists: Set[Any]) -> bool:
    """Whether lanes go where lists of their own say (`x[list[start[i] + k]]`)."""
    drawn = [event.offset for event in events if type(event.offset) is Drawn]
    origins = [load.origin for each in drawn for load in each.loads()]
    return any(origin is not None and origin.node in lists for origin in origins)


def _is_looked_up(events: Sequence[AccessEvent], result: AccessResult) -> bool:
    """Whether something is looked up in a small table by some bits of a word (`table[hash & 255]`): then every entry is
    about as likely, and the mean over uniform data is a figure worth giving. In a table that is read, bytes are rather
    pixels or letters, of which neighbours are alike, unless they are mixed with other data (`table[state ^ key]`) or
    hold codes of a few bits each (`table[code & 15]`). Where some numbers lead before its start (`letter - 'a'`) those
    are never there."""
    if result.offset_range is None or result.sample is None:
        return False
    first, end = result.offset_range
    entry = int(np.gcd.reduce(result.sample.addresses[result.sample.mask] - first, initial=0))
    if first < 0 or end - first > _TABLE_ENTRIES * max(entry, *(event.bytes for event in events)):
        return False
    drawn = [event.offset for event in events if type(event.offset) is Drawn and event.operation != "atomic"]
    return all(each.is_mixed or _are_codes(list(each.loads())) for each in drawn)


def _in_rows_of_lanes(
    site: AccessSite, events: Sequence[AccessEvent], executed: Executed, launch: int
) -> AccessResult | None:  # fmt: skip
    """The figures where each lane has a row of its own, of two sectors or more, in which data says where it goes
    (`a[row * width + column[row]]`): wherever that is, these are as many sectors."""
    lanes = executed.trace.lanes
    rows = [
        event._replace(offset=event.offset.without_data(lanes)) if type(event.offset) is Drawn else event
        for event in events
    ]
    found = _result(site, rows, executed, launch, {})
    stride = found.strides.x if found.strides is not None else None
    is_apart = stride is not None and abs(stride) >= 2 * SECTOR_BYTES and site.space == "global"
    return found if is_apart and found.sectors_per_request == found.active_lanes else None


def _are_codes(loads: Sequence[Drawn]) -> bool:
    return bool(loads) and all(load.type.bytes >= _LEAST_CODE for load in loads)


def _gathered(result: AccessResult, events: Sequence[AccessEvent]) -> AccessResult:
    """Of lanes that go where data says: indices that lie side by side in memory are often neighbours (the nodes of a
    mesh, a sorted permutation), so that nothing can be said."""
    if result.status not in ("exact", "assumed", "range"):
        return result
    return AccessResult(
        result.launch, "data-dependent", reason=_by_which(events), reason_kind="data", requests=result.requests,
        requests_range=result.requests_range, reached_by_data=result.reached_by_data,
    )  # fmt: skip


def _by_which(events: Sequence[AccessEvent]) -> str:
    """That an address is data, and from which arrays that was loaded."""
    loads: list[Data] = []
    for event in events[:_MOST_DRAWN]:
        of = event.offset
        loads += of.loads() if type(of) is Drawn else [of] if isinstance(of, Data) else []
    names = sorted({load.origin.allocation.name for load in loads if load.origin is not None})
    reasons = {load.reason for load in loads}
    if not names and len(reasons) == 1 and reasons != {""}:
        return f"{_BY_DATA}: {reasons.pop()}"
    if not names or len(names) > _MOST_NAMES:
        return _BY_DATA
    return f"{_BY_DATA}: `{'`, `'.join(names)}`"


def _differs(result: AccessResult) -> bool:
    """Whether requests take different numbers of sectors or wavefronts."""
    bounds = result.sectors_range or result.wavefronts_range
    return bounds is not None and bounds[0] < bounds[1]


def _of_data(result: AccessResult) -> AccessResult:
    """A figure that is the mean over what data may be."""
    if result.status not in ("exact", "assumed", "range"):
        return result
    return replace(result, status="range", reason=_UNIFORM, reason_kind="estimate")


def _left_out(site: AccessSite, of_machine: MachineSite, launch: int) -> AccessResult:
    """The result of an access for which the machine makes no request."""
    is_shared = site.space == "shared"
    return AccessResult(
        launch, "unknown", reason=of_machine.reason, reason_kind="repeat", requests=0.0,
        sectors_per_request=None if is_shared else 0.0, wavefronts_per_request=0.0 if is_shared else None,
    )  # fmt: skip


def _result(
    site: AccessSite, events: Sequence[AccessEvent], executed: Executed, launch: int, patterns: dict[int, Pattern]
) -> AccessResult:
    """The figures of one site, over all of its executions."""
    if site.bytes not in WIDTHS:
        return AccessResult(launch, "unknown", reason="the size of what is accessed is not known")
    figures = figures_of(site, events, executed.trace, patterns)
    if not figures.requests.any():
        return _by_data(figures, events, launch)
    size = events[0].allocation.type.bytes if site.space == "shared" and events[0].allocation.type is not None else 0
    if size and (figures.lowest.min() < 0 or figures.highest.max() > size):
        staying = list(_staying(events, size))
        if staying:
            events, figures = staying, figures_of(site, staying, executed.trace, patterns)
    return _known(site, figures, events, executed, launch, patterns)


def _staying(events: Sequence[AccessEvent], size: int) -> Iterator[AccessEvent]:
    """Executions, and rows of them, in which no lane leaves an array: numbers for which one does are none that the
    program has, or else the figure is the least that is wrong with it."""
    for event in events:
        if not isinstance(event.offset, Data):
            is_out = event.mask & ((event.offset < 0) | (event.offset > size - event.bytes))
            if is_out.any():
                mask = event.mask & ~is_out.any(axis=1, keepdims=True)
                if mask.any():
                    yield event._replace(mask=mask)
                continue
        yield event


def _by_data(figures: Figures, events: Sequence[AccessEvent], launch: int) -> AccessResult:
    """Of addresses that are data."""
    unknown = next((event.offset for event in events if event.offset.kind == "unknown"), None)
    requests = round(float(figures.by_data.max()), _DIGITS)
    by_data = any(event.data for event in events)
    if unknown is not None:
        reason = f"the address could not be evaluated{f': {unknown.reason}' if unknown.reason else ''}"
        return AccessResult(
            launch, "unknown", reason=reason, requests=requests, reached_by_data=by_data,
            reason_kind="unresolved" if type(unknown) is Undeclared else "other",
        )  # fmt: skip
    return AccessResult(
        launch, "data-dependent", reason=_by_which(events), reason_kind="data", requests=requests,
        usual_requests=_usual_requests(figures), requests_range=(requests, requests), reached_by_data=by_data,
    )  # fmt: skip


def _usual_requests(figures: Figures) -> float:
    """Of the first world."""
    return round(float(figures.requests[0] + figures.by_data[0]), _DIGITS)


def _known(
    site: AccessSite, figures: Figures, events: Sequence[AccessEvent], executed: Executed, launch: int,
    patterns: dict[int, Pattern],
) -> AccessResult:  # fmt: skip
    batch = executed.batch
    reached = [float(requests) > 0 for requests in figures.requests]
    each = zip(figures.cost.tolist(), figures.ideal.tolist(), figures.lanes.tolist(), reached, strict=True)
    wasteful = [
        is_wasteful(site.space, cost, ideal) if held and is_wasteful(site.space, lanes, ideal) else None
        for cost, ideal, lanes, held in each
    ]
    told = _told(figures, reached)
    rests = _rests_on(wasteful, batch)
    condition = rests.condition if not batch.lengths.issuperset(rests.symbols) else ""
    are_same = _are_equal(figures, reached)
    # Those that have left the loop around count as well, if data said so.
    masked = any(event.data or event.apart for event in events)
    partly = bool(figures.by_data[told])
    cost, ideal = _rounded(figures.cost[told]), _rounded(figures.ideal[told])
    least, most = float(np.nanmin(figures.least)), float(np.nanmax(figures.most))
    if rests.kind == "where":
        least, most = _by_verdict(figures, wasteful, ideal)
    defaults = defaults_behind(events[0], executed)
    status: Status = "exact" if are_same and not defaults else "assumed"
    reason, kind = None, "other"
    lanes = float(figures.lanes[told])
    # Of what lanes have in common, a warp's all come or none does.
    if any(event.is_parted for event in events) and not _is_one(figures, told):
        status, least = "range", min(1.0, least)
        reason = "which lanes are active depends on data; the figure is for all lanes that may be"
        kind = "activity" if wasteful[told] else "estimate"
        some = _of_some(site, events, executed) if kind == "estimate" else None
        if some is not None and some.requests[told] and is_wasteful(site.space, some.cost[told], some.ideal[told]):
            left = "fourth" if max(event.apart for event in events) >= _MOST_HALVED else "other one"
            reason = f"which lanes are active depends on data; the figure is for every {left} of them"
            cost, ideal, lanes = _rounded(some.cost[told]), _rounded(some.ideal[told]), float(some.lanes[told])
    if partly:
        status, reason, kind = "range", "some of its addresses depend on loaded data", "estimate"
    requests = round(float(figures.requests[told] + figures.by_data[told]), 6)
    is_shared = site.space == "shared"
    is_open = math.isnan(cost)
    # Between arrays there are no strides, and what is a picture of one is none of several.
    is_of_one = events[0].chosen is None
    if is_open:
        return AccessResult(launch, "unknown", reason=_COPIES, wavefronts_range=(least, most), requests=requests)
    return AccessResult(
        launch,
        status,
        assumptions=(*defaults, *(() if are_same else _assumptions(rests, executed, told))),
        reason=reason,
        reason_kind=kind,  # type: ignore[arg-type]
        sectors_per_request=None if is_shared else cost,
        sectors_range=None if is_shared else (least, most),
        ideal_sectors=None if is_shared else ideal,
        wavefronts_per_request=cost if is_shared else None,
        wavefronts_range=(least, most) if is_shared else None,
        ideal_wavefronts=ideal if is_shared else None,
        conflict_ways=cost / ideal if is_shared else None,
        active_lanes=lanes,
        active_request_fraction=_fraction(figures, events, executed, told, patterns),
        requests=requests,
        usual_requests=_usual_requests(figures),
        requests_range=(0.0 if masked else requests, requests),
        offset_range=(int(figures.lowest[told]), int(figures.highest[told])) if is_of_one else None,
        strides=_strides(site, figures, events, executed, told) if is_of_one else None,
        sample=sample(events, executed.trace, told, unit_of(site)) if is_of_one else None,
        reached_by_data=masked,
        reached_otherwise=not reached[0],
        beside=_costliest(site, executed, told) if told and wasteful[told] else None,
        condition=condition,
    )


def _told(figures: Figures, reached: Sequence[bool]) -> int:
    """The world that is told of: the first one that comes there, of several not one with few lanes of a warp."""
    if reached[0]:
        return 0
    lanes = np.where(reached, np.nan_to_num(figures.lanes), -1.0)
    return int((lanes >= lanes.max() / 2).argmax())


def _costliest(site: AccessSite, executed: Executed, world: int) -> float:
    """What the access to a space that takes most in a world takes there."""
    own = (each for of, each in executed.figures.items() if of.space == site.space)
    return max((float(np.nan_to_num(each.cost[world]) * each.requests[world]) for each in own), default=0.0)


def _rests_on(wasteful: Sequence[bool | None], batch: Batch) -> Sensitivity:
    """What it rests on whether an access is wasteful: on a number that chooses a way, if that tells the worlds apart in
    which axes are as long as a warp. Of shorter ones several rows are in a request, and its cost is one of these."""

    def in_worlds(least: int) -> Sensitivity:
        held = _of_several(wasteful, batch, least)
        return where(held, batch.numbers, flags=batch.flags, computed=_values(batch))

    long = in_worlds(WARP_LANES)
    cases = {f"{name} {op} {case}" for name, own in batch.flags.items() for case in own for op in ("==", "!=")}
    return long if long.condition in cases else in_worlds(2)


def _of_several(wasteful: Sequence[bool | None], batch: Batch, least: int) -> Sequence[bool | None]:
    """Whether it is wasteful in worlds with so many elements along each axis: along one with a single one nothing lies
    behind anything else, whatever other numbers are. In all worlds, if these don't show as much."""
    several = [all(numbers.get(name, least) >= least for name in batch.lengths) for numbers in batch.numbers]
    found = [own if is_one else None for own, is_one in zip(wasteful, several, strict=True)]
    return found if {True, False} & {*found} == {True, False} & {*wasteful} else wasteful


def _values(batch: Batch) -> dict[str, Sequence[int | float | bool]]:
    return {name: computed.values for name, computed in batch.computed.items()}


def _by_verdict(figures: Figures, wasteful: Sequence[bool | None], ideal: float) -> tuple[float, float]:
    """What a request takes in the mean at most with numbers with which it is not wasteful, and with those with which
    it is, for as many active lanes."""
    ratios = np.divide(figures.cost, figures.ideal, out=np.zeros_like(figures.cost), where=figures.ideal > 0)
    good, bad = (max(r for r, own in zip(ratios.tolist(), wasteful, strict=True) if own is it) for it in (False, True))
    return round(good * ideal, _DIGITS), round(bad * ideal, _DIGITS)


def _of_some(site: AccessSite, events: Sequence[AccessEvent], executed: Executed) -> Figures | None:
    """The figures with half of the lanes for each condition that comes out differently by lane: what gaps between
    active lanes leave of sectors. None where lanes of a warp come together."""
    if site.space != "global" or not any(event.apart for event in events):
        return None
    found: dict[tuple[int, int], Any] = {}
    some = []
    for event in events:
        key = id(event.mask), min(event.apart, _MOST_HALVED)
        if key not in found:
            found[key] = some_of(event.mask, key[1])
        some.append(event._replace(mask=found[key]))
    return figures_of(site, some, executed.trace)


def is_wasteful(space: str, cost: float, ideal: float) -> bool:
    """Whether a request takes clearly more than it has to; of global memory, by a whole sector. It takes a sector or
    wavefront for each lane at most: so few that this is not wasteful show nothing."""
    return cost > GOOD * ideal and (space == "shared" or cost > ideal + 1)


def _rounded(value: Any) -> float:
    return round(float(value), _DIGITS)


def _are_equal(figures: Figures, reached: Sequence[bool]) -> bool:
    """Whether no number makes a difference to what a request takes, or to whether there is one."""
    pairs = np.stack([figures.cost, figures.ideal])
    return all(reached) and bool(np.allclose(pairs, pairs[:, :1], rtol=_TOLERANCE, atol=0))


def _is_one(figures: Figures, world: int) -> bool:
    """Whether all requests take one sector or wavefront, whichever lanes are active."""
    return bool(figures.most[world] <= 1)


def _assumptions(rests: Sensitivity, executed: Executed, world: int) -> tuple[str, ...]:
    """The numbers that the figures rest on, as they are in the world that they are told of."""
    numbers = executed.batch.numbers[world]
    own, computed = executed.batch.worlds[world], executed.batch.computed
    symbols = rests.symbols or _differing(executed)
    behind = dict.fromkeys(of for name in symbols for of in (computed[name].of if name in computed else (name,)))
    names = [name for name in behind if name in own and own[name].basis != "given"]
    return tuple(f"{name} = {numbers[name]}" for name in names)


def _differing(executed: Executed) -> list[str]:
    first, *others = executed.batch.numbers
    return [name for name, value in first.items() if any(other.get(name) != value for other in others)]


def _fraction(
    figures: Figures, events: Sequence[AccessEvent], executed: Executed, world: int, patterns: dict[int, Pattern]
) -> float:
    """How many of the warps that come to the branch around it have an active lane."""
    if all(event.guard is None or event.guard is event.mask for event in events):
        return 1.0
    extent = Extent.of(executed.trace.lanes)
    total = 0.0
    for event in events:
        own = event.guard if event.guard is not None else event.mask
        active = np.where(pattern_of(own, extent, patterns).active, weights_by_row(event.weight, extent), 0.0)
        total += float(active.reshape(extent.worlds, -1)[world].sum())
    made = float(figures.requests[world] + figures.by_data[world])
    return min(1.0, made / total) if total else 1.0


def _strides(
    site: AccessSite, figures: Figures, events: Sequence[AccessEvent], executed: Executed, world: int
) -> Strides:
    own = figures.strides
    x, y, z, turn = (axis[world] for axis in (own.x, own.y, own.z, own.turn))
    return Strides(x, y, z, sized(site, figures, events, executed), turn)


def known_modulo(events: Sequence[AccessEvent], executed: Executed) -> int:
    """A power of two, modulo which the offset of each lane is the same in all worlds; 1 where an address is data."""
    extent = Extent.of(executed.trace.lanes)
    if len(executed.batch) == 1:
        return 1 if executed.batch.worlds[0] else _MOST
    bits = _MOST
    for event in events:
        if isinstance(event.offset, Data):
            return 1
        offset = event.offset
        if type(offset) is np.ndarray and len(offset) > 1:
            by_world = offset.reshape(extent.worlds, extent.blocks, -1)
            apart = np.where(event.mask.reshape(extent.worlds, extent.blocks, -1), by_world - by_world[:1], 0)
            bits |= int(np.bitwise_or.reduce(apart, axis=None))
    return bits & -bits


_MOST = 1 << 30
