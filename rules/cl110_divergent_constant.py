"""CL110: constant memory that the lanes of a warp index differently."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts
from cudalint.numerals import figure
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class DivergentConstant(Rule):
    """A `__constant__` array of which the lanes of a warp want different words.

    What it does
        Counts the different words of a `__constant__` array that the lanes of a warp load at once, and reports loads
        with more than the threshold on average.

    Why is this bad
        The constant cache gives one word to all lanes at a time. A warp whose 32 lanes want 32 words takes 32 turns;
        shared memory, or global memory by way of L1, gives them in one.

    Example
        __constant__ float weights[256];
        ...
        sum += weights[threadIdx.x] * in[i];        // 32 words, 32 turns

    Use instead
        const float *weights;                       // global memory: 4 sectors, one request
        ...
        sum += weights[threadIdx.x] * in[i];

        Or have the lanes go through the table together, if the loop allows.

    What is not reported
        - Indices that data decides about.
    """

    code = "CL110"
    name = "divergent-constant"
    severity = "warning"
    summary = "constant memory that the lanes of a warp index differently"
    by_hand = "the array may be small, or most warps may read one place of it"
    is_waste = True
    reads = frozenset({"constants"})
    thresholds = {"words": 4.0}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = self.limits(context)["words"]
        for site, result in ((each, result) for each in kernel.constants for result in each.results):
            if result.addresses < least:
                continue
            words = figure(result.addresses)
            yield self.finding(
                kernel,
                place=site.place,
                message=(
                    f"the lanes of a warp load {words} different words of `{site.array}` from constant memory at once: "
                    f"{words} turns in place of 1"
                ),
                launches=(kernel.launches[result.launch],),
                assumptions=result.assumptions,
                figures={"words": result.addresses},
                related=frames_related(site.inlined_from),
                suggestion=Suggestion(
                    f"keep `{site.array}` in shared memory, or in global memory behind a `const __restrict__` pointer",
                    before={"turns": result.addresses},
                ),
            )
