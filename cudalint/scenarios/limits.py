"""Sizes that a kernel has limits for: `if (width > MAX_WIDTH || layers > MAX_LAYERS) return;`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from cudalint.scenarios.draft import Draft
from cudalint.values.nodes import GRANULE, Node, Uniform, without_cast, without_not


def choose_limits(
    draft: Draft, alive: Iterable[Node], reached: Collection[Node], guards: Iterable[Node]
) -> tuple[Node, ...]:
    """Gives sizes generic values with which a kernel does its work, as large as its limits let them be, and says what
    these are. `alive` are the conditions under which threads come to its end, `reached` all under which it accesses
    memory: where it does that beyond a limit, too, nothing is settled. The `guards` of the launch go on to hold."""
    held = [guard for guard in guards if draft.holds(guard)]
    found: dict[Node, None] = {}
    for condition in alive:
        # What threads, iterations or data decide is no limit of a size, and has no value outside of its loop.
        if condition.is_const or condition.bits & ~draft.graph.uniform_bits:
            continue
        if draft.graph.negate(condition) in reached or draft.holds(condition):
            continue
        for size, value in _most(condition):
            is_open = draft.is_open(size, "guard")
            if is_open and all(draft.holds(each, {size: value}) for each in (condition, *held, *found)):
                draft.choose(size, value, "guard")
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
        if not number.is_const or not isinstance(symbol.payload, Uniform):
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
