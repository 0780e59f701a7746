"""The numbers of libclang's cursor and type kinds that the lowering looks at.

Plain integers, because comparing the bindings' kind objects costs more than the call that yields them.
"""

from __future__ import annotations

from typing import Final

from clang.cindex import CursorKind, TypeKind


def _cursor(name: str) -> int:
    return int(getattr(CursorKind, name).value)


def type_kind(name: str) -> int:
    return int(getattr(TypeKind, name).value)


# Declarations.
TYPEDEF_DECL: Final = _cursor("TYPEDEF_DECL")
TYPE_ALIAS_DECL: Final = _cursor("TYPE_ALIAS_DECL")
UNEXPOSED_DECL: Final = _cursor("UNEXPOSED_DECL")
TRANSLATION_UNIT: Final = _cursor("TRANSLATION_UNIT")
STRUCT_DECL: Final = _cursor("STRUCT_DECL")
UNION_DECL: Final = _cursor("UNION_DECL")
CLASS_DECL: Final = _cursor("CLASS_DECL")
ENUM_DECL: Final = _cursor("ENUM_DECL")
FIELD_DECL: Final = _cursor("FIELD_DECL")
ENUM_CONSTANT_DECL: Final = _cursor("ENUM_CONSTANT_DECL")
FUNCTION_DECL: Final = _cursor("FUNCTION_DECL")
VAR_DECL: Final = _cursor("VAR_DECL")
PARM_DECL: Final = _cursor("PARM_DECL")
CXX_METHOD: Final = _cursor("CXX_METHOD")
NAMESPACE: Final = _cursor("NAMESPACE")
LINKAGE_SPEC: Final = _cursor("LINKAGE_SPEC")
CONSTRUCTOR: Final = _cursor("CONSTRUCTOR")
DESTRUCTOR: Final = _cursor("DESTRUCTOR")
CONVERSION_FUNCTION: Final = _cursor("CONVERSION_FUNCTION")
TEMPLATE_NON_TYPE_PARAMETER: Final = _cursor("TEMPLATE_NON_TYPE_PARAMETER")
TEMPLATE_TYPE_PARAMETER: Final = _cursor("TEMPLATE_TYPE_PARAMETER")
FUNCTION_TEMPLATE: Final = _cursor("FUNCTION_TEMPLATE")
CLASS_TEMPLATE: Final = _cursor("CLASS_TEMPLATE")
CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: Final = _cursor("CLASS_TEMPLATE_PARTIAL_SPECIALIZATION")
CXX_BASE_SPECIFIER: Final = _cursor("CXX_BASE_SPECIFIER")

# References.
TYPE_REF: Final = _cursor("TYPE_REF")
MEMBER_REF: Final = _cursor("MEMBER_REF")
VARIABLE_REF: Final = _cursor("VARIABLE_REF")
OVERLOADED_DECL_REF: Final = _cursor("OVERLOADED_DECL_REF")

# Expressions; libclang numbers them from UNEXPOSED_EXPR up to the first statement.
UNEXPOSED_EXPR: Final = _cursor("UNEXPOSED_EXPR")
DECL_REF_EXPR: Final = _cursor("DECL_REF_EXPR")
MEMBER_REF_EXPR: Final = _cursor("MEMBER_REF_EXPR")
CALL_EXPR: Final = _cursor("CALL_EXPR")
INTEGER_LITERAL: Final = _cursor("INTEGER_LITERAL")
FLOATING_LITERAL: Final = _cursor("FLOATING_LITERAL")
STRING_LITERAL: Final = _cursor("STRING_LITERAL")
CHARACTER_LITERAL: Final = _cursor("CHARACTER_LITERAL")
PAREN_EXPR: Final = _cursor("PAREN_EXPR")
UNARY_OPERATOR: Final = _cursor("UNARY_OPERATOR")
ARRAY_SUBSCRIPT_EXPR: Final = _cursor("ARRAY_SUBSCRIPT_EXPR")
BINARY_OPERATOR: Final = _cursor("BINARY_OPERATOR")
COMPOUND_ASSIGNMENT_OPERATOR: Final = _cursor("COMPOUND_ASSIGNMENT_OPERATOR")
CONDITIONAL_OPERATOR: Final = _cursor("CONDITIONAL_OPERATOR")
CSTYLE_CAST_EXPR: Final = _cursor("CSTYLE_CAST_EXPR")
COMPOUND_LITERAL_EXPR: Final = _cursor("COMPOUND_LITERAL_EXPR")
INIT_LIST_EXPR: Final = _cursor("INIT_LIST_EXPR")
STMT_EXPR: Final = _cursor("StmtExpr")
CXX_STATIC_CAST_EXPR: Final = _cursor("CXX_STATIC_CAST_EXPR")
CXX_DYNAMIC_CAST_EXPR: Final = _cursor("CXX_DYNAMIC_CAST_EXPR")
CXX_REINTERPRET_CAST_EXPR: Final = _cursor("CXX_REINTERPRET_CAST_EXPR")
CXX_CONST_CAST_EXPR: Final = _cursor("CXX_CONST_CAST_EXPR")
CXX_FUNCTIONAL_CAST_EXPR: Final = _cursor("CXX_FUNCTIONAL_CAST_EXPR")
CXX_BOOL_LITERAL_EXPR: Final = _cursor("CXX_BOOL_LITERAL_EXPR")
CXX_NULL_PTR_LITERAL_EXPR: Final = _cursor("CXX_NULL_PTR_LITERAL_EXPR")
GNU_NULL_EXPR: Final = _cursor("GNU_NULL_EXPR")
CXX_THIS_EXPR: Final = _cursor("CXX_THIS_EXPR")
CXX_THROW_EXPR: Final = _cursor("CXX_THROW_EXPR")
CXX_NEW_EXPR: Final = _cursor("CXX_NEW_EXPR")
CXX_DELETE_EXPR: Final = _cursor("CXX_DELETE_EXPR")
UNARY_TRAIT_EXPR: Final = _cursor("CXX_UNARY_EXPR")
LAMBDA_EXPR: Final = _cursor("LAMBDA_EXPR")
SIZE_OF_PACK_EXPR: Final = _cursor("SIZE_OF_PACK_EXPR")

# Statements.
UNEXPOSED_STMT: Final = _cursor("UNEXPOSED_STMT")
LABEL_STMT: Final = _cursor("LABEL_STMT")
LABEL_REF: Final = _cursor("LABEL_REF")
COMPOUND_STMT: Final = _cursor("COMPOUND_STMT")
CASE_STMT: Final = _cursor("CASE_STMT")
DEFAULT_STMT: Final = _cursor("DEFAULT_STMT")
IF_STMT: Final = _cursor("IF_STMT")
SWITCH_STMT: Final = _cursor("SWITCH_STMT")
WHILE_STMT: Final = _cursor("WHILE_STMT")
DO_STMT: Final = _cursor("DO_STMT")
FOR_STMT: Final = _cursor("FOR_STMT")
GOTO_STMT: Final = _cursor("GOTO_STMT")
CONTINUE_STMT: Final = _cursor("CONTINUE_STMT")
BREAK_STMT: Final = _cursor("BREAK_STMT")
RETURN_STMT: Final = _cursor("RETURN_STMT")
ASM_STMT: Final = _cursor("ASM_STMT")
CXX_FINAL_ATTR: Final = _cursor("CXX_FINAL_ATTR")
CXX_TRY_STMT: Final = _cursor("CXX_TRY_STMT")
CXX_FOR_RANGE_STMT: Final = _cursor("CXX_FOR_RANGE_STMT")
NULL_STMT: Final = _cursor("NULL_STMT")
DECL_STMT: Final = _cursor("DECL_STMT")

# Attributes.
UNEXPOSED_ATTR: Final = _cursor("UNEXPOSED_ATTR")
ANNOTATE_ATTR: Final = _cursor("ANNOTATE_ATTR")
ALIGNED_ATTR: Final = _cursor("ALIGNED_ATTR")
CUDA_CONSTANT_ATTR: Final = _cursor("CUDACONSTANT_ATTR")
CUDA_DEVICE_ATTR: Final = _cursor("CUDADEVICE_ATTR")
CUDA_GLOBAL_ATTR: Final = _cursor("CUDAGLOBAL_ATTR")
CUDA_SHARED_ATTR: Final = _cursor("CUDASHARED_ATTR")

# Types.
T_INVALID: Final = type_kind("INVALID")
T_VOID: Final = type_kind("VOID")
T_POINTER: Final = type_kind("POINTER")
T_TYPEDEF: Final = type_kind("TYPEDEF")
T_ELABORATED: Final = type_kind("ELABORATED")
T_LVALUE_REFERENCE: Final = type_kind("LVALUEREFERENCE")
T_RVALUE_REFERENCE: Final = type_kind("RVALUEREFERENCE")
T_RECORD: Final = type_kind("RECORD")
T_ENUM: Final = type_kind("ENUM")
T_CONSTANT_ARRAY: Final = type_kind("CONSTANTARRAY")
T_INCOMPLETE_ARRAY: Final = type_kind("INCOMPLETEARRAY")
T_VARIABLE_ARRAY: Final = type_kind("VARIABLEARRAY")
T_DEPENDENT_SIZED_ARRAY: Final = type_kind("DEPENDENTSIZEDARRAY")
T_VECTOR: Final = type_kind("VECTOR")
T_EXT_VECTOR: Final = type_kind("EXTVECTOR")
T_NULL_PTR: Final = type_kind("NULLPTR")
T_MEMBER_POINTER: Final = type_kind("MEMBERPOINTER")

FUNCTION_DECLS: Final = frozenset({FUNCTION_DECL, CXX_METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION_FUNCTION})
"""Kinds of functions with a body of their own, templates left out."""


def is_reference(kind: int) -> bool:
    """Whether a child of this kind only names something, as `TYPE_REF` does under a cast."""
    return TYPE_REF <= kind < UNEXPOSED_EXPR


def is_expression(kind: int) -> bool:
    return UNEXPOSED_EXPR <= kind < UNEXPOSED_STMT


def is_attribute(kind: int) -> bool:
    return 400 <= kind < 500


def is_declaration(kind: int) -> bool:
    return UNEXPOSED_DECL <= kind < TYPE_REF
