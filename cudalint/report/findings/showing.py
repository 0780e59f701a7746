"""Which findings are shown. The whole rule, as the documentation has it:

1. A finding is *certain* where it rests on nothing that was made up, or comes out the same whatever was, in every
   launch and instantiation in sight, or in one that was recorded; *likely* where it does in most of those in sight, or
   an error in one; else *conditional*. Of a finding that stands at a launch, what is launched there counts; of one in a
   kernel's code, all launches of the kernel. One that was looked at in part counts where the finding is there.
2. Certain and likely errors are shown, and so is what else is no waste of time.
3. Certain and likely waste is shown that takes `--min-share` of its kernel's time and of its traffic through L1; of
   doubles, of its time or of what its warps execute, as other GPUs compute them 32 times slower than the target.
4. Twice that share of the traffic is enough for bank conflicts and lanes that are spread over warps, and of the traffic
   or the work in kernels that wait, as recorded times may show, or whose time is not known; once in launches that were
   recorded, where it is no estimate.
5. What a number decides that nothing in sight gives is a requirement of its kernel, one line for each; all else is
   counted.
"""

from __future__ import annotations

from typing import Final, get_args

from msgspec.structs import replace

from cudalint.diagnostics import Certainty, Diagnostic, HeldBack
from cudalint.facts import WAITING, FindingCost

CERTAINTIES: Final[tuple[Certainty, ...]] = get_args(Certainty)
"""The surest first."""
ENOUGH_ALONE = 2.0
"""Times the share that is asked for: of the traffic, where nothing else is asked."""
_OF_BANKS = frozenset({"ideal_wavefronts", "spare_share"})
"""Figures of what shared memory passes for nothing."""
_PARTS = ("wasted_share", "idle_fraction")
"""Figures that are shares of all that a kernel's warps execute."""


def certainty_of(diagnostic: Diagnostic) -> Certainty:
    """How sure a finding is, by the launches and instantiations that it holds in and by what it rests on."""
    if diagnostic.condition:
        return "conditional"
    held, tried = diagnostic.worlds
    if held >= tried or any(launch.recorded for launch in diagnostic.launches):
        return "certain"
    is_enough = diagnostic.severity == "error" or ENOUGH_ALONE * held >= tried
    return "likely" if is_enough else "conditional"


def marked(diagnostic: Diagnostic, share: float) -> Diagnostic:
    """A finding with the reason why it is only counted where this share is asked for, if there is one; with a share of
    0, everything is shown."""
    if diagnostic.held_back == "no-action":
        return replace(diagnostic, held_back=None) if not share else diagnostic
    return replace(diagnostic, held_back=_reason(diagnostic, share) if share else None)


def with_worlds(diagnostic: Diagnostic, share: float) -> Diagnostic:
    """A finding of a run, of which it is known by now in how many launches and instantiations it holds."""
    if not share or diagnostic.held_back == "no-action" or certainty_of(diagnostic) != "conditional":
        return diagnostic
    return replace(diagnostic, held_back="conditional" if diagnostic.condition else "few")


def _reason(diagnostic: Diagnostic, share: float) -> HeldBack | None:
    if certainty_of(diagnostic) == "conditional":
        return "conditional"
    if diagnostic.severity == "error" or diagnostic.cost is None:
        return None
    return too_little(diagnostic, diagnostic.cost, share)


def too_little(diagnostic: Diagnostic, cost: FindingCost, share: float) -> HeldBack | None:
    """Why waste of this cost, that of a finding or of all of its cause, is not shown; None where it is."""
    share_of_time, traffic = cost.share, cost.traffic_share
    is_of_banks = not _OF_BANKS.isdisjoint(diagnostic.figures)
    if not is_of_banks and "ideal_sectors" not in diagnostic.figures:
        part = share_of_time or 0.0
        if share_of_time is None or cost.limiter == "latency" or _is_of_made_up_time(diagnostic, cost):
            part = max(part, _part_of_work(diagnostic))
        if "double_operations" in diagnostic.figures:
            part = max(part, diagnostic.figures["wasted_share"])
        return None if part >= share else "unknown" if share_of_time is None else "small"
    by_traffic = share_of_time is None or is_of_banks or cost.limiter in WAITING
    if by_traffic and traffic is not None and traffic >= ENOUGH_ALONE * share:
        return None
    if traffic is not None and traffic >= share and any(launch.recorded for launch in diagnostic.launches):
        return None
    if share_of_time is None:
        return "unknown"
    return None if share_of_time >= share and (traffic is None or traffic >= share) else "small"


def _is_of_made_up_time(diagnostic: Diagnostic, cost: FindingCost) -> bool:
    """Whether a kernel takes no time because of sizes that nothing in sight gives."""
    return cost.limiter == "launch" and all(launch.grid_is_assumed for launch in diagnostic.launches)


def _part_of_work(diagnostic: Diagnostic) -> float:
    """What the waste takes of all that the warps of a kernel execute, halved: it asks for twice as much."""
    return max((diagnostic.figures[name] for name in _PARTS if name in diagnostic.figures), default=0.0) / ENOUGH_ALONE
