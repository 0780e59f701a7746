"""The numbers of libclang's cursor and type kinds that the lowering looks at.

Plain integers, because comparing the bindings' kind objects costs more than the call that yields them. They have the
names of the bindings: `IF_STMT` is a kind of cursors, and `T_POINTER` one of types, which is `POINTER` there.
"""

from __future__ import annotations

from typing import Final

from clang.cindex import CursorKind, TypeKind

_OTHERWISE_CALLED: Final = {
    "STMT_EXPR": "StmtExpr",
    "UNARY_TRAIT_EXPR": "CXX_UNARY_EXPR",
    "T_LVALUE_REFERENCE": "LVALUEREFERENCE",
    "T_RVALUE_REFERENCE": "RVALUEREFERENCE",
}
"""Kinds for which the bindings have names that say less."""


def type_kind(name: str) -> int:
    return int(getattr(TypeKind, name).value)


def __getattr__(name: str) -> int:
    """Looks a kind up when it is first asked for. Raises AttributeError where the bindings have none of that name."""
    found = _OTHERWISE_CALLED.get(name)
    if name.startswith("T_"):
        number = type_kind(found or name.removeprefix("T_").replace("_", ""))
    elif name.isupper():
        called = found or (name.replace("CUDA_", "CUDA") if name.endswith("_ATTR") else name)
        number = int(getattr(CursorKind, called).value)
    else:
        raise AttributeError(name)
    globals()[name] = number
    return number


FUNCTION_DECLS: Final = frozenset(
    kind.value
    for kind in (
        CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
    )
)  # fmt: skip
"""Kinds of functions with a body of their own, templates left out."""

NAMING: Final = frozenset(
    kind.value for kind in CursorKind.get_all_kinds() if kind.is_declaration() or kind == CursorKind.MACRO_DEFINITION
)
"""Kinds of what gives something a name."""

_FIRST_REFERENCE: Final[int] = CursorKind.TYPE_REF.value
_FIRST_DECLARATION: Final[int] = CursorKind.UNEXPOSED_DECL.value
_FIRST_EXPRESSION: Final[int] = CursorKind.UNEXPOSED_EXPR.value
_FIRST_STATEMENT: Final[int] = CursorKind.UNEXPOSED_STMT.value


def is_reference(kind: int) -> bool:
    """Whether a child of this kind only names something, as `TYPE_REF` does under a cast."""
    return _FIRST_REFERENCE <= kind < _FIRST_EXPRESSION


def is_expression(kind: int) -> bool:
    return _FIRST_EXPRESSION <= kind < _FIRST_STATEMENT


def is_attribute(kind: int) -> bool:
    return 400 <= kind < 500


def is_declaration(kind: int) -> bool:
    return _FIRST_DECLARATION <= kind < _FIRST_REFERENCE
