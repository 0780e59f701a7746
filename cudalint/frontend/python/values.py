"""Constants and texts that expressions of a Python file stand for. Nothing is run: what isn't plain has no value."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from cudalint.frontend.python import literals
from cudalint.frontend.python.located import LocatedText, PythonText, generated, joined
from cudalint.frontend.python.scopes import Names, Scope
from cudalint.numerals import whole
from cudalint.regexes import regex

_DEEPEST: Final = 60
_LARGEST: Final = 1 << 63
_LONGEST: Final = 1_000_000
_OPERATORS: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.LShift: lambda a, b: a << min(b, 64),
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Pow: lambda a, b: a ** (b if -64 <= b <= 64 else 64),
}
_PERCENT: Final = regex(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-#0 +]*)(?P<width>\d*)(?P<precision>\.\d+)?(?P<kind>[diouxXeEfFgGcrsa%])"
)
_BRACES: Final = regex(r"\{\{|\}\}|\{(?P<key>[\w.\[\]]*)(?:![rsa])?(?::(?P<spec>[^{}]*))?\}")
_DOLLAR: Final = regex(r"\$(?:(?P<escaped>\$)|(?P<named>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})")

Constant = int | float | str | bool


class Unknown(Exception):
    """The value of an expression is not known."""


def function_name(node: ast.AST) -> str:
    """The last part of the name of what is called."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def identifier_for(node: ast.AST) -> str:
    """A name for a value that is not known, after the expression that gives it."""
    found = re.sub(r"\W+", "_", ast.unparse(node)).strip("_") or "value"
    return found if not found[0].isdigit() else f"_{found}"


class Values(Struct, frozen=True):
    python: PythonText
    names: Names

    # --- constants ---------------------------------------------------------------------------------

    def constant(self, node: ast.AST, scope: Scope, depth: int = 0) -> Constant:
        """A number or a string; raises Unknown."""
        node, scope = self.names.resolve(node, scope)
        if depth > _DEEPEST:
            raise Unknown
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(op=ast.USub()):
                return -self._number(node.operand, scope, depth + 1)
            case ast.BinOp():
                return self._binary(node, scope, depth + 1)
            case ast.JoinedStr():
                return self.text(node, scope, depth + 1, holes=False).text
            case ast.Call():
                return self._call(node, scope, depth + 1)
        raise Unknown

    def _number(self, node: ast.AST, scope: Scope, depth: int) -> int | float:
        found = self.constant(node, scope, depth)
        if isinstance(found, str):
            raise Unknown
        return found

    def _binary(self, node: ast.BinOp, scope: Scope, depth: int) -> Constant:
        left, right = self.constant(node.left, scope, depth), self.constant(node.right, scope, depth)
        function = _OPERATORS.get(type(node.op))
        if function is None or isinstance(left, str) != isinstance(right, str):
            raise Unknown
        try:
            found = function(left, right)
        except (ArithmeticError, TypeError, ValueError):
            raise Unknown from None
        too_large = len(found) > _LONGEST if isinstance(found, str) else not -_LARGEST < found < _LARGEST
        if too_large or isinstance(found, complex):
            raise Unknown
        return found  # type: ignore[no-any-return]  # The operators give what they are given.

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> Constant:
        """Conversions and the like: `int(x)`, `np.int32(x)`, `str(x)`, `min(x, y)`, `math.ceil(x / y)`."""
        name = function_name(node.func)
        arguments = [self.constant(a, scope, depth) for a in node.args]
        numbers = [a for a in arguments if not isinstance(a, str)]
        try:
            if name == "str" and len(arguments) == 1:
                return str(arguments[0])
            if len(numbers) != len(arguments) or not numbers:
                raise Unknown
            if name in ("min", "max") and len(numbers) > 1:
                return (min if name == "min" else max)(numbers)
            if len(numbers) == 1:
                return _converted(name, numbers[0])
        except (ArithmeticError, ValueError):
            pass
        raise Unknown

    # --- texts -------------------------------------------------------------------------------------

    def text(self, node: ast.AST, scope: Scope, depth: int = 0, holes: bool = True) -> LocatedText:
        """A string with the place of each character; raises Unknown.

        Where a value in the middle of it is not known, a name stands for it, unless `holes` says no.
        """
        node, scope = self.names.resolve(node, scope)
        if depth > _DEEPEST:
            raise Unknown
        match node:
            case ast.Constant(value=str() as value):
                return self._literal(node, value)
            case ast.JoinedStr():
                return self._formatted(node, scope, depth + 1, holes)
            case ast.BinOp(op=ast.Add()):
                return joined(self._addends(node, scope, depth + 1))
            case ast.BinOp(op=ast.Mod()):
                return self._percent(node, scope, depth + 1)
            case ast.Call():
                return self._text_call(node, scope, depth + 1)
        raise Unknown

    def _addends(self, node: ast.BinOp, scope: Scope, depth: int) -> list[LocatedText]:
        """The parts of a sum, which may be long: Python nests it to the left."""
        parts: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            parts.append(left.right)
            left = left.left
        return [self.text(part, scope, depth) for part in (left, *reversed(parts))]

    def range_of(self, node: ast.AST) -> tuple[int, int]:
        """The offsets between which an expression stands."""
        assert isinstance(node, (ast.expr, ast.stmt))
        start = self.python.offset(node.lineno, node.col_offset)
        return start, self.python.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _literal(self, node: ast.Constant, value: str) -> LocatedText:
        start, end = self.range_of(node)
        try:
            found = literals.decode(self.python.text, start, end, lambda first, last: generated("", first))
        except literals.NotALiteral:
            found = generated("", start)
        # Python's own reading decides; ours only adds the places.
        return found if found.text == value else generated(value, start, end)

    def _formatted(self, node: ast.JoinedStr, scope: Scope, depth: int, holes: bool) -> LocatedText:
        fields = iter([v for v in node.values if isinstance(v, ast.FormattedValue)])

        def hole(start: int, end: int) -> LocatedText:
            field = next(fields, None)
            if field is None:
                raise Unknown
            spec = self._spec(field, scope, depth)
            return self._inserted(field.value, scope, depth, (start, end), spec, holes)

        start, end = self.range_of(node)
        try:
            return literals.decode(self.python.text, start, end, hole)
        except literals.NotALiteral:
            raise Unknown from None

    def _spec(self, field: ast.FormattedValue, scope: Scope, depth: int) -> str:
        if field.conversion not in (-1, ord("s")):
            raise Unknown
        return self.text(field.format_spec, scope, depth, holes=False).text if field.format_spec else ""

    def _inserted(
        self, node: ast.AST, scope: Scope, depth: int, where: tuple[int, int], spec: str = "", holes: bool = True
    ) -> LocatedText:
        """What a value looks like in a text: a text keeps its own places, everything else stands where it is put."""
        try:
            if not spec:
                return self.text(node, scope, depth, holes)
        except Unknown:
            pass
        try:
            return generated(format(self.constant(node, scope, depth), spec), *where)
        except (Unknown, ValueError):
            if not holes:
                raise Unknown from None
            return generated(identifier_for(node), *where)

    def _percent(self, node: ast.BinOp, scope: Scope, depth: int) -> LocatedText:
        template = self.text(node.left, scope, depth)
        operand, inner = self.names.resolve(node.right, scope)
        by_name = self._mapping(operand)
        ordered = iter(operand.elts if isinstance(operand, ast.Tuple) else [node.right])

        def field(match: re.Match[str]) -> LocatedText | str:
            if match["kind"] == "%":
                return "%"
            where = template.starts[match.start()], template.ends[match.end() - 1]
            if match["key"] is not None:
                value = by_name.get(match["key"])
                if value is None:
                    return re.sub(r"\W+", "_", match["key"])
            else:
                value = next(ordered, None)
                if value is None:
                    raise Unknown
            return self._inserted(value, inner if value is not node.right else scope, depth, where)

        return template.replaced(_PERCENT, field)

    def _mapping(self, node: ast.AST) -> Mapping[str, ast.expr]:
        """The entries of `{"key": value}` or `dict(key=value)`, as far as they are spelled out."""
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
        if isinstance(node, ast.Call) and function_name(node.func) == "dict":
            return {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        return {}

    def _text_call(self, node: ast.Call, scope: Scope, depth: int) -> LocatedText:
        name = function_name(node.func)
        if name in ("dedent", "cleandoc", "str", "Template") and len(node.args) == 1:
            # White space in front of lines means nothing to a compiler, so that it may stay.
            return self.text(node.args[0], scope, depth)
        if not isinstance(node.func, ast.Attribute):
            raise Unknown
        if name == "join" and len(node.args) == 1:
            return self._join(node.func.value, node.args[0], scope, depth)
        text = self.text(node.func.value, scope, depth)
        if name in ("strip", "lstrip", "rstrip") and not node.args:
            return text
        if name == "replace" and len(node.args) == 2:
            return self._replace(text, node.args, scope, depth)
        if name == "format":
            return self._braces(text, node, scope, depth)
        if name in ("substitute", "safe_substitute"):
            return self._dollars(text, node, scope, depth)
        raise Unknown

    def _join(self, separator: ast.AST, parts: ast.AST, scope: Scope, depth: int) -> LocatedText:
        between = self.text(separator, scope, depth)
        parts, inner = self.names.resolve(parts, scope)
        if not isinstance(parts, (ast.List, ast.Tuple)):
            raise Unknown
        pieces = [self.text(part, inner, depth) for part in parts.elts]
        whole = joined(piece for part in pieces for piece in (between, part))
        return whole.piece(len(between), len(whole))

    def _replace(self, text: LocatedText, arguments: Sequence[ast.expr], scope: Scope, depth: int) -> LocatedText:
        old = self.constant(arguments[0], scope, depth)
        if not isinstance(old, str) or not old:
            raise Unknown

        def new(match: re.Match[str]) -> LocatedText:
            where = text.starts[match.start()], text.ends[match.end() - 1]
            return self._inserted(arguments[1], scope, depth, where)

        return text.replaced(re.compile(re.escape(old)), new)

    def _braces(self, text: LocatedText, node: ast.Call, scope: Scope, depth: int) -> LocatedText:
        by_name = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        count = 0

        def field(match: re.Match[str]) -> LocatedText | str:
            nonlocal count
            if match["key"] is None:
                return match[0][0]
            key = match["key"] or str(count)
            count += not match["key"]
            value = by_name.get(key)
            position = whole(key) if key.isdecimal() else None
            if position is not None and position < len(node.args):
                value = node.args[position]
            if value is None:
                return re.sub(r"\W+", "_", f"_{key}" if key[0].isdigit() else key)
            where = text.starts[match.start()], text.ends[match.end() - 1]
            return self._inserted(value, scope, depth, where, match["spec"] or "")

        return text.replaced(_BRACES, field)

    def _dollars(self, text: LocatedText, node: ast.Call, scope: Scope, depth: int) -> LocatedText:
        values = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        inner = scope
        if node.args:
            mapping, inner = self.names.resolve(node.args[0], scope)
            values |= self._mapping(mapping)

        def field(match: re.Match[str]) -> LocatedText | str:
            if match["escaped"]:
                return "$"
            name = match["named"] or match["braced"]
            where = text.starts[match.start()], text.ends[match.end() - 1]
            return self._inserted(values[name], inner, depth, where) if name in values else name

        return text.replaced(_DOLLAR, field)


_INTEGERS: Final = regex(r"(?:u?int(?:8|16|32|64|c|p)?|u?longlong|size_t|index)$")
_FLOATS: Final = frozenset({"float", "float16", "float32", "float64", "single", "double"})


def is_conversion(name: str) -> bool:
    """Whether a function only changes the type of a number."""
    return name in _FLOATS or name in ("bool", "bool_", "c_int", "c_float", "c_uint") or bool(_INTEGERS.match(name))


def _converted(name: str, value: float) -> Constant:
    import math

    if _INTEGERS.match(name) or name in ("c_int", "c_uint", "floor"):
        return math.floor(value) if name == "floor" else int(value)
    if name in _FLOATS or name == "c_float":
        return float(value)
    if name in ("bool", "bool_"):
        return bool(value)
    if name == "ceil":
        return math.ceil(value)
    if name in ("abs", "round"):
        return abs(value) if name == "abs" else round(value)
    raise Unknown
