"""ACME101: kernels that don't say how large their blocks get."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts, LaunchFacts
from cudalint.hardware.targets import Target
from cudalint.rule import Rule, RuleContext

_LARGEST_BLOCK = 1024
_REGISTER_STEP = 8
_VISIBLE = ("launch-site", "annotation", "config")


class NoLaunchBounds(Rule):
    """A kernel that is launched with small blocks and has no `__launch_bounds__`.

    What it does
        Compares the largest block of the launches in sight with what the compiler has to provide for, and reports a
        kernel that could have more registers per thread if it said how large its blocks get.

    Why is this bad
        Without `__launch_bounds__` the compiler keeps the registers low enough for a block of 1024 threads: 64 of the
        65,536 for each. A kernel that needs more spills them to memory, although a block of 256 threads could have
        255 each (a 256th, which would fit, no instruction can name).

    Example
        __global__ void heavy(float *data) { ... }
        heavy<<<blocks, 256>>>(data);

    Use instead
        __global__ void __launch_bounds__(256) heavy(float *data) { ... }
        heavy<<<blocks, 256>>>(data);
    """

    code = "ACME101"
    name = "no-launch-bounds"
    severity = "info"
    summary = "kernels that don't say how large their blocks get"
    thresholds = {"gain": 2.0}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = {**self.thresholds, **context.thresholds}
        if kernel.resources.max_threads is not None or not kernel.launches:
            return
        if any(launch.source not in _VISIBLE for launch in kernel.launches):
            return
        largest = max(kernel.launches, key=_threads)
        now, possible = _registers(context.target, _LARGEST_BLOCK), _registers(context.target, _threads(largest))
        if possible >= limits["gain"] * now:
            yield self._diagnostic(kernel, largest, now, possible)

    def _diagnostic(self, kernel: KernelFacts, launch: LaunchFacts, now: int, possible: int) -> Diagnostic:
        threads = _threads(launch)
        return self.finding(
            kernel,
            place=kernel.name_place,
            message=f"blocks have {threads} threads, and the compiler provides for 1024: {now} registers per thread",
            launches=(launch,),
            figures={"registers": now, "possible_registers": possible},
            suggestion=Suggestion(f"`__launch_bounds__({threads})` lets it take up to {possible}"),
        )


def _threads(launch: LaunchFacts) -> int:
    x, y, z = launch.block
    return x * y * z


def _registers(target: Target, threads: int) -> int:
    """Registers per thread with which a block of so many threads can be launched (CUDA C++ Programming Guide,
    "Launch Bounds")."""
    each = target.registers_per_block // threads // _REGISTER_STEP * _REGISTER_STEP
    return min(each, target.max_registers_per_thread)
