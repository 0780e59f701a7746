"""Whether threads that come to a condition together may part there, where loaded data decides it.

Data that a condition was found with is open: all threads may find the same, whatever it is, or each its own. Threads
part for certain data if a part of the condition that is known parts them, or if their own numbers do, compared with one
and the same number for all: a loop from `threadIdx.x` up to a loaded count ends after different turns. What is rounded
up to whole blocks before it is compared parts none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from cudalint.execute.conditions import Disjunction, PartlyKnown
from cudalint.execute.drawn import Drawn
from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import Trace, Undecided
from cudalint.execute.values import Data
from cudalint.facts.barriers import Parting
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import statements as st
from cudalint.ir.walk import walk
from cudalint.measure.arrays import Mask
from cudalint.measure.seen import Seen
from cudalint.measure.ways import Guard

_WHOLE: Final = (1 << WARP_LANES) - 1
"""The mask of a warp."""


class Groups(NamedTuple):
    """The threads that have to come together."""

    numbers: Any
    """[R, L] of each lane's group, from 0."""
    members: Mask
    """[R, L] the lanes that are in one."""
    total: int


def of_blocks(lanes: Lanes, among: Mask | None = None) -> Groups:
    """The threads of a block, of those among the lanes that are waited for, where that is known."""
    numbers = np.broadcast_to(np.arange(lanes.rows)[:, None], lanes.full.shape)
    return Groups(numbers, lanes.full if among is None else among, lanes.rows)


def of_warps(lanes: Lanes, among: Mask | None = None, named: Any = None) -> Groups:
    """The lanes of a warp that give one mask: a word, or one for each lane, as tiles of a warp have theirs."""
    numbers, total = (np.arange(lanes.lanes) // WARP_LANES)[None], lanes.warps
    if type(named) is np.ndarray:
        masks, own = np.unique(numbers << WARP_LANES | (named & _WHOLE), return_inverse=True)
        numbers, total = own.reshape(-1, lanes.lanes), len(masks)
    rows = np.arange(lanes.rows)[:, None]
    return Groups(numbers + total * rows, lanes.full if among is None else among, total * lanes.rows)


def parting_of(guard: Guard, target: Any, seen: Seen, groups: Groups) -> Parting | None:
    """How data parts the threads of a group at a condition on the way to `target`; None where it may well be that it
    parts none.

    Where the way leads past an early `return`, threads behind the end of the data, which leave for certain or because
    their number is too large, don't count, and neither do those that leave by their own data: the hardware waits for
    the others only."""
    origins, lanes = seen.origins_of(guard), seen.trace.lanes
    found: Parting | None = None
    for node, undecided in _branches(guard, seen.trace):
        condition = undecided.condition
        if origins.is_unknown or condition.kind == "unknown":
            continue
        returns = guard.loop is None and not _is_within(target, node) and not _goes_on(node)
        if isinstance(condition, PartlyKnown):
            truths: Iterator[Any] = iter(() if returns and isinstance(condition, Disjunction) else (condition.known,))
        else:
            truths = _with_small_numbers(condition, lanes) if type(condition) is Drawn and not returns else iter(())
        if any(_parts(truth, undecided.mask, groups) for truth in truths):
            return "number"
        if not returns and _is_looked_up_apart(condition, undecided.mask, groups):
            found = "data"
    return found


def _branches(guard: Guard, trace: Trace) -> Iterator[tuple[Any, Undecided]]:
    """The branches that a condition, or a part of it, is the condition of."""
    own = {id(each) for each in walk(guard.condition)}
    for (node, stack), undecided in trace.undecided.items():
        condition = getattr(node, "condition", None)
        if stack == guard.stack and condition is not None and any(id(each) in own for each in walk(condition)):
            yield node, undecided


def _is_within(target: Any, node: Any) -> bool:
    return any(each is target for each in walk(node))


def _goes_on(node: Any) -> bool:
    """Whether threads leave a turn of a loop by a branch, and no more than that."""
    return any(isinstance(each, (st.Break, st.Continue)) for each in walk(node))


def _parts(truth: Any, mask: Mask, groups: Groups) -> bool:
    """Whether a condition holds for some lanes of a group, of those in the mask, and for others not."""
    there = mask & groups.members
    holds = there & (np.asarray(truth) != 0)
    some = np.zeros((2, groups.total), bool)
    some[0, groups.numbers[holds]] = True
    some[1, groups.numbers[there & ~holds]] = True
    return bool(some.all(axis=0).any())


def _is_looked_up_apart(condition: Data, mask: Mask, groups: Groups) -> bool:
    """Whether threads of a group look in different places for what decides. Not where data has decided before what that
    is: they may have come to agree."""
    if type(condition) is not Drawn:
        origin = condition.origin
        return origin is not None and _differs(origin.offset, mask & origin.mask, groups)
    parts = list(condition.parts())
    if any(each.op in ("either", "chosen") and not each.is_common for each in parts):
        return False
    loads = [each for each in parts if each.op in ("load", "any")]
    return any(
        not each.is_common if each.op == "any" else _differs(each.arguments[1], mask, groups) for each in loads
    )


def _differs(offset: Any, mask: Mask, groups: Groups) -> bool:
    """Whether lanes of a group have different numbers."""
    if type(offset) is not np.ndarray or offset.shape[1] == 1:
        return False
    there = mask & groups.members
    numbers, own = np.broadcast_to(offset, mask.shape)[there], groups.numbers[there]
    one = np.zeros(groups.total, numbers.dtype)
    one[own] = numbers
    return bool((numbers != one[own]).any())


def _with_small_numbers(condition: Drawn, lanes: Lanes) -> Iterator[Any]:
    """What a condition is where each load finds one number for all threads, of the size of a block. Nothing where data
    has decided before, thread by thread, which of several numbers goes into it."""
    if any(each.op == "either" and each.is_by_lane for each in condition.parts()):
        return
    loads = sorted(condition.loads(), key=Drawn.salt)
    own = [each for part in condition.parts() for each in part.arguments if type(each) is np.ndarray]
    for number in _counts(lanes.lanes, own):
        # What lies between the begin and the end of a row, whichever of the two comes first here, is as long as that.
        for order in (loads, loads[::-1]):
            yield condition.numbers(lanes, {load: (number * place, False) for place, load in enumerate(order, 1)})[0]
            if len(loads) == 1:
                break


def _counts(threads: int, own: Iterable[Any]) -> Iterator[int]:
    """Numbers that a block of some threads is no multiple of: a few, one too few, and one more; and what threads have
    as their own."""
    yield from (1, 3, threads // 2 + 1, threads - 1, threads + 1)
    for numbers in own:
        if numbers.dtype.kind in "iu" and numbers.shape[1] > 1:
            yield from sorted({int(numbers[0, at]) for at in (1, numbers.shape[1] // 2 + 1)})
