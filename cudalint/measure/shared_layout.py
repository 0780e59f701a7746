"""Where the static shared variables of a kernel lie, by which the assembler merges accesses to different ones."""

from __future__ import annotations

from cudalint.execute.trace import Trace
from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts
from cudalint.worlds.origins import Code


def shared_layout(kernel: ir.Function, trace: Trace) -> dict[ir.Symbol, int]:
    """Where the shared arrays of a kernel start in the block's shared memory, in bytes.

    Measured (fixtures/misaligned-vector-access/layout.json) and read from the machine code of some thirty kernels with
    two to six variables of 1 to 16 bytes (nvcc 13.0, sm_80): in the order of their declaration, each at the next
    multiple of its own alignment; and whatever is `extern` at a multiple of 16 behind them. What nobody reads takes no
    room. Where other functions declare shared arrays too, their order is not known, and nothing is said.
    """
    nodes = Code.of(kernel).nodes
    dropped = unread(nodes)
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


def unread(nodes: tuple[object, ...]) -> frozenset[ir.Symbol]:
    """The shared variables that a kernel stores to and never reads: the compiler drops them with all that is stored
    there.

    Read from the machine code of twelve kernels (nvcc 13.0, sm_86 and sm_90): plain stores to a static shared variable
    that nobody reads are gone, in loops and before barriers too. They stay if any part of the variable is read (another
    field, another row), or if an atomic changes it, whose result may be unused.
    """
    roots = {id(name) for node in nodes if isinstance(node, ir.Assign) and (name := _assigned(node)) is not None}
    own = {node.symbol for node in nodes if isinstance(node, ir.Declare)}
    named: set[ir.Symbol] = set()
    otherwise: set[ir.Symbol] = set()
    for node in nodes:
        if isinstance(node, ir.Name) and node.symbol.storage == "shared":
            (named if id(node) in roots else otherwise).add(node.symbol)
    return frozenset((named & own) - otherwise)


def _assigned(assignment: ir.Assign) -> ir.Name | None:
    """The variable of whose memory a part is assigned to, without a look at what is there."""
    target = assignment.target
    while isinstance(target, ir.Index) or (isinstance(target, ir.Member) and not target.arrow):
        target = without_casts(target.base)
    return target if isinstance(target, ir.Name) and not assignment.op else None


def alignment(type_: ir.Type) -> int:
    """The alignment, in bytes, that the compiler knows an object of this type to have."""
    if isinstance(type_, ir.RecordType):
        return max(type_.align, 1)
    if isinstance(type_, ir.ArrayType):
        return alignment(type_.element)
    return max(type_.bytes, 1)
