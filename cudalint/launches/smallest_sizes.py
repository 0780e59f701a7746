"""The smallest sizes for which something holds of a launch, among those that the host code lets come to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudalint.facts import Place as SourcePlace
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.assumptions import is_large
from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import UNREAD_EXTENT, Node, Uniform, below, bits_of, render, without_cast
from cudalint.host.values.polynomial import is_address, linear
from cudalint.host.values.ranges import Exact, Range, Ranges, of_kind
from cudalint.host.values.smallest import smallest
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import OpenNumbers, is_computed

LARGEST = (1 << 31) - 1
"""Up to which sizes are sought: more elements than that have no place in an `int`."""
_MOST_WAYS = 4
"""To one place that are looked at."""


class SmallestSizes:
    """Of one launch. Sizes are at least 1: what a launch of nothing does, nobody asks."""

    def __init__(
        self, configuration: Configuration, graph: Graph, statements: Sequence[Node] = (), with_computed: bool = False
    ) -> None:
        """`with_computed`: also numbers that a loop makes that was not followed, which may be powers of two and the
        like. What asks for large numbers only finds some of these as well."""
        self._graph, self._with_computed = graph, with_computed
        self._open = OpenNumbers(configuration, graph, statements)
        ways: dict[SourcePlace, list[list[Node]]] = {}
        for way in configuration.ways:
            checked = [part for each in (*way.guards, *statements) for part in conjuncts(graph, each)]
            if all(each.value for each in checked if each.is_const):
                ways.setdefault(way.place, []).append([each for each in checked if not each.is_const])
        self.places = tuple(ways)
        """Of the launches that the host code does come to."""
        self._ways = ways

    def is_open(self, node: Node) -> bool:
        """Whether a number depends on sizes that nothing in sight gives, and on nothing else that is not known."""
        if node.bits & ~self._graph.uniform_bits or not self._graph.one_of_two.isdisjoint(below([node], node.bits)):
            return False
        return bool(node.bits & self._open.open_bits) and all(map(self._is_size, self.symbols(node)))

    def symbols(self, node: Node) -> list[Node]:
        """The open numbers that a value depends on."""
        return self._graph.atoms(node.bits, self._open.open_bits)

    def basis(self, node: Node) -> set[str]:
        """Why usual numbers stand for the open numbers of a value."""
        return {self._graph.choice(symbol).basis for symbol in self.symbols(node)}

    def most(self, node: Node) -> Exact:
        """What a value is at most, whatever the sizes."""
        boxes: dict[Node, Range] = {**self._boxes([node])}
        return Ranges(self._graph, boxes).of(node)[1]

    def with_(self, goals: Sequence[Node], place: SourcePlace) -> dict[Node, int] | None:
        """The smallest sizes for which goals hold at one of the places; None where there are none or where nobody can
        tell."""
        if smallest(self._graph, goals, self._boxes(goals)) is None:
            return None
        for guards in self._ways[place][:_MOST_WAYS]:
            conditions = self._with_guards(goals, guards)
            if conditions is not None and all(map(self._is_size, self._symbols(conditions))):
                found = smallest(self._graph, conditions, self._boxes(conditions))
                if found is not None:
                    return found
        return None

    def _is_size(self, symbol: Node) -> bool:
        is_number = not symbol.kind.is_float and not is_address(symbol) and not _is_unread(symbol)
        return is_number and (self._with_computed or not is_computed(symbol))

    def _symbols(self, conditions: Sequence[Node]) -> list[Node]:
        return self._graph.atoms(bits_of(conditions), self._open.open_bits)

    def _boxes(self, conditions: Sequence[Node]) -> dict[Node, tuple[int, int]]:
        return {symbol: _box(symbol) for symbol in self._symbols(conditions)}

    def _with_guards(self, goals: Sequence[Node], guards: Sequence[Node]) -> list[Node] | None:
        """Goals with the guards that speak of the same numbers, or of numbers that these do; None where one of them is
        up to something that can't be followed."""
        found, left = list(goals), list(guards)
        bits, before = bits_of(goals) & self._open.open_bits, 0
        while bits != before:
            before = bits
            own = [each for each in left if each.bits & bits]
            if any(each.bits & ~self._graph.uniform_bits or is_large(each) for each in own):
                return None
            found += own
            left = [each for each in left if not each.bits & bits]
            bits |= bits_of(own) & self._open.open_bits
        guarding = found[len(goals) :]
        given = _given_by(self._graph, goals, guarding)
        return [*(self._graph.substitute(goal, given) for goal in goals), *guarding] if given else found


def _given_by(graph: Graph, goals: Sequence[Node], guards: Sequence[Node]) -> dict[Node, Node]:
    """Numbers that guards give for what goals are computed of: of `n % 4 == 0` follows what `gcd(n, 4)` is."""
    found: dict[Node, Node] = {}
    for guard in guards:
        if guard.op != "==" or not guard.args[1].is_const:
            continue
        left, right = guard.args
        found[left] = right
        if left.op == "%" and left.args[1].is_const and not right.value:
            for each in below(goals, bits_of(goals)):
                is_divisor = each.op == "gcd" and each.args[0] is left.args[0] and each.args[1].is_const
                if is_divisor and left.args[1].value % each.args[1].value == 0:
                    found[each] = each.args[1]
    return found


def _is_unread(symbol: Node) -> bool:
    return isinstance(symbol.payload, Uniform) and symbol.payload.name.removeprefix("?") == UNREAD_EXTENT


def _box(symbol: Node) -> tuple[int, int]:
    if symbol.kind == BOOL:
        return 0, 1
    return 1, min(LARGEST, int(of_kind(symbol.kind)[1]))


def named(sizes: dict[Node, int], wanted: Iterable[Node]) -> tuple[tuple[str, int], ...]:
    """The sizes that some values depend on, by name."""
    bits = bits_of(wanted)
    return tuple((render(symbol), number) for symbol, number in sizes.items() if symbol.bits & bits)


_DIVISIONS = ("/", ">>")


def quotients_in(extent: Node) -> list[Node]:
    """The quotients that an extent is made of."""
    return [node for node in below([extent], extent.bits) if node.op in _DIVISIONS]


def outer_quotients(extent: Node) -> list[Node]:
    """Those that are not divided once more: of `(n / 4 + 255) / 256` blocks, the fourths are the kernel's own."""
    found, pending = [], [extent]
    while pending:
        node = pending.pop()
        if node.op in _DIVISIONS:
            found.append(node)
        else:
            pending += node.args
    return list(dict.fromkeys(found))


def vanished(graph: Graph, quotients: Iterable[Node]) -> Node:
    """That one of some quotients has become 0 though there was something to divide. Of one that is rounded up
    (`(n + 255) / 256`, `(n + tile - 1) / tile`) that is not asked: what is added is nothing to divide."""
    found = graph.false
    for node in quotients:
        dividend = node.args[0]
        if _is_rounded_up(dividend, node.args[1]):
            continue
        one = graph.const(1, node.kind)
        parts = (
            graph.binary("<", node, one, BOOL),
            graph.binary("<", graph.const(0, dividend.kind), dividend, BOOL),
        )
        found = graph.binary("||", found, graph.conjunction(parts), BOOL)
    return found


def _is_rounded_up(dividend: Node, divisor: Node) -> bool:
    """Whether something is added to what is divided."""
    terms, constant = linear(without_cast(dividend))
    added = [without_cast(term) for term, factor in terms if factor > 0]
    return (bool(terms) and constant > 0) or without_cast(divisor) in added


def computes_rest_of(graph: Graph, extent: Node) -> bool:
    """Whether the host code computes what a division that makes an extent leaves: it may add a block for that, or do
    that part with another launch."""
    quotients = {
        (without_cast(node.args[0]), node.args[1].value)
        for node in below([extent], extent.bits)
        if node.op == "/" and node.args[1].is_const
    }
    return bool(quotients) and any(
        node.op == "%" and node.args[1].is_const and (without_cast(node.args[0]), node.args[1].value) in quotients
        for node in graph.nodes()
        if graph.number_of(node.index) <= 0
    )
