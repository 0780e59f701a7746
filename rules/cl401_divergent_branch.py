"""CL401: branches on which the lanes of a warp part."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import Branch, BranchResult, Divergence, KernelFacts
from cudalint.hardware.cost.requests import shared_in
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import call_sites, figure

_LOOPS = frozenset({"for", "while", "do"})


class DivergentBranch(Rule):
    """A branch on which the lanes of a warp disagree, with much to do behind it.

    What it does
        Evaluates the condition of every `if`, `switch` and `?:` for all lanes, and reports those on which lanes of one
        warp disagree, if that makes the warp execute much that only part of its lanes needs.

    Why is this bad
        A warp executes one instruction at a time. Where its lanes part, it executes first one side, with the lanes of
        the other side switched off, and then the other: the time is that of both sides together.

    In a profile
        `smsp__thread_inst_executed_per_inst_executed.ratio` is below 32, the more so the longer the sides are, and
        `smsp__sass_average_branch_targets_threads_uniform.pct` below 100.

    Example
        if (threadIdx.x % 2)          // every warp executes both
            x = forward(x, n);
        else
            x = backward(x, n);

    Use instead
        if ((threadIdx.x / 32) % 2)   // whole warps go one way
            x = forward(x, n);
        else
            x = backward(x, n);

        `threadIdx.y % 2` is such a condition in a block of 32x4, and is not in one of 16x8. Short bodies are better
        written as a value that is chosen (`min`, `max`, `?:`), which takes no jump.

        A sum in shared memory whose steps are `if (tid % (2 * k) == 0) s[tid] += s[tid + k]` keeps all warps at work
        with few lanes each; with `if (tid < k)` and a `k` that halves, whole warps are done. The body is so short that
        there is no jump: what is counted is how often warps ask shared memory.

    What is not reported
        - A split of less than a third of the warps that get there: the guard at the edge of the problem, the halo, the
          last steps of a reduction.
        - Lanes that do nothing while others work, where all that work in the block would not fit into fewer warps: the
          `threadIdx.x == 0` around a tail, a block of half a warp. What counts as wasted there is what could be saved.
        - Short bodies, for which the compiler makes no jump, unless they are steps in shared memory and half of the
          times that warps ask for it could be saved, and early ends of a kernel (`if (i >= n) return;`), which leave
          nothing to execute.
        - Work of single lanes (`if (threadIdx.x % 32 == 0)`, or one lane that does something else than the others), and
          other work that is divided by the number of the lane, up to a third of what a warp executes in the kernel: a
          warp that works as one has a leader.
        - A waste of less than 15% of what a warp executes in the kernel. Work is counted in machine instructions,
          roughly, those in loops as often as the loops are passed.
        - Conditions on loaded data, or on a size that nothing in sight determines where another one would split far
          fewer warps: how the lanes part is not known.
    """

    code = "CL401"
    name = "divergent-branch"
    severity = "warning"
    summary = "branches at which the lanes of a warp part, with much to do on one side"
    guide = ("divergence", "faults")
    by_hand = "the threads would have to be given their work in another order"
    reads = frozenset({"branches", "accesses"})
    is_waste = True
    thresholds = {"warps": 0.33, "share": 0.15, "leader": 0.33, "spread": 0.5}
    relative = ("share", "leader")

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        for branch in kernel.branches or ():
            if branch.kind in _LOOPS:
                continue
            for result in branch.results:
                cost = result.divergence
                if cost is None or cost.sized or (result.divergent_warps or 0.0) < limits["warps"]:
                    continue
                if result.compiled == "predicated":
                    is_spread = cost.spare >= limits["spread"] and not cost.by_lane and not _is_for_leaders(cost)
                    if is_spread and _is_a_step(branch, kernel):
                        yield self._spread(kernel, branch, result, cost)
                    continue
                if result.compiled != "branch":
                    continue
                if cost.share >= max(limits["share"], limits["leader"] if _is_for_leaders(cost) else 0.0):
                    yield self._diagnostic(kernel, branch, result, cost)

    def _diagnostic(
        self, kernel: KernelFacts, branch: Branch, result: BranchResult, cost: Divergence
    ) -> Diagnostic:
        warps = result.divergent_warps or 0.0
        return self.finding(
            kernel,
            place=branch.place,
            message=_message(branch, warps, cost),
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"divergent_warps": warps, "wasted_share": cost.share},
            related=call_sites(branch),
            suggestion=_suggestion(warps, cost),
        )

    def _spread(self, kernel: KernelFacts, branch: Branch, result: BranchResult, cost: Divergence) -> Diagnostic:
        """Of a short body, for which there is no jump: what counts is how often warps ask shared memory."""
        warps = result.divergent_warps or 0.0
        lanes = f"{figure(cost.lanes[0])} of {figure(sum(cost.lanes))} lanes"
        asked = f"warps that are full would ask shared memory {cost.spare:.0%} less often"
        return self.finding(
            kernel,
            place=branch.place,
            message=f"{_splits(warps)}: {lanes} do the work, spread over the block; {asked}",
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"divergent_warps": warps, "spare_share": cost.spare},
            related=call_sites(branch),
            suggestion=Suggestion(
                "give the work to neighbouring threads: in a sum, the first half adds what the other half has",
                before={"divergent_warps": warps},
                after={"divergent_warps": 0.0},
            ),
        )


def _is_a_step(branch: Branch, kernel: KernelFacts) -> bool:
    """Whether what is done is from shared memory to shared memory, where any thread could do it."""
    within = shared_in(branch.place, kernel.accesses)
    loaded, stored = ({each.array for each in within if each.operation == kind} for kind in ("load", "store"))
    return not loaded.isdisjoint(stored)


def _splits(warps: float) -> str:
    return "every warp splits" if warps > 0.995 else f"{warps:.0%} of the warps split"


def _message(branch: Branch, warps: float, cost: Divergence) -> str:
    split = _splits(warps)
    wasted = f"{cost.share:.0%} of what a warp executes in this kernel is for lanes that wait"
    if branch.kind == "switch":
        return f"{split} over {len(cost.work)} cases, which are executed one after the other: {wasted}"
    lanes = f"{figure(cost.lanes[0])} of {figure(sum(cost.lanes))} lanes"
    if len(cost.work) > 1 and min(cost.work) > 0:
        return f"{split}: {lanes} go one way, and both sides are executed one after the other: {wasted}"
    return f"{split}: {lanes} do the work: {wasted}"


def _is_for_leaders(cost: Divergence) -> bool:
    """Whether single lanes, or lanes by their number in the warp, do what the others don't."""
    both = len(cost.work) > 1 and min(cost.work) > 0
    few = min(cost.lanes) if both else cost.lanes[0]
    return few <= 1.0 or (cost.by_lane and not both)


def _suggestion(warps: float, cost: Divergence) -> Suggestion | None:
    before, after = {"divergent_warps": warps}, {"divergent_warps": 0.0}
    if cost.chosen is not None:
        text = f"compute for all lanes and choose (`{cost.chosen} = ... ? ... : ...`), which takes no jump"
        return Suggestion(text, before=before, after=after)
    if cost.aligned is not None:
        text = f"give the work to whole warps: `{cost.aligned}` splits none"
        return Suggestion(text, before=before, after=after)
    return None
