"""What a figure rests on: the numbers that separate the worlds in which something holds from the others.

It is a group-by over the worlds of one batch, never a search through further ones: what is said is what was seen. A
condition that holds for some of the numbers between two that were tried, or of which several fit, is reported as the
strongest one: it says for which numbers the access is known to be wasteful, not for which others it may be, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

Numbers = Mapping[str, int | float | bool]
"""The numbers of a world by the names of what they are chosen for."""
Holds = Sequence[bool | None]
"""Whether something holds in each world; None where nothing can be said."""
Moduli = Mapping[str, Sequence[int]]

_MODULI = (2, 4, 8, 16, 32)
"""Numbers whose multiples sectors, vectors and warps tell from others."""


class Sensitivity(Struct, frozen=True):
    """In which worlds something holds, and which numbers make the difference."""

    kind: Literal["always", "never", "where", "unexplained", "unknown"]
    """`always` and `never`: in all worlds, or none; `unexplained`: no condition of one or two terms separates the
    worlds; `unknown`: nothing can be said of any."""
    condition: str = ""
    symbols: tuple[str, ...] = ()
    """Those of the condition; where it is not explained all that differ between the worlds."""


class _Term(NamedTuple):
    rank: int
    text: str
    symbols: tuple[str, ...]
    holds: tuple[bool, ...]


def where(
    holds: Holds, worlds: Sequence[Numbers], moduli: Moduli | None = None, flags: Moduli | None = None,
    computed: Mapping[str, Sequence[int | float | bool]] | None = None,
) -> Sensitivity:  # fmt: skip
    """Under which condition something holds. `moduli` are numbers that a kernel divides a symbol by, and `flags` those
    that it compares one with to choose a way: if one of these separates the worlds it is named before others. What is
    `computed` of several numbers, by world, says in one term what takes more of these themselves."""
    wanted = [bool(held) for held in holds if held is not None]
    known = [numbers for numbers, held in zip(worlds, holds, strict=True) if held is not None]
    if not wanted:
        return Sensitivity("unknown")
    if all(wanted) or not any(wanted):
        return Sensitivity("always" if any(wanted) else "never")
    values = _differing(known)
    terms = [
        term
        for name, own in values.items()
        for term in (
            *_cases(name, own, (flags or {}).get(name, ())), *_terms(name, own, (moduli or {}).get(name, ())),
        )
    ]  # fmt: skip
    ways = list(_ways(computed or {}, holds))
    for candidates in (terms, ways, _between(values), _both(terms, wanted)):
        fitting = (term for term in candidates if list(term.holds) == wanted)
        best = min(fitting, key=lambda term: term.rank, default=None)
        if best is not None:
            return Sensitivity("where", best.text, best.symbols)
    return Sensitivity("unexplained", symbols=tuple(values))


def _differing(worlds: Sequence[Numbers]) -> dict[str, list[int | float]]:
    """The values of what is not the same in all worlds, and is a number in each."""
    names = dict.fromkeys(name for numbers in worlds for name in numbers)
    values = {name: [numbers[name] for numbers in worlds] for name in names if all(name in w for w in worlds)}
    return {name: own for name, own in values.items() if len(set(own)) > 1}


def _cases(name: str, values: Sequence[int | float], compared: Sequence[int]) -> Iterator[_Term]:
    """Which way a number chooses."""
    for case in compared:
        yield _Term(-1, f"{name} != {case}", (name,), tuple(value != case for value in values))
        yield _Term(-1, f"{name} == {case}", (name,), tuple(value == case for value in values))


def _terms(name: str, values: Sequence[int | float], divided_by: Sequence[int]) -> Iterator[_Term]:
    """Conditions on one number, those that say most about a kernel first."""

    def term(rank: int, text: str, holds: Iterable[bool]) -> _Term:
        return _Term(rank, f"{name} {text}", (name,), tuple(holds))

    different = sorted(set(values))
    for special in (0, 1):
        if special in different:
            yield term(0, f"== {special}", (value == special for value in values))
            is_least = special == different[0]
            yield term(0, f"> {special}" if is_least else f"!= {special}", (value != special for value in values))
    if all(float(value).is_integer() for value in values):
        # Of several that fit it is the claim about the fewest numbers: no multiple of the least, a multiple of the
        # largest.
        for rank, moduli in ((1, sorted(set(divided_by))), (2, _MODULI)):
            for modulus in moduli:
                yield term(rank, f"% {modulus} != 0", (value % modulus != 0 for value in values))
            for modulus in reversed(moduli):
                yield term(rank, f"% {modulus} == 0", (value % modulus == 0 for value in values))
    for below, above in itertools.pairwise(different):
        yield term(3, f">= {above}", (value >= above for value in values))
        yield term(3, f"<= {below}", (value <= below for value in values))
    for value in different[1:-1]:
        yield term(4, f"== {value}", (other == value for other in values))
        yield term(4, f"!= {value}", (other != value for other in values))


def _ways(computed: Mapping[str, Sequence[int | float | bool]], holds: Holds) -> Iterator[_Term]:
    """Whether what is computed is none, one or more."""
    for name, values in computed.items():
        own = [value for value, held in zip(values, holds, strict=True) if held is not None]
        if len(set(own)) > 1:
            yield from (term for term in _terms(name, own, ()) if term.rank == 0)


def _between(values: Mapping[str, Sequence[int | float]]) -> Iterator[_Term]:
    """Conditions on how two numbers compare."""
    for (one, its), (other, own) in itertools.permutations(values.items(), 2):
        both = one, other
        pairs = list(zip(its, own, strict=True))
        if one < other:
            yield _Term(0, f"{one} == {other}", both, tuple(a == b for a, b in pairs))
            yield _Term(0, f"{one} != {other}", both, tuple(a != b for a, b in pairs))
        yield _Term(1, f"{one} > {other}", both, tuple(a > b for a, b in pairs))
        yield _Term(1, f"{one} >= {other}", both, tuple(a >= b for a, b in pairs))
        if all(b != 0 for _, b in pairs):
            yield _Term(2, f"{one} % {other} != 0", both, tuple(a % b != 0 for a, b in pairs))
            yield _Term(2, f"{one} % {other} == 0", both, tuple(a % b == 0 for a, b in pairs))


def _both(terms: Iterable[_Term], wanted: Sequence[bool]) -> Iterator[_Term]:
    """Two conditions on two numbers that hold together, or one of them, where they should. Where neither is enough by
    itself there are worlds that show each to be needed."""
    for sign, asked in ((" && ", True), (" || ", False)):
        # Both have to hold wherever the two should, or neither where they should not.
        fitting = dict[tuple[tuple[str, ...], tuple[bool, ...]], _Term]()
        for term in terms:
            if all(held is asked for held, want in zip(term.holds, wanted, strict=True) if want is asked):
                fitting.setdefault((term.symbols, term.holds), term)
        for one, other in itertools.combinations(fitting.values(), 2):
            if one.symbols == other.symbols:
                continue
            holds = tuple(
                held if held is not asked else also for held, also in zip(one.holds, other.holds, strict=True)
            )
            yield _Term(one.rank + other.rank, one.text + sign + other.text, one.symbols + other.symbols, holds)
