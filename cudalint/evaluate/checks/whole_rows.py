"""Whether a kernel goes through its rows in whole vectors, so that it is written for rows that consist of such.

`for (i = 4 * t; i < n; i += 4 * threads) { float4 v = row[i / 4]; … }`: with a rest it would not only start rows off
their alignment, but go beyond the end of each. What lengths there are is up to callers, who are taken to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cudalint.evaluate.requests.views import LaunchView
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Uniform, bits_of, without_cast
from cudalint.values.polynomial import terms_of
from cudalint.values.residues import Residues


@heuristic("whole-vectors", "labelled findings of two draws of unused repositories").otherwise(False)
def is_for_whole_vectors(
    event: AccessEvent, size: Node, divisor: int, graph: Graph, others: Iterable[Node] = ()
) -> bool:
    """Whether an access is made as far as a size goes, in steps of this many elements or multiples, and the size comes
    from outside as it is: no quotient of two others, and none that the program's own command line gives. What stands
    once for each row is no vector of it; then the `others` count, which are the conditions of the whole kernel."""
    parts = [factor for monomial in terms_of(graph, size) for factor in monomial]
    if not parts or not all(_is_from_outside(part, graph) for part in parts):
        return False
    own = _about(event.context.conditions, parts, graph)
    if own:
        # Where room is left for a rest, one is reckoned with: `if (i + 3 < n)` in such a loop.
        return all(_is_whole_step(each, divisor, graph) for each in own) and _are_bounded(own, parts)
    steps = [each for each in _about(others, parts, graph) if _is_whole_step(each, divisor, graph)]
    return _are_bounded(steps, parts)


def _about(conditions: Iterable[Node], parts: Sequence[Node], graph: Graph) -> list[Node]:
    """The conditions that compare threads or iterations with some sizes."""
    bits = bits_of(parts)
    return [each for each in conditions if each.bits & bits and each.bits & ~graph.uniform_bits]


def _are_bounded(steps: Iterable[Node], parts: Sequence[Node]) -> bool:
    bits = bits_of(steps)
    return all(part.bits & bits for part in parts)


def _is_whole_step(condition: Node, divisor: int, graph: Graph) -> bool:
    """`4 * t < n`, but not `4 * t < n - 3`."""
    residues = Residues()
    return any(
        residues.of(place).is_multiple_of(divisor) and _is_product(without_cast(bound), graph)
        for place, bound in _below((condition,))
    )


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


def _is_product(node: Node, graph: Graph) -> bool:
    """Whether a bound is a product of sizes: `n - 3` leaves room for the last vector."""
    terms = terms_of(graph, node)
    return len(terms) == 1 and () not in terms and not node.bits & ~graph.uniform_bits


def _is_from_outside(size: Node, graph: Graph) -> bool:
    """`columns`, `columns / 2`, or `columns * bits / 8`."""
    size = without_cast(size)
    while size.op in ("/", ">>", "*", "<<") and size.args[1].is_const:
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
