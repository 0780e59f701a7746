"""Expressions: they know their C type, evaluate themselves in an environment, and spell themselves in C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from reference_c.ctypes_ import (
    BOOL,
    FLOAT,
    INT,
    CType,
    Number,
    UndefinedBehaviour,
    common,
    convert,
    fits,
    promote,
    settle,
)

Environment = Mapping[str, Number]
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Lit:
    number: int
    type: CType

    def value(self, _: Environment) -> Number:
        return self.number

    def text(self) -> str:
        suffix = ("" if self.type.signed else "u") + ("ll" if self.type.bits == 64 else "")
        spelled = f"{self.number}{suffix}"
        return spelled if self.number >= 0 else f"({spelled})"


@dataclass(frozen=True)
class Real:
    """A floating-point constant."""

    number: float

    @property
    def type(self) -> CType:
        return FLOAT

    def value(self, _: Environment) -> Number:
        return self.number

    def text(self) -> str:
        return f"{self.number!r}f"


@dataclass(frozen=True)
class Var:
    name: str
    type: CType

    def value(self, environment: Environment) -> Number:
        return environment[self.name]

    def text(self) -> str:
        return self.name


@dataclass(frozen=True)
class Element:
    """`array[index]` of a local array; the environment holds `array[0]`, `array[1]` and so on."""

    array: str
    count: int
    type: CType
    index: Expr

    def value(self, environment: Environment) -> Number:
        index = self.index.value(environment)
        if not 0 <= index < self.count:
            raise UndefinedBehaviour("subscript out of range")
        return environment[f"{self.array}[{index}]"]

    def text(self) -> str:
        return f"{self.array}[{self.index.text()}]"


@dataclass(frozen=True)
class Unary:
    op: str
    operand: Expr

    @cached_property
    def type(self) -> CType:
        return BOOL if self.op == "!" else promote(self.operand.type)

    def value(self, environment: Environment) -> Number:
        operand = self.operand.value(environment)
        if self.op == "!":
            return int(not operand)
        if isinstance(operand, float):
            return -operand
        return settle(-operand, self.type) if self.op == "-" else settle(~operand, self.type)

    def text(self) -> str:
        return f"({self.op}{self.operand.text()})"


@dataclass(frozen=True)
class Binary:
    op: str
    left: Expr
    right: Expr

    @cached_property
    def type(self) -> CType:
        if self.op in COMPARISONS or self.op in ("&&", "||"):
            return BOOL
        return self.computed

    @cached_property
    def computed(self) -> CType:
        """The type in which the operator works."""
        if self.op in ("<<", ">>"):
            return promote(self.left.type)
        return common(self.left.type, self.right.type)

    def value(self, environment: Environment) -> Number:
        left = self.left.value(environment)
        if self.op == "&&":
            return int(bool(left) and bool(self.right.value(environment)))
        if self.op == "||":
            return int(bool(left) or bool(self.right.value(environment)))
        return apply(self.op, left, self.right.value(environment), self.left.type, self.right.type)

    def text(self) -> str:
        return f"({self.left.text()} {self.op} {self.right.text()})"


@dataclass(frozen=True)
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr

    @cached_property
    def type(self) -> CType:
        if self.then.type == self.otherwise.type:
            return self.then.type
        return common(self.then.type, self.otherwise.type)

    def value(self, environment: Environment) -> Number:
        chosen = self.then if self.condition.value(environment) else self.otherwise
        return convert(chosen.value(environment), self.type)

    def text(self) -> str:
        return f"({self.condition.text()} ? {self.then.text()} : {self.otherwise.text()})"


@dataclass(frozen=True)
class Cast:
    type: CType
    operand: Expr

    def value(self, environment: Environment) -> Number:
        return convert(self.operand.value(environment), self.type)

    def text(self) -> str:
        return f"(({self.type.name}){self.operand.text()})"


@dataclass(frozen=True)
class Extremum:
    """`min(a, b)` or `max(a, b)`; both sides are cast to one type, so that no overload is ambiguous."""

    name: str
    left: Expr
    right: Expr

    @cached_property
    def type(self) -> CType:
        return common(self.left.type, self.right.type)

    def value(self, environment: Environment) -> Number:
        a = convert(self.left.value(environment), self.type)
        b = convert(self.right.value(environment), self.type)
        return min(a, b) if self.name == "min" else max(a, b)

    def text(self) -> str:
        return f"{self.name}({Cast(self.type, self.left).text()}, {Cast(self.type, self.right).text()})"


Expr = Lit | Real | Var | Element | Unary | Binary | Conditional | Cast | Extremum


def apply(op: str, left: Number, right: Number, left_type: CType, right_type: CType) -> Number:
    """`left op right` for any operator that evaluates both sides."""
    if op in ("<<", ">>"):
        return _shift(op, int(left), int(right), promote(left_type))
    type_ = common(left_type, right_type)
    a, b = convert(left, type_), convert(right, type_)
    if op in COMPARISONS:
        return int(_compare(op, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return _float_arithmetic(op, float(a), float(b))
    return settle(_integer_arithmetic(op, a, b), type_)


def _shift(op: str, left: int, right: int, type_: CType) -> int:
    """C++20: a shift to the left wraps; but a result that changes sign is left out here."""
    if not 0 <= right < type_.bits:
        raise UndefinedBehaviour("shift by too much")
    left = int(convert(left, type_))
    if op == ">>":
        return left >> right
    if type_.signed and not fits(left << right, type_):
        raise UndefinedBehaviour("shift into the sign")
    return settle(left << right, type_)


def _compare(op: str, a: Number, b: Number) -> bool:
    match op:
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case ">=":
            return a >= b
        case "==":
            return a == b
    return a != b


def _float_arithmetic(op: str, a: float, b: float) -> Number:
    if op == "/" and not b:
        raise UndefinedBehaviour("division by zero")
    result = {"+": a + b, "-": a - b, "*": a * b}.get(op)
    return convert(a / b if result is None else result, FLOAT)


def _integer_arithmetic(op: str, a: int, b: int) -> int:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
    if not b:
        raise UndefinedBehaviour("division by zero")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if op == "/" else a - quotient * b


def literal(number: int, type_: CType = INT) -> Lit:
    return Lit(number, type_)
