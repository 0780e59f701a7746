"""CL308: flags and counters that threads wait for and may never see."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class MissedSignal(Rule):
    """A loop that waits for a flag by plain loads, or for a counter that another block may set back before it looks.

    What it does
        Reports loops that do nothing but load one place until it changes where nothing tells the compiler that it may;
        and stores of 0 to a counter that all blocks wait for, by a block that has waited for it, too.

    Why is this bad
        The compiler makes a plain load once, before the loop, which then never ends. A block that looks at a counter
        after another one has cleared it never finds it as it was: it waits for ever.

    Example
        atomicAdd(count, 1);
        while (*count < gridDim.x)                  // loaded once
            ;
        if (blockIdx.x == 0)
            *count = 0;                             // others may not have looked yet

    Use instead
        int last = atomicAdd(count, 1) / gridDim.x; // counts on from barrier to barrier
        while (*(volatile int *)count < (last + 1) * gridDim.x)
            ;

        Or a cooperative launch and `grid.sync()`.

    What is not reported
        - Loops with anything in them that has the compiler load again: atomics, fences, barriers, `volatile`, inline
          PTX, calls that are not followed.
        - Counters that the last block clears which comes by.
    """

    code = "CL308"
    name = "missed-signal"
    severity = "error"
    summary = "flags and counters that threads wait for and may never see"
    by_hand = "who is to see the change is not known"
    reads = frozenset({"waits"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for spin in kernel.spins:
            yield self.finding(
                kernel,
                place=spin.place,
                message=(
                    f"the loop waits for another value of `{spin.array}` by a plain load, which the compiler may make"
                    " once: then it never ends"
                ),
                launches=kernel.launches_of(spin),
                related=frames_related(spin.inlined_from),
                suggestion=Suggestion(
                    "load it through a `volatile` pointer, or by `cuda::atomic_ref` with `memory_order_acquire`"
                ),
            )
        for reset in (each for each in kernel.signals if each.lacks == "turn"):
            yield self.finding(
                kernel,
                place=reset.place,
                message=(
                    f"`{reset.flag}` is set back while other blocks may still wait for what it was (line"
                    f" {reset.other.line}): those never see it"
                ),
                launches=kernel.launches_of(reset),
                related=(Related(reset.other, "others may still wait here"), *frames_related(reset.inlined_from)),
                suggestion=Suggestion(
                    "let it count on from launch to launch, let the last block clear it that comes by, or clear it"
                    " before the kernel"
                ),
            )
