"""What handlers of library functions have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cudalint.execute.absent import Absent, defined, undefined_as
from cudalint.execute.butterflies import Butterfly, of_all
from cudalint.execute.memory import uninitialised
from cudalint.execute.program import Evaluate, Locate, Program
from cudalint.execute.values import COMPUTED, UNKNOWN, Aggregate, Data, Value, leaves
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import Builtin

if TYPE_CHECKING:
    from cudalint.execute.lanes import Mask
    from cudalint.execute.machine import Machine

Handler = Callable[[Program, ir.Call, Builtin], Evaluate]
"""Compiles a call of a function of the library."""
CHAR = ir.Scalar("char", 1, "int")


def is_number(value: Value) -> bool:
    return type(value) in (int, bool, float, np.ndarray)


def is_whole(value: Value) -> bool:
    """Whether it is an integer, or lanes of them."""
    return type(value) in (int, bool) or (type(value) is np.ndarray and value.dtype.kind in "iub")


def data_of(values: Iterable[Value]) -> Data:
    """What comes of arguments of which one at least is no number: the data among them, one that lanes of a warp have in
    common only if all of them do."""
    values = list(values)
    if Absent in map(type, values):
        return cast("Data", undefined_as(data_of(map(defined, values)), values))
    found = next((value for value in values if isinstance(value, Data)), COMPUTED)
    if len(values) > 1 and (found.is_common or Butterfly in map(type, values)):
        return of_all(values)
    return found.derived


def in_common(values: Iterable[Value]) -> Data:
    """What all lanes of a warp get of such, as a vote gives it."""
    found = data_of(values)
    return found if found.is_common else Data(found.kind, found.reason, is_common=True)


def opaque(type_: ir.Type, data: Data = COMPUTED) -> Value:
    """A value of a type about which nothing is known."""
    if isinstance(type_, (ir.RecordType, ir.ArrayType)):
        return Aggregate(type_, {offset: data for offset, _ in leaves(type_)})
    return UNKNOWN if isinstance(type_, ir.PointerType) else data


def arguments_of(program: Program, e: ir.Call) -> list[Evaluate]:
    """What reads the arguments; those that are passed by reference, and may be changed, are not read."""
    changed = e.function.outputs() if e.function is not None else frozenset()
    return [
        _found(program.place(argument)) if at in changed else program.value(argument)
        for at, argument in enumerate(e.arguments)
    ]


def _found(place: Locate) -> Evaluate:
    def find(m: Machine) -> Value:
        place(m)
        return UNKNOWN

    return find


def of_data(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """A function whose value is not followed: it is as unknown as its arguments are."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        return opaque(ir.referent(e.type), data_of(found))

    return call


def nothing(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """A function of which only its arguments' accesses matter."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        return uninitialised(e.type) if isinstance(e.type, ir.RecordType) else UNKNOWN

    return call


def spread(value: Value, mask: Mask) -> Any:
    """A number for each row and lane."""
    return np.broadcast_to(np.asarray(value), mask.shape)


def collapsed(values: Any) -> Any:
    """Lanes of numbers as what they have in common: one number, or one for each row."""
    first = values.flat[0]
    if (values == first).all():
        return first.item()
    if values.shape[1] > 1 and (values == values[:, :1]).all():
        return values[:, :1].copy()
    return values


def class_of(expression: ir.Expr | None) -> tuple[str, str]:
    """The name of an object's class without namespaces and arguments, and in full."""
    if expression is None:
        return "", ""
    type_ = walk.without_casts(expression).type
    while isinstance(type_, ir.PointerType):
        type_ = type_.pointee
    name = type_.name if isinstance(type_, (ir.RecordType, ir.OpaqueType)) else ""
    return name.split("<")[0].split("::")[-1].removeprefix("const ").strip(), name
