"""How often statements are executed, by warps and by lanes, against counts by hand."""

from __future__ import annotations

import numpy as np
from executing import kernel_in

from cudalint.execute.counted import CountedProgram
from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.ir import statements as st

SOURCE = """__device__ void put(int *c, int at) { c[at] = at; }
__global__ void k(int *c, int n) {
  for (int i = threadIdx.x; i < n; i += 64)
    put(c, i);
  put(c, 0);
}"""


def counted(n: int | list[int], weight: float = 1.0) -> dict[tuple[int, int], list[list[float]]]:
    """By line and the line of the call: warps and lanes of each world."""
    function, program = kernel_in(SOURCE), CountedProgram()
    worlds = len(n) if isinstance(n, list) else 1
    lanes = Lanes((64, 1, 1), [[1] * worlds] * 3, [(0, 0, 0)])
    machine = Machine(lanes, program)
    if weight != 1.0:
        machine.weight = np.full((lanes.rows, lanes.warps), weight)
    trace = machine.run(function, {function.parameters[1]: n})
    return {
        (site.statement.span.line, site.stack[0].span.line): own.counts.T.tolist()
        for site, own in trace.executions.items() if site.stack and isinstance(site.statement, st.ExprStmt)
    }  # fmt: skip


def test_each_call_has_its_own() -> None:
    # 100 turns of 64 threads each: 64 and 36 of them, that is two warps twice. Then both warps once.
    assert counted(100) == {(1, 4): [[4, 100]], (1, 5): [[2, 64]]}


def test_each_world_has_its_own() -> None:
    # 70 are 64 threads, then 6 of one warp; 20 are some of one.
    assert counted([70, 20]) == {(1, 4): [[3, 70], [1, 20]], (1, 5): [[2, 64], [2, 64]]}


def test_executions_that_stand_for_several() -> None:
    assert counted(100, weight=3.0) == {(1, 4): [[12, 300]], (1, 5): [[6, 192]]}
