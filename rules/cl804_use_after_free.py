"""CL804: memory that is used after it has been released."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import HostFault, KernelFacts
from cudalint.hostkit import before, faults_of, made, memory
from cudalint.rule import Rule, RuleContext


class UseAfterFree(Rule):
    """Memory that a kernel, a copy, the host or another release uses after its release.

    What it does
        Follows pointers of host code to `cudaFree`, `cudaFreeHost`, `free` and `delete`, and reports what is done with
        their memory afterwards, if it was released on every way that leads there: launches, copies, reads and writes,
        and a second release. Of loops the second iteration is looked at as well.

    Why is this bad
        The memory may belong to somebody else by then, or to nobody: a kernel ends with an illegal address, or changes
        data of others.

    Example
        cudaFree(d);
        cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);

    Use instead
        cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);
        cudaFree(d);

    What is not reported
        - What is released on some ways only.
        - `cudaFreeAsync`, whose memory lives as long as its stream says.
    """

    code = "CL804"
    name = "use-after-free"
    severity = "error"
    summary = "memory that is used after it has been released"
    by_hand = "where memory is released is up to the program"
    reads = frozenset({"host_faults"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for fault in faults_of(context, "freed-before"):
            again = fault.by in _RELEASING
            yield self.finding(
                None,
                place=fault.place,
                message=_message(fault, again),
                related=(*before(fault, f"`{fault.before_by}` releases it here"), *made(fault)),
                suggestion=Suggestion("leave out one of both" if again else "release it after its last use"),
                about=fault.name,
            )


_RELEASING = ("cudaFree", "cudaFreeHost", "free", "operator delete")


def _message(fault: HostFault, again: bool) -> str:
    if again:
        return f"`{fault.name}` is released for the second time: it is {memory(fault)}"
    who = f"`{fault.by}` uses" if fault.by else "the host uses"
    return f"{who} `{fault.name}` after `{fault.before_by}` has released it: it is {memory(fault)}"
