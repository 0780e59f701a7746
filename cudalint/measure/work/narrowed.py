"""Integers of 8 bytes of which only the lower half is asked for: no more of them is loaded (machine code of ten
kernels, nvcc 13.0, sm_90)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from cudalint.measure.work import compiler
from cudalint.measure.work.places import Charge
from cudalint.measure.work.terms import Term, below

_LONG = 8
HALF = _LONG // 2
_OF_LOWER = frozenset({"sum", "*", "&", "|", "^", "~", "negated"})
"""Operators whose lower half needs nothing but the lower halves of what they are given."""


def narrowed(charges: Iterable[Charge]) -> frozenset[int]:
    """The loads, by the identities of their terms."""
    roots = [charge.term for charge in charges]
    if not compiler.HALVES.is_on or not any(map(_is_long_load, roots)):
        return frozenset()
    after = [value for term in roots if term.op == "variable" for value in term.info.variables.values()]
    asked: dict[Term, int] = defaultdict(int)
    asked |= {term: _LONG for term in after if isinstance(term, Term)}
    # What a term is made of was made before it.
    for term in sorted(below([*roots, *after]), key=lambda each: -each.number):
        for value, bytes_ in _asked_by(term, asked[term]):
            asked[value] = max(asked[value], bytes_)
    return frozenset(id(term) for term in roots if _is_long_load(term) and asked[term] <= HALF)


def _is_long_load(term: Term) -> bool:
    return term.op == "load" and term.is_integer and term.info.bytes == _LONG


def _asked_by(term: Term, asked: int) -> Iterator[tuple[Term, int]]:
    """Of what a term is made of, how many bytes are asked for."""
    values: list[Any] = [part.term for part in term.parts] if term.is_sum else list(term.arguments)
    for at, value in enumerate(values):
        if not isinstance(value, Term):
            continue
        if term.op == "store" and at > 0:
            yield value, term.info.bytes
        elif term.is_integer and (term.op in _OF_LOWER or (term.op == "<<" and at == 0)):
            yield value, min(term.type.bytes, asked)
        else:
            yield value, _LONG
