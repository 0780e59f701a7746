"""The lines of calls, where a profiler lists the first instruction of what was inlined there.

nvcc's line table gives the first instruction of an inlined function two rows: its own line's, and the line's of the
call. Nsight Compute lists the instruction at both. Which one comes first is the scheduler's choice: of 121 calls of
functions with accesses in HeCBench and cuda-samples (nvcc 13.0, line tables of sm_90), 44 lines had an access, mostly
the first one of its space.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from cudalint.facts import Access, FileFacts, KernelFacts, Place
from cudalint.rulekit import is_repeat


def with_call_lines(facts: FileFacts) -> FileFacts:
    """The facts, with a second entry for the first access of each space in an inlined function: at the call's line."""
    return replace(facts, kernels=tuple(_with_calls(kernel) for kernel in facts.kernels))


def _with_calls(kernel: KernelFacts) -> KernelFacts:
    return replace(kernel, accesses=(*kernel.accesses, *_at_calls(kernel)))


def _at_calls(kernel: KernelFacts) -> Iterator[Access]:
    # A line with accesses of its own says already what it does; what is inlined there would be mixed with them.
    taken = {(a.place.path, a.position[0], a.space) for a in kernel.accesses}
    reached = [a for a in kernel.accesses if any(result.status != "unreached" for result in a.results)]
    # Of a load that the compiler leaves out, nothing is there to be listed.
    for access in sorted(reached, key=lambda a: all(map(is_repeat, a.results))):
        for depth, call in enumerate(access.inlined_from):
            at = (call.path, call.line, access.space)
            if at not in taken:
                taken.add(at)
                place = Place(call.path, call.line, 1, call.line, 1)
                outer = access.inlined_from[depth + 1 :]
                yield replace(access, place=place, compiled_at=None, inlined_from=outer, made_by=None)
