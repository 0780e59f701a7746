"""A thin typed layer over libclang's C interface for the lowering.

The bindings wrap every result in Python objects that carry references and caches: 11 microseconds for a cursor with
kind, type and location. The lowering visits each node of a function once, so that it calls the C functions directly
(about one microsecond each) on a structure of its own. A cursor is only valid as long as its translation unit; the
lowering holds that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_longlong,
    c_uint,
    c_ulonglong,
    c_void_p,
    py_object,
)
from typing import Any, Final

from clang.cindex import Cursor as BindingsCursor
from clang.cindex import conf

from cudalint.frontend import kinds


class CxType(ctypes.Structure):
    """CXType. `handle` is clang's pointer to the type with its qualifiers: equal handles mean the same type."""

    kind: int
    handle: int
    _fields_ = [("kind", c_int), ("handle", c_void_p), ("unit", c_void_p)]


class Location(ctypes.Structure):
    """CXSourceLocation. `encoded` is clang's offset into all the files and macro expansions of the unit."""

    encoded: int
    _fields_ = [("manager", c_void_p), ("options", c_void_p), ("encoded", c_uint)]


class Range(ctypes.Structure):
    """CXSourceRange."""

    begin: int
    end: int
    manager: int | None
    options: int | None
    _fields_ = [("manager", c_void_p), ("options", c_void_p), ("begin", c_uint), ("end", c_uint)]


class _String(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class Cursor(ctypes.Structure):
    """CXCursor. `handle` identifies a declaration: two cursors of one declaration have equal handles."""

    kind: int
    handle: int | None
    unit: int
    _fields_ = [
        ("kind", c_int),
        ("extra", c_int),
        ("handle", c_void_p),
        ("node", c_void_p),
        ("unit", c_void_p),
    ]


_VISITOR = ctypes.CFUNCTYPE(c_int, Cursor, Cursor, py_object)
_CONTINUE: Final = 1
_RECURSE: Final = 2


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """Binds one C function anew, since the bindings' own declaration of it converts its results."""
    return ctypes.CFUNCTYPE(result, *arguments)((name, conf.lib))


_visit_children = _function("clang_visitChildren", c_uint, Cursor, _VISITOR, py_object)
_cursor_type = _function("clang_getCursorType", CxType, Cursor)
_cursor_extent = _function("clang_getCursorExtent", Range, Cursor)
_cursor_location = _function("clang_getCursorLocation", Location, Cursor)
_cursor_spelling = _function("clang_getCursorSpelling", _String, Cursor)
_cursor_usr = _function("clang_getCursorUSR", _String, Cursor)
_cursor_mangling = _function("clang_Cursor_getMangling", _String, Cursor)
_type_spelling = _function("clang_getTypeSpelling", _String, CxType)
_c_string = _function("clang_getCString", c_char_p, _String)
_dispose_string = _function("clang_disposeString", None, _String)
_binary_operator = _function("clang_getCursorBinaryOperatorKind", c_int, Cursor)
_unary_operator = _function("clang_getCursorUnaryOperatorKind", c_int, Cursor)
_evaluate = _function("clang_Cursor_Evaluate", c_void_p, Cursor)
_result_kind = _function("clang_EvalResult_getKind", c_int, c_void_p)
_result_integer = _function("clang_EvalResult_getAsLongLong", c_longlong, c_void_p)
_result_unsigned = _function("clang_EvalResult_getAsUnsigned", c_ulonglong, c_void_p)
_result_is_unsigned = _function("clang_EvalResult_isUnsignedInt", c_uint, c_void_p)
_result_double = _function("clang_EvalResult_getAsDouble", c_double, c_void_p)
_result_dispose = _function("clang_EvalResult_dispose", None, c_void_p)
_expansion = _function(
    "clang_getExpansionLocation",
    None,
    Location,
    POINTER(c_void_p),
    POINTER(c_uint),
    POINTER(c_uint),
    POINTER(c_uint),
)
_spelling_location = _function(
    "clang_getSpellingLocation",
    None,
    Location,
    POINTER(c_void_p),
    POINTER(c_uint),
    POINTER(c_uint),
    POINTER(c_uint),
)
_file_name = _function("clang_getFileName", _String, c_void_p)
_file_named = _function("clang_getFile", c_void_p, c_void_p, c_char_p)
_file_contents = _function("clang_getFileContents", c_void_p, c_void_p, c_void_p, POINTER(ctypes.c_size_t))
_visit_fields = _function(
    "clang_Type_visitFields", c_uint, CxType, ctypes.CFUNCTYPE(c_int, Cursor, py_object), py_object
)
_printing_policy = _function("clang_getCursorPrintingPolicy", c_void_p, Cursor)
_set_printing = _function("clang_PrintingPolicy_setProperty", None, c_void_p, c_int, c_uint)
_dispose_policy = _function("clang_PrintingPolicy_dispose", None, c_void_p)
_pretty_printed = _function("clang_getCursorPrettyPrinted", _String, Cursor, c_void_p)

referenced: Callable[[Cursor], Cursor] = _function("clang_getCursorReferenced", Cursor, Cursor)
canonical_cursor: Callable[[Cursor], Cursor] = _function("clang_getCanonicalCursor", Cursor, Cursor)
definition: Callable[[Cursor], Cursor] = _function("clang_getCursorDefinition", Cursor, Cursor)
lexical_parent: Callable[[Cursor], Cursor] = _function("clang_getCursorLexicalParent", Cursor, Cursor)
semantic_parent: Callable[[Cursor], Cursor] = _function("clang_getCursorSemanticParent", Cursor, Cursor)
initializer: Callable[[Cursor], Cursor] = _function("clang_Cursor_getVarDeclInitializer", Cursor, Cursor)
specialized_template: Callable[[Cursor], Cursor] = _function("clang_getSpecializedCursorTemplate", Cursor, Cursor)
argument_count: Callable[[Cursor], int] = _function("clang_Cursor_getNumArguments", c_int, Cursor)
argument: Callable[[Cursor, int], Cursor] = _function("clang_Cursor_getArgument", Cursor, Cursor, c_uint)
overload_count: Callable[[Cursor], int] = _function("clang_getNumOverloadedDecls", c_uint, Cursor)
overload: Callable[[Cursor, int], Cursor] = _function("clang_getOverloadedDecl", Cursor, Cursor, c_uint)
template_argument_count: Callable[[Cursor], int] = _function("clang_Cursor_getNumTemplateArguments", c_int, Cursor)
result_type: Callable[[Cursor], CxType] = _function("clang_getCursorResultType", CxType, Cursor)
enum_value: Callable[[Cursor], int] = _function("clang_getEnumConstantDeclValue", c_longlong, Cursor)
enum_unsigned_value: Callable[[Cursor], int] = _function("clang_getEnumConstantDeclUnsignedValue", c_ulonglong, Cursor)
enum_type: Callable[[Cursor], CxType] = _function("clang_getEnumDeclIntegerType", CxType, Cursor)
storage_class: Callable[[Cursor], int] = _function("clang_Cursor_getStorageClass", c_int, Cursor)
has_global_storage: Callable[[Cursor], int] = _function("clang_Cursor_hasVarDeclGlobalStorage", c_int, Cursor)
has_attributes: Callable[[Cursor], int] = _function("clang_Cursor_hasAttrs", c_uint, Cursor)
is_definition: Callable[[Cursor], int] = _function("clang_isCursorDefinition", c_uint, Cursor)
is_defaulted: Callable[[Cursor], int] = _function("clang_CXXMethod_isDefaulted", c_uint, Cursor)
is_virtual_method: Callable[[Cursor], int] = _function("clang_CXXMethod_isVirtual", c_uint, Cursor)
is_static_method: Callable[[Cursor], int] = _function("clang_CXXMethod_isStatic", c_uint, Cursor)
is_const_method: Callable[[Cursor], int] = _function("clang_CXXMethod_isConst", c_uint, Cursor)
is_copy_constructor: Callable[[Cursor], int] = _function("clang_CXXConstructor_isCopyConstructor", c_uint, Cursor)
is_move_constructor: Callable[[Cursor], int] = _function("clang_CXXConstructor_isMoveConstructor", c_uint, Cursor)
bit_field_width: Callable[[Cursor], int] = _function("clang_getFieldDeclBitWidth", c_int, Cursor)
is_bit_field: Callable[[Cursor], int] = _function("clang_Cursor_isBitField", c_uint, Cursor)
field_bit_offset: Callable[[Cursor], int] = _function("clang_Cursor_getOffsetOfField", c_longlong, Cursor)
is_invalid: Callable[[Cursor], int] = _function("clang_isInvalidDeclaration", c_uint, Cursor)
is_anonymous_record: Callable[[Cursor], int] = _function("clang_Cursor_isAnonymousRecordDecl", c_uint, Cursor)

canonical_type: Callable[[CxType], CxType] = _function("clang_getCanonicalType", CxType, CxType)
unqualified_type: Callable[[CxType], CxType] = _function("clang_getUnqualifiedType", CxType, CxType)
pointee_type: Callable[[CxType], CxType] = _function("clang_getPointeeType", CxType, CxType)
element_type: Callable[[CxType], CxType] = _function("clang_getElementType", CxType, CxType)
array_element_type: Callable[[CxType], CxType] = _function("clang_getArrayElementType", CxType, CxType)
element_count: Callable[[CxType], int] = _function("clang_getNumElements", c_longlong, CxType)
array_size: Callable[[CxType], int] = _function("clang_getArraySize", c_longlong, CxType)
size_of: Callable[[CxType], int] = _function("clang_Type_getSizeOf", c_longlong, CxType)
align_of: Callable[[CxType], int] = _function("clang_Type_getAlignOf", c_longlong, CxType)
type_declaration: Callable[[CxType], Cursor] = _function("clang_getTypeDeclaration", Cursor, CxType)
is_volatile_qualified: Callable[[CxType], int] = _function("clang_isVolatileQualifiedType", c_uint, CxType)
is_const_qualified: Callable[[CxType], int] = _function("clang_isConstQualifiedType", c_uint, CxType)
is_restrict_qualified: Callable[[CxType], int] = _function("clang_isRestrictQualifiedType", c_uint, CxType)

type_of: Callable[[Cursor], CxType] = _cursor_type
extent: Callable[[Cursor], Range] = _cursor_extent
location: Callable[[Cursor], Location] = _cursor_location

_BINARY_OPERATORS: Final = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&",
    "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
_UNARY_OPERATORS: Final = (
    "", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!", "__real", "__imag", "__extension__", "co_await",
)  # fmt: skip

STORAGE_EXTERN: Final = 2

_EVALUATED_INTEGER: Final = 1
_EVALUATED_FLOAT: Final = 2
_POLICY_TERSE: Final = 17
_POLICY_POLISHED: Final = 18


def from_bindings(cursor: BindingsCursor) -> Cursor:
    return Cursor.from_buffer_copy(cursor)


def _append(cursor: Cursor, parent: Cursor, found: list[Cursor]) -> int:
    found.append(cursor)
    return _CONTINUE


_APPEND = _VISITOR(_append)


def children(cursor: Cursor) -> list[Cursor]:
    found: list[Cursor] = []
    _visit_children(cursor, _APPEND, found)
    return found


def _append_expression(cursor: Cursor, parent: Cursor, found: list[Cursor]) -> int:
    if kinds.UNEXPOSED_EXPR <= cursor.kind < kinds.UNEXPOSED_STMT:
        found.append(cursor)
    return _CONTINUE


_APPEND_EXPRESSION = _VISITOR(_append_expression)


def expressions(cursor: Cursor) -> list[Cursor]:
    """The children that are expressions, without the names of types and namespaces between them."""
    found: list[Cursor] = []
    _visit_children(cursor, _APPEND_EXPRESSION, found)
    return found


def _append_field(cursor: Cursor, found: list[Cursor]) -> int:
    found.append(cursor)
    return _CONTINUE


_APPEND_FIELD = ctypes.CFUNCTYPE(c_int, Cursor, py_object)(_append_field)


def fields(record: CxType) -> list[Cursor]:
    """The direct fields of a record, without those of its bases."""
    found: list[Cursor] = []
    _visit_fields(record, _APPEND_FIELD, found)
    return found


def _append_if_wanted(cursor: Cursor, parent: Cursor, state: tuple[frozenset[int], list[Cursor], int]) -> int:
    wanted, found, then = state
    if cursor.kind in wanted:
        found.append(cursor)
    return then


_APPEND_IF_WANTED = _VISITOR(_append_if_wanted)


def children_of_kinds(cursor: Cursor, wanted: frozenset[int]) -> list[Cursor]:
    found: list[Cursor] = []
    _visit_children(cursor, _APPEND_IF_WANTED, (wanted, found, _CONTINUE))
    return found


def descendants(cursor: Cursor, wanted: frozenset[int]) -> list[Cursor]:
    """All nodes of the wanted kinds below a cursor, in source order."""
    found: list[Cursor] = []
    _visit_children(cursor, _APPEND_IF_WANTED, (wanted, found, _RECURSE))
    return found


def _text(string: _String) -> str:
    data: bytes | None = _c_string(string)
    _dispose_string(string)
    return data.decode("utf-8", "replace") if data else ""


def spelling(cursor: Cursor) -> str:
    return _text(_cursor_spelling(cursor))


def usr(cursor: Cursor) -> str:
    """Clang's name for a declaration, which differs between instantiations."""
    return _text(_cursor_usr(cursor))


def linkage_name(cursor: Cursor) -> str:
    """What a function is called in compiled code."""
    return _text(_cursor_mangling(cursor))


def type_spelling(type_: CxType) -> str:
    return _text(_type_spelling(type_))


def printed_declaration(cursor: Cursor, with_attributes: bool = False) -> str:
    """A declaration as clang prints it: without its body, with its template arguments."""
    policy = _printing_policy(cursor)
    _set_printing(policy, _POLICY_TERSE, 1)
    _set_printing(policy, _POLICY_POLISHED, int(not with_attributes))
    printed = _text(_pretty_printed(cursor, policy))
    _dispose_policy(policy)
    return printed


def binary_operator(cursor: Cursor) -> str:
    return _BINARY_OPERATORS[_binary_operator(cursor)]


def unary_operator(cursor: Cursor) -> str:
    return _UNARY_OPERATORS[_unary_operator(cursor)]


def overloads(declaration: Cursor) -> list[Cursor]:
    """The functions of a name that clang has left unresolved."""
    return [overload(declaration, position) for position in range(overload_count(declaration))]


def only_overload(declaration: Cursor) -> Cursor:
    """What a name stands for that clang has left unresolved, if only one function is called so; else what is given."""
    if declaration.kind == kinds.OVERLOADED_DECL_REF and overload_count(declaration) == 1:
        return overload(declaration, 0)
    return declaration


def evaluate(cursor: Cursor) -> int | float | None:
    """The value of an expression or of a variable's initializer where clang can fold it."""
    result = _evaluate(cursor)
    if not result:
        return None
    kind = _result_kind(result)
    value: int | float | None = None
    if kind == _EVALUATED_INTEGER:
        value = _result_unsigned(result) if _result_is_unsigned(result) else _result_integer(result)
    elif kind == _EVALUATED_FLOAT:
        value = _result_double(result)
    _result_dispose(result)
    return value


def expansion(of: Location) -> tuple[int | None, int]:
    """File handle and offset of a location; for a macro, of the place where it is used."""
    return _place(_expansion, of)


def spelled(of: Location) -> tuple[int | None, int]:
    """File handle and offset of the characters; for a macro, inside of its definition."""
    return _place(_spelling_location, of)


def _place(function: Callable[..., Any], of: Location) -> tuple[int | None, int]:
    file, offset = c_void_p(), c_uint()
    function(of, byref(file), None, None, byref(offset))
    return file.value, offset.value


def file_name(file: int) -> str:
    return _text(_file_name(file))


def file_size(unit: int, file: int) -> int:
    """How many bytes a file had when it was parsed."""
    return _contents(unit, file)[1]


def file_named(unit: int, path: str) -> int:
    """The handle of a file of a unit; 0 where it has none."""
    handle: int | None = _file_named(unit, path.encode("utf-8", "surrogateescape"))
    return handle or 0


def file_contents(unit: int, file: int) -> bytes:
    """The text of a file as it was parsed."""
    data, size = _contents(unit, file)
    return ctypes.string_at(data, size) if data else b""


def text_in(unit: int, path: str) -> bytes | None:
    """The text of a file of a unit, by its path, as it was parsed; None where the unit has none of that path."""
    handle = file_named(unit, path)
    return file_contents(unit, handle) if handle else None


def _contents(unit: int, file: int) -> tuple[int | None, int]:
    """Where the text of a file lies in memory, and how long it is."""
    size = ctypes.c_size_t()
    data: int | None = _file_contents(unit, file, byref(size))
    return data, size.value if data else 0
