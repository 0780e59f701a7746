"""Launches as the analysis of a file executes them, for benchmarks of the new core. It is gone with the old one."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.driver.analysis import analyse_file
from cudalint.driver.kernel_analysis import KernelAnalysis
from cudalint.evaluate.requests.execution import Execution
from cudalint.execute.lanes import Extents
from cudalint.execute.memory import Allocation
from cudalint.execute.values import Pointer
from cudalint.interpreter.device import values as old
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration, Numbers
from cudalint.options.analysis import AnalysisOptions
from cudalint.values.nodes import Node

_BLOCKS = 4
"""Of a grid, that are executed."""


class Launched(Struct):
    """A launch that the old core has executed."""

    function: ir.Function
    index: int
    block: Extents
    grid: Extents
    arguments: dict[ir.Symbol, Any]


def launches_of(path: str) -> list[Launched]:
    """The launches of a file's analysis, with the arguments that they are executed with."""
    found: list[Launched] = []
    execute = KernelAnalysis._execute

    def watched(
        analysis: KernelAnalysis, index: int, configuration: Configuration, function: ir.Function | None = None,
        quiet: bool = False,
    ) -> Execution:  # fmt: skip
        execution = execute(analysis, index, configuration, function, quiet)
        if function is None and not quiet:
            numbers, memories = Numbers(analysis.graph), dict[object, Allocation]()
            arguments = {s: _plain(value, numbers, s.name, memories) for s, value in configuration.arguments.items()}
            grid = execution.launch.grid
            found.append(Launched(analysis.function, index, configuration.block, grid, arguments))
        return execution

    KernelAnalysis._execute = watched  # type: ignore[assignment, method-assign]
    try:
        analyse_file(path, AnalysisOptions())
    finally:
        KernelAnalysis._execute = execute  # type: ignore[method-assign]
    return list({(id(each.function), each.index): each for each in found}.values())


def _plain(value: Any, numbers: Numbers, name: str, memories: dict[object, Allocation]) -> Any:
    """An argument of the old core for the new one; None for what is left open."""
    if isinstance(value, Node):
        return numbers.scalar(value)
    if isinstance(value, old.Pointer) and isinstance(value.target, old.Allocation):
        memory = value.target.memory
        made = memories.setdefault(memory, Allocation(name, "global", is_null=value.target.is_null))
        return Pointer(made, numbers.of(value.offset), ir.OpaqueType("?"))
    if isinstance(value, old.RecordValue):
        return {field: _plain(own, numbers, f"{name}.{field}", memories) for field, own in value.fields.items()}
    return None


def some_blocks(grid: Extents) -> list[Extents]:
    """A few blocks of a grid: the first, the last and two between."""
    total = int(np.prod(grid))
    numbers = range(total) if total <= _BLOCKS else sorted({0, total // 3, 2 * total // 3, total - 1})
    x, y, _ = grid
    return [(n % x, n // x % y, n // (x * y)) for n in numbers]
