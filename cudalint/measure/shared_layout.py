"""Where the static shared variables of a kernel lie, by which the assembler merges accesses to different ones."""

from __future__ import annotations

from cudalint.execute.trace import Trace
from cudalint.ir import nodes as ir
from cudalint.measure.work.unread import unread
from cudalint.worlds.origins import Code


def shared_layout(kernel: ir.Function, trace: Trace) -> dict[ir.Symbol, int]:
    """Where the shared arrays of a kernel start in the block's shared memory, in bytes.

    Measured (fixtures/misaligned-vector-access/layout.json) and read from the machine code of some thirty kernels with
    two to six variables of 1 to 16 bytes (nvcc 13.0, sm_80): in the order of their declaration, each at the next
    multiple of its own alignment; and whatever is `extern` at a multiple of 16 behind them. What nobody reads takes no
    room. Where other functions declare shared arrays too, their order is not known, and nothing is said.
    """
    nodes = Code.of(kernel).nodes
    dropped = unread(kernel)
    touched = {event.allocation.symbol for event in trace.accesses if event.allocation.symbol is not None}
    named = {node.symbol for node in nodes if isinstance(node, ir.Name)}
    arrays = sorted((s for s in named | touched if s.storage == "shared"), key=lambda s: s.span)
    path, line, _, end_line, _ = kernel.span
    if not all(s.span.path == path and line <= s.span.line <= end_line for s in arrays):
        return {}
    layout: dict[ir.Symbol, int] = {}
    end = 0
    for symbol in arrays:
        if symbol in dropped:
            continue
        align = max(symbol.align, alignment(symbol.type))
        end = -(-end // align) * align
        layout[symbol] = end
        end += symbol.type.bytes
    return layout


def bytes_of_shared(kernel: ir.Function) -> dict[ir.Symbol, int]:
    """Of the static shared variables that a kernel and what it calls name."""
    names = (node.symbol for node in Code.of(kernel).nodes if isinstance(node, ir.Name))
    return {symbol: symbol.type.bytes for symbol in names if symbol.storage == "shared"}


def alignment(type_: ir.Type) -> int:
    """The alignment, in bytes, that the compiler knows an object of this type to have."""
    if isinstance(type_, ir.RecordType):
        return max(type_.align, 1)
    if isinstance(type_, ir.ArrayType):
        return alignment(type_.element)
    return max(type_.bytes, 1)
