"""What the declaration of a function tells by itself."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor, CxType
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import ENDING
from cudalint.regexes import regex
from cudalint.source.brackets import closing

_CLUSTER_DIMENSIONS: Final = "cudalint.cluster_dims"
_LAUNCH_BOUNDS: Final = "cudalint.launch_bounds"
"""The annotation that the bundled `__launch_bounds__` adds: clang keeps the attribute's own arguments to itself."""

_PATTERN_PARENTS: Final = frozenset({kinds.CLASS_TEMPLATE, kinds.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION})
RECORDS: Final = frozenset({kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.UNION_DECL}) | _PATTERN_PARENTS
_NUMBER_SUFFIX: Final = regex(r"\b(\d+)[UL]+\b")
_NEVER_RETURNS: Final = regex(r"\[\[noreturn\]\]|\b_Noreturn\b")
_PACK: Final = regex(r"(?<=[<,\s])<([^<>]*)>")
"""The arguments of a pack, which clang prints in brackets of their own: `sum<<float, int>>`."""


class Parts(Struct):
    """The children of a function's declaration."""

    attributes: list[Cursor]
    parameters: list[Cursor]
    initializers: list[Cursor]
    """Of a constructor: names and expressions in turn."""
    body: Cursor | None


def split(declaration: Cursor) -> Parts:
    parts = Parts([], [], [], None)
    for child in cursors.children(declaration):
        kind = child.kind
        if kind == kinds.PARM_DECL:
            parts.parameters.append(child)
        elif kind == kinds.COMPOUND_STMT:
            parts.body = child
        elif kind == kinds.CXX_TRY_STMT:
            parts.body = cursors.children(child)[0]
        elif kinds.is_attribute(kind):
            parts.attributes.append(child)
        else:
            parts.initializers.append(child)
    return parts


def function_kind(parts: Parts) -> ir.FunctionKind:
    attributes = {attribute.kind for attribute in parts.attributes}
    if kinds.CUDA_GLOBAL_ATTR in attributes:
        return "kernel"
    return "device" if kinds.CUDA_DEVICE_ATTR in attributes else "host"


def has_cluster_dimensions(parts: Parts) -> bool:
    """Whether blocks are launched in clusters by the declaration itself (`__cluster_dims__`)."""
    annotations = (attribute for attribute in parts.attributes if attribute.kind == kinds.ANNOTATE_ATTR)
    return any(cursors.spelling(annotation) == _CLUSTER_DIMENSIONS for annotation in annotations)


def cluster_dimensions(declaration: Cursor, parts: Parts) -> tuple[int, int, int] | None:
    """The arguments of `__cluster_dims__`, where all of them have a value; 1 for those that are not given."""
    for attribute in parts.attributes:
        if attribute.kind == kinds.ANNOTATE_ATTR and cursors.spelling(attribute) == _CLUSTER_DIMENSIONS:
            count, *given = [cursors.evaluate(argument) for argument in cursors.expressions(attribute)] or [None]
            extents = [int(extent) for extent in given if extent is not None and extent > 0]
            if len(extents) != count or len(extents) != len(given) or len(extents) > len("xyz"):
                return None
            x, y, z = (*extents, 1, 1, 1)[:3]
            return x, y, z
    return None


def launch_bounds(declaration: Cursor, parts: Parts) -> tuple[int | None, int | None]:
    """The arguments of `__launch_bounds__` that have a value; of a template none if one depends on its parameters, for
    which clang shows nothing (`WARPS`), or what is computed with: `WARPS * 32` shows as 32 and `WARPS`."""
    for attribute in parts.attributes:
        if attribute.kind == kinds.ANNOTATE_ATTR and cursors.spelling(attribute) == _LAUNCH_BOUNDS:
            count, *bounds = [cursors.evaluate(argument) for argument in cursors.expressions(attribute)]
            if (len(bounds) != count or None in bounds) and is_pattern(declaration):
                return None, None
            numbers = [int(bound) if bound is not None and bound > 0 else None for bound in bounds]
            numbers += [None, None]
            return numbers[0], numbers[1]
    return None, None


def never_returns(declaration: Cursor) -> bool:
    """Whether a function is declared `[[noreturn]]`, `_Noreturn` or `__attribute__((noreturn))`, here or where it is
    declared first: its definition need not say so once more."""
    first = cursors.canonical_cursor(declaration)
    return _says_it_never_returns(declaration) or (
        first.handle != declaration.handle and _says_it_never_returns(first)
    )


def _says_it_never_returns(declaration: Cursor) -> bool:
    """Of the spellings clang keeps only the last one in the type."""
    if declaration.kind == kinds.CONSTRUCTOR and _ends_with_its_object(declaration):
        return True
    if any(attribute.kind == kinds.UNEXPOSED_ATTR for attribute in split(declaration).attributes):
        return _NEVER_RETURNS.search(cursors.printed_declaration(declaration, with_attributes=True)) is not None
    return "noreturn" in cursors.type_spelling(cursors.type_of(declaration))


def _ends_with_its_object(constructor: Cursor) -> bool:
    """Whether the destructor never returns, as that of what a check writes its message to: `Fatal(__LINE__) << "n";`"""
    members = cursors.children_of_kinds(cursors.semantic_parent(constructor), frozenset({kinds.DESTRUCTOR}))
    return any(never_returns(destructor) or _calls_what_never_returns(destructor) for destructor in members)


def _calls_what_never_returns(destructor: Cursor) -> bool:
    """Whether a function does so in any case, or throws."""
    defined = cursors.definition(destructor)
    body = split(defined).body if defined.kind == kinds.DESTRUCTOR else None
    steps = [] if body is None else cursors.children(body)
    if any(map(_throws, steps)):
        return True
    called = [cursors.referenced(step) for step in steps if step.kind == kinds.CALL_EXPR]
    called = [function for function in called if function.kind in kinds.FUNCTION_DECLS]
    return any(cursors.spelling(function) in ENDING or never_returns(function) for function in called)


def _throws(statement: Cursor) -> bool:
    """Whether it is a `throw`, maybe of an object that has to be destroyed."""
    while statement.kind == kinds.UNEXPOSED_EXPR and len(inner := cursors.children(statement)) == 1:
        statement = inner[0]
    return statement.kind == kinds.CXX_THROW_EXPR


def is_pattern(declaration: Cursor) -> bool:
    """Whether a declaration is a template, or a member of one, rather than an instantiation."""
    node = declaration
    while node.kind in kinds.FUNCTION_DECLS or node.kind in RECORDS or node.kind == kinds.FUNCTION_TEMPLATE:
        if node.kind == kinds.FUNCTION_TEMPLATE or node.kind in _PATTERN_PARENTS:
            return True
        node = cursors.semantic_parent(node)
    return False


def template_parameters(definition: Cursor) -> list[Cursor]:
    """What stands between the brackets of a function template; nothing for an instantiation."""
    if definition.kind != kinds.FUNCTION_TEMPLATE:
        return []
    wanted = (kinds.TEMPLATE_TYPE_PARAMETER, kinds.TEMPLATE_NON_TYPE_PARAMETER)
    return [child for child in cursors.children(definition) if child.kind in wanted]


def is_lambda(declaration: Cursor) -> bool:
    """Whether a function is the call operator of a lambda."""
    parent = cursors.semantic_parent(declaration)
    return parent.kind == kinds.CLASS_DECL and "(lambda at " in cursors.spelling(parent)


def is_implicit_constructor(definition: Cursor) -> bool:
    return definition.kind == kinds.CONSTRUCTOR and bool(cursors.is_defaulted(definition))


def instantiation_name(definition: Cursor) -> str:
    """`tile<float, 32>`, cut out of the declaration as clang prints it."""
    name = cursors.spelling(definition)
    if cursors.template_argument_count(definition) <= 0:
        return name
    printed = cursors.printed_declaration(definition)
    match = re.search(rf"\b{re.escape(name)}<", printed)
    if match is None:
        return name
    start = match.end() - 1
    arguments = printed[start : closing(printed, start, "<>()")]
    return name + _PACK.sub(r"\1", _NUMBER_SUFFIX.sub(r"\1", arguments))


def is_const(type_: CxType) -> bool:
    """Whether a type, or an array's element, is constant."""
    canonical = cursors.canonical_type(type_)
    # The element's qualifier is the array's in a canonical type, and is lost with that.
    while canonical.kind in (kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY):
        if cursors.is_const_qualified(canonical):
            return True
        canonical = cursors.array_element_type(canonical)
    return bool(cursors.is_const_qualified(canonical))


def is_output(parameter: Cursor) -> bool:
    """Whether it is a reference to what is not constant."""
    type_ = cursors.canonical_type(cursors.type_of(parameter))
    return type_.kind == kinds.T_LVALUE_REFERENCE and not is_const(cursors.pointee_type(type_))
