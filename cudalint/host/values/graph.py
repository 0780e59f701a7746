"""Symbolic values: a hash-consed expression graph over uniform symbols.

A value is a node. Leaves are constants, uniform symbols (unknown numbers), loop counters, and opaque values (anything
that the analysis cannot follow). Inner nodes are C operations with the width of their C type, so that unsigned
arithmetic wraps. A node knows by a bit set which leaves it depends on; `cudalint.host.values.evaluation` gives it
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from cudalint.host.values.arithmetic import (
    BOOL,
    I4,
    I8,
    Kind,
    Number,
    either,
    first_failure,
    wrap,
)
from cudalint.host.values.narrowing import Known
from cudalint.host.values.nodes import (
    OPAQUE_BIT,
    UNINITIALISED,
    Basis,
    Choice,
    Node,
    Reason,
    Stride,
    Uniform,
    Valuation,
    bits_of,
    own_bit,
    render,
)
from cudalint.host.values.operations import COMMUTATIVE, COMPARISONS, FUNCTIONS, SWAPPED, fold, number
from cudalint.host.values.simplify import simplify
from cudalint.host.values.size_uses import SizeUses
from cudalint.host.values.substitution import Substitutions
from cudalint.ir import nodes as ir

_FIRST_FREE_BIT = 1
_WIDEST = 8
"""Bytes of the integers that numbers are kept in."""
_BEYOND = 1 << 63
_WORD = 4
_MAX_FLOAT_SIZE = 96
"""Floating-point values that take more nodes than this are summarised."""
_MAX_SUMMARY = 12
_MAX_WRITTEN_OUT = 64
"""Conditions of loops that take fewer nodes are computed with numbers, without nodes for each iteration."""
NOT_DECLARED = "nothing declares it"
"""What says a number that was made up for a missing name."""



class Checkpoint(Struct, frozen=True, eq=False):
    """The state of a graph at some time."""

    nodes: Mapping[object, Node]
    atoms: Mapping[int, Node]
    next_bit: int
    uniform_bits: int
    choosing: frozenset[Node]
    valuation: Valuation
    count: int
    """How many values were made."""


class Graph:
    """All nodes of one file's evaluation. Nodes are only comparable within their graph."""

    def __init__(self) -> None:
        self._nodes: dict[object, Node] = {}
        self._next_bit = _FIRST_FREE_BIT
        self._count = 0
        self._shared = 0
        """How many values the host code has made."""
        self._before = 0
        """How many were made before this kernel."""
        self._substitutions = Substitutions()
        self.opaque_bits = OPAQUE_BIT
        self.uniform_bits = 0
        self._atoms: dict[int, Node] = {}
        self._sets: dict[int, int] = {}
        """The sets of leaves that nodes depend on, each by itself: most nodes share theirs with others, and after many
        loads one takes hundreds of bytes."""
        self.uses = SizeUses()
        self.valuation = Valuation()
        """The numbers that stand for uniform symbols where nothing else is asked for."""
        self.choosing: set[Node] = set()
        """Conditions that choose between values."""
        self.one_of_two: set[Node] = set()
        """Values that stand for others, too, which a branch of the host code sets."""
        self.divided_at: dict[Node, ir.Span] = {}
        """Where host code computes quotients."""
        self.narrowed: Known = {}
        """Numbers of 32 bits that host code makes of counts that need not fit."""
        self.fitting: dict[object, tuple[int, ...]] = {}
        """The values of sizes for which conditions were found to hold."""
        self.work = 0
        """How much was computed so far, in units of about a microsecond. What has to end early ends by this clock: by
        that on the wall, findings would come and go with what else the machine does."""
        self.zero = self.const(0)
        self.one = self.const(1)
        self.true = self.const(1, BOOL)
        self.false = self.const(0, BOOL)

    # one kernel after the other

    def checkpoint(self) -> Checkpoint:
        """What there is now: the host code's values, which all kernels of a file share."""
        return Checkpoint(
            dict(self._nodes), dict(self._atoms), self._next_bit, self.uniform_bits, frozenset(self.choosing),
            self.valuation, self._count,
        )  # fmt: skip

    def rewind(self, to: Checkpoint) -> None:
        """Forgets what a kernel added. Its nodes must not be used any more, since their bits are given out again."""
        self.forget_uses()
        self._substitutions.forget()
        self._nodes, self._atoms, self._next_bit = dict(to.nodes), dict(to.atoms), to.next_bit
        self._sets.clear()
        self.uniform_bits = to.uniform_bits
        self._shared, self._before = to.count, self._count
        self.choosing = set(to.choosing)
        self.valuation = to.valuation.having(self.chosen_for_all(to))

    def chosen_for_all(self, to: Checkpoint) -> dict[Node, Choice]:
        """What kernels have chosen for the host code's sizes that holds for the others too: what a launch needs and
        what sizes are used as, not what one kernel asks of them for itself."""
        return {
            symbol: choice for symbol, choice in self.valuation.chosen.items()
            if choice.basis in ("launch", "use", "name") and to.atoms.get(own_bit(symbol)) is symbol
        }  # fmt: skip

    def forget_uses(self) -> None:
        """Forgets what generic values go into, once they are chosen."""
        self.uses.forget()

    # leaves

    def const(self, value: Number, kind: Kind = I4) -> Node:
        value = wrap(value, kind)
        if kind.bytes > _WIDEST and not kind.is_float and not -_BEYOND <= value < _BEYOND:
            # Numbers are kept in 64 bits. Each such constant differs from others by its value.
            return self.opaque(Reason("it is a number of more than 64 bits", value), (), kind)
        return self._intern("const", (), value, kind, 0, key=("const", kind, value, isinstance(value, float)))

    def uniform(self, name: str, generic: Number, kind: Kind = I4, is_computed: bool = False) -> Node:
        """A new uniform symbol; two calls give two symbols, even of one name."""
        return self._uniform(Uniform(name, Choice(wrap(generic, kind)), is_computed), kind)

    def _uniform(self, symbol: Uniform, kind: Kind) -> Node:
        node = self._atom("uniform", symbol, kind)
        self.uniform_bits |= own_bit(node)
        return node

    def default(self, name: str, value: Number, kind: Kind, source: str = "") -> Node:
        """A uniform symbol for a number that options may change; `source` is what says it, if not the program."""
        return self._uniform(Uniform(name, Choice(wrap(value, kind), "program", source)), kind)

    def instead(self, symbol: Node, choice: Choice) -> Node:
        """Another symbol like one, for which another number stands."""
        assert isinstance(symbol.payload, Uniform)
        return self._uniform(replace(symbol.payload, first=choice), symbol.kind)

    def choice(self, symbol: Node) -> Choice:
        """What stands for a uniform symbol."""
        return self.valuation.of(symbol)

    def generic(self, symbol: Node) -> int:
        """The number that stands for a uniform symbol that is an integer."""
        return int(self.valuation.of(symbol).value)

    def rests_on_defaults(self, node: Node) -> bool:
        """Whether a value depends on numbers that options may change, and on nothing else."""
        if not node.bits or node.bits & ~self.uniform_bits:
            return False
        return all(map(self._has_default, self.atoms(node.bits, self.uniform_bits)))

    def _has_default(self, symbol: Node) -> bool:
        """Whether the program has a number for a symbol, which a statement of the user's may have changed."""
        choice = self.choice(symbol)
        is_stated = choice.basis == "given"
        return choice.is_default or (
            is_stated and isinstance(symbol.payload, Uniform) and symbol.payload.first.is_default
        )

    def rests_on_sizes(self, node: Node) -> bool:
        """Whether a value depends on numbers of which nothing in sight says what they are, even by default."""
        return not all(self.choice(symbol).is_known for symbol in self.atoms(node.bits, self.uniform_bits))

    @staticmethod
    def rename(node: Node, name: str) -> None:
        """Gives a uniform symbol a name that says more; it stays the same symbol."""
        assert isinstance(node.payload, Uniform)
        node.payload = replace(node.payload, name=name)

    def choose(self, symbol: Node, value: Number, basis: Basis, place: str = "") -> None:
        """Lets another number stand for a uniform symbol. Only before anything was evaluated with the old one."""
        choice = replace(self.choice(symbol), value=value, basis=basis, place=place)
        self.valuation = self.valuation.having({symbol: choice})

    def mark_stride(self, node: Node, stride: Stride) -> None:
        """Notes that a uniform symbol is a tensor's stride. The elements of a row lie side by side as a rule."""
        assert isinstance(node.payload, Uniform)
        if node.payload.stride is None:
            node.payload = replace(node.payload, stride=stride)
            if stride == "inner":
                self.choose(node, 1, "use")

    def counter(self, label: object) -> Node:
        """A new loop counter: 0 in the loop's first iteration, 1 in the second."""
        return self._atom("loop", label, I8)

    def placeholder(self, kind: Kind) -> Node:
        """A new leaf that stands for a value not yet known (a variable at a loop's head); it is substituted later."""
        return self._atom("placeholder", None, kind)

    def opaque(self, reason: Reason, args: tuple[Node, ...], kind: Kind) -> Node:
        """A value that cannot be followed but that is a function of `args`."""
        bits = OPAQUE_BIT
        for arg in args:
            bits |= arg.bits
        return self._intern("opaque", args, reason, kind, bits)

    def _atom(self, op: str, payload: object, kind: Kind) -> Node:
        bit = 1 << self._next_bit
        self._next_bit += 1
        self._count += 1
        node = self._atoms[bit] = Node(op, (), payload, kind, bit, self._count)
        return node

    def number_of(self, index: int) -> int:
        """Of the value with an index, a number that tells it from others and that is the same whatever else was made
        before the kernel that it is of: positive, and for the host code's values none is."""
        return index - (self._shared if index <= self._shared else self._before)

    def atoms(self, bits: int, wanted: int) -> list[Node]:
        """The atoms of `bits` that are among `wanted` (such as `uniform_bits`)."""
        found, rest = [], bits & wanted
        while rest:
            bit = rest & -rest
            found.append(self._atoms[bit])
            rest ^= bit
        return found

    def nodes(self) -> Iterable[Node]:
        """All but the atoms, which are symbols, counters and placeholders."""
        return self._nodes.values()

    # operations

    def binary(self, op: str, a: Node, b: Node, kind: Kind) -> Node:
        """`a op b` computed in `kind` (for comparisons: the kind of the operands is their own)."""
        if op in SWAPPED:
            op, a, b = SWAPPED[op], b, a
        if op in COMPARISONS:
            kind = BOOL
        elif not kind.is_float and kind != BOOL and (a.kind.is_float or b.kind.is_float):
            # An index that is no integer, in code that isn't C++: what is computed of it has to be one.
            a, b = (self.convert(each, kind) if each.kind.is_float else each for each in (a, b))
        if a.is_const and b.is_const:
            return self.const(fold(op, a.value, b.value, kind), kind)
        simple = simplify(self, op, a, b, kind)
        if simple is not None:
            return simple
        if op == "/":
            self.uses.note_quotient(a, b, kind)
        elif op in ("<<", ">>"):
            self.uses.note_exponent(op, b)
        if op in COMMUTATIVE and a.is_const:
            a, b = b, a
        if a.size + b.size > _MAX_FLOAT_SIZE and kind.is_float:
            return self._summary((a, b), kind)
        node = self._intern(op, (a, b), None, kind, a.bits | b.bits, (op, kind, a.index, b.index))
        if op == "*" and kind.bytes == _WORD and node.bits and not node.bits & ~self.uniform_bits:
            self.uses.products[node] = None
        return node

    def _summary(self, parts: tuple[Node, ...], kind: Kind) -> Node:
        """What is left of a long floating-point computation: that it depends on these leaves. It hardly ever decides
        anything, and kept in full it would be substituted into again and again."""
        bits = bits_of(parts)
        reason = Reason("it comes out of a long computation", kind="summary")
        return self.opaque(reason, tuple(self.atoms(bits, ~OPAQUE_BIT)[:_MAX_SUMMARY]), kind)

    def truth(self, a: Node) -> Node:
        """`a != 0` as a bool."""
        return a if a.kind == BOOL else self.binary("!=", a, self.const(0, a.kind), BOOL)

    def negate(self, a: Node) -> Node:
        """Logical not."""
        a = self.truth(a)
        if a.is_const:
            return self.false if a.value else self.true
        if a.op == "!":
            return a.args[0]
        return self._intern("!", (a,), None, BOOL, a.bits)

    def conjunction(self, conditions: tuple[Node, ...]) -> Node:
        result = self.true
        for condition in conditions:
            result = self.binary("&&", result, condition, BOOL)
        return result

    def invert(self, a: Node, kind: Kind) -> Node:
        """Bitwise not."""
        return self.binary("^", a, self.const(-1, I8 if kind.code == "u" else kind), kind)

    def select(self, condition: Node, a: Node, b: Node) -> Node:
        """`condition ? a : b`."""
        condition = self.truth(condition)
        if condition.is_const:
            return a if condition.value else b
        if a is b:
            return a
        # No program may depend on a variable that was never set, so the other side stands for both.
        if a.payload is UNINITIALISED or b.payload is UNINITIALISED:
            return b if a.payload is UNINITIALISED else a
        kind = either(a.kind, b.kind)
        self.choosing.add(condition)
        return self._intern("select", (condition, a, b), None, kind, condition.bits | a.bits | b.bits)

    def convert(self, a: Node, kind: Kind) -> Node:
        """`a` cast to `kind`; a conversion that cannot change the number is no node."""
        if a.kind == kind:
            return a
        if a.is_const:
            return self.const(a.value, kind)
        if kind == BOOL:
            return self.truth(a)
        if a.kind == BOOL or self._widens(a.kind, kind):
            return a if a.kind == BOOL or kind.is_float == a.kind.is_float else self._cast(a, kind)
        return self._cast(a, kind)

    @staticmethod
    def _widens(source: Kind, target: Kind) -> bool:
        if source.is_float or target.is_float:
            return source.is_float and target.is_float and source.bytes <= target.bytes
        if source.code == target.code:
            return source.bytes <= target.bytes
        return source.code == "u" and source.bytes < target.bytes

    def _cast(self, a: Node, kind: Kind) -> Node:
        if kind.is_float and a.op == "/":
            self.uses.rounded[a.args[0].index, a.args[1].index] = a
        return self._intern("cast", (a,), None, kind, a.bits)

    def function(self, name: str, a: Node, kind: Kind) -> Node:
        """A mathematical function of one argument, by its C name without suffix (`FUNCTIONS`)."""
        if a.is_const:
            try:
                return self.const(float(FUNCTIONS[name].number(float(a.value))), kind)
            except (ValueError, OverflowError, ZeroDivisionError):
                return self.const(math.nan, kind)
        return self._intern("function", (a,), name, kind, a.bits)

    def pick(self, index: Node, choices: tuple[Node, ...]) -> Node:
        """`choices[index]`; an index outside is clamped."""
        if index.is_const:
            return choices[max(0, min(int(index.value), len(choices) - 1))]
        return self._intern("pick", (index, *choices), None, choices[0].kind, index.bits | bits_of(choices))

    def trips(self, counter: Node, condition: Node) -> Node:
        """How often a loop goes round: the first value of `counter` for which `condition` does not hold."""
        key = ("trips", counter.index, condition.index)
        if not condition.bits & ~counter.bits:
            if key not in self._nodes:
                self._nodes[key] = self.const(self._count_out(counter, condition), I8)
            return self._nodes[key]
        if condition.bits & self.uniform_bits:
            self.uses.loops[counter, condition] = None
        return self._intern("trips", (condition,), counter, I8, condition.bits & ~counter.bits, key)

    def _count_out(self, counter: Node, condition: Node) -> int:
        """The trip count of a loop that depends on nothing but its counter, at most MAX_TRIPS."""

        def goes_on(k: int) -> bool:
            found = number(condition, {counter.index: k}) if condition.size <= _MAX_WRITTEN_OUT else None
            if found is not None:
                return bool(found)
            test = self.substitute(condition, {counter: self.const(k, I8)})
            return test.is_const and bool(test.value)

        return first_failure(goes_on)

    def _intern(
        self, op: str, args: tuple[Node, ...], payload: object, kind: Kind, bits: int, key: object = None
    ) -> Node:
        key = key or (op, kind, payload, *[a.index for a in args])
        node = self._nodes.get(key)
        if node is None:
            self._count += 1
            node = Node(op, args, payload, kind, self._sets.setdefault(bits, bits), self._count)
            self._nodes[key] = node
        return node

    # substitution

    def substitute(self, node: Node, bindings: Mapping[Node, Node]) -> Node:
        """`node` with leaves (or what is made of some) replaced, rebuilt and so simplified where it depends on one."""
        return self._substitutions.substitute(self, node, bindings)


def conjuncts(graph: Graph, condition: Node) -> list[Node]:
    """The parts of a conjunction: `a && b` and `!(a || b)` are split."""
    parts, pending = [], [condition]
    while pending:
        node = pending.pop()
        if node.op == "&&":
            pending += [node.args[1], node.args[0]]
        elif node.op == "!" and node.args[0].op == "||":
            inner = node.args[0]
            pending += [graph.negate(inner.args[1]), graph.negate(inner.args[0])]
        else:
            parts.append(node)
    return parts


def stated(graph: Graph, symbol: Node, name: str | None = None) -> str:
    """That a number is what it is if no option says otherwise, as an assumption: `n == 1024`, or, where that is how
    the program is run, `n == 1024 (Makefile:12)`."""
    choice = graph.choice(symbol)
    where = f" ({choice.place})" if choice.place and choice.is_default else ""
    return f"{name or render(symbol)} == {choice.value}{where}"
