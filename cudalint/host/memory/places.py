"""What lvalues name: variables, parts of them, and memory that pointers lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from cudalint.facts import Place
from cudalint.host.memory.pointers import LED_TO, Address, Allocation, Key, Pointer, Value
from cudalint.host.memory.quantities import Quantity, constant, product
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

SOMEWHERE: Final = "[?]"
"""An element of which nobody knows the index."""
COUNT: Final = "size()"
"""How many elements a vector has, as a part of it."""
_PLAIN_VECTORS: Final = ("vector<", "std::vector<")


class Memory(Struct, frozen=True):
    """What a pointer leads to, as an lvalue."""

    pointer: Pointer


Where = Key | Memory | None
"""None for what is not followed."""


def spelled(key: Key) -> str:
    """A variable or a part of one as the source names it, more or less."""
    text = ""
    for part in key:
        name = part.name if isinstance(part, ir.Symbol) else part
        if name not in (LED_TO, "this"):
            text += name if not text or name.startswith("[") else f".{name}"
    return text or "?"


def name_of(expr: ir.Expr) -> str:
    """What the pointer in an expression is called: `a` in `&a[i]`, `s->data` in `s->data + n`."""
    bare = walk.without_casts(expr)
    if isinstance(bare, ir.Name):
        return spelled((bare.symbol,))
    if isinstance(bare, ir.Member):
        base = name_of(bare.base)
        return bare.field if base == "?" else f"{base}{'->' if bare.arrow else '.'}{bare.field}"
    if isinstance(bare, ir.Index):
        return name_of(bare.base)
    if isinstance(bare, ir.Unary):
        return name_of(bare.operand)
    if isinstance(bare, ir.Binary):
        is_left = isinstance(bare.left.type, (ir.PointerType, ir.ArrayType))
        return name_of(bare.left if is_left else bare.right)
    if isinstance(bare, ir.Call):
        return name_of(bare.receiver) if bare.receiver is not None else f"{bare.name}(...)"
    return "?"


def is_vector(type_: ir.Type) -> bool:
    """Whether it is a `std::vector` whose memory the host's own allocator gives."""
    if not isinstance(type_, (ir.RecordType, ir.OpaqueType)) or not type_.name.startswith(_PLAIN_VECTORS):
        return False
    return "lloc" not in type_.name.replace("std::allocator", "") and "bool" not in type_.name


def variable(an: Analysis, key: Key, is_growing: bool = False) -> Allocation:
    """A variable of the host, or of the device, as memory; `is_growing` for the elements of a vector."""
    found = an.variables.get(key)
    if found is None:
        symbol = key[0]
        assert isinstance(symbol, ir.Symbol)
        if is_growing:
            found = Allocation("pageable", "std::vector", Place(*symbol.span), key, is_growing=True)
        else:
            is_device = symbol.storage in ("device", "constant")
            found = Allocation("symbol" if is_device else "variable", "", Place(*symbol.span), key)
        an.variables[key] = found
        if len(key) == 1 and not is_growing and symbol.type.bytes:
            an.sizes[found] = constant(symbol.type.bytes)
    return found


def as_pointer(an: Analysis, found: Value) -> Pointer | None:
    """A value as a pointer into memory, where it is one; an address of a variable as one to its memory."""
    if not isinstance(found, Address):
        return found if isinstance(found, Pointer) else None
    symbol = found.key[0]
    if LED_TO in found.key or not isinstance(symbol, ir.Symbol) or ir.is_reference(symbol.type):
        return None
    if symbol.name in ("temporary", "this") or isinstance(symbol.type, ir.OpaqueType):
        return None
    is_start = len(found.key) == 1 or found.key[1:] == ("[0]",)
    key = found.key[:1] if is_start else found.key
    return Pointer(frozenset({variable(an, key)}), offset=constant(0) if is_start else None)


def elements_of(an: Analysis, expr: ir.Expr) -> Pointer | None:
    """The memory of a vector's elements."""
    where = an.place(expr)
    if not is_vector(ir.referent(expr.type)) or not isinstance(where, tuple) or LED_TO in where:
        return None
    return Pointer(frozenset({variable(an, where, is_growing=True)}))


def count_of(an: Analysis, key: Key) -> Quantity:
    """How many elements a vector has."""
    part = (*key, COUNT)
    known = an.state.get(part)
    if isinstance(known, Quantity):
        return known
    return an.numbers.of(an.state.age(part), f"{spelled(key)}.size()")


def size_of(an: Analysis, allocation: Allocation, element: ir.Type) -> Quantity | None:
    """The bytes of an allocation, where they are known; `element` is what a pointer to it leads to."""
    if allocation.is_growing and allocation.variable is not None:
        return product(count_of(an, allocation.variable), constant(element.bytes)) if element.bytes else None
    return an.sizes.get(allocation)
