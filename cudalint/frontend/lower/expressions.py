"""Expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeGuard, cast

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower import declarations, literals
from cudalint.frontend.lower.init_lists import is_extents
from cudalint.frontend.lower.types import BOOL, INT, VOID, has_open_bases, is_anonymous
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})
_NAMED_FUNCTIONS: Final = kinds.FUNCTION_DECLS | {kinds.FUNCTION_TEMPLATE}
_SIZE_OF_NAME: Final = regex(r"sizeof\s*\(\s*\w+\s*\)")
"""`sizeof(T)`, but not `sizeof(T*)` and `sizeof(T[4])`, of which the tree says as little more than `T`."""


class Expressions:
    """Lowers expressions; each kind of node has its own method, found through a table."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._types = context.types
        self._where = context.sources.where
        calls = context.calls
        cast_method = self._explicit_cast
        self._methods: dict[int, Callable[[Cursor], ir.Expr]] = {
            kinds.UNEXPOSED_EXPR: self._unexposed,
            kinds.PAREN_EXPR: self._wrapped,
            kinds.INTEGER_LITERAL: self._integer,
            kinds.FLOATING_LITERAL: self._floating,
            kinds.CHARACTER_LITERAL: self._folded,
            kinds.CXX_BOOL_LITERAL_EXPR: self._folded,
            kinds.UNARY_TRAIT_EXPR: self._size_of,
            kinds.SIZE_OF_PACK_EXPR: self._folded,
            kinds.STRING_LITERAL: self._string,
            kinds.CXX_NULL_PTR_LITERAL_EXPR: self._null,
            kinds.GNU_NULL_EXPR: self._null,
            kinds.DECL_REF_EXPR: self._name,
            kinds.MEMBER_REF_EXPR: self._member,
            kinds.CXX_THIS_EXPR: self.this,
            kinds.ARRAY_SUBSCRIPT_EXPR: self._index,
            kinds.UNARY_OPERATOR: self._unary,
            kinds.BINARY_OPERATOR: self._binary,
            kinds.COMPOUND_ASSIGNMENT_OPERATOR: self._compound_assignment,
            kinds.CONDITIONAL_OPERATOR: self._conditional,
            kinds.CALL_EXPR: calls.lower,
            kinds.CSTYLE_CAST_EXPR: cast_method,
            kinds.CXX_STATIC_CAST_EXPR: cast_method,
            kinds.CXX_REINTERPRET_CAST_EXPR: cast_method,
            kinds.CXX_CONST_CAST_EXPR: cast_method,
            kinds.CXX_DYNAMIC_CAST_EXPR: cast_method,
            kinds.CXX_FUNCTIONAL_CAST_EXPR: self._functional_cast,
            kinds.COMPOUND_LITERAL_EXPR: self._wrapped,
            kinds.INIT_LIST_EXPR: context.init_lists.lower,
            kinds.LAMBDA_EXPR: context.lambdas.lower,
            kinds.CXX_NEW_EXPR: self._new,
            kinds.CXX_DELETE_EXPR: self._delete,
            kinds.CXX_THROW_EXPR: self._throw,
            kinds.STMT_EXPR: self._statement_expression,
        }

    def lower(self, cursor: Cursor) -> ir.Expr:
        method = self._methods.get(cursor.kind)
        if method is None:
            return self.unknown(cursor, f"expression of libclang kind {cursor.kind}")
        expr = method(cursor)
        if self._types.is_volatile(cursor):
            self._context.volatile.add(expr.span)
        return expr

    def lower_all(self, nodes: list[Cursor]) -> tuple[ir.Expr, ...]:
        return tuple([self.lower(node) for node in nodes])

    def initializer(self, declaration: Cursor) -> ir.Expr | None:
        """A variable's initializer, None where it starts uninitialised."""
        if declaration.kind == kinds.TEMPLATE_NON_TYPE_PARAMETER:
            defaults = cursors.expressions(declaration)
            return self.lower(defaults[-1]) if defaults else None
        node = cursors.initializer(declaration)
        if not kinds.is_expression(node.kind) or self._context.calls.is_trivial_default(node):
            return None
        if node.kind == kinds.INIT_LIST_EXPR:
            return self._context.init_lists.lower(node, self._types.of(declaration))
        type_ = self._types.of(declaration)
        if is_extents(type_) and (arguments := self._open_arguments(node)):
            return self._context.init_lists.extents(arguments, type_, self._where(node))
        return self.lower(node)

    def _open_arguments(self, node: Cursor) -> list[Cursor]:
        """The arguments of `T x(a, b)` where they have types of a template; none of everything else."""
        is_open = node.kind == kinds.UNEXPOSED_EXPR and isinstance(self._types.of(node), ir.OpaqueType)
        arguments = cursors.expressions(node)
        return arguments if is_open and len(arguments) > 1 else []

    def unknown(self, cursor: Cursor, reason: str) -> ir.UnknownExpr:
        children = self.lower_all(cursors.expressions(cursor))
        return ir.UnknownExpr(reason, children, self._types.of(cursor), self._where(cursor))

    # --- wrappers and implicit conversions -----------------------------------------------------

    def _wrapped(self, cursor: Cursor) -> ir.Expr:
        inner = cursors.expressions(cursor)
        return self.lower(inner[-1]) if inner else self.unknown(cursor, "an empty wrapper")

    def _unexposed(self, cursor: Cursor) -> ir.Expr:
        """Implicit conversions mostly; libclang has no name for them, nor for some rare expressions."""
        inner = cursors.expressions(cursor)
        if len(inner) != 1:
            return self._rare(cursor, inner)
        type_ = self._types.of(cursor)
        if isinstance(type_, ir.OpaqueType) and self._context.calls.is_unresolved(inner[0]):
            return self._context.calls.unresolved(cursor, inner)
        operand = self.lower(inner[0])
        return self.converted(operand, _decayed(type_, operand), cursor)

    def converted(self, operand: ir.Expr, target: ir.Type, cursor: Cursor) -> ir.Expr:
        """An implicit conversion, which is only kept where it changes the type."""
        if operand.type is target:
            return operand
        if isinstance(operand, ir.FunctionName) or isinstance(target, ir.OpaqueType):
            return operand
        self._types.note_base(operand.type, target)
        return ir.Cast(operand, target, False, self._where(cursor))

    def _rare(self, cursor: Cursor, inner: list[Cursor]) -> ir.Expr:
        """An unexposed node that is no conversion: `offsetof`, a type trait, `T()`, an unresolved call."""
        type_ = self._types.of(cursor)
        if isinstance(type_, ir.Scalar):
            value = cursors.evaluate(cursor)
            if value is not None:
                return ir.Constant(value, type_, self._where(cursor))
        if not inner:
            return self._value_initialised(cursor, type_)
        if self._context.calls.is_unresolved(inner[0]):
            return self._context.calls.unresolved(cursor, inner)
        if len(inner) == 4 and self._types.of(inner[1]) is BOOL:
            return self._conditional_without_middle(cursor, inner)
        return self.unknown(cursor, "an expression that clang could not resolve")

    def _conditional_without_middle(self, cursor: Cursor, inner: list[Cursor]) -> ir.Expr:
        """GNU's `a ?: b`; the tree has `a` three times: by itself, as the condition, as the value."""
        condition, then, otherwise = self.lower_all(inner[1:])
        return ir.Conditional(condition, then, otherwise, self._types.of(cursor), self._where(cursor))

    def _value_initialised(self, cursor: Cursor, type_: ir.Type) -> ir.Expr:
        where = self._where(cursor)
        if isinstance(type_, ir.Scalar | ir.PointerType):
            return ir.Constant(0, type_, where)
        if isinstance(type_, ir.RecordType | ir.ArrayType):
            return ir.InitList((), type_, where)
        return ir.UnknownExpr("an expression that clang could not resolve", (), type_, where)

    # --- literals --------------------------------------------------------------------------------

    def _integer(self, cursor: Cursor) -> ir.Expr:
        value = literals.integer(self._context.sources.text(cursor))
        if value is None:
            return self._folded(cursor)
        return ir.Constant(value, self._types.of(cursor), self._where(cursor))

    def _floating(self, cursor: Cursor) -> ir.Expr:
        value = literals.floating(self._context.sources.text(cursor))
        if value is None:
            return self._folded(cursor)
        return ir.Constant(value, self._types.of(cursor), self._where(cursor))

    def _folded(self, cursor: Cursor) -> ir.Expr:
        """What has a value by itself: a literal, `sizeof`."""
        value = cursors.evaluate(cursor)
        if value is None:
            return self.unknown(cursor, "a constant without a value")
        return ir.Constant(value, self._types.of(cursor), self._where(cursor))

    def _size_of(self, cursor: Cursor) -> ir.Expr:
        """`sizeof` and its like. In a template that nothing instantiates, the size is that of what stands in for the
        type. The operand is not evaluated: it reads no memory."""
        type_, where = self._types.of(cursor), self._where(cursor)
        value = cursors.evaluate(cursor)
        if self._types.may_be_unsized() and (gap := self._gap_of_operand(cursor)):
            return ir.UnknownExpr(gap, (), type_, where)
        if value is None and self._context.sources.text(cursor).startswith("sizeof"):
            value = self._stand_in_size(cursor)
        if value is None:
            return ir.UnknownExpr("a constant without a value", (), type_, where)
        return ir.Constant(value, type_, where)

    def _gap_of_operand(self, cursor: Cursor) -> str:
        """Why the size of what `sizeof` is asked about is not known."""
        inner = cursors.expressions(cursor) or cursors.children(cursor)
        type_ = self._types.of(inner[0]) if inner else None
        if not isinstance(type_, ir.RecordType) or not type_.unsized:
            return ""
        return f"a record whose size is not known: {type_.unsized}"

    def _stand_in_size(self, cursor: Cursor) -> int | None:
        """Of `sizeof(T)` and `sizeof(array[0])`, where the type is a parameter of the template."""
        inner = cursors.expressions(cursor)
        if inner:
            type_ = _pointee_or_type(self.lower(inner[0]))
        elif _SIZE_OF_NAME.fullmatch(self._context.sources.text(cursor)):
            type_ = self._types.of(cursors.children(cursor)[0])
        else:
            return None
        return type_.bytes if isinstance(type_, ir.OpaqueType) and type_.bytes else None

    def _string(self, cursor: Cursor) -> ir.Expr:
        return ir.Constant(cursors.spelling(cursor), self._types.of(cursor), self._where(cursor))

    def _null(self, cursor: Cursor) -> ir.Expr:
        return ir.Constant(0, self._types.of(cursor), self._where(cursor))

    # --- names -----------------------------------------------------------------------------------

    def _name(self, cursor: Cursor) -> ir.Expr:
        declaration = cursors.referenced(cursor)
        kind = declaration.kind
        if kind in _VARIABLES:
            return self._variable(cursor, declaration)
        if kind == kinds.ENUM_CONSTANT_DECL:
            return self._enumerator(cursor, declaration)
        if kind in _NAMED_FUNCTIONS:
            return self._function_name(cursor, declaration)
        function = cursors.only_overload(declaration)
        if function.kind in _NAMED_FUNCTIONS:
            # The elements of an initializer list are not resolved: `{tile<8>, tile<16>}` names the template only.
            return self._function_name(cursor, self._instantiation(cursor, function))
        if kind == kinds.UNEXPOSED_DECL:
            return self._unexposed_declaration(cursor, declaration)
        if kind == kinds.TEMPLATE_NON_TYPE_PARAMETER:
            symbol = self._context.symbols.symbol(declaration)
            return ir.Name(symbol, self._types.of(cursor), self._where(cursor))
        inner = cursors.expressions(cursor)
        if len(inner) == 1:  # A template parameter that has been replaced by its value.
            return self.lower(inner[0])
        said = self._context.type_tests.said_by_arguments(cursor)
        if said is not None:
            return said
        name = cursors.spelling(declaration) or cursors.spelling(cursor)
        return self.unknown(cursor, f"the unresolved name `{name}`" if name else "an unresolved name")

    def _instantiation(self, cursor: Cursor, template: Cursor) -> Cursor:
        """The instantiation that a name with arguments stands for; the template where none is called so."""
        numbers = [cursors.evaluate(argument) for argument in cursors.expressions(cursor)]
        text = "".join(self._context.sources.text(cursor).split())
        names = {text, f"{cursors.spelling(template)}<{','.join(map(str, numbers))}>"}
        for definition in self._context.instantiations:
            is_of_template = cursors.specialized_template(definition).handle == template.handle
            if is_of_template and declarations.instantiation_name(definition).replace(" ", "") in names:
                return definition
        return template

    def _function_name(self, cursor: Cursor, declaration: Cursor) -> ir.Expr:
        function = self._context.functions.ref(declaration)
        return ir.FunctionName(function, self._types.of(cursor), self._where(cursor))

    def _variable(self, cursor: Cursor, declaration: Cursor) -> ir.Expr:
        value = self._context.symbols.constant(cursor, declaration)
        where = self._where(cursor)
        if value is not None:
            return ir.Constant(value, self._types.of(cursor), where, of_variable=True)
        symbol = self._context.symbols.symbol(declaration)
        return ir.Name(symbol, ir.referent(symbol.type), where)

    def _enumerator(self, cursor: Cursor, declaration: Cursor) -> ir.Expr:
        type_ = self._types.of(declaration)
        unsigned = isinstance(type_, ir.Scalar) and type_.kind == "uint"
        value = cursors.enum_unsigned_value(declaration) if unsigned else cursors.enum_value(declaration)
        return ir.Constant(value, type_, self._where(cursor))

    def _unexposed_declaration(self, cursor: Cursor, declaration: Cursor) -> ir.Expr:
        """An instantiated variable template or a structured binding."""
        bound = self._context.symbols.binding(declaration)
        if bound is not None:
            return self._structured_binding(cursor, *bound)
        if cursors.has_global_storage(declaration) > 0:
            return self._variable(cursor, declaration)
        return self.unknown(cursor, "a name of an unexposed declaration")

    def _structured_binding(self, cursor: Cursor, whole: ir.Symbol, position: int) -> ir.Expr:
        type_, where = self._types.of(cursor), self._where(cursor)
        base: ir.Expr = ir.Name(whole, ir.referent(whole.type), where)
        while _is_library_tuple(base.type):
            head, tail = base.type.fields
            if not position:
                return ir.Member(base, head.name, False, type_, where)
            base, position = ir.Member(base, tail.name, False, tail.type, where), position - 1
        if isinstance(base.type, ir.RecordType) and position < len(base.type.fields):
            return ir.Member(base, base.type.fields[position].name, False, type_, where)
        if isinstance(base.type, ir.ArrayType):
            return ir.Index(base, ir.Constant(position, INT, where), type_, where)
        return ir.UnknownExpr("a structured binding through `get`", (base,), type_, where)

    def _member(self, cursor: Cursor) -> ir.Expr:
        declaration = cursors.referenced(cursor)
        if declaration.kind == kinds.VAR_DECL:
            return self._variable(cursor, declaration)
        if declaration.kind == kinds.ENUM_CONSTANT_DECL:
            return self._enumerator(cursor, declaration)
        inner = cursors.expressions(cursor)
        while inner and _names_no_field(inner[0]):
            inner = cursors.expressions(inner[0])
        name = cursors.spelling(cursor)
        type_, where = self._types.of(cursor), self._where(cursor)
        base = self.lower(inner[0]) if inner else self.this(cursor)
        if has_open_bases(base.type):
            self._types.note_base(base.type, self._types.of(cursors.semantic_parent(declaration)))
        if not inner:
            return ir.Member(base, name, True, type_, where)
        return ir.Member(base, name, isinstance(base.type, ir.PointerType), type_, where)

    def this(self, cursor: Cursor) -> ir.Expr:
        """`this`, at a node that names it or uses it implicitly."""
        symbol = self._context.functions.current_this()
        where = self._where(cursor)
        if symbol is None:
            return ir.UnknownExpr("`this` outside of a method", (), self._types.pointer(VOID), where)
        return ir.Name(symbol, symbol.type, where)

    # --- operators ---------------------------------------------------------------------------------

    def _index(self, cursor: Cursor) -> ir.Expr:
        operands = cursors.expressions(cursor)
        if len(operands) != 2:
            return self.unknown(cursor, "an incomplete subscript")
        base, index = self.lower(operands[0]), self.lower(operands[1])
        if isinstance(index.type, ir.PointerType | ir.ArrayType):
            base, index = index, base
        return ir.Index(base, index, self._element(cursor, base.type), self._where(cursor))

    def _element(self, cursor: Cursor, array: ir.Type) -> ir.Type:
        """The type of an element. Where a template's parameter decides the extent, libclang only gives the array's."""
        type_ = self._types.of(cursor)
        if isinstance(type_, ir.OpaqueType) and not type_.bytes and isinstance(array, ir.PointerType | ir.ArrayType):
            return array.pointee if isinstance(array, ir.PointerType) else array.element
        return type_

    def _unary(self, cursor: Cursor) -> ir.Expr:
        operands = cursors.expressions(cursor)
        op = cursors.unary_operator(cursor)
        if len(operands) != 1 or op not in ir.UNARY_OPERATORS:
            return self.unknown(cursor, f"unary operator {op}")
        operand = self.lower(operands[0])
        if op == "&" and isinstance(operand, ir.FunctionName):
            return operand
        type_ = _decayed(self._types.of(cursor), operand)
        return ir.Unary(cast(ir.UnaryOp, op), operand, type_, self._where(cursor))

    def _binary(self, cursor: Cursor) -> ir.Expr:
        """A binary operator. Long sums lean to the left, so that their spine is walked in a loop."""
        spine: list[tuple[Cursor, Cursor]] = []
        node = cursor
        while node.kind == kinds.BINARY_OPERATOR:
            operands = cursors.expressions(node)
            if len(operands) != 2:
                break
            spine.append((node, operands[1]))
            node = operands[0]
        if not spine:
            return self.unknown(cursor, "an incomplete binary operator")
        result = self.unknown(node, "incomplete") if node.kind == kinds.BINARY_OPERATOR else self.lower(node)
        for operator, right in reversed(spine):
            result = self._combine(operator, result, self.lower(right))
        return result

    def _combine(self, cursor: Cursor, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        op = cursors.binary_operator(cursor)
        type_, where = _decayed(self._types.of(cursor), left), self._where(cursor)
        if op == "=":
            return ir.Assign("", left, right, type_, where)
        if op in (".*", "->*", ""):
            return ir.UnknownExpr(f"binary operator {op}", (left, right), type_, where)
        return ir.Binary(op, left, right, type_, where)

    def _compound_assignment(self, cursor: Cursor) -> ir.Expr:
        operands = cursors.expressions(cursor)
        if len(operands) != 2:
            return self.unknown(cursor, "an incomplete assignment")
        target, value = self.lower(operands[0]), self.lower(operands[1])
        op = cursors.binary_operator(cursor).removesuffix("=")
        type_ = _decayed(self._types.of(cursor), target)
        return ir.Assign(op, target, value, type_, self._where(cursor))

    def _conditional(self, cursor: Cursor) -> ir.Expr:
        operands = cursors.expressions(cursor)
        if len(operands) != 3:
            return self.unknown(cursor, "an incomplete conditional")
        condition, then, otherwise = self.lower_all(operands)
        type_ = _decayed(self._types.of(cursor), then)
        return ir.Conditional(condition, then, otherwise, type_, self._where(cursor))

    # --- casts ---------------------------------------------------------------------------------------

    def _explicit_cast(self, cursor: Cursor) -> ir.Expr:
        inner = cursors.expressions(cursor)
        if not inner:
            return self.unknown(cursor, "a cast of nothing")
        operand = self.lower(inner[-1])
        target = self._types.of(cursor)
        if isinstance(operand, ir.Cast) and not operand.explicit and operand.type is target:
            operand = operand.operand  # The tree has the conversion twice: as a cast, and implicitly below it.
        return ir.Cast(operand, target, True, self._where(cursor))

    def _functional_cast(self, cursor: Cursor) -> ir.Expr:
        """`float(x)`; `T(x)` and `T{x}` of a class are the construction itself."""
        inner = cursors.expressions(cursor)
        if inner and isinstance(self._types.of(cursor), ir.RecordType | ir.ArrayType):
            return self.lower(inner[-1])
        return self._explicit_cast(cursor)

    # --- the rest --------------------------------------------------------------------------------------

    def _new(self, cursor: Cursor) -> ir.Expr:
        type_ = self._types.of(cursor)
        element = type_.pointee if isinstance(type_, ir.PointerType) else type_
        inner = cursors.expressions(cursor)
        text, count = self._context.sources.statement_text(cursor), None
        if literals.is_placed_new(text):
            return ir.UnknownExpr("`new` with a place", self.lower_all(inner), type_, self._where(cursor))
        if inner and literals.is_array_new(text):
            count = self.lower(inner[0])
        has_initial = count is None and bool(inner) and self._types.of(inner[-1]) is element
        return ir.New(element, count, self.lower(inner[-1]) if has_initial else None, type_, self._where(cursor))

    def _delete(self, cursor: Cursor) -> ir.Expr:
        arguments = self.lower_all(cursors.expressions(cursor))
        return ir.Call("operator delete", None, None, None, arguments, VOID, self._where(cursor))

    def _throw(self, cursor: Cursor) -> ir.Expr:
        """For what is launched behind it, it ends the program: whoever catches it launches something else."""
        return ir.Call("abort", None, None, None, (), VOID, self._where(cursor))

    def assigned(self, symbol: ir.Symbol, value: ir.Expr, where: ir.Where) -> ir.Expr:
        """The initialization of a variable inside of an expression, as an assignment."""
        return ir.Assign("", ir.Name(symbol, symbol.type, where), value, symbol.type, where)

    def _statement_expression(self, cursor: Cursor) -> ir.Expr:
        """`({ T x = a; f(x); })` as `(x = a, f(x))`, which covers the macros that people write with it."""
        statements: list[st.Stmt] = []
        for body in cursors.children(cursor):
            for statement in self._context.statements.lower(body):
                statements += statement.statements if isinstance(statement, st.Block) else (statement,)
        pieces = [self._piece(statement) for statement in statements]
        type_, where = self._types.of(cursor), self._where(cursor)
        if not pieces or None in pieces:
            last = statements[-1].expr if statements and isinstance(statements[-1], st.ExprStmt) else None
            return ir.StatementExpr(tuple(statements if last is None else statements[:-1]), last, type_, where)
        first, *others = [piece for piece in pieces if piece is not None]
        for piece in others:
            first = ir.Binary(",", first, piece, piece.type, where)
        return first

    def _piece(self, statement: st.Stmt) -> ir.Expr | None:
        """A statement in a statement expression as an expression; None for a loop, say."""
        if isinstance(statement, st.ExprStmt):
            return statement.expr
        if isinstance(statement, st.Declare) and statement.initializer is not None:
            return self.assigned(statement.symbol, statement.initializer, statement.span)
        if isinstance(statement, st.Declare):
            return ir.Name(statement.symbol, statement.symbol.type, statement.span)
        return None


def _names_no_field(cursor: Cursor) -> bool:
    """Whether it is an anonymous struct or union: C++ names the fields of one as the record's own."""
    return cursor.kind == kinds.MEMBER_REF_EXPR and is_anonymous(cursors.type_of(cursors.referenced(cursor)))


def _is_library_tuple(type_: ir.Type) -> TypeGuard[ir.RecordType]:
    """Whether it is the library's tuple, of the header that comes along: its first element, and a tuple of the others.
    """
    if not isinstance(type_, ir.RecordType) or not type_.name.startswith("std::tuple<"):
        return False
    return [field.name for field in type_.fields] == ["head", "tail"]


def _pointee_or_type(operand: ir.Expr) -> ir.Type:
    """The type of an expression; clang has none yet for `*pointer` in a template."""
    if isinstance(operand, ir.Unary) and operand.op == "*" and isinstance(operand.operand.type, ir.PointerType):
        return operand.operand.type.pointee
    return operand.type


def _decayed(type_: ir.Type, operand: ir.Expr) -> ir.Type:
    """The type of an operation on `operand`. For a parameter that is declared as an array, libclang calls pointers to
    its elements by that array's type."""
    if isinstance(type_, ir.ArrayType) and isinstance(operand.type, ir.PointerType):
        return operand.type
    return type_
