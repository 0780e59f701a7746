"""CL806: memory that each iteration allocates and releases."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import HostFault, KernelFacts
from cudalint.hostkit import before, faults_of
from cudalint.rule import Rule, RuleContext


class AllocationInLoop(Rule):
    """`cudaMalloc` and `cudaFree` of the same size in each iteration of a loop.

    What it does
        Reports `cudaMalloc` in a loop of the host whose memory is released before the iteration ends, if the size is
        the same in each of them.

    Why is this bad
        `cudaMalloc` and `cudaFree` take tens of microseconds or more, and `cudaFree` waits for all that the device
        does: it is idle between iterations.

    Example
        for (int i = 0; i < batches; i++) {
            cudaMalloc(&d, bytes);
            work<<<blocks, 256>>>(d, i);
            cudaFree(d);
        }

    Use instead
        cudaMalloc(&d, bytes);
        for (int i = 0; i < batches; i++)
            work<<<blocks, 256>>>(d, i);
        cudaFree(d);

    What is not reported
        Loops whose iterations launch kernels in a loop of their own, as a benchmark does for each of some sizes: there,
        an allocation is a small part. All that one loop allocates is one finding.
    """

    code = "CL806"
    name = "allocation-in-loop"
    severity = "info"
    summary = "memory that each iteration allocates and releases"
    by_hand = "who releases the memory after the loop is up to the program"
    reads = frozenset({"host_faults"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for fault in faults_of(context, "allocated-again"):
            yield self._finding(fault)

    def _finding(self, fault: HostFault) -> Diagnostic:
        return self.finding(
            None,
            place=fault.place,
            message=f"each iteration of the loop in line {fault.held} allocates and releases `{fault.name}`",
            related=before(fault, f"`{fault.before_by}` releases it here"),
            suggestion=Suggestion("allocate it once, before the loop"),
            about=fault.name,
            causes=(f"{fault.place.path}: the loop in line {fault.held}",),
        )
