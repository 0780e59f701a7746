"""Asynchronous copies from global to shared memory.

Source: CUDA C++ Programming Guide, "Asynchronous Data Copies"; the bytes that each thread of a group copies are those
of libcu++'s `memcpy_async`, piece by piece in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from cudalint.execute.library.common import Handler, arguments_of, class_of
from cudalint.execute.library.groups import rank_in_group
from cudalint.execute.library.memory import bare_type, piece
from cudalint.execute.memory import plain, plus, scaled
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import UNKNOWN, Pointer, Value
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import Builtin

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_MOST_PIECES: Final = 64
"""Accesses of one thread that a copy is taken for; of longer ones only the beginning is."""


def copy_piece(m: Machine, target: Value, source: Value, size: int, node: ir.Call | st.Asm) -> None:
    """One access of both."""
    for at, other in ((source, None), (target, source)):
        if type(at) is Pointer and at.allocation.space != "local" and m.mask is not None and not at.allocation.is_null:
            m.access(at.allocation, at.offset, ir.OpaqueType("?", size), "async-copy", node, other)


def _pipeline_copy(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__pipeline_memcpy_async(target, source, bytes)`, of 4, 8 or 16."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        target, source, size, *_ = [argument(m) for argument in arguments]
        if type(size) is int:
            copy_piece(m, target, source, size, e)
        else:
            m.gap(e.span, "an asynchronous copy of a size that is not known")
        return UNKNOWN

    return call


def _group_copy(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`memcpy_async(group, target, source, shape)`, and the forms with a barrier or a pipeline and no group."""
    arguments = arguments_of(program, e)
    places = [
        at for at, argument in enumerate(e.arguments)
        if isinstance(argument.type, ir.PointerType) and not argument.type.reference
    ]  # fmt: skip
    if len(places) < 2:
        return _other(program, e)
    target, source = places[:2]
    types = [bare_type(e.arguments[at]) for at in (target, source)]
    group = class_of(e.arguments[0])[0] if target == 1 else ""
    full = class_of(e.arguments[0])[1] if target == 1 else ""
    # That of cooperative groups, which no pipeline or barrier is passed to, makes a group of itself.
    is_own_group = bool(group) and not any(class_of(each)[0] in ("pipeline", "barrier") for each in e.arguments)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        size = plain(found[source + 1]) if len(found) > source + 1 else UNKNOWN
        if m.mask is None:
            return UNKNOWN
        if type(size) is not int:
            size = max(1, types[0].bytes)
        width = min(piece(type_, size) for type_ in types)
        rank, members = rank_in_group(m, group, full) if group else (0, 1)
        _by_turns(m, found[target], found[source], size, width, rank, members, e)
        if is_own_group:
            m.copies(e, None)
        return UNKNOWN

    return call


def _by_turns(
    m: Machine, target: Value, source: Value, size: int, width: int, rank: Value, members: int, e: ir.Call
) -> None:
    mask = m.mask
    for turn in range(min(_MOST_PIECES, -(-size // (width * members)))):
        number = rank + turn * members
        if type(number) is np.ndarray:
            m.mask, _ = m.split(number * width < size)
        if m.mask is not None:
            copy_piece(m, _moved(target, number, width), _moved(source, number, width), width, e)
        m.mask = mask


def _moved(at: Value, number: Value, width: int) -> Value:
    if type(at) is not Pointer:
        return at
    return Pointer(at.allocation, plus(at.offset, scaled(number, width)), at.pointee)


def _other(program: Program, e: ir.Call) -> Evaluate:
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        m.gap(e.span, f"the accesses of `{e.name}` are not known")
        return UNKNOWN

    return call


HANDLERS: Mapping[str, Handler] = {"pipeline-copy": _pipeline_copy, "group-copy": _group_copy}
"""By effect."""
