"""What is known of a value modulo a power of two from how it is computed, whatever its leaves are."""

from __future__ import annotations

from typing import NamedTuple

from cudalint.values.nodes import Node

_MODULUS = 256
"""An allocation's alignment: no access needs more."""


class Residue(NamedTuple):
    """The value is `rest` modulo `modulus`, a power of two; modulus 1 says nothing."""

    rest: int
    modulus: int

    def is_multiple_of(self, width: int) -> bool:
        return self.modulus % width == 0 and self.rest % width == 0


_UNKNOWN = Residue(0, 1)


def _power_of_two(number: int) -> int:
    """The largest power of two that divides a number, up to the modulus that is of interest."""
    return min(number & -number, _MODULUS) if number else _MODULUS


def _residue(rest: int, modulus: int) -> Residue:
    return Residue(rest % modulus, modulus)


class Residues:
    """The residues of a graph's nodes, each computed once."""

    def __init__(self) -> None:
        self._known: dict[int, Residue] = {}

    def of(self, node: Node) -> Residue:
        found = self._known.get(node.index)
        if found is None:
            found = _UNKNOWN if node.kind.is_float or node.kind.code == "b" else self._compute(node)
            self._known[node.index] = found
        return found

    def _compute(self, node: Node) -> Residue:
        op, args = node.op, node.args
        if op == "const":
            return _residue(int(node.value), _MODULUS)
        if op in ("+", "-", "*", "|", "^", "&", "%"):
            return _OPERATIONS[op](self.of(args[0]), self.of(args[1]))
        if op in ("/", "<<", ">>") and args[1].is_const:
            return _by_constant(op, self.of(args[0]), int(args[1].value))
        if op == "cast":
            # Conversions between integers keep the low byte, and 256 is the largest modulus.
            return self.of(args[0])
        if op in ("select", "pick"):
            return self._any_of(args[1:])
        if op in ("min", "max"):
            return self._any_of(args)
        return self.of(args[0]) if op == "shuffle" else _UNKNOWN

    def _any_of(self, nodes: tuple[Node, ...]) -> Residue:
        """What is true of all alternatives."""
        first, *others = (self.of(node) for node in nodes)
        modulus = first.modulus
        for other in others:
            modulus = min(modulus, other.modulus, _power_of_two(first.rest - other.rest))
        return _residue(first.rest, modulus)


def _sum(a: Residue, b: Residue) -> Residue:
    return _residue(a.rest + b.rest, min(a.modulus, b.modulus))


def _difference(a: Residue, b: Residue) -> Residue:
    return _residue(a.rest - b.rest, min(a.modulus, b.modulus))


def _product(a: Residue, b: Residue) -> Residue:
    """(r + mx)(s + ny) = rs + rny + smx + mnxy."""
    modulus = min(map(_power_of_two, (a.rest * b.modulus, b.rest * a.modulus, a.modulus * b.modulus)))
    return _residue(a.rest * b.rest, modulus)


def _and(a: Residue, b: Residue) -> Residue:
    """The low bits that both know; and zeros at the end of a known one are zeros of the result."""
    modulus = min(a.modulus, b.modulus)
    zeros = max(_power_of_two(x.rest) if x.rest else x.modulus for x in (a, b))
    return _residue(a.rest & b.rest if modulus >= zeros else 0, max(modulus, zeros))


def _remainder(a: Residue, b: Residue) -> Residue:
    """a - qb, for some q."""
    divisor = min(b.modulus, _power_of_two(b.rest) if b.rest else b.modulus)
    return _residue(a.rest, min(a.modulus, divisor))


def _by_constant(op: str, a: Residue, constant: int) -> Residue:
    if op == "<<":
        return _product(a, _residue(1 << constant if constant < 16 else 0, _MODULUS)) if constant >= 0 else _UNKNOWN
    divisor = constant if op == "/" else 1 << constant if 0 <= constant < 16 else 0
    if divisor < 1 or a.modulus % divisor or (op == "/" and a.rest % divisor):
        return _UNKNOWN
    return _residue(a.rest // divisor, a.modulus // divisor)


_OPERATIONS = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "|": lambda a, b: _residue(a.rest | b.rest, min(a.modulus, b.modulus)),
    "^": lambda a, b: _residue(a.rest ^ b.rest, min(a.modulus, b.modulus)),
    "&": _and,
    "%": _remainder,
}
