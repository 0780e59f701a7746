"""How sure a race is: what guards its accesses, what their addresses come from, and whether other sizes make it vanish.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts import arrays, data, guards, last_block, program, sizes, unused
from cudalint.concurrency.doubts.doubt import Doubt
from cudalint.concurrency.trial import GaveUp, Trial
from cudalint.evaluate.requests.execution import Execution
from cudalint.interpreter.device.events import Touch


def doubt_about(
    conflict: Conflict, trial: Trial, execution: Execution, touches: Sequence[Touch], size: int | None
) -> Doubt | None:
    """None for a race that is certain."""
    graph = trial.graph
    late = last_block.late_turn(conflict, graph, execution.events, trial.tree().places)
    guarded = guards.by_data(graph, conflict, late)
    known = (
        last_block.of_one_block(conflict, graph, execution.events)
        or unused.of_nobody(conflict, graph, execution)
        or program.unfit(conflict, trial, execution)
        or (guarded if guarded is not None and not guarded.usual else None)
        or guards.signals(graph, conflict, execution.events, late)
        or program.parts_missing(conflict, execution, trial)
        or program.grid(conflict, execution)
        or program.one_thread(execution)
        or program.one_of_a_number(conflict, execution)
        or program.unlikely_launch(conflict, trial, execution)
    )
    if known is not None:
        return known
    try:
        return (
            arrays.extent(conflict, trial, size)
            or arrays.next_array(conflict, trial, execution, touches, size)
            or data.far_on(conflict, trial, touches, size)
            or arrays.layout(conflict, trial, touches, size)
            or data.addresses(conflict, trial, touches, size)
            or _other_sizes(conflict, trial, execution, touches, size)
            or guarded
        )
    except GaveUp:
        return Doubt("there was no time to try other sizes and data", unfinished=True)


def _other_sizes(
    conflict: Conflict, trial: Trial, execution: Execution, touches: Sequence[Touch], size: int | None
) -> Doubt | None:
    doubt = sizes.other_sizes(conflict, trial, execution, touches, size)
    return None if doubt is not None and data.is_crowded(conflict, trial, touches, size) else doubt
