"""CL605: functions and quotients of floating-point numbers for which there is a faster and less accurate way."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import Arithmetic, ArithmeticResult, KernelFacts
from cudalint.fixes.obstacles import edited
from cudalint.launchkit import percent
from cudalint.rule import Rule, RuleContext


class ApproximateArithmetic(Rule):
    """A function or a quotient of floating-point numbers in a loop that an approximation would do.

    What it does
        Counts the instructions of functions of floats in loops for which there is an intrinsic, and of divisions of
        floating-point numbers in loops by a constant that is no power of two, and reports those that take more of what
        a warp executes in the kernel than the threshold beyond what the faster way takes.

    Why is this bad
        `sinf` takes 26 instructions and `__sinf` 2, with an error that grows with the argument. `x / 3.0f` takes 9
        instructions and `x * (1.0f / 3.0f)` one, which rounds twice.

    Why it is off by default
        The error is for the author to judge.

    Example
        for (int i = 0; i < n; i++)
            sum += sinf(x * i) / 3.0f;

    Use instead
        for (int i = 0; i < n; i++)
            sum += __sinf(x * i) * (1.0f / 3.0f);
    """

    code = "CL605"
    name = "approximate-arithmetic"
    severity = "info"
    summary = "functions and quotients for which there is a faster, less accurate way"
    by_hand = "the faster way rounds otherwise"
    is_waste = True
    reads = frozenset({"arithmetic"})
    on_by_default = False
    thresholds = {"share": 0.1}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = self.limits(context)["share"]
        for site in kernel.arithmetic:
            if site.kind not in ("function", "quotient") or not site.in_loop:
                continue
            for result in site.results:
                share = min(1.0, result.saved / result.instructions) if result.instructions else 0.0
                if share >= least:
                    yield self._diagnostic(kernel, site, result, share, context)

    def _diagnostic(
        self, kernel: KernelFacts, site: Arithmetic, result: ArithmeticResult, share: float, context: RuleContext
    ) -> Diagnostic:
        from cudalint.fixes.arithmetic_edits import arithmetic_edits, sine_and_cosine

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
    if site.kind == "function":
        return f"`{site.names[0]}` in a loop"
    return f"a division in a loop by `{site.names[0]}`, a constant,"


def _suggestion(site: Arithmetic) -> str:
    if site.kind == "quotient":
        return f"multiply by `{site.alternative}`, which the compiler computes, if it may round otherwise"
    return f"`{site.alternative}` takes a few instructions, if its error is small enough here (-use_fast_math)"
