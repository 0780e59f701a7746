"""Instructions and operations by dependence beside what Nsight Compute counted of public programs' kernels.

    python benchmarks/work_measured.py HECBENCH COSTS [--only TEXT] [--notes]

HECBENCH is a clone of zjin-lcf/HeCBench, COSTS a table of measured kernels as `costs.json.gz`: per kernel its block,
how many blocks there are, warp instructions, and operations by type. Launches are those that the analysis finds; one is
compared where its block and grid are those that were measured. "Whole" are those of which nothing is left out or up to
data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from executed import Launched, launches_of, some_blocks

from cudalint.execute.budget import Limits
from cudalint.execute.counted import CountedProgram
from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.measure.work.counts import counted, laid_out

_MOST_STEPS = 150_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hecbench", type=Path)
    parser.add_argument("costs", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--notes", action="store_true")
    given = parser.parse_args()
    sys.setrecursionlimit(20_000)
    ratios: list[tuple[float, bool]] = []
    operations: list[float] = []
    for program in json.loads(gzip.decompress(given.costs.read_bytes())):
        folder = given.hecbench / "src" / program["program"]
        if program["source"] != "hec" or given.only not in program["program"] or not folder.is_dir():
            continue
        for path in sorted(folder.glob("*.cu")):
            try:
                launches = launches_of(str(path))
            except Exception as error:
                print(f"{path}: {type(error).__name__}")
                continue
            for kernel in program["kernels"]:
                launched = next((each for each in launches if _is(each, kernel)), None)
                if launched is not None:
                    _compare(program["program"], launched, kernel, ratios, operations, given.notes)
    for name, own in (("whole", [r for r, whole in ratios if whole]), ("all", [r for r, _ in ratios])):
        if own:
            off = math.exp(float(np.mean(np.abs(np.log(own))))) - 1
            within = sum(0.8 <= r <= 1.25 for r in own), sum(0.5 <= r <= 2 for r in own)
            print(f"instructions, {name}: {len(own)} kernels, {100 * off:.0f}% off on average,"
                  f" within 25%: {within[0]}, 2x: {within[1]}")  # fmt: skip
    close = sum(0.95 <= r <= 1.05 for r in operations)
    print(f"operations: {len(operations)} kernels, within 5%: {close}")


def _is(launched: Launched, kernel: dict[str, Any]) -> bool:
    name = kernel["kernel"].split("(")[0].split("<")[0].split()[-1].split("::")[-1]
    return bool(
        launched.function.name == name and list(launched.block) == kernel["block"]
        and math.prod(launched.grid) == kernel["blocks"]
    )  # fmt: skip


def _compare(
    program: str, launched: Launched, kernel: dict[str, Any], ratios: list[tuple[float, bool]], operations: list[float],
    notes: bool,
) -> None:  # fmt: skip
    blocks = some_blocks(launched.grid)
    begin = time.process_time()
    try:
        trace = Machine(Lanes(launched.block, launched.grid, blocks), CountedProgram(), Limits(_MOST_STEPS)).run(
            launched.function, launched.arguments
        )
        ran = time.process_time()
        laid = laid_out(launched.function)
        work = counted(laid, trace.executions)
    except Exception as error:
        print(f"{program} {launched.function.name}: {type(error).__name__} {error}")
        return
    factor = math.prod(launched.grid) / len(blocks)
    total = work.total * factor
    ratio = total / kernel["warp_instructions"] if kernel["warp_instructions"] else 1.0
    by_data = any(event.data for event in trace.accesses)
    cut = [what for what in trace.unknown if "turns" in what or "steps" in what]
    whole = not trace.unknown and not by_data and not laid.unknown
    if ratio > 0 and not cut:
        ratios.append((ratio, whole))
    line = ""
    for name, measured in kernel["flops"].items():
        found = work.operations[name] * factor
        if measured and not cut and whole:
            operations.append(found / measured)
        if measured or found:
            line += f" {name} {found / measured if measured else math.inf:.3f}"
    what = "" if whole else "data" if by_data else "unknown"
    took = f"({ran - begin:.1f} + {time.process_time() - ran:.1f} s)"
    print(f"{program[:26]:26} {launched.function.name[:30]:30} {ratio:6.2f} {what}{line} {took}", flush=True)
    if notes:
        for text in (*trace.unknown.most_common(3), *cut):
            print(f"     {text}")
        shares = sorted(work.instructions.items(), key=lambda item: -item[1])[:9]
        scale = factor / kernel["warp_instructions"]
        print("     " + ", ".join(f"{kind} {number * scale:.2f}" for kind, number in shares))


if __name__ == "__main__":
    main()
