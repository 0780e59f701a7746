"""Inline PTX, as far as it touches memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.execute.program import Execute, Program
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine


def instruction(program: Program, n: ir.Asm) -> Execute:
    """What an `asm` statement does."""
    plain = (ir.Scalar, ir.PointerType)
    operands = [program.value(operand) for operand in n.operands if isinstance(operand.type, plain)]

    def execute(m: Machine) -> None:
        for operand in operands:
            operand(m)
        m.unknown("inline PTX")

    return execute
