"""The number that a value has once the numbers of what it is computed from are known."""

from __future__ import annotations

from cudalint.host.values.arithmetic import Number, wrap
from cudalint.host.values.nodes import Node
from cudalint.host.values.operations import OPERATIONS, fold


def number(node: Node, known: dict[int, Number | None]) -> Number | None:
    """The number of a value, as substitution would come to it, but without a node for every step. `known` has those of
    some nodes, by index, and gets those on the way; None where the arithmetic of constants does not tell it."""
    if node.is_const:
        return node.value
    if node.index not in known:
        known[node.index] = _computed(node, known)
    return known[node.index]


def _computed(node: Node, known: dict[int, Number | None]) -> Number | None:
    op, args = node.op, node.args
    if op in OPERATIONS:
        a, b = number(args[0], known), number(args[1], known)
        return None if a is None or b is None else wrap(fold(op, a, b, node.kind), node.kind)
    if op not in ("!", "cast", "select"):
        return None
    first = number(args[0], known)
    if first is None:
        return None
    if op == "select":
        return number(args[1] if first else args[2], known)
    return int(not first) if op == "!" else wrap(first, node.kind)
