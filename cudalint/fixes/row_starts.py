"""Which numbers have to be multiples of a vector's length for a row of a thread's own to begin at one.

A row begins at the sum of what its array and its index are computed of, as the kernel spells that: `a[i * d + j]`, or
`row[j]` behind `const float *row = a + i * d`. Each term has to be a multiple: it has a factor that is a number which
is one, or a size of the kernel's that can be asked for it. That arrays begin at one is for others to see to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from cudalint.fixes.counted_loops import Element, Loop, function_of
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import NAME, outside_brackets
from cudalint.regexes import regex
from cudalint.source.code import CodeText

_NUMBER = regex(r"(\d+)[uUlL]*")
_INTEGER = r"(?:(?:const|unsigned|signed|long|int|short|char|size_t|u?int\d+_t)\s*)+"
_CAST = regex(rf"\(\s*{_INTEGER}\)|static_cast<\s*{_INTEGER}>")
_NOT_EXACT = regex(r"[/%<>&|^?]")
_DEPTH = 6
"""Variables that are followed to what they were given."""


def is_multiple(text: str, number: int) -> bool:
    """Whether a text is a number that is a multiple of another one."""
    found = _NUMBER.fullmatch(text)
    return found is not None and int(found[1]) % number == 0


class RowStarts:
    """The rows that a loop goes along."""

    def __init__(self, loop: Loop, number: int, uniform: Collection[str], source: CodeText) -> None:
        """`number` elements are a vector, and `uniform` are the names of integers that are the same for all
        threads."""
        self._loop, self._number, self._uniform = loop, number, uniform
        self._before = source.code[function_of(source, loop.begin) : loop.begin]

    def asked(self, element: Element) -> list[str]:
        """The names that have to be multiples. Raises an `Obstacle` where some term is none, whatever they are."""
        index = element.text[element.text.rindex("[") + 1 : -1]
        terms = [term for term in _terms(index) if term != self._loop.name]
        found = [name for term in terms for name in self._of_term(term, 0)]
        return list(dict.fromkeys([*found, *self._of_array(element.array, 0)]))

    def _of_array(self, array: str, depth: int) -> Iterator[str]:
        """Of what a pointer was moved by since it was one of the kernel's."""
        for is_new, value in self._given(array):
            if is_new:
                base, *terms = _terms(_plain(value).removeprefix("&"))
                named = re.fullmatch(r"(\w+(?:(?:\.|->)\w+)*)(?:\[(.*)\])?", base)
                if named is None or depth > _DEPTH:
                    raise self._obstacle(array)
                yield from self._of_array(named[1], depth + 1)
                terms += _terms(named[2] or "")
            else:
                terms = _terms(value)
            for term in terms:
                yield from self._of_term(term, depth + 1)

    def _of_term(self, term: str, depth: int) -> Iterator[str]:
        factors = [_plain(factor) for factor in _split(_plain(term), "*")]
        if any(map(_NOT_EXACT.search, map(outside_brackets, factors[:-1]))):
            factors = factors[-1:]  # What was divided and is multiplied again.
        if _NOT_EXACT.search(outside_brackets(factors[-1])):
            raise self._obstacle(term)
        if any(is_multiple(factor, self._number) for factor in factors) or self._loop.bound in factors:
            return
        sizes = [factor for factor in factors if factor in self._uniform and not self._given(factor)]
        if sizes:
            yield sizes[-1]
            return
        if any(map(self._is_constant, factors)):
            return  # The length of a row that the program gives is one that the model has looked at.
        for factor in factors:
            within = self._within(factor, depth)
            if within is not None:
                yield from within
                return
        raise self._obstacle(term)

    def _is_constant(self, factor: str) -> bool:
        """Whether a factor is a name that nothing before the loop declares: a macro, or a template's parameter."""
        declared = rf"\w[\s*&]+{re.escape(factor)}\s*(?:[,;=)\[{{]|\Z)"
        is_name = NAME.fullmatch(factor) is not None and factor not in self._uniform
        return is_name and not re.search(rf"{declared}|,\s*{re.escape(factor)}\s*[,;=]", self._before)

    def _within(self, factor: str, depth: int) -> list[str] | None:
        """What a factor asks for that is a sum, or a variable that was given one; None for any other."""
        terms = _terms(factor)
        if NAME.fullmatch(factor):
            given = self._given(factor)
            terms = _terms(given[0][1]) if len(given) == 1 and given[0][0] else []
        elif len(terms) < 2:
            return None
        if not terms or depth > _DEPTH:
            return None
        try:
            return [name for term in terms for name in self._of_term(term, depth + 1)]
        except Obstacle:
            return None

    def _given(self, name: str) -> list[tuple[bool, str]]:
        """All that a variable is given before the loop, and whether that takes the place of what it was."""
        put = rf"(?<![\w.>]){re.escape(name)}\s*(\+?)=(?!=)\s*([^;]*)"
        return [(not each[1], each[2].strip()) for each in re.finditer(put, self._before)]

    def _obstacle(self, term: str) -> Obstacle:
        return Obstacle(f"nothing says that `{' '.join(term.split())}` is a multiple of {self._number}")


def _plain(text: str) -> str:
    """Without casts, and without brackets around all of it."""
    text = _CAST.sub("", text).strip()
    while text.startswith("(") and _closes_last(text):
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return at == len(text) - 1
    return False


def _terms(text: str) -> list[str]:
    return [term for term in _split(_plain(text), "+-") if term]


def _split(text: str, signs: str) -> list[str]:
    """The parts of a text between some signs that are in no brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter in signs and depth == 0 and text[at : at + 2] != "->":
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]
