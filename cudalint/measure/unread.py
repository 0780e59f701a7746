"""Shared variables that a kernel stores to and nobody reads: the compiler drops these stores.

Read from nvcc's code (13.0, sm_86): a static variable's stores are gone if nothing of it is read, no other element or
field either, no atomic changes it, it is not `volatile`, and its address goes nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection

from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir.walk import nodes_in, without_casts
from cudalint.measure.effects import functions_in
from cudalint.measure.machine_accesses import MachineSite, SiteKey


@heuristic("unread-variables", "nvcc 13.0: stores to a shared variable that nobody reads are gone").otherwise(
    frozenset()
)
def unread_variables(kernel: ir.Function) -> frozenset[ir.Symbol]:
    """Those of a kernel and of what it calls; none where not all of the text is understood."""
    functions = list(functions_in(kernel))
    if any(function.problems for function in functions):
        return frozenset()
    stored: dict[ir.Symbol, None] = {}
    plain: set[int] = set()
    kept: set[ir.Symbol] = set()
    nodes = [node for function in functions for node in nodes_in(function)]
    for node in nodes:
        name = stored_variable(node.target) if isinstance(node, ir.Assign) and not node.op else None
        if name is not None and name.symbol.storage == "shared":
            stored[name.symbol] = None
            plain.add(id(name))
            if node.target.span in kernel.volatile:
                kept.add(name.symbol)
        elif isinstance(node, (ir.UnknownExpr, ir.UnknownStmt)):
            return frozenset()
    kept |= {node.symbol for node in nodes if isinstance(node, ir.Name) and id(node) not in plain}
    return frozenset(stored) - kept


def stored_variable(place: ir.Expr) -> ir.Name | None:
    """The variable of which a place is a part, where getting there reads none."""
    inner = without_casts(place)
    while isinstance(inner, (ir.Index, ir.Member)):
        base = without_casts(inner.base)
        is_pointer = inner.arrow if isinstance(inner, ir.Member) else not isinstance(base.type, ir.ArrayType)
        if is_pointer:
            return None
        inner = base
    return inner if isinstance(inner, ir.Name) else None


def dropped(key: SiteKey, site: MachineSite, unread: Collection[ir.Symbol]) -> MachineSite:
    """What the compiler makes of an access, where nobody reads some variables."""
    node, _, operation, _ = key
    name = stored_variable(node) if operation == "store" and isinstance(node, (ir.Index, ir.Member, ir.Name)) else None
    if name is None or name.symbol not in unread:
        return site
    return MachineSite((), site.copies, f"nobody reads `{name.symbol.name}`, so that the compiler drops the store")
