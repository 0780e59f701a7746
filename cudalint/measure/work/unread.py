"""Shared variables that a kernel stores to and never reads: the compiler drops them with all that is stored there.

Read from the machine code of twelve kernels (nvcc 13.0, sm_86 and sm_90): plain stores to a static shared variable that
nobody reads are gone, in loops and before barriers too. They stay if any part of the variable is read (another field,
another row), if an atomic changes it, whose result may be unused, or if it is `volatile` or dynamic.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import walk

_UNREAD = heuristic("unread-variables", "SASS of twelve kernels: what nobody reads is not stored")


def unread(function: ir.Function) -> frozenset[ir.Symbol]:
    """The static shared variables of a kernel's own of which its code names elements, fields or all of them as what it
    assigns to, and in no other way: neither is anything read there, nor does the address go elsewhere."""
    if not _UNREAD.is_on:
        return frozenset()
    nodes = walk.nodes_in(function)
    own = {node.symbol for node in nodes if isinstance(node, ir.Declare) and node.symbol.storage == "shared"}
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
