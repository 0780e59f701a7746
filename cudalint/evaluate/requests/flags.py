"""Numbers that nobody gives and that only choose: one layout of two (`layout == COLUMNS ? 1 : pitch`), or an option."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from cudalint.evaluate.requests.totals import Totals
from cudalint.evaluate.requests.views import TOLERANCE, Known, LaunchView, totals_of
from cudalint.heuristics import heuristic
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import BOOL
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Uniform, below, render, without_cast, without_not


class Flag(Struct, frozen=True, eq=False):
    """A number that addresses depend on only by what a condition asks of it."""

    number: Node
    condition: Node
    is_true: bool
    """Whether the condition holds for the generic value."""
    other: int
    """A value with which the condition is the opposite."""

    @property
    def text(self) -> str:
        """`layout == 1`."""
        text = render(self.condition)
        return text.removeprefix("(").removesuffix(")") if self.condition.op in _COMPARISONS else text


def flags_of(reached: Sequence[Known], view: LaunchView) -> list[Flag]:
    """The flags that choose addresses of some accesses, of which the launch leaves open what they are."""
    graph = view.graph
    found: dict[Node, Flag] = {}
    for node in below((known.event.offset for known in reached), graph.uniform_bits):
        flag = _flag(node.args[0], graph) if node.op == "select" else None
        if flag is None or flag.number in found:
            continue
        if view.allows(flag.number, flag.other) and view.is_launched(flag.number, flag.other):
            found[flag.number] = flag
    return [flag for flag in found.values() if _only_chooses(flag.number, all_values(reached, view))]


@heuristic("other-flags", "layout flags of libraries: each side is as likely").otherwise(([], []))
def other_flags(reached: Sequence[Known], quick: Totals, view: LaunchView) -> tuple[list[str], list[float]]:
    """What the figure is a better one for if it is otherwise, and the figures that it has then."""
    texts, figures, base = [], [], quick.cost / quick.requests
    for flag in flags_of(reached, view):
        totals = totals_of(reached[:8], view.varied(flag.number, flag.other))
        figure = totals.cost / totals.requests if totals.requests else base
        if figure < base * (1 - TOLERANCE):
            texts.append(f"`{flag.text}` is {'false' if flag.is_true else 'true'}")
            figures.append(figure)
    return texts, figures


def _flag(condition: Node, graph: Graph) -> Flag | None:
    """The flag that a condition of its own asks about."""
    bare = without_not(condition)
    compared = bare.args[0] if bare.op in _COMPARISONS and bare.args[1].is_const else bare
    number = without_cast(compared)
    if not isinstance(number.payload, Uniform) or number.kind.is_float or graph.choice(number).is_default:
        return None
    if bare.op not in _COMPARISONS and number.kind != BOOL:
        return None
    asked = int(bare.args[1].value) if bare.op in _COMPARISONS else 1
    is_true = holds(graph, bare, {})
    values = (asked, *alternatives.FLAGS) if number.kind != BOOL else alternatives.FLAGS
    other = next((value for value in values if holds(graph, bare, {number: value}) != is_true), None)
    return None if other is None else Flag(number, bare, is_true, other)


def all_values(reached: Sequence[Known], view: LaunchView) -> Iterator[Node]:
    """All that decides where the accesses go and who gets there."""
    yield from view.grid
    for known in reached:
        yield known.event.offset
        yield from known.event.context.conditions
        yield from (loop.condition for loop in known.event.context.loops)


def _only_chooses(number: Node, values: Iterable[Node]) -> bool:
    """Whether nothing is computed from a number but whether it is a certain other one."""
    users = [node for node in below(values, number.bits) if number in node.args]
    casts = [user for user in users if user.op == "cast"]
    if casts:
        users = [user for user in users if user.op != "cast"]
        users += (node for node in below(values, number.bits) if any(cast in node.args for cast in casts))
    return all(
        user.op in _COMPARISONS or user.op == "!" or (user.op == "select" and user.args[0] is number) for user in users
    )


_COMPARISONS = ("==", "!=")
