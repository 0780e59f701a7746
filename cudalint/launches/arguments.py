"""A kernel's arguments: what a launch passes, and generic values for what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from cudalint.host.executor.generics import Generics, is_provisional
from cudalint.host.executor.memory import Memory
from cudalint.host.executor.values import (
    PLACES,
    Allocation,
    ArrayValue,
    Choice,
    LocalMemory,
    MemoryPlace,
    Place,
    Pointer,
    RecordValue,
    Value,
    leaves,
    map_leaves,
)
from cudalint.host.values.arithmetic import I8, kind_of
from cudalint.host.values.graph import NOT_DECLARED, Graph
from cudalint.host.values.nodes import Node, Reason, Uniform, bits_of, without_cast
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.text import field_name
from cudalint.launches.configuration import Configuration

_MAX_ELEMENTS = 32
_MAX_CALLEES = 64
"""Functions that are looked into for the bases of a kernel's parameters."""
_STRIDES = "_cudalint_strides"
"""What the bundled headers call the type of a tensor's strides where it has an array of them."""


def kernel_arguments(
    function: ir.Function, values: Sequence[Value | Place], graph: Graph, generics: Generics
) -> dict[ir.Symbol, Value | Place]:
    """Parameters bound to the launch's arguments; what is missing is unknown."""
    unknown = unknown_arguments(function, graph, generics)
    seen: _Seen = {}
    for symbol, value in zip(function.parameters, values, strict=False):
        bound = _argument(value, symbol.type, symbol.name, graph, seen)
        if bound is not None:
            unknown[symbol] = _with_elements(_completed(bound, unknown[symbol]), generics)
            _name_after(symbol, bound, graph)
    return unknown


def _completed(value: Value | Place, unknown: Value | Place) -> Value | Place:
    """What the host code's execution could not follow, such as a structure that a function out of sight returns, is
    unknown part by part."""
    if isinstance(value, Node) and isinstance(unknown, (RecordValue, ArrayValue, Pointer)):
        return unknown
    if isinstance(value, RecordValue) and isinstance(unknown, RecordValue):
        fields = {name: _completed(part, unknown.fields.get(name, part)) for name, part in value.fields.items()}
        return RecordValue(value.type, {**unknown.fields, **fields})  # type: ignore[dict-item]
    return value


def _with_elements(value: Value | Place, generics: Generics) -> Value | Place:
    """Gives the unknown numbers of short arrays, such as a tensor's sizes and strides, a symbol each."""
    if isinstance(value, RecordValue):
        fields = {name: _with_elements(part, generics) for name, part in value.fields.items()}
        if value.type.name.split("::")[-1].startswith(_STRIDES):
            for part in fields.values():
                _mark_strides(part, generics.graph)
        return RecordValue(value.type, fields)  # type: ignore[arg-type]
    if not isinstance(value, ArrayValue) or not 0 < (value.type.count or 0) <= _MAX_ELEMENTS:
        return value
    rest = value.rest
    if not isinstance(rest, Node) or not isinstance(rest.payload, Uniform) or rest.kind.is_float:
        return value
    elements = {index: generics.element(rest, index) for index in range(value.type.count or 0)}
    return ArrayValue(value.type, {**elements, **value.elements}, rest)


def _mark_strides(value: Value | Place, graph: Graph) -> None:
    """Says of the strides of a tensor's accessor that they are: the elements of a row lie side by side as a rule."""
    if isinstance(value, ArrayValue):
        for index, element in value.elements.items():
            bare = without_cast(element) if isinstance(element, Node) else None
            if bare is not None and isinstance(bare.payload, Uniform) and not graph.choice(bare).is_default:
                graph.mark_stride(bare, "inner" if index + 1 == value.type.count else "outer")


def _name_after(symbol: ir.Symbol, value: Value | Place, graph: Graph) -> None:
    """A number that no variable of the host code holds is called after the kernel's parameter."""
    if isinstance(value, Node):
        bare = without_cast(value)
        if isinstance(bare.payload, Uniform) and is_provisional(bare.payload.name):
            graph.rename(bare, symbol.name)


@contextmanager
def named_after_parameters(configuration: Configuration, graph: Graph) -> Iterator[None]:
    """While it is analysed, a kernel's arguments are called after its parameters: those are the names that stand in its
    body and that an `assume` annotation takes. One number for several parameters keeps its name in the host code if one
    of them has it, or is called after the first. What goes into a parameter of its own name (`n` of `k(1 << n)`) is
    said to be the host's."""
    names: dict[Node, list[str]] = {}
    for symbol, value in configuration.arguments.items():
        for name, node in _numbers(symbol.name, value):
            names.setdefault(node, []).append(name)
    others = [node for node in _parts(configuration, graph) if node not in names]
    before = [(node, node.payload.name) for node in (*names, *others) if isinstance(node.payload, Uniform)]
    taken = {symbol.name for symbol in configuration.arguments}
    for node, name in before:
        if node in names and name not in names[node]:
            Graph.rename(node, names[node][0])
        elif node not in names and name in taken:
            Graph.rename(node, f"the host's {name}")
    try:
        yield
    finally:
        for node, name in before:
            Graph.rename(node, name)


def _parts(configuration: Configuration, graph: Graph) -> list[Node]:
    """The unknown numbers that the arguments are computed from."""
    values = [leaf for value in configuration.arguments.values() for _, leaf in _leaves(value)]
    bits = bits_of(value for value in values if isinstance(value, Node))
    return graph.atoms(bits, graph.uniform_bits)


def _leaves(value: Value | Place) -> Iterable[tuple[str, Value | Place]]:
    return leaves(value) if isinstance(value, (Node, RecordValue)) else ()


def _numbers(name: str, value: Value | Place) -> Iterator[tuple[str, Node]]:
    """The unknown numbers that an argument is, or that it has as fields, as the kernel's body names them."""
    for path, leaf in _leaves(value):
        bare = without_cast(leaf) if isinstance(leaf, Node) else leaf
        if isinstance(bare, Node) and isinstance(bare.payload, Uniform) and not path.endswith("[]"):
            yield name + path, bare


_Seen = dict[Allocation, Allocation]
"""The host's allocations that were passed to a kernel, as the kernel sees them first."""


def _argument(value: Value | Place, type_: ir.Type, name: str, graph: Graph, seen: _Seen) -> Value | Place | None:
    if isinstance(value, PLACES):
        return None
    if isinstance(type_, ir.PointerType):
        return _pointer_argument(value, type_, name, graph, seen)
    if isinstance(type_, ir.Scalar):
        if not isinstance(value, Node) or value.bits & graph.opaque_bits:
            return None
        return graph.convert(value, kind_of(type_))
    if isinstance(type_, ir.RecordType) and isinstance(value, RecordValue):
        return map_leaves(value, lambda leaf, path: _leaf_argument(leaf, name + path, graph, seen))
    return value


def _leaf_argument(leaf: Value, name: str, graph: Graph, seen: _Seen) -> Value:
    if isinstance(leaf, (Pointer, Choice)):
        pointee = leaf.pointee if isinstance(leaf, Pointer) else ir.OpaqueType("?")
        return _pointer_argument(leaf, ir.PointerType(pointee), name, graph, seen) or leaf
    return leaf


def _pointer_argument(
    value: Value, type_: ir.PointerType, name: str, graph: Graph, seen: _Seen | None = None
) -> Value | None:
    """A pointer as the kernel sees it: into an allocation called after the parameter."""
    if isinstance(value, Choice):
        # What is null in some cases is there for the others.
        sides = [_pointer_argument(side, type_, name, graph) for side in (value.a, value.b)]
        pointers = [side for side in sides if side is not None]
        led = (side for side in pointers if not (isinstance(side, Pointer) and getattr(side.target, "is_null", False)))
        return next(led, next(iter(pointers), None))
    if not isinstance(value, Pointer):
        return None
    target = value.target
    if isinstance(target, LocalMemory):
        return None
    if target.is_null:
        return Pointer(
            Allocation(name, "global", is_null=True, element=type_.pointee), graph.const(0, I8), type_.pointee
        )
    offset = value.offset if target.opaque is None else graph.const(0, I8)
    same_as = seen.get(target) if seen is not None else None
    start = offset if offset.bits or offset.value else None
    own = Allocation(
        name, "global", target.bytes, size=target.size, same_as=same_as, element=type_.pointee, start=start
    )
    if seen is not None and target.opaque is None:
        seen.setdefault(target, own)
    return Pointer(own, offset, type_.pointee)


def unknown_arguments(function: ir.Function, graph: Graph, generics: Generics) -> dict[ir.Symbol, Value | Place]:
    """Parameters of which nothing is known: pointers to allocations, generic sizes."""
    _find_bases(function)
    # The host's memory makes unknown numbers uniform.
    memory = Memory(graph, generics)
    unknown = {s: unknown_argument(s.type, s.name, graph, memory) for s in function.parameters}
    return {symbol: _with_elements(value, generics) for symbol, value in unknown.items()}


def _find_bases(function: ir.Function) -> None:
    """Lowers what a kernel calls, which names what its parameters inherit."""
    if not any(isinstance(s.type, ir.RecordType) and s.type.has_open_bases for s in function.parameters):
        return
    pending, seen = [function], set[str]()
    while pending and len(seen) < _MAX_CALLEES:
        for node in walk.nodes_in(pending.pop()):
            if isinstance(node, ir.Call) and node.function is not None and node.function.key not in seen:
                seen.add(node.function.key)
                called = node.function.load()
                if called is not None:
                    pending.append(called)


def unknown_argument(type_: ir.Type, name: str, graph: Graph, memory: Memory) -> Value | Place:
    if isinstance(type_, ir.PointerType):
        pointer = Pointer(Allocation(name, "global", element=type_.pointee), graph.const(0, I8), type_.pointee)
        return MemoryPlace(pointer, type_.pointee) if type_.reference else pointer
    if isinstance(type_, ir.RecordType):
        fields = {}
        for field in type_.fields:
            value = unknown_argument(field.type, field_name(name, field.name), graph, memory)
            fields[field.name] = value if not isinstance(value, MemoryPlace) else value.pointer
        return RecordValue(type_, fields)  # type: ignore[arg-type]
    if isinstance(type_, ir.ArrayType) and _is_of_pointers(type_):
        rest = unknown_argument(type_.element, f"{name}[]", graph, memory)
        return ArrayValue(type_, {}, rest)  # type: ignore[arg-type]
    return memory.unknown(type_, Reason("an argument"), (), name)


def _is_of_pointers(type_: ir.Type) -> bool:
    """Whether an array holds pointers, or records or arrays of them."""
    if isinstance(type_, ir.ArrayType):
        return _is_of_pointers(type_.element)
    if isinstance(type_, ir.RecordType):
        return any(_is_of_pointers(field.type) for field in type_.fields)
    return isinstance(type_, ir.PointerType) and not type_.reference


def with_template(configuration: Configuration, function: ir.Function) -> Configuration:
    """States what an uninstantiated template was evaluated with, as far as its arrays' elements depend on it."""
    if function.made_with:
        made = f"{function.made_with} (nothing instantiates the template)"
        assumptions = (*configuration.assumptions, made)
        return replace(configuration, assumptions=assumptions, made_up=function.made_up)
    if not function.template_types:
        return configuration
    nodes = walk.nodes_in(function)
    types = [symbol.type for symbol in function.parameters]
    types += [node.symbol.type for node in nodes if isinstance(node, st.Declare)]
    types += [node.type for node in nodes if hasattr(node, "type")]
    elements = {_element(type_) for type_ in types}
    used = [(f"sizeof({name})", type_.bytes) for name, type_ in function.template_types if type_ in elements]
    if not used:
        return configuration
    text = f"{' = '.join(name for name, _ in used)} = {used[0][1]} (nothing instantiates the template)"
    return replace(configuration, assumptions=(*configuration.assumptions, text))


def with_stand_ins(configuration: Configuration, function: ir.Function) -> Configuration:
    """States the numbers and types that were made up for missing names to make the kernel."""
    if not function.stand_ins:
        return configuration
    made_up = tuple(
        f"{name} == {value} ({NOT_DECLARED})" if isinstance(value, int) else f"{name} = {value} ({NOT_DECLARED})"
        for name, value in function.stand_ins
    )
    names = tuple(name for name, value in function.stand_ins if isinstance(value, int))
    return replace(configuration, assumptions=(*configuration.assumptions, *made_up), guesses=names)


def _element(type_: ir.Type) -> ir.Type | None:
    """What a pointer or an array leads to in the end; None for anything else."""
    element: ir.Type | None = None
    while isinstance(type_, (ir.PointerType, ir.ArrayType)):
        type_ = element = type_.pointee if isinstance(type_, ir.PointerType) else type_.element
    return element
