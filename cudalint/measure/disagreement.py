"""Whether threads that come to a condition together may part there, where loaded data decides it.

Data that a condition was found with is open: all threads may find the same, whatever it is, or each its own. Threads
part for certain data if a part of the condition that is known parts them, or if their own numbers do, compared with one
and the same number for all: a loop from `threadIdx.x` up to a loaded count ends after different turns. What is rounded
up to whole blocks before it is compared parts none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cudalint.execute.conditions import Disjunction, PartlyKnown
from cudalint.execute.drawn import Drawn
from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import Trace, Undecided
from cudalint.execute.values import Data
from cudalint.facts.barriers import Parting
from cudalint.ir import statements as st
from cudalint.ir.walk import walk
from cudalint.measure.arrays import Mask
from cudalint.measure.seen import Seen
from cudalint.measure.ways import Guard


def parting_of(guard: Guard, target: Any, seen: Seen, in_warps: bool, among: Mask | None) -> Parting | None:
    """How data parts the threads of a block (of a warp) at a condition on the way to `target`; None where it may well
    be that it parts none. `among` are the lanes that are waited for, where that is known.

    Where the way leads past an early `return`, threads behind the end of the data, which leave for certain or because
    their number is too large, don't count, and neither do those that leave by their own data: the hardware waits for
    the others only."""
    origins, lanes = seen.origins_of(guard), seen.trace.lanes
    found: Parting | None = None
    for node, undecided in _branches(guard, seen.trace):
        condition = undecided.condition
        mask = undecided.mask if among is None else undecided.mask & among
        if origins.is_unknown or condition.kind == "unknown":
            continue
        returns = guard.loop is None and not _is_within(target, node) and not _goes_on(node)
        if isinstance(condition, PartlyKnown):
            truths: Iterator[Any] = iter(() if returns and isinstance(condition, Disjunction) else (condition.known,))
        else:
            truths = _with_small_numbers(condition, lanes) if type(condition) is Drawn and not returns else iter(())
        if any(_parts(truth, mask, lanes, in_warps) for truth in truths):
            return "number"
        if not returns and _is_looked_up_apart(condition, mask, lanes, in_warps):
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


def _parts(truth: Any, mask: Mask, lanes: Lanes, in_warps: bool) -> bool:
    """Whether a condition holds for some lanes of a group, of those in the mask, and for others not."""
    holds = mask & (np.asarray(truth) != 0)
    fails = mask & ~holds
    if in_warps:
        return bool((lanes.by_warp(holds).any(axis=2) & lanes.by_warp(fails).any(axis=2)).any())
    return bool((holds.any(axis=1) & fails.any(axis=1)).any())


def _is_looked_up_apart(condition: Data, mask: Mask, lanes: Lanes, in_warps: bool) -> bool:
    """Whether threads of a group look in different places for what decides. Not where data has decided before what that
    is: they may have come to agree."""
    if type(condition) is not Drawn:
        origin = condition.origin
        return origin is not None and _differs(origin.offset, mask & origin.mask, lanes, in_warps)
    parts = list(condition.parts())
    if any(each.op in ("either", "chosen") and not each.is_common for each in parts):
        return False
    loads = [each for each in parts if each.op in ("load", "any")]
    return any(
        not each.is_common if each.op == "any" else _differs(each.arguments[1], mask, lanes, in_warps)
        for each in loads
    )


def _differs(offset: Any, mask: Mask, lanes: Lanes, in_warps: bool) -> bool:
    """Whether lanes of a group have different numbers."""
    if type(offset) is not np.ndarray or offset.shape[1] == 1:
        return False
    wide = np.broadcast_to(offset, mask.shape)
    first = np.take_along_axis(wide, mask.argmax(axis=1)[:, None], axis=1)
    if not in_warps:
        return bool(((wide != first) & mask).any())
    by_warp, there = lanes.by_warp(wide), lanes.by_warp(mask)
    first = np.take_along_axis(by_warp, there.argmax(axis=2)[:, :, None], axis=2)
    return bool(((by_warp != first) & there).any())


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
