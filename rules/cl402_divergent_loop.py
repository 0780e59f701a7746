"""CL402: loops whose lanes make unequal numbers of iterations."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import Branch, BranchResult, Divergence, KernelFacts
from cudalint.hardware.requests import WARP_LANES
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import call_sites, figure

_LOOPS = frozenset({"for", "while", "do"})


class DivergentLoop(Rule):
    """A loop that some lanes of a warp go round far more often than the others.

    What it does
        Counts the iterations that every lane makes, and reports loops in which the slowest lane of a warp makes many
        more than the mean lane.

    Why is this bad
        A warp goes round as often as its slowest lane. Lanes that are done wait.

    Example
        for (int k = 0; k <= threadIdx.x % 32; k++)   // the warp makes 32 iterations, the mean lane 16.5
            x += row[k];

    Use instead
        Equal shares for the lanes of a warp: pair a long row with a short one, sort the rows by length, or let a whole
        warp work on one row.

    What is not reported
        - A slowest lane that makes less than 1.5 times the iterations of the mean lane, or a single iteration more
          than the fastest, which makes one at least: a stride that leaves a remainder.
        - Loops in which less than a third of the warps have such lanes: the tail that is left to one warp.
        - A waste of less than 15% of what a warp executes in the kernel.
        - Trip counts that depend on a size that nothing in sight determines where another one would waste far less.
        - Trip counts that are loaded for each lane, such as the lengths of sparse rows, in a loop that takes less than
          half of the kernel. Where it takes more, a note says what may be lost at most. Lengths that most warps load
          from one place, such as that of a row on which a whole warp works, are those of all its lanes.
    """

    code = "CL402"
    name = "divergent-loop"
    severity = "warning"
    summary = "loops that some lanes of a warp go round more often than others"
    guide = ("divergence",)
    by_hand = "how long the loop lasts is up to the data, or to the work of each thread"
    reads = frozenset({"branches"})
    is_waste = True
    thresholds = {"factor": 1.5, "warps": 0.33, "share": 0.15, "loaded": 0.5}
    relative = ("share", "loaded")

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        for branch in kernel.branches or ():
            if branch.kind not in _LOOPS:
                continue
            for result in branch.results:
                if result.loaded and result.loop_share >= limits["loaded"]:
                    yield self._of_data(kernel, branch, result)
                cost = result.divergence
                if cost is None or cost.sized or cost.is_remainder:
                    continue
                if cost.slowest is None or round(cost.slowest, 2) < limits["factor"]:
                    continue
                if cost.share >= limits["share"] and (result.divergent_warps or 0.0) >= limits["warps"]:
                    yield self._diagnostic(kernel, branch, result, cost, cost.slowest)

    def _of_data(self, kernel: KernelFacts, branch: Branch, result: BranchResult) -> Diagnostic:
        """What is known without the data: which loop it is, and what it may cost at most."""
        most = result.loop_share * (1 - 1 / WARP_LANES)
        return self.finding(
            kernel,
            place=branch.place,
            severity="info",
            message=(
                f"each lane goes round as often as {result.loaded} says, and a warp as often as its slowest lane: "
                f"by the data, 0% to {most:.0%} of what a warp executes in this kernel is for lanes that wait"
            ),
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            related=call_sites(branch),
            suggestion=Suggestion(
                "sort the rows by length, or give a row to a whole warp (or a part of one) where they are long and "
                "uneven"
            ),
        )

    def _diagnostic(
        self, kernel: KernelFacts, branch: Branch, result: BranchResult, cost: Divergence, slowest: float
    ) -> Diagnostic:
        warps = result.divergent_warps or 0.0
        uneven = f"the slowest lane of a warp makes {figure(slowest)} times the iterations of the mean lane"
        wasted = f"{cost.share:.0%} of what a warp executes in this kernel is for lanes that wait"
        return self.finding(
            kernel,
            place=branch.place,
            message=f"{uneven}: {wasted}",
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"slowest_lane_factor": slowest, "divergent_warps": warps, "wasted_share": cost.share},
            related=call_sites(branch),
        )
