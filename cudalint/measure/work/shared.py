"""Shared variables: which a kernel stores to and never reads, and where the others lie.

Read from the machine code of twelve kernels (nvcc 13.0, sm_86 and sm_90): plain stores to a static shared variable that
nobody reads are gone, in loops and before barriers too. They stay if any part of the variable is read (another field,
another row), if an atomic changes it, whose result may be unused, or if it is `volatile` or dynamic."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.execute.trace import Trace
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.worlds.origins import Code

_UNREAD = heuristic("unread-variables", "SASS of twelve kernels: what nobody reads is not stored")


def unread(function: ir.Function) -> frozenset[ir.Symbol]:
    """The static shared variables of a kernel's own of which its code names elements, fields or all of them as what it
    assigns to, and in no other way: neither is anything read there, nor does the address go elsewhere."""
    if not _UNREAD.is_on:
        return frozenset()
    nodes = walk.nodes_in(function)
    own = {node.symbol for node in nodes if isinstance(node, st.Declare) and node.symbol.storage == "shared"}
    roots = set(_roots(nodes, function.volatile))
    named = [node for node in nodes if isinstance(node, ir.Name) and node.symbol in own]
    captured = {each.symbol for node in nodes if isinstance(node, ir.Lambda) for each in node.captures}
    otherwise = {name.symbol for name in named if id(name) not in roots}
    return frozenset({name.symbol for name in named} - otherwise - captured)


def _roots(nodes: Iterable[object], volatile: Iterable[ir.Span]) -> Iterable[int]:
    """The variables of whose memory a part is assigned to, without a look at what is there."""
    verbatim = frozenset(volatile)
    for node in nodes:
        if isinstance(node, ir.Assign) and not node.op and node.target.span not in verbatim:
            target = walk.without_casts(node.target)
            while isinstance(target, (ir.Index, ir.Member)) and not _reads_pointer(target):
                target = walk.without_casts(target.base)
            if isinstance(target, ir.Name):
                yield id(target)


def _reads_pointer(place: ir.Index | ir.Member) -> bool:
    """Whether it is a pointer that says where the place is."""
    if isinstance(place, ir.Member):
        return place.arrow
    return not isinstance(walk.without_casts(place.base).type, ir.ArrayType)


# --- where static shared variables lie -----------------------------------------------------------------


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
