"""The operands of the operations that a kernel computes, as the source spells them."""

from __future__ import annotations

from typing import NamedTuple

from cudalint.ir import nodes as ir
from cudalint.ir import walk


class Spelled(NamedTuple):
    """An operand as the source spells it."""

    number: int
    """The same for the same variables and numbers."""
    has_name: bool
    """Whether there is more in it than literals and constants."""


class Operands:
    """The operands of operations, each told from others once: long sums have as many of them as terms."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._known: dict[int, tuple[ir.Expr, Spelled]] = {}
        """By the identity of an expression, which is kept so that nothing else takes its place."""

    def at(self, code: ir.Expr, place: int) -> Spelled:
        """Of an operation, the operand at a place."""
        match code:
            case ir.Binary(left=left, right=right):
                return self._of((left, right)[place])
            case ir.Assign(target=target, value=value):
                return self._of((target, value)[place])
            case ir.Cast(operand=operand) | ir.Unary(operand=operand) if not place:
                return self._of(operand)
            case _:
                return self._known.setdefault(id(code), (code, self._numbered(True, id(code))))[1]

    def _of(self, expr: ir.Expr) -> Spelled:
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = expr, self._spell(expr)
        return known[1]

    def _spell(self, expr: ir.Expr) -> Spelled:
        match expr:
            case ir.Constant(value=value):
                return self._numbered(False, type(value), value)
            case ir.Name(symbol=symbol):
                fixed = walk.is_fixed(symbol)
                return self._numbered(not fixed, "constant" if fixed else symbol)
            case ir.Cast(operand=operand):
                return self._of(operand)
            case ir.Index(base=base, index=index):
                return self._joined("[]", base, index)
            case ir.Member(base=base, field=name):
                return self._joined(name, base)
            case ir.Unary(op=op, operand=operand):
                return self._joined(op, operand)
            case ir.Binary(op=op, left=left, right=right):
                return self._joined(op, left, right)
            case _:
                return self._numbered(True, id(expr))

    def _joined(self, op: str, *operands: ir.Expr) -> Spelled:
        parts = [self._of(operand) for operand in operands]
        return self._numbered(any(part.has_name for part in parts), op, *(part.number for part in parts))

    def _numbered(self, has_name: bool, *key: object) -> Spelled:
        return Spelled(self._numbers.setdefault(key, len(self._numbers)), has_name)
