"""The C expressions that users write in annotations and options, as small typed trees.

pycparser does the parsing and stays behind this module: callers see the classes below, which hold names, numbers
and operators and no more of C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from cudalint.numerals import whole
from cudalint.regexes import regex


class ExpressionError(ValueError):
    """The text is no C expression, or one of a kind that annotations don't take."""


class Number(Struct, frozen=True):
    value: int | float | bool


class NameRef(Struct, frozen=True):
    """A parameter, a macro, a constant, or a built-in such as `threadIdx`."""

    name: str


class MemberRef(Struct, frozen=True):
    """`base.field` or `base->field`."""

    base: Expression
    field: str


class ElementRef(Struct, frozen=True):
    base: Expression
    index: Expression


class UnaryOp(Struct, frozen=True):
    """`op` is one of `-`, `+`, `!`, `~`."""

    op: str
    operand: Expression


class BinaryOp(Struct, frozen=True):
    """Arithmetic, bits, shifts, comparisons, `&&` and `||`."""

    op: str
    left: Expression
    right: Expression


class ConditionalOp(Struct, frozen=True):
    condition: Expression
    then: Expression
    otherwise: Expression


class CallOp(Struct, frozen=True):
    """`dim3(32, 8)`, `min(a, b)`; what a name means is the evaluator's business."""

    name: str
    arguments: tuple[Expression, ...]


class CastOp(Struct, frozen=True):
    """`(size_t) x`, with the type as it was written."""

    type: str
    operand: Expression


Expression = Number | NameRef | MemberRef | ElementRef | UnaryOp | BinaryOp | ConditionalOp | CallOp | CastOp

_UNARY = frozenset("-+!~")
_WIDTHS = (8, 16, 32, 64)
_KNOWN_TYPES = ("size_t", "uintptr_t", *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in _WIDTHS))
_SHOWN = 30
"""Letters of a number that is shown."""
_SIZES = {"char": 1, "bool": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8, "half": 2, "bfloat16": 2}
_SIZED = regex(rf"(?P<base>{'|'.join(_SIZES)}|longlong)(?P<count>[1-4]?)")
_ALLOWED = regex(r"[^;{}#\"\\@$`]+")


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> Expression:
    """Parses one C expression; raises `ExpressionError` with a message that quotes it."""
    stripped = text.strip()
    if not stripped:
        raise ExpressionError("an expression is missing")
    try:
        return _convert(_pycparser_tree(stripped))
    except RecursionError:
        raise ExpressionError(f"`{stripped[:40]}…` is nested too deeply") from None


def names_in(expression: Expression) -> Iterator[str]:
    """The names that an expression is about, without fields and functions."""
    if isinstance(expression, NameRef):
        yield expression.name
    for part in parts_of(expression).values():
        for inner in part if isinstance(part, tuple) else (part,):
            yield from names_in(inner)


def parts_of(expression: Expression) -> dict[str, Expression | tuple[Expression, ...]]:
    """The expressions that one consists of, by the name of the field."""
    return {name: value for name, value in asdict(expression).items() if isinstance(value, (Expression, tuple))}


def _pycparser_tree(text: str) -> Any:
    """pycparser only takes whole files, so the expression becomes an initializer in one."""
    from pycparser import CParser  # 25 ms, and most files have no annotation.
    from pycparser.c_parser import ParseError

    if not _ALLOWED.fullmatch(text) or not _is_balanced(text):
        raise ExpressionError(f"`{text}` is not a C expression")
    types = " ".join(f"typedef int {name};" for name in _KNOWN_TYPES)
    joined = " ".join(text.split())
    try:
        tree = CParser().parse(f"{types} int expression = ({joined});")
    except (ParseError, AssertionError, AttributeError):
        # The parser trips over some malformed input with errors that are not its own.
        raise ExpressionError(f"`{text}` is not a C expression") from None
    return tree.ext[-1].init


def _is_balanced(text: str) -> bool:
    """No parenthesis closes what this text did not open, as `1) + (2` would."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _convert(node: Any) -> Expression:
    match type(node).__name__:
        case "Constant":
            return _number(node)
        case "ID":
            return Number(node.name == "true") if node.name in ("true", "false") else NameRef(node.name)
        case "StructRef":
            return MemberRef(_convert(node.name), node.field.name)
        case "ArrayRef":
            return ElementRef(_convert(node.name), _convert(node.subscript))
        case "UnaryOp" if node.op == "sizeof":
            return Number(_size_of(node))
        case "UnaryOp" if node.op in _UNARY:
            return UnaryOp(node.op, _convert(node.expr))
        case "BinaryOp":
            return BinaryOp(node.op, _convert(node.left), _convert(node.right))
        case "TernaryOp":
            return ConditionalOp(_convert(node.cond), _convert(node.iftrue), _convert(node.iffalse))
        case "FuncCall" if type(node.name).__name__ == "ID":
            arguments = node.args.exprs if node.args else ()
            return CallOp(node.name.name, tuple(_convert(argument) for argument in arguments))
        case "Cast":
            return CastOp(_type_text(node.to_type), _convert(node.expr))
    raise ExpressionError(f"`{_source_of(node)}` can't be used in an annotation")


def _number(node: Any) -> Number:
    if node.type in ("float", "double", "long double"):
        return Number(_fraction(node.value))
    digits = node.value.rstrip("uUlL")
    value = whole(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
    if value is None:
        raise ExpressionError(f"`{node.value[:_SHOWN]}` is not a number, or too large for one")
    if value >= 2**64:
        raise ExpressionError(f"`{node.value}` is larger than any integer of C")
    return Number(value)


def _fraction(text: str) -> float:
    """A floating-point literal; one in hexadecimal, whose digits may be letters of suffixes, has an exponent behind."""
    try:
        return float.fromhex(text.rstrip("fFlL")) if text[:2].lower() == "0x" else float(text.rstrip("fFlL"))
    except (ValueError, OverflowError):
        raise ExpressionError(f"`{text[:_SHOWN]}` is not a number, or too large for one") from None


def _size_of(node: Any) -> int:
    """The bytes of a type that is built in, of C or of CUDA: `sizeof(float4)`, `sizeof(__half)`."""
    text = _type_text(node.expr)
    if text.endswith("*"):
        return 8
    words = [word for word in text.split() if word not in ("unsigned", "signed", "const")]
    fixed = re.fullmatch(r"u?int(8|16|32|64)_t", text)
    if fixed:
        return int(fixed[1]) // 8
    if text in ("size_t", "uintptr_t"):
        return 8
    if len(words) > 1:  # `long long`, `short int`.
        words = [word for word in words if word != "int"]
    name = "".join(words) or "int"
    match = _SIZED.fullmatch(name.removeprefix("__").removeprefix("nv_").removeprefix("u"))
    if match is None:
        raise ExpressionError(f"`{_source_of(node)}` can't be used here: only types of C and CUDA have a known size")
    size = 8 if match["base"] == "longlong" else _SIZES[match["base"]]
    return size * int(match["count"] or 1)


def _type_text(node: Any) -> str:
    return _source_of(node).strip()


def _source_of(node: Any) -> str:
    from pycparser.c_generator import CGenerator

    return str(CGenerator().visit(node))
