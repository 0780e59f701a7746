"""Numbers for which holds what a user or the program states: `assume(K % 4 == 0)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cudalint.host.choosing.draft import Draft
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.graph import conjuncts
from cudalint.host.values.nodes import Node, below
from cudalint.host.values.numeric import Rows

_CANDIDATES = (32, 64, 128, 256, 512, 1024, 4096, 16, 8, 4, 2, 1, 3, 7, 33, 100, 1000, 100_000)
"""Values tried for a name whose generic value does not satisfy an assumption."""


def choose_stated(draft: Draft, conditions: Iterable[Node]) -> None:
    """Chooses numbers for which the conditions hold, where a simple one can be found. Those on the
    fewest names come first: of `pitch == 3 * width + 7` and `width == 100`, the latter leaves no choice."""
    parts = dict.fromkeys(part for condition in conditions for part in conjuncts(draft.graph, condition))
    kept: list[Node] = []
    for part in sorted(parts, key=lambda part: len(draft.graph.atoms(part.bits, draft.graph.uniform_bits))):
        if _settle_alone(draft, part, kept):
            kept.append(part)


def _settle_alone(draft: Draft, condition: Node, kept: Sequence[Node]) -> bool:
    """Changes one generic value, where that makes the condition hold and leaves the others as they are."""
    if draft.holds(condition):
        return True
    for uniform in draft.graph.atoms(condition.bits, draft.graph.uniform_bits):
        if not draft.is_open(uniform, "annotation"):
            continue
        for candidate in (*_roots(draft, condition, uniform), *_CANDIDATES, *_near(condition)):
            if all(draft.holds(c, {uniform: candidate}) for c in (condition, *kept)):
                draft.choose(uniform, candidate, "annotation")
                return True
    return False


def _roots(draft: Draft, condition: Node, uniform: Node) -> Iterator[int]:
    """The number for which both sides of an equation are equal, if they are linear in it."""
    if condition.op != "==" or any(side.kind.is_float for side in (uniform, *condition.args)):
        return
    left, right = condition.args
    distance = draft.graph.binary("-", left, right, I8)
    start, next_ = (
        int(np.asarray(Rows.of_one_block(draft.graph, {**draft.values, uniform: n}).value(distance)).flat[0])
        for n in (0, 1)
    )
    if start != next_ and start % (start - next_) == 0:
        yield start // (start - next_)


def _near(condition: Node) -> Iterator[int]:
    """The numbers that a condition compares with, and their neighbours: `x < 186` leaves 185 for what is no smaller."""
    for number in below([condition], condition.bits):
        for part in number.args:
            if part.is_const and not part.kind.is_float:
                yield from (int(part.value) + step for step in (0, -1, 1))
