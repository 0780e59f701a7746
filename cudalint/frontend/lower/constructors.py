"""Constructors: what they initialize, and whether they do anything at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor, CxType
from cudalint.frontend.lower import declarations
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context


class Constructors:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._trivial: dict[int | None, bool] = {}

    def is_trivial_default(self, constructor: Cursor) -> bool:
        """Whether a default constructor leaves everything as it is."""
        if not cursors.is_defaulted(constructor) or declarations.split(constructor).parameters:
            return False
        return self._is_trivial_class(cursors.semantic_parent(constructor))

    def _is_trivial_class(self, record: Cursor) -> bool:
        """Whether no initializer and no constructor that somebody wrote runs for an object that is declared
        without one: not the class's own and not that of a base or a field."""
        known = self._trivial.get(record.handle)
        if known is None:
            known = all(self._is_trivial_member(child) for child in cursors.children(record))
            self._trivial[record.handle] = known
        return known

    def _is_trivial_member(self, child: Cursor) -> bool:
        if child.kind == kinds.CONSTRUCTOR:
            return bool(cursors.is_defaulted(child)) or not _is_default_constructor(child)
        if child.kind not in (kinds.CXX_BASE_SPECIFIER, kinds.FIELD_DECL):
            return True
        if child.kind == kinds.FIELD_DECL and _field_initializer(child) is not None:
            return False
        inner = _record_of(cursors.type_of(child))
        return inner is None or self._is_trivial_class(inner)

    def member_initializers(self, definition: Cursor, parts: declarations.Parts) -> tuple[tuple[str, ir.Expr], ...]:
        """A constructor's initializers as written, then those that the class gives for fields not among them. A
        base class goes by the name of its type."""
        if definition.kind != kinds.CONSTRUCTOR:
            return ()
        lower, types = self._context.expressions.lower, self._context.types
        pairs: dict[str, ir.Expr] = {}
        member = ""
        for node in parts.initializers:
            if node.kind == kinds.MEMBER_REF:
                member = cursors.spelling(node)
            elif kinds.is_expression(node.kind):
                value = lower(node)
                if not member:
                    types.note_base(types.of(cursors.semantic_parent(definition)), value.type)
                pairs[member or _base_name(value)] = value
                member = ""
        for name, node in _class_initializers(definition):
            if name not in pairs:
                pairs[name] = lower(node)
        return tuple(pairs.items())


def _base_name(value: ir.Expr) -> str:
    return value.type.name if isinstance(value.type, ir.RecordType | ir.OpaqueType) else ""


def _class_initializers(constructor: Cursor) -> list[tuple[str, Cursor]]:
    """Fields with an initializer in the class itself (`int n = 3;`)."""
    found: list[tuple[str, Cursor]] = []
    for field in cursors.children(cursors.semantic_parent(constructor)):
        if field.kind == kinds.FIELD_DECL:
            value = _field_initializer(field)
            if value is not None:
                found.append((cursors.spelling(field), value))
    return found


def _is_default_constructor(constructor: Cursor) -> bool:
    """Whether a constructor can be called without arguments."""
    return all(cursors.expressions(parameter) for parameter in declarations.split(constructor).parameters)


def _field_initializer(field: Cursor) -> Cursor | None:
    """The initializer of a field in its class. The children of a field also hold its array extents and the width of
    a bit-field, which come first."""
    values = cursors.expressions(field)
    type_ = cursors.canonical_type(cursors.type_of(field))
    others = 1 if cursors.is_bit_field(field) else 0
    while type_.kind in (kinds.T_CONSTANT_ARRAY, kinds.T_DEPENDENT_SIZED_ARRAY):
        others += 1
        type_ = cursors.array_element_type(type_)
    return values[-1] if len(values) > others else None


def _record_of(type_: CxType) -> Cursor | None:
    canonical = cursors.canonical_type(type_)
    while canonical.kind == kinds.T_CONSTANT_ARRAY:
        canonical = cursors.array_element_type(canonical)
    return cursors.type_declaration(canonical) if canonical.kind == kinds.T_RECORD else None
