"""The figures of the two cores side by side, access by access, within 2%; and the CPU time that each takes.

    python benchmarks/differ.py FILE... [--worlds 8] [--notes 20] [--kernel TEXT]

One analysis of each file is watched: every launch that it executes is executed by the new core, too, with the same
arguments, on a few blocks of the grid. Rows are (kernel, launch, line, operation, space). It is gone with the old core.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct, field

from cudalint.driver.analysis import analyse_file
from cudalint.driver.kernel_analysis import KernelAnalysis
from cudalint.evaluate.requests.execution import Execution
from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.memory import Allocation
from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.execute.values import Pointer
from cudalint.facts import Access, FileFacts, KernelFacts
from cudalint.interpreter.device import values as old
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration, Numbers
from cudalint.measure.requests import Figures, figures
from cudalint.options.analysis import AnalysisOptions
from cudalint.values.nodes import Node

_TOLERANCE = 0.02
_BLOCKS = 4
"""Of a grid, that are executed."""


class Launched(Struct):
    """A launch that the old core has executed."""

    function: ir.Function
    index: int
    block: Extents
    grid: Extents
    arguments: dict[ir.Symbol, Any]


class Totals(Struct):
    """What came of a file."""

    rows: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--worlds", type=int, default=0)
    parser.add_argument("--notes", type=int, default=20)
    parser.add_argument("--kernel", default="")
    given = parser.parse_args()
    sys.setrecursionlimit(20_000)
    everything = Totals()
    for path in given.files:
        totals = compare(path, given.kernel, given.worlds)
        _print(path, totals, given.notes)
        everything.rows.update(totals.rows)
        everything.unknown.update(totals.unknown)
        for name, seconds in totals.seconds.items():
            everything.seconds[name] += seconds
    if len(given.files) > 1:
        _print(f"{len(given.files)} files", everything, 0)


def compare(path: str, only: str = "", worlds: int = 0) -> Totals:
    """One file."""
    totals = Totals()
    launches, facts = _watched(path, totals)
    gc.collect()
    gc.freeze()
    program = Program()
    for launched in launches:
        if only in launched.function.instantiation:
            _compare_launch(launched, facts, program, totals, worlds)
    return totals


def _watched(path: str, totals: Totals) -> tuple[list[Launched], FileFacts]:
    """The launches of a file's analysis, and its facts."""
    found: list[Launched] = []
    execute = KernelAnalysis._execute

    def watched(
        analysis: KernelAnalysis, index: int, configuration: Configuration, function: ir.Function | None = None,
        quiet: bool = False,
    ) -> Execution:  # fmt: skip
        execution = execute(analysis, index, configuration, function, quiet)
        if function is None and not quiet:
            numbers, memories = Numbers(analysis.graph), dict[object, Allocation]()
            arguments = {
                s: _plain(value, numbers, s.name, memories) for s, value in configuration.arguments.items()
            }
            grid = execution.launch.grid
            found.append(Launched(analysis.function, index, configuration.block, grid, arguments))
        return execution

    KernelAnalysis._execute = watched  # type: ignore[assignment, method-assign]
    begin = time.process_time()
    try:
        facts = analyse_file(path, AnalysisOptions())
    finally:
        KernelAnalysis._execute = execute  # type: ignore[method-assign]
    totals.seconds["old core, with front end and host code"] += time.process_time() - begin
    latest = {(id(each.function), each.index): each for each in found}
    return list(latest.values()), facts


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


def _blocks(grid: Extents) -> list[Extents]:
    total = int(np.prod(grid))
    numbers = range(total)
    if total > _BLOCKS:
        numbers = sorted({0, total // 3, 2 * total // 3, total - 1})  # type: ignore[assignment]
    x, y, _ = grid
    return [(n % x, n // x % y, n // (x * y)) for n in numbers]


def _compare_launch(launched: Launched, facts: FileFacts, program: Program, totals: Totals, worlds: int) -> None:
    blocks = _blocks(launched.grid)
    begin = time.process_time()
    trace = Machine(Lanes(launched.block, launched.grid, blocks), program).run(launched.function, launched.arguments)
    ran = time.process_time()
    measured = figures(trace)
    totals.seconds["new core, execution"] += ran - begin
    totals.seconds["new core, figures"] += time.process_time() - ran
    totals.rows["launches"] += 1
    totals.rows["steps"] += trace.steps
    totals.unknown.update(trace.unknown)
    if worlds:
        _time_worlds(launched, program, blocks, worlds, totals)
    kernel = next((k for k in facts.kernels if _is_of(k, launched)), None)
    if kernel is None:
        totals.rows["launches without facts"] += 1
        return
    mine: dict[tuple[object, ...], list[tuple[int, Figures]]] = defaultdict(list)
    for site, found in measured.items():
        span = site.node.span
        frames = tuple(call.span.line for call in site.stack)
        entry = site.bytes, found
        mine[span.line, site.operation, site.space, frames].append(entry)
        mine[span.line, site.operation, site.space].append(entry)
    for access in kernel.accesses:
        _compare_access(access, launched, mine, trace, totals)


def _is_of(kernel: KernelFacts, launched: Launched) -> bool:
    if kernel.instantiation != launched.function.instantiation or len(kernel.launches) <= launched.index:
        return False
    return kernel.launches[launched.index].block == launched.block


def _compare_access(
    access: Access, launched: Launched, mine: Mapping[tuple[object, ...], list[tuple[int, Figures]]], trace: Trace,
    totals: Totals,
) -> None:  # fmt: skip
    result = next((r for r in access.results if r.launch == launched.index), None)
    if result is None or access.space == "local":
        return
    is_shared = access.space == "shared"
    want = result.wavefronts_per_request if is_shared else result.sectors_per_request
    where = f"{launched.function.instantiation[:50]} #{launched.index} {access.place.line} {access.operation}"
    where += f" {access.space} {access.bytes} B `{access.expression[:50]}`"
    frames = tuple(frame.line for frame in access.inlined_from)
    key = access.place.line, access.operation, access.space
    found = mine.get((*key, frames)) or mine.get(key) or []
    if want is None or result.status in ("unknown", "unreached") or result.reason_kind == "repeat":
        what = "has a figure" if any(each.requests[0] for _, each in found) else "nor here"
        totals.rows[f"no figure in the old core ({result.status}), {what}"] += 1
        return
    if not found:
        totals.rows["not found"] += 1
        totals.notes.append(f"not found: {where}: {want:.4g} ({result.status})")
        return
    own = [each for each in found if each[0] == access.bytes]
    if not own and is_shared:
        totals.rows["merged by the old core"] += 1
        return
    known = [float(each.cost[0]) for _, each in own or found if each.requests[0]]
    if not known:
        totals.rows["data"] += 1
        totals.notes.append(f"data: {where}: {want:.4g} ({result.status})")
    elif any(abs(each - want) <= _TOLERANCE * max(want, each) for each in known):
        totals.rows["equal"] += 1
    else:
        totals.rows["differs"] += 1
        totals.notes.append(f"differs: {where}: {want:.4g} ({result.status}), not {[round(k, 3) for k in known][:4]}")


def _time_worlds(
    launched: Launched, program: Program, blocks: list[Extents], worlds: int, totals: Totals
) -> None:
    """The same with all of the larger numbers different in each world."""
    arguments = {
        s: [value + 32 * world for world in range(worlds)] if type(value) is int and value >= 64 else value
        for s, value in launched.arguments.items()
    }
    begin = time.process_time()
    lanes = Lanes(launched.block, [[extent] * worlds for extent in launched.grid], blocks)
    trace = Machine(lanes, program).run(launched.function, arguments)
    ran = time.process_time()
    figures(trace)
    totals.seconds[f"new core, {worlds} worlds, execution"] += ran - begin
    totals.seconds[f"new core, {worlds} worlds, figures"] += time.process_time() - ran


def _print(name: str, totals: Totals, notes: int) -> None:
    print(f"{name}: {dict(totals.rows)}")
    print("  " + "; ".join(f"{what} {seconds:.2f} s" for what, seconds in totals.seconds.items()))
    for line in _lines(totals, notes):
        print(f"  {line}")


def _lines(totals: Totals, notes: int) -> Iterator[str]:
    if totals.unknown:
        yield f"unknown: {totals.unknown.most_common(12)}"
    yield from totals.notes[:notes]


if __name__ == "__main__":
    main()
