"""CL603: divisions, powers and functions for which there is a faster way."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import Arithmetic, ArithmeticKind, KernelFacts
from cudalint.launchkit import percent
from cudalint.rule import Rule, RuleContext


class SlowArithmetic(Rule):
    """A division of integers, a power or a function of floats that takes much of what a kernel executes.

    What it does
        Counts the instructions of divisions and remainders of integers by a number that only the launch knows, of
        `pow` with an exponent of 2, 3, 4 or 0.5, and of functions of floats in loops for which there is an intrinsic,
        and reports those that take more of what a warp executes in the kernel than the threshold beyond what the
        faster way takes.

    Why is this bad
        The hardware divides no integers: a division by a number that the compiler doesn't know takes 22 instructions,
        one by a constant 4, a shift 1. `powf(x, 2.0f)` takes 72 and `x * x` one. `sinf` takes 26 and `__sinf` 2, with
        an error that grows with the argument.

    Why it is off by default
        What these operations take is known, and whether the kernel waits for them is not: most that divide in a loop
        wait for memory. The error of the intrinsics is for the author to judge.

    Example
        for (int i = 0; i < n; i++)
            sum += table[i % width] * powf(x, 2.0f);

    Use instead
        for (int i = 0, k = 0; i < n; i++, k = k + 1 < width ? k + 1 : 0)
            sum += table[k] * (x * x);

        Where the divisor is one of a few, make it a template's parameter; where it is the same for all threads, let the
        host compute its multiplier and shift once.
    """

    code = "CL603"
    name = "slow-arithmetic"
    severity = "info"
    summary = "divisions, powers and functions for which there is a faster way"
    by_hand = "the faster way rounds otherwise, or takes a change of the loop"
    is_waste = True
    reads = frozenset({"arithmetic"})
    on_by_default = False
    thresholds = {"share": 0.1}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = {**self.thresholds, **context.thresholds}["share"]
        for site in kernel.arithmetic:
            if site.kind == "double" or (site.kind != "power" and not site.in_loop):
                continue
            for result in site.results:
                share = min(1.0, result.saved / result.instructions) if result.instructions else 0.0
                if share >= least:
                    yield self.finding(
                        kernel,
                        place=site.place,
                        message=f"{_subject(site)} takes {percent(share)} of what a warp executes in this kernel",
                        launches=(kernel.launches[result.launch],),
                        assumptions=result.assumptions,
                        figures={"wasted_share": share},
                        suggestion=Suggestion(_suggestion(site), before={"wasted_share": share}),
                    )


def _subject(site: Arithmetic) -> str:
    name = site.names[0]
    subjects: dict[ArithmeticKind, str] = {
        "division": f"a division of integers by `{name}`, which only the launch knows,",
        "power": f"`{name}`",
        "function": f"`{name}` in a loop",
    }
    return subjects[site.kind]


def _suggestion(site: Arithmetic) -> str:
    if site.kind == "power":
        return f"write {site.alternative if site.alternative.startswith('a ') else f'`{site.alternative}`'}"
    if site.kind == "function":
        return f"`{site.alternative}` takes a few instructions, if its error is small enough here (-use_fast_math)"
    return f"count along in the loop, make `{site.names[0]}` a constant, or let the host compute a multiplier for it"
