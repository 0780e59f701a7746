"""CL307: blocks that wait for blocks that may not be resident."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.facts.orders import BlockWait, Whom
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related

_WHOM: Final[dict[Whom, str]] = {
    "all": "all blocks of the grid have come",
    "later": "a block with a larger number has written it",
    "earlier": "a block with a smaller number has written it",
    "data": "blocks that loaded data names have written it",
}
_DRAW: Final = "let blocks draw their numbers (`atomicAdd` on a counter that begins with 0)"
_REMEDIES: Final[dict[Whom, str]] = {
    "all": (
        "launch it by `cudaLaunchCooperativeKernel` with at most as many blocks as"
        " `cudaOccupancyMaxActiveBlocksPerMultiprocessor` gives for all multiprocessors, and wait by `grid.sync()`;"
        " or end the kernel there"
    ),
    "later": f"{_DRAW}, and wait for smaller ones only",
    "earlier": f"{_DRAW} in place of `blockIdx`",
    "data": f"{_DRAW} in place of `blockIdx`",
}


class BlockWaits(Rule):
    """Blocks that spin until others of their grid have done something, where not all are resident at one time.

    What it does
        Finds loops that load one place until it changes, and sees whether other blocks write that place. If the launch
        is in sight, is not cooperative, and has more blocks than fit on the GPU at one time, for a size that the host
        code lets through, it reports the load.

    Why is this bad
        A block that waits keeps its place on its multiprocessor. If all places are taken by blocks that wait for blocks
        which have not begun, none of these ever begins: the kernel hangs. In which order blocks begin is not specified;
        that those with smaller numbers come first is no more than usual.

    Example
        // for row `blockIdx.x`
        while (*(volatile int *)&done[blockIdx.x - 1] == 0)
            ;

    Use instead
        __shared__ int row;
        if (threadIdx.x == 0)
            row = atomicAdd(next, 1);               // whoever has a smaller number is running
        __syncthreads();
        ...
        while (*(volatile int *)&done[row - 1] == 0)
            ;

        For a barrier of the whole grid, a cooperative launch and `grid.sync()`.

    What is not reported
        - Launches that are not in sight, and grids whose number of blocks the program chooses (`blocks`,
          multiprocessors times blocks for each).
        - Blocks that draw their numbers from an atomic counter, and locks.
        - Loops that give up after some turns, or by the clock.
    """

    code = "CL307"
    name = "block-wait"
    severity = "warning"
    summary = "blocks that wait for blocks that may not be resident"
    by_hand = "the order of blocks, or their number, has to be decided otherwise"
    reads = frozenset({"waits"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for wait in kernel.waits:
            yield self.finding(
                kernel,
                severity="error" if wait.whom == "all" else self.severity,
                place=wait.place,
                message=_message(wait),
                launches=kernel.launches_of(wait),
                figures={"blocks": float(wait.blocks), "resident": float(wait.resident)},
                related=(
                    Related(wait.written_at, "what is waited for is written here"),
                    *frames_related(wait.inlined_from),
                ),
                suggestion=Suggestion(_REMEDIES[wait.whom]),
            )


def _message(wait: BlockWait) -> str:
    given = f" with {wait.size[0]} = {wait.size[1]}" if wait.size is not None else ""
    return (
        f"blocks spin on `{wait.array}` until {_WHOM[wait.whom]}, which may not have begun: of {wait.blocks}"
        f" blocks{given} at most {wait.resident} are resident at one time, and each keeps its place while it waits"
    )
