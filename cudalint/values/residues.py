"""What is known of a value modulo a power of two from how it is computed, whatever its leaves are."""

from __future__ import annotations

from cudalint.values import residue
from cudalint.values.nodes import Node
from cudalint.values.operations import OPERATIONS
from cudalint.values.residue import Residue


class Residues:
    """The residues of a graph's nodes, each computed once."""

    def __init__(self) -> None:
        self._known: dict[int, Residue] = {}

    def of(self, node: Node) -> Residue:
        found = self._known.get(node.index)
        if found is None:
            found = residue.UNKNOWN if node.kind.is_float or node.kind.code == "b" else self._compute(node)
            self._known[node.index] = found
        return found

    def _compute(self, node: Node) -> Residue:
        op, args = node.op, node.args
        if op == "const":
            return residue.residue(int(node.value), residue.MODULUS)
        known = OPERATIONS[op].residue if op in OPERATIONS else None
        if known is not None:
            return known(self.of(args[0]), self.of(args[1]))
        if op in ("/", "<<", ">>") and args[1].is_const:
            return residue.by_constant(op, self.of(args[0]), int(args[1].value))
        if op == "cast":
            # Conversions between integers keep the low byte, and 256 is the largest modulus.
            return self.of(args[0])
        if op in ("select", "pick"):
            return self._any_of(args[1:])
        if op in ("min", "max"):
            return self._any_of(args)
        return self.of(args[0]) if op == "shuffle" else residue.UNKNOWN

    def _any_of(self, nodes: tuple[Node, ...]) -> Residue:
        """What is true of all alternatives."""
        first, *others = (self.of(node) for node in nodes)
        modulus = first.modulus
        for other in others:
            modulus = min(modulus, other.modulus, residue.power_of_two(first.rest - other.rest))
        return residue.residue(first.rest, modulus)
