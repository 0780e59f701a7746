"""Which sizes are none at all, in launches that users write themselves.

More than a GPU allows is a size: such a launch is evaluated as it is asked for, and CL502 says that it fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.options.expressions import CallOp, Expression, Number, UnaryOp, parse_expression

MAX_THREADS = 1024
"""Threads of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same for every
one from 3.0 on)."""
MAX_EVALUATED = 4096
"""Threads of a block that are evaluated. A launch of more than a block may have fails, and yet what its threads do to
each other is asked, by collections of test cases above all; memory and time grow with the threads."""
_MOST = 2**32 - 1
"""What an extent of CUDA's `dim3` holds."""
_MOST_EXTENTS = {"block": 3, "grid": 3, "shared": 1}


def problem_of(name: str, extents: Sequence[int | float | None]) -> str | None:
    """Why a block, a grid or an amount of shared memory is none, after its name; None where it may be one.

    Extents that are not known are None.
    """
    least = 0 if name == "shared" else 1
    if len(extents) > _MOST_EXTENTS[name]:
        most = _MOST_EXTENTS[name]
        return f"has {len(extents)} numbers, and there {'is' if most == 1 else 'are'} at most {most}"
    for axis, extent in zip("xyz", extents, strict=False):
        where = "" if name == "shared" else f" in {axis}"
        if isinstance(extent, float):
            return f"is {extent:g}{where}, and has to be a whole number"
        if extent is not None and extent < least:
            return f"is {extent}{where}, and has to be at least {least}"
        if extent is not None and extent > _MOST:
            return f"is {extent}{where}, and can be at most {_MOST}"
    return None


def problem_of_expression(name: str, expression: Expression) -> str | None:
    """The same for an expression such as `dim3(32, TILE)`, as far as plain numbers stand in it."""
    if isinstance(expression, CallOp) and expression.name == "dim3":
        return problem_of(name, [_number(argument) for argument in expression.arguments])
    return problem_of(name, [_number(expression)])


def problem_of_texts(name: str, texts: Sequence[str]) -> str | None:
    """The same for the texts of expressions, one for each axis."""
    return problem_of(name, [_number(parse_expression(text)) for text in texts])


def _number(expression: Expression) -> int | float | None:
    match expression:
        case Number(value=value):
            return value
        case UnaryOp(op="-", operand=Number(value=value)):
            return -value
    return None
