"""Why a race may be none: what guards its accesses, what their addresses come from, and what is not understood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.trace import Site as Executed
from cudalint.execute.trace import Stack
from cudalint.execute.values import Data
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import nodes_in, walk
from cudalint.measure.bounds import extent_of
from cudalint.measure.elements import is_crowded, is_shared_extreme, is_shared_update, leads_into_another
from cudalint.measure.launched import is_wrapped
from cudalint.measure.origins import Origins, Source
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen, is_uniform, spelled
from cudalint.measure.tickets import Turn, excluded
from cudalint.measure.touches import Site
from cudalint.measure.ways import Guard
from cudalint.worlds.records import Batch


class Doubt(Struct, frozen=True):
    """What a race depends on."""

    reason: str
    usual: bool = False
    """It is there for ordinary data: as soon as two numbers are equal, or two threads find what they look for."""
    excludes: bool = False
    """The two accesses cannot happen in one run at all."""


def doubt_about(race: Race, seen: Seen, late: Turn | None, batch: Batch) -> Doubt | None:
    """None for a race that is certain, as far as its launch and the numbers of its worlds go; of a launch that is
    contradicted, which fulfils its own conditions in no world, none is."""
    if batch.is_contradicted:
        return Doubt("what host code asks of the sizes before the launch does not hold together")
    opposite = contradiction(race, seen)
    if opposite is not None:
        return opposite
    if _looks_first(race):
        return Doubt("the atomic looks again at what is read before it", excludes=True)
    reason = excluded(race, seen)
    if reason is not None:
        return Doubt(reason, excludes=True)
    guarded = by_data(race, seen, late)
    return (
        (guarded if guarded is not None and not guarded.usual else None)
        or signals(race, seen, late)
        or parts_missing(race, seen)
        or extent(race, seen, batch)
        or unsized(race)
        or misaligned(race, seen)
        or overflows(race, seen, batch)
        or far_on(race, seen)
        or addresses(race, seen)
        or guarded
    )


# --- guards ------------------------------------------------------------------------------------------


@heuristic("doubt-contradiction", "guards that exclude each other").otherwise(None)
def contradiction(race: Race, seen: Seen) -> Doubt | None:
    """Conditions on what both threads share, of which one end needs the opposite of what the other end needs."""
    if race.is_carried:
        return None
    first, second = (
        {
            (spelled(guard.condition), guard.stack): guard
            for guard in seen.guards(end.site)
            if guard.loop is None and guard.holds is not None and _is_one_for_both(guard, race, seen)
        }
        for end in race.ends
    )  # fmt: skip
    if _deny(first, second) or _deny(second, first):
        return Doubt("the two accesses are on opposite sides of one condition", excludes=True)
    return None


_Guards = Mapping[tuple[object, Stack], Guard]


def _deny(some: _Guards, others: _Guards) -> bool:
    """Whether one of some conditions is false where the others hold."""
    return any(_truth(guard.condition, guard.stack, others) is (not guard.holds) for guard in some.values())


def _truth(condition: Any, stack: Stack, held: _Guards) -> bool | None:
    """Whether a condition holds where others do; None where they do not say."""
    while isinstance(condition, ir.Cast):
        condition = condition.operand
    known = held.get((spelled(condition), stack))
    if known is not None:
        return known.holds
    if isinstance(condition, ir.Unary) and condition.op == "!":
        inner = _truth(condition.operand, stack, held)
        return None if inner is None else not inner
    if not isinstance(condition, ir.Binary) or condition.op not in ("&&", "||"):
        return None
    parts = [_truth(part, stack, held) for part in (condition.left, condition.right)]
    decisive = condition.op == "||"
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _is_one_for_both(guard: Guard, race: Race, seen: Seen) -> bool:
    found = seen.origins_of(guard)
    if not found.is_data or seen.varies(found, race.reach == "grid"):
        return False
    if race.reach != "grid":
        # What changes between the two is a race by itself.
        return True
    return not any(memory in seen.written for load in found.loads for memory in seen.memory_of(*load))


@heuristic("doubt-guarded-by-data", "one thread is chosen by data").otherwise(None)
def by_data(race: Race, seen: Seen, late: Turn | None) -> Doubt | None:
    """Loaded data that decides, thread by thread, who gets there; but for a number that one of the blocks draws."""
    allowed = late.guard.condition if late is not None else None
    is_grid = race.reach == "grid"
    guarded, looks_first = 0, False
    doubt: Doubt | None = None
    deciding: list[Guard] = []
    for end in race.ends:
        varying = [guard for guard in seen.decided_by_data(end.site, is_grid) if guard.condition is not allowed]
        deciding += varying
        for guard in varying:
            found = seen.origins_of(guard)
            doubt = Doubt(f"it depends on data: {seen.described(found)}")
            if found.is_unknown:
                return doubt
            # `if (d[u] + w < d[v]) d[v] = d[u] + w`: what the array holds may keep the threads apart for good.
            looks_first |= any(race.allocation in seen.memory_of(*load) for load in found.loads)
        guarded += bool(varying)
    if not is_grid and not (looks_first and race.allocation.space != "shared") and guarded < 2:
        return None
    is_ordinary = is_shared_extreme if looks_first else is_shared_update
    if doubt is None or not is_ordinary(race, deciding, seen):
        return doubt
    return Doubt(doubt.reason, usual=not any(seen.origins_of(guard).atomics for guard in deciding))


@heuristic("doubt-signals", "locks and flags").otherwise(None)
def signals(race: Race, seen: Seen, late: Turn | None) -> Doubt | None:
    """Threads that wait for each other by flags in memory, or take locks."""
    if race.allocation.space != "shared" and (seen.trace.fences or _spins(seen)):
        return Doubt("the kernel orders threads by memory fences, flags or locks, which are not followed")
    allowed = late.guard.condition if late is not None else None
    for end in race.ends:
        for guard in seen.guards(end.site):
            if guard.condition is not allowed and seen.origins_of(guard).atomics:
                return Doubt("it depends on the result of an atomic, by which threads may take turns")
    return None


def _spins(seen: Seen) -> bool:
    """Whether a loop goes on for as long as global memory says so that the kernel also writes, or until it has a lock.
    """
    for site in {turn.loop for turn in seen.trace.turns}:
        body = getattr(site.statement, "body", None)
        for guard in seen.ways.guards_of(body, site.stack):
            if guard.loop is not site.statement:
                continue
            found = seen.origins_of(guard)
            if found.atomics:
                if not _is_of_what_was_seen(guard, seen):
                    return True
                continue
            again = (load for load in found.loads if _is_within(load, site))
            memories = (memory for load in again for memory in seen.memory_of(*load))
            if any(memory.space == "global" and memory in seen.written for memory in memories):
                return True
    return False


def _is_within(load: Source, loop: Executed) -> bool:
    """Whether something is loaded in each turn of a loop."""
    node, stack = load
    calls = len(stack) - len(loop.stack)
    if calls < 0 or stack[calls:] != loop.stack:
        return False
    inner = node if not calls else stack[calls - 1]
    return any(each is inner for each in walk(loop.statement))


def _is_of_what_was_seen(guard: Guard, seen: Seen) -> bool:
    """Whether a loop goes on until an atomic finds what was read before it, as one that updates something by
    `atomicCAS` does; a lock is had when it finds a certain number."""
    asked = guard.condition
    if not isinstance(asked, ir.Binary) or asked.op not in ("==", "!="):
        return False
    return all(seen.origins.of(side, guard.stack).is_data for side in (asked.left, asked.right))


# --- what is not understood --------------------------------------------------------------------------


@heuristic("doubt-parts-missing", "calls that are not understood").otherwise(None)
def parts_missing(race: Race, seen: Seen) -> Doubt | None:
    """What is not understood may be a barrier."""
    calls = seen.trace.calls
    functions = {id(function): function for end in race.ends for function in _functions(end, seen)}
    jumps = any(isinstance(node, st.UnknownStmt) for function in functions.values() for node in nodes_in(function))
    if jumps or seen.function.problems or seen.trace.cut or any(call.is_in_part for call in calls):
        return Doubt("part of the kernel is not understood")
    first, second = race.first.number, race.second.number
    for call in calls:
        if call.is_users and first < call.position <= second:
            return Doubt(f"`{call.name}`, which is not understood, may order the threads")
    if race.reach == "grid":
        return None
    for event in seen.trace.barriers:
        if event.kind == "named" and event.part != "arrive" and not event.is_implied:
            around = {(id(g.condition), g.holds) for g in seen.ways.guards_of(event.node, event.stack)}
            ends = [{(id(g.condition), g.holds) for g in seen.guards(end.site)} for end in race.ends]
            branches = [around <= own for own in ends]
            if around and branches[0] != branches[1]:
                return Doubt("a barrier that not all threads of the block wait for may order them")
    return None


def _functions(end: RaceEnd, seen: Seen) -> list[ir.Function]:
    """Those that a thread is in."""
    stack = end.site.stack
    return [seen.ways.function_of(stack[number:]) for number in range(len(stack) + 1)]


def _looks_first(race: Race) -> bool:
    """Whether a thread reads what it updates by an atomic next: what goes into a compare-and-swap is checked by it, as
    is what `atomicMax` may not improve."""
    ends = {end.site.operation: end.site for end in race.ends}
    if set(ends) != {"load", "atomic"} or (race.reach == "warp" and race.first.site.stack != race.second.site.stack):
        return False
    load, atomic = ends["load"], ends["atomic"]
    if load.node.span[1:3] > atomic.node.span[1:3] or load.stack != atomic.stack:
        return False
    place = _place_of(atomic.node)
    # `__ldcg(&x)` is a call, too.
    looked_at = _place_of(load.node) if isinstance(load.node, ir.Call) else spelled(load.node)
    return place is not None and place == looked_at


def _place_of(call: Any) -> object:
    """What an atomic updates, or a function loads, as an lvalue would be spelled."""
    if not isinstance(call, ir.Call) or not call.arguments:
        return None
    place = call.arguments[0]
    while isinstance(place, ir.Cast):
        place = place.operand
    if isinstance(place, ir.Unary) and place.op == "&":
        return spelled(place.operand)
    if isinstance(place, ir.Binary) and place.op == "+":
        return "Index", spelled(place.left), spelled(place.right)
    return "Unary", "*", spelled(place)


@heuristic("doubt-extent", "races beyond an array's end").otherwise(None)
def extent(race: Race, seen: Seen, batch: Batch) -> Doubt | None:
    """Numbers for which threads leave the array: the program is not meant for them."""
    bytes_ = extent_of(race.allocation)
    if bytes_ is None:
        return None
    if all(_leaves(race, world, bytes_, seen) for world in race.worlds):
        usual = _goes_by_a_fraction(race, seen, batch)
        return Doubt("with the sizes that were taken, threads leave the array", usual=usual)
    return None


def _goes_by_a_fraction(race: Race, seen: Seen, batch: Batch) -> bool:
    """Whether one of the two accesses, and it alone, goes to elements of which a floating-point argument says which
    they are. Nothing gives it: whatever it is, its threads come to elements that others have as their own."""
    floats = {s.name for s in seen.function.parameters if isinstance(s.type, ir.Scalar) and s.type.kind == "float"}
    floats &= set(batch.worlds[0])
    return sum(bool(seen.address(end.site).numbers & floats) for end in race.ends) == 1


def _leaves(race: Race, world: int, bytes_: int, seen: Seen) -> bool:
    """Whether threads leave the array by one of the two accesses."""
    blocks = seen.trace.lanes.blocks
    own = slice(world * blocks, (world + 1) * blocks)
    for end in race.ends:
        for event in seen.events.get(end.site, ()):
            if event.allocation is not race.allocation or isinstance(event.offset, Data):
                continue
            wide = np.broadcast_to(event.offset, event.mask.shape)[own]
            if ((wide < 0) | (wide >= bytes_))[event.mask[own]].any():
                return True
    return False


@heuristic("doubt-unsized", "records of unknown size").otherwise(None)
def unsized(race: Race) -> Doubt | None:
    """Nobody knows how far apart the elements are of which a field's type is not known."""
    if any(_is_unsized(end.site.node) for end in race.ends):
        return Doubt("how large the elements are is not known")
    return None


def _is_unsized(node: Any) -> bool:
    while isinstance(node, (ir.Member, ir.Index, ir.Cast)):
        type_ = ir.referent(node.type)
        if isinstance(type_, ir.RecordType) and type_.unsized:
            return True
        node = node.operand if isinstance(node, ir.Cast) else node.base
    return False


@heuristic("doubt-overflow", "races of indices that are too large for their types").otherwise(None)
def overflows(race: Race, seen: Seen, batch: Batch) -> Doubt | None:
    """Numbers that nobody gives, with which an index wraps around: no program has them."""
    if not is_wrapped(race, seen, batch):
        return None
    return Doubt("with the sizes that were taken, the index is too large for its type")


@heuristic("doubt-misaligned", "races of accesses that fail").otherwise(None)
def misaligned(race: Race, seen: Seen) -> Doubt | None:
    """Numbers for which an access is not aligned as it has to be: the hardware refuses it."""
    lanes = seen.trace.lanes
    fails = np.zeros(lanes.worlds, bool)
    for end in race.ends:
        for event in seen.events.get(end.site, ()):
            if event.bytes > 1 and not isinstance(event.offset, Data):
                wrong = (np.asarray(event.offset) % event.bytes != 0) & event.mask
                fails |= wrong.any(axis=1).reshape(lanes.worlds, lanes.blocks).any(axis=1)
    return Doubt("with the sizes that were taken, an access is misaligned") if all(fails[list(race.worlds)]) else None


# --- addresses ---------------------------------------------------------------------------------------


@heuristic("doubt-far-on", "races of late iterations").otherwise(None)
def far_on(race: Race, seen: Seen) -> Doubt | None:
    """Loops that loaded data ends, and that come to the element late: `for (i = t; i < count[b]; i += 256) s[i] = ...`
    leaves what lies behind the first elements alone if no count is as large as that."""
    for end in race.ends:
        for guard in seen.guards(end.site):
            if guard.loop is None or not isinstance(guard.condition, ir.Binary):
                continue
            found = seen.origins_of(guard)
            events = seen.events.get(end.site, ())
            if not found.is_data or not events or race.byte is None:
                continue
            if _turn_of(guard, end, seen) >= _BRIEF:
                return Doubt(f"it depends on data how often a loop goes round: {seen.described(found)}")
    return None


def _turn_of(guard: Guard, end: RaceEnd, seen: Seen) -> int:
    """The turn of a loop that an access belongs to."""
    number = 0
    for turn in seen.trace.turns:
        if turn.before > end.number:
            break
        if turn.loop.statement is guard.loop:
            number = turn.number
    return number


_BRIEF = 4
"""Turns that loops are taken to make whose length data says."""


@heuristic("doubt-loaded-addresses", "addresses that were loaded may be all different").otherwise(None)
def addresses(race: Race, seen: Seen) -> Doubt | None:
    """Addresses made from loaded data: a race is certain if the threads meet whatever the data is."""
    if race.byte is not None:
        return None
    open_ends = [end for end in race.ends if _is_by_data(end)]
    found = [seen.address(end.site) for end in open_ends]
    data = [each for each in found if each.is_data]
    text = f"the address depends on data: {seen.described(data[0]) if data else 'a value is not known'}"
    if any(each.is_unknown or each.atomics for each in found) or len(data) < len(found):
        return Doubt(text)
    if race.reach == "grid":
        return None if _is_crowded(race, seen) else Doubt(text)
    if _decide_who_comes(race, found, seen) or leads_into_another(race, seen):
        return Doubt(text)
    if race.is_covered or _is_one_place(race, found) or _is_crowded(race, seen):
        return None
    return Doubt(text, usual=_is_usual(race, open_ends, seen))


def _is_by_data(end: RaceEnd) -> bool:
    return isinstance(end.event.offset, Data)


def _is_one_place(race: Race, found: Sequence[Origins]) -> bool:
    """Whether both threads look up the same data, and go where it says."""
    same = spelled(race.first.site.node) == spelled(race.second.site.node)
    return len(found) == 2 and same and not any(each.may_vary for each in found)


def _is_crowded(race: Race, seen: Seen) -> bool:
    """Whether more threads update elements than there are: even if each thread has loaded a number of its own, some
    meet."""
    return _updates_by_data(race, seen) and is_crowded(race.second.site, race, seen)


def _decide_who_comes(race: Race, found: Sequence[Origins], seen: Seen) -> bool:
    """Whether an array that an address is computed from also decides, by other elements, thread by thread, who gets
    there. What an element says of itself lets all pass that have its value."""
    own = {spelled(node) for each in found for node, _ in each.loads}
    sources = {memory for each in found for load in each.loads for memory in seen.memory_of(*load)}
    for end in race.ends:
        for guard in seen.decided_by_data(end.site, race.reach == "grid"):
            for node, stack in seen.origins_of(guard).loads:
                if spelled(node) not in own and not sources.isdisjoint(seen.memory_of(node, stack)):
                    return True
    return False


def _is_usual(race: Race, open_ends: Sequence[RaceEnd], seen: Seen) -> bool:
    """Whether ordinary data makes threads meet in shared memory: where they add to elements of which nothing else says
    whose they are, as in a histogram, and where such elements are touched as each thread's own as well."""
    if race.allocation.space != "shared":
        return False
    first, second = race.first.site, race.second.site
    if spelled(first.node) == spelled(second.node) and first.stack == second.stack:
        return _updates_by_data(race, seen)
    if len(open_ends) == 2:
        return False
    known = race.second if open_ends[0] is race.first else race.first
    offset = known.event.offset
    return _is_up_to_data(open_ends[0].site, seen) and not isinstance(offset, Data) and not is_uniform(offset)


def _updates_by_data(race: Race, seen: Seen) -> bool:
    """Whether threads read and write one element, which data alone chooses: `counts[in[i]]++`."""
    first, second = race.first.site, race.second.site
    if spelled(first.node) != spelled(second.node) or first.stack != second.stack:
        return False
    return {first.operation, second.operation} == {"load", "store"} and _is_up_to_data(second, seen)


def _is_up_to_data(site: Site, seen: Seen) -> bool:
    """Whether data alone says which element it is: what is added to it is no thread's own."""
    node = site.node
    if isinstance(node, ir.Call) and node.arguments:
        node = node.arguments[0]
        while isinstance(node, ir.Cast) or (isinstance(node, ir.Unary) and node.op == "&"):
            node = node.operand
    index = node.index if isinstance(node, ir.Index) else node.right if isinstance(node, ir.Binary) else None
    return index is not None and all(
        _is_loaded(part, site, seen) or not seen.origins.of(part, site.stack).by_thread for part in _terms(index)
    )


def _terms(index: Any) -> Iterator[Any]:
    while isinstance(index, ir.Cast):
        index = index.operand
    if isinstance(index, ir.Binary) and index.op in ("+", "-"):
        yield from _terms(index.left)
        yield from _terms(index.right)
    else:
        yield index


def _is_loaded(part: Any, site: Site, seen: Seen) -> bool:
    return seen.origins.of(part, site.stack).is_data
