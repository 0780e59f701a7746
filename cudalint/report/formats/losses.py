"""The kernels that lose most by what was found in them: a few lines before all findings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from msgspec import Struct, field

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FindingCost, KernelCost
from cudalint.hardware.cost.findings import cost_of_all
from cudalint.numerals import count, dimensions
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.results import CheckResult
from cudalint.report.formats import costs

_MOST_KERNELS = 5
_LEAST = 0.01
"""Of a kernel's time, what its findings have to take for it to be among those that lose most."""

_FACTOR = 1.25
"""From which on a gain is given as a factor."""


class Loss(Struct):
    """The findings about one kernel that cost most in one of its launches."""

    kernel: KernelCost
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def all(self) -> FindingCost:
        return cost_of_all(self.kernel, [d.cost for d in self.findings if d.cost is not None])

    @property
    def saved(self) -> float:
        """Microseconds of one launch, as the time model has them."""
        return self.kernel.time_us * (self.all.share or 0.0)

    @property
    def weight(self) -> tuple[float, float, float]:
        """By which kernels are ranked: what goes away of the time that was recorded, or else of the time model's, or
        which part, where nothing in sight says how long the kernel takes."""
        part = self.all.share or 0.0
        return self.kernel.launch.recorded_total_us * part, 0.0 if self.kernel.is_nominal else self.saved, part

    @property
    def gain(self) -> str:
        """`4.2x faster without its 3 findings`."""
        findings = "its finding" if len(self.findings) == 1 else f"its {count(len(self.findings), 'finding')}"
        return f"{self.brings} without {findings}"

    @property
    def brings(self) -> str:
        """`4.2x faster`, `12% less`."""
        speedup = self.all.speedup or 1.0
        return f"{speedup:.2g}x faster" if speedup >= _FACTOR else f"{costs.share(1 - 1 / speedup)} less"


def losses(diagnostics: Iterable[Diagnostic]) -> list[Loss]:
    """Of each kernel the launch in which its findings take most time, the most first: of the time that was recorded,
    and after those the ones for which there is the time model alone."""
    found: dict[Hashable, list[Loss]] = {}
    for diagnostic in diagnostics:
        if diagnostic.cost is None or diagnostic.cost.kernel is None:
            continue
        kernel = diagnostic.cost.kernel
        of_kernel = found.setdefault((diagnostic.place.path, diagnostic.kernel), [])
        own = next((each for each in of_kernel if each.kernel == kernel), None)
        if own is None:
            own = Loss(kernel)
            of_kernel.append(own)
        own.findings.append(diagnostic)
    worst = (max(each, key=lambda loss: loss.weight) for each in found.values())
    losing = (each for each in worst if each.saved >= _LEAST * each.kernel.time_us)
    return sorted(losing, key=lambda loss: loss.weight, reverse=True)


def kernels(result: CheckResult) -> Iterator[str]:
    """A few lines about the kernels that lose most; none where none loses any."""
    found = losses(everything_in(result.diagnostics))
    if not found:
        return
    by = "by the time that was recorded" if any(loss.weight[0] for loss in found) else "as the time model has it"
    yield f"Kernels that lose most, {by}:"
    yield from map(_line, found[:_MOST_KERNELS])
    if len(found) > _MOST_KERNELS:
        yield f"  and {count(len(found) - _MOST_KERNELS, 'more kernel')}"


def _line(loss: Loss) -> str:
    """`  transpose, block 32, grid 64x64: about 110 us on a100, bound by L2; 4.2x faster without its 3 findings`."""
    kernel, launch, first = loss.kernel, loss.kernel.launch, loss.findings[0]
    where = f"{first.instantiation or first.kernel}, block {dimensions(launch.block)}"
    if kernel.is_nominal:
        return f"  {where}: {_takes(kernel)}; {loss.gain}; {costs.how_long(kernel)}"
    grid = f"{'assumed ' if launch.grid_is_assumed else ''}grid {dimensions(launch.grid)}{costs.for_sizes(kernel)}"
    return f"  {where}, {grid}: {_takes(kernel)}; {loss.gain}"


def _takes(kernel: KernelCost) -> str:
    """`31% of the recorded time, 12.3 us a launch (about 9.8 us on a100, bound by L2, as the time model has it)`."""
    if kernel.is_nominal:
        return f"{costs.bound_by(kernel.bound)} on {kernel.target}"
    estimate = costs.estimate(kernel.time_us, kernel.target, kernel.bound)
    recorded, time = kernel.launch.recorded, kernel.launch.recorded_us
    if recorded is None or time is None:
        return estimate
    share = f"{costs.share(recorded.share)} of the recorded time, " if recorded.share is not None else "recorded as "
    return f"{share}{costs.measured(time)} a launch ({estimate}, as the time model has it)"
