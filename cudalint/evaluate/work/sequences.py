"""The machine code of what is no single instruction: divisions, roots, functions of the library.

Lengths are those of the path that ordinary numbers take, read from what nvcc 13.0 makes for sm_90.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cudalint import ir


class Sequence(NamedTuple):
    """Operations (a fused multiply-add counts 2) and warp-level instructions, all of them included."""

    instructions: float
    fp32: float = 0.0
    fp64: float = 0.0
    special: float = 0.0
    fp16: float = 0.0


DIVISIONS: Final[Mapping[tuple[str, str], Sequence]] = {
    ("float", "number"): Sequence(9, 11, special=1),
    ("float", "constant"): Sequence(7, 9),
    ("float", "power"): Sequence(1, 1),
    ("double", "number"): Sequence(12, 0, 17, special=1),
    ("double", "constant"): Sequence(11, 0, 15),
    ("double", "power"): Sequence(1, 0, 1),
    ("int", "number"): Sequence(16, special=3),
    ("int", "constant"): Sequence(3),
    ("int", "power"): Sequence(1),
    ("long", "number"): Sequence(70, special=3),
    ("long", "constant"): Sequence(8),
    ("long", "power"): Sequence(1),
}

_CALL = Sequence(2)
"""Anything else: an atomic, a shuffle, a barrier."""

FUNCTIONS: Final[Mapping[str, Sequence]] = {}


def sequence_of(name: str, result: ir.Type, argument: ir.Type) -> Sequence:
    """Of a function of the library, by the types that tell its overloads apart."""
    return FUNCTIONS.get(name, _CALL)
