"""CL304: code that relies on the lanes of a warp running in lock-step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import AbsentLane, Barrier, BarrierResult, KernelFacts, Race, UnmaskedCall
from cudalint.fixes.obstacles import edited
from cudalint.numerals import thread
from cudalint.racekit import (
    barrier_suggestion,
    grouped,
    is_of_one_warp,
    listed,
    other_lines,
    race_findings,
    reportable,
)
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related, in_kernel, parted
from cudalint.source.conditions import other_branches

_MISSING = "the mask names lanes that do not come"
_MAY_MISS = "data may keep lanes away that are counted on"
_BY_BALLOT = (
    "take the warp function out of the branch, or let all lanes find out who comes before they part:"
    " `__ballot_sync(0xffffffff, condition)` is the mask of those"
)
_ALL_LANES = (
    "let all lanes of the warp come to the shuffle, those without data with a value that changes nothing"
    " (`float v = i < n ? in[i] : 0;`), or ask whether the other lane is there"
)
_EXCHANGE = "exchange through `__shfl_sync`, or put `__syncwarp()` between"
_STEPWISE = (
    "put `__syncwarp()` behind each step, and between what it reads and what it stores, where all lanes of the warp"
    " come to it"
)


class MissingSyncwarp(Rule):
    """Lanes of a warp that exchange data as if they ran in lock-step.

    What it does
        Looks for pairs of accesses to one element of shared memory by different lanes of a warp, one of them a store,
        with neither `__syncwarp()` nor a warp function with a mask nor a barrier between; for warp functions whose
        mask names lanes that don't come, or not all that do; for shuffles in which a lane reads from one that is not
        there (it has returned, is behind the end of the block, or took another branch) and stores what comes of it; and
        for the warp functions of old that take no mask
        (`__shfl`, `__any`).

    Why is this bad
        Since Volta (compute capability 7.0) each lane has its own program counter: lanes of a warp run together most
        of the time, but nothing promises it. `volatile` only keeps the compiler from holding values in registers. The
        functions without a mask are gone from the language for these targets.

    Example
        if (tid < 32) {                       // the last steps of a reduction, with `volatile`
            s[tid] += s[tid + 16];
            s[tid] += s[tid + 8];
        }

    Use instead
        if (tid < 32) {
            float v = s[tid];
            for (int offset = 16; offset > 0; offset /= 2)
                v += __shfl_down_sync(0xffffffff, v, offset);
        }

        or `__syncwarp()` between the store of one step and the load of the next.

        What comes to the same in either order is a warning, "benign by value", as for CL301.

    What is not reported
        What CL301 reports for other warps of the same block already, and calls without a mask in a branch of the
        preprocessor beside which another one has the call with a mask.
    """

    code = "CL304"
    name = "missing-syncwarp"
    severity = "error"
    summary = "warps that are taken to run in lock-step, and masks with lanes that don't come"
    guide = ("barriers",)
    by_hand = "no single barrier of the warp orders the two"
    reads = frozenset({"accesses", "barriers", "branches", "early_reads", "races"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        shared = reportable(kernel)
        for group in grouped(shared):
            if is_of_one_warp(group):
                yield from race_findings(self, kernel, group, partial(_remedy, kernel, context.text_of))
        for barrier in kernel.barriers or ():
            yield from self._masks(kernel, barrier, context)
        told = {barrier.place for barrier in kernel.barriers or () if any(map(_is_missed, barrier.results))}
        for absent in kernel.absent_lanes:
            if absent.place not in told:
                yield self._absent(kernel, absent)
        for call in kernel.unmasked_calls:
            # Beside code for newer compilers, which one macro or another chooses, this is for the older ones.
            if f"{call.name}_sync" not in other_branches(context.text_of(call.place.path), call.place.line):
                yield self._unmasked(kernel, call)

    def _masks(self, kernel: KernelFacts, barrier: Barrier, context: RuleContext) -> Iterator[Diagnostic]:
        for result in barrier.results:
            if barrier.kind == "syncwarp" and result.verdict == "divergent" and result.size is None:
                what = "lanes come that the mask does not name" if result.unnamed else _MISSING
                yield self.finding(
                    kernel,
                    place=barrier.place,
                    message=f"{what}: {result.reason}",
                    launches=(kernel.launches[result.launch],),
                    related=frames_related(barrier.inlined_from),
                    suggestion=_naming(barrier, context) if result.unnamed else None,
                    no_edit="" if result.unnamed else "which of the lanes are meant to take part is not known",
                )
            elif barrier.kind == "syncwarp" and result.parting is not None:
                yield self._by_data(kernel, barrier, result)

    def _by_data(self, kernel: KernelFacts, barrier: Barrier, result: BarrierResult) -> Diagnostic:
        return self.finding(
            kernel,
            severity="warning",
            place=barrier.place,
            message=f"{_MAY_MISS}: {parted(result)}",
            launches=(kernel.launches[result.launch],),
            related=frames_related(barrier.inlined_from),
            suggestion=Suggestion(_BY_BALLOT),
            no_edit="which of the lanes are meant to take part is not known",
            causes=(in_kernel(kernel, f"by data: {parted(result)}"),),
        )

    def _absent(self, kernel: KernelFacts, absent: AbsentLane) -> Diagnostic:
        size = f" {absent.size}" if absent.size else ""
        return self.finding(
            kernel,
            severity="warning" if absent.size else self.severity,
            place=absent.place,
            message=f"{thread(absent.thread, absent.block)} reads from lane {absent.source}, which takes no"
            f" part{size}: what it gets is undefined, and is stored at line {absent.stored_at.line}",
            launches=kernel.launches_of(absent),
            assumptions=absent.assumptions,
            related=(Related(absent.stored_at, "stored here"), *frames_related(absent.inlined_from)),
            suggestion=Suggestion(_ALL_LANES),
            no_edit="what lanes without data of their own should contribute is not known",
            causes=(in_kernel(kernel, f"absent lanes, {absent.stored_at}"),),
        )

    def _unmasked(self, kernel: KernelFacts, call: UnmaskedCall) -> Diagnostic:
        return self.finding(
            kernel,
            place=call.place,
            message=f"`{call.name}` takes no mask of lanes, and is gone for compute capability 7.0 and later: "
            f"`{call.name}_sync`",
            related=frames_related(call.inlined_from),
            causes=(f"{call.place.path}: calls without a mask",),
        )


def _is_missed(result: BarrierResult) -> bool:
    return result.verdict == "divergent" and result.size is None


def _naming(barrier: Barrier, context: RuleContext) -> Suggestion:
    from cudalint.fixes.mask_edits import WHOLE, mask_edits

    every = "name every lane that comes"
    advice = Suggestion(f"{every}; `{WHOLE}` names a whole warp", otherwise=Suggestion(every))
    return edited(advice, partial(mask_edits, barrier.place, context.text_of), "unsafe")


def _remedy(kernel: KernelFacts, text_of: Callable[[str], str], group: Sequence[Race]) -> Suggestion:
    from cudalint.fixes.step_edits import step_edits

    fixes = {race.fix for race in group}
    if len(fixes) == 1:
        barrier = barrier_suggestion(group)
        if barrier is not None:
            return barrier
    also = other_lines(group[0], group)
    words = Suggestion(f"{_EXCHANGE}; what is at {listed(also)} lacks it, too" if also else _EXCHANGE)
    stepwise = edited(
        Suggestion(_STEPWISE, rewrites=True, otherwise=words),
        lambda: step_edits(group, kernel.branches or (), text_of),
    )
    return stepwise if stepwise.edits else replace(words, no_edit=stepwise.no_edit)
