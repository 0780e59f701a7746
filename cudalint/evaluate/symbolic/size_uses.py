"""How a program computes with sizes that nothing gives: by what they are divided and shifted, and what is multiplied.

It says which generic values make sense (cudalint.evaluate.symbolic.sizes).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from cudalint.evaluate.symbolic.arithmetic import Kind
from cudalint.evaluate.symbolic.nodes import Node, without_cast


class SizeUses(Struct, eq=False):
    """What was seen since generic values were settled last."""

    shares: dict[Node, set[int]] = field(default_factory=dict)
    """What uniform symbols are divided by, where that is known."""
    quotients: dict[tuple[int, int], tuple[Node, Node]] = field(default_factory=dict)
    """Pairs of uniform symbols, or a number and one, of which the first is divided by the other."""
    ratios: dict[tuple[int, int], tuple[Node, Node]] = field(default_factory=dict)
    """The same where the quotient is a floating-point number: by how much one size is scaled to the other."""
    rounded: dict[tuple[int, int], Node] = field(default_factory=dict)
    """Integer quotients that become floating-point numbers: scales, unless they are used as integers too."""
    exponents: dict[Node, bool] = field(default_factory=dict)
    """Uniform symbols by which something is shifted, and whether to the right."""
    products: dict[Node, None] = field(default_factory=dict)
    """32-bit products of uniform symbols."""
    fitted: tuple[Node, ...] = ()
    """Those for which generic values have been found with which they do not overflow."""

    def note_quotient(self, a: Node, b: Node, kind: Kind) -> None:
        if kind.is_float:
            a, b = (without_cast(node) for node in (a, b))
        if a.op in ("uniform", "const") and b.op == "uniform" and not a.kind.is_float and not b.kind.is_float:
            (self.ratios if kind.is_float else self.quotients)[a.index, b.index] = (a, b)
        elif a.op == "uniform" and b.is_const and not a.kind.is_float and not kind.is_float and b.value > 1:
            self.shares.setdefault(a, set()).add(int(b.value))

    def note_exponent(self, op: str, exponent: Node) -> None:
        symbol = without_cast(exponent)
        if symbol.op == "uniform":
            self.exponents[symbol] = self.exponents.get(symbol, False) or op == ">>"

    def sort_quotients(self, nodes: Iterable[Node]) -> None:
        """Tells the scales (`float(width / new_width)`) among the integer quotients from the sizes (`channels / heads`,
        of which an attention kernel takes the square root as well). `nodes`: all in which a quotient may be used."""
        scales = {key: node for key, node in self.rounded.items() if key in self.quotients}
        if scales:
            quotients = {node.index for node in scales.values()}
            integer_uses = (n.args for n in nodes if not n.kind.is_float)
            sizes = quotients & {argument.index for arguments in integer_uses for argument in arguments}
            for key, node in scales.items():
                if node.index not in sizes:
                    self.ratios[key] = self.quotients.pop(key)

    def forget(self) -> None:
        """The generic values are settled: what they go into was looked at."""
        self.fitted = tuple(self.products)
        for seen in (self.products, self.quotients, self.shares, self.exponents, self.ratios, self.rounded):
            seen.clear()
