"""CL109: atomics of all lanes, or of all blocks, on one address."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import Access, AccessResult, KernelFacts, LaunchFacts
from cudalint.fixes.obstacles import edited
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import WITH_FIGURES, blamed, figure, is_estimate

_COMBINED = ("Add", "Sub", "Max", "Min", "And", "Or", "Xor")
"""Operations that may be carried out in any order, and on part of the numbers first."""
_FLOATING = ("float", "double", "half", "bfloat")
_MEETING = 8
"""Lanes of a warp on each address, from which on it is contention where there are several."""
_MOST_COUNTED = 1e9
"""More than that meet only where sizes are made up."""


class AtomicContention(Rule):
    """Atomics on one address, or on few, by all lanes of a warp, again and again.

    What it does
        Looks at the addresses of every atomic sum, difference, minimum, maximum or bit operation, and reports those
        with which nearly all warps go to one address with all of their lanes, or to so few that at least 8 lanes meet
        on each, if so many meet on one address in the launch (in a block, for shared memory) that it matters.

    Why is this bad
        Atomics on one address are carried out one after the other, one per clock at best. 32 lanes that add to one
        number take 32 times what a sum in the warp and one atomic take; in shared memory a sum of floats is a loop of
        compare-and-swap, which one lane leaves in each pass.

    Example
        for (int i = first; i < n; i += stride)
            atomicAdd(total, in[i]);

    Use instead
        float sum = 0.0f;
        for (int i = first; i < n; i += stride)
            sum += in[i];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_down_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0)
            atomicAdd(total, sum);

    What is not reported
        - Addresses that data decides about, such as those of a histogram, and atomics that data decides to make.
        - Integers, which the compiler combines within a warp by itself, and locks.
    """

    code = "CL109"
    name = "atomic-contention"
    severity = "warning"
    summary = "atomics on one address, or on few, by all lanes of a warp, again and again"
    by_hand = "the lanes' values have to be combined where all of them are at hand"
    reads = frozenset({"accesses"})
    thresholds = {"global": 1024.0, "shared": 256.0, "warps": 0.9}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        for access in kernel.accesses:
            if access.operation != "atomic" or access.space not in ("global", "shared") or not _combines(access):
                continue
            for result in access.results:
                if result.status not in WITH_FIGURES or is_estimate(result) or result.reached_by_data:
                    continue
                launch = kernel.launches[result.launch]
                found = _contention(access, result, launch)
                if found is None or found.share < limits["warps"]:
                    continue
                if found.atomics >= limits["shared" if access.space == "shared" else "global"]:
                    yield self._diagnostic(kernel, access, result, launch, found, context)

    def _diagnostic(
        self,
        kernel: KernelFacts,
        access: Access,
        result: AccessResult,
        launch: LaunchFacts,
        found: _Contention,
        context: RuleContext,
    ) -> Diagnostic:
        from cudalint.fixes.aggregation_edits import aggregation_edits

        place, related = blamed(access)
        where = "in each block" if access.space == "shared" else "in the launch"
        is_known = found.atomics < _MOST_COUNTED and not launch.grid_is_assumed and not launch.is_made_up
        times = f"{round(found.atomics)} atomics one after the other {where}" if is_known else "one after the other"
        return self.finding(
            kernel,
            place=place,
            message=(
                f"all {figure(found.lanes)} lanes of a warp go to {_addresses(found)} of `{access.array}`: {times}"
            ),
            launches=(launch,),
            assumptions=result.assumptions,
            figures={"lanes": found.lanes, "atomics": found.atomics},
            related=related,
            suggestion=edited(
                Suggestion(_HELP, before={"lanes": found.lanes}, after={"lanes": found.places}, rewrites=True),
                lambda: aggregation_edits(kernel, access, context.text_of) if found.places == 1 else (),
                "unsafe",
            ),
            condition=result.condition,
        )


_HELP = "combine the values in registers and in the warp first (`__shfl_down_sync`), and let one lane do the atomic"


class _Contention(NamedTuple):
    lanes: float
    """Of a warp."""
    places: float
    """Addresses that they go to, on average."""
    share: float
    """Of the warps: those whose lanes all go to one address, or to few."""
    atomics: float
    """On the address that most go to, one after the other."""


def _addresses(found: _Contention) -> str:
    return "one address" if found.places < 1.5 else f"{figure(found.places)} addresses"


def _combines(access: Access) -> bool:
    name = access.made_by.name if access.made_by is not None else access.expression.partition("(")[0]
    if not any(kind in access.element_type for kind in _FLOATING):
        return False
    return name.startswith("atomic") and name.removeprefix("atomic").removesuffix("_block").startswith(_COMBINED)


def _contention(access: Access, result: AccessResult, launch: LaunchFacts) -> _Contention | None:
    """How much of a warp, and of the launch (or of a block), meets on one address; None if that is not known."""
    sample, requests = result.sample, result.requests
    if sample is None or not requests or not sample.weights.sum():
        return None
    lanes = sample.mask.sum(axis=1)
    places = _distinct(sample.addresses, sample.mask)
    meets = (lanes > 1) & ((places == 1) | (lanes >= _MEETING * places))
    weights = sample.weights * requests / sample.weights.sum()
    if not meets.any():
        return None
    own = sample.mask & meets[:, None]
    each = np.broadcast_to(weights[:, None], own.shape)
    _, place = np.unique(sample.addresses[own], return_inverse=True)
    met = np.bincount(place.ravel(), weights=each[own])
    blocks = prod(launch.grid) if access.space == "shared" else 1
    mean, few = (float(np.average(number[meets], weights=weights[meets])) for number in (lanes, places))
    return _Contention(mean, few, float(weights[meets].sum() / weights.sum()), float(met.max()) / blocks)


def _distinct(addresses: Any, mask: Any) -> Any:
    """How many addresses each request goes to."""
    ordered = np.sort(np.where(mask, addresses, np.iinfo(np.int64).min), axis=1)
    steps = (np.diff(ordered, axis=1) != 0).sum(axis=1)
    # What lanes that are off stand for is one of them.
    return steps + np.where(mask.all(axis=1), 1, 0)
