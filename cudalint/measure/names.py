"""What an array is called where it is accessed: one that several parameters lead to has as many names."""

from __future__ import annotations

from typing import Any

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import Stack
from cudalint.execute.values import Pointer
from cudalint.ir import nodes as ir
from cudalint.ir.walk import walk
from cudalint.worlds.records import Batch


def name_of(node: Any, stack: Stack, array: Allocation, batch: Batch) -> str:
    """The parameter that the kernel's own text names at an access, if it is one of several; else the array's name."""
    parameters = {
        symbol
        for symbol, value in batch.arguments.items()
        if isinstance(value, Pointer) and value.allocation is array
    }
    if len(parameters) < 2:
        return array.name
    named = {each.symbol for each in walk(stack[-1] if stack else node) if isinstance(each, ir.Name)} & parameters
    return named.pop().name if len(named) == 1 else array.name
