"""Kernels from their text, executed in lockstep without a launch in the source."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from cudalint.execute.counted import CountedProgram
from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.execute.values import Value
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.frontend.parse_options import parse_options
from cudalint.ir import nodes as ir
from cudalint.measure.work.counts import Work, counted, laid_out
from cudalint.options.analysis import AnalysisOptions

_PATH = "kernel.cu"


def kernel_in(source: str, name: str | None = None) -> ir.Function:
    """The one kernel of a text, or the one of this name."""
    parsed = parse_file(_PATH, parse_options(_PATH, AnalysisOptions()), source.encode())
    unit = Listing(parsed).unit()
    (reference,) = [each for each in unit.kernels if name in (None, each.name)]
    function = reference.load()
    assert function is not None
    return function


def execute(
    function: ir.Function, block: Extents, grid: Extents, arguments: Mapping[str, object] | None = None,
    in_full: bool = False,
) -> Trace:  # fmt: skip
    """All blocks of a grid, in one world; or in as many as an argument has values."""
    blocks = [(x, y, z) for z, y, x in itertools.product(*(range(extent) for extent in reversed(grid)))]
    given = {p: (arguments or {})[p.name] for p in function.parameters if p.name in (arguments or {})}
    worlds = max((len(value) for value in given.values() if isinstance(value, list)), default=1)
    lanes = Lanes(block, [[extent] * worlds for extent in grid], blocks)
    return Machine(lanes, Program(), in_full=in_full).run(function, given)


def stored(body: str, block: Extents = (32, 1, 1), type_: str = "int", head: str = "") -> list[object]:
    """What each thread stores with the last store of a kernel whose text stores to `out[t]`; data as it is."""
    source = f"{head}\n__global__ void kernel({type_}* out, {type_}* in, int t) {{ t = threadIdx.x; {body} }}"
    trace = execute(kernel_in(source), block, (1, 1, 1))
    event = [each for each in trace.accesses if each.operation == "store" and each.allocation.name == "out"][-1]
    threads = block[0] * block[1] * block[2]
    if isinstance(event.value, np.ndarray):
        return np.broadcast_to(event.value, event.mask.shape)[0, :threads].tolist()  # type: ignore[no-any-return]
    return [event.value] * threads


def work_of(function: ir.Function, lanes: Lanes, arguments: Mapping[ir.Symbol, Value]) -> tuple[list[Work], Trace]:
    """The work of each world of a launch's blocks, and what else they do."""
    program = CountedProgram()
    trace = Machine(lanes, program).run(function, dict(arguments))
    laid = laid_out(function)
    return [counted(laid, trace.executions, world) for world in range(lanes.worlds)], trace
