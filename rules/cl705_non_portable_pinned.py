"""CL705: pinned memory that is used with several devices and was allocated for one."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.rule import Rule, RuleContext


class NonPortablePinned(Rule):
    """Pinned memory without `cudaHostAllocPortable` in a program for several devices.

    What it does
        Reports pinned allocations that the copies of the file use, if the host code chooses between devices with
        `cudaSetDevice`, and the allocation doesn't say that it is for all of them.

    Why is this bad
        Pinned memory is pinned for the device that is current when it is allocated. To another one it may be pageable
        memory, whose copies are slow and not asynchronous.

    Why it is off by default
        Where all devices share one address space, which 64-bit programs have had since CUDA 4.0, all pinned memory is
        portable anyway. The flag only says what is meant.

    Example
        cudaMallocHost(&h, bytes);
        for (int d = 0; d < devices; d++) {
            cudaSetDevice(d);
            cudaMemcpyAsync(parts[d], h + d * part, part * sizeof(float), cudaMemcpyHostToDevice, streams[d]);
        }

    Use instead
        cudaHostAlloc(&h, bytes, cudaHostAllocPortable);
    """

    code = "CL705"
    name = "non-portable-pinned"
    severity = "info"
    summary = "pinned memory for several devices that was allocated for one"
    by_hand = "which devices use the memory is up to the program"
    reads = frozenset({"host"})
    on_by_default = False

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        host = context.file.host
        if host is None or not host.device_choices:
            return
        copied = {copy.buffer.place for copy in host.copies}
        for buffer in host.buffers:
            if buffer.pages in ("pinned", "mapped") and not buffer.is_portable and buffer.place in copied:
                yield self.finding(
                    None,
                    place=buffer.place,
                    message=f"`{buffer.name}` is pinned for the current device only, and the program uses several",
                    related=(Related(host.device_choices[0], "a device is chosen here"),),
                    suggestion=Suggestion("allocate it with `cudaHostAlloc(..., cudaHostAllocPortable)`"),
                )
