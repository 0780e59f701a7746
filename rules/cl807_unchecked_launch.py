"""CL807: launches of which nobody asks whether they failed."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts
from cudalint.hostkit import faults_of
from cudalint.rule import Rule, RuleContext


class UncheckedLaunch(Rule):
    """A file that launches kernels and never calls `cudaGetLastError`.

    What it does
        Reports the first launch of a file whose host code calls neither `cudaGetLastError` nor `cudaPeekAtLastError`.

    Why is this bad
        A launch gives no error back. One that asks for too many threads, or for too much shared memory, does nothing,
        and the program goes on with what was there before.

    Why it is off by default
        A program that is right has no errors to look at, and others look at them in one place for many files.

    Example
        work<<<blocks, 2048>>>(d, n);

    Use instead
        work<<<blocks, 2048>>>(d, n);
        cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess)
            fprintf(stderr, "%s\n", cudaGetErrorString(error));
    """

    code = "CL807"
    name = "unchecked-launch"
    severity = "info"
    summary = "launches of which nobody asks whether they failed"
    by_hand = "what to do about an error is up to the program"
    reads = frozenset({"host_faults"})
    on_by_default = False

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for fault in faults_of(context, "unchecked"):
            yield self.finding(
                None,
                place=fault.place,
                message=f"nothing in this file asks whether `{fault.by}` could be launched",
                suggestion=Suggestion("call `cudaGetLastError` after it"),
            )
