"""Where the static shared variables of a kernel lie, by which the assembler merges accesses to different ones."""

from __future__ import annotations

from cudalint.codegen.indices import code_of
from cudalint.codegen.unread import unread
from cudalint.evaluate.requests.execution import Execution
from cudalint.interpreter.device.memory import alignment
from cudalint.ir import nodes as ir


def shared_layout(execution: Execution) -> dict[ir.Symbol, int]:
    """Where the shared arrays of a kernel start in the block's shared memory, in bytes.

    Measured (fixtures/misaligned-vector-access/layout.json) and read from the machine code of some thirty kernels with
    two to six variables of 1 to 16 bytes (nvcc 13.0, sm_80): in the order of their declaration, each at the next
    multiple of its own alignment; and whatever is `extern` at a multiple of 16 behind them. What nobody reads takes no
    room. Where other functions declare shared arrays too, their order is not known, and nothing is said.
    """
    dropped = unread(execution)
    named = {node.symbol for node in code_of(execution.function).nodes if isinstance(node, ir.Name)}
    arrays = sorted((s for s in named.union(execution.variables) if s.storage == "shared"), key=lambda s: s.span)
    path, line, _, end_line, _ = execution.function.span
    inside = all(s.span.path == path and line <= s.span.line <= end_line for s in arrays)
    layout: dict[ir.Symbol, int] = {}
    end = 0
    for symbol in arrays if inside else ():
        if symbol in dropped:
            continue
        align = max(symbol.align, alignment(symbol.type))
        end = -(-end // align) * align
        layout[symbol] = end
        end += symbol.type.bytes
    return layout
