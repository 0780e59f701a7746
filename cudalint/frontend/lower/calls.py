"""Calls: of functions, methods, operators, constructors, lambdas, function pointers, and kernel launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from msgspec.structs import replace

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower.init_lists import is_extents
from cudalint.frontend.lower.types import has_open_bases
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_CONFIGURE: Final = frozenset({"cudaConfigureCall", "__cudaPushCallConfiguration"})
_FUNCTIONS: Final = frozenset({kinds.FUNCTION_DECL, kinds.FUNCTION_TEMPLATE})
_METHODS: Final = frozenset({kinds.CXX_METHOD, kinds.CONVERSION_FUNCTION, kinds.DESTRUCTOR})
_BINARY_OPERATORS: Final = frozenset(
    ["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^", "<<", ">>"]
)
_WRAPPERS: Final = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR})


class Calls:
    def __init__(self, context: Context) -> None:
        self._context = context

    def lower(self, cursor: Cursor) -> ir.Expr:
        nodes = cursors.expressions(cursor)
        if len(nodes) >= 2 and _is_configuration(nodes[1]):
            return self._launch(cursor, nodes)
        callee = cursors.referenced(cursor)
        if callee.kind == kinds.CONSTRUCTOR:
            return self._construct(cursor, callee, nodes)
        if callee.kind in _METHODS:
            return self._method(cursor, callee, nodes)
        if callee.kind in _FUNCTIONS:
            return self._function(cursor, callee, nodes)
        return self._indirect(cursor, nodes)

    # --- plain functions and methods ---------------------------------------------------------------

    def _function(self, cursor: Cursor, callee: Cursor, nodes: list[Cursor]) -> ir.Expr:
        arguments = self._arguments(callee, _arguments_of(cursor, nodes))
        return self._call(cursor, callee, None, arguments)

    def _method(self, cursor: Cursor, callee: Cursor, nodes: list[Cursor]) -> ir.Expr:
        named = _unwrapped(nodes[0]) if nodes else None
        if named is not None and named.kind == kinds.MEMBER_REF_EXPR and cursors.referenced(named).kind in _METHODS:
            receiver = None if cursors.is_static_method(callee) else self._receiver(named)
            call = self._call(cursor, callee, receiver, self._arguments(callee, nodes[1:]))
            is_open = cursors.is_virtual_method(callee) and not _is_devirtualized(named, callee, receiver)
            return replace(call, is_virtual=True) if is_open else call
        operands = _arguments_of(cursor, nodes)
        if cursors.is_static_method(callee):
            return self._call(cursor, callee, None, self._arguments(callee, operands))
        return self._operator(cursor, callee, operands)

    def _operator(self, cursor: Cursor, callee: Cursor, operands: list[Cursor]) -> ir.Expr:
        """A member operator in operator notation: its object comes first."""
        if not operands:
            return self._context.expressions.unknown(cursor, "an operator without operands")
        receiver = self._context.expressions.lower(operands[0])
        if len(operands) == 2 and cursors.spelling(callee) == "operator=" and cursors.is_defaulted(callee):
            value = self._context.expressions.lower(operands[1])
            return ir.Assign("", receiver, value, self._type(cursor), self._where(cursor))
        return self._call(cursor, callee, receiver, self._arguments(callee, operands[1:]))

    def _receiver(self, named: Cursor) -> ir.Expr:
        """The object before the name of a method, as an lvalue."""
        inner = cursors.expressions(named)
        expressions = self._context.expressions
        pointer = expressions.lower(inner[0]) if inner else expressions.this(named)
        if has_open_bases(pointer.type):
            types = self._context.types
            types.note_base(pointer.type, types.of(cursors.semantic_parent(cursors.referenced(named))))
        if isinstance(pointer.type, ir.PointerType):
            return ir.Unary("*", pointer, pointer.type.pointee, pointer.where)
        return pointer

    def _call(
        self, cursor: Cursor, callee: Cursor, receiver: ir.Expr | None, arguments: tuple[ir.Expr, ...]
    ) -> ir.Call:
        function = self._context.functions.ref(callee)
        return ir.Call(function.name, function, receiver, None, arguments, self._type(cursor), self._where(cursor))

    def _arguments(self, callee: Cursor, nodes: list[Cursor]) -> tuple[ir.Expr, ...]:
        lower = self._context.expressions.lower
        arguments: list[ir.Expr] = []
        for position, node in enumerate(nodes):
            if node.kind == kinds.UNEXPOSED_EXPR and is_default_argument(node):
                arguments.append(self._context.functions.default_argument(callee, position, node))
            else:
                arguments.append(lower(node))
        return tuple(arguments)

    # --- callees that are not known ------------------------------------------------------------------

    def _indirect(self, cursor: Cursor, nodes: list[Cursor]) -> ir.Expr:
        """A call through a pointer, or one in a template that only an instantiation resolves."""
        if not nodes:  # `T()` in a template.
            return ir.Construct(None, (), self._type(cursor), self._where(cursor))
        type_ = self._type(cursor)
        if is_extents(type_) and cursors.children(cursor)[0].kind == kinds.TYPE_REF:  # `dim3(x, y)` in a template.
            return self._context.init_lists.extents(nodes, type_, self._where(cursor))
        named = _unwrapped(nodes[0])
        if self.is_unresolved(named):
            return self.unresolved(cursor, nodes)
        operation = self._unresolved_operation(cursor, nodes)
        if operation is not None:
            return operation
        if named.kind == kinds.MEMBER_REF_EXPR and not kinds.is_declaration(cursors.referenced(named).kind):
            return self._unresolved_method(cursor, named, nodes[1:])
        callee = self._context.expressions.lower(nodes[0])
        arguments = self._context.expressions.lower_all(nodes[1:])
        if isinstance(callee, ir.FunctionName):
            function = callee.function
            return ir.Call(function.name, function, None, None, arguments, self._type(cursor), self._where(cursor))
        name = cursors.spelling(named)
        return ir.Call(name, None, None, callee, arguments, self._type(cursor), self._where(cursor))

    @staticmethod
    def is_unresolved(node: Cursor) -> bool:
        """Whether a node names a set of functions of which none could be chosen."""
        return node.kind == kinds.DECL_REF_EXPR and cursors.referenced(node).kind == kinds.OVERLOADED_DECL_REF

    def unresolved(self, cursor: Cursor, nodes: list[Cursor]) -> ir.Expr:
        """A call of which clang only knows the name: in a template, or with an argument that it doesn't understand."""
        name = cursors.spelling(cursors.referenced(_unwrapped(nodes[0])))
        arguments = self._context.expressions.lower_all(nodes[1:])
        return ir.Call(name, None, None, None, arguments, self._type(cursor), self._where(cursor))

    def _unresolved_operation(self, cursor: Cursor, nodes: list[Cursor]) -> ir.Expr | None:
        """An operator in a template, where the file has overloads of it: which one it is depends on the types. It is
        taken for the built-in one."""
        if len(nodes) not in (2, 3) or not self.is_unresolved(_unwrapped(nodes[1])):
            return None
        op = cursors.spelling(cursors.referenced(_unwrapped(nodes[1]))).removeprefix("operator")
        left, *right = self._context.expressions.lower_all([nodes[0], *nodes[2:]])
        type_, where = self._type(cursor), self._where(cursor)
        if op in ("++", "--"):
            # Behind its operand it has a number that stands nowhere.
            op = f"x{op}" if right else f"{op}x"
            right = []
        if not right:
            return ir.Unary(cast(ir.UnaryOp, op), left, type_, where) if op in ir.UNARY_OPERATORS else None
        if op in _BINARY_OPERATORS:
            return ir.Binary(op, left, right[0], type_, where)
        if op.endswith("=") and op[:-1] in ("", *_BINARY_OPERATORS):
            return ir.Assign(op[:-1], left, right[0], type_, where)
        return None

    def _unresolved_method(self, cursor: Cursor, named: Cursor, nodes: list[Cursor]) -> ir.Expr:
        receiver = self._receiver(named)
        arguments = self._context.expressions.lower_all(nodes)
        name = cursors.spelling(named)
        return ir.Call(name, None, receiver, None, arguments, self._type(cursor), self._where(cursor))

    # --- constructors --------------------------------------------------------------------------------

    def is_trivial_default(self, node: Cursor) -> bool:
        """Whether an initializer is the call of a default constructor that leaves everything as it is."""
        if node.kind != kinds.CALL_EXPR or cursors.argument_count(node):
            return False
        callee = cursors.referenced(node)
        return callee.kind == kinds.CONSTRUCTOR and self._context.constructors.is_trivial_default(callee)

    def _construct(self, cursor: Cursor, callee: Cursor, nodes: list[Cursor]) -> ir.Expr:
        if 0 <= (count := cursors.argument_count(cursor)) < len(nodes):
            # In `View<int, 4>{x}` the 4 is among the children, too.
            nodes = [cursors.argument(cursor, position) for position in range(count)]
        copied = cursors.is_copy_constructor(callee) or cursors.is_move_constructor(callee)
        if copied and len(nodes) == 1 and cursors.is_defaulted(callee):
            operand = self._context.expressions.lower(nodes[0])
            return self._context.expressions.converted(operand, self._type(cursor), cursor)
        constructor = None
        if not self._context.constructors.is_trivial_default(callee):
            constructor = self._context.functions.ref(callee)
        arguments = self._arguments(callee, nodes)
        return ir.Construct(constructor, arguments, self._type(cursor), self._where(cursor))

    # --- launches ------------------------------------------------------------------------------------

    def _launch(self, cursor: Cursor, nodes: list[Cursor]) -> ir.Expr:
        expressions = self._context.expressions
        parts: list[ir.Expr | None] = [
            None if is_default_argument(part) else expressions.lower(part) for part in cursors.expressions(nodes[1])[1:]
        ]
        parts += [None] * (4 - len(parts))
        grid, block, shared, stream = parts[:4]
        callee = expressions.lower(nodes[0])
        kernel = callee.function if isinstance(callee, ir.FunctionName) else None
        overloads = self._overloads(nodes[0]) if kernel is None else ()
        arguments = self._launch_arguments(cursor, nodes)
        where = self._where(cursor)
        if grid is None or block is None:
            return ir.UnknownExpr("a launch without a grid", arguments, self._type(cursor), where)
        called = None if kernel else callee
        type_ = self._type(cursor)
        return ir.Launch(kernel, called, grid, block, shared, stream, arguments, type_, where, overloads)

    def _overloads(self, callee: Cursor) -> tuple[ir.FunctionRef, ...]:
        """The functions that an unresolved name may stand for."""
        named = _unwrapped(callee)
        if not self.is_unresolved(named):
            return ()
        return tuple(map(self._context.functions.ref, cursors.overloads(cursors.referenced(named))))

    def _launch_arguments(self, cursor: Cursor, nodes: list[Cursor]) -> tuple[ir.Expr, ...]:
        kernel = cursors.referenced(cursor)
        if kernel.kind in _FUNCTIONS or kernel.kind in _METHODS:
            return self._arguments(kernel, nodes[2:])
        return self._context.expressions.lower_all(nodes[2:])

    def _type(self, cursor: Cursor) -> ir.Type:
        return self._context.types.of(cursor)

    def _where(self, cursor: Cursor) -> ir.Where:
        return self._context.sources.where(cursor)


def _is_devirtualized(named: Cursor, callee: Cursor, receiver: ir.Expr | None) -> bool:
    """Whether the function that a virtual call ends in is known all the same: it is called by its full name, nothing
    can override it, or the object is a variable of the class itself."""
    if any(child.kind == kinds.TYPE_REF for child in cursors.children(named)):
        return True
    if any(_is_final(declaration) for declaration in (callee, cursors.semantic_parent(callee))):
        return True
    return isinstance(receiver, (ir.Name, ir.Member)) and _declared_type(receiver) is receiver.type


def _is_final(declaration: Cursor) -> bool:
    return any(child.kind == kinds.CXX_FINAL_ATTR for child in cursors.children(declaration))


def _declared_type(lvalue: ir.Name | ir.Member) -> ir.Type | None:
    """The type of a variable or field as it was declared: a reference, where the lvalue has the type behind it."""
    if isinstance(lvalue, ir.Name):
        return lvalue.symbol.type
    record = lvalue.base.type
    field = record.field(lvalue.field) if isinstance(record, ir.RecordType) else None
    return field.type if field is not None else None


def is_default_argument(node: Cursor) -> bool:
    """Whether an argument was left out at the call: the node for it stands nowhere in the source."""
    return node.kind == kinds.UNEXPOSED_EXPR and not cursors.extent(node).begin


def _is_configuration(node: Cursor) -> bool:
    return node.kind == kinds.CALL_EXPR and cursors.spelling(node) in _CONFIGURE


def _unwrapped(node: Cursor) -> Cursor:
    while node.kind in _WRAPPERS:
        inner = cursors.expressions(node)
        if len(inner) != 1:
            break
        node = inner[0]
    return node


def _arguments_of(cursor: Cursor, nodes: list[Cursor]) -> list[Cursor]:
    """The arguments of a call. Among the children of an overloaded operator its name stands between the operands, so
    that clang is asked for them; where it doesn't tell, the callee is the first child."""
    count = cursors.argument_count(cursor)
    if count < 0:
        return nodes[1:]
    return [cursors.argument(cursor, position) for position in range(count)]
