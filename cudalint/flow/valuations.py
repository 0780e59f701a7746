"""Values for what nobody knows: numbers for uniform symbols (and for loaded values that all threads share) under which
some conditions hold together."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cudalint.evaluate.symbolic.arithmetic import BOOL
from cudalint.evaluate.symbolic.graph import Graph, conjuncts
from cudalint.evaluate.symbolic.nodes import Node, Uniform
from cudalint.evaluate.symbolic.solver import solve

Valuation = Mapping[Node, int | float]

_SMALL = (0, 1, 2, 3, 4, 7, 32, 33)
_MOST_TRIALS = 600


def satisfy(graph: Graph, conditions: Iterable[Node], atoms: Sequence[Node]) -> dict[Node, int | float] | None:
    """Numbers for the atoms under which all conditions hold; None where neither a search among the numbers that stand
    in the conditions, their neighbours, and small ones finds any, nor the solver. The conditions depend on nothing but
    the atoms."""
    parts = list(dict.fromkeys(part for condition in conditions for part in conjuncts(graph, condition)))
    if any(part.is_const and not part.value for part in parts):
        return None
    # Where nothing is found, which takes longest, the next access under the same conditions asks again.
    key = (tuple(parts), tuple((atom, _usual(atom)) for atom in atoms))
    if key not in graph.satisfied:
        graph.satisfied[key] = _search(graph, parts, atoms)
    found = graph.satisfied[key]
    return dict(found) if found is not None else None


def _search(graph: Graph, parts: Sequence[Node], atoms: Sequence[Node]) -> Valuation | None:
    candidates = _candidates(parts)
    chosen: dict[Node, int | float] = {}
    for values in itertools.islice(_trials(atoms, candidates), _MOST_TRIALS):
        chosen = dict(zip(atoms, values, strict=True))
        if all(_holds(graph, part, chosen) for part in parts):
            return chosen
    solved = solve(parts, atoms)
    return solved if solved is not None and all(_holds(graph, part, solved) for part in parts) else None


def _holds(graph: Graph, condition: Node, values: Valuation) -> bool:
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


def _trials(atoms: Sequence[Node], candidates: Sequence[int | float]) -> Iterator[tuple[int | float, ...]]:
    """Values for all atoms: few of them changed from the generic ones at first."""
    usual = [_usual(atom) for atom in atoms]
    yield tuple(usual)
    for count in range(1, min(len(atoms), 3) + 1):
        for places in itertools.combinations(range(len(atoms)), count):
            for values in itertools.product(candidates, repeat=count):
                trial = list(usual)
                for place, value in zip(places, values, strict=True):
                    trial[place] = bool(value) if atoms[place].kind == BOOL else value
                yield tuple(trial)


def _usual(atom: Node) -> int | float:
    return atom.payload.generic if isinstance(atom.payload, Uniform) else 1
