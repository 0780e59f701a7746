"""Sizes under which an access is reached: where large ones keep all threads away (`threadIdx.x < 250 - 2 * halo`), a
small one may let them through."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.evaluate.checks.probes import allowed
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.knowledge import SMALL, sizes_on_the_way
from cudalint.evaluate.symbolic.nodes import THREAD_BITS, Node
from cudalint.flow.trial import Trial
from cudalint.flow.unfold import TooLarge, Touch

_MOST = 2
"""Sizes that are looked at for one kernel."""


def reaching(execution: Execution, trial: Trial, touches: Iterable[Touch]) -> list[dict[Node, int | float]]:
    """A small value of one size for accesses that no thread gets to with the usual ones."""
    found: dict[Node, dict[Node, int | float]] = {}
    tried: set[Node] = set()
    try:
        for touch in touches:
            if len(found) >= _MOST or not _is_kept_away(touch) or _is_reached(touch, trial):
                continue
            if any(_is_reached(touch, trial.under(values)) for values in found.values()):
                continue
            for size in sizes_on_the_way(execution.view.graph, touch.context.conditions, touch.context.loops):
                values: dict[Node, int | float] = {size: SMALL}
                if size in tried or not allowed(execution.view, values):
                    continue
                tried.add(size)
                if _is_reached(touch, trial.under(values)):
                    found[size] = values
                    break
    except TooLarge:
        pass
    return list(found.values())


def is_reached(touches: Iterable[Touch], trial: Trial) -> bool:
    """Whether some thread gets to each of some accesses."""
    try:
        return all(_is_reached(touch, trial) for touch in touches)
    except TooLarge:
        return True


def _is_reached(touch: Touch, trial: Trial) -> bool:
    trace = trial.some_trace("block")
    return trace.is_walked(touch) and bool(trace.mask(touch).any())


def _is_kept_away(touch: Touch) -> bool:
    """Whether it may be that sizes keep all threads away: by a condition that tells threads apart."""
    return any(c.bits & THREAD_BITS for c in touch.context.conditions)
