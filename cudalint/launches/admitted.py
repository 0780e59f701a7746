"""What a kernel's conditions on its place in the grid let through.

`if (i < n)` with `i = blockIdx.x * 256 + threadIdx.x` lets block `b` in as long as `256 * b < n`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from cudalint.facts.axes import Axis
from cudalint.host.values.arithmetic import I8, kind_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import conjuncts, without_casts
from cudalint.launches.configuration import Block
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import KernelText

_AXES: tuple[Axis, ...] = ("x", "y", "z")
_MOST_DEPTH = 24
_SIDES: Mapping[str, tuple[bool, int]] = {"<": (True, 0), "<=": (True, 1), ">": (False, 0), ">=": (False, 1)}
"""Of comparisons: whether the left side is the one that is bounded from above, and what is added to the bound."""
_DENIED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Place(NamedTuple):
    """A sum of indices with fixed factors, and of a number that all threads have."""

    factors: Mapping[tuple[str, str], int]
    """By built-in variable and axis."""
    rest: Node


class Limit(Struct, frozen=True, eq=False):
    """A condition that a block has to satisfy along one axis: `step * block + rest < bound`, for its first thread."""

    axis: Axis
    step: int
    rest: Node
    bound: Node
    condition: ir.Binary
    index: ir.Expr
    bounded_by: ir.Expr


class Admitted(Struct, frozen=True, eq=False):
    """What is known of a kernel's conditions."""

    limits: tuple[Limit, ...] = ()
    unknown: frozenset[Axis] = frozenset()
    """Axes along which blocks may go on, or be let through by what is not understood."""


def admitted_by(
    function: ir.Function, text: KernelText, parameters: Mapping[Parameter, Node], block: Block, graph: Graph
) -> Admitted:
    """The conditions under which a kernel does anything, as far as they are about its place: those around all of its
    body, and those under which it ends at once."""
    reader = _Reader(text, parameters, block, graph)
    for condition, wanted in _outer_conditions(function.body):
        for part, holds in conjuncts(condition, wanted):
            reader.read(part, holds)
    unknown = {axis for axis in _AXES if axis in _read_extents(text)}
    if reader.is_lost or _goes_on(text):
        unknown = set(_AXES)
    return Admitted(tuple(reader.limits), frozenset(unknown))


def _outer_conditions(body: st.Stmt) -> Iterator[tuple[ir.Expr, bool]]:
    """Those of statements of a body itself."""
    for statement in _flat(body):
        if isinstance(statement, st.If) and statement.otherwise is None:
            yield statement.condition, not _ends(statement.then)


def _flat(body: st.Stmt) -> Iterator[st.Stmt]:
    if isinstance(body, st.Block):
        for statement in body.statements:
            yield from _flat(statement)
    else:
        yield body


def _ends(body: st.Stmt) -> bool:
    statements = list(_flat(body))
    return bool(statements) and isinstance(statements[-1], st.Return)


def _read_extents(text: KernelText) -> set[str]:
    """The axes of which the kernel, or what it calls, reads how many blocks there are."""
    return {
        node.field
        for node in text.uses.code.nodes
        if isinstance(node, ir.Member) and isinstance(node.base, ir.Name) and node.base.symbol.name == "gridDim"
    }


def _goes_on(text: KernelText) -> bool:
    """Whether a loop begins, or ends, where the block says: it may go on to what other blocks would do."""
    origins = text.uses.origins
    for node in text.uses.code.nodes:
        if isinstance(node, st.For) and node in text.definitions.loops:
            loop = text.definitions.loops[node]
            if "block" in origins.of(loop.start).varies:
                return True
        elif isinstance(node, (st.For, st.While, st.DoWhile)) and (
            node.condition is None or "block" in origins.of(node.condition).varies
        ):
            return True
    return False


class _Reader(Struct, eq=False):
    text: KernelText
    parameters: Mapping[Parameter, Node]
    block: Block
    graph: Graph
    limits: list[Limit] = field(default_factory=list)
    is_lost: bool = False
    """Whether something about the place of a block was not understood."""

    def read(self, condition: ir.Expr, holds: bool) -> None:
        """Notes what a condition says of the block, where it has to come out so."""
        origin = self.text.uses.origins.of(condition)
        if "block" not in origin.varies:
            return
        if not isinstance(condition, ir.Binary) or condition.op not in _DENIED:
            self.is_lost = True
            return
        op = condition.op if holds else _DENIED[condition.op]
        left, right = self.place(condition.left), self.place(condition.right)
        if left is None or right is None or op not in _SIDES:
            # What data says beside the place (`mask[i] != 0`) leaves blocks where they are.
            self.is_lost |= "data" not in origin.varies or op not in ("==", "!=")
            return
        is_left, more = _SIDES[op]
        small, large = (left, right) if is_left else (right, left)
        self._note(condition, small, large, more, is_left)

    def _note(self, condition: ir.Binary, small: Place, large: Place, more: int, is_left: bool) -> None:
        """`small < large + more`."""
        factors = dict(small.factors)
        for key, factor in large.factors.items():
            factors[key] = factors.get(key, 0) - factor
        blocks = {axis: factor for (name, axis), factor in factors.items() if name == "blockIdx" and factor}
        threads = [factor for (name, _), factor in factors.items() if name == "threadIdx"]
        if len(blocks) != 1 or any(factor < 0 for factor in threads):
            self.is_lost |= len(blocks) != 0 and any(factor > 0 for factor in blocks.values())
            return
        ((axis, step),) = blocks.items()
        if step > 0:
            bound = self.graph.binary("+", large.rest, self.graph.const(more, I8), I8)
            sides = (condition.left, condition.right) if is_left else (condition.right, condition.left)
            self.limits.append(Limit(axis, step, small.rest, bound, condition, *sides))  # type: ignore[arg-type]

    def place(self, e: ir.Expr, depth: int = 0) -> Place | None:
        """None for what is no such sum."""
        if depth > _MOST_DEPTH:
            return None
        plain = self.text.uses.origins.of(e).plain
        if plain is not None and isinstance(without_casts(e), (ir.Name, ir.Member)):
            node = self.parameters.get(plain)
            return None if node is None else Place({}, node)
        match e:
            case ir.Constant(value=value) if isinstance(value, int):
                return Place({}, self.graph.const(value, kind_of(e.type)))
            case ir.Cast(type=ir.Scalar(kind="int" | "uint")) if e.type.bytes >= 4:
                return self.place(e.operand, depth + 1)
            case ir.Name():
                return self._named(e, depth)
            case ir.Member(base=ir.Name(symbol=symbol)) if symbol.storage == "builtin":
                return self._built_in(symbol.name, e.field)
            case ir.Unary(op="+"):
                return self.place(e.operand, depth + 1)
            case ir.Binary():
                one, other = self.place(e.left, depth + 1), self.place(e.right, depth + 1)
                return None if one is None or other is None else self._operated(e, one, other)
        return None

    def _named(self, e: ir.Name, depth: int) -> Place | None:
        symbol = e.symbol
        value = self.text.definitions.of(symbol)
        if value is None and symbol.is_const and symbol.initializer and not self.text.definitions.is_changed(symbol):
            value = symbol.initializer()
        if value is None or (symbol.storage not in ("local", "parameter") and not symbol.is_const):
            return None
        return self.place(value, depth + 1)

    def _built_in(self, name: str, axis: str) -> Place | None:
        if name in ("threadIdx", "blockIdx"):
            return Place({(name, axis): 1}, self.graph.zero)
        if name == "blockDim" and axis in _AXES:
            return Place({}, self.graph.const(self.block[_AXES.index(axis)]))
        return None

    def _operated(self, e: ir.Binary, one: Place, other: Place) -> Place | None:
        kind = kind_of(e.type)
        if e.op in ("+", "-"):
            factors = dict(one.factors)
            for key, factor in other.factors.items():
                factors[key] = factors.get(key, 0) + (factor if e.op == "+" else -factor)
            return Place(factors, self.graph.binary(e.op, one.rest, other.rest, kind))
        if not one.factors and not other.factors:
            return Place({}, self.graph.binary(e.op, one.rest, other.rest, kind)) if e.op in _PLAIN else None
        if e.op == "<<" and not other.factors and other.rest.is_const and 0 <= int(other.rest.value) < 32:
            return self._times(one, 1 << int(other.rest.value), kind_of(e.type))
        if e.op == "*":
            scaled, by = (one, other) if one.factors else (other, one)
            if not by.factors and by.rest.is_const:
                return self._times(scaled, int(by.rest.value), kind)
        return None

    def _times(self, place: Place, factor: int, kind: object) -> Place:
        rest = self.graph.binary("*", place.rest, self.graph.const(factor, I8), I8)
        return Place({key: own * factor for key, own in place.factors.items()}, rest)


_PLAIN = frozenset({"*", "/", "%", "<<", ">>", "&"})
"""Operations on numbers that all threads have."""
