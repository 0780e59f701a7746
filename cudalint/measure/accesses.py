"""What is reported of each access under one launch: the figures of its requests, and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from cudalint.execute.drawn import some_of
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data, Undeclared
from cudalint.facts import AccessResult, Status, Strides
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.measure.distinct import Extent, Pattern, executions
from cudalint.measure.drawn_accesses import DrawnAccess, by_which
from cudalint.measure.executed import Executed
from cudalint.measure.machine_accesses import MachineSite, machine_events, whole_sites
from cudalint.measure.requests import WIDTHS, AccessSite, Figures, figures_of, unit_of
from cudalint.measure.samples import sample, sized
from cudalint.measure.sensitivity import Sensitivity, where
from cudalint.worlds.reach import regions_of
from cudalint.worlds.records import Batch, Parameter
from cudalint.worlds.text import text_of

_DIGITS = 9
"""Of figures: sums of weights differ from plain numbers by less."""
_TOLERANCE = 1e-6
GOOD = 1.25
"""How many times the fewest possible a request may take for it to be as good as one that takes these."""
_UNIFORM = "it depends on loaded data; the figure is the mean over uniform data"
_COPIES = (
    "the wavefronts of 16-byte asynchronous copies depend on where each lane reads and writes: no rule is known for"
    " such an order, or where this one reads is not known"
)
_MOST_COPIES = 64
_MOST_HALVED = 2
"""Conditions that leave half of the lanes each: of more of them lanes rather come together."""
_MOST_BITS = 1 << 30
_WITH_FIGURES = ("exact", "assumed", "range")


def results_of(
    executed: Executed, launch: int, is_asked: Callable[[AccessSite], bool] = lambda site: True
) -> Iterator[tuple[AccessSite, Sequence[AccessEvent], Sequence[AccessResult]]]:
    """All accesses of the machine that are reached in some world, as far as somebody asks for them: each with its
    executions in the source, and a result for each copy of it that takes something else. `launch` is the number of the
    launch that results refer to."""
    accesses = _Accesses(executed, launch)
    for site, events in whole_sites(executed.trace).items():
        if site.space in ("global", "shared") and is_asked(site):
            yield from ((as_made, events, results) for as_made, results in accesses.of(site, events))


class _Accesses:
    """Those of one launch."""

    def __init__(self, executed: Executed, launch: int) -> None:
        self._executed, self._launch = executed, launch
        self._extent = Extent.of(executed.trace.lanes)
        self._patterns: dict[int, Pattern] = {}
        """What was found out about masks."""
        self._lists: set[Any] = set()
        """Loads that walk through lists."""

    def of(
        self, site: AccessSite, events: Sequence[AccessEvent]
    ) -> Iterator[tuple[AccessSite, Sequence[AccessResult]]]:
        """The accesses of the machine that one of the source becomes."""
        of_machine = self._executed.machine.get((site.node, site.stack, site.operation, site.bytes))
        if of_machine is not None and of_machine.reason:
            widths = [made.wide.bytes for made in of_machine.made if made.wide is not None]
            yield site._replace(bytes=widths[0]) if widths else site, (_left_out(site, of_machine, self._launch),)
            return
        drawn = DrawnAccess(events, self._executed.trace.lanes)
        for own in machine_events(drawn.with_numbers, of_machine):
            wide = site._replace(bytes=own[0].bytes)
            result = self._result(wide, own)
            if drawn.offsets:
                yield wide, (self._of_data(wide, result, drawn),)
                continue
            is_copied = of_machine is not None and of_machine.copies > 1 and _differs(result)
            copies = self._copies(wide, own) if is_copied else []
            yield wide, [self._result(wide, copy) for copy in copies] if len(copies) > 1 else (result,)

    def _copies(self, site: AccessSite, events: Sequence[AccessEvent]) -> list[list[AccessEvent]]:
        """The executions of an access of which the machine's code has several copies, as a loop is unrolled: those
        together that take as much."""
        if len(events) > _MOST_COPIES:
            return []
        groups: dict[tuple[float, ...], list[AccessEvent]] = {}
        for event in events:
            cost = figures_of(site, [event], self._executed.trace, self._patterns).cost
            groups.setdefault(tuple(np.round(cost, 2).tolist()), []).append(event)
        return list(groups.values())

    def _of_data(self, site: AccessSite, result: AccessResult, drawn: DrawnAccess) -> AccessResult:
        """The result of an access at addresses that data goes into, given that with the numbers that were drawn: a mean
        over what data may be, or none. Indices that lie side by side in memory are often neighbours (the nodes of a
        mesh, a sorted permutation), so that nothing can be said of lanes that go where data says."""
        if result.status not in _WITH_FIGURES:
            if not drawn.is_scaled and drawn.is_scattered and drawn.is_from_lists(self._lists, result):
                self._lists.add(site.node)
            return result
        mean = replace(result, status="range", reason=_UNIFORM, reason_kind="estimate")
        nothing = AccessResult(
            result.launch, "data-dependent", reason=by_which(drawn.events), reason_kind="data",
            requests=result.requests, requests_range=result.requests_range, reached_by_data=result.reached_by_data,
        )  # fmt: skip
        if drawn.is_scaled:
            return nothing
        if not drawn.is_scattered:
            return mean if _differs(result) else result
        if drawn.is_from_lists(self._lists, result):
            self._lists.add(site.node)
            return mean
        if drawn.is_looked_up(result):
            return mean
        in_rows = self._in_rows_of_lanes(site, drawn)
        return replace(in_rows, status="range", reason=_UNIFORM, reason_kind="estimate") if in_rows else nothing

    def _in_rows_of_lanes(self, site: AccessSite, drawn: DrawnAccess) -> AccessResult | None:
        """The figures where each lane has a row of its own, of two sectors or more, in which data says where it goes
        (`a[row * width + column[row]]`): wherever that is, these are as many sectors."""
        found = self._result(site, drawn.without_data())
        stride = found.strides.x if found.strides is not None else None
        is_far = stride is not None and abs(stride) >= 2 * SECTOR_BYTES and site.space == "global"
        return found if is_far and found.sectors_per_request == found.active_lanes else None

    def _result(self, site: AccessSite, events: Sequence[AccessEvent]) -> AccessResult:
        """The figures of one site, over all of its executions."""
        if site.bytes not in WIDTHS:
            return AccessResult(self._launch, "unknown", reason="the size of what is accessed is not known")
        trace, patterns = self._executed.trace, self._patterns
        figures = figures_of(site, events, trace, patterns)
        if not figures.requests.any():
            return self._by_data(figures, events)
        type_ = events[0].allocation.type
        size = type_.bytes if site.space == "shared" and type_ is not None else 0
        if size and (figures.lowest.min() < 0 or figures.highest.max() > size):
            staying = list(_staying(events, size))
            if staying:
                events, patterns = staying, {}
                figures = figures_of(site, events, trace, patterns)
        return self._known(site, figures, events, patterns)

    def _by_data(self, figures: Figures, events: Sequence[AccessEvent]) -> AccessResult:
        """Of addresses that are data."""
        unknown = next((event.offset for event in events if event.offset.kind == "unknown"), None)
        requests = round(float(figures.by_data.max()), _DIGITS)
        by_data = any(event.data for event in events)
        if unknown is not None:
            reason = f"the address could not be evaluated{f': {unknown.reason}' if unknown.reason else ''}"
            return AccessResult(
                self._launch, "unknown", reason=reason, requests=requests, reached_by_data=by_data,
                reason_kind="unresolved" if type(unknown) is Undeclared else "other",
            )  # fmt: skip
        return AccessResult(
            self._launch, "data-dependent", reason=by_which(events), reason_kind="data", requests=requests,
            usual_requests=_usual_requests(figures), requests_range=(requests, requests), reached_by_data=by_data,
        )  # fmt: skip

    def _known(
        self, site: AccessSite, figures: Figures, events: Sequence[AccessEvent], patterns: dict[int, Pattern]
    ) -> AccessResult:
        """Of addresses that are known, in the world that is reported."""
        executed, batch = self._executed, self._executed.batch
        reached = [float(requests) > 0 for requests in figures.requests]
        each = zip(figures.cost.tolist(), figures.ideal.tolist(), figures.lanes.tolist(), reached, strict=True)
        wasteful = [
            is_wasteful(site.space, cost, ideal) if held and is_wasteful(site.space, lanes, ideal) else None
            for cost, ideal, lanes, held in each
        ]
        shares = _shares(figures, batch)
        world = _reported(figures, reached) if shares is None else int(shares.argmax())
        rests = _rests_on(wasteful, batch)
        are_same = _are_equal(figures, reached)
        cost, ideal = (_rounded(_mean(each, shares, world)) for each in (figures.cost, figures.ideal))
        least, most = float(np.nanmin(figures.least)), float(np.nanmax(figures.most))
        if rests.kind == "where" and shares is None:
            least, most = _by_verdict(figures, wasteful, ideal)
        made = figures.requests + figures.by_data
        requests = round(float(made[world] if shares is None else made @ np.array(batch.made)), 6)
        if math.isnan(cost):
            return AccessResult(
                self._launch, "unknown", reason=_COPIES, wavefronts_range=(least, most), requests=requests
            )
        defaults = defaults_behind(events[0], executed)
        status: Status = "exact" if (are_same or batch.made) and not defaults else "assumed"
        reason, kind = None, "other"
        lanes = float(figures.lanes[world])
        # Of what lanes have in common, a warp's all come or none does; of one sector it is the same whoever comes.
        if any(event.is_parted for event in events) and figures.most[world] > 1:
            status, least = "range", min(1.0, least)
            reason = "which lanes are active depends on data; the figure is for all lanes that may be"
            kind = "activity" if wasteful[world] else "estimate"
            some = self._of_some(site, events) if kind == "estimate" else None
            if some is not None and some.requests[world] and is_wasteful(
                site.space, some.cost[world], some.ideal[world]
            ):
                left = "fourth" if max(event.divergent for event in events) >= _MOST_HALVED else "other one"
                reason = f"which lanes are active depends on data; the figure is for every {left} of them"
                cost, ideal, lanes = _rounded(some.cost[world]), _rounded(some.ideal[world]), float(some.lanes[world])
        if figures.by_data[world]:
            status, reason, kind = "range", "some of its addresses depend on loaded data", "estimate"
        # Those that have left the loop around count as well, if data said so.
        masked = any(event.data or event.divergent for event in events)
        is_guarded = any(event.guard is not None and event.guard is not event.mask for event in events)
        is_shared = site.space == "shared"
        # Between arrays there are no strides, and what is a picture of one is none of several.
        is_of_one = events[0].chosen is None
        own = figures.strides
        x, y, z, turn = (axis[world] for axis in (own.x, own.y, own.z, own.turn))
        return AccessResult(
            self._launch,
            status,
            assumptions=(*defaults, *(() if are_same else _assumptions(rests, executed, world))),
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
            active_request_fraction=self._fraction(figures, events, world, patterns) if is_guarded else 1.0,
            requests=requests,
            usual_requests=_usual_requests(figures),
            requests_range=(0.0 if masked else requests, requests),
            offset_range=(int(figures.lowest[world]), int(figures.highest[world])) if is_of_one else None,
            strides=Strides(x, y, z, sized(site, figures, events, executed), turn) if is_of_one else None,
            sample=sample(events, executed.trace, world, unit_of(site)) if is_of_one else None,
            reached_by_data=masked,
            reached_otherwise=not reached[0],
            beside=_costliest(site.space, executed, world) if world and wasteful[world] else None,
            condition=rests.condition if not batch.lengths.issuperset(rests.symbols) else "",
        )

    def _of_some(self, site: AccessSite, events: Sequence[AccessEvent]) -> Figures | None:
        """The figures with half of the lanes for each condition that comes out differently by lane: what gaps between
        active lanes leave of sectors. None where lanes of a warp come together."""
        if site.space != "global" or not any(event.divergent for event in events):
            return None
        found: dict[tuple[int, int], Any] = {}
        some = []
        for event in events:
            key = id(event.mask), min(event.divergent, _MOST_HALVED)
            if key not in found:
                found[key] = some_of(event.mask, key[1])
            some.append(event._replace(mask=found[key]))
        return figures_of(site, some, self._executed.trace)

    def _fraction(
        self, figures: Figures, events: Sequence[AccessEvent], world: int, patterns: dict[int, Pattern]
    ) -> float:
        """How many of the warps that come to the branch around it have an active lane."""
        total = 0.0
        for event in events:
            own = event.guard if event.guard is not None else event.mask
            total += float(executions(own, event.weight, self._extent, patterns)[world])
        made = float(figures.requests[world] + figures.by_data[world])
        return min(1.0, made / total) if total else 1.0


def _left_out(site: AccessSite, of_machine: MachineSite, launch: int) -> AccessResult:
    """The result of an access for which the machine makes no request."""
    is_shared = site.space == "shared"
    return AccessResult(
        launch, "unknown", reason=of_machine.reason, reason_kind="repeat", requests=0.0,
        sectors_per_request=None if is_shared else 0.0, wavefronts_per_request=0.0 if is_shared else None,
    )  # fmt: skip


def _differs(result: AccessResult) -> bool:
    """Whether requests take different numbers of sectors or wavefronts."""
    bounds = result.sectors_range or result.wavefronts_range
    return bounds is not None and bounds[0] < bounds[1]


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


def _usual_requests(figures: Figures) -> float:
    """Of the first world."""
    return round(float(figures.requests[0] + figures.by_data[0]), _DIGITS)


def _shares(figures: Figures, batch: Batch) -> Any:
    """[W]: what part of all requests that recorded launches make is made in each world; None where worlds are what a
    launch may be."""
    if not batch.made:
        return None
    requests = figures.requests * np.array(batch.made)
    return requests / requests.sum()


def _mean(values: Any, shares: Any, world: int) -> Any:
    """Of a figure per request: that of a world, or the mean over the requests of recorded launches."""
    if shares is None:
        return values[world]
    return np.where(shares > 0, values, 0.0) @ shares


def _reported(figures: Figures, reached: Sequence[bool]) -> int:
    """The world that is reported: the first one that comes there, of several not one with few lanes of a warp."""
    if reached[0]:
        return 0
    lanes = np.where(reached, np.nan_to_num(figures.lanes), -1.0)
    return int((lanes >= lanes.max() / 2).argmax())


def _costliest(space: str, executed: Executed, world: int) -> float:
    """What the access to a space that takes most in a world takes there."""
    own = (each for site, each in executed.figures.items() if site.space == space)
    return max((float(np.nan_to_num(each.cost[world]) * each.requests[world]) for each in own), default=0.0)


def _rests_on(wasteful: Sequence[bool | None], batch: Batch) -> Sensitivity:
    """What it rests on whether an access is wasteful: on a number that chooses a way, if that separates the worlds in
    which axes are as long as a warp. Of shorter ones several rows are in a request, and its cost is one of these."""
    computed = {name: own.values for name, own in batch.computed.items()}

    def in_worlds(least: int) -> Sensitivity:
        return where(_of_several(wasteful, batch, least), batch.numbers, flags=batch.flags, computed=computed)

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


def _assumptions(rests: Sensitivity, executed: Executed, world: int) -> tuple[str, ...]:
    """The numbers that the figures rest on, as they are in the world that is reported."""
    numbers = executed.batch.numbers[world]
    own, computed = executed.batch.worlds[world], executed.batch.computed
    symbols = rests.symbols or _differing(executed)
    behind = dict.fromkeys(of for name in symbols for of in (computed[name].of if name in computed else (name,)))
    names = [name for name in behind if name in own and own[name].basis != "given"]
    return tuple(f"{name} = {numbers[name]}" for name in names)


def _differing(executed: Executed) -> list[str]:
    first, *others = executed.batch.numbers
    return [name for name, value in first.items() if any(other.get(name) != value for other in others)]


def known_modulo(events: Sequence[AccessEvent], executed: Executed) -> int:
    """A power of two, modulo which the offset of each lane is the same in all worlds; 1 where an address is data."""
    extent = Extent.of(executed.trace.lanes)
    if len(executed.batch) == 1:
        return 1 if executed.batch.worlds[0] else _MOST_BITS
    bits = _MOST_BITS
    for event in events:
        if isinstance(event.offset, Data):
            return 1
        offset = event.offset
        if type(offset) is np.ndarray and len(offset) > 1:
            by_world = offset.reshape(extent.worlds, extent.blocks, -1)
            moved = np.where(event.mask.reshape(extent.worlds, extent.blocks, -1), by_world - by_world[:1], 0)
            bits |= int(np.bitwise_or.reduce(moved, axis=None))
    return bits & -bits


# --- numbers that a program has by default -------------------------------------------------------------


_MOST_KEPT = 32


def defaults_behind(event: AccessEvent, executed: Executed) -> tuple[str, ...]:
    """Those that go into the address of an access, or into conditions on the way to it, as they are reported:
    `n == 1024 (Makefile:12)`. By the text alone: nobody tries what other numbers would change."""
    stated = executed.batch.defaults
    if not stated:
        return ()
    sources = dict.fromkeys(_sources(event, executed.function))
    return tuple(dict.fromkeys(text for parameter in sources for text in stated.get(parameter, ())))


def _sources(event: AccessEvent, function: ir.Function) -> Iterator[Parameter]:
    origins = text_of(function).uses.origins
    node: Any = event.node
    if isinstance(node, ir.Call):
        places = [node.receiver, *node.arguments[:1]]
        yield from _sorted(*(origins.of(place).sources for place in places if place is not None))
    elif not isinstance(node, st.Stmt):
        yield from _sorted(origins.moving(node).sources)
    on_the_way = {node, *event.stack}
    for region in regions_of(text_of(function).uses):
        if not on_the_way.isdisjoint(region.nodes):
            yield from _sorted(region.deciders)


def _sorted(*sources: frozenset[Parameter]) -> list[Parameter]:
    return sorted({parameter for own in sources for parameter in own}, key=lambda parameter: parameter.name)

