"""CL307: flags that are set before what they announce is there."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts, Publication
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class EarlyPublication(Rule):
    """A flag or a counter that tells others of data which may not be written yet, or not be seen yet.

    What it does
        Follows what the threads of a block write, and reports the store or the atomic that one warp releases a flag by
        (`st.release`, `memory_order_release`, `__threadfence()` before it) if other warps of the block have written
        since the last barrier. Where blocks of one grid wait for each other, it reports flags that are set with no
        memory fence behind what they announce.

    Why is this bad
        A fence or a release orders what its own thread has written, and what a barrier has ordered before that. What
        other threads write is not waited for, and without a fence not even the thread's own data has to be seen before
        the flag: who sees that may find old data.

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
        - Counters by which the last block knows that it is the last: CL305 has those.
        - Kernels of which a part is not known.
    """

    code = "CL307"
    name = "early-publication"
    severity = "error"
    summary = "flags that are set before what they announce is written or seen"
    by_hand = "where all threads of the block come by is not known"
    reads = frozenset({"publications", "waits"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for early in (*kernel.publications, *(each for each in kernel.signals if each.lacks == "fence")):
            yield self.finding(
                kernel,
                place=early.place,
                message=_message(early),
                launches=(kernel.launches[early.launch],),
                related=(*_related(early), *frames_related(early.inlined_from)),
                suggestion=Suggestion(_remedy(early)),
            )


def _message(early: Publication) -> str:
    line = early.other.line
    if early.lacks == "barrier":
        return (
            f"thread {early.thread} sets `{early.flag}` while other warps of the block may still write"
            f" `{early.array}` (line {line}): a release orders what its own thread has written"
        )
    return (
        f"`{early.flag}` tells other blocks that `{early.array}` was written (line {line}), and no memory fence stands"
        " between: they may find what was there before"
    )


def _related(early: Publication) -> Iterator[Related]:
    if early.lacks == "barrier":
        yield Related(early.other, f"all threads write `{early.array}` here, and no barrier follows")
        return
    yield Related(early.other, f"`{early.array}` is written here")
    if early.read_at is not None:
        yield Related(early.read_at, "another block reads it here, after it has waited")


def _remedy(early: Publication) -> str:
    if early.lacks == "barrier":
        return f"put `__syncthreads()` between line {early.other.line} and the flag, where all threads come by"
    return (
        "put `__threadfence()` in front of it, behind a barrier of the block if other threads have written; or set it"
        " by `cuda::atomic_ref` with `memory_order_release`"
    )
