"""Whole numbers of host code as sums of products of numbers that are not known: `4 * n + 16`."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct, field

_MOST_TERMS = 16
"""Of a sum; what has more is a number of its own."""
Factors = tuple[int, ...]
"""Unknown numbers that are multiplied, each as often as it is a factor, in order."""


class Quantity(Struct, frozen=True):
    """A sum: products with what each is multiplied by, in order."""

    terms: tuple[tuple[Factors, int], ...] = ()

    @property
    def value(self) -> int | None:
        """The number, where nothing unknown is in it."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def unknowns(self) -> frozenset[int]:
        return frozenset(number for factors, _ in self.terms for number in factors)


def constant(value: int) -> Quantity:
    return Quantity((((), value),)) if value else Quantity()


def plus(a: Quantity, b: Quantity, times: int = 1) -> Quantity:
    """`a + times * b`."""
    sums = dict(a.terms)
    for factors, count in b.terms:
        sums[factors] = sums.get(factors, 0) + times * count
    return _of(sums)


def product(a: Quantity, b: Quantity) -> Quantity:
    sums: dict[Factors, int] = {}
    for left, m in a.terms:
        for right, n in b.terms:
            factors = tuple(sorted((*left, *right)))
            sums[factors] = sums.get(factors, 0) + m * n
    return _of(sums)


def exceeds(a: Quantity, b: Quantity) -> bool:
    """Whether `a` is larger than `b` for all positive sizes that `b` is made of; nothing is said of sizes that only `a`
    has, which may be 0."""
    difference = plus(a, b, -1)
    if not difference.terms or any(count < 0 for _, count in difference.terms):
        return False
    known = b.unknowns
    return all(known.issuperset(factors) for factors, _ in difference.terms)


def _of(sums: dict[Factors, int]) -> Quantity:
    return Quantity(tuple(sorted((factors, count) for factors, count in sums.items() if count)))


class Numbers(Struct):
    """The unknown numbers of one analysis: equal ones are one number."""

    _names: list[str] = field(default_factory=list)
    _known: dict[Hashable, int] = field(default_factory=dict)

    def fresh(self, name: str) -> Quantity:
        """One of which nothing is known."""
        self._names.append(name)
        return Quantity((((len(self._names) - 1,), 1),))

    def of(self, what: Hashable, name: str) -> Quantity:
        """The one that stands for `what`."""
        number = self._known.get(what)
        if number is None:
            number = self._known[what] = len(self._names)
            self._names.append(name)
        return Quantity((((number,), 1),))

    def operation(self, op: str, a: Quantity, b: Quantity) -> Quantity:
        """`a op b` of whole numbers, as C computes it without overflow."""
        if op in ("+", "-"):
            return self._short(plus(a, b, 1 if op == "+" else -1))
        x, y = a.value, b.value
        if op == "*":
            return self._short(product(a, b))
        if op == "<<" and y is not None and 0 <= y < 64:
            return product(a, constant(1 << y))
        if x is not None and y is not None and (known := _computed(op, x, y)) is not None:
            return constant(known)
        return self.of((op, a, b), f"({self.text(a)} {op} {self.text(b)})")

    def text(self, quantity: Quantity) -> str:
        """As a person would write it."""
        parts = []
        for factors, count in sorted(quantity.terms, key=lambda term: (-len(term[0]), term)):
            names = [self._names[number] for number in factors]
            parts.append(" * ".join([*names, str(count)] if count != 1 or not names else names))
        return " + ".join(parts).replace("+ -", "- ") or "0"

    def _short(self, quantity: Quantity) -> Quantity:
        return quantity if len(quantity.terms) <= _MOST_TERMS else self.of(quantity, "?")


def _computed(op: str, x: int, y: int) -> int | None:
    if op in ("/", "%") and y:
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if op == "/" else x - quotient * y
    if op == ">>" and 0 <= y < 64:
        return x >> y
    return {"&": x & y, "|": x | y, "^": x ^ y}.get(op)
