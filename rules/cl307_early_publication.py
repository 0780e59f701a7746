"""CL307: flags that are set before what they announce is there, and loops that never see them."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class EarlyPublication(Rule):
    """A flag that tells others of data which may not be written yet, or one that is waited for by plain loads.

    What it does
        Follows what the threads of a block write, and reports the store or the atomic that one warp releases a flag by
        (`st.release`, `memory_order_release`, `__threadfence()` before it) if other warps of the block have written
        since the last barrier. Loops that do nothing but load one place until it changes are reported where nothing
        tells the compiler that it may.

    Why is this bad
        A fence or a release orders what its own thread has written, and what a barrier has ordered before that. What
        other threads write is not waited for: who sees the flag may find old data. A plain load may be made once,
        before the loop, which then never ends.

    Example
        buffer[threadIdx.x] = value;
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile int *)ready = 1;
        }

    Use instead
        buffer[threadIdx.x] = value;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile int *)ready = 1;
        }

    What is not reported
        - Flags that may announce something else: what their own thread has written alone, or what the block has touched
          before the last barrier.
        - Kernels of which a part is not known.
    """

    code = "CL307"
    name = "early-publication"
    severity = "error"
    summary = "flags that are set before what they announce is written, and never seen"
    by_hand = "where all threads of the block come by is not known"
    reads = frozenset({"publications", "waits"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for early in kernel.publications:
            line = early.written_at.line
            yield self.finding(
                kernel,
                place=early.place,
                message=(
                    f"thread {early.thread} sets `{early.flag}` while other warps of the block may still write"
                    f" `{early.array}` (line {line}): a release orders what its own thread has written"
                ),
                launches=(kernel.launches[early.launch],),
                related=(
                    Related(early.written_at, f"all threads write `{early.array}` here, and no barrier follows"),
                    *frames_related(early.inlined_from),
                ),
                suggestion=Suggestion(
                    f"put `__syncthreads()` between line {line} and the flag, where all threads come by"
                ),
            )
        for spin in kernel.spins:
            yield self.finding(
                kernel,
                place=spin.place,
                message=(
                    f"the loop waits for another value of `{spin.array}` by a plain load, which the compiler may make"
                    " once: then it never ends"
                ),
                launches=(kernel.launches[spin.launch],),
                related=frames_related(spin.inlined_from),
                suggestion=Suggestion(
                    "load it through a `volatile` pointer, or by `cuda::atomic_ref` with `memory_order_acquire`"
                ),
            )
