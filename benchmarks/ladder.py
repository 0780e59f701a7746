"""The work of SGEMM_CUDA's twelve kernels by dependence, beside what an H100 counted at n = 2048.

    python benchmarks/ladder.py SGEMM_CUDA [--kernel TEXT] [--kinds]

SGEMM_CUDA is a clone of siboehm/SGEMM_CUDA. One block of each kernel is executed with two short inner dimensions; what
it does grows by the same with each step of that, and blocks are alike, so that larger products follow by arithmetic.
Operations are held against 2 M N K + 3 M N.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from pathlib import Path

from msgspec import Struct

from cudalint.execute.lanes import Extents, Lanes
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.frontend.parse_options import parse_options
from cudalint.ir import nodes as ir
from cudalint.measure.work.counts import Work, work_of
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
    given = parser.parse_args()
    sys.setrecursionlimit(20_000)
    functions = _functions(given.clone)
    errors = []
    for case in CASES:
        if given.kernel in case.name:
            errors.append(_compare(case, functions[case.name, case.arguments], given.kinds))
    off = math.exp(sum(abs(math.log(each)) for each in errors) / len(errors)) - 1
    within = sum(0.8 <= each <= 1.25 for each in errors)
    print(f"instructions: {100 * off:.1f}% off on average, {within} of {len(errors)} within 25%")


def _functions(clone: Path) -> dict[tuple[str, str], ir.Function]:
    os.chdir(clone)
    path = "src/runner.cu"
    unit = Listing(parse_file(path, parse_options(path, AnalysisOptions()), Path(path).read_bytes())).unit()
    found = {}
    for kernel in unit.kernels:
        for reference in unit.instantiations(kernel.key) if kernel.templated else (kernel,):
            function = reference.load()
            own = [case for case in CASES if case.name == kernel.name]
            if function is not None and own and f"<{own[0].arguments}" in f"{function.instantiation}<":
                found[kernel.name, own[0].arguments] = function
    return found


def _block(case: Case, function: ir.Function, inner: int) -> Work:
    """What the first block does in a product of `tile` with an inner dimension."""
    rows, columns = case.tile
    sizes = dict(zip(_PLACES, (rows, columns, inner), strict=True)) | {"alpha": 2.0, "beta": 3.0}
    arguments = {p: sizes[p.name] for p in function.parameters if p.name in sizes}
    works, trace = work_of(function, Lanes(case.block, (1, 1, 1), [(0, 0, 0)]), arguments)
    if trace.unknown:
        print(f"  unknown: {trace.unknown.most_common(5)}")
    return works[0]


def _compare(case: Case, function: ir.Function, kinds: bool) -> float:
    begin = time.process_time()
    short, long = (_block(case, function, inner) for inner in _SHORT)
    seconds = time.process_time() - begin
    rows, columns = case.tile
    blocks = -(-_SIZE // rows) * -(-_SIZE // columns)
    instructions = {
        kind: blocks * _at(_SIZE, short.instructions[kind], long.instructions[kind]) for kind in long.instructions
    }
    operations = blocks * _at(_SIZE, short.operations["fp32"], long.operations["fp32"])
    expected = 2 * _SIZE**3 + 3 * _SIZE**2
    total = sum(instructions.values())
    ratio = total / case.instructions
    found = f"operations {operations / expected:.4f}, instructions {total:.3e} of {case.instructions:.2e}, {ratio:.2f}"
    print(f"{case.name:26} {found}  ({seconds:.1f} s)")
    if kinds:
        shares = Counter({kind: number / case.instructions for kind, number in instructions.items()})
        print("   " + ", ".join(f"{kind} {share:.3f}" for kind, share in shares.most_common()))
    return ratio


def _at(size: int, short: float, long: float) -> float:
    """The line through two points."""
    first, second = _SHORT
    return short + (long - short) / (second - first) * (size - first)


if __name__ == "__main__":
    main()
