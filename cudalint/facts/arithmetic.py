"""Arithmetic that takes far more than it has to, and what of its kernel it takes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Place

ArithmeticKind = Literal["double", "variable", "division", "power", "function", "quotient"]
"""`double`: an expression of floats that is computed in double precision, for the sake of its literals alone.
`variable`: variables of type double into which floats flow and out of which floats come, and nothing else.
`division`: of integers, by a number that only the launch knows; also its remainder. `power`: with a small exponent that
the source gives. `function`: of floats, for which there is a faster and less accurate intrinsic. `quotient`: of
floating-point numbers, by a constant that is no power of two."""


class ArithmeticResult(Struct, frozen=True):
    """What it takes in one launch. Instructions are those of warps."""

    launch: int
    executions: float
    """By warps."""
    saved: float
    """Instructions that it takes beyond those of the alternative."""
    doubles: float
    """Operations of its lanes in double precision, which need not be."""
    special: float
    """Operations of its lanes that the special function unit does, as it converts numbers or divides, and need not."""
    instructions: float
    """Of the whole launch."""
    by_data: bool
    """Whether data decides how often it is executed: then it is what may come at most."""
    assumptions: tuple[str, ...] = ()
    is_sized: bool = False
    """Whether some loop that it is not in is taken to be of a length that nothing in sight says: the longer that is,
    the less of the launch this is."""


class Arithmetic(Struct, frozen=True):
    """An operation at a place of the source."""

    place: Place
    kind: ArithmeticKind
    expression: str
    """As the source spells it."""
    names: tuple[str, ...]
    """What makes it slow, as the source spells it: the literals, the variables, the divisor, or the function."""
    alternative: str
    """What to write instead, where that is an expression; empty where it takes more than that."""
    in_loop: bool
    results: tuple[ArithmeticResult, ...]
    causes: tuple[Place, ...] = ()
    """Where what makes it slow stands; of `double`, of `variable` the declarations, and of `quotient` the divisor."""
    keeps_type: bool = False
    """Whether the alternative, made of the same operands as they are spelled, is of the type of the operation."""
