"""Values for what nobody knows: numbers for uniform symbols (and for loaded values that all threads share) under which
some conditions hold together."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from cudalint.values.arithmetic import BOOL, wrap
from cudalint.values.contradictions import exclude_each_other
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import Node
from cudalint.values.numbers import number

Valuation = Mapping[Node, int | float]

_SMALL = (0, 1, 2, 3, 4, 7, 32, 33)
_MOST_TRIALS = 600


def satisfy(graph: Graph, conditions: Iterable[Node], atoms: Sequence[Node]) -> dict[Node, int | float] | None:
    """Numbers for the atoms under which all conditions hold; None where a search among the numbers that
    stand in the conditions, their neighbours, and small ones finds none. The conditions depend on
    nothing but the atoms."""
    parts = list(dict.fromkeys(part for condition in conditions for part in conjuncts(graph, condition)))
    if any(part.is_const and not part.value for part in parts) or exclude_each_other(parts):
        return None
    # Where nothing is found, which takes longest, the next access under the same conditions asks again.
    key = (tuple(parts), tuple((atom, _usual(graph, atom)) for atom in atoms))
    if key not in graph.satisfied:
        graph.satisfied[key] = _search(graph, parts, atoms)
    found = graph.satisfied[key]
    return dict(found) if found is not None else None


def _search(graph: Graph, parts: Sequence[Node], atoms: Sequence[Node]) -> Valuation | None:
    questions = [_Question(graph, part, atoms) for part in parts]
    for values in itertools.islice(_trials(graph, atoms, _candidates(parts)), _MOST_TRIALS):
        if all(question.holds(values) for question in questions):
            return dict(zip(atoms, values, strict=True))
    return None


class _Question(Struct, eq=False):
    """Whether a condition holds, for many choices of numbers for the atoms: most of them leave alone those that this
    condition depends on."""

    graph: Graph
    condition: Node
    atoms: Sequence[Node]
    _own: list[int] | None = None
    """Which of the atoms go into it."""
    _answers: dict[object, bool] = field(default_factory=dict)

    def holds(self, values: Sequence[int | float]) -> bool:
        if self._own is None:
            self._own = [place for place, atom in enumerate(self.atoms) if atom.bits & self.condition.bits]
        key = tuple([values[place] for place in self._own])
        if key not in self._answers:
            self._answers[key] = _holds(self.graph, self.condition, dict(zip(self.atoms, values, strict=True)))
        return self._answers[key]


def _holds(graph: Graph, condition: Node, values: Valuation) -> bool:
    known: dict[int, int | float | None] = {atom.index: wrap(value, atom.kind) for atom, value in values.items()}
    found = number(condition, known)
    if found is not None:
        return bool(found)
    bound = {atom: graph.const(value, atom.kind) for atom, value in values.items()}
    result = graph.substitute(condition, bound)
    return result.is_const and bool(result.value)


def _candidates(conditions: Sequence[Node]) -> list[int | float]:
    found: dict[int | float, None] = {}
    seen: set[int] = set()
    pending = list(conditions)
    while pending:
        node = pending.pop()
        if node.index in seen:
            continue
        seen.add(node.index)
        if node.is_const:
            found.update(dict.fromkeys((node.value, node.value + 1, node.value - 1)))
        pending.extend(node.args)
    return [*found, *_SMALL]


def _trials(
    graph: Graph, atoms: Sequence[Node], candidates: Sequence[int | float]
) -> Iterator[tuple[int | float, ...]]:
    """Values for all atoms: few of them changed from the generic ones at first."""
    usual = [_usual(graph, atom) for atom in atoms]
    yield tuple(usual)
    for count in range(1, min(len(atoms), 3) + 1):
        for places in itertools.combinations(range(len(atoms)), count):
            for values in itertools.product(candidates, repeat=count):
                trial = list(usual)
                for place, value in zip(places, values, strict=True):
                    trial[place] = bool(value) if atoms[place].kind == BOOL else value
                yield tuple(trial)


def _usual(graph: Graph, atom: Node) -> int | float:
    return graph.choice(atom).value if atom.op == "uniform" else 1
