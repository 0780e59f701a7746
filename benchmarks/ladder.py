"""The work of SGEMM_CUDA's twelve kernels by dependence, beside what an H100 counted at n = 2048.

    python benchmarks/ladder.py SGEMM_CUDA [--kernel TEXT] [--kinds] [--ablate]

SGEMM_CUDA is a clone of siboehm/SGEMM_CUDA. One block of each kernel is executed with two short inner dimensions; what
it does grows by the same with each step of that, and blocks are alike, so that larger products follow by arithmetic.
Operations are held against 2 M N K + 3 M N. With --ablate each assumption about the compiler is left out in turn.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from cudalint.execute.counted import CountedProgram
from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.trace import Executions, Site
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.frontend.parse_options import parse_options
from cudalint.heuristics import Heuristic
from cudalint.ir import nodes as ir
from cudalint.measure.work import compiler
from cudalint.measure.work.counts import Laid, counted, laid_out
from cudalint.options.analysis import AnalysisOptions

_SIZE = 2048
_SHORT = (256, 512)
_PLACES = ("M", "N", "K")


class Case(Struct, frozen=True):
    """A kernel as `runner.cu` launches it for sizes of 128 and more."""

    name: str
    block: Extents
    tile: tuple[int, int]
    """Rows and columns of the result that a block computes."""
    instructions: float
    """Of warps, measured."""
    arguments: str = ""


CASES = (
    Case("sgemm_naive", (32, 32, 1), (32, 32), 2.15e9),
    Case("sgemm_global_mem_coalesce", (1024, 1, 1), (32, 32), 1.23e9),
    Case("sgemm_shared_mem_block", (1024, 1, 1), (32, 32), 7.29e8),
    Case("sgemm1DBlocktiling", (512, 1, 1), (64, 64), 4.47e8),
    Case("sgemm2DBlocktiling", (256, 1, 1), (128, 128), 3.83e8, "128"),
    Case("sgemmVectorize", (256, 1, 1), (128, 128), 3.35e8, "128"),
    Case("sgemmResolveBankConflicts", (256, 1, 1), (128, 128), 3.68e8, "128"),
    Case("sgemmResolveBankExtraCol", (256, 1, 1), (128, 128), 3.62e8, "128"),
    Case("sgemmAutotuned", (256, 1, 1), (128, 128), 3.43e8),
    Case("sgemmWarptiling", (128, 1, 1), (128, 128), 3.12e8),
    Case("sgemmDoubleBuffering", (256, 1, 1), (128, 256), 3.08e8),
    Case("runSgemmDoubleBuffering2", (128, 1, 1), (128, 128), 4.40e8),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--kernel", default="")
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--ablate", action="store_true")
    given = parser.parse_args()
    sys.setrecursionlimit(20_000)
    functions = _functions(given.clone)
    runs = [_run(case, functions[case.name, case.arguments]) for case in CASES if given.kernel in case.name]
    print(_summary([_compare(run, given.kinds) for run in runs]))
    if given.ablate:
        _ablate(runs)


def _summary(ratios: list[float]) -> str:
    off = math.exp(sum(abs(math.log(each)) for each in ratios) / len(ratios)) - 1
    within = sum(0.8 <= each <= 1.25 for each in ratios)
    return f"instructions: {100 * off:.1f}% off on average, {within} of {len(ratios)} within 25%"


def _ablate(runs: list[Run]) -> None:
    for name, own in list(vars(compiler).items()):
        if isinstance(own, Heuristic):
            setattr(compiler, name, structs.replace(own, is_on=False))
            ratios = [_ratio(run, laid_out(run.function)) for run in runs]
            print(f"without {own.name:18} {_summary(ratios)}: {' '.join(f'{ratio:.2f}' for ratio in ratios)}")
            setattr(compiler, name, own)


def _functions(clone: Path) -> dict[tuple[str, str], ir.Function]:
    os.chdir(clone)
    path = "src/runner.cu"
    unit = Listing(parse_file(path, parse_options(path, AnalysisOptions()), Path(path).read_bytes())).unit()
    found = {}
    for kernel in unit.kernels:
        own = [case for case in CASES if case.name == kernel.name]
        for reference in unit.instantiations(kernel.key) if kernel.templated else (kernel,):
            function = reference.load()
            if function is not None and own and f"<{own[0].arguments}" in f"{function.instantiation}<":
                found[kernel.name, own[0].arguments] = function
    return found


class Run(Struct, frozen=True, eq=False):
    """The first block of products of one tile with short inner dimensions."""

    case: Case
    function: ir.Function
    counts: Sequence[Mapping[Site, Executions]]
    seconds: float


def _run(case: Case, function: ir.Function) -> Run:
    rows, columns = case.tile
    counts = []
    begin = time.process_time()
    for inner in _SHORT:
        sizes = dict(zip(_PLACES, (rows, columns, inner), strict=True)) | {"alpha": 2.0, "beta": 3.0}
        arguments = {p: sizes[p.name] for p in function.parameters if p.name in sizes}
        trace = Machine(Lanes(case.block, (1, 1, 1), [(0, 0, 0)]), CountedProgram()).run(function, arguments)
        counts.append(trace.executions)
    if trace.unknown:
        print(f"{case.name}: {trace.unknown.most_common(5)}")
    return Run(case, function, counts, time.process_time() - begin)


def _works(run: Run, laid: Laid) -> tuple[dict[str, float], float]:
    """The instructions by kind, and the operations, of the large product."""
    short, long = (counted(laid, executions) for executions in run.counts)
    rows, columns = run.case.tile
    blocks = -(-_SIZE // rows) * -(-_SIZE // columns)
    kinds = {kind: blocks * _at(_SIZE, short.instructions[kind], own) for kind, own in long.instructions.items()}
    return kinds, blocks * _at(_SIZE, short.operations["fp32"], long.operations["fp32"])


def _ratio(run: Run, laid: Laid) -> float:
    kinds, _ = _works(run, laid)
    return sum(kinds.values()) / run.case.instructions


def _compare(run: Run, with_kinds: bool) -> float:
    case = run.case
    begin = time.process_time()
    laid = laid_out(run.function)
    walked = time.process_time() - begin
    kinds, operations = _works(run, laid)
    expected = 2 * _SIZE**3 + 3 * _SIZE**2
    total = sum(kinds.values())
    exactly = "exactly" if operations == expected else f"{operations / expected:.4f}"
    found = f"operations {exactly}, instructions {total:.3e} of {case.instructions:.2e}, {_ratio(run, laid):.2f}"
    print(f"{case.name:26} {found}  (executed in {run.seconds:.2f} s, walked in {walked:.2f} s)")
    if with_kinds:
        shares = Counter({kind: number / case.instructions for kind, number in kinds.items()})
        print("   " + ", ".join(f"{kind} {share:.3f}" for kind, share in shares.most_common()))
    return total / case.instructions


def _at(size: int, short: float, long: float) -> float:
    """The line through two points."""
    first, second = _SHORT
    return short + (long - short) / (second - first) * (size - first)


if __name__ == "__main__":
    main()
