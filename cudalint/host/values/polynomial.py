"""Integer values as sums of others with factors."""

from __future__ import annotations

from cudalint.host.values.nodes import Node, Uniform

Linear = tuple[frozenset[tuple[Node, int]], int]
"""Values with their factors, and a constant that is added."""

_MAX_STEPS = 64


def linear(offset: Node) -> Linear:
    """An integer value as a sum: `(2 * t + 1) * 4` is 8 * t, and 4. Equal bases mean neighbours at a fixed distance."""
    factors: dict[Node, int] = {}
    constant, steps = 0, 0
    pending = [(offset, 1)]
    while pending:
        node, factor = pending.pop()
        steps += 1
        op, args = node.op, node.args
        if node.is_const:
            constant += int(node.value) * factor
        elif steps > _MAX_STEPS:
            factors[node] = factors.get(node, 0) + factor
        elif op == "cast" and not args[0].kind.is_float and node.kind.bytes >= 4:
            pending.append((args[0], factor))
        elif op in ("+", "-"):
            pending += [(args[0], factor), (args[1], factor if op == "+" else -factor)]
        elif op == "*" and (args[0].is_const or args[1].is_const):
            known, other = args if args[0].is_const else (args[1], args[0])
            pending.append((other, factor * int(known.value)))
        elif op == "<<" and args[1].is_const and 0 <= args[1].value < 32:
            pending.append((args[0], factor << int(args[1].value)))
        else:
            factors[node] = factors.get(node, 0) + factor
    return frozenset(item for item in factors.items() if item[1]), constant


def is_address(node: Node) -> bool:
    """Whether a uniform value stands for the address of an allocation."""
    return isinstance(node.payload, Uniform) and node.payload.name.startswith("&")
