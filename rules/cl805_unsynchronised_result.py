"""CL805: results that are used before anybody has waited for them."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import HostFault, KernelFacts
from cudalint.hostkit import before, faults_of, made, memory
from cudalint.rule import Rule, RuleContext


class UnsynchronisedResult(Rule):
    """The host, or another stream, uses what the device may not have finished by then.

    What it does
        Follows launches and asynchronous copies to what waits for them. Reported are reads and writes of managed or
        pinned memory that a kernel has been launched to write, or that a copy in flight writes or reads; and work of
        one stream that uses an array which another stream copies as a whole, or copies one that a kernel of another
        stream writes, if no event orders both.

    Why is this bad
        A launch returns before the kernel begins. What the host reads then is what was there before, or a part of the
        result; it is right as long as nobody has a faster host or a slower device.

    Example
        cudaMallocManaged(&m, bytes);
        fill<<<blocks, 256>>>(m, n);
        printf("%f\n", m[0]);

    Use instead
        fill<<<blocks, 256>>>(m, n);
        cudaDeviceSynchronize();
        printf("%f\n", m[0]);

    What is not reported
        - Asynchronous copies to pageable memory, which return when they have ended.
        - Reads in conditions of loops and of `volatile` memory, by which a host waits.
        - Copies of parts of an array, and anything after a function out of sight, which may wait.
    """

    code = "CL805"
    name = "unsynchronised-result"
    severity = "error"
    summary = "results that are used before anybody has waited for them"
    by_hand = "what to wait for, and how long, is up to the program"
    reads = frozenset({"host_faults"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for fault in faults_of(context, "not-waited-for", "other-stream"):
            what = "launched" if not fault.before_by.startswith("cuda") else "begun"
            yield self.finding(
                None,
                place=fault.place,
                message=_message(fault),
                related=(*before(fault, f"`{fault.before_by}` is {what} here"), *made(fault)),
                suggestion=Suggestion(_remedy(fault)),
                about=fault.name,
            )


def _message(fault: HostFault) -> str:
    if fault.kind == "other-stream":
        return (
            f"`{fault.by}` in `{fault.asked}` uses `{fault.name}`, of `{fault.before_by}` in `{fault.held}`, and "
            "nothing orders both streams"
        )
    who = f"`{fault.by}` on the host" if fault.by else "the host"
    return f"{who} {fault.asked} `{fault.name}` while `{fault.before_by}` may use it: it is {memory(fault)}"


def _remedy(fault: HostFault) -> str:
    if fault.kind == "other-stream":
        return "record an event in the first stream and let the other one wait for it, or use one stream"
    return "call `cudaDeviceSynchronize`, or `cudaStreamSynchronize` for its stream, before"
