"""How often each statement is executed: a program that counts, into the trace of the machine that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.program import Execute, Program
from cudalint.execute.trace import Executions, Site
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cudalint.execute.machine import Machine

    Counts = NDArray[np.float64]


class CountedProgram(Program):
    """Counts the executions of its statements."""

    def __init__(self) -> None:
        super().__init__()
        self._latest: tuple[Any, Any, Any, Counts] | None = None
        """Of lanes, a mask and a weight, what they count."""

    def statement(self, statement: st.Stmt) -> Execute:
        found = self._statements.get(statement)
        if found is None:
            found = self._statements[statement] = self._counted(statement, self._code.compiled(statement))
        return found

    def _counted(self, statement: st.Stmt, execute: Execute) -> Execute:
        def counted(m: Machine) -> None:
            site = Site(statement, m.stack, m.library)
            executions = m.trace.executions
            own = executions.get(site)
            if own is None:
                executions[site] = Executions(self._now(m).copy(), m.data > 0)
            else:
                own.counts += self._now(m)
                own.by_data = own.by_data or m.data > 0
            execute(m)

        return counted

    def _now(self, m: Machine) -> Counts:
        """The active warps and lanes of each world."""
        lanes, mask, weight = m.lanes, m.mask, m.weight
        assert mask is not None
        latest = self._latest
        if latest is not None and latest[0] is lanes and latest[1] is mask and latest[2] is weight:
            return latest[3]
        active = mask.reshape(lanes.rows, lanes.warps, WARP_LANES).sum(axis=2)
        both = np.stack([((active > 0) * weight).sum(axis=1), (active * weight).sum(axis=1)])
        found: Counts = both.reshape(2, lanes.worlds, -1).sum(axis=2)
        self._latest = lanes, mask, weight, found
        return found
