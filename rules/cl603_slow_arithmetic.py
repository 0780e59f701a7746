"""CL603: divisions, powers and functions for which there is a faster way."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import Arithmetic, ArithmeticKind, ArithmeticResult, KernelFacts
from cudalint.fixes.arithmetic_edits import arithmetic_edits, sine_and_cosine
from cudalint.fixes.obstacles import edited
from cudalint.launchkit import percent
from cudalint.rule import Rule, RuleContext


class SlowArithmetic(Rule):
    """A division of integers, a power or a function of floats that takes much of what a kernel executes.

    What it does
        Counts the instructions of divisions and remainders of integers by a number that only the launch knows, of
        `pow` with an exponent of 2, 3, 4 or 0.5, of functions of floats in loops for which there is an intrinsic, and
        of divisions of floating-point numbers in loops by a constant that is no power of two, and reports those that
        take more of what a warp executes in the kernel than the threshold beyond what the faster way takes.

    Why is this bad
        The hardware divides no integers: a division by a number that the compiler doesn't know takes 22 instructions,
        one by a constant 4, a shift 1. `powf(x, 2.0f)` takes 72 and `x * x` one. `sinf` takes 26 and `__sinf` 2, with
        an error that grows with the argument. `x / 3.0f` takes 9 instructions and `x * (1.0f / 3.0f)` one, which
        rounds twice.

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
        least = self.limits(context)["share"]
        for site in kernel.arithmetic:
            if site.kind == "double" or (site.kind != "power" and not site.in_loop):
                continue
            for result in site.results:
                share = min(1.0, result.saved / result.instructions) if result.instructions else 0.0
                if share >= least:
                    yield self._diagnostic(kernel, site, result, share, context)

    def _diagnostic(
        self, kernel: KernelFacts, site: Arithmetic, result: ArithmeticResult, share: float, context: RuleContext
    ) -> Diagnostic:
        functions = [each for each in kernel.arithmetic if each.kind == "function"] if site.kind == "function" else []
        both = sine_and_cosine(site, functions, context.text_of)
        words = "`sincosf` computes both of this angle at little more than one" if both else _suggestion(site)
        advice = Suggestion(words, before={"wasted_share": share}, rewrites=True)
        return self.finding(
            kernel,
            place=site.place,
            message=f"{_subject(site)} takes {percent(share)} of what a warp executes in this kernel",
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"wasted_share": share},
            suggestion=edited(advice, lambda: both or arithmetic_edits(site, context.text_of), "unsafe"),
        )


def _subject(site: Arithmetic) -> str:
    name = site.names[0]
    subjects: dict[ArithmeticKind, str] = {
        "division": f"a division of integers by `{name}`, which only the launch knows,",
        "power": f"`{name}`",
        "function": f"`{name}` in a loop",
        "quotient": f"a division in a loop by `{name}`, a constant,",
    }
    return subjects[site.kind]


def _suggestion(site: Arithmetic) -> str:
    if site.kind == "power":
        return f"write {site.alternative if site.alternative.startswith('a ') else f'`{site.alternative}`'}"
    if site.kind == "quotient":
        return f"multiply by `{site.alternative}`, which the compiler computes, if it may round otherwise"
    if site.kind == "function":
        return f"`{site.alternative}` takes a few instructions, if its error is small enough here (-use_fast_math)"
    return f"count along in the loop, make `{site.names[0]}` a constant, or let the host compute a multiplier for it"
