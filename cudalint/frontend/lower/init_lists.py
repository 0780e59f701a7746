"""Initializer lists. The tree has them as they are written: with designators, and with inner braces left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context


class InitLists:
    """Lowers initializer lists to the order of elements or fields, every inner aggregate with a list of its own."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def lower(self, cursor: Cursor, array: ir.Type | None = None) -> ir.Expr:
        """`array` is what the list initializes, where that is known: the lists of a template have no types."""
        type_ = self._context.types.of(cursor)
        if isinstance(array, ir.ArrayType) and _slots(type_) is None:
            type_ = array
        nodes = cursors.expressions(cursor)
        where = self._context.sources.where(cursor)
        slots = _slots(type_)
        if slots is None:
            return self._scalar(nodes, type_, where)
        if len(nodes) == 1 and self._is_whole(nodes[0], type_):
            return self._context.expressions.lower(nodes[0])
        reader = _Reader(nodes)
        elements = self._fill(reader, slots, where)
        return ir.InitList(tuple(elements), type_, where)

    def _scalar(self, nodes: list[Cursor], type_: ir.Type, where: ir.Where) -> ir.Expr:
        if len(nodes) == 1:
            return self._context.expressions.lower(nodes[0])
        if not nodes and isinstance(type_, ir.Scalar | ir.PointerType):
            return ir.Constant(0, type_, where)
        return ir.InitList(self._context.expressions.lower_all(nodes), type_, where)

    def _is_whole(self, node: Cursor, type_: ir.Type) -> bool:
        """Whether the only element initializes everything: `T a = {b}`, or a string for an array of characters."""
        if node.kind == kinds.STRING_LITERAL:
            return isinstance(type_, ir.ArrayType) and type_.element.bytes == 1
        return self._context.types.of(node) is type_

    def _fill(self, reader: _Reader, slots: _Slots, where: ir.Where) -> list[ir.Expr]:
        """Takes elements for the slots of one aggregate until it is full or nothing is left."""
        filled: dict[int, ir.Expr] = {}
        position = 0
        while not reader.is_empty() and position < slots.count:
            designated = self._designator(reader, slots)
            position = position if designated is None else designated
            filled[position] = self._element(reader, slots.types(position), where)
            position += 1
        size = max(filled, default=-1) + 1
        return [filled.get(i) or ir.InitList((), slots.types(i), where) for i in range(size)]

    def _designator(self, reader: _Reader, slots: _Slots) -> int | None:
        """The slot that `.name = value` or `[3] = value` names; the reader is left at the value."""
        node = reader.peek()
        if node.kind != kinds.UNEXPOSED_EXPR:
            return None
        children = cursors.children(node)
        if len(children) != 2:
            return None
        if children[0].kind == kinds.MEMBER_REF:
            reader.replace(children[1])
            return slots.named(cursors.spelling(children[0]))
        if cursors.type_of(node).kind != kinds.T_VOID:
            return None
        reader.replace(children[1])
        index = cursors.evaluate(children[0])
        return int(index) if index is not None else None

    def _element(self, reader: _Reader, type_: ir.Type, where: ir.Where) -> ir.Expr:
        """One element; an aggregate whose braces are left out takes as many as it has room for."""
        node = reader.peek()
        if is_extents(type_) and not self._initializes(node, type_):
            # It has a constructor: a number in its place is the first of its extents.
            reader.take()
            return self.extents([node], type_, where)
        inner = _slots(type_)
        if inner is not None and node.kind != kinds.INIT_LIST_EXPR and not self._initializes(node, type_):
            return ir.InitList(tuple(self._fill(reader, inner, where)), type_, where)
        reader.take()
        is_list = node.kind == kinds.INIT_LIST_EXPR
        value = self.lower(node, type_) if is_list else self._context.expressions.lower(node)
        if isinstance(type_, ir.Scalar | ir.PointerType) and isinstance(value.type, ir.Scalar):
            return self._context.expressions.converted(value, type_, node)
        return value

    def extents(self, nodes: list[Cursor], type_: ir.RecordType, where: ir.Where) -> ir.Expr:
        """A `dim3` of what its constructor is given, also where clang leaves the call open for the types in it."""
        given: list[ir.Expr] = []
        for node, field in zip(nodes, type_.fields, strict=False):
            value = self._context.expressions.lower(node)
            given.append(self._context.expressions.converted(value, field.type, node))
        ones = [ir.Constant(1, field.type, where) for field in type_.fields[len(given) :]]
        return ir.InitList((*given, *ones), type_, where)

    def _initializes(self, node: Cursor, type_: ir.Type) -> bool:
        """Whether a node is a value of the aggregate itself rather than of its first part."""
        return self._is_whole(node, type_) or not isinstance(self._context.types.of(node), ir.Scalar | ir.PointerType)


class _Reader:
    """The elements that are still to be placed."""

    def __init__(self, nodes: list[Cursor]) -> None:
        self._nodes = nodes
        self._next = 0

    def is_empty(self) -> bool:
        return self._next >= len(self._nodes)

    def peek(self) -> Cursor:
        return self._nodes[self._next]

    def take(self) -> None:
        self._next += 1

    def replace(self, node: Cursor) -> None:
        self._nodes[self._next] = node


class _Slots:
    """The places in an aggregate that a list fills in turn."""

    def __init__(self, type_: ir.ArrayType | ir.RecordType) -> None:
        self._type = type_
        if isinstance(type_, ir.ArrayType):
            self.count = type_.count if type_.count is not None else 1 << 31
        else:
            self.count = min(len(type_.fields), 1) if type_.is_union else len(type_.fields)

    def types(self, position: int) -> ir.Type:
        if isinstance(self._type, ir.ArrayType):
            return self._type.element
        return self._type.fields[position].type

    def named(self, name: str) -> int | None:
        if isinstance(self._type, ir.ArrayType):
            return None
        return next((i for i, field in enumerate(self._type.fields) if field.name == name), None)


def is_extents(type_: ir.Type) -> TypeGuard[ir.RecordType]:
    return isinstance(type_, ir.RecordType) and type_.name == "dim3"


def _slots(type_: ir.Type) -> _Slots | None:
    return _Slots(type_) if isinstance(type_, ir.ArrayType | ir.RecordType) else None
