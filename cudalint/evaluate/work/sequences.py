"""The machine code of what is no single instruction: divisions, roots, conversions, functions of the CUDA library.

Read from what nvcc 13.0 -O3 makes for sm_90 of a kernel for each (`b[t] = f(a[t])`), without the instructions around
it: the path that ordinary numbers take, so without the branches for denormal, infinite and huge ones. An instruction
under a predicate counts half, one that only scales denormal numbers nothing. Where the path runs through a routine of
its own (`pow`) or a branch has the usual numbers (`sin` of a double), that is counted in. Other architectures since 7.0
have the same sequences up to an instruction or two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cudalint.ir import nodes as ir


class Sequence(NamedTuple):
    """Instructions, all of them; and operations, of which a fused multiply-add is two."""

    instructions: float
    fp32: float = 0.0
    fp64: float = 0.0
    special: float = 0.0
    """A conversion between numbers of 32 bits counts a quarter: four times as many are done per clock."""
    fp16: float = 0.0


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

_FLOAT: Final[Mapping[str, Sequence]] = {
    "sqrt": Sequence(8, 6, special=1),
    "rsqrt": Sequence(4, 1, special=1),
    "sin": Sequence(26, 18, special=0.25),
    "cos": Sequence(27, 18, special=0.25),
    "tan": Sequence(23, 20, special=1.25),
    "sincos": Sequence(30, 24, special=0.25),
    "sinpi": Sequence(20, 16, special=1),
    "cospi": Sequence(20, 16, special=1),
    "sincospi": Sequence(30, 24, special=2.25),
    "asin": Sequence(25, 22, special=1),
    "acos": Sequence(26, 23.5, special=1),
    "atan": Sequence(19, 19, special=1),
    "atan2": Sequence(40, 31, special=1),
    "exp": Sequence(10, 10, special=1),
    "exp2": Sequence(4, special=1),
    "exp10": Sequence(10, 10, special=1),
    "expm1": Sequence(29, 22, special=2),
    "log": Sequence(28, 24),
    "log2": Sequence(30, 26),
    "log10": Sequence(29, 25),
    "log1p": Sequence(31, 26),
    "tanh": Sequence(17, 14, special=2),
    "sinh": Sequence(25, 20, special=3),
    "cosh": Sequence(16, 11, special=3),
    "erf": Sequence(30, 15.5, special=1),
    "erfc": Sequence(48, 53.5, special=4),
    "cbrt": Sequence(16, 10, special=2),
    "floor": Sequence(1, special=1),
    "ceil": Sequence(1, special=1),
    "trunc": Sequence(1, special=1),
    "rint": Sequence(1, special=1),
    "nearbyint": Sequence(1, special=1),
    "round": Sequence(4, 1, special=1),
    "fabs": Sequence(0),
    "abs": Sequence(0),
    "lgamma": Sequence(100, 81, special=3.25),
    "tgamma": Sequence(130, 120, special=6.75),
    "normcdf": Sequence(65, 63.5, special=4),
    "pow": Sequence(72, 58, special=2.25),
    "hypot": Sequence(23, 13.5, special=1),
    "fdim": Sequence(3, 1),
    "fma": Sequence(1, 2),
}
_DOUBLE: Final[Mapping[str, Sequence]] = {
    "sqrt": Sequence(16, 0, 13, special=1),
    "rsqrt": Sequence(12, 0, 8, special=1),
    "sin": Sequence(36, 0, 25, special=2),
    "cos": Sequence(37, 0, 25, special=2),
    "tan": Sequence(75, 0, 55, special=3),
    "sincos": Sequence(70, 0, 37, special=2),
    "asin": Sequence(75, 0, 46, special=1),
    "acos": Sequence(74, 0, 44, special=1),
    "atan": Sequence(80, 0, 48, special=1),
    "atan2": Sequence(110, 2, 66, special=1),
    "exp": Sequence(45, 0, 28),
    "exp2": Sequence(45, 0, 27),
    "exp10": Sequence(50, 0, 30),
    "expm1": Sequence(55, 0, 36),
    "log": Sequence(70, 0, 44, special=1),
    "log2": Sequence(76, 0, 47, special=1),
    "log10": Sequence(76, 0, 47, special=1),
    "log1p": Sequence(80, 0, 50, special=1),
    "tanh": Sequence(65, 1, 36, special=1),
    "sinh": Sequence(70, 0, 45, special=1),
    "cosh": Sequence(59, 0, 38, special=1),
    "erf": Sequence(120, 1, 78, special=1),
    "erfc": Sequence(170, 0, 110, special=1),
    "cbrt": Sequence(44, 2, 15, special=5.25),
    "floor": Sequence(1, special=1),
    "ceil": Sequence(1, special=1),
    "trunc": Sequence(1, special=1),
    "rint": Sequence(1, special=1),
    "nearbyint": Sequence(1, special=1),
    "round": Sequence(5, 0, 1, special=1),
    "fabs": Sequence(0),
    "abs": Sequence(0),
    "lgamma": Sequence(160, 0, 100, special=1),
    "tgamma": Sequence(140, 0, 90, special=1),
    "normcdf": Sequence(190, 0, 125, special=1),
    "pow": Sequence(225, 0, 123, special=1),
    "hypot": Sequence(44, 0, 17, special=1),
    "fdim": Sequence(5, 0, 1),
    "fmax": Sequence(8),
    "fmin": Sequence(8),
    "fma": Sequence(1, 0, 2),
}
_SQUARE = {4: Sequence(72, 58, special=2.25), 8: Sequence(4, 0, 1)}
"""`pow(x, 2)`: nvcc makes a product of it for doubles alone."""
_INTRINSICS: Final[Mapping[str, Sequence]] = {
    "__sinf": Sequence(2, 1, special=1),
    "__cosf": Sequence(2, 1, special=1),
    "__tanf": Sequence(8, 2, special=3),
    "__expf": Sequence(3, 1, special=1),
    "__exp10f": Sequence(3, 1, special=1),
    "__logf": Sequence(3, 1, special=1),
    "__log2f": Sequence(2, special=1),
    "__log10f": Sequence(3, 1, special=1),
    "__powf": Sequence(6, 1, special=2),
    "__fdividef": Sequence(3, 1, special=1),
    "__frcp_rn": DIVISIONS["float", "reciprocal"],
    "__fdiv_rn": DIVISIONS["float", "number"],
    "__fsqrt_rn": _FLOAT["sqrt"],
    "__frsqrt_rn": Sequence(20, 12, special=2),
    "__saturatef": Sequence(1, 1),
    "fdividef": DIVISIONS["float", "number"],
    "__ddiv_rn": DIVISIONS["double", "number"],
    "__dsqrt_rn": _DOUBLE["sqrt"],
    "__fmaf_rn": Sequence(1, 2),
    "__fma_rn": Sequence(1, 0, 2),
    **dict.fromkeys(("__fadd_rn", "__fsub_rn", "__fmul_rn"), Sequence(1, 1)),
    **dict.fromkeys(("__dadd_rn", "__dsub_rn", "__dmul_rn"), Sequence(1, 0, 1)),
    **dict.fromkeys(("__hadd", "__hsub", "__hmul", "__hadd_sat", "__hmul_sat"), Sequence(1, fp16=1)),
    "__hfma": Sequence(1, fp16=2),
    **dict.fromkeys(("__hadd2", "__hsub2", "__hmul2"), Sequence(1, fp16=2)),
    "__hfma2": Sequence(1, fp16=4),
    **dict.fromkeys(("h2div", "__h2div", "__hdiv", "hdiv"), Sequence(8, special=1)),
    **dict.fromkeys(("hexp", "hlog", "hsqrt", "hrsqrt", "hrcp", "hsin", "hcos", "htanh"), Sequence(4, special=1)),
    **dict.fromkeys(("fmaxf", "fminf", "max", "min", "fmax", "fmin", "__mul24", "__umul24"), Sequence(1)),
    **dict.fromkeys(("copysignf", "copysign", "__mulhi", "__umulhi"), Sequence(2)),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "signbit"), Sequence(2)),
    "__popc": Sequence(1, special=1),
    "__clz": Sequence(2, special=1),
    "__ffs": Sequence(3, special=1),
    **dict.fromkeys(("fmodf", "remainderf"), Sequence(30, 12, special=1)),
    **dict.fromkeys(("fmod", "remainder"), Sequence(60, 0, 6, special=1)),
}
_CALL = Sequence(2)
"""Anything else: an atomic, a shuffle, a barrier."""
_NOTHING = Sequence(0)
_WITHOUT_CODE = ("__ldg", "__builtin_assume", "__builtin_expect", "make_", "__int_as_float", "__float_as_int")
"""What begins so is no instruction beyond those that are counted apart."""
_QUARTER = 0.25


def conversion(source: ir.Scalar, target: ir.Scalar) -> Sequence:
    """Between integers and floating-point numbers, or between widths of the latter."""
    if max(source.bytes, target.bytes) == 8:
        return Sequence(1, special=1)
    return Sequence(1) if source.kind != "float" and target.bytes == 4 else Sequence(1, special=_QUARTER)


def sequence_of(name: str, argument: ir.Type, exponent: object = None) -> Sequence:
    """Of a function of the library, by its name and the type of its first argument, which tells overloads apart;
    `exponent` is the second argument if it is a plain number."""
    size = argument.bytes if isinstance(argument, ir.Scalar) and argument.kind == "float" else 0
    if name in _INTRINSICS and not (size == 8 and name in _DOUBLE):
        return _INTRINSICS[name]
    table, plain = (_FLOAT, name[:-1]) if name.endswith("f") and name not in _DOUBLE else (_DOUBLE, name)
    if table is _DOUBLE and size == 4:
        table = _FLOAT
    if plain == "pow" and exponent == 2:
        return _SQUARE[4 if table is _FLOAT else 8]
    if size and plain in table:
        return table[plain]
    return _NOTHING if name.startswith(_WITHOUT_CODE) else _CALL
