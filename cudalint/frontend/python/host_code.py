"""Launches that Python code makes, as host code in C++: so the one evaluator of host code reads them, and a grid that
is computed from `n` and the argument `n` stay consistent.

A value that isn't plain becomes a parameter of the host function, named after the variable that holds it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from cudalint.frontend.python.scopes import Meaning, Scope
from cudalint.frontend.python.values import Unknown, Values, function_name, identifier_for, is_conversion
from cudalint.numerals import whole
from cudalint.regexes import regex

ANY: Final = "_cudalint_any"
_ANY_TYPE: Final = f"struct {ANY} {{ template <class T> operator T() const; }};"
"""What can be any argument."""
_DEEPEST: Final = 40
_OPERATORS: Final = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_ROUNDED_UP: Final = frozenset({"cdiv", "ceil_div", "ceildiv", "div_up", "divup", "div_ceil", "divceil", "DivUp"})
_KERNEL_NAME: Final = regex(r"[A-Za-z_][\w:]*(?:<[\w:<>, *]*>)?$")
_MANGLED: Final = regex(r"_Z(\d+)(\w+)$")
_CPP_WORDS: Final = frozenset(
    {
        "auto", "bool", "break", "case", "char", "class", "const", "default", "delete", "do", "double", "enum",
        "explicit", "export", "extern", "float", "friend", "goto", "inline", "int", "long", "mutable",
        "namespace", "new", "operator", "private", "protected", "public", "register", "short", "signed",
        "sizeof", "static", "struct", "switch", "template", "this", "throw", "typedef", "typename", "union",
        "unsigned", "using", "virtual", "void", "volatile",
    }
)  # fmt: skip


class PythonLaunch(Struct, frozen=True):
    """One launch in a Python file. The parts that the call leaves out are None."""

    kernel: str
    grid: ast.expr | None
    block: ast.expr | None
    shared: ast.expr | None
    arguments: Sequence[ast.expr] | None
    """None where they are not listed one by one."""
    call: ast.Call
    scope: Scope


def kernel_name(name: str) -> str | None:
    """A kernel as host code names it; None for what names none."""
    mangled = _MANGLED.match(name)
    if mangled:
        name = mangled[2][: whole(mangled[1])]
    return name if _KERNEL_NAME.match(name) else None


def host_function(launch: PythonLaunch, number: int, values: Values) -> str:
    """A host function that makes the launch."""
    return _Translation(values, launch).function(number)


def declarations() -> str:
    return _ANY_TYPE


class _Translation(Struct):
    values: Values
    launch: PythonLaunch
    parameters: dict[str, str] = field(default_factory=dict)
    """The type of each parameter."""
    _symbols: dict[str, str] = field(default_factory=dict)
    """By the expression that gives it, the parameter for an unknown number."""

    def function(self, number: int) -> str:
        launch = self.launch
        # The extents come first: a name that is calculated with is a number among the arguments too.
        grid, block = self._extents(launch.grid, "grid"), self._extents(launch.block, "block")
        shared = self._number_or_symbol(launch.shared) if launch.shared is not None else "0"
        if launch.arguments is None:
            self.parameters["arguments"] = "void **"
            call = f"cudaLaunchKernel((const void *){launch.kernel}, {grid}, {block}, arguments, {shared}, 0)"
        else:
            arguments = ", ".join(self._argument(argument) for argument in launch.arguments)
            call = f"{launch.kernel}<<<{grid}, {block}, {shared}>>>({arguments})"
        parameters = ", ".join(f"{type_} {name}" for name, type_ in self.parameters.items())
        return f"static void _cudalint_launch_{number}({parameters}) {{ {call}; }}"

    # --- block and grid ----------------------------------------------------------------------------

    def _extents(self, node: ast.expr | None, name: str) -> str:
        if node is None:
            return "dim3(1)"
        meaning = self.values.names.resolve(node, self.launch.scope)
        if isinstance(meaning.node, (ast.Tuple, ast.List)):
            if any(isinstance(element, ast.Starred) for element in meaning.node.elts):
                return self._open_extents(node, name)
            extents = [self._in_scope(element, meaning.scope) for element in meaning.node.elts[:3]]
            return f"dim3({', '.join(extents) or '1'})"
        try:
            return f"dim3({self._number(node, self.launch.scope)})"
        except Unknown:
            return self._open_extents(node, name)

    def _open_extents(self, node: ast.expr, name: str) -> str:
        chosen = self._free_name(node.id if isinstance(node, ast.Name) else name)
        self.parameters[chosen] = "dim3"
        return chosen

    def _in_scope(self, node: ast.expr, scope: Scope) -> str:
        try:
            return self._number(node, scope)
        except Unknown:
            return self._symbol(node)

    def _number_or_symbol(self, node: ast.expr) -> str:
        return self._in_scope(node, self.launch.scope)

    # --- arguments ---------------------------------------------------------------------------------

    def _argument(self, node: ast.expr) -> str:
        scope = self.launch.scope
        meaning = self.values.names.resolve(node, scope)
        try:
            constant = self.values.constant(node, scope)
        except Unknown:
            pass
        else:
            return _spelled(constant)
        inner = meaning.node
        if isinstance(inner, ast.Call) and is_conversion(function_name(inner.func)) and len(inner.args) == 1:
            return self._in_scope(inner.args[0], meaning.scope)
        if _is_size(inner) or isinstance(inner, (ast.BinOp, ast.UnaryOp)):
            return self._in_scope(node, scope)
        key = ast.unparse(inner)
        return self._symbols.get(key) or self._anything(node)

    def _anything(self, node: ast.expr) -> str:
        """An array, most likely; each gets a parameter of its own."""
        name = self._free_name(identifier_for(node))
        self.parameters[name] = ANY
        return name

    # --- numbers -----------------------------------------------------------------------------------

    def _number(self, node: ast.AST, scope: Scope, depth: int = 0, bound: Mapping[str, str] | None = None) -> str:
        """An integer expression in C++; raises Unknown for what doesn't look like one."""
        if isinstance(node, ast.Name) and bound and node.id in bound:
            return bound[node.id]
        if depth > _DEEPEST:
            raise Unknown
        try:
            return _spelled(self.values.constant(node, scope))
        except Unknown:
            pass
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth + 1, bound)
        meaning = self.values.names.resolve(node, scope)
        if isinstance(meaning.node, ast.Call) and meaning.node is not node:
            return self._called_for(node, meaning, depth + 1)
        inner, scope = meaning
        match inner:
            case ast.BinOp(op=ast.FloorDiv()) if _is_negation(inner.left):
                # -n // b, of which `-(-n // b)` is made, rounds down; C++ rounds towards zero.
                assert isinstance(inner.left, ast.UnaryOp)
                size, unit = (self._number(n, scope, depth + 1, bound) for n in (inner.left.operand, inner.right))
                return f"(-{_rounded_up(size, unit)})"
            case ast.BinOp() if type(inner.op) in _OPERATORS:
                left, right = (self._number(n, scope, depth + 1, bound) for n in (inner.left, inner.right))
                return f"({left} {_OPERATORS[type(inner.op)]} {right})"
            case ast.UnaryOp(op=ast.USub()):
                return f"(-{self._number(inner.operand, scope, depth + 1, bound)})"
            case ast.Compare(ops=[operation], comparators=[other]) if type(operation) in _OPERATORS:
                left, right = (self._number(n, scope, depth + 1, bound) for n in (inner.left, other))
                return f"({left} {_OPERATORS[type(operation)]} {right})"
            case ast.IfExp():
                parts = (self._number(n, scope, depth + 1, bound) for n in (inner.test, inner.body, inner.orelse))
                return "({} ? {} : {})".format(*parts)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._symbol(inner, node)
        raise Unknown

    def _called_for(self, node: ast.AST, meaning: Meaning, depth: int) -> str:
        """A variable that holds the result of a call."""
        assert isinstance(meaning.node, ast.Call)
        try:
            return self._call(meaning.node, meaning.scope, depth, None)
        except Unknown:
            return self._symbol(meaning.node, node)

    def _call(self, node: ast.Call, scope: Scope, depth: int, bound: Mapping[str, str] | None) -> str:
        name = function_name(node.func)
        inlined = self._inlined(node, scope, depth, bound)
        if inlined is not None:
            return inlined
        if name == "ceil" and len(node.args) == 1:
            return self._ceiling(node.args[0], scope, depth, bound)
        if (is_conversion(name) or name == "floor") and len(node.args) == 1:
            return self._truncated(node.args[0], scope, depth, bound)
        arguments = [self._number(argument, scope, depth, bound) for argument in node.args]
        if name in _ROUNDED_UP and len(arguments) == 2:
            return _rounded_up(*arguments)
        if name in ("min", "max") and len(arguments) == 2:
            a, b = arguments
            return f"({a} {'<' if name == 'min' else '>'} {b} ? {a} : {b})"
        if _is_size(node):
            return self._symbol(node)
        raise Unknown

    def _inlined(self, node: ast.Call, scope: Scope, depth: int, bound: Mapping[str, str] | None) -> str | None:
        """What a small function of the file, such as the usual `ceil_div(a, b)`, returns for these arguments."""
        names = self.values.names
        function = names.resolve(node.func, scope).node
        returns = names.returns.get(function, [])
        if not isinstance(function, ast.FunctionDef) or len(returns) != 1 or len(function.body) > 2 or node.keywords:
            return None
        parameters = [argument.arg for argument in function.args.args]
        returned, inner = returns[0]
        if len(parameters) != len(node.args) or returned.value is None:
            return None
        arguments = [self._number(argument, scope, depth, bound) for argument in node.args]
        return self._number(returned.value, inner, depth, dict(zip(parameters, arguments, strict=True)))

    def _ceiling(self, node: ast.AST, scope: Scope, depth: int, bound: Mapping[str, str] | None) -> str:
        node, scope = self.values.names.resolve(node, scope)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            size, unit = (self._number(n, scope, depth + 1, bound) for n in (node.left, node.right))
            return _rounded_up(size, unit)
        return self._number(node, scope, depth + 1, bound)

    def _truncated(self, node: ast.AST, scope: Scope, depth: int, bound: Mapping[str, str] | None) -> str:
        node, scope = self.values.names.resolve(node, scope)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left, right = (self._number(n, scope, depth + 1, bound) for n in (node.left, node.right))
            return f"({left} / {right})"
        return self._number(node, scope, depth + 1, bound)

    # --- unknown numbers ---------------------------------------------------------------------------

    def _symbol(self, node: ast.AST, called: ast.AST | None = None) -> str:
        """The parameter for a number that isn't known: the same one wherever the expression is the same."""
        key = ast.unparse(node)
        if key not in self._symbols:
            name = self._free_name(identifier_for(called if isinstance(called, ast.Name) else node))
            self._symbols[key] = name
            self.parameters[name] = "int"
        return self._symbols[key]

    def _free_name(self, wanted: str) -> str:
        name = wanted if wanted.isascii() else "value"
        while name in self.parameters or name in _CPP_WORDS or name == self.launch.kernel:
            name += "_"
        return name


def _rounded_up(size: str, unit: str) -> str:
    return f"(({size} + {unit} - 1) / {unit})"


def _spelled(constant: object) -> str:
    match constant:
        case bool():
            return "true" if constant else "false"
        case int():
            return str(constant) if -(1 << 31) <= constant < 1 << 31 else f"{constant}LL"
        case float():
            return repr(constant) if constant == constant and abs(constant) != float("inf") else "1.0"
    raise Unknown


def _is_negation(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _is_size(node: ast.AST) -> bool:
    """Whether an expression gives a whole number by its looks: `x.size`, `x.shape[0]`, `len(x)`."""
    match node:
        case ast.Attribute(attr="size" | "nbytes" | "ndim" | "itemsize"):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape" | "strides")):
            return True
        case ast.Call(func=ast.Name(id="len")) | ast.Call(func=ast.Attribute(attr="numel" | "size" | "item")):
            return True
    return False

