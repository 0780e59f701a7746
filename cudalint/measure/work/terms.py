"""Values by how they are computed: equal ones are one term, and integers are sums of others.

A term knows the loops that it depends on. Places say where it is computed: it is computed once for each turn of
the innermost of these loops, and not at all where nothing asks for it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from cudalint.execute.values import Data, Symbolic, Value
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.measure.work.graph import Graph, Loop, Place

ADDRESS = ir.Scalar("address", 8, "int")
SHARED_ADDRESS = ir.Scalar("shared address", 4, "int")
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
BOOL = ir.Scalar("bool", 1, "bool")
UINT = ir.Scalar("unsigned", 4, "uint")
VOID = ir.Scalar("void", 0, "void")
_INT = ir.Scalar("int", 4, "int")
_FLOAT = ir.Scalar("float", 4, "float")
_UNSIGNED_WORD = 1 << 32
Loops = frozenset["Loop"]
NO_LOOPS: Loops = frozenset()


class Part(NamedTuple):
    """A term times a number."""

    term: Term
    factor: int


class Term(Symbolic):
    """A value: what it is made of, by which operator."""

    __slots__ = (
        "arguments", "constant", "graph", "high", "home", "index", "info", "is_fused", "loops", "low", "node", "number",
        "op", "parts", "places", "type",
    )  # fmt: skip

    def __init__(
        self, graph: Graph, op: str, arguments: tuple[Any, ...], type_: ir.Scalar, loops: Loops, info: Any = None
    ) -> None:
        super().__init__("computed")
        self.graph, self.op, self.arguments, self.type, self.loops, self.info = graph, op, arguments, type_, loops, info
        self.parts: tuple[Part, ...] = (Part(self, 1),)
        self.constant = 0
        graph.total += 1
        self.number = graph.total
        self.node: Any = None
        """Of a load: what makes it in the source, where it is made first."""
        self.low: int | None = None
        self.high: int | None = None
        """Between which numbers it is, where that is known."""
        self.home: Place | None = None
        """Where the source computes it."""
        self.places: list[Place] = []
        """Where the machine does."""
        self.index: Term | None = None
        """Of an address: what is multiplied and added to its base."""
        self.is_fused = False
        """The sum of a product and something else, in one instruction."""

    def __repr__(self) -> str:
        if self.op == "sum":
            inside = " + ".join(f"{factor}*t{term.number}" for term, factor in self.parts)
            return f"<t{self.number} = {inside} + {self.constant}>"
        return f"<t{self.number} = {self.op} {self.arguments} {self.info or ''}>"

    @property
    def is_integer(self) -> bool:
        return self.type.kind in ("int", "uint")

    @property
    def is_sum(self) -> bool:
        return self.op == "sum"

    # --- what operators, conversions and addresses ask for ---------------------------------------------

    def combined(self, op: str, left: Value, right: Value, type_: ir.Type, operand: ir.Type) -> Value:
        if not isinstance(type_, ir.Scalar) or type_.kind == "void":
            return self
        return self.graph.operator(op, left, right, type_)

    def converted(self, type_: ir.Type) -> Value:
        if not isinstance(type_, ir.Scalar) or type_.kind == "void":
            return self
        return convert(self, type_)

    def moved(self, offset: Any, added: Any) -> Any:
        if not all(type(value) in (int, Term) for value in (offset, added)):
            return self
        first, second = (convert(v, ADDRESS) if isinstance(v, Term) else v for v in (offset, added))
        return self.graph.operator("+", first, second, ADDRESS)

    def scaled(self, bytes_: int) -> Any:
        return self.graph.operator("*", convert(self, ADDRESS), bytes_, ADDRESS)


def type_of(value: Value) -> ir.Scalar:
    if isinstance(value, Term):
        return value.type
    return _FLOAT if isinstance(value, float) else _INT


def convert(term: Term, type_: ir.Scalar) -> Term:
    """A term as one of another type."""
    own, graph = term.type, term.graph
    if own == type_ or (own.kind, own.bytes) == (type_.kind, type_.bytes):
        return term
    if type_.kind == "bool":
        return graph.make("!=", (term, 0), BOOL)
    if type_.kind == "float" or own.kind == "float":
        return graph.make("cast", (term,), type_)
    if own.kind == "bool":
        return graph.make("flag", (term,), type_)
    widened = type_.bytes > own.bytes and own.kind == "uint"
    if widened and not (own.bytes == 4 and is_in_range(term)):
        return graph.make("zext", (term,), type_)
    if type_.bytes > own.bytes and any(part.term.type.bytes > own.bytes for part in term.parts):
        # Of what was cut off nothing comes back.
        return graph.make("sext", (term,), type_)
    widened_sum: Term = graph.sum_of(term.parts, term.constant, type_)
    return widened_sum


def is_in_range(term: Term) -> bool:
    """Whether an unsigned number of 32 bits is known not to have wrapped around."""
    return term.low is not None and term.high is not None and term.low >= 0 and term.high < _UNSIGNED_WORD


def linear(value: Value) -> tuple[tuple[Part, ...], int] | None:
    """An integer as a sum of terms and a number."""
    if isinstance(value, Term):
        return (value.parts, value.constant) if value.is_integer or value.type.kind == "bool" else None
    return ((), int(value)) if type(value) in (int, bool) else None


def added(first: tuple[Part, ...], second: tuple[Part, ...], factor: int = 1) -> tuple[Part, ...]:
    """The sum of two sums, the second times a number."""
    found = dict(first)
    for term, own in second:
        found[term] = found.get(term, 0) + own * factor
    return tuple(Part(t, f) for t, f in sorted(found.items(), key=lambda item: item[0].number) if f)


def operator(graph: Graph, op: str, left: Value, right: Value, type_: ir.Scalar) -> Value:
    """A built-in operator on two values, of which one is a term."""
    if type_.kind in ("int", "uint") and op in ("+", "-", "*", "<<"):
        found = _integer(graph, op, left, right, type_)
        if found is not None:
            return found
    if op in _COMPARISONS:
        return graph.make(op, (left, right), BOOL)
    if op == "-" and type(left) is int and left == 0 and type_.kind == "float":
        return graph.make("negated", (right,), type_)
    if op == "%" and type_.kind in ("int", "uint") and not is_power_of_two(right):
        # The remainder is what the product of the quotient leaves.
        quotient = graph.make("/", (left, right), type_)
        return graph.make("remainder", (left, right, quotient), type_)
    return graph.make(op, (left, right), type_)


def is_power_of_two(value: Value) -> bool:
    return type(value) is int and value > 0 and value & (value - 1) == 0


def _integer(graph: Graph, op: str, left: Value, right: Value, type_: ir.Scalar) -> Value:
    first, second = linear(left), linear(right)
    if first is None or second is None:
        return None
    if op in ("+", "-"):
        sign = 1 if op == "+" else -1
        return graph.sum_of(added(first[0], second[0], sign), first[1] + sign * second[1], type_)
    if op == "<<":
        return None if second[0] else _times(graph, first, 1 << (second[1] & 63), type_)
    if not second[0]:
        return _times(graph, first, second[1], type_)
    if not first[0]:
        return _times(graph, second, first[1], type_)
    # (a + 3) * b is a * b + 3 * b: copies of an unrolled loop share the product.
    bare = graph.sum_of(first[0], 0, type_), graph.sum_of(second[0], 0, type_)
    product = graph.make("*", tuple(sorted(bare, key=lambda each: each.number)), type_)
    parts = added(added(product.parts, second[0], first[1]), first[0], second[1])
    return graph.sum_of(parts, first[1] * second[1], type_)


def _times(graph: Graph, form: tuple[tuple[Part, ...], int], factor: int, type_: ir.Scalar) -> Value:
    return graph.sum_of(added((), form[0], factor), form[1] * factor, type_) if factor else 0


def limits(term: Term) -> tuple[int | None, int | None]:
    """Between which numbers a term is, as far as its operator says."""
    if term.is_sum:
        low = high = term.constant
        for part, factor in term.parts:
            if part.low is None or part.high is None:
                return None, None
            ends = part.low * factor, part.high * factor
            low, high = low + min(ends), high + max(ends)
        return low, high
    if term.op in ("/", "%", "remainder", "&"):
        first, by = term.arguments[:2]
        least = first.low if isinstance(first, Term) else None
        if type(by) is not int or by <= 0:
            return None, None
        is_natural = term.type.kind == "uint" or (least is not None and least >= 0)
        if term.op == "&" or (term.op != "/" and is_natural):
            return 0, by if term.op == "&" else by - 1
        if term.op == "/" and isinstance(first, Term) and least is not None and least >= 0 and first.high is not None:
            return least // by, first.high // by
    if term.op in ("zext", "sext") and isinstance(term.arguments[0], Term):
        return term.arguments[0].low, term.arguments[0].high
    return (0, 1) if term.op == "flag" else (None, None)


def loops_of(arguments: tuple[Any, ...]) -> Loops:
    found = NO_LOOPS
    for each in arguments:
        if isinstance(each, Term):
            found |= each.loops
    return found


def key_of(arguments: tuple[Any, ...]) -> Iterator[Hashable]:
    """What distinguishes arguments: equal numbers of different types are different ones."""
    for each in arguments:
        yield (type(each), each) if type(each) in (int, float, bool) else id(each) if isinstance(each, Data) else 0


def below(values: Iterable[Any]) -> Iterator[Term]:
    """All terms that values are made of, and these; what turns make of the variables of loops is not among it."""
    waiting, seen = [value for value in values if isinstance(value, Term)], set[Term]()
    while waiting:
        term = waiting.pop()
        if term in seen:
            continue
        seen.add(term)
        yield term
        waiting += [part.term for part in term.parts]
        waiting += [each for each in term.arguments if isinstance(each, Term)]


def parameters(terms: Iterable[Term]) -> frozenset[str]:
    """The names of the numbers among them that the kernel takes."""
    return frozenset(term.info for term in terms if term.op == "parameter")
