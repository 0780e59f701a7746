"""CL303: barriers that order nothing."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts, Place
from cudalint.rule import Rule, RuleContext


class RedundantBarrier(Rule):
    """A barrier without which every access is in the same order.

    What it does
        Takes the barrier out of the evaluated kernel and looks whether any two threads then touch the same bytes of
        shared or global memory in one barrier interval, unless both only read. A barrier is reported where that never
        happens, under every launch in sight and in every instantiation of the kernel; of two barriers that do the same
        work one is reported. The suggested edit takes out the call, where that is a statement of its own in a block.

    Why is this bad
        All warps of the block wait for the slowest one, for nothing. A barrier at the end of a kernel, after the last
        store, and two barriers with nothing between them are the usual cases.

    Example
        s[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = s[blockDim.x - 1 - threadIdx.x];
        __syncthreads();

    Use instead
        s[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = s[blockDim.x - 1 - threadIdx.x];

    What is not reported
        - Kernels that do anything besides arithmetic and accesses to arrays: surfaces, textures, `printf`, `assert`,
          memory that is allocated in the kernel, memory fences, what is `volatile`, atomics on global memory, a clock,
          asynchronous copies, named barriers, inline assembly, launches of further kernels, and functions of which
          nothing is known. What barriers order there is not followed. Nor is a barrier told that depends on data.
        - Barriers between accesses whose addresses depend on data, and between accesses to different arrays in global
          memory, which may be one and the same array.
        - Kernels with a barrier that some threads don't come to, or may not (CL302): the order there is not known.
        - Kernels that could not be evaluated in full, under each of their launches (CL902).
        - Launches of a single warp, and kernels of which no launch is in sight: other blocks may need the barrier.
        - Barriers in functions that kernels share, and those whose vote is used (`__syncthreads_or`).
    """

    code = "CL303"
    name = "redundant-barrier"
    severity = "info"
    summary = "barriers that order nothing"
    guide = ("barriers",)
    by_hand = "the barrier is no statement of its own"
    reads = frozenset({"barriers"})
    is_waste = True

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        if not kernel.barriers:
            return
        instances = [other for other in context.file.kernels if other.name_place == kernel.name_place]
        for barrier in kernel.barriers:
            if all(_is_redundant(barrier.place, instance) for instance in instances):
                launches = tuple(kernel.launches[result.launch] for result in barrier.results)
                yield self.finding(
                    kernel,
                    place=barrier.place,
                    message="this barrier orders nothing: no two threads touch the same bytes before and after it",
                    launches=launches,
                    suggestion=_removal(barrier.place, context),
                )


def _removal(place: Place, context: RuleContext) -> Suggestion:
    from cudalint.fixes.deletions import deletion

    edits = deletion(context.text_of(place.path), place)
    return Suggestion("remove it", edits, applicability="safe" if edits else "display")


def _is_redundant(place: Place, kernel: KernelFacts) -> bool:
    """Whether an instance of a kernel was evaluated in full, and takes no barrier at a place under any of its launches.
    """
    if any(gap.kind != "races" for gap in kernel.gaps):
        return False
    results = [result for barrier in kernel.barriers or () if barrier.place == place for result in barrier.results]
    tried = {result.launch for result in results if result.redundant}
    return all(result.redundant for result in results) and len(tried) == len(kernel.launches)
