"""What variables and memory hold: reading and writing places of host code."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cudalint.host.executor.generics import Generics, provisional
from cudalint.host.executor.state import State
from cudalint.host.executor.values import (
    PLACES,
    UNNAMED,
    Allocation,
    ArrayValue,
    Choice,
    Closure,
    FunctionValue,
    LocalMemory,
    LocalPlace,
    MemoryPlace,
    Place,
    Pointer,
    RecordValue,
    Step,
    TemporaryPlace,
    Value,
    join,
    map_leaves,
    some_nodes,
)
from cudalint.host.values.arithmetic import BOOL, I8, Kind, kind_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import UNINITIALISED, Node, Reason, Uniform
from cudalint.ir import nodes as ir
from cudalint.ir.sizes import Size, sized
from cudalint.ir.text import field_name

_MAX_JOINED = 16
"""Local arrays of integers up to this length keep each of their elements when one is written by an unknown index."""
_MAX_PICK = 128
"""Local arrays up to this many elements are selected from; longer ones become unknown."""


def element_bytes(type_: ir.Type) -> Size:
    return sized(type_.bytes)


class Memory:
    """What places of host code hold. Unknown numbers are uniform symbols, each with a generic value."""

    def __init__(self, graph: Graph, generics: Generics) -> None:
        self.graph = graph
        self.generics = generics
        self.unset: set[Node] = set()
        """What stands for the numbers of variables that nothing has been stored in yet."""
        self.now: Callable[[], object] = tuple
        """Which execution of a place this is: what a function reads is another number with each call of it."""
        self._made: dict[object, Node] = {}
        self._unknown = 0
        self._pointers: dict[tuple[Allocation, Node, ir.Type], Value] = {}
        """What was loaded from places that hold pointers."""
        self._elements: dict[tuple[Value, int | Node], Value] = {}
        """Elements of arrays of which nothing is known."""

    # values of unknown content

    def unknown(self, type_: ir.Type, reason: Reason, args: tuple[Node, ...] = (), name: str = "") -> Value:
        """A value of `type_` of which only is known what it depends on."""
        if isinstance(type_, ir.Scalar):
            return self._unknown_number(kind_of(type_), reason, args, name)
        if isinstance(type_, ir.PointerType):
            self._unknown += 1
            address = self.graph.opaque(replace(reason, text=f"{reason.text} [{self._unknown}]"), args, I8)
            target = Allocation(name or UNNAMED, "global", opaque=address, element=type_.pointee)
            return Pointer(target, self.graph.const(0, I8), type_.pointee)
        if isinstance(type_, ir.ArrayType):
            return ArrayValue(type_, {}, self.unknown(type_.element, reason, args, name))
        if isinstance(type_, ir.RecordType):
            fields = {}
            for field in type_.fields:
                inner = field_name(name, field.name) if name else field.name
                fields[field.name] = self.unknown(field.type, reason, args, inner)
            return RecordValue(type_, fields)
        return self.graph.opaque(reason, args, I8)

    def _unknown_number(self, kind: Kind, reason: Reason, args: tuple[Node, ...], name: str) -> Node:
        origin = (reason.origin, self.now()) if reason.origin is not None else None
        key = (reason.text, origin, name, kind, tuple(a.index for a in args))
        node = self._made.get(key)
        if node is None:
            node = self.generics.make(name or f"?{provisional(reason)}", kind, is_computed=reason.kind == "iteration")
            self._made[key] = node
            if reason is UNINITIALISED:
                self.unset.add(node)
        return node

    def unknown_parameter(self, symbol: ir.Symbol) -> Value | Place:
        """What a function is given that is called from outside."""
        type_, reason = symbol.type, Reason("parameter")
        if ir.is_reference(type_):
            return TemporaryPlace(self.unknown(type_.pointee, reason, (), symbol.name), type_.pointee)
        return self.unknown(type_, reason, (), symbol.name)

    def smear(self, value: Value, type_: ir.Type, extra: tuple[Node, ...] = (), field: str | None = None) -> Value:
        """A value of `type_` that depends on everything that `value` consists of, in an unknown way: on each `field` of
        it in another one."""
        return self.unknown(type_, Reason("of parts"), some_nodes(value) + extra, field or "")

    # reading

    def read(self, state: State, place: Place, span: ir.Span) -> Value:
        if isinstance(place, TemporaryPlace):
            return place.value
        if isinstance(place, LocalPlace):
            return self._read_local(state, place)
        return self._read_memory(place, span)

    def _read_local(self, state: State, place: LocalPlace) -> Value:
        root = state.variables.get(place.symbol)
        if root is None or isinstance(root, PLACES):
            return self.unknown(place.type, UNINITIALISED, (), place.symbol.name)
        value: Value = root
        for position, step in enumerate(place.path):
            inner = self._part(value, step, place.type if position == len(place.path) - 1 else None)
            if inner is None:
                # A field that the value does not have may depend on anything.
                indices = tuple(s for s in place.path if isinstance(s, Node))
                names = ".".join(s for s in place.path if isinstance(s, str))
                return self.smear(value, place.type, indices, field=names or None)
            value = inner
        if isinstance(place.type, ir.RecordType) and not isinstance(value, (RecordValue, Choice, Closure)):
            return self.smear(value, place.type)
        if isinstance(place.type, ir.Scalar) and isinstance(value, Node) and _is_punned(place, value):
            return self.smear(value, place.type)
        return value

    def _part(self, value: Value, step: Step, type_: ir.Type | None) -> Value | None:
        if isinstance(value, Choice):
            a, b = self._part(value.a, step, type_), self._part(value.b, step, type_)
            return None if a is None or b is None else join(self.graph, value.condition, a, b)
        if isinstance(step, str):
            return value.fields.get(step) if isinstance(value, RecordValue) else None
        if not isinstance(value, ArrayValue):
            return None
        if step.is_const:
            return self._element(value, int(step.value))
        return self._pick(value, step)

    def element(self, array: ArrayValue, index: Node, type_: ir.Type) -> Value:
        """What stands at an index of an array that is no variable: the field of what a call or a reference gives."""
        found = self._part(array, index, type_)
        return self.smear(array, type_, (index,)) if found is None else found

    def _element(self, array: ArrayValue, index: int) -> Value:
        """The numbers of an array that was filled elsewhere (by `fread`) are unknown, and differ from one another."""
        found = array.elements.get(index)
        value = self._own_pointers(array.rest, index) if found is None else found
        if value is not array.rest or not isinstance(value, Node) or not isinstance(value.payload, Uniform):
            return value
        element = self.generics.element(value, index)
        if value in self.unset:
            self.unset.add(element)
        return element

    def _own_pointers(self, rest: Value, index: int | Node) -> Value:
        """What an element is that stands for all of which nothing is known: each has pointers of its own, as in a
        structure of several images that is passed to a kernel."""
        if isinstance(rest, Node):
            return rest
        known = self._elements.get((rest, index))
        if known is None:
            known = self._elements[rest, index] = map_leaves(rest, lambda leaf, _: _of_element(leaf, index))
        return known

    def _pick(self, array: ArrayValue, index: Node) -> Value | None:
        count = array.type.count or 0
        has_pointers = not isinstance(array.rest, Node) and len(array.elements) < count
        if (has_pointers or not array.elements) and count:
            return self._own_pointers(array.rest, index)
        if has_pointers or not 0 < count <= _MAX_PICK:
            # Elements of which nothing is known are not one and the same pointer.
            return None
        return self._one_of([array.elements.get(i, array.rest) for i in range(count)], index)

    def _one_of(self, values: list[Value], index: Node) -> Value | None:
        """The value at an index that varies; None where all that can be said is that it is one of them."""
        first = values[0]
        if any(isinstance(value, FunctionValue) for value in values):
            return self._one_function(values, index)
        if all(v is first for v in values):
            return first
        nodes = tuple(v for v in values if isinstance(v, Node))
        if len(nodes) == len(values):
            return None if nodes[0].kind.is_float else self.graph.pick(index, nodes)
        records = [v for v in values if isinstance(v, RecordValue)]
        if isinstance(first, RecordValue) and len(records) == len(values):
            if any(field.name not in record.fields for record in records for field in first.type.fields):
                return None
            return RecordValue(first.type, {f.name: self._one_field(f, records, index) for f in first.type.fields})
        if not all(isinstance(v, (Pointer, Choice)) for v in values):
            return None
        chosen = values[-1]
        for i in reversed(range(len(values) - 1)):
            here = self.graph.binary("==", index, self.graph.const(i, I8), I8)
            chosen = join(self.graph, here, values[i], chosen)
        return chosen

    def _one_function(self, values: list[Value], index: Node) -> Value:
        """Of a table of functions each one with the index at which it stands: a program calls none outside of it."""
        chosen: Value = self.graph.zero
        for depth, (place, value) in enumerate(reversed([*enumerate(values)]), 1):
            here = self.graph.binary("==", index, self.graph.const(place, index.kind), BOOL)
            chosen = Choice(here, value, chosen, depth)
        return chosen

    def _one_field(self, field: ir.Field, records: list[RecordValue], index: Node) -> Value:
        values = [r.fields[field.name] for r in records]
        found = self._one_of(values, index)
        if found is not None:
            return found
        all_of_them = ArrayValue(ir.ArrayType(field.type, None, len(values)), dict(enumerate(values)), values[0])
        return self.smear(all_of_them, field.type, (index,))

    def _read_memory(self, place: MemoryPlace, span: ir.Span) -> Value:
        if isinstance(place.type, ir.ArrayType):
            return decay(place, self.graph)
        pointer = place.pointer
        assert isinstance(pointer.target, Allocation)
        if isinstance(place.type, ir.PointerType):
            key = (pointer.target, pointer.offset, place.type)
            known = self._pointers.get(key)
            if known is None:
                known = self._pointers[key] = self._loaded(place, pointer.target, span)
            return known
        return self._loaded(place, pointer.target, span)

    def _loaded(self, place: MemoryPlace, target: Allocation, span: ir.Span) -> Value:
        text = f"it is loaded from `{target.name}` at line {span.line}"
        reason = Reason(text, kind="loaded")
        offset = place.pointer.offset
        args = (offset,) if target.opaque is None else (offset, target.opaque)
        return self.unknown(place.type, reason, args, f"{target.name}[...]")

    # writing

    def write(self, state: State, place: Place, value: Value) -> None:
        """A global array or record starts to be followed with the first part of it that is set; what is stored through
        pointers into memory is not followed."""
        if not isinstance(place, LocalPlace):
            return
        symbol = place.symbol
        if not place.path:
            state.variables[symbol] = value
            return
        if symbol not in state.variables:
            state.variables[symbol] = self.unknown(symbol.type, UNINITIALISED, (), symbol.name)
        root = state.variables[symbol]
        if not isinstance(root, PLACES):
            state.variables[symbol] = self._with_part(root, place.path, value)

    def _with_part(self, value: Value, path: tuple[Step, ...], new: Value) -> Value:
        if not path:
            return new
        step, rest = path[0], path[1:]
        if isinstance(value, RecordValue) and isinstance(step, str):
            old = value.fields.get(step)
            return value if old is None else self._with_field(value, step, self._with_part(old, rest, new))
        if isinstance(value, ArrayValue) and isinstance(step, Node):
            return self._with_element(value, step, rest, new)
        return value

    def _with_field(self, record: RecordValue, name: str, new: Value) -> RecordValue:
        """With what that makes of the fields that share bytes with it."""
        field, result = record.type.field(name), record.with_field(name, new)
        for other in record.type.overlapping(name) if field is not None else ():
            assert field is not None
            result = result.with_field(other.name, self._overlaid(other, field, new))
        return result

    def _overlaid(self, other: ir.Field, field: ir.Field, new: Value) -> Value:
        """What a field holds after another one in its place was set."""
        return new if field.type == other.type and field.offset == other.offset else self.smear(new, other.type)

    def _with_element(self, array: ArrayValue, index: Node, rest: tuple[Step, ...], new: Value) -> Value:
        if isinstance(array.type.element, ir.Scalar) and not isinstance(new, Node):
            return ArrayValue(array.type, {}, self.smear(new, array.type.element, (index,)))
        if index.is_const:
            position = int(index.value)
            old = array.elements.get(position, array.rest)
            return array.with_element(position, self._with_part(old, rest, new))
        count = array.type.count or 0
        floats = isinstance(array.rest, Node) and array.rest.kind.is_float
        if floats or not 0 < count <= _MAX_JOINED:
            blurred = self.smear(new, array.type.element, (index,))
            return ArrayValue(array.type, {}, blurred)
        elements = {}
        for i in range(count):
            old = array.elements.get(i, array.rest)
            here = self.graph.binary("==", index, self.graph.const(i, I8), I8)
            elements[i] = join(self.graph, here, self._with_part(old, rest, new), old)
        return ArrayValue(array.type, elements, array.rest)


def _is_punned(place: LocalPlace, value: Node) -> bool:
    """Whether a number is read as bits of another type: a float as an integer, or several numbers as one."""
    kind = kind_of(place.type)
    if kind.is_float == value.kind.is_float and kind.bytes <= value.kind.bytes:
        return False
    declared: ir.Type | None = place.symbol.type
    for step in place.path:
        declared = _part_type(declared, step)
    if not isinstance(declared, ir.Scalar):
        return False
    own = kind_of(declared)
    return kind.is_float != own.is_float or kind.bytes > own.bytes


def _part_type(type_: ir.Type | None, step: Step) -> ir.Type | None:
    if isinstance(step, str):
        field = type_.field(step) if isinstance(type_, ir.RecordType) else None
        return None if field is None else field.type
    return type_.element if isinstance(type_, ir.ArrayType) else None


def decay(place: Place, graph: Graph) -> Pointer:
    """The pointer to the first element that an array turns into."""
    zero = graph.const(0, I8)
    element = place.type.element if isinstance(place.type, ir.ArrayType) else place.type
    if isinstance(place, MemoryPlace):
        return replace(place.pointer, pointee=element)
    if isinstance(place, LocalPlace):
        return Pointer(LocalMemory(place, element), zero, element)
    return Pointer(Allocation("temporary", "local"), zero, element)


def address_of(place: Place, graph: Graph) -> Pointer:
    """`&place`."""
    if isinstance(place, MemoryPlace):
        return replace(place.pointer, pointee=place.type)
    if isinstance(place, LocalPlace):
        if place.path and isinstance(place.path[-1], Node):
            array = LocalPlace(place.symbol, place.path[:-1], ir.ArrayType(place.type, None, 0))
            size = graph.const(element_bytes(place.type), I8)
            return Pointer(LocalMemory(array, place.type), graph.binary("*", place.path[-1], size, I8), place.type)
        return Pointer(LocalMemory(place, place.type), graph.const(0, I8), place.type)
    return Pointer(Allocation("temporary", "local"), graph.const(0, I8), place.type)


def _of_element(leaf: Value, index: int | Node) -> Value:
    """An unknown argument's pointer in an array as the pointer of one element: `d.image[].data` of `d.image[2]`."""
    if not isinstance(leaf, Pointer) or not isinstance(leaf.target, Allocation) or leaf.target.opaque is not None:
        return leaf
    if isinstance(index, Node):
        return replace(leaf, target=replace(leaf.target))
    name = leaf.target.name.replace("[]", f"[{index}]", 1)
    return leaf if name == leaf.target.name else replace(leaf, target=replace(leaf.target, name=name))


def _stays_in_row(row: ir.ArrayType, index: Node) -> bool:
    """Whether an index is one of a row: `float *p = &a[0][0]` may walk on into the next one. Of a pointer to an element
    that is not known: it has no length."""
    if row.count is None:
        return index.is_const and not index.value
    return not index.is_const or 0 <= index.value < row.count


def _part_at(place: LocalPlace, pointer: Pointer) -> LocalPlace:
    """The part of a variable to which a pointer leads that starts at `place`; the whole variable, of another type,
    where it leads elsewhere in it."""
    is_start = pointer.offset.is_const and not pointer.offset.value
    return LocalPlace(place.symbol, place.path if is_start else (), pointer.pointee)


def dereference(pointer: Pointer, graph: Graph) -> Place:
    """`*pointer`."""
    target = pointer.target
    if isinstance(target, Allocation):
        return MemoryPlace(pointer, pointer.pointee)
    place = target.place
    if not isinstance(place.type, ir.ArrayType):
        return _part_at(place, pointer)
    size = element_bytes(target.element)
    index = graph.binary("/", pointer.offset, graph.const(size, I8), I8)
    if pointer.offset.op == "*" and pointer.offset.args[1].is_const and pointer.offset.args[1].value == size:
        index = pointer.offset.args[0]
    if place.path and isinstance(place.path[-1], Node) and not _stays_in_row(place.type, index):
        return _part_at(place, pointer)
    return LocalPlace(place.symbol, (*place.path, index), pointer.pointee)
