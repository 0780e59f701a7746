"""How a program computes with sizes that nothing gives: by what they are divided and shifted, and what is multiplied.

It says which numbers make sense for sizes (`cudalint.host.choosing.sizes`).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from cudalint.host.values.arithmetic import Kind
from cudalint.host.values.nodes import GRANULE, Node, without_cast


class Window(Struct, frozen=True):
    """What is moved over an image: `(width + 2 * pad - size) / stride + 1`."""

    parts: frozenset[Node]
    """Its size, and the margins of which a number of times is added."""
    wholes: frozenset[Node]
    """The image's size, and perhaps margins."""


class SizeUses(Struct, eq=False):
    """What was seen since generic values were chosen last."""

    shares: dict[Node, set[int]] = field(default_factory=dict)
    """What uniform symbols are divided by, where that is known."""
    quotients: dict[tuple[int, int], tuple[Node, tuple[Node, ...]]] = field(default_factory=dict)
    """Uniform symbols, or numbers, and those by which, or by the product of which, they are divided."""
    ratios: dict[tuple[int, int], tuple[Node, Node]] = field(default_factory=dict)
    """The same where the quotient is a floating-point number: by how much one size is scaled to the other."""
    rounded: dict[tuple[int, int], Node] = field(default_factory=dict)
    """Integer quotients that become floating-point numbers: scales, unless they are used as integers too."""
    windows: dict[Node, dict[Window, None]] = field(default_factory=dict)
    """By how far they are moved."""
    loops: dict[tuple[Node, Node], None] = field(default_factory=dict)
    """Counters, and the conditions on them and on uniform symbols with which loops go on."""
    exponents: dict[Node, bool] = field(default_factory=dict)
    """Uniform symbols by which something is shifted, and whether to the right."""
    products: dict[Node, None] = field(default_factory=dict)
    """32-bit products of uniform symbols."""

    def note_quotient(self, a: Node, b: Node, kind: Kind) -> None:
        if kind.is_float:
            a, b = (without_cast(node) for node in (a, b))
        elif (stride := without_cast(b)).op == "uniform" and (window := _window(a)):
            self.windows.setdefault(stride, {})[window] = None
        if a.op in ("uniform", "const") and b.op == "uniform" and not a.kind.is_float and not b.kind.is_float:
            if kind.is_float:
                self.ratios[a.index, b.index] = (a, b)
            else:
                self.quotients[a.index, b.index] = (a, (b,))
        elif not kind.is_float and b.op in _OF_SIZES and (found := _shares(a, b)) is not None:
            self.quotients[a.index, b.index] = found
            number = _number_before(a)
            if number > 1:
                # A generic size is that many times something already, and the other sizes divide what is left.
                self.shares.setdefault(found[0], set()).add(number * GRANULE)
        elif a.op == "uniform" and b.is_const and not a.kind.is_float and not kind.is_float and b.value > 1:
            self.shares.setdefault(a, set()).add(int(b.value))

    def note_exponent(self, op: str, exponent: Node) -> None:
        symbol = without_cast(exponent)
        if symbol.op == "uniform":
            self.exponents[symbol] = self.exponents.get(symbol, False) or op == ">>"

    def sort_quotients(self, nodes: Iterable[Node]) -> None:
        """Tells the scales (`float(width / new_width)`) among the integer quotients from the sizes (`channels / heads`,
        of which an attention kernel takes the square root as well). `nodes`: all in which a quotient may be used."""
        scales = {key: node for key, node in self.rounded.items() if len(self.quotients.get(key, ((), ()))[1]) == 1}
        for key in [key for key in self.quotients if key[::-1] in self.quotients]:
            # `w / other_w` and `other_w / w`: whichever is the larger one, one of them is scaled to the other.
            whole, parts = self.quotients.pop(key)
            if len(parts) == 1:
                self.ratios[key] = (whole, parts[0])
        if scales:
            quotients = {node.index for node in scales.values()}
            integer_uses = (n.args for n in nodes if not n.kind.is_float)
            sizes = quotients & {argument.index for arguments in integer_uses for argument in arguments}
            for key, node in scales.items():
                if node.index not in sizes:
                    whole, parts = self.quotients.pop(key)
                    self.ratios[key] = (whole, parts[0])
        if self.ratios:
            for key in _counted(nodes) & self.ratios.keys():
                # `ceil(float(channels) / groups)`: how many there are of something.
                whole, part = self.ratios.pop(key)
                self.quotients[key] = (whole, (part,))

    def forget(self) -> None:
        """Of the values that are chosen now, nobody asks any more."""
        for seen in (
            self.products, self.quotients, self.shares, self.windows, self.loops, self.exponents, self.ratios,
            self.rounded,
        ):
            seen.clear()


def _counted(nodes: Iterable[Node]) -> set[tuple[int, int]]:
    """The floating-point quotients of two sizes that are divided by as integers, once they were rounded: parts of a
    whole, and not how much larger one size is than the other."""
    found = set[tuple[int, int]]()
    for node in nodes:
        if node.op not in ("/", "%") or node.kind.is_float:
            continue
        share = without_cast(node.args[1])
        if share.op == "function" and share.payload in _ROUNDING:
            share = share.args[0]
        if share.op == "/" and share.kind.is_float:
            whole, part = map(without_cast, share.args)
            found.add((whole.index, part.index))
    return found


_ROUNDING = frozenset({"ceil", "floor", "trunc", "round", "rint"})


def _window(total: Node) -> Window | None:
    """The window of which one computes how often it fits in, if anything is taken away from a size there."""
    parts, taken, wholes = set[Node](), False, set[Node]()
    pending = [(total, False)]
    while pending:
        node, is_taken = pending.pop()
        node = without_cast(node)
        if node.op in ("+", "-"):
            pending += [(node.args[0], is_taken), (node.args[1], is_taken ^ (node.op == "-"))]
        elif is_taken or node.op == "*":
            parts |= _sizes_in(node)
            taken = taken or (is_taken and not node.is_const)
        elif node.op == "uniform":
            wholes.add(node)
    return Window(frozenset(parts), frozenset(wholes)) if taken and wholes else None


def _sizes_in(product: Node) -> set[Node]:
    """The sizes that a product is computed from. Where data lies, and how often a loop went round before, says nothing
    of it."""
    pending, found = [product], set[Node]()
    while pending:
        node = pending.pop()
        if node.op == "uniform" and not node.kind.is_float:
            found.add(node)
        if node.op not in ("opaque", "trips"):
            pending += node.args
    return found


_OF_SIZES = ("uniform", "cast", "*")
"""What the product of some sizes consists of."""
_MOST_PARTS = 8
_LONGEST_SHIFT = 16


def _shares(dividend: Node, divisor: Node) -> tuple[Node, tuple[Node, ...]] | None:
    """A size and those whose product it is divided by, one after another (`groups / (nodes * devices) / stages`), or
    rounded up (`(n + tile - 1) / tile`, `(n - 1) / tile + 1`). A number may come before (`(channels >> 3) / heads`)."""
    parts = factors_of(divisor)
    if parts is None:
        return None
    whole = without_cast(dividend)
    while whole.op == "/" or _by_number(whole) > 1:
        more = () if _by_number(whole) > 1 else factors_of(whole.args[1])
        if more is None:
            return None
        parts, whole = (*more, *parts), without_cast(whole.args[0])
    size = _less(whole, without_cast(divisor))
    if size is None or size.op != "uniform" or size.kind.is_float or size in parts or len(parts) > _MOST_PARTS:
        return None
    return size, parts


def _number_before(dividend: Node) -> int:
    """The product of the numbers by which a value was divided."""
    product, whole = 1, without_cast(dividend)
    while whole.op in ("/", ">>"):
        product, whole = product * _by_number(whole), without_cast(whole.args[0])
    return product


def _by_number(quotient: Node) -> int:
    """The positive number that something is divided by, or shifted for it; 1 for all else."""
    if quotient.op not in ("/", ">>") or quotient.kind.is_float or not quotient.args[1].is_const:
        return 1
    number = int(quotient.args[1].value)
    return max(1, number) if quotient.op == "/" else 1 << number if 0 <= number < _LONGEST_SHIFT else 1


def factors_of(product: Node) -> tuple[Node, ...] | None:
    """The sizes that are multiplied; None where anything else goes in."""
    node = without_cast(product)
    if node.op == "uniform":
        return None if node.kind.is_float else (node,)
    if node.op != "*":
        return None
    a, b = factors_of(node.args[0]), factors_of(node.args[1])
    return None if a is None or b is None else (*a, *b)


def _less(total: Node, divisor: Node) -> Node | None:
    """The one thing that is left of a sum without numbers and without what it is divided by."""
    pending, left = [total], []
    while pending:
        node = without_cast(pending.pop())
        if node.op == "+":
            pending += node.args
        elif node.op == "-" and node.args[1].is_const:
            pending.append(node.args[0])
        elif not node.is_const and node is not divisor:
            left.append(node)
    return left[0] if len(left) == 1 else None
