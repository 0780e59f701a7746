"""Whether a kernel goes through its rows in whole vectors, so that it is written for rows that consist of such.

`for (i = 4 * t; i < n; i += 4 * threads) { float4 v = row[i / 4]; … }`: with a rest it would not only start rows off
their alignment, but go beyond the end of each. What lengths there are is up to callers, who are taken to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudalint.evaluate.requests.views import LaunchView
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Uniform, without_cast
from cudalint.values.polynomial import terms_of
from cudalint.values.residues import Residues


@heuristic("whole-vectors", "labelled findings of two draws of unused repositories").otherwise(False)
def is_for_whole_vectors(event: AccessEvent, size: Node, divisor: int, graph: Graph) -> bool:
    """Whether an access is made as far as a size goes, in steps of this many elements or multiples, and the size comes
    from outside as it is: no quotient of two others, and none that the program's own command line gives."""
    parts = [factor for monomial in terms_of(graph, size) for factor in monomial]
    if not parts or not all(_is_from_outside(part, graph) for part in parts):
        return False
    residues = Residues()
    compared = [without_cast(b) for a, b in _below(event.context.conditions) if _steps(residues, a, divisor)]
    return all(any(part.bits & b.bits and _is_product(b, graph) for b in compared) for part in parts)


def _below(conditions: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """What is below something else where all conditions hold."""
    for condition in conditions:
        while condition.op == "!=" and condition.args[1].is_const and not condition.args[1].value:
            # A predicate of inline PTX.
            condition = without_cast(condition.args[0])
        if condition.op == "<":
            yield condition.args[0], condition.args[1]
        elif condition.op == "!" and condition.args[0].op == "<=":
            yield condition.args[0].args[1], condition.args[0].args[0]


def _steps(residues: Residues, place: Node, divisor: int) -> bool:
    return residues.of(place).is_multiple_of(divisor)


def _is_product(node: Node, graph: Graph) -> bool:
    """Whether a bound is a product of sizes: `n - 3` leaves room for the last vector."""
    terms = terms_of(graph, node)
    return len(terms) == 1 and () not in terms and not node.bits & ~graph.uniform_bits


def _is_from_outside(size: Node, graph: Graph) -> bool:
    """`columns`, or `columns / 2`."""
    size = without_cast(size)
    while size.op in ("/", ">>") and size.args[1].is_const:
        size = without_cast(size.args[0])
    return isinstance(size.payload, Uniform) and graph.choice(size).basis != "program"


def asked_multiples(view: LaunchView) -> set[int]:
    """What sizes are asked to be multiples of in front of a launch: `if (n % 8 != 0) return;`."""
    found: set[int] = set()
    for guard in view.guards:
        condition = guard.args[0] if guard.op == "!" else guard
        if condition.op != ("!=" if guard.op == "!" else "=="):
            continue
        for rest, number in (condition.args, condition.args[::-1]):
            rest = without_cast(rest)
            if rest.op == "%" and rest.args[1].is_const and number.is_const and not number.value:
                found.add(int(rest.args[1].value))
    return found
