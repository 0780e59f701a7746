"""Sizes that a kernel has limits for: `if (width > MAX_WIDTH || layers > MAX_LAYERS) return;`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from cudalint.evaluate.symbolic.assumptions import holds
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import GRANULE, Node, Uniform, without_cast, without_not


def settle_limits(
    graph: Graph, alive: Iterable[Node], reached: Collection[Node], guards: Iterable[Node]
) -> tuple[Node, ...]:
    """Gives sizes generic values with which a kernel does its work, as large as its limits let them be, and says what
    these are. `alive` are the conditions under which threads come to its end, `reached` all under which it accesses
    memory: where it does that beyond a limit, too, nothing is settled. The `guards` of the launch go on to hold."""
    held = [guard for guard in guards if holds(graph, guard, {})]
    found: dict[Node, None] = {}
    for condition in alive:
        # What threads, iterations or data decide is no limit of a size, and has no value outside of its loop.
        if condition.is_const or condition.bits & ~graph.uniform_bits:
            continue
        if graph.negate(condition) in reached or holds(graph, condition, {}):
            continue
        for size, value in _most(condition):
            if all(holds(graph, each, {size: value}) for each in (condition, *held, *found)):
                graph.limit(size, value)
                found[condition] = None
                break
    return tuple(found)


def _most(condition: Node) -> Iterator[tuple[Node, int]]:
    """The size that a condition limits by a number, or gives one, with the largest value that it may have: a multiple
    of a warp, if there are any."""
    bare = without_not(condition)
    is_given = bare.op == ("==" if bare is condition else "!=")
    if bare.op not in ("<", "<=") and not is_given:
        return
    for size, number in (bare.args, bare.args[::-1]):
        symbol = without_cast(size)
        if not number.is_const or not isinstance(symbol.payload, Uniform) or symbol.payload.is_default:
            continue
        if symbol.kind.is_float or number.kind.is_float:
            continue
        limit = int(number.value)
        # What is less than the number, or not more.
        for most in (limit, limit - 1):
            if most > GRANULE and not is_given:
                yield symbol, most // GRANULE * GRANULE
            if most > 0:
                yield symbol, most
