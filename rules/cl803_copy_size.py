"""CL803: copies and fills of other sizes than their memory has."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import HostFault, KernelFacts
from cudalint.hostkit import faults_of, made
from cudalint.rule import Rule, RuleContext


class CopySize(Rule):
    """A copy that goes on behind its memory, or that has elements where bytes are meant.

    What it does
        Compares the bytes of `cudaMemcpy`, `cudaMemset` and their relatives with those that were allocated, as sums and
        products of the sizes that both name. Reported is what goes on behind the end for all sizes; what has as many
        bytes as there are elements; and `sizeof(p)` of a pointer.

    Why is this bad
        Behind the end of an allocation lies other memory: the call fails, or overwrites it. Elements for bytes leave
        most of an array as it was.

    Example
        cudaMalloc(&d, n * sizeof(float));
        cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);

    Use instead
        cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);

    What is not reported
        - Sizes that nothing in sight sets in relation to one another: `m * sizeof(float)` of `n * sizeof(float)`.
        - Parts of an allocation, but for those that are as many bytes as it has elements.
    """

    code = "CL803"
    name = "copy-size"
    severity = "error"
    summary = "copies and fills of other sizes than their memory has"
    by_hand = "which size is meant is up to the program"
    reads = frozenset({"host_faults"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for fault in faults_of(context, "beyond", "elements", "size-of-pointer"):
            yield self.finding(
                None, place=fault.place, message=_message(fault), related=made(fault),
                suggestion=Suggestion(_remedy(fault)), about=fault.name,
            )  # fmt: skip


def _message(fault: HostFault) -> str:
    sizes = f"{fault.asked} bytes of {fault.held}"
    if fault.kind == "beyond":
        return f"`{fault.by}` goes on behind `{fault.name}`: {sizes}"
    if fault.kind == "elements":
        return f"`{fault.by}` has the elements of `{fault.name}` where bytes are meant: {sizes}"
    return f"`{fault.by}` has the size of the pointer `{fault.name}`, {sizes}"


def _remedy(fault: HostFault) -> str:
    if fault.kind == "beyond":
        return "allocate as many bytes, or copy fewer"
    if fault.kind == "elements":
        return f"multiply by `sizeof(*{fault.name})`" if fault.name.isidentifier() else "multiply by the element's size"
    return "name the size of what it leads to"
