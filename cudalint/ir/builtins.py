"""The functions that CUDA and its C library bring along: one record for each, with all that is known of it.

What a call of one does to values and memory is the interpreter's, which has a handler for each effect that is named
here (`cudalint/execute/library/` for kernels, `cudalint/host/executor/library.py` for host code). A function
without an effect is executed as any other that has no body in sight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from cudalint.facts.needs import Support
from cudalint.hardware.features import SM_80, SM_90

Jumps = Literal["unknown", "never", "assembler", "compiler"]


class Sequence(NamedTuple):
    """Machine code: instructions, all of them; and operations, of which a fused multiply-add is two."""

    instructions: float
    fp32: float = 0.0
    fp64: float = 0.0
    special: float = 0.0
    """A conversion between numbers of 32 bits counts a quarter: four times as many are done per clock."""
    fp16: float = 0.0


class Builtin(Struct, frozen=True):
    """What is known of one function."""

    effect: str = ""
    """What a kernel that calls it does."""
    operand: str = ""
    """What distinguishes functions of one effect: an operator, a function of numbers, a direction."""
    host: str = ""
    """What host code that calls it does, where that is something else; `unknown` where nothing is known of it there."""
    work: Sequence | None = None
    """Its machine code, whatever it is given."""
    single: Sequence | None = None
    double: Sequence | None = None
    """The same, where it depends on the type of the first argument."""
    jumps: Jumps = "unknown"
    """Whether its machine code has jumps, which nothing is merged across: those that the assembler puts in are unknown
    to the compiler proper. One of which that is unknown has none, and keeps stores from being merged all the same."""
    weight: float = 4.0
    """Roughly how many instructions it counts for, where the compiler weighs whether to jump over it."""
    quick: str = ""
    """The function that computes nearly the same in single precision, in a few instructions."""
    support: Support | None = None
    """The GPUs that have it, if not all of them have."""
    temporaries: tuple[int, int] = (0, 0)
    """Registers that it takes meanwhile, beside its arguments and its result: of floats, and of doubles."""

    @property
    def computes(self) -> bool:
        """It makes a number of numbers, and does nothing else."""
        has_code = self.work is not None or self.single is not None or self.jumps != "unknown"
        return self.effect in _COMPUTING or (not self.effect and has_code)

    @property
    def is_followed(self) -> bool:
        """All that it does is in what an execution leaves behind: what it computes, what it reads and writes, and which
        threads wait there. Whatever is not known to be so may be output, or memory that nobody sees."""
        return self.computes or self.effect in _FOLLOWED


_COMPUTING: Final = frozenset({
    "absolute", "bits", "converted", "extremum", "function", "fused", "high-product", "operator", "power", "rounded",
})  # fmt: skip
_FOLLOWED: Final = frozenset({
    "active-mask", "assumed", "assumed-alignment", "atomic", "barrier", "copied-bytes", "copied-range", "filled",
    "first-argument", "group-barrier", "group-reduce", "group-shuffle", "group-vote", "implies", "load", "load-matrix",
    "masked-shuffle", "masked-vote", "match", "of-rank", "rank", "shuffle", "sine-and-cosine", "stated", "store",
    "store-matrix", "stride", "uniform", "unmasked-vote", "warp-barrier",
})  # fmt: skip

DIVISIONS: Final[Mapping[tuple[str, str], Sequence]] = {
    ("float", "number"): Sequence(9, 10, special=1),
    ("float", "constant"): Sequence(9, 10),
    ("float", "power"): Sequence(1, 1),
    ("float", "reciprocal"): Sequence(8, 5, special=1),
    ("double", "number"): Sequence(15, 2, 15, special=1),
    ("double", "constant"): Sequence(15, 2, 15, special=1),
    ("double", "power"): Sequence(1, 0, 1),
    ("double", "reciprocal"): Sequence(9, 0, 10, special=1),
    ("int", "number"): Sequence(22, special=1.5),
    ("int", "constant"): Sequence(4),
    ("int", "power"): Sequence(2),
    ("long", "number"): Sequence(25, special=1.5),
    ("long", "constant"): Sequence(16),
    ("long", "power"): Sequence(3),
}
"""By the type and by what is divided by; `reciprocal` is one divided by something."""

_NOTHING: Final = Sequence(0)
_ONE: Final = Sequence(1)
_OF_A_WORD: Final = Sequence(1, special=1)
_ROOT: Final = Sequence(8, 6, special=1)
_ROOT_OF_DOUBLES: Final = Sequence(16, 0, 13, special=1)
_SQUARE: Final = {4: Sequence(72, 58, special=2.25), 8: Sequence(4, 0, 1)}
"""`pow(x, 2)`: nvcc makes a product of it for doubles alone."""
_CALL: Final = Sequence(2)
"""Anything else: an atomic, a shuffle, a barrier."""
_WITHOUT_CODE: Final = "make_"
"""What begins so puts a vector together."""
_EVERYWHERE: Final = ("", "_block", "_system")


# Registers by `ptxas -v` (13.0, sm_80) of a kernel that calls one between its uses of eight other values, less those of
# the same kernel with a product in its place: `python benchmarks/registers.py --operations` prints them.
_TEMPORARIES: Final[Mapping[str, tuple[int, int]]] = {
    "sqrt": (0, 8), "rsqrt": (0, 5), "sin": (11, 16), "cos": (11, 16), "tan": (11, 12), "asin": (0, 8), "acos": (0, 12),
    "atan": (0, 6), "atan2": (5, 14), "exp": (0, 6), "exp2": (0, 6), "expm1": (1, 5), "log": (2, 8), "log2": (2, 8),
    "log10": (2, 8), "log1p": (4, 14), "tanh": (2, 6), "sinh": (2, 18), "cosh": (0, 4), "erf": (3, 6), "erfc": (4, 8),
    "cbrt": (4, 8), "lgamma": (4, 22), "pow": (5, 14), "hypot": (3, 6),
}  # fmt: skip


def _each_of(names: str, builtin: Builtin) -> dict[str, Builtin]:
    return dict.fromkeys(names.split(), builtin)


def _pair(
    name: str,
    single: Sequence,
    double: Sequence | None,
    effect: str = "",
    operand: str = "",
    jumps: tuple[Jumps, Jumps] = ("unknown", "unknown"),
    weight: tuple[float, float] = (4.0, 4.0),
    quick: str = "",
) -> dict[str, Builtin]:
    """A function of the C library, which C++ overloads, and its namesake of floats: `sqrt` and `sqrtf`."""
    held = _TEMPORARIES.get(name, (0, 0))
    return {
        name: Builtin(effect, operand, "", None, single, double, jumps[0], weight[0], quick, temporaries=held),
        f"{name}f": Builtin(effect, operand, "", None, single, single, jumps[1], weight[1], quick, temporaries=held),
    }


def _rounding(name: str, double: Sequence, single: Sequence, never: Jumps = "never") -> dict[str, Builtin]:
    of = {"nearbyint": "rint"}.get(name, name)
    return _pair(name, single, double, "function", of, (never, "never"))


# Machine code is read from what nvcc 13.0 -O3 makes for sm_90 of a kernel for each (`b[t] = f(a[t])`), without the
# instructions around it: the path that ordinary numbers take, so without the branches for denormal, infinite and huge
# ones. An instruction under a predicate counts half, one that only scales denormal numbers nothing. Where the path runs
# through a routine of its own (`pow`) or a branch has the usual numbers (`sin` of a double), that is counted in. Other
# architectures since 7.0 have the same sequences up to an instruction or two.
#
# Jumps are read from loops over shared arrays of 64 elements (nvcc 13.0, sm_90), one for each of some ninety functions,
# `sum += f(t[i])` for loads and `t[i] = f(x)` for stores: most functions take selects instead of jumps, and of these
# some keep stores from being merged all the same.
_MATHEMATICS: Final[Mapping[str, Builtin]] = {
    **_pair("sqrt", _ROOT, _ROOT_OF_DOUBLES, "function", "sqrt", ("assembler", "assembler"), (8, 8)),
    **_pair("rsqrt", Sequence(4, 1, special=1), Sequence(12, 0, 8, special=1), "function", "rsqrt",
            ("compiler", "never"), (8, 8)),
    **_pair("sin", Sequence(26, 18, special=0.25), Sequence(36, 0, 25, special=2), "function", "sin",
            ("compiler", "compiler"), (24, 24), "__sinf"),
    **_pair("cos", Sequence(27, 18, special=0.25), Sequence(37, 0, 25, special=2), "function", "cos",
            ("compiler", "compiler"), (24, 24), "__cosf"),
    **_pair("tan", Sequence(23, 20, special=1.25), Sequence(75, 0, 55, special=3), "function", "tan",
            ("compiler", "compiler"), (4, 24)),
    **_pair("sincos", Sequence(30, 24, special=0.25), Sequence(70, 0, 37, special=2), "sine-and-cosine",
            jumps=("compiler", "compiler")),
    **_pair("sinpi", Sequence(20, 16, special=1), None),
    **_pair("cospi", Sequence(20, 16, special=1), None),
    **_pair("sincospi", Sequence(30, 24, special=2.25), None),
    **_pair("asin", Sequence(25, 22, special=1), Sequence(75, 0, 46, special=1), "function", "asin",
            ("unknown", "never")),
    **_pair("acos", Sequence(26, 23.5, special=1), Sequence(74, 0, 44, special=1), "function", "acos",
            ("unknown", "never")),
    **_pair("atan", Sequence(19, 19, special=1), Sequence(80, 0, 48, special=1), "function", "atan"),
    **_pair("atan2", Sequence(40, 31, special=1), Sequence(110, 2, 66, special=1), jumps=("compiler", "compiler")),
    **_pair("exp", Sequence(10, 10, special=1), Sequence(45, 0, 28), "function", "exp", ("unknown", "never"), (24, 8),
            "__expf"),
    **_pair("exp2", Sequence(4, special=1), Sequence(45, 0, 27), "function", "exp2", ("unknown", "never"), (4, 8)),
    **_pair("exp10", Sequence(10, 10, special=1), Sequence(50, 0, 30), jumps=("unknown", "never"), quick="__exp10f"),
    **_pair("expm1", Sequence(29, 22, special=2), Sequence(55, 0, 36), jumps=("unknown", "never")),
    **_pair("log", Sequence(28, 24), Sequence(70, 0, 44, special=1), "function", "log", weight=(24, 8), quick="__logf"),
    **_pair("log2", Sequence(30, 26), Sequence(76, 0, 47, special=1), "function", "log2", weight=(4, 8),
            quick="__log2f"),
    **_pair("log10", Sequence(29, 25), Sequence(76, 0, 47, special=1), "function", "log10", quick="__log10f"),
    **_pair("log1p", Sequence(31, 26), Sequence(80, 0, 50, special=1)),
    **_pair("tanh", Sequence(17, 14, special=2), Sequence(65, 1, 36, special=1), jumps=("unknown", "never"),
            weight=(4, 24), quick="__tanhf"),
    **_pair("sinh", Sequence(25, 20, special=3), Sequence(70, 0, 45, special=1), jumps=("unknown", "never")),
    **_pair("cosh", Sequence(16, 11, special=3), Sequence(59, 0, 38, special=1), jumps=("unknown", "never")),
    **_pair("erf", Sequence(30, 15.5, special=1), Sequence(120, 1, 78, special=1), jumps=("never", "unknown"),
            weight=(4, 24)),
    **_pair("erfc", Sequence(48, 53.5, special=4), Sequence(170, 0, 110, special=1)),
    **_pair("cbrt", Sequence(16, 10, special=2), Sequence(44, 2, 15, special=5.25), jumps=("unknown", "never")),
    **_pair("lgamma", Sequence(100, 81, special=3.25), Sequence(160, 0, 100, special=1),
            jumps=("compiler", "compiler")),
    **_pair("tgamma", Sequence(130, 120, special=6.75), Sequence(140, 0, 90, special=1),
            jumps=("compiler", "compiler")),
    **_pair("normcdf", Sequence(65, 63.5, special=4), Sequence(190, 0, 125, special=1)),
    **_pair("pow", Sequence(72, 58, special=2.25), Sequence(225, 0, 123, special=1), "power", "",
            ("compiler", "compiler"), (24, 24), "__powf"),
    **_pair("hypot", Sequence(23, 13.5, special=1), Sequence(44, 0, 17, special=1), jumps=("never", "compiler")),
    **_pair("fdim", Sequence(3, 1), Sequence(5, 0, 1), jumps=("unknown", "never")),
    **_pair("fma", Sequence(1, 2), Sequence(1, 0, 2), "fused", "", ("never", "never"), (1, 1)),
    **_rounding("floor", _OF_A_WORD, _OF_A_WORD),
    **_rounding("ceil", _OF_A_WORD, _OF_A_WORD),
    **_rounding("trunc", _OF_A_WORD, _OF_A_WORD),
    **_rounding("rint", _OF_A_WORD, _OF_A_WORD),
    **_rounding("nearbyint", _OF_A_WORD, _OF_A_WORD, "unknown"),
    **_rounding("round", Sequence(5, 0, 1, special=1), Sequence(4, 1, special=1)),
    **_each_of("abs fabs fabsf", Builtin("absolute", single=_NOTHING, double=_NOTHING, jumps="never", weight=1)),
    **_each_of("labs llabs", Builtin("absolute")),
    **_each_of("min fminf", Builtin("extremum", "min", work=_ONE, jumps="never", weight=1)),
    **_each_of("max fmaxf", Builtin("extremum", "max", work=_ONE, jumps="never", weight=1)),
    "fmin": Builtin("extremum", "min", work=_ONE, double=Sequence(8), jumps="never", weight=1),
    "fmax": Builtin("extremum", "max", work=_ONE, double=Sequence(8), jumps="never", weight=1),
    **_each_of("umin llmin ullmin __vmins2", Builtin("extremum", "min")),
    **_each_of("umax llmax ullmax", Builtin("extremum", "max")),
    **_each_of("fmodf remainderf", Builtin(work=Sequence(30, 12, special=1), jumps="compiler")),
    **_each_of("fmod remainder", Builtin(work=Sequence(60, 0, 6, special=1), jumps="compiler")),
    **_each_of("j0 j0f j1 j1f y0 y0f y1 y1f", Builtin(jumps="compiler")),
    "rcbrtf": Builtin(jumps="never"),
    "copysign": Builtin(work=Sequence(2)),
    "copysignf": Builtin(work=Sequence(2), jumps="never"),
    **_each_of(
        "isfinite isinf isnan signbit finite isnanf isinff finitef __signbit __signbitf __isnan __isnanf __isinf"
        " __isinff __finite __finitef",
        Builtin(work=Sequence(2)),
    ),
}  # fmt: skip
_INTRINSICS: Final[Mapping[str, Builtin]] = {
    "__sinf": Builtin("function", "sin", work=Sequence(2, 1, special=1)),
    "__cosf": Builtin("function", "cos", work=Sequence(2, 1, special=1)),
    "__tanf": Builtin("function", "tan", work=Sequence(8, 2, special=3)),
    "__sincosf": Builtin("sine-and-cosine"),
    "__expf": Builtin("function", "exp", work=Sequence(3, 1, special=1)),
    "__exp10f": Builtin(work=Sequence(3, 1, special=1)),
    "__logf": Builtin("function", "log", work=Sequence(3, 1, special=1)),
    "__log2f": Builtin("function", "log2", work=Sequence(2, special=1)),
    "__log10f": Builtin("function", "log10", work=Sequence(3, 1, special=1)),
    "__powf": Builtin("power", work=Sequence(6, 1, special=2)),
    "__fdividef": Builtin("operator", "/", work=Sequence(3, 1, special=1), weight=8),
    "fdividef": Builtin("operator", "/", work=DIVISIONS["float", "number"]),
    "__fdiv_rn": Builtin("operator", "/", work=DIVISIONS["float", "number"], jumps="assembler"),
    "__ddiv_rn": Builtin("operator", "/", work=DIVISIONS["double", "number"], jumps="assembler"),
    "__frcp_rn": Builtin(work=DIVISIONS["float", "reciprocal"], jumps="assembler"),
    "__drcp_rn": Builtin(jumps="assembler"),
    "__fsqrt_rn": Builtin(work=_ROOT, jumps="assembler"),
    "__dsqrt_rn": Builtin(work=_ROOT_OF_DOUBLES, jumps="assembler"),
    "__frsqrt_rn": Builtin(work=Sequence(20, 12, special=2)),
    "__saturatef": Builtin(work=Sequence(1, 1)),
    "__fadd_rn": Builtin("operator", "+", work=Sequence(1, 1)),
    "__fsub_rn": Builtin("operator", "-", work=Sequence(1, 1)),
    "__fmul_rn": Builtin("operator", "*", work=Sequence(1, 1)),
    "__dadd_rn": Builtin("operator", "+", work=Sequence(1, 0, 1)),
    "__dsub_rn": Builtin("operator", "-", work=Sequence(1, 0, 1)),
    "__dmul_rn": Builtin("operator", "*", work=Sequence(1, 0, 1)),
    "__fmaf_rn": Builtin("fused", work=Sequence(1, 2)),
    "__fma_rn": Builtin("fused", work=Sequence(1, 0, 2)),
    **_each_of("__mul24 __umul24", Builtin("operator", "*", work=_ONE)),
    **_each_of("__mad24 __umad24", Builtin("fused")),
    **_each_of("__mulhi __umulhi", Builtin("high-product", work=Sequence(2))),
    **_each_of("__hadd __hsub __hmul __hadd_sat __hmul_sat", Builtin(work=Sequence(1, fp16=1))),
    **_each_of("__hfma __hadd2 __hsub2 __hmul2", Builtin(work=Sequence(1, fp16=2))),
    "__hfma2": Builtin(work=Sequence(1, fp16=4)),
    **_each_of("h2div __h2div __hdiv hdiv", Builtin(work=Sequence(8, special=1))),
    # Powers of two and their logarithms, of floats scaled to or from those of e (cuda_fp16.hpp).
    "hexp": Builtin(work=Sequence(4, 2, special=1)),
    "hlog": Builtin(work=Sequence(4, 1, special=1)),
    **_each_of("hsqrt hrsqrt hrcp hsin hcos htanh", Builtin(work=Sequence(4, special=1))),
    # Bits (CUDA C++ Programming Guide, "Integer Intrinsics"; GCC manual, "Bit Operation Builtins").
    "__popc": Builtin("bits", "ones", work=_OF_A_WORD),
    "__clz": Builtin("bits", "leading-zeros", work=Sequence(2, special=1)),
    "__ffs": Builtin("bits", "first-set", work=Sequence(3, special=1)),
    "__brev": Builtin("bits", "reversed-word"),
    "__builtin_popcount": Builtin("bits", "ones"),
    "__builtin_clz": Builtin("bits", "leading-zeros"),
    "__builtin_ctz": Builtin("bits", "trailing-zeros"),
    "__builtin_ffs": Builtin("bits", "first-set"),
    **_each_of("__int_as_float __float_as_int", Builtin(work=_NOTHING)),
}


def _conversions() -> dict[str, Builtin]:
    """Conversions whose name says how they round."""
    table = {}
    modes = (("rn", "rint"), ("rd", "floor"), ("ru", "ceil"), ("rz", "trunc"))
    for real in ("float", "double"):
        for whole in ("int", "uint", "ll", "ull"):
            for mode, function in modes:
                table[f"__{real}2{whole}_{mode}"] = Builtin("rounded", function)
                table[f"__{whole}2{real}_{mode}"] = Builtin("converted")
    table |= _each_of("lround lroundf llround llroundf", Builtin("rounded", "round"))
    return table | _each_of("lrint lrintf llrint llrintf", Builtin("rounded", "rint"))


def _memory() -> dict[str, Builtin]:
    """Functions that read and write memory."""
    table = _each_of("__ldg", Builtin("load", host="unknown", work=_NOTHING))
    table |= _each_of("__ldcg __ldcs __ldca __ldcv __ldlu", Builtin("load", host="unknown"))
    table |= _each_of("__stcg __stcs __stwb __stwt", Builtin("store", host="unknown"))
    for name in ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor"):
        table |= {f"atomic{name}{scope}": Builtin("atomic", host="unknown") for scope in _EVERYWHERE}
    for name in ("Add", "AddNoReturn", "Mul", "Min", "Max"):
        table[f"gpuAtomic{name}"] = Builtin("atomic")
    # Those of nvcc 12.8 and later (CUDA C++ Programming Guide, "Built-in Atomic Functions"): memory order and scope are
    # arguments.
    for name in ("add", "sub", "and", "or", "xor", "min", "max"):
        table |= _each_of(f"__nv_atomic_{name} __nv_atomic_fetch_{name}", Builtin("nv-atomic", host="unknown"))
    for name in ("load", "store", "exchange", "compare_exchange"):
        table |= _each_of(f"__nv_atomic_{name} __nv_atomic_{name}_n", Builtin("nv-atomic", host="unknown"))
    table |= _each_of("memcpy memmove __builtin_memcpy __builtin_memmove", Builtin("copied-bytes"))
    table["copy"] = Builtin("copied-range")
    table["memset"] = Builtin("filled", host="ignored")
    table["__builtin_memset"] = Builtin("filled")
    table["memcpy_async"] = Builtin("group-copy")
    table["__pipeline_memcpy_async"] = Builtin("pipeline-copy", host="unknown")
    table["load_matrix_sync"] = Builtin("load-matrix")
    table["store_matrix_sync"] = Builtin("store-matrix")
    table["asm"] = Builtin("assembly", host="unknown")
    forms = [
        f"{form}{width}{type_}"
        for form in ("uniform", "normal", "log_normal")
        for width in ("", "2", "4")
        for type_ in ("", "_double")
    ]
    for name in ("", "4", "_init", "_poisson", "_poisson4", "_discrete", "_discrete4", *(f"_{form}" for form in forms)):
        table[f"curand{name}"] = Builtin("random")
    table["_cudalint_drawn"] = Builtin("random")
    return table


def _threads() -> dict[str, Builtin]:
    """What makes threads wait for each other, or lets them exchange something."""
    table = _each_of(
        "__syncthreads __syncthreads_and __syncthreads_or __syncthreads_count", Builtin("barrier", host="unknown")
    )
    table["__syncwarp"] = Builtin("warp-barrier", host="unknown")
    table |= _each_of("__threadfence __threadfence_block __threadfence_system", Builtin("fence"))
    table["atomic_thread_fence"] = Builtin("fence", host="unknown")
    for direction, suffix in (("idx", ""), ("up", "_up"), ("down", "_down"), ("xor", "_xor")):
        table[f"__shfl{suffix}"] = Builtin("shuffle", direction)
        table[f"__shfl{suffix}_sync"] = Builtin("masked-shuffle", direction)
        table[f"shfl{suffix}"] = Builtin("group-shuffle", direction)
    table |= _each_of("__ballot __any __all", Builtin("unmasked-vote"))
    table |= _each_of("__ballot_sync __any_sync __all_sync", Builtin("masked-vote"))
    table["__activemask"] = Builtin("active-mask")
    for name in ("add", "min", "max", "and", "or", "xor"):
        # "Warp Reduce Functions": "Supported by devices of compute capability 8.x or higher."
        table[f"__reduce_{name}_sync"] = Builtin("masked-vote", support=SM_80)
    table["__match_any_sync"] = Builtin("match")
    # Cooperative groups, `cuda::barrier`, `cuda::pipeline`.
    table |= _each_of("sync synchronize", Builtin("group-barrier", "whole"))
    table["barrier_arrive"] = Builtin("group-barrier", "arrive")
    table |= _each_of("barrier_wait wait", Builtin("group-barrier", "wait"))
    table["arrive"] = Builtin("object-barrier", "arrive")
    table["arrive_and_wait"] = Builtin("object-barrier", "whole")
    table |= _each_of("any all ballot", Builtin("group-vote"))
    table["reduce"] = Builtin("group-reduce")
    table["__pipeline_commit"] = Builtin("commit", host="unknown")
    table["producer_commit"] = Builtin("commit")
    table["__pipeline_wait_prior"] = Builtin("copies-awaited", host="unknown")
    table["consumer_wait"] = Builtin("copies-awaited")
    # Methods of cub's classes for blocks in which all threads of the block wait for each other; `_wait` is that in
    # those whose bodies the bundled header has, and `_wait_for_some` where only some have something to add.
    table |= _each_of(
        "_wait _wait_for_some "
        "ExclusiveSum InclusiveSum ExclusiveScan InclusiveScan Sort SortDescending SortBlockedToStriped "
        "SortDescendingBlockedToStriped BlockedToStriped StripedToBlocked Histogram StableSort",
        Builtin("collective"),
    )
    # Thread block clusters, distributed shared memory and programmatic dependent launches are of capability 9.0.
    return table | _each_of(
        "this_cluster __cluster_query_shared_rank cudaGridDependencySynchronize "
        "cudaTriggerProgrammaticLaunchCompletion cp_async_bulk_global_to_shared cp_async_bulk_shared_to_global",
        Builtin(support=SM_90),
    )


_STATEMENTS: Final[Mapping[str, Builtin]] = {
    # The names with two underscores are those of GPUVerify (its documentation, "Annotations") and Faial, whose users
    # leave them in their files.
    "__builtin_assume": Builtin("assumed", host="assumed-by-host", work=_NOTHING),
    "__assume": Builtin("assumed", host="assumed-by-host"),
    **_each_of("__requires __assert __global_assert __assertion", Builtin("assumed")),
    **_each_of("__uniform_int __uniform_bool", Builtin("uniform")),
    "__implies": Builtin("implies"),
    **_each_of("__assert_fail __assertfail", Builtin("refuted", host="end-of-program")),
    **_each_of(
        "__ensures __invariant __global_invariant __function_wide_invariant __enabled __distinct_int __distinct_bool "
        "__exclusive __read __write __read_implies __write_implies __no_read __no_write __requires_fresh_array "
        "__requires_distinct_arrays",
        Builtin("stated"),
    ),
    **_each_of("__trap __builtin_trap __builtin_unreachable", Builtin("end")),
    "__builtin_expect": Builtin("first-argument", work=_NOTHING),
    **_each_of("__cvta_generic_to_shared __cvta_generic_to_global forward move addressof", Builtin("first-argument")),
    "__builtin_assume_aligned": Builtin("assumed-alignment", work=_NOTHING),
    "printf": Builtin("nothing", host="ignored"),
    "__nanosleep": Builtin("nothing"),
    # Of the bundled headers.
    "_cudalint_stride": Builtin("stride"),
    "_cudalint_rank": Builtin("rank"),
    "_cudalint_of_rank": Builtin("of-rank"),
}
_HOST: Final[Mapping[str, Builtin]] = {
    **_each_of("cudaMalloc cudaMallocManaged cudaMallocHost cudaHostAlloc cudaMallocAsync", Builtin(host="allocated")),
    "cudaMallocPitch": Builtin(host="allocated-in-rows"),
    **_each_of("exit abort _exit quick_exit terminate", Builtin(host="end-of-program")),
    **_each_of(
        "fprintf puts fflush operator<< cudaFree free srand cudaDeviceSynchronize cudaGetLastError cudaMemcpy "
        "cudaMemcpyAsync cudaMemset",
        Builtin(host="ignored"),
    ),
    "strcmp": Builtin(host="unequal-texts"),
    "strncmp": Builtin(host="unequal-starts"),
    "strlen": Builtin(host="length-of-text"),
    **_each_of("cudaLaunchKernel cudaLaunchCooperativeKernel", Builtin(host="launch")),
    **_each_of("cudaLaunchKernelEx cudaLaunchKernelExC", Builtin(host="launch-by-configuration")),
    "cudaFuncSetAttribute": Builtin(host="attribute-of-kernel"),
    **_each_of("cudaGetDeviceProperties cudaGetDeviceProperties_v2", Builtin(host="properties-of-device")),
    "cudaDeviceGetAttribute": Builtin(host="attribute-of-device"),
    # Lists of the C++ library.
    "size": Builtin(host="size-of-list"),
    **_each_of("operator[] at", Builtin(host="element-of-list")),
    "front": Builtin(host="first-of-list"),
    "push_back": Builtin(host="appended"),
    **_each_of("count contains", Builtin(host="has")),
    **_each_of("operator== operator!=", Builtin(host="compared")),
    **_each_of("assign clear emplace erase insert pop_back resize swap", Builtin(host="list-changed")),
    # The command line.
    **_each_of(
        "atoi atol atoll stoi stol stoll stoul stoull strtoimax strtol strtoll strtoul strtoull strtoumax",
        Builtin(host="integer-of-text"),
    ),
    **_each_of("atof stod stof strtod strtof", Builtin(host="number-of-text")),
    "sscanf": Builtin(host="scanned"),
    **_each_of("getopt getopt_long getopt_long_only", Builtin(host="next-option")),
}
BUILTINS: Final[Mapping[str, Builtin]] = {
    **_MATHEMATICS, **_INTRINSICS, **_conversions(), **_memory(), **_threads(), **_STATEMENTS, **_HOST,
}  # fmt: skip
OF_NUMBERS: Final = frozenset({
    "complex_class.h", "cooperative_groups.h", "cuComplex.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h",
    "half_class.h", "half_functions.h", "math.h", "vector_types.h",
})  # fmt: skip
"""The bundled headers whose functions compute numbers of numbers, or tell groups of threads, but for those that have an
effect here."""
_UNKNOWN: Final = Builtin()
FUNCTION_CLASS: Final = "_cudalint_functor"
"""A class of the front end's own: it stands for functions that are arguments of a template and that nothing names."""


def builtin(name: str) -> Builtin:
    """What is known of the function of a name: nothing of most."""
    return BUILTINS.get(name, _UNKNOWN)


ENDING: Final = frozenset(
    name for name, known in BUILTINS.items() if known.host == "end-of-program" and not known.effect
)
"""Functions of the C library that end the program."""


def named(*effects: str) -> frozenset[str]:
    """The functions of some effects, in kernels or in host code."""
    return frozenset(name for name, known in BUILTINS.items() if known.effect in effects or known.host in effects)


def launches_a_kernel(name: str) -> bool:
    """Whether a function of the CUDA runtime or of the driver launches one, in any of the ways that there are."""
    return name.startswith(("cudaLaunch", "cuLaunch")) and "HostFunc" not in name


def machine_code(name: str, size: int, exponent: object = None) -> Sequence:
    """What a call takes. `size` is that of the first argument if it is a floating-point number, which distinguishes
    overloads, else 0; `exponent` is the second argument if it is a plain number."""
    known = builtin(name)
    found = sequence_of(known, 4 if size == 8 and known.effect == "power" and name.endswith("f") else size, exponent)
    return found or (_NOTHING if name.startswith(_WITHOUT_CODE) else _CALL)


def sequence_of(known: Builtin, size: int, exponent: object = None) -> Sequence | None:
    """The same of a function, where something is known of it."""
    if known.effect == "power" and known.work is None and exponent == 2:
        return _SQUARE[4 if size == 4 else 8]
    if known.work is not None and not (size == 8 and known.double):
        return known.work
    return known.single if size == 4 else known.double if size else None
