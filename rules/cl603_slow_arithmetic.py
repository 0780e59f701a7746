"""CL603: divisions of integers and powers for which there is a faster way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import Arithmetic, ArithmeticResult, KernelFacts
from cudalint.fixes.obstacles import edited
from cudalint.launchkit import percent
from cudalint.rule import Rule, RuleContext

_NAMED = 3
"""Divisors that the message lists."""


class SlowArithmetic(Rule):
    """Divisions of integers, or a power, that take much of what a kernel executes.

    What it does
        Counts the instructions of divisions and remainders of integers by numbers that the compiler doesn't know, all
        of a kernel together, and of `pow` with an exponent of 2, 3, 4 or 0.5, and reports those that take more of what
        a warp executes in the kernel than the threshold beyond what the faster way takes.

    Why is this bad
        The hardware divides no integers: a division by a number that the compiler doesn't know takes 22 instructions,
        one by a constant 4, a shift 1. A sum in shared memory that asks for `tid % (2 * k) == 0` in each step took
        161 us on an H200 for 16 million floats, and 81 us with `(tid & (2 * k - 1)) == 0`. `powf(x, 2.0f)` takes 72
        instructions and `x * x` one.

    Example
        for (int i = 0; i < n; i++)
            sum += table[i % width] * powf(x, 2.0f);

    Use instead
        for (int i = 0, k = 0; i < n; i++, k = k + 1 < width ? k + 1 : 0)
            sum += table[k] * (x * x);

        Where the divisor is a power of two, `a & (k - 1)` is `a % k` of what is not negative; where it is one of a few,
        make it a template's parameter; where it is the same for all threads, let the host compute its multiplier and
        shift once.

    What is not reported
        - What takes less than 10% of its kernel's time, as the time model has it: many kernels that divide wait for
          memory meanwhile (`--min-share`).
        - Divisors that threads or turns of a loop have of their own, as in Euclid's algorithm, but for powers of two:
          no host could compute a multiplier for them.
        - What a thread computes once beside a loop over sizes or data that nothing in sight determines.
        - Divisions of floating-point numbers, and functions whose faster way has another error: CL605 tells of these.
    """

    code = "CL603"
    name = "slow-arithmetic"
    severity = "info"
    summary = "divisions of integers and powers that take much of a kernel"
    by_hand = "the faster way rounds otherwise, or takes a change of the loop or of the host"
    is_waste = True
    reads = frozenset({"arithmetic", "branches"})
    thresholds = {"share": 0.1}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = self.limits(context)["share"]
        divisions: dict[int, list[tuple[Arithmetic, ArithmeticResult]]] = {}
        for site in kernel.arithmetic:
            for result in site.results:
                if result.is_sized:
                    continue
                if site.kind == "division":
                    divisions.setdefault(result.launch, []).append((site, result))
                elif site.kind == "power" and 1 > (share := share_of(result)) >= least:
                    yield self._of_power(kernel, site, result, share, context)
        for found in divisions.values():
            share = min(1.0, sum(share_of(result) for _, result in found))
            if share >= least:
                yield self._of_divisions(kernel, found, share)

    def _of_power(
        self, kernel: KernelFacts, site: Arithmetic, result: ArithmeticResult, share: float, context: RuleContext
    ) -> Diagnostic:
        from cudalint.fixes.arithmetic_edits import arithmetic_edits

        written = site.alternative if site.alternative.startswith("a ") else f"`{site.alternative}`"
        advice = Suggestion(f"write {written}", before={"wasted_share": share}, rewrites=True)
        return self.finding(
            kernel,
            place=site.place,
            message=f"`{site.names[0]}` takes {percent(share)} of what a warp executes in this kernel",
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"wasted_share": share},
            suggestion=edited(advice, lambda: arithmetic_edits(site, context.text_of), "unsafe"),
        )

    def _of_divisions(
        self, kernel: KernelFacts, found: Sequence[tuple[Arithmetic, ArithmeticResult]], share: float
    ) -> Diagnostic:
        """All of one launch, where the one stands that takes most."""
        most, result = max(found, key=lambda each: each[1].saved)
        sites = [site for site, own in found if share_of(own)]
        divisors = tuple(dict.fromkeys(name for site in (most, *sites) for name in site.names))
        return self.finding(
            kernel,
            place=most.place,
            message=f"{_subject(len(sites), divisors)} {percent(share)} of what a warp executes in this kernel",
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"wasted_share": share, "special_operations": sum(own.special for _, own in found)},
            related=tuple(Related(site.place, "another one") for site in sites if site is not most),
            suggestion=Suggestion(_suggestion(kernel, most, result), before={"wasted_share": share}, rewrites=True),
        )


def _parts_lanes(kernel: KernelFacts, site: Arithmetic, launch: int) -> bool:
    """Whether the remainder says which lanes of a warp do something, in the condition of a branch: other threads could
    do it, as CL401 says of some."""
    return any(
        branch.kind == "if"
        and branch.place.path == site.place.path
        and branch.place[1:3] <= site.place[1:3] <= branch.place[3:5]
        and any(each.launch == launch and each.verdict == "divergent" for each in branch.results)
        for branch in kernel.branches or ()
    )


def share_of(result: ArithmeticResult) -> float:
    """Of what a warp executes in the kernel, what the faster way doesn't take."""
    return min(1.0, result.saved / result.instructions) if result.instructions else 0.0


def _subject(number: int, divisors: tuple[str, ...]) -> str:
    if number == 1:
        return f"a division of integers by `{divisors[0]}`, which is no constant, takes"
    names = ", ".join(f"`{name}`" for name in divisors[:_NAMED])
    by = names if len(divisors) <= _NAMED else f"{names} and others"
    are = "which is no constant" if len(divisors) == 1 else "which are no constants"
    return f"{number} divisions of integers by {by}, {are}, take"


def _suggestion(kernel: KernelFacts, site: Arithmetic, result: ArithmeticResult) -> str:
    divisor = site.names[0]
    if site.in_loop and _parts_lanes(kernel, site, result.launch):
        return (
            "give the work to neighbouring threads, which takes no division (`if (t < k)` with a `k` that is halved), "
            f"or mask (`a & (k - 1)` for `a % k`) where `{divisor}` is a power of two"
        )
    if not site.in_loop:
        return f"make `{divisor}` a constant, or let the host compute a multiplier and a shift for it"
    return (
        f"count along in the loop, make `{divisor}` a constant, let the host compute a multiplier for it, or mask "
        "(`a & (k - 1)` for `a % k`) where it is a power of two"
    )
