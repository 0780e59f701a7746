"""What the accesses of a kernel cost before and after an edit, and by how many lanes they are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from cudalint.facts import AccessResult, KernelFacts, Place
from cudalint.fixes.edits import Correspondence
from cudalint.rulekit import WITH_FIGURES, is_estimate, is_repeat

SAME = 1e-3
"""Relative difference up to which two figures are the same."""
_NEARLY = 1.1
"""How many times what its bytes need an access takes without a conflict at most: where rows end, lanes are idle."""
_NOISE = 0.1
"""Relative difference up to which two figures of random data are the same."""


class _Key(NamedTuple):
    """Which accesses a cost is of."""

    spot: tuple[str, int, int]
    calls: tuple[tuple[str, int], ...]
    operation: str
    space: str
    array: str
    launch: int

    @property
    def of_array(self) -> _Key:
        """All accesses of this kind to its array."""
        return self._replace(spot=("", 0, 0), calls=())


def only_last_blocks_do_less(old: KernelFacts, new: KernelFacts, same: Correspondence) -> bool:
    """Whether each access is made by as many lanes as before, but for those of one block along each axis of the grid.
    Whoever has an index that only counts rows would leave all rows but the first undone."""
    before = _lanes(old, same.before, same.line_before)
    after = _lanes(new, same.after, same.line_after)
    if before.keys() != after.keys():
        return False
    for key, lanes in before.items():
        blocks = old.launches[key.launch].grid
        others = math.prod(1 - 1 / extent for extent in blocks if extent > 1)
        left = after[key]
        if lanes is None or left is None or left < lanes * others * (1 - SAME):
            return False
    return True


def _lanes(
    kernel: KernelFacts, spot: Callable[[Place], tuple[str, int, int]], line: Callable[[str, int], tuple[str, int]]
) -> dict[_Key, float | None]:
    """By access, how many lanes make it in all of a launch; None where that is not known."""
    found: dict[_Key, float | None] = {}
    for access in kernel.accesses:
        calls = tuple(line(frame.path, frame.line) for frame in access.inlined_from)
        for result in access.results:
            key = _Key(spot(access.place), calls, access.operation, access.space, access.array, result.launch)
            if result.status == "unreached" or is_repeat(result):
                continue
            is_known = result.requests is not None and result.active_lanes is not None and not result.reached_otherwise
            sum_ = found.get(key, 0.0)
            found[key] = (
                sum_ + (result.requests or 0.0) * (result.active_lanes or 0.0)
                if is_known and sum_ is not None
                else None
            )
    return found


class _Cost(Struct):
    """What an access costs under one launch, over all copies that unrolling makes of it."""

    per_request: float = 0.0
    """The sum of what a request of each copy costs."""
    total: float | None = 0.0
    """None where nobody knows how many requests there are."""
    is_known: bool = True
    is_estimate: bool = False
    is_reached: bool = False
    is_repeat: bool = False
    """Some copy makes no request, as the compiler uses what another load has brought: what keeps it from that is what
    orders the two, or how they lie."""

    excess: float = 1.0
    """How many times what its bytes need the worst copy takes."""

    @property
    def is_ideal(self) -> bool:
        """Whether no copy takes more than its bytes need."""
        return self.excess <= 1 + SAME

    def include(self, other: _Cost) -> None:
        """Takes what another access costs as a part of this one's."""
        self.per_request += other.per_request
        self.total = self.total + other.total if self.total is not None and other.total is not None else None
        self.is_known &= other.is_known
        self.is_estimate |= other.is_estimate
        self.is_reached |= other.is_reached
        self.is_repeat |= other.is_repeat
        self.excess = max(self.excess, other.excess)


_Quantity = Callable[[AccessResult], tuple[float | None, float | None]]
"""What a request takes, and what its bytes need."""
_QUANTITIES: tuple[_Quantity, ...] = (
    lambda r: (r.sectors_per_request, r.ideal_sectors),
    lambda r: (r.wavefronts_per_request, r.ideal_wavefronts),
)


def costs_no_more(old: KernelFacts, new: KernelFacts, same: Correspondence, for_order: bool, rewritten: bool) -> bool:
    """Who makes something cheaper has to pay for what the compiler had merged and no longer can, too; `for_order` says
    that nobody does. Of accesses that are `rewritten` those of one array count as one, and an array of the block's own
    that is new may have no conflicts."""
    for quantity in _QUANTITIES:
        before = _costs(old, quantity, same.before, same.line_before, rewritten)
        after = _costs(new, quantity, same.after, same.line_after, rewritten)
        if rewritten and for_order:
            _leave_out_updates(before, after)
        if rewritten and before.keys() != after.keys():
            concerned = {key.of_array for key in before.keys() ^ after.keys()}
            before, after = _by_array(before, concerned), _by_array(after, concerned)
            added = {key: after.pop(key) for key in after.keys() - before.keys()}
            if not all(k.space == "shared" and cost.is_known and cost.excess <= _NEARLY for k, cost in added.items()):
                return False
        if before.keys() != after.keys():
            return False
        pairs = [(before[key], after[key]) for key in before]
        # What all lanes read in one place may become a row, if that is what makes rows of columns.
        if not all(_no_worse(*pair) or (not for_order and _is_as_needed(*pair)) for pair in pairs):
            return False
        if not for_order and not _all_no_worse(pairs):
            return False
    return True


def _leave_out_updates(before: dict[_Key, _Cost], after: dict[_Key, _Cost]) -> None:
    """A load and a store that became one atomic may cost more: they were no update."""
    arrays = {(key.array, key.launch) for key in after.keys() - before.keys() if key.operation == "atomic"}
    for costs in (before, after):
        for key in [key for key in costs if (key.array, key.launch) in arrays]:
            del costs[key]


def _by_array(costs: Mapping[_Key, _Cost], concerned: Collection[_Key]) -> dict[_Key, _Cost]:
    """The costs with those of some arrays as one for each kind of access."""
    found: dict[_Key, _Cost] = {}
    for key, cost in costs.items():
        if key.of_array in concerned:
            found.setdefault(key.of_array, _Cost()).include(cost)
        else:
            found[key] = cost
    return found


def _all_no_worse(pairs: Sequence[tuple[_Cost, _Cost]]) -> bool:
    """Whether accesses cost no more together, those with countable requests and the others each."""
    known = [(before, after) for before, after in pairs if before.is_known and after.is_known]
    totals = [_totals(*pair) for pair in known]
    countable = [each for each in totals if each is not None]
    others = [(b.per_request, a.per_request) for (b, a), each in zip(known, totals, strict=True) if each is None]
    noise = _NOISE if any(before.is_estimate or after.is_estimate for before, after in known) else SAME
    return all(
        sum(after for _, after in each) <= sum(before for before, _ in each) * (1 + noise)
        for each in (countable, others)
    )


def _totals(before: _Cost, after: _Cost) -> tuple[float, float] | None:
    """What all requests cost together; None where data decides how many there are: other random data makes other
    numbers of them."""
    if before.total is None or after.total is None or before.is_estimate or after.is_estimate:
        return None
    return before.total, after.total


def _costs(
    kernel: KernelFacts,
    quantity: _Quantity,
    spot: Callable[[Place], tuple[str, int, int]],
    line: Callable[[str, int], tuple[str, int]],
    rewritten: bool,
) -> dict[_Key, _Cost]:
    """What is rewritten may have a way of its own for other sizes, which is not made together with the first one."""
    found: dict[_Key, _Cost] = {}
    for access in kernel.accesses:
        if access.space not in ("global", "shared", "generic"):
            continue
        calls = tuple(line(frame.path, frame.line) for frame in access.inlined_from)
        for result in access.results:
            if rewritten and result.reached_otherwise:
                continue
            key = _Key(spot(access.place), calls, access.operation, access.space, access.array, result.launch)
            _add(found.setdefault(key, _Cost()), result, *quantity(result))
    return found


def _add(cost: _Cost, result: AccessResult, figure: float | None, ideal: float | None) -> None:
    if result.status == "unreached":
        return
    cost.is_reached = True
    if is_repeat(result):
        cost.is_repeat = True
        return
    if result.status not in WITH_FIGURES:
        cost.is_known = False
        return
    if figure is not None:
        cost.excess = max(cost.excess, figure / ideal if ideal else math.inf)
    figure = figure or 0.0
    cost.is_estimate = cost.is_estimate or is_estimate(result)
    cost.per_request += figure
    known = cost.total is not None and result.requests is not None
    cost.total = (cost.total or 0.0) + figure * (result.requests or 0.0) if known else None


def _is_as_needed(before: _Cost, after: _Cost) -> bool:
    """Whether an access is known, as it was, and takes no more than its bytes need; what it costs beside the others is
    in the sum of all."""
    return before.is_reached and after.is_reached and before.is_known and after.is_known and after.is_ideal


def _no_worse(before: _Cost, after: _Cost) -> bool:
    """What was not known before need not be afterwards. What is reached is a matter of what the kernel does, which no
    edit may change."""
    if before.is_reached != after.is_reached:
        return False
    if not before.is_known or not after.is_known:
        return not before.is_known
    if before.is_repeat:
        return True  # What it costs then is seen in the sum of all, or it is behind a barrier.
    noise = _NOISE if before.is_estimate or after.is_estimate else SAME
    then, now = _totals(before, after) or (before.per_request, after.per_request)
    return now <= then * (1 + noise)
