"""Sets the estimate of kernels' registers beside what nvcc gives them.

usage: python benchmarks/registers.py FILES-OR-FOLDERS... [-I FOLDER] [--sample N] [--seed N] [--list]
       python benchmarks/registers.py --operations

Needs nvcc, and no GPU. Compiles each file for sm_80 (what nvcc says is kept, as `--ptxas` keeps it) and prints how far
the estimate is off, and how often it is above what nvcc takes by a step or more in which registers are given to warps;
then the same of the least that facts make of it. Then what that least says of the occupancy, for blocks of 128, 256,
512 and 1024 threads with the kernel's static shared memory: whether registers alone limit it, whether as many blocks
fit as it leaves room for at most, and what would be said without. --sample takes so many of the files, drawn by the
seed, --list prints each kernel. --operations prints the registers that divisions and functions take beside their
operands, which are constants of the estimate.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType

from msgspec import Struct

from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.frontend.parse_options import parse_options
from cudalint.hardware.occupancy import occupancy
from cudalint.hardware.targets import find_target
from cudalint.ir import kept
from cudalint.ir import nodes as ir
from cudalint.measure.work.counts import laid_out
from cudalint.measure.work.registers import at_least, registers_of
from cudalint.options.analysis import AnalysisOptions
from cudalint.toolchain.toolkit.nvcc import Compilation, compiled_usage
from cudalint.toolchain.toolkit.usage import Usage, UsageError, usage_of

_TARGET = find_target("a100")
_BLOCKS = (128, 256, 512, 1024)
_STEP = 8
"""Registers per thread: 256 are given to a warp at once."""
_SECONDS = 60
"""For a file."""
_MOST_OF_FILE = 6
"""Kernels of a file that are compared, so that no file of many templates has a say of its own."""


class Row(Struct, frozen=True):
    """One kernel."""

    path: str
    kernel: str
    estimate: int
    registers: int
    shared: int

    @property
    def error(self) -> float:
        return (self.estimate - self.registers) / self.registers


class TakesTooLong(Exception):
    pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--operations", action="store_true")
    given = parser.parse_args()
    sys.setrecursionlimit(20_000)
    if given.operations:
        _print_operations()
        return
    files = sorted(file for path in given.paths for file in ([path] if path.is_file() else path.rglob("*.cu")))
    files = [file for file in files if b"__global__" in file.read_bytes()]
    if given.sample is not None:
        files = sorted(random.Random(given.seed).sample(files, min(given.sample, len(files))))
    rows = [row for file in files for row in _rows(file, given.include)]
    if given.list:
        for row in sorted(rows, key=lambda each: each.error):
            print(f"{row.estimate:4} of {row.registers:3}  {row.kernel[:60]}  {row.path}")
    _summarise(rows)


def _rows(path: Path, include: Sequence[str]) -> list[Row]:
    folders = (*include, str(path.parent), str(path.parent / "../include"))
    options = AnalysisOptions(include_dirs=folders)
    signal.signal(signal.SIGALRM, _give_up)
    found: list[Row] = []
    try:
        known = compiled_usage(Compilation(str(path), "sm_80", folders, std="c++17"))
        signal.alarm(_SECONDS)
        unit = Listing(parse_file(str(path), parse_options(str(path), options), path.read_bytes())).unit()
        for kernel in unit.kernels:
            for reference in unit.instantiations(kernel.key) if kernel.templated else (kernel,):
                row = _row(path, reference, known)
                found += [row] if row is not None and len(found) < _MOST_OF_FILE else []
    except UsageError as error:
        print(f"{path}: {error}", file=sys.stderr)
    except TakesTooLong:
        print(f"{path}: takes longer than {_SECONDS} s", file=sys.stderr)
    finally:
        signal.alarm(0)
        kept.forget()
    return found


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TakesTooLong


def _row(path: Path, reference: ir.FunctionRef, known: dict[str, Usage]) -> Row | None:
    function = reference.load()
    usage = usage_of(reference.name, reference.linkage_name(), known) if function is not None else None
    if function is None or usage is None:
        return None
    estimate = registers_of(laid_out(function, _TARGET.compute_capability))
    return Row(str(path), function.instantiation, estimate, usage.registers, usage.static_shared_bytes or 0)


def _summarise(rows: Sequence[Row]) -> None:
    # Where both let all threads be resident that there can be, the figure is of no interest.
    enough = _TARGET.registers_per_sm // _TARGET.max_threads_per_sm
    for name, chosen in (("all", rows), (f"over {enough}", [r for r in rows if max(r.estimate, r.registers) > enough])):
        if not chosen:
            continue
        off = sorted(abs(row.error) for row in chosen)
        above = sum(_steps(row.estimate) > _steps(row.registers) for row in chosen)
        least_above = sum(_steps(at_least(row.estimate)) > _steps(row.registers) for row in chosen)
        print(
            f"{name}: {len(chosen)} kernels, off by {statistics.median(off):.0%} (median), "
            f"{off[int(0.9 * len(off))]:.0%} (90th percentile); "
            f"within 25%: {sum(each <= 0.25 for each in off) / len(off):.0%}; "
            f"above by a step or more: {above / len(off):.0%}; the least of it: {least_above}"
        )
    cases = [case for row in rows for case in _cases(row)]
    said, meant = [case.said for case in cases], [case.meant for case in cases]
    both = sum(s and m for s, m in zip(said, meant, strict=True))
    lowered = [case.real <= case.blocks for case in cases if case.blocks < case.without]
    print(
        f"registers alone limit {sum(meant)} of {len(cases)} launches, said of {sum(said)}, rightly of {both}; "
        f"at most as many blocks as said: {_share(c.real <= c.blocks for c in cases)}, "
        f"as many: {_share(c.real == c.blocks for c in cases)} "
        f"(without the estimate {_share(c.real == c.without for c in cases)}); "
        f"where fewer are said than without, at most so many: {sum(lowered)} of {len(lowered)}"
    )


def _share(holds: Iterable[bool]) -> str:
    found = list(holds)
    return f"{sum(found) / max(1, len(found)):.0%}"


def _steps(registers: int) -> int:
    return -(-registers // _STEP)


class Case(Struct, frozen=True):
    """A kernel in a block."""

    said: bool
    """That registers alone limit how many blocks fit."""
    meant: bool
    blocks: int
    """As many as the least leaves room for."""
    real: int
    without: int
    """As many as there is room for beside registers."""


def _cases(row: Row) -> Iterator[Case]:
    for threads in _BLOCKS:
        counts = row.registers, at_least(row.estimate), None
        real, said, without = (occupancy(_TARGET, threads, each, row.shared) for each in counts)
        if real.launchable:
            alone = ("registers",)
            yield Case(
                said.limiters == alone, real.limiters == alone, said.blocks_per_sm, real.blocks_per_sm,
                without.blocks_per_sm,
            )  # fmt: skip


# --- operations ------------------------------------------------------------------------------------------

_OF_TWO = ("x*y", "x/y", "atan2(x,y)", "pow(x,y)", "hypot(x,y)")
_OF_ONE = (
    "sqrt rsqrt sin cos tan asin acos atan exp exp2 expm1 log log2 log10 log1p tanh sinh cosh erf erfc cbrt lgamma"
)
_OF_FLOATS = [*_OF_TWO, "1/x", *(f"{name}(x)" for name in _OF_ONE.split())]
_OPERATIONS = {
    "float": _OF_FLOATS, "double": _OF_FLOATS, "int": ["x*y", "x/y", "x/7"], "unsigned": ["x*y", "x/y", "x/7"],
    "long long": ["x*y", "x/y", "x/7"],
}  # fmt: skip
_KERNEL = """extern "C" __global__ void k{number}({type} *a, {type} *b) {{
    int i = threadIdx.x;
    {type} v[8];
    for (int j = 0; j < 8; j++) v[j] = a[i * 8 + j];
    {type} x = v[0], y = v[1], r = {operation};
    b[i] = r;
    for (int j = 2; j < 8; j++) r = r * v[j] + v[j - 1];
    b[i + 1024] = r;
}}
"""


def _print_operations() -> None:
    """Registers beside those of a product, of each type and operation."""
    asked = [(type_, operation) for type_, all_ in _OPERATIONS.items() for operation in all_]
    texts = (_KERNEL.format(number=n, type=t, operation=o) for n, (t, o) in enumerate(asked))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "operations.cu"
        source.write_text("".join(texts))
        command = ["nvcc", "-cubin", "-arch=sm_80", "-Xptxas", "-v", "-o", f"{folder}/out", str(source)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.findall(r"entry function 'k(\d+)'.*?Used (\d+) registers", said, re.DOTALL)
    registers = {int(number): int(used) for number, used in found}
    products = {type_: registers[n] for n, (type_, operation) in enumerate(asked) if operation == "x*y"}
    for n, (type_, operation) in enumerate(asked):
        print(f"{type_:10} {operation:12} {max(0, registers[n] - products[type_])}")


if __name__ == "__main__":
    main()
