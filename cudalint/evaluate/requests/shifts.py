"""Numbers that nobody gives and by which places are only shifted: levels of a pyramid, whose first one is 0."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.evaluate.requests.flags import all_values
from cudalint.evaluate.requests.views import Known, LaunchView
from cudalint.scenarios import alternatives
from cudalint.values.nodes import THREAD_BITS, Node, below, without_cast

_SHIFTS = ("<<", ">>")
_COMPARISONS = ("==", "!=", "<", "<=")


def small_shifts(reached: Sequence[Known], view: LaunchView) -> dict[Node, int]:
    """The numbers by which what tells threads apart is shifted to the left on the way to addresses, and that go into
    nothing else: `1 << bits` would be a size, and no place. With the least that each of them may be."""
    graph = view.graph
    offsets = [known.event.offset for known in reached]
    shifted = (node for node in below(offsets, graph.uniform_bits) if node.op == "<<" and node.bits & THREAD_BITS)
    numbers = dict.fromkeys(without_cast(node.args[1]) for node in shifted if node.args[0].bits & THREAD_BITS)
    open_numbers = [n for n in numbers if n.op == "uniform" and not graph.choice(n).is_default]
    found: dict[Node, int] = {}
    for number in open_numbers:
        if not _only_shifts(number, reached, view):
            continue
        values = (v for v in alternatives.SHIFTS if view.allows(number, v) and view.is_launched(number, v))
        value = next(values, None)
        if value is not None:
            found[number] = value
    return found


def _only_shifts(number: Node, reached: Sequence[Known], view: LaunchView) -> bool:
    nodes = list(below(all_values(reached, view), number.bits))
    casts = [node for node in nodes if node.op == "cast" and node.args[0] is number]
    for node in nodes:
        for symbol in (number, *casts):
            if symbol in node.args and node not in casts and not _is_shift_by(node, symbol):
                return False
    return True


def _is_shift_by(node: Node, number: Node) -> bool:
    if node.op in _COMPARISONS:
        return any(argument.is_const for argument in node.args)
    if node.op not in _SHIFTS:
        return False
    return node.args[0] is not number and not (node.op == "<<" and node.args[0].is_const)
