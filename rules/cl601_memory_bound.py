"""CL601: kernels that move more bytes than they compute with."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts, LaunchCost
from cudalint.hardware.targets import Target
from cudalint.launchkit import percent
from cudalint.numerals import figure
from cudalint.rule import Rule, RuleContext


class MemoryBound(Rule):
    """A kernel whose time is that of its DRAM traffic.

    What it does
        Divides the floating-point operations of a launch by the bytes that go to DRAM and come from it. Where that
        arithmetic intensity is under the target's ridge, and the time model says that DRAM binds the launch, the rule
        reports the intensity and what of the peak it allows.

    Why is this bad
        It is not by itself: a sum of two vectors does one operation for 12 bytes, and nothing changes that. An A100
        does 19.5 * 10^12 operations per second on floats and moves 1.56 * 10^12 bytes, so that a kernel with under 12.5
        operations per byte leaves its arithmetic idle; more of it is free, and only fewer bytes make it faster.

    Why it is off by default
        Most kernels are bound by memory, and for most of them that is how it should be.

    Example
        out[i] = a[i] + b[i];           // 1/12 operations per byte

    Use instead
        out[i] = act(a[i] + b[i]);      // what the next kernel would have done with out[i]

        Do in one kernel what several do to the same data, keep what is used again in shared memory or registers, and
        store narrower types (`half` instead of `float` is half of the bytes).
    """

    code = "CL601"
    name = "memory-bound"
    severity = "info"
    summary = "kernels whose time is that of their DRAM traffic"
    guide = ("roofline",)
    by_hand = "it takes another algorithm"
    reads = frozenset({"costs"})
    judges_by_target = True
    on_by_default = False

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for cost in kernel.costs or ():
            intensity, ridge = cost.arithmetic_intensity, cost.ridge
            if cost.bound == "dram" and intensity is not None and ridge is not None and 0.0 < intensity < ridge:
                yield self._diagnostic(kernel, cost, intensity, ridge, context.target)

    def _diagnostic(
        self, kernel: KernelFacts, cost: LaunchCost, intensity: float, ridge: float, target: Target
    ) -> Diagnostic:
        return self.finding(
            kernel,
            place=kernel.name_place,
            message=(
                f"{figure(intensity)} floating-point operations per byte of DRAM traffic, under the {figure(ridge)} at "
                f"which {target.name} is busy: at most {percent(intensity / ridge)} of its peak"
            ),
            launches=(kernel.launches[cost.launch],),
            assumptions=cost.assumptions,
            figures={"intensity": intensity, "ridge": ridge},
            suggestion=Suggestion("move fewer bytes: fuse it with what comes before or after, or store narrower types"),
        )
