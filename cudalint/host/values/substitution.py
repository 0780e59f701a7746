"""Nodes with other nodes in the place of leaves: rebuilt, and so simplified, where they depend on one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cudalint.host.values.nodes import Node, Reason, own_bit
from cudalint.host.values.operations import OPERATIONS

if TYPE_CHECKING:
    from cudalint.host.values.graph import Graph

_MOST_MEMOS = 16
"""Substitutions of which is remembered what they made of nodes."""


class Substitutions:
    """What substitutions made of the nodes of one graph. The graph is passed each time: a cycle of references
    would keep its nodes in memory until a worker collects garbage, which it does between files only."""

    def __init__(self) -> None:
        self._memos: dict[tuple[tuple[int, int], ...], dict[int, Node]] = {}
        """By what was put for what: the results, by the indices of nodes."""

    def forget(self) -> None:
        self._memos.clear()

    def substitute(self, graph: Graph, node: Node, bindings: Mapping[Node, Node]) -> Node:
        touched = _touched(bindings)
        return _applied(graph, node, touched, self._memo_of(bindings)) if node.bits & touched else node

    def _memo_of(self, bindings: Mapping[Node, Node]) -> dict[int, Node]:
        """What was made of nodes with these bindings: at the end of a loop all variables are replaced by the same, one
        by one, and consist of the same parts."""
        key = tuple((leaf.index, value.index) for leaf, value in bindings.items())
        memo = self._memos.pop(key, None)
        if memo is None:
            memo = {leaf.index: value for leaf, value in bindings.items()}
        self._memos[key] = memo
        while len(self._memos) > _MOST_MEMOS:
            del self._memos[next(iter(self._memos))]
        return memo


def _applied(graph: Graph, node: Node, touched: int, memo: dict[int, Node]) -> Node:
    """`node` with what `memo` has for its leaves; what comes of the nodes on the way is kept there."""
    if not node.bits & touched:
        return node
    done = memo.get(node.index)
    if done is None:
        args: list[Node] = []
        for arg in node.args:
            # Most of what goes into a value is untouched, or known, and needs no call.
            known = memo.get(arg.index) if arg.bits & touched else arg
            args.append(known or _applied(graph, arg, touched, memo))
        done = memo[node.index] = _rebuilt(graph, node, tuple(args))
    return done


def _rebuilt(graph: Graph, node: Node, args: tuple[Node, ...]) -> Node:
    """The same operation on other arguments."""
    op = node.op
    if op in OPERATIONS:
        return graph.binary(op, args[0], args[1], node.kind)
    if op == "opaque":
        assert isinstance(node.payload, Reason)
        return graph.opaque(node.payload, args, node.kind)
    if op == "select":
        return graph.select(args[0], args[1], args[2])
    if op == "cast":
        return graph.convert(args[0], node.kind)
    if op == "!":
        return graph.negate(args[0])
    if op == "function":
        return graph.function(str(node.payload), args[0], node.kind)
    if op == "pick":
        return graph.pick(args[0], args[1:])
    if op == "trips":
        assert isinstance(node.payload, Node)
        return graph.trips(node.payload, args[0])
    return node


def _touched(bindings: Iterable[Node]) -> int:
    """The bits of all nodes that depend on what is replaced."""
    touched = 0
    for leaf in bindings:
        touched |= own_bit(leaf) or leaf.bits
    return touched
