"""What a C++ expression evaluates to: numbers, pointers, records, arrays, closures, and places.

Values are immutable; writing to a part of a record or of a local array makes a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from cudalint.facts import Space
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Reason, bits_of
from cudalint.ir import nodes as ir
from cudalint.ir.text import element_name, field_name

_MAX_CHOICES = 6
"""How deep choices between pointers are nested."""


UNNAMED = "?"
"""What an allocation is called that no variable leads to."""


class Allocation(Struct, frozen=True, eq=False):
    """A piece of memory that pointers point into. Its start is aligned to 256 bytes, as cudaMalloc aligns."""

    name: str
    space: Space
    bytes: int | None = None
    """Its size where that is a plain number."""
    symbol: ir.Symbol | None = None
    """The shared, constant or device variable that it is."""
    size: Node | None = None
    """The size in bytes of a host allocation, where it is known as an expression."""
    is_null: bool = False
    """A null pointer is passed for it: comparisons see that, and accesses that are made in any case are listed all the
    same."""
    opaque: Node | None = None
    """For a pointer that was loaded from memory: the loaded value."""
    same_as: Allocation | None = None
    """The first parameter that the launch passes the same memory for."""
    element: ir.Type | None = None
    """What the first pointer to it is declared to point to, where that is known."""
    start: Node | None = None
    """How many bytes from its start the pointer leads that the launch passes, where that is not its start."""

    @property
    def memory(self) -> Allocation:
        """One and the same for all parameters that the launch passes it for."""
        return self.same_as or self


class LocalMemory(Struct, frozen=True, eq=False):
    """A local variable (or a part of it) as the target of a pointer."""

    place: LocalPlace
    element: ir.Type


class Pointer(Struct, frozen=True, eq=False):
    """An address: an allocation, and bytes from its start."""

    target: Allocation | LocalMemory
    offset: Node
    """Bytes from the start of the target."""
    pointee: ir.Type


class RecordValue(Struct, frozen=True, eq=False):
    """The value of a struct, field by field."""

    type: ir.RecordType
    fields: Mapping[str, Value]

    def with_field(self, name: str, value: Value) -> RecordValue:
        return RecordValue(self.type, {**self.fields, name: value})


class ArrayValue(Struct, frozen=True, eq=False):
    """A local array. Elements that nobody wrote by a constant index have the value `rest`."""

    type: ir.ArrayType
    elements: Mapping[int, Value]
    rest: Value

    def with_element(self, index: int, value: Value) -> ArrayValue:
        return ArrayValue(self.type, {**self.elements, index: value}, self.rest)


class Choice(Struct, frozen=True, eq=False):
    """`condition ? a : b` of values that are no numbers (pointers to different arrays, closures)."""

    condition: Node
    a: Value
    b: Value
    depth: int = 1


class Closure(Struct, frozen=True, eq=False):
    """A lambda with the values that it captured by copy."""

    function: ir.FunctionRef
    captured: Mapping[ir.Symbol, Value]


class FunctionValue(Struct, frozen=True, eq=False):
    """A function as a value."""

    function: ir.FunctionRef


class Text(Struct, frozen=True, eq=False):
    """A text that is known: a string literal, or a word of a command line."""

    text: str
    word: str = ""
    """Which word of the command line it is, or of which option it is the word: `argv[1]`, `--size`."""
    source: str = ""
    """What says so: `Makefile:12`."""


Value = Node | Pointer | RecordValue | ArrayValue | Choice | Closure | FunctionValue | Text

# --- places: what an lvalue denotes --------------------------------------------------------------

Step = str | Node
"""A field name, or an element index."""


class LocalPlace(Struct, frozen=True, eq=False):
    """A variable or a part of it."""

    symbol: ir.Symbol
    path: tuple[Step, ...]
    type: ir.Type

    def step(self, step: Step, type_: ir.Type) -> LocalPlace:
        return LocalPlace(self.symbol, (*self.path, step), type_)


class MemoryPlace(Struct, frozen=True, eq=False):
    """An object in memory."""

    pointer: Pointer
    type: ir.Type


class TemporaryPlace(Struct, frozen=True, eq=False):
    """A value without an address: the result of a call, say, of which a field is read."""

    value: Value
    type: ir.Type


Place = LocalPlace | MemoryPlace | TemporaryPlace
PLACES = (LocalPlace, MemoryPlace, TemporaryPlace)
"""To tell places from values."""


# --- working with values -------------------------------------------------------------------------


def join(graph: Graph, condition: Node, a: Value, b: Value) -> Value:
    """The value that is `a` where `condition` holds and `b` elsewhere."""
    if a is b:
        return a
    if condition.is_const:
        return a if condition.value else b
    if isinstance(a, Node) and isinstance(b, Node):
        return graph.select(condition, a, b)
    if isinstance(a, Pointer) and isinstance(b, Pointer) and a.target is b.target:
        offset = graph.select(condition, a.offset, b.offset)
        return Pointer(a.target, offset, a.pointee)
    if isinstance(a, RecordValue) and isinstance(b, RecordValue) and a.fields.keys() == b.fields.keys():
        return RecordValue(a.type, {k: join(graph, condition, v, b.fields[k]) for k, v in a.fields.items()})
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        return _join_arrays(graph, condition, a, b)
    depth = 1 + max(v.depth if isinstance(v, Choice) else 0 for v in (a, b))
    return Choice(condition, a, b, depth) if depth <= _MAX_CHOICES else one_of_many(graph)


def one_of_many(graph: Graph) -> Pointer:
    """What stands for a pointer that may point into too many arrays to follow each."""
    reason = Reason("it goes through one of many pointers")
    anywhere = graph.opaque(reason, (), I8)
    return Pointer(Allocation(UNNAMED, "generic", opaque=anywhere), graph.const(0, I8), ir.OpaqueType("?"))


def _join_arrays(graph: Graph, condition: Node, a: ArrayValue, b: ArrayValue) -> ArrayValue:
    keys = a.elements.keys() | b.elements.keys()
    elements = {k: join(graph, condition, a.elements.get(k, a.rest), b.elements.get(k, b.rest)) for k in keys}
    return ArrayValue(a.type, elements, join(graph, condition, a.rest, b.rest))


def map_leaves(value: Value, change: Callable[[Value, str], Value], path: str = "") -> Value:
    """`value` with every leaf (number, pointer, closure) replaced; `path` spells out where the leaf is."""
    if isinstance(value, RecordValue):
        return RecordValue(value.type, {k: map_leaves(v, change, field_name(path, k)) for k, v in value.fields.items()})
    if isinstance(value, ArrayValue):
        elements = {k: map_leaves(v, change, element_name(path, k)) for k, v in value.elements.items()}
        return ArrayValue(value.type, elements, map_leaves(value.rest, change, f"{path}[]"))
    return change(value, path)


def leaves(value: Value, path: str = "") -> Iterator[tuple[str, Value]]:
    """The leaves of a value with their paths, as `map_leaves` names them."""
    if isinstance(value, RecordValue):
        for k, v in value.fields.items():
            yield from leaves(v, field_name(path, k))
    elif isinstance(value, ArrayValue):
        for index, v in value.elements.items():
            yield from leaves(v, element_name(path, index))
        yield from leaves(value.rest, f"{path}[]")
    else:
        yield path, value


def nodes_of(value: Value) -> Iterator[Node]:
    """All numbers that a value consists of."""
    for _, leaf in leaves(value):
        if isinstance(leaf, Node):
            yield leaf
        elif isinstance(leaf, Pointer):
            yield leaf.offset
        elif isinstance(leaf, Choice):
            yield leaf.condition
            yield from nodes_of(leaf.a)
            yield from nodes_of(leaf.b)


_FEW = 8


def few_of(numbers: Iterable[Node]) -> tuple[Node, ...]:
    """A few of some numbers, which depend on all that any of them depends on."""
    distinct = tuple(dict.fromkeys(numbers))
    found = list(distinct[:_FEW])
    bits = bits_of(found)
    for number in distinct[_FEW:]:
        if number.bits & ~bits:
            found.append(number)
            bits |= number.bits
    return tuple(found)


def some_nodes(value: Value) -> tuple[Node, ...]:
    """A few of the numbers that a value consists of: what stands for all of them where they get mixed up."""
    return few_of(nodes_of(value))


