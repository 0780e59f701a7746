"""CL802: copies whose direction contradicts their pointers."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import HostFault, KernelFacts
from cudalint.hostkit import faults_of, made, memory
from cudalint.rule import Rule, RuleContext


class CopyDirection(Rule):
    """A copy that says one direction and has pointers for another one.

    What it does
        Looks at the kind of `cudaMemcpy` and its relatives, and at where their pointers come from: `malloc`, variables,
        `cudaMalloc`. Reported are sources and targets that don't lie on the side that the kind says, memory of the host
        that `cudaMemset` is given, and copies between a `__constant__` or `__device__` variable and memory of the
        device without a kind that says so.

    Why is this bad
        The call fails with `cudaErrorInvalidValue` and copies nothing; nobody notices unless somebody asks for it. With
        source and target exchanged, results are overwritten by what was there before.

    Example
        cudaMemcpy(d, h, bytes, cudaMemcpyDeviceToHost);

    Use instead
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);

    What is not reported
        - `cudaMemcpyDefault`, which takes the direction from the pointers.
        - Managed and mapped memory, which is on both sides.
    """

    code = "CL802"
    name = "copy-direction"
    severity = "error"
    summary = "copies whose direction contradicts their pointers"
    by_hand = "whether the kind or the order of the pointers is meant is up to the program"
    reads = frozenset({"host_faults"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for fault in faults_of(context, "direction"):
            yield self.finding(
                None, place=fault.place, message=_message(fault), related=made(fault),
                suggestion=Suggestion(_remedy(fault)), about=fault.name,
            )  # fmt: skip


def _message(fault: HostFault) -> str:
    what = f"`{fault.name}` is {memory(fault)}"
    if fault.held == "filled":
        return f"`{fault.by}` fills memory of the device, and {what}"
    if fault.held == "symbol":
        return f"`{fault.by}` copies from and to memory of the host unless told otherwise, and {what}"
    if fault.held == "both":
        return f"this is a `{fault.asked}` whose pointers are the other way round: the target `{what[1:]}"
    return f"this is a `{fault.asked}`, and its {fault.held} {what}"


def _remedy(fault: HostFault) -> str:
    if fault.held == "filled":
        return "use `memset`"
    if fault.held == "symbol":
        return "name the kind, `cudaMemcpyDeviceToDevice`"
    if fault.held == "both":
        return "name the other kind, or exchange target and source"
    if fault.space == "symbol":
        return "use `cudaMemcpyToSymbol` or `cudaMemcpyFromSymbol`"
    return "name the kind that the pointers have"
