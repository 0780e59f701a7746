"""CL704: memory of the host that a kernel reads over the bus more than once."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import Access, AccessResult, Buffer, KernelFacts
from cudalint.numerals import figure
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import WITH_FIGURES, is_estimate, is_repeat


class ZeroCopyAccess(Rule):
    """Mapped memory of the host that a kernel reads again and again, or in pieces of sectors.

    What it does
        Looks at launches that are given pinned memory of the host, itself or by `cudaHostGetDevicePointer`, and reports
        accesses of the kernel to it that move more than the threshold times the bytes that the lanes want, or that
        come to the array's elements more than once.

    Why is this bad
        Every request goes over the bus to the host: 32 GB/s at most by PCIe 4.0, of 1,555 that an A100's own memory
        gives. That is worth it for what is read once and in full sectors, and for nothing else.

    Example
        cudaHostAlloc(&h, bytes, cudaHostAllocMapped);
        cudaHostGetDevicePointer(&d, h, 0);
        columns<<<grid, block>>>(d, out, n);            // in[threadIdx.x * n]: a sector for every float

    Use instead
        cudaMemcpyAsync(copy, h, bytes, cudaMemcpyHostToDevice, stream);
        columns<<<grid, block, 0, stream>>>(copy, out, n);
    """

    code = "CL704"
    name = "zero-copy-access"
    severity = "warning"
    summary = "memory of the host that a kernel reads over the bus more than once"
    by_hand = "a copy needs memory of its own and its free"
    reads = frozenset({"host", "accesses"})
    thresholds = {"excess": 1.5, "times": 2.0}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        for array, buffer in _mapped(kernel, context).items():
            for access in kernel.accesses:
                if access.array == array and access.space == "global":
                    for result in access.results:
                        if result.status in WITH_FIGURES and not is_estimate(result) and not is_repeat(result):
                            yield from self._of(kernel, access, result, buffer, limits["excess"], limits["times"])

    def _of(
        self, kernel: KernelFacts, access: Access, result: AccessResult, buffer: Buffer, excess: float, times: float
    ) -> Iterator[Diagnostic]:
        sectors, ideal = result.sectors_per_request or 0.0, result.ideal_sectors or 1.0
        read = _times(access, result)
        if sectors < excess * ideal and (read is None or read < times):
            return
        what = (
            f"moves {figure(sectors)} sectors per request, ideal {figure(ideal)}"
            if sectors >= excess * ideal
            else f"comes to each element {figure(read or 0.0)} times"
        )
        yield self.finding(
            kernel,
            place=access.place,
            message=f"`{access.array}` is memory of the host, and this {what}, over the bus each time",
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"sectors_per_request": sectors, "ideal_sectors": ideal, "times": read or 1.0},
            related=(Related(buffer.place, "allocated here"),),
            suggestion=Suggestion(f"copy `{buffer.name}` to the device first"),
        )


def _mapped(kernel: KernelFacts, context: RuleContext) -> dict[str, Buffer]:
    """By the name of a parameter: the host's memory that a launch gives for it."""
    found: dict[str, Buffer] = {}
    for step in context.file.host.launches if context.file.host is not None else ():
        if step.kernel != kernel.name:
            continue
        for position, buffer in step.buffers.items():
            if buffer.pages in ("pinned", "mapped") and position < len(kernel.parameters):
                found[kernel.parameters[position].name] = buffer
    return found


def _times(access: Access, result: AccessResult) -> float | None:
    """How often the lanes come to each of the bytes between the first and the last one that they touch."""
    if result.offset_range is None or result.requests is None or access.operation != "load":
        return None
    first, end = result.offset_range
    lanes = result.requests * (result.active_lanes or 0.0)
    return lanes * access.bytes / (end - first) if end > first else None
