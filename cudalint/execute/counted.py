"""How often each statement is executed: a program that counts, for who asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cudalint.execute.program import Execute, Program
from cudalint.execute.trace import Stack
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cudalint.execute.machine import Machine

    Counts = NDArray[np.float64]


class Site(NamedTuple):
    """A statement, as calls lead there."""

    statement: ir.Stmt
    stack: Stack
    library: Any
    """The call of a function of the bundled headers that it belongs to."""


class CountedProgram(Program):
    """Counts the executions of its statements: one for each machine that runs it."""

    def __init__(self) -> None:
        super().__init__()
        self.executions: dict[Site, Counts] = {}
        """By statement, for each world: warps with an active lane, and lanes."""
        self._latest: tuple[Any, Counts] | None = None

    def statement(self, statement: ir.Stmt) -> Execute:
        found = self._statements.get(statement)
        if found is None:
            found = self._statements[statement] = self._counted(statement, self._code.compiled(statement))
        return found

    def _counted(self, statement: ir.Stmt, execute: Execute) -> Execute:
        executions = self.executions

        def counted(m: Machine) -> None:
            site = Site(statement, m.stack, m.library)
            now = self._now(m)
            before = executions.get(site)
            executions[site] = now if before is None else before + now
            execute(m)

        return counted

    def _now(self, m: Machine) -> Counts:
        """The active warps and lanes of each world."""
        weight = m.weight if type(m.weight) is np.ndarray else float(m.weight)
        plain = type(weight) is float
        if self._latest is not None and self._latest[0] is m.mask and plain:
            return self._latest[1] * weight
        lanes = m.lanes
        mask = np.broadcast_to(np.asarray(m.mask), (lanes.rows, lanes.lanes))
        active = mask.reshape(lanes.rows, lanes.warps, WARP_LANES).sum(axis=2)
        factor: Any = 1.0 if plain else np.broadcast_to(weight, active.shape)
        both = np.stack([((active > 0) * factor).sum(axis=1), (active * factor).sum(axis=1)])
        found: Counts = both.reshape(2, lanes.worlds, -1).sum(axis=2)
        if not plain:
            return found
        self._latest = m.mask, found
        return found * weight
