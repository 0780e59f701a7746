"""CL801: memory that whoever uses it can't reach."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import HostFault, KernelFacts
from cudalint.hostkit import faults_of, made, memory
from cudalint.rule import Rule, RuleContext


class WrongMemorySpace(Rule):
    """A kernel that is given memory of the host, or a host that reads, writes or frees memory of the device.

    What it does
        Follows pointers of host code from `cudaMalloc`, `malloc`, `new`, `std::vector` and variables to where they are
        used, through branches and calls of functions in sight. Reported are arguments of launches that lead to memory
        of the host which is not pinned, and `d[i]`, `*d`, `memcpy` and the like where `d` leads to memory of the
        device, or names a `__device__` variable; and memory that is released by a function that knows nothing of it,
        as `free` of what `cudaMalloc` gave.

    Why is this bad
        Host and device have address spaces of their own. A kernel that reads a pointer of the host ends with an illegal
        address, and the host with a segmentation fault. The name of a `__device__` variable is in host code that of a
        copy, which the device never sees.

    Example
        float *h = (float *)malloc(n * sizeof(float));
        scale<<<blocks, 256>>>(h, n);

    Use instead
        float *d;
        cudaMalloc(&d, n * sizeof(float));
        cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
        scale<<<blocks, 256>>>(d, n);

    What is not reported
        - Pointers that come from functions out of sight, or from other memory on another way.
        - Managed, pinned and registered memory, which both reach.
        - Memory of the host in files that call `cudaHostRegister` or ask for `pageableMemoryAccess`: on systems with
          one page table for all, kernels read it.
    """

    code = "CL801"
    name = "wrong-memory-space"
    severity = "error"
    summary = "memory that whoever uses it can't reach"
    by_hand = "which memory is meant is up to the program"
    reads = frozenset({"host_faults"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for fault in faults_of(context, "passed-to-kernel", "touched-by-host", "freed-by-other"):
            yield self.finding(
                None,
                place=fault.place,
                message=_message(fault),
                related=made(fault),
                suggestion=Suggestion(_remedy(fault)),
                about=fault.name,
            )


def _message(fault: HostFault) -> str:
    if fault.kind == "passed-to-kernel" and fault.space == "symbol":
        of_host = "a variable of the device, whose name in host code is no address of it"
        return f"`{fault.by}` is given `{fault.name}`, {of_host}"
    if fault.kind == "passed-to-kernel":
        return f"`{fault.by}` is given `{fault.name}`, which is {memory(fault)}: kernels can't reach it"
    if fault.kind == "freed-by-other":
        return f"`{fault.by}` is given `{fault.name}`, which is {memory(fault)}, and releases none such"
    who = f"`{fault.by}` on the host" if fault.by else "the host"
    return f"{who} {fault.asked} `{fault.name}`, which is {memory(fault)}: the host can't reach it"


def _remedy(fault: HostFault) -> str:
    if fault.kind == "freed-by-other":
        by = {"malloc": "free", "calloc": "free", "realloc": "free", "new": "delete", "cudaMalloc": "cudaFree"}
        pinned = {"cudaMallocHost": "cudaFreeHost", "cudaHostAlloc": "cudaFreeHost", "cudaMallocManaged": "cudaFree"}
        name = (by | pinned).get(fault.made_by)
        return f"release it with `{name}`" if name else "leave its memory to who owns it"
    if fault.space == "symbol":
        if fault.kind == "passed-to-kernel":
            return f"name `{fault.name}` in the kernel, or pass what `cudaGetSymbolAddress` says"
        return "copy it with `cudaMemcpyFromSymbol` or `cudaMemcpyToSymbol`"
    if fault.kind == "passed-to-kernel":
        return "copy it to memory of the device and pass that, or allocate it with `cudaMallocManaged`"
    return "copy it with `cudaMemcpy` to memory of the host, or allocate it with `cudaMallocManaged`"
