"""What no launch can be, on any GPU: for launches that users write themselves.

The limits are those of the CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability", which
are the same for every compute capability from 3.0 on.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.expressions import CallOp, Expression, Number, UnaryOp, parse_expression

MAX_THREADS = 1024
"""Threads of a block."""
_MOST: dict[str, tuple[int, ...]] = {
    "block": (1024, 1024, 64),
    "grid": (2**31 - 1, 65535, 65535),
    "shared": (2**31 - 1,),
}


def problem_of(name: str, extents: Sequence[int | None]) -> str | None:
    """Why a block, a grid or an amount of shared memory is not possible, after its name; None where it may be.

    Extents that are not known are None.
    """
    least = 0 if name == "shared" else 1
    if len(extents) > len(_MOST[name]):
        return f"has {len(extents)} numbers, and there are at most {len(_MOST[name])}"
    for axis, extent, most in zip("xyz", extents, _MOST[name], strict=False):
        where = "" if name == "shared" else f" in {axis}"
        if extent is not None and extent < least:
            return f"is {extent}{where}, and has to be at least {least}"
        if extent is not None and extent > most:
            return f"is {extent}{where}, and can be at most {most}"
    if name != "block":
        return None
    threads = 1
    for extent in extents:
        threads *= extent or 1
    if threads > MAX_THREADS:
        return f"has {threads} threads, and can have at most {MAX_THREADS}"
    return None


def problem_of_expression(name: str, expression: Expression) -> str | None:
    """The same for an expression such as `dim3(32, TILE)`, as far as plain numbers stand in it."""
    if isinstance(expression, CallOp) and expression.name == "dim3":
        return problem_of(name, [_number(argument) for argument in expression.arguments])
    return problem_of(name, [_number(expression)])


def problem_of_texts(name: str, texts: Sequence[str]) -> str | None:
    """The same for the texts of expressions, one for each axis."""
    return problem_of(name, [_number(parse_expression(text)) for text in texts])


def _number(expression: Expression) -> int | None:
    match expression:
        case Number(value=value):
            return int(value)
        case UnaryOp(op="-", operand=Number(value=value)):
            return -int(value)
    return None
