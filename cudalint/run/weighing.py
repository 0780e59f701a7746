"""Which findings of waste are too small to be reported: what their causes take as a whole decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FindingCost, KernelCost
from cudalint.hardware.cost.findings import cost_of_all
from cudalint.report.findings.causes import of_one_cause
from cudalint.report.findings.showing import too_little


def weighed_together(diagnostics: Sequence[Diagnostic], share: float) -> list[Diagnostic]:
    """Findings that are minor by themselves are not where those that are reported with them, in one launch of a kernel,
    take `share` of it together. Copies of one piece of code are not looked for: they stand in kernels of their own."""
    weighed = list(diagnostics)
    for group in of_one_cause(diagnostics):
        if len(group) > 1 and any(weighed[number].held_back == "small" for number in group):
            sure = [(number, weighed[number]) for number in group if weighed[number].held_back in (None, "small")]
            for number in _reaching(sure, share):
                weighed[number] = replace(weighed[number], held_back=None)
    return weighed


def _reaching(group: Sequence[tuple[int, Diagnostic]], share: float) -> Iterator[int]:
    """The findings of a group in whose kernels it takes enough."""
    launches: list[tuple[KernelCost, list[tuple[int, FindingCost]]]] = []
    for number, diagnostic in group:
        cost = diagnostic.cost
        if cost is None or cost.kernel is None:
            continue
        same = next((found for kernel, found in launches if kernel == cost.kernel), None)
        if same is None:
            launches.append((cost.kernel, [(number, cost)]))
        else:
            same.append((number, cost))
    first = group[0][1] if group else None
    for kernel, found in launches:
        cost = cost_of_all(kernel, [cost for _, cost in found])
        if first is not None and len(found) > 1 and too_little(first, cost, share) is None:
            yield from (number for number, _ in found)
