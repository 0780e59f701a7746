"""CL302: barriers that some threads of the block never come to."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import Barrier, BarrierResult, KernelFacts
from cudalint.fixes.obstacles import edited
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related, in_kernel, parted

_NAMES = {
    "syncthreads": "`__syncthreads()`",
    "cooperative-groups": "the group's `sync()`",
    "named": "the barrier",
    "grid": "the grid's `sync()`",
}


_HOIST = (
    "let every thread come to it: end the branch or loop that some skip before the barrier, and begin it again behind"
)
_STAY = "let the threads that have nothing to do stay: put a condition around the work, in place of the early return"


class DivergentBarrier(Rule):
    """A barrier that only some of the threads come to that it waits for.

    What it does
        Evaluates for every thread of a block (for a barrier of the grid: of the grid) whether it comes to the barrier:
        through branches, loops with a number of iterations of their own, and behind an early `return`, `break` or
        `continue`. Where all sizes in sight bring all threads there, sizes are tried that fill the last block in part.

    Why is this bad
        The threads that come wait for the others: the kernel hangs, or the hardware counts arrivals at another barrier
        for this one and lets threads pass too early. The programming guide calls it undefined.

    Example
        if (threadIdx.x < 64) {
            s[threadIdx.x] += s[threadIdx.x + 64];
            __syncthreads();
        }

    Use instead
        if (threadIdx.x < 64)
            s[threadIdx.x] += s[threadIdx.x + 64];
        __syncthreads();

    What is not reported
        - Branches on loaded data on which all threads of the block agree, whatever it is: `if (done[blockIdx.x])`, a
          loop up to a count that is rounded up to whole blocks, what `__syncthreads_or` says. Where the numbers of
          threads are compared with data (`for (int i = threadIdx.x; i < count[b]; i += blockDim.x)`), or each thread
          goes by its own (`if (in[i] > 0)`), it is a warning; not so an early `return` by data.
        - Loops that go on by a number of threads that the block, which no launch in sight gives, may well have
          (`for (int i = threadIdx.x; i < 1024; i += 128)`), if all threads of that one come.
        - An early `return` of the threads behind the end of the data (`if (i >= n) return;`): the hardware waits only
          for threads that are still there. The same `return` for a fixed part of every block is reported, as a
          warning: compute capability 7.0 and later bear it, and the programming guide does not promise that. So is
          a barrier in a branch that whole warps skip on their way to the end of the kernel.
    """

    code = "CL302"
    name = "divergent-barrier"
    severity = "error"
    summary = "barriers that some threads never come to"
    guide = ("barriers",)
    by_hand = "what the branch guards has to be told from what all threads have to do"
    reads = frozenset({"barriers", "accesses"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for barrier in kernel.barriers or ():
            for result in barrier.results:
                if barrier.kind == "syncwarp":
                    continue
                if result.verdict == "divergent" and not _is_tail(result):
                    yield self._diagnostic(kernel, barrier, result, context)
                elif result.parting is not None:
                    yield self._by_data(kernel, barrier, result, context)

    def _diagnostic(
        self, kernel: KernelFacts, barrier: Barrier, result: BarrierResult, context: RuleContext
    ) -> Diagnostic:
        from cudalint.fixes.branch_edits import hoisted_barrier

        launch = kernel.launches[result.launch]
        written = "" if result.returned else _written_before(kernel, barrier)
        suggestion = Suggestion(_STAY if result.returned else f"{_HOIST}{written}")
        if not result.returned:
            # What the branch guards may be more than its author meant, once it is guarded in parts.
            suggestion = edited(
                replace(suggestion, otherwise=suggestion),
                lambda: hoisted_barrier(barrier.place, context.text_of),
                "unsafe",
            )
        return self.finding(
            kernel,
            severity="warning" if result.returned or result.leaving else self.severity,
            place=barrier.place,
            message=f"not all threads come to {_NAMES[barrier.kind]}: {result.reason}",
            launches=(launch,),
            assumptions=launch.assumptions,
            related=frames_related(barrier.inlined_from),
            suggestion=suggestion,
            causes=(in_kernel(kernel, f"without {result.missing}, {result.returned}"),),
        )


    def _by_data(
        self, kernel: KernelFacts, barrier: Barrier, result: BarrierResult, context: RuleContext
    ) -> Diagnostic:
        from cudalint.fixes.branch_edits import hoisted_barrier

        launch = kernel.launches[result.launch]
        advice = Suggestion(_HOIST)
        return self.finding(
            kernel,
            severity="warning",
            place=barrier.place,
            message=f"data may keep threads from {_NAMES[barrier.kind]}: {parted(result)}",
            launches=(launch,),
            assumptions=launch.assumptions,
            related=frames_related(barrier.inlined_from),
            suggestion=edited(advice, lambda: hoisted_barrier(barrier.place, context.text_of), "unsafe"),
            causes=(in_kernel(kernel, f"by data: {parted(result)}"),),
        )


def _written_before(kernel: KernelFacts, barrier: Barrier) -> str:
    """What else has to be seen to where threads skip stores to shared memory that the barrier makes known to others:
    those behind the barrier before it."""
    line = barrier.place.line
    barriers = (b.place for b in kernel.barriers or () if b.place.path == barrier.place.path and b.kind != "syncwarp")
    since = max((place.line for place in barriers if place.line < line), default=0)
    stores = (a for a in kernel.accesses if a.space == "shared" and a.operation == "store" and not a.inlined_from)
    arrays = dict.fromkeys(a.array for a in stores if since <= a.place.line <= line)
    if not arrays:
        return ""
    named = " and ".join(f"`{array}`" for array in arrays)
    return (
        f". If others read all of {named} then, the threads that skip the branch have to store there too, what changes"
        " nothing (0 for a sum): shared memory is not empty at the beginning"
    )


def _is_tail(result: BarrierResult) -> bool:
    """Threads that leave because the data ends inside their block."""
    return result.tail or (result.returned and result.size is not None)
