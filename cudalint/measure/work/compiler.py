"""What is assumed of the compiler, each by name: see `heuristics.py`.

The evidence is machine code of nvcc 13.0 for sm_90 (`-O3`, nvdisasm) of a dozen matrix products, and, where that is
named, LLVM, which the compiler is made of. Arithmetic that takes a jump in compiled code treats large or tiny arguments
separately, or calls a routine: what stands before and behind a jump is not merged into one wide access.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.ir.kept import kept
from cudalint.measure.work.terms import Term, added, below, linear

if TYPE_CHECKING:
    from cudalint.measure.work.graph import Loop, Scope

HOISTING = heuristic("work-hoisting", "SASS: a value that no turn changes is computed before the loop")
CONTRACTION = heuristic("work-contraction", "nvcc's default, -fmad=true: a product that is added to is one FFMA")
UNROLLING = heuristic("work-unrolling", "LLVM: loops of known length are unrolled in full up to a size, others copied")
STEPPING = heuristic("work-stepping", "SASS: an address that grows by the same in each turn is one addition in it")
OFFSETS = heuristic("work-offsets", "SASS: loads and stores add a constant of 24 bits to their address for nothing")
FORWARDING = heuristic("work-forwarding", "PTX: what a thread has stored is not loaded again; stores beside it keep it")
WIDE = heuristic("work-wide", "SASS: neighbouring words of shared memory that a thread loads are one LDS.64 or LDS.128")
HALVES = heuristic("work-halves", "SASS: of a 64-bit integer of which the lower half is used only that is loaded")
PREDICATION = heuristic("work-predication", "SASS: a few instructions under a condition are executed without a jump")
PRODUCTS = heuristic("work-products", "SASS: IMAD and LEA multiply and add in one instruction")
INDICES = heuristic("work-indices", "SASS: IMAD.WIDE makes an address of a base and an index, which others share")
PARAMETERS = heuristic("work-parameters", "SASS: LDC or ULDC loads each argument of a kernel that something asks for")
ENTRY = heuristic("work-entry", "SASS of any kernel: the stack's pointer, EXIT, and the descriptor of global memory")
BULK = heuristic("work-bulk", "SASS: a copy of aligned 16 bytes under a cuda::barrier is a bulk copy for each lane")
REPEATS = heuristic("repeated-loads", "counters of cuda-samples: a value is loaded once while nothing changes it")
UNUSED = heuristic("unused-fields", "counters: fields of copied records that nobody reads or changes")

VARIABLE: Final = "variable"
"""A step that is the same in all turns, and no constant."""
MOST_UNROLLED: Final = 1200
"""Instructions of LLVM that a loop may become that is unrolled in full: its threshold of 300, times 4, as it raises it
where unrolling makes most of them constant (`-unroll-threshold`, `-unroll-max-percent-threshold-boost`)."""
_MOST_COPIED: Final = 256
"""The same where it is copied a few times (PTX of some thirty loops of 7 to 136 instructions, nvcc 13.0)."""
_COPIES: Final = (32, 16, 8, 4, 2, 1)
_OF_UNKNOWN: Final = 4
"""The most of a loop whose length is not known, or odd."""
_MOST_AGAIN: Final = 32
"""What the assembler copies once more (machine code of loops of 1 to 29 products: those of 4 still are)."""
_BACK: Final = 2
"""The test and the jump back, which copies have once."""
_WEIGHTS: Final = {
    "parameter": 0, "field": 0, "select": 0, "flag": 0, "negated": 0, "sum": 0, "load": 2, "store": 2, "variable": 2,
}  # fmt: skip
_MOST_PREDICATED: Final = 8
"""Instructions of LLVM under a condition that are executed without a jump."""


def operands(term: Term, use: str = "value") -> list[tuple[Term, str]]:
    """What computing a term asks for, and as what; of a sum, each part by itself."""
    if use == "test" and term.type.kind == "bool":
        return [(each, "test") for each in term.arguments if isinstance(each, Term)]
    if term.op == "variable":
        return _of_variable(term)
    if term.op == "load":
        return [(each, "address") for each in term.arguments if isinstance(each, Term)]
    if term.op in ("+", "-") and term.type.kind == "float" and CONTRACTION.is_on:
        for at, each in enumerate(term.arguments):
            inner = each.arguments[0] if isinstance(each, Term) and each.op == "negated" else each
            if isinstance(inner, Term) and inner.op == "*" and inner.type == term.type:
                term.is_fused = True
                given = (*inner.arguments, term.arguments[1 - at])
                return [(each, "value") for each in given if isinstance(each, Term)]
    return [(each, "value") for each in term.arguments if isinstance(each, Term)]


def _of_variable(term: Term) -> list[tuple[Term, str]]:
    """Of a variable of a loop that is left: its first value, and what it becomes in a turn."""
    loop = term.info
    if not loop.is_closed:
        return []
    found = [each for each in term.arguments if isinstance(each, Term)]
    after = loop.variables.get(term)
    if loop.steps.get(term) is None and isinstance(after, Term):
        found.append(after)
    return [(each, "value") for each in found]


def weight(term: Term) -> int:
    """Roughly how many instructions of LLVM a term is."""
    return _WEIGHTS.get(term.op, 1)


def is_predicated(sides: Sequence[Scope]) -> bool:
    """Whether both sides of a branch are executed without a jump."""
    return PREDICATION.is_on and all(side.size <= _MOST_PREDICATED for side in sides)


def copies(loop: Loop) -> int:
    """Of the body of a loop whose length is not known, or that is too long to unroll in full: a power of two, of which
    a length that is known to be even is a multiple, while others have a rest. How long it is has to be the same for all
    threads of a warp, and known before it turns."""
    if not UNROLLING.is_on or loop.is_whole or loop.asked == 1:
        return 1
    if loop.asked:
        return int(loop.asked)
    turns = length(loop)
    if turns is None and any(_differs(term) for term in below((loop.test,))):
        return 1
    most = turns & -turns if turns is not None and turns % 2 == 0 else _OF_UNKNOWN
    body = loop.scope.size - _BACK
    fitting = (number for number in _COPIES if number <= most and body * number <= _MOST_COPIED)
    return next(fitting, 1)


def copies_again(loop: Loop) -> int:
    """How often the assembler copies the copies of a loop, with one test for all: of a short one whose length is not
    known."""
    body = loop.scope.size - _BACK
    is_short = UNROLLING.is_on and loop.merged == _OF_UNKNOWN and not loop.asked and body * loop.merged <= _MOST_AGAIN
    return _OF_UNKNOWN if is_short and length(loop) is None else 1


def _differs(term: Term) -> bool:
    """Whether it may be another one in each thread, or data."""
    return term.op in ("load", "atomic", "call") or (term.op == "special" and term.info.startswith("threadIdx"))


def length(loop: Loop) -> int | None:
    """How many turns a loop has, where the source says that."""
    test = loop.test
    if not isinstance(test, Term) or test.op not in ("<", "<=", ">", ">=", "!="):
        return None
    left, right = map(linear, test.arguments)
    if left is None or right is None:
        return None
    parts = added(left[0], right[0], -1)
    if len(parts) != 1 or parts[0].term not in loop.starts:
        return None
    start, step = loop.starts[parts[0].term], loop.steps.get(parts[0].term)
    if type(start) is not int or type(step) is not int or not step:
        return None
    # The difference of both sides at the first turn, and what a turn adds to it.
    first, by = parts[0].factor * start + left[1] - right[1], parts[0].factor * step
    if test.op[0] == ("<" if by < 0 else ">"):
        return None
    if len(test.op) == 2 and test.op != "!=":
        first -= 1 if by > 0 else -1
    return max(0, -(first // by))


def step_of(term: Any, loop: Loop) -> Any:
    """What is added to a term in each turn of a loop: a number, VARIABLE, or None where it is not the same."""
    if not isinstance(term, Term) or loop not in term.loops:
        return 0
    if not STEPPING.is_on:
        return None
    if term.is_sum:
        total: Any = 0
        for part, factor in term.parts:
            step = step_of(part, loop)
            if step is None:
                return None
            total = VARIABLE if VARIABLE in (step, total) else total + step * factor
        return total
    if term.op == "variable":
        return loop.steps.get(term)
    if term.op == "*" and term.is_integer:
        steps = [step_of(each, loop) for each in term.arguments]
        return VARIABLE if steps.count(0) == 1 and None not in steps else None
    return None


# --- arithmetic that takes a jump ----------------------------------------------------------------------


_SLOW_PATHS = heuristic("slow-paths", "SASS of divisions and library functions: their jumps end straight-line code")
_NO_ARITHMETIC = ("__", "atomic", "clock")


class Separation(NamedTuple):
    """What may not be merged across a piece of code."""

    loads: bool = False
    stores: bool = False
    for_compiler: bool = False
    """Not only for the assembler: PTX has a jump there, too."""


@kept(4096)
def separation_of(code: Any) -> Separation:
    """Of an expression, or a statement that holds no others."""
    if not _SLOW_PATHS.is_on:
        return Separation()
    return Separation(*map(any, zip(*map(_jumps, walk.walk(code)), strict=True)))


def _jumps(node: object) -> Separation:
    """Of one operation."""
    match node:
        case ir.Binary(op="/", right=right, type=ir.Scalar(kind="float")):
            divides = not _is_power_of_two(right)
            return Separation(divides, divides)
        case ir.Binary(op="/" | "%", right=right, type=ir.Scalar(kind="int" | "uint", bytes=bytes_)):
            divides = not isinstance(right, ir.Constant)
            return Separation(divides and bytes_ == 8, divides)
    if not _is_library_call(node):
        return Separation()
    known = builtin(node.name)
    loads = known.jumps in ("assembler", "compiler")
    takes_long = known.jumps != "never" and known.computes and not node.name.startswith(_NO_ARITHMETIC)
    stores = bool(loads or takes_long)
    return Separation(loads, stores, stores and known.jumps != "assembler")


def _is_library_call(node: object) -> TypeGuard[ir.Call]:
    if not isinstance(node, ir.Call) or node.callee is not None:
        return False
    return node.function is None or not node.function.is_user


def _is_power_of_two(divisor: ir.Expr) -> bool:
    """Whether the compiler multiplies by the reciprocal, since that is exact."""
    divisor = walk.without_casts(divisor)
    if not isinstance(divisor, ir.Constant) or not isinstance(divisor.value, (int, float)):
        return False
    return is_power_of_two(divisor.value)


def is_power_of_two(value: int | float) -> bool:
    """Whether the absolute value of a number of the source is one; zero, infinity and what is no number are none. C has
    no limit for the digits of a constant, so that an integer may be beyond what a float or a machine's integer holds.
    """
    if isinstance(value, int):
        size = abs(int(value))
        return size != 0 and size & (size - 1) == 0
    return abs(frexp(value)[0]) == 0.5
