"""Races whose outcome is the same in either order: a read that nobody uses, an update that changes nothing when it is
made again, a branch that stores the same whoever takes it.

They are undefined by the letter of the language all the same. What is asked here is asked of the expressions and not of
some numbers for them, so that an answer holds for all data; where anything is not followed, there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cudalint.execute.library.groups import tile_size
from cudalint.execute.trace import Stack
from cudalint.facts import Benign
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import builtin
from cudalint.ir.walk import conjuncts, effects, parents_in, value_before, without_casts
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen, Use, spelled
from cudalint.measure.touches import Site
from cudalint.measure.ways import Guard

_MOST_NAMES = 4
"""Variables that are given each other's values."""
_IDEMPOTENT = frozenset({"|", "&"})
_CHOOSING = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf"})
"""What changes nothing when it is done again with the same operand."""


def same_either_way(race: Race, seen: Seen) -> Benign | None:
    """Why it doesn't matter which of a read and a store comes first; None where it may."""
    ends = race.ends
    reads, stores = ([end for end in ends if end.site.operation == kind] for kind in ("load", "store"))
    if len(reads) != 1 or len(stores) != 1 or not seen.is_followed:
        return None
    (read,), (store,) = reads, stores
    uses = seen.uses_of(read.site)
    if uses is None:
        return None
    if not uses:
        return "unused-read" if does_nothing_else(seen) else None
    if _is_repeated(store, read, uses, seen):
        return "same-value"
    return "same-branch" if _is_one_branch(store, read, uses, seen) else None


def stores_one_value(race: Race, seen: Seen) -> bool:
    """Whether both threads store one value, whatever the data: one that is for all of them, or what changes nothing
    when it is stored again."""
    ends = race.ends
    if any(end.site.operation != "store" for end in ends) or ends[0].site.bytes != ends[1].site.bytes:
        return False
    if race.first.site.node is not race.second.site.node or race.first.site.stack != race.second.site.stack:
        return False
    site = race.first.site
    if _is_idempotent(site, race.first, seen):
        return True
    found = seen.value_of(site)
    stored = seen.stored(site)
    if found is None or not isinstance(stored, ir.Assign) or stored.op:
        return False
    if race.reach == "warp" and not race.is_carried and _is_of_warp(stored.value, site.stack, seen):
        return True
    if _is_asked_for(stored.value, site, race.reach == "grid", seen):
        return True
    return not seen.varies(found, race.reach == "grid") and race.allocation not in {
        memory for load in found.loads for memory in seen.memory_of(*load)
    }


def _is_of_warp(value: ir.Expr, stack: Stack, seen: Seen) -> bool:
    """Whether all lanes of a warp have the same for a value, since they exchange it: what all of them reduce, or what
    one lane hands to the others."""
    plain = without_casts(value)
    for _ in range(_MOST_NAMES):
        if not isinstance(plain, ir.Name):
            break
        last = value_before(seen.ways.function_of(stack), plain.symbol, plain)
        own = [(last, stack)] if last is not None else seen.origins.values_of(plain.symbol, stack)
        if len(own) != 1:
            return False
        plain, stack = without_casts(own[0][0]), own[0][1]
    if not isinstance(plain, ir.Call):
        return False
    name, arguments = plain.name.split("::")[-1], plain.arguments
    if name == "__shfl_sync":
        lane, *width = map(without_casts, arguments[2:])
        return isinstance(lane, ir.Constant) and all(getattr(each, "value", None) == WARP_LANES for each in width)
    if builtin(name).effect != "group-reduce" or not arguments:
        return False
    group = ir.referent(arguments[0].type)
    return isinstance(group, ir.RecordType) and tile_size(group.name) == WARP_LANES


def _is_asked_for(value: ir.Expr, site: Site, between_blocks: bool, seen: Seen) -> bool:
    """Whether a value is stored only where it is the one that a condition names: `if (x == 0) *out = x`."""
    name = without_casts(value)
    if not isinstance(name, ir.Name):
        return False
    for guard in seen.guards(site):
        branch = parents_in(seen.ways.function_of(guard.stack)).get(id(guard.condition))
        if not guard.holds or not isinstance(branch, st.If) or name.symbol in effects(branch).assigned:
            continue
        for condition, holds in conjuncts(guard.condition, True):
            if holds and isinstance(condition, ir.Binary) and condition.op == "==":
                sides = (condition.left, condition.right)
                others = [side for side in sides if spelled(side) != spelled(name)]
                if len(others) == 1 and not seen.varies(seen.origins.of(others[0], guard.stack), between_blocks):
                    return True
    return False


def of_nobody(race: Race, seen: Seen) -> str | None:
    """Why the read of a race matters to nobody but the thread that writes there: it decides only about that."""
    ends = ((race.first, race.second), (race.second, race.first))
    reads = [(read, writer) for read, writer in ends if read.site.operation == "load"]
    if len(reads) != 1 or not seen.is_followed:
        return None
    ((read, writer),) = reads
    uses = seen.uses_of(read.site)
    if not uses:
        return None
    if all(_elects(use, read, seen) for use in uses) and any(use.site.operation == "store" for use in uses):
        return "what is read decides only whether the same element is written"
    if all(_is_for(use, writer, race, seen) for use in uses):
        return "only the thread that writes it uses what is read"
    return None


def _elects(use: Use, read: RaceEnd, seen: Seen) -> bool:
    """Whether it stores to the element that was read, and nothing that is made of what was read there; or only loads
    something."""
    if use.how != "guard" or use.guard is None:
        return False
    if use.site.operation != "store":
        return use.site.operation == "load"
    return _is_of_element(use.site, read.site) and _decides_the_same(use.guard, read, seen)


def _is_for(use: Use, writer: RaceEnd, race: Race, seen: Seen) -> bool:
    """Whether only one thread makes an access: the one that writes."""
    lanes = seen.trace.lanes
    for event in seen.events.get(use.site, ()):
        rows = [row for row in range(lanes.rows) if lanes.world_of(row) == race.world]
        for row in rows:
            if lanes.block_of(row) not in (race.first.block, race.second.block):
                continue
            for lane in event.mask[row].nonzero()[0].tolist():
                if lanes.thread_of(lane) != writer.thread or lanes.block_of(row) != writer.block:
                    return False
    return True


def _is_repeated(store: RaceEnd, read: RaceEnd, uses: Sequence[Use], seen: Seen) -> bool:
    """Whether what is read goes into nothing but the store to the element, which stores the same if it is made again
    with what it has stored: `flags |= 1` of all threads."""
    if not _is_of_element(store.site, read.site):
        return False
    return _is_idempotent(store.site, read, seen) and all(
        use.how == "value" and use.site.operation == "store" and _is_of_element(use.site, read.site)
        and _is_idempotent(use.site, read, seen)
        for use in uses
    )  # fmt: skip


def _is_idempotent(site: Site, _read: RaceEnd, seen: Seen) -> bool:
    """Whether it is what was read, combined with a number that all threads have in a way that makes no difference the
    second time."""
    stored = seen.stored(site)
    if not isinstance(stored, ir.Assign):
        return False
    if stored.op:
        return stored.op in _IDEMPOTENT and _is_for_all(stored.value, site, seen)
    value = without_casts(stored.value)
    if isinstance(value, ir.Binary) and value.op in _IDEMPOTENT:
        parts: tuple[Any, ...] = (value.left, value.right)
    elif isinstance(value, ir.Call) and value.name.split("::")[-1] in _CHOOSING and len(value.arguments) == 2:
        parts = value.arguments
    else:
        return False
    was_read = [part for part in parts if _has_read(part, site, seen)]
    others = [part for part in parts if part not in was_read]
    return len(was_read) == len(others) == 1 and _is_for_all(others[0], site, seen)


def _has_read(part: Any, site: Site, seen: Seen) -> bool:
    """Whether a value is what stood in the element."""
    if spelled(part) == spelled(site.node):
        return True
    loads = seen.origins.of(part, site.stack).loads
    is_plain = isinstance(without_casts(part), ir.Name)
    return is_plain and len(loads) == 1 and all(spelled(node) == spelled(site.node) for node, _ in loads)


def _is_for_all(value: Any, site: Site, seen: Seen) -> bool:
    return seen.origins.of(value, site.stack).is_common


def _is_one_branch(store: RaceEnd, read: RaceEnd, uses: Sequence[Use], seen: Seen) -> bool:
    """Whether what is read decides about nothing but stores that are the same for all threads, all of which whoever
    makes the store to the element makes as well: `if (!*done) { *done = 1; *changed = 1; }`. Whoever comes first makes
    them all."""
    on_the_way = set(seen.guards(store.site))
    return _is_of_element(store.site, read.site) and all(
        use.how == "guard" and use.guard is not None and use.site.operation == "store"
        and _stores_for_all(use.site, seen)
        and (_is_of_element(use.site, read.site) or seen.address(use.site).is_common)
        and on_the_way.issuperset(seen.guards(use.site))
        and _decides_the_same(use.guard, read, seen)
        for use in uses
    )  # fmt: skip


def _stores_for_all(site: Site, seen: Seen) -> bool:
    found = seen.value_of(site)
    return found is not None and found.is_common


def _decides_the_same(guard: Guard, read: RaceEnd, seen: Seen) -> bool:
    """Whether a condition asks of what was read the same for all threads."""
    found = seen.origins_of(guard)
    is_of_read = (read.site.node, read.site.stack) in found.loads
    own = found.loads - {(read.site.node, read.site.stack)}
    return not is_of_read or (not own and not found.atomics and _asks_the_same(guard, read, seen))


def _asks_the_same(guard: Guard, read: RaceEnd, seen: Seen) -> bool:
    """Whether nothing but the element differs between threads in what a condition asks."""
    if guard.stack != read.site.stack:
        return False
    condition = without_casts(guard.condition)
    sides = (condition.left, condition.right) if isinstance(condition, ir.Binary) else (condition,)
    return all(
        spelled(side) == spelled(read.site.node) or _is_for_all(side, read.site, seen)
        or _is_made_of(side, read, seen)
        for side in sides
    )  # fmt: skip


def _is_made_of(side: Any, read: RaceEnd, seen: Seen) -> bool:
    """Whether a value is a variable that has what was read."""
    found = seen.origins.of(side, read.site.stack)
    return found.loads == {(read.site.node, read.site.stack)} and isinstance(without_casts(side), ir.Name)


def _is_of_element(one: Site, other: Site) -> bool:
    return one.stack == other.stack and one.bytes == other.bytes and spelled(one.node) == spelled(other.node)


def does_nothing_else(seen: Seen) -> bool:
    """Whether all that a kernel does is known."""
    return seen.is_followed and not seen.function.problems and not seen.function.launches_kernels
