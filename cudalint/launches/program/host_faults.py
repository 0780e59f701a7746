"""What a file's host code does with memory that can't be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cudalint.facts import HostFault, Place
from cudalint.frontend.source_text import Spellings
from cudalint.host.memory.analysis import Analysis, analysed
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.system.processes.deadline import Deadline

_OF_MEMORY: Final = frozenset({
    "cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaMallocPitch", "cudaMemcpy",
    "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync", "cudaFree", "cudaFreeHost", "cudaMemcpyToSymbol",
    "cudaMemcpyFromSymbol",
})  # fmt: skip
"""What functions name that have something to do with memory of the device; others are looked at if they launch."""
_REACHING: Final = frozenset({"cudaHostRegister", "pageableMemoryAccess", "cudaDevAttrPageableMemoryAccess"})
"""What programs name in which kernels may reach memory that the host allocated."""
_CHECKING: Final = frozenset({"cudaGetLastError", "cudaPeekAtLastError"})


def host_faults(functions: Sequence[ir.FunctionRef], spellings: Spellings, until: Deadline) -> tuple[HostFault, ...]:
    """Those of a file with these host functions."""
    different: dict[tuple[ir.Span, str], ir.FunctionRef] = {}
    for ref in functions:
        different.setdefault((ref.span, ref.name), ref)
    named = [(ref, ref.names()) for ref in different.values()]
    looked_at = [ref for ref, names in named if names & _OF_MEMORY or ref.has_launch()]
    if not looked_at:
        return ()

    analysis = Analysis(spellings.of, until)
    analysis.registers = any(names & _REACHING for _, names in named)
    loaded = [function for ref in looked_at if (function := ref.load()) is not None]
    found = analysed(analysis, loaded)
    if any(names & _CHECKING for _, names in named):
        return tuple(found)
    return (*found, *_unchecked(loaded))


def _unchecked(functions: Sequence[ir.Function]) -> Iterator[HostFault]:
    """The first launch of a file in which nobody asks whether one failed."""
    launches = [node for function in functions for node in walk.nodes_in(function) if isinstance(node, ir.Launch)]
    if launches:
        first = min(launches, key=lambda node: node.span)
        name = first.kernel.name if first.kernel is not None else "a kernel"
        yield HostFault("unchecked", Place(*first.span), name, name)
