"""Which nodes of a graph lie on every way from its root to another one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def immediate_dominators(successors: Mapping[Node, Iterable[Node]], root: Node) -> dict[Node, Node]:
    """Of each node that is reached from the root, the last one before it that all ways from the root to it pass; the
    root has none.

    By Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001): dominators are refined in an order in
    which nodes mostly come behind those that lead to them, until nothing changes.
    """
    order = list(_last_to_first(successors, root))[::-1]
    number = {node: position for position, node in enumerate(order)}
    before: dict[Node, list[Node]] = {node: [] for node in order}
    for node in order:
        for after in successors.get(node, ()):
            before[after].append(node)
    found: dict[Node, Node] = {root: root}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            candidates = [each for each in before[node] if each in found]
            meeting = candidates[0]
            for other in candidates[1:]:
                meeting = _meeting(meeting, other, found, number)
            if found.get(node) != meeting:
                found[node] = meeting
                changed = True
    del found[root]
    return found


def _meeting(one: Node, other: Node, found: Mapping[Node, Node], number: Mapping[Node, int]) -> Node:
    """The last node that dominates both, as far as is known."""
    while one != other:
        if number[one] > number[other]:
            one = found[one]
        else:
            other = found[other]
    return one


def _last_to_first(successors: Mapping[Node, Iterable[Node]], root: Node) -> Iterator[Node]:
    """Each node that is reached, when all that is reached from it first has been named."""
    seen = {root}
    ways = [(root, iter(successors.get(root, ())))]
    while ways:
        node, rest = ways[-1]
        following = next((each for each in rest if each not in seen), None)
        if following is None:
            yield node
            ways.pop()
        else:
            seen.add(following)
            ways.append((following, iter(successors.get(following, ()))))
