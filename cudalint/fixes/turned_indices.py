"""What a thread's indices are for the thread that x and y of the block are exchanged for.

Thread (a, b) takes the place of thread (b, a). Where a block has fewer rows than columns, and takes the rows of a tile
in the turns of a loop, `threadIdx.y + j` is a row's number: then column and row are exchanged, so that the column is
`threadIdx.y + j` and the row `threadIdx.x`. That needs an index that knows of the turn through the row alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import NAME, free_name
from cudalint.fixes.staged_statements import CALL, MEMORY, Initial
from cudalint.options.expressions import (
    BinaryOp,
    CastOp,
    Expression,
    ExpressionError,
    MemberRef,
    NameRef,
    Number,
    UnaryOp,
    parse_expression,
    parts_of,
)
from cudalint.regexes import regex
from cudalint.source.code import CodeText

_THREAD = regex(r"\bthreadIdx\s*\.\s*([xy])\b")
_ASSIGNED = r"(?<![\w.]){0}\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*{0}\b"
_BINDS_LESS = "(+,=<>[&|!?:;"
"""What a sum may stand behind without parentheses."""
_COMPARES = frozenset(("&&", "||", "<", "<=", ">", ">=", "==", "!="))

_Sum = dict[tuple[str, ...], int]
"""A polynomial: for each product of names, how often it is in the sum."""


class TurnedIndices:
    """The texts of a kernel's indices as the other thread has them, and the variables that it takes for that."""

    def __init__(
        self, source: CodeText, body: tuple[int, int], variables: Mapping[str, Initial], turn: str | None
    ) -> None:
        """`body` is where the kernel's is, and `turn` the name that a loop through rows counts in."""
        self._source, self._body, self._initial, self._turn = source, body, variables, turn
        self.declared: dict[str, None] = {}
        """The declarations that what was turned needs, in their order."""

    def turned(self, text: str) -> str:
        """The text as the thread has it that x and y are exchanged for."""
        self._require_rows(text)
        return self._spelled(text)

    def _spelled(self, text: str) -> str:
        for name in dict.fromkeys(NAME.findall(text)):
            if not self._depends(name):
                continue
            initial = self._initial[name]
            if len(re.findall(_ASSIGNED.format(name), self._source.code[slice(*self._body)])) != 1:
                raise Obstacle(f"`{name}` gets another value on the way")
            if MEMORY.search(initial.value) or CALL.search(initial.value):
                raise Obstacle(f"`{name}` is more than an index")
            new = free_name(f"{name}_turned", self._source)
            self.declared[f"{initial.type} {new} = {self._spelled(initial.value)};"] = None
            text = re.sub(rf"(?<![\w.]){name}\b", new, text)
        if self._turn is not None:
            text = _without(self._turn, text)
        return _THREAD.sub(self._other, text)

    def _other(self, match: re.Match[str]) -> str:
        if match[1] == "y":
            return "threadIdx.x"
        if self._turn is None:
            return "threadIdx.y"
        row = f"threadIdx.y + {self._turn}"
        before, behind = match.string[: match.start()].rstrip()[-1:], match.string[match.end() :].lstrip()[:1]
        is_alone = before in _BINDS_LESS and behind not in ("*", "/", "%")
        return row if is_alone else f"({row})"

    def _depends(self, name: str) -> bool:
        if name not in self._initial:
            return False
        text = self._initial[name].value
        names = NAME.findall(text)
        return "threadIdx" in text or self._turn in names or any(self._depends(n) for n in names if n != name)

    def _require_rows(self, text: str) -> None:
        """Raises an `Obstacle` where something depends on the turn in another way than by the row."""
        if self._turn is None:
            return
        try:
            is_of_rows = self._is_of_rows(parse_expression(text))
        except ExpressionError:
            is_of_rows = False
        if not is_of_rows:
            raise Obstacle(f"`{' '.join(text.split())[:40]}` is not computed of `threadIdx.y + {self._turn}`")

    def _is_of_rows(self, expression: Expression) -> bool:
        if isinstance(expression, BinaryOp) and expression.op in _COMPARES:
            return self._is_of_rows(expression.left) and self._is_of_rows(expression.right)
        return not any("turn" in product for product in self._sum(expression, 0))

    def _sum(self, expression: Expression, depth: int) -> _Sum:
        """An index as a polynomial in the row, from which the turn is taken again where a thread's own y stands."""
        match expression:
            case Number(value) if type(value) is int:
                return {(): value}
            case MemberRef(NameRef("threadIdx"), "y"):
                return {("row",): 1, ("turn",): -1}
            case NameRef(name) if name == self._turn:
                return {("turn",): 1}
            case NameRef(name) if self._depends(name) and depth < _DEPTH:
                return self._sum(parse_expression(self._initial[name].value), depth + 1)
            case CastOp(_, operand):
                return self._sum(operand, depth)
            case UnaryOp("-", operand):
                return _product({(): -1}, self._sum(operand, depth))
            case BinaryOp("+" | "-" as op, left, right):
                other = _product({(): 1 if op == "+" else -1}, self._sum(right, depth))
                return _added(self._sum(left, depth), other)
            case BinaryOp("*", left, right):
                return _product(self._sum(left, depth), self._sum(right, depth))
        if self._knows_the_turn(expression):
            return {("turn",): 1}
        return {(f"name {expression!r}",): 1}

    def _knows_the_turn(self, expression: Expression) -> bool:
        """Whether what is no polynomial depends on the row or the turn."""
        if isinstance(expression, NameRef):
            return expression.name == self._turn or self._depends(expression.name)
        if expression == MemberRef(NameRef("threadIdx"), "y"):
            return True
        inner = (part for each in parts_of(expression).values() for part in _all(each))
        return any(map(self._knows_the_turn, inner))


_DEPTH = 6
"""Variables that are followed to what they were given."""


def _all(part: Expression | tuple[Expression, ...]) -> tuple[Expression, ...]:
    return part if isinstance(part, tuple) else (part,)


def _added(one: _Sum, other: _Sum) -> _Sum:
    found = dict(one)
    for product, times in other.items():
        found[product] = found.get(product, 0) + times
    return {product: times for product, times in found.items() if times}


def _product(one: _Sum, other: _Sum) -> _Sum:
    found: _Sum = {}
    for left, a in one.items():
        for right, b in other.items():
            found = _added(found, {tuple(sorted((*left, *right))): a * b})
    return found


def _without(name: str, text: str) -> str:
    """A text in which a number is 0, and terms with it are left out."""
    text = re.sub(rf"\s*\+\s*{name}\b(?:\s*\*\s*[\w.]+\b(?!\s*[*/%(]))?(?!\s*[*/%])", "", text)
    text = re.sub(rf"(?<![\w.])(?<![*/%])(?<![*/%] ){name}\s*\+\s*", "", text)
    return re.sub(rf"(?<![\w.]){name}\b", "0", text)
