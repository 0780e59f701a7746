"""Indices and offsets of a kernel that are computed in 32 bits and that some size in sight, or some size that the code
admits, does not fit.

What the text alone shows is found once for a kernel (`suspects`): indices that are compared with sizes of 64 bits,
products that are 64 bits wide elsewhere in the kernel, and products that are converted to 64 bits too late. How large
they may be under a launch is arithmetic on intervals (`Admitted`), of numbers that are only known by their types, and
for a launch of known sizes of each executed thread by itself (`wrapped`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from cudalint.execute.trace import AccessEvent, BranchEvent, Stack
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.kept import kept
from cudalint.ir.walk import children, conjuncts, nodes_in, root, walk, without_casts
from cudalint.measure.arrays import Mask
from cudalint.measure.executed import Executed
from cudalint.measure.launched import numbers_in
from cudalint.measure.places import functions_in
from cudalint.worlds.intervals import Intervals
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import KernelText, text_of

_NARROW, _WIDE = 4, 8
"""Bytes of the integers that indices are kept in."""
_ARITHMETIC: Final = frozenset({"+", "-", "*", "<<"})
_COMPARING: Final = frozenset({"<", "<=", ">", ">="})
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


def bytes_of(expr: ir.Expr) -> int:
    """Of an integer; 0 for anything else."""
    type_ = ir.referent(expr.type)
    return type_.bytes if isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint") else 0


def is_signed(expr: ir.Expr) -> bool:
    type_ = ir.referent(expr.type)
    return isinstance(type_, ir.Scalar) and type_.kind == "int"


def most(expr: ir.Expr) -> float:
    """The largest number that an expression of 32 bits has room for."""
    return 2.0 ** (8 * _NARROW - is_signed(expr)) - 1


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
    if bytes_of(factor) < _NARROW:
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
        sum(is_large(factor, text) for factor in factors_of(product)) >= _MANY for product in _products_in(expr)
    )


def _products_in(expr: ir.Expr) -> Iterator[ir.Binary]:
    """The outermost products of 32 bits in a sum."""
    inner = without_casts(expr)
    if not isinstance(inner, ir.Binary) or bytes_of(inner) != _NARROW:
        return
    if inner.op == "*":
        yield inner
    elif inner.op in ("+", "-"):
        yield from _products_in(inner.left)
        yield from _products_in(inner.right)


# --- products that are 64 bits wide elsewhere ----------------------------------------------------------


class _Wide(NamedTuple):
    node: ir.Binary
    keys: frozenset[object]


def _wide_products(function: ir.Function) -> Iterator[_Wide]:
    for node in nodes_in(function):
        if isinstance(node, ir.Binary) and node.op == "*" and bytes_of(node) == _WIDE and _is_widened_in(node):
            keys = _keys(node)
            if len(keys) >= _MANY:
                yield _Wide(node, keys)


def _is_widened_in(product: ir.Binary) -> bool:
    """Whether one of its factors is converted by a spelled cast, which somebody had a reason for."""
    return any(
        isinstance(node, ir.Cast) and node.explicit and bytes_of(node) == _WIDE and bytes_of(node.operand) == _NARROW
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
        if not isinstance(node, ir.Binary) or node.op != "*" or bytes_of(node) != _NARROW:
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
            if isinstance(node, ir.Binary) and node.op == "*" and bytes_of(node) == _NARROW and node not in inner:
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
    for node in nodes_in(function):
        if not isinstance(node, ir.Binary) or node.op not in _COMPARING or bytes_of(node.left) != _WIDE:
            continue
        for side, size in ((node.left, node.right), (node.right, node.left)):
            index = without_casts(side)
            if bytes_of(index) != _NARROW or not isinstance(side, ir.Cast) or side.explicit:
                continue
            made, counter = index, None
            if isinstance(index, ir.Name):
                counter = text.definitions.counter(index.symbol)
                value = counter.start if counter is not None else text.definitions.of(index.symbol)
                if value is None:
                    continue
                made = value
            if is_signed(index) and _is_place_in_grid(made, text) and _is_size(size, text):
                yield Suspect(without_casts(made), "guard", node, stack, size, counter is not None)


def _is_place_in_grid(made: ir.Expr, text: KernelText) -> bool:
    """Whether an index counts the threads of a grid: a block's place is multiplied by its threads, or by what these do.
    """
    return any(
        "block" in text.uses.origins.of(product).varies and not text.uses.origins.of(product).varies & {"data"}
        for product in _products_in(made)
    )


def _is_size(size: ir.Expr, text: KernelText) -> bool:
    """Whether a size is one of 64 bits, or computed of such alone."""
    inner = without_casts(size)
    if isinstance(inner, ir.Cast) or bytes_of(inner) != _WIDE:
        return False
    origin = text.uses.origins.of(inner)
    sources = origin.sources
    return bool(sources) and not origin.varies and all(_width(source) == _WIDE for source in sources)


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
    for node in nodes_in(function):
        value: ir.Expr | None = None
        if isinstance(node, st.Declare) and node.initializer is not None and _holds_wide(node.symbol.type):
            value = node.initializer
        elif isinstance(node, ir.Assign) and node.op in ("", "+") and _holds_wide(node.target.type):
            value = node.value
        if not isinstance(value, ir.Cast) or bytes_of(value) != _WIDE:
            continue
        inner = without_casts(value)
        if bytes_of(inner) == _NARROW and is_product_of_sizes(inner, text):
            yield Suspect(inner, "widened", value, stack)


def _holds_wide(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint") and type_.bytes == _WIDE


# --- how large numbers may be --------------------------------------------------------------------------


class Admitted:
    """The largest that a kernel's values may be under a launch, by the types of what nobody knows."""

    def __init__(
        self, text: KernelText, numbers: Mapping[Parameter, float], block: tuple[int, int, int],
        grid: tuple[float, float, float],
    ) -> None:  # fmt: skip
        """`numbers` and `grid` have the largest of each."""
        places = [(0.0, max(0.0, extent - 1)) for extent in grid]
        self._intervals = Intervals(text.uses.origins, text.definitions, numbers, block, grid, places)

    def is_too_large(self, expr: ir.Expr) -> bool:
        """Whether some product in an expression of 32 bits may be beyond what it holds; what nobody knows may."""
        return any(self._is(product) for product in (*_products_in(expr), expr))

    def largest(self, expr: ir.Expr) -> float | None:
        with np.errstate(all="ignore"):
            found = self._intervals.of(expr)
        return None if found is None else float(np.max(found[1]))

    def _is(self, expr: ir.Expr) -> bool:
        largest = self.largest(expr)
        return largest is None or largest > most(expr)


# --- launches of known sizes ---------------------------------------------------------------------------


class Wrapped(NamedTuple):
    """Arithmetic of 32 bits that is wrong in a launch of known sizes."""

    node: ir.Expr
    stack: Stack
    value: int
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    is_direct: bool
    """Whether it is part of the index itself, and not of a variable of 32 bits."""
    accesses: tuple[ir.Span, ...] = ()
    """Whose addresses it goes into."""


class _OfThreads(Intervals):
    """The values of each executed thread by itself, in the first world."""

    def __init__(self, executed: Executed) -> None:
        text, batch, lanes = text_of(executed.function), executed.batch, executed.trace.lanes
        values = dict(numbers_in(batch, 0))
        grid = [float(extent) for extent in batch.grid[0]]
        super().__init__(text.uses.origins, text.definitions, values, batch.block, grid, [(0.0, 0.0)] * 3)
        self.blocks = lanes.blocks
        rows = np.asarray(lanes.places[: self.blocks], np.float64)
        self._built_in["blockIdx"] = [(column[:, None], column[:, None]) for column in rows.T]
        threads = [np.asarray(each, np.float64) for each in lanes.built_in["threadIdx"]]
        self._built_in["threadIdx"] = [(each, each) for each in threads]


def wrapped(executed: Executed, most_possible: Admitted) -> Iterator[Wrapped]:
    """What is too large for some executed thread, one for each place. `most_possible` is what is looked at first."""
    moves, text = _moves(executed.function), text_of(executed.function)
    values: _OfThreads | None = None
    found: dict[ir.Expr, Wrapped] = {}
    large: dict[Any, list[tuple[ir.Expr, bool]]] = {}
    for event, place in _places(executed):
        if place not in large:
            large[place] = [
                each for each in _computed(place, text, moves)
                if (largest := most_possible.largest(_measured(each[0]))) is not None and largest > most(each[0])
            ]  # fmt: skip
        for node, is_direct in large[place]:
            values = values or _OfThreads(executed)
            first = _first(node, event.mask, values, executed)
            if first is not None:
                known = found.get(node) or Wrapped(node, event.stack, *first, is_direct)
                found[node] = known._replace(accesses=(*known.accesses, place.span))
                break
    yield from found.values()


def _places(executed: Executed) -> Iterator[tuple[AccessEvent | BranchEvent, ir.Expr]]:
    """The accesses of global memory, and the comparisons that say which threads come there."""
    for access in executed.trace.accesses:
        if access.allocation.space == "global" and not access.data:
            yield access, access.node
    for branch in executed.trace.branches:
        condition = getattr(branch.node, "condition", None)
        if not branch.data and not branch.turn and condition is not None:
            for part, _ in conjuncts(condition, True):
                if isinstance(part, ir.Binary) and part.op in _COMPARING:
                    yield from ((branch, side) for side in (part.left, part.right))


def _first(
    node: ir.Expr, active: Mask, values: _OfThreads, executed: Executed
) -> tuple[int, tuple[int, int, int], tuple[int, int, int]] | None:  # fmt: skip
    """The first active thread for which a number is too large, with the number."""
    with np.errstate(all="ignore"):
        own = values.of(_measured(node))
    if own is None:
        return None
    lanes = executed.trace.lanes
    mask = active[: values.blocks]
    least = np.broadcast_to(own[0], mask.shape)
    wrong = mask & (least > most(node))
    if not wrong.any():
        return None
    row = int(wrong.any(axis=1).argmax())
    lane = int(wrong[row].argmax())
    return int(least[row, lane]), lanes.thread_of(lane), lanes.block_of(row)


def _measured(node: ir.Expr) -> ir.Expr:
    """What has to fit: of a conversion, what is converted."""
    return node.operand if isinstance(node, ir.Cast) else node


def _moves(kernel: ir.Function) -> dict[ir.Symbol, list[ir.Expr]]:
    """What pointers of a kernel and of what it calls are set to, and moved by."""
    found: dict[ir.Symbol, list[ir.Expr]] = {}
    code = text_of(kernel).uses.code
    for symbol, value in code.bound:
        if isinstance(symbol.type, ir.PointerType):
            found.setdefault(symbol, []).append(value)
    for node in code.nodes:
        if isinstance(node, st.Declare) and node.initializer is not None:
            symbol, value = node.symbol, node.initializer
        elif isinstance(node, ir.Assign) and isinstance(node.target, ir.Name) and node.op in ("", "+"):
            symbol, value = node.target.symbol, node.value
        else:
            continue
        if isinstance(symbol.type, ir.PointerType):
            found.setdefault(symbol, []).append(value)
    return found


def _computed(
    access: Any, text: KernelText, moves: Mapping[ir.Symbol, list[ir.Expr]]
) -> list[tuple[ir.Expr, bool]]:  # fmt: skip
    """The arithmetic of 32 bits that goes into an address, what is innermost first."""
    found: dict[ir.Expr, bool] = {}
    pending: list[tuple[Any, bool]] = [(access, True)]
    seen: set[Any] = set()
    while pending and len(seen) < _MOST_STEPS:
        e, is_direct = pending.pop()
        if e in seen:
            continue
        seen.add(e)
        match e:
            case ir.Cast():
                if bytes_of(e) == _NARROW and bytes_of(e.operand) >= _NARROW and not e.explicit:
                    found.setdefault(e, False)
                pending.append((e.operand, is_direct))
            case ir.Binary() if e.op in _ARITHMETIC:
                if bytes_of(e) == _NARROW:
                    found.setdefault(e, is_direct)
                pending += [(e.left, is_direct), (e.right, is_direct)]
            case ir.Conditional():
                pending += [(e.then, is_direct), (e.otherwise, is_direct)]
            case ir.Index():
                pending += [(e.base, is_direct), (e.index, is_direct)]
            case ir.Unary(op="*" | "&" | "+"):
                pending.append((e.operand, is_direct))
            case ir.Member():
                pending.append((e.base, is_direct))
            case ir.Name() if isinstance(e.symbol.type, ir.PointerType):
                pending += [(value, True) for value in moves.get(e.symbol, ())]
            case ir.Name():
                value = text.definitions.of(e.symbol)
                if value is not None:
                    pending.append((value, bytes_of(e) == _WIDE))
            case ir.Call() if not isinstance(e.type, ir.PointerType) and e.name in ("min", "max"):
                pending += [(argument, False) for argument in e.arguments]
            case ir.Call():
                pending += [(each, True) for each in e.arguments if isinstance(each.type, ir.PointerType)]
    return sorted(found.items(), key=lambda each: _depth(each[0]))


def _depth(e: Any) -> int:
    return 1 + max((_depth(child) for child in children(e)), default=0)
