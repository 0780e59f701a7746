"""Recorded arguments as the values of a kernel's parameters: what is the same in all launches is a number, and what
differs a symbol that has another number in each world."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from cudalint.host.executor.memory import Memory
from cudalint.host.executor.values import Allocation, ArrayValue, MemoryPlace, Place, Pointer, RecordValue, Value
from cudalint.host.values.arithmetic import I8, Kind, Number, kind_of, wrap
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir.text import element_name, field_name
from cudalint.launches.arguments import unknown_argument
from cudalint.launches.recorded.records import POINTER_BYTES, ArgumentBytes, RecordedPointer

_FLOATS: Final = {2: "<e", 4: "<f", 8: "<d"}
_MOST_ELEMENTS: Final = 64
"""Of an array in a parameter: of the others nothing is known."""


class RecordedValues:
    """Makes the arguments of some launches of one kernel, which are worlds of it.

    Allocators of programs give out parts of large allocations: pointers to different places of one are taken for arrays
    of their own, whose sizes nobody knows.
    """

    def __init__(
        self, graph: Graph, memory: Memory, where: str, given: Sequence[Sequence[ArgumentBytes]] = ()
    ) -> None:
        """`given` are all arguments of each launch."""
        self._graph, self._memory, self._where = graph, memory, where
        self._divided = tuple(map(_divided, given))
        self.symbols: dict[Node, tuple[Number, ...]] = {}
        """What stands for each symbol in each world."""
        self._arrays: dict[tuple[RecordedPointer, ...], Allocation] = {}
        """The first parameter that leads to a place, by that place in each launch."""
        self.is_whole = True
        """Whether every number was recorded that the kernel takes by a name."""

    def argument(self, symbol: ir.Symbol, given: Sequence[ArgumentBytes]) -> Value | Place:
        """The value of a parameter whose bytes are these in the launches."""
        value = self._value(symbol.type, symbol.name, given, 0)
        self.is_whole &= all(map(self._is_known, _numbers_in(value)))
        return value

    def _is_known(self, number: Node) -> bool:
        return number.is_const or number.kind.is_float or number in self.symbols

    def number(self, name: str, numbers: Sequence[Number], kind: Kind) -> Node:
        """A number, or a symbol where launches differ in it."""
        values = tuple(wrap(number, kind) for number in numbers)
        if all(value == values[0] or value != value for value in values):
            return self._graph.const(values[0], kind)
        node = self._graph.uniform(name, values[0], kind)
        self._graph.choose(node, values[0], "given", self._where)
        self.symbols[node] = values
        return node

    def numbers(self, world: int) -> dict[Node, Number]:
        """What stands for the symbols in one of the launches."""
        return {symbol: values[world] for symbol, values in self.symbols.items()}

    def _value(self, type_: ir.Type, name: str, given: Sequence[ArgumentBytes], at: int) -> Value | Place:
        match type_:
            case ir.PointerType():
                return self._pointer(type_, name, given, at)
            case ir.Scalar() if type_.bytes:
                return self._scalar(type_, name, given, at)
            case ir.RecordType() if type_.fields and not type_.unsized:
                fields = {}
                for field in type_.fields:
                    own = field_name(name, field.name)
                    fields[field.name] = (
                        self._value(field.type, own, given, at + field.offset)
                        if field.bits is None
                        else self._bit_field(field, own, given, at)
                    )
                return RecordValue(type_, fields)  # type: ignore[arg-type]
            case ir.ArrayType(count=int(count), element=element) if count and element.bytes:
                elements = {
                    index: self._value(element, element_name(name, index), given, at + index * element.bytes)
                    for index in range(min(count, _MOST_ELEMENTS))
                }
                rest = unknown_argument(element, f"{name}[]", self._graph, self._memory)
                return ArrayValue(type_, elements, rest)  # type: ignore[arg-type]
        return unknown_argument(type_, name, self._graph, self._memory)

    def _scalar(self, type_: ir.Scalar, name: str, given: Sequence[ArgumentBytes], at: int) -> Value | Place:
        parts = [each.data[at : at + type_.bytes] for each in given]
        is_led = any(at in each.pointers for each in given)
        if is_led or any(len(part) != type_.bytes for part in parts) or type_.bytes > POINTER_BYTES:
            return unknown_argument(type_, name, self._graph, self._memory)
        if type_.kind != "float":
            return self.number(name, [int.from_bytes(part, "little") for part in parts], kind_of(type_))
        if type_.bytes not in _FLOATS:
            return unknown_argument(type_, name, self._graph, self._memory)
        return self.number(name, [struct.unpack(_FLOATS[type_.bytes], part)[0] for part in parts], kind_of(type_))

    def _bit_field(self, field: ir.Field, name: str, given: Sequence[ArgumentBytes], at: int) -> Value | Place:
        first, bits = 8 * (at + field.offset) + field.first_bit, field.bits or 0
        if not isinstance(field.type, ir.Scalar) or any(8 * len(each.data) < first + bits for each in given):
            return unknown_argument(field.type, name, self._graph, self._memory)
        kind = kind_of(field.type)
        numbers = [(int.from_bytes(each.data, "little") >> first) & ((1 << bits) - 1) for each in given]
        if kind.code == "i" and bits:
            numbers = [number - (number >> (bits - 1) << bits) for number in numbers]
        return self.number(name, numbers, kind)

    def _pointer(self, type_: ir.PointerType, name: str, given: Sequence[ArgumentBytes], at: int) -> Value | Place:
        found = [_pointer_at(each, at) for each in given]
        known = [pointer for pointer in found if pointer is not None]
        if not known:
            null = Allocation(name, "global", is_null=True, element=type_.pointee)
            return Pointer(null, self._graph.const(0, I8), type_.pointee)
        if len(known) < len(found) or any(pointer.allocation is None for pointer in known):
            return unknown_argument(type_, name, self._graph, self._memory)
        offset = self.number(f"the offset of {name}", [pointer.offset for pointer in known], I8)
        is_whole = not any(each.allocation in parts for each, parts in zip(known, self._divided, strict=False))
        size = self.number(f"the size of {name}", [pointer.extent for pointer in known], I8) if is_whole else None
        own = Allocation(
            name, "global", size.whole if size is not None else None, size=size,
            same_as=self._arrays.get(tuple(known)), element=type_.pointee,
            start=offset if offset.bits or offset.value else None,
        )  # fmt: skip
        self._arrays.setdefault(tuple(known), own)
        pointer = Pointer(own, offset, type_.pointee)
        return MemoryPlace(pointer, type_.pointee) if type_.reference else pointer


def _divided(given: Sequence[ArgumentBytes]) -> frozenset[int | None]:
    """The allocations that pointers of a launch lead into at more than one place, or not at their start."""
    places: dict[int | None, set[int]] = {}
    for argument in given:
        for pointer in argument.pointers.values():
            places.setdefault(pointer.allocation, set()).add(pointer.offset)
    return frozenset(allocation for allocation, own in places.items() if own != {0})


def _numbers_in(value: object) -> Iterator[Node]:
    """The numbers of an argument; of an array what stands for all elements of which nothing else is known, too, if
    there are such."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, RecordValue):
        for own in value.fields.values():
            yield from _numbers_in(own)
    elif isinstance(value, ArrayValue):
        for own in value.elements.values():
            yield from _numbers_in(own)
        if len(value.elements) < (value.type.count or 0):
            yield from _numbers_in(value.rest)


def _pointer_at(given: ArgumentBytes, at: int) -> RecordedPointer | None:
    """A pointer in an argument; None for a null pointer, and nothing known for a number that is none."""
    if at in given.pointers:
        return given.pointers[at]
    return None if not any(given.data[at : at + POINTER_BYTES]) else RecordedPointer(None)
