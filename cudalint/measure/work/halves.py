"""Loads of 64-bit integers of which nothing but the lower half is used: `int label = labels[i]`.

The compiler loads no more than that. The lower half of a sum, a difference, a product or a bitwise combination is made
of the lower halves of what goes into it; everything else takes a number whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cudalint.measure.work import compiler
from cudalint.measure.work.places import Charge
from cudalint.measure.work.terms import Term

HALF = 4
"""Bytes that are loaded then."""
_WHOLE = 8
_HALF_BY_HALF = frozenset({"sum", "*", "&", "|", "^", "~"})


def halved_loads(charges: Iterable[Charge]) -> frozenset[int]:
    """The identities of the terms of such loads, among what is asked for."""
    if not compiler.HALVES.is_on:
        return frozenset()
    own = {charge.term for charge in charges}
    loads = [term for term in own if term.op == "load" and _is_whole(term)]
    if not loads:
        return frozenset()
    used, whole = _used(own), set[Term]()
    pending = [each for term in used if not _is_half_by_half(term) for each in _takes(term)]
    # A half of what is made by halves asks for halves, and the whole of it for whole numbers.
    while pending:
        term = pending.pop()
        if term in whole or not _is_whole(term):
            continue
        whole.add(term)
        if _is_half_by_half(term):
            pending += _takes(term)
    return frozenset(id(load) for load in loads if load not in whole)


def _is_whole(term: Term) -> bool:
    return term.is_integer and term.type.bytes == _WHOLE


def _is_half_by_half(term: Term) -> bool:
    return term.is_integer and term.op in _HALF_BY_HALF


def _used(terms: Iterable[Term]) -> set[Term]:
    """These, and all that they are made of."""
    found, pending = set[Term](), list(terms)
    while pending:
        term = pending.pop()
        if term not in found:
            found.add(term)
            pending += _takes(term)
    return found


def _takes(term: Term) -> list[Term]:
    """What a term is made of; of a variable of a loop also what a turn makes of it."""
    if term.is_sum:
        return [part.term for part in term.parts]
    given: list[Any] = list(term.arguments)
    if term.op == "variable":
        given.append(term.info.variables.get(term))
    return [each for each in given if isinstance(each, Term)]
