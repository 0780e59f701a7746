"""Arithmetic of 32 bits in a kernel that its text wants in 64: indices of elements that are compared with sizes of 64
bits, products that are 64 bits wide elsewhere in the kernel, and products that are converted to 64 bits too late. It is
found once for a kernel, whatever its launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from cudalint.execute.trace import Stack
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.kept import kept
from cudalint.ir.walk import children, nodes_in, root, walk, without_casts
from cudalint.measure.places import functions_in
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import KernelText, text_of

NARROW, WIDE = 4, 8
"""Bytes of the integers that indices are kept in."""
COMPARING: Final = frozenset({"<", "<=", ">", ">="})
_AXES = "xyz"
_MOST_STEPS = 200
_MANY = 2
"""Factors of a product that sizes decide: fewer leave it as small as one size."""

Ground = Literal["guard", "sibling", "widened"]


class Suspect(NamedTuple):
    """Arithmetic of 32 bits of which the text shows that it is to hold what has 64."""

    node: ir.Expr
    ground: Ground
    because: ir.Expr | None
    """What has 64 bits."""
    stack: Stack
    size: ir.Expr | None = None
    """Of a guard: the size."""
    goes_on: bool = False
    """It is where a loop begins that goes on until the size."""
    is_requirement: bool = False
    """The sizes that are too large for it may well be none that anybody means."""


def bytes_of(expr: ir.Expr) -> int:
    """Of an integer; 0 for anything else."""
    type_ = ir.referent(expr.type)
    return type_.bytes if isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint") else 0


def is_signed(expr: ir.Expr) -> bool:
    type_ = ir.referent(expr.type)
    return isinstance(type_, ir.Scalar) and type_.kind == "int"


def most(expr: ir.Expr) -> float:
    """The largest number that an expression of 32 bits has room for."""
    return 2.0 ** (8 * NARROW - is_signed(expr)) - 1


@kept(32)
def suspects(kernel: ir.Function) -> tuple[Suspect, ...]:
    """All of a kernel and of the user's functions that it calls."""
    text = text_of(kernel)
    found: dict[ir.Expr, Suspect] = {}
    own = list(functions_in(kernel))
    wide = [product for function, _ in own for product in _wide_products(function)]
    for function, stack in own:
        for suspect in (
            *_guarded(function, stack, text), *_siblings(function, stack, wide, text), *_widened(function, stack, text)
        ):
            found.setdefault(suspect.node, suspect)
    return tuple(found.values())


# --- factors -------------------------------------------------------------------------------------------


def factors_of(expr: ir.Expr) -> Iterator[ir.Expr]:
    """What a product is made of; of a sum among its factors, as in `(a * b + c) * d`, what its first term is."""
    inner = without_casts(expr)
    if isinstance(inner, ir.Binary) and inner.op == "*":
        yield from factors_of(inner.left)
        yield from factors_of(inner.right)
    elif isinstance(inner, ir.Binary) and inner.op == "+" and _has_product(inner.left):
        yield from factors_of(inner.left)
    else:
        yield inner


def _has_product(expr: ir.Expr) -> bool:
    inner = without_casts(expr)
    return isinstance(inner, ir.Binary) and (inner.op == "*" or (inner.op == "+" and _has_product(inner.left)))


def _key(expr: ir.Expr) -> object:
    """Equal for factors that are the same variable; None for what is none."""
    if isinstance(expr, ir.Name):
        return expr.symbol
    if isinstance(expr, ir.Member):
        base = root(expr)
        return (base, expr.field) if base is not None else None
    return None


def _keys(expr: ir.Expr) -> frozenset[object]:
    return frozenset(key for factor in factors_of(expr) if (key := _key(factor)) is not None)


def is_large(factor: ir.Expr, text: KernelText) -> bool:
    """Whether a size, a place in the grid or data says how large a factor is."""
    if isinstance(factor, ir.Binary) and factor.op in ("%", "&"):
        return False
    if bytes_of(factor) < NARROW:
        return False
    if isinstance(factor, ir.Name):
        if factor.symbol.storage == "template":
            return False
        value = text.definitions.of(factor.symbol)
        inner = without_casts(value) if value is not None else None
        if isinstance(inner, ir.Binary) and inner.op in ("%", "&"):
            return False
        counter = text.definitions.counter(factor.symbol)
        if counter is not None:
            return bool(text.uses.origins.of(counter.bound).sources) or is_large(without_casts(counter.start), text)
    origin = text.uses.origins.of(factor)
    return bool(origin.sources) or bool(origin.varies & {"block", "data"})


def is_product_of_sizes(expr: ir.Expr, text: KernelText) -> bool:
    """Whether some product in a sum is one of several sizes."""
    return any(
        sum(is_large(factor, text) for factor in factors_of(product)) >= _MANY for product in products_in(expr)
    )


def products_in(expr: ir.Expr) -> Iterator[ir.Binary]:
    """The outermost products of 32 bits in a sum."""
    inner = without_casts(expr)
    if not isinstance(inner, ir.Binary) or bytes_of(inner) != NARROW:
        return
    if inner.op == "*":
        yield inner
    elif inner.op in ("+", "-"):
        yield from products_in(inner.left)
        yield from products_in(inner.right)


# --- products that are 64 bits wide elsewhere ----------------------------------------------------------


class _Wide(NamedTuple):
    node: ir.Binary
    keys: frozenset[object]


def _wide_products(function: ir.Function) -> Iterator[_Wide]:
    for node in nodes_in(function):
        if isinstance(node, ir.Binary) and node.op == "*" and bytes_of(node) == WIDE and _is_widened_in(node):
            keys = _keys(node)
            if len(keys) >= _MANY:
                yield _Wide(node, keys)


def _is_widened_in(product: ir.Binary) -> bool:
    """Whether one of its factors is converted by a spelled cast, which somebody had a reason for."""
    return any(
        isinstance(node, ir.Cast) and node.explicit and bytes_of(node) == WIDE and bytes_of(node.operand) == NARROW
        for node in walk(product)
    )


def _siblings(
    function: ir.Function, stack: Stack, wide: list[_Wide], text: KernelText
) -> Iterator[Suspect]:  # fmt: skip
    """Products of 32 bits of all the factors that one of 64 bits has."""
    if not wide:
        return
    own = _in_own_memory(function)
    inner: set[ir.Expr] = set()
    for node in nodes_in(function):
        if not isinstance(node, ir.Binary) or node.op != "*" or bytes_of(node) != NARROW:
            continue
        if node in own or node in inner:
            continue
        inner.update(each for each in walk(node) if isinstance(each, ir.Binary) and each is not node)
        keys = _keys(node)
        same = next((each for each in wide if each.keys <= keys), None)
        if same is not None and is_product_of_sizes(node, text):
            yield Suspect(node, "sibling", same.node, stack)


def _in_own_memory(function: ir.Function) -> set[Any]:
    """What indices into arrays of a block or a thread are made of."""
    found: set[Any] = set()
    for node in nodes_in(function):
        if isinstance(node, ir.Index):
            base = root(node.base)
            if base is not None and (
                base.storage in ("shared", "dynamic-shared")
                or (base.storage == "local" and isinstance(base.type, ir.ArrayType))
            ):
                found.update(walk(node.index))
    return found


@kept(32)
def products_of_sizes(kernel: ir.Function) -> tuple[tuple[ir.Binary, Stack], ...]:
    """The products of 32 bits of a kernel, and of the user's functions that it calls, of which several factors are
    sizes, or places in a grid that they are."""
    text = text_of(kernel)
    found: dict[ir.Binary, Stack] = {}
    for function, stack in functions_in(kernel):
        own = _in_own_memory(function)
        inner: set[Any] = set()
        for node in nodes_in(function):
            if isinstance(node, ir.Binary) and node.op == "*" and bytes_of(node) == NARROW and node not in inner:
                inner.update(walk(node))
                factors = list(factors_of(node))
                large = sum(_is_grid(factor) or is_large(factor, text) for factor in factors)
                if node not in own and large >= _MANY:
                    found.setdefault(node, stack)
    return tuple(found.items())


def _is_grid(factor: ir.Expr) -> bool:
    """Whether it is how many blocks there are."""
    base = root(factor)
    return base is not None and base.storage == "builtin" and base.name == "gridDim"


def axes_in(expr: ir.Expr, text: KernelText) -> frozenset[int]:
    """The axes of the grid that go into a number."""
    found: set[int] = set()
    pending: list[Any] = [expr]
    seen: set[Any] = set()
    while pending and len(seen) < _MOST_STEPS:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, ir.Member) and node.field in _AXES:
            base = root(node)
            if base is not None and base.storage == "builtin" and base.name in ("blockIdx", "gridDim"):
                found.add(_AXES.index(node.field))
        if isinstance(node, ir.Name):
            pending.append(text.definitions.of(node.symbol))
        pending += children(node) if node is not None else ()
    return frozenset(found)


# --- indices that are compared with sizes of 64 bits ---------------------------------------------------


def _guarded(function: ir.Function, stack: Stack, text: KernelText) -> Iterator[Suspect]:
    """Indices that count elements: what counts along one axis of several, or rows, has room in 32 bits."""
    if _has_several_axes(text):
        return
    counting = _direct_indices(function)
    for node in nodes_in(function):
        if not isinstance(node, ir.Binary) or node.op not in COMPARING or bytes_of(node.left) != WIDE:
            continue
        for side, size in ((node.left, node.right), (node.right, node.left)):
            index = without_casts(side)
            if bytes_of(index) != NARROW or not isinstance(side, ir.Cast) or side.explicit:
                continue
            made, counter = index, None
            if isinstance(index, ir.Name):
                counter = text.definitions.counter(index.symbol)
                value = counter.start if counter is not None else text.definitions.of(index.symbol)
                if value is None:
                    continue
                made = value
            if not isinstance(index, ir.Name) or index.symbol not in counting:
                continue
            if is_signed(index) and _is_place_in_grid(made, text) and _is_size(size, text):
                yield Suspect(without_casts(made), "guard", node, stack, size, counter is not None)


def _is_place_in_grid(made: ir.Expr, text: KernelText) -> bool:
    """Whether an index counts the threads of a grid: a block's place is multiplied by its threads, or by what these do.
    """
    return any(
        origin.varies & {"block", "data"} == {"block"} and not origin.sources
        for origin in map(text.uses.origins.of, products_in(made))
    )


def _has_several_axes(text: KernelText) -> bool:
    """Whether a kernel asks for places along other axes of the grid than x."""
    return any(
        isinstance(node, ir.Member) and node.field in ("y", "z")
        and (base := root(node)) is not None and base.storage == "builtin" and base.name == "blockIdx"
        for node in text.uses.code.nodes
    )  # fmt: skip


def _direct_indices(function: ir.Function) -> set[ir.Symbol]:
    """Variables that are indices by themselves."""
    found: set[ir.Symbol] = set()
    for node in nodes_in(function):
        index: ir.Expr | None = None
        if isinstance(node, ir.Index):
            index = without_casts(node.index)
        elif isinstance(node, ir.Binary) and node.op == "+" and isinstance(node.type, ir.PointerType):
            index = without_casts(node.right)
        while isinstance(index, ir.Binary) and index.op in ("/", "+") and isinstance(index.right, ir.Constant):
            index = without_casts(index.left)
        if isinstance(index, ir.Name):
            found.add(index.symbol)
    return found


def _is_size(size: ir.Expr, text: KernelText) -> bool:
    """Whether a size is one of 64 bits, or computed of such alone."""
    inner = without_casts(size)
    if isinstance(inner, ir.Cast) or bytes_of(inner) != WIDE:
        return False
    origin = text.uses.origins.of(inner)
    sources = origin.sources
    return bool(sources) and not origin.varies and all(_width(source) == WIDE for source in sources)


def _width(parameter: Parameter) -> int:
    """Bytes of a number that a kernel takes."""
    type_: ir.Type = parameter.symbol.type
    for name in parameter.path:
        field = type_.field(name) if isinstance(type_, ir.RecordType) else None
        if field is None:
            return 0
        type_ = field.type
    return type_.bytes if isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint") else 0


# --- products that are converted too late --------------------------------------------------------------


def _widened(function: ir.Function, stack: Stack, text: KernelText) -> Iterator[Suspect]:
    """Of products of sizes alone, and of those of an image, nothing says that they get so large."""
    has_axes = _has_several_axes(text)
    for node in nodes_in(function):
        value: ir.Expr | None = None
        if isinstance(node, st.Declare) and node.initializer is not None and _holds_wide(node.symbol.type):
            value = node.initializer
        elif isinstance(node, ir.Assign) and node.op in ("", "+") and _holds_wide(node.target.type):
            value = node.value
        if not isinstance(value, ir.Cast) or bytes_of(value) != WIDE:
            continue
        inner = without_casts(value)
        # Unsigned numbers have twice as much room, and are often chosen for that.
        if bytes_of(inner) == NARROW and is_signed(inner) and is_product_of_sizes(inner, text):
            is_place = "block" in text.uses.origins.of(inner).varies
            yield Suspect(inner, "widened", value, stack, is_requirement=has_axes or not is_place)


def _holds_wide(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint") and type_.bytes == WIDE
