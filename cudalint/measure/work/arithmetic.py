"""Arithmetic that takes more than it has to: which operations of the source, how often, and what there is instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.trace import Site, Stack, Trace
from cudalint.facts.arithmetic import ArithmeticKind
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import DIVISIONS, builtin
from cudalint.measure.work.doubles import is_double, unasked_double
from cudalint.measure.work.lengths import Lengths
from cudalint.measure.work.nests import LOOPS, own_parts
from cudalint.measure.work.operations import in_single_precision, operation_of

_MOST_FACTORS = 4
"""Of a power that is written as a product."""

Spelled = Callable[[ir.Expr], str]
Key = tuple[ArithmeticKind, ir.Span]


class Slow(Struct):
    """What one place of the source comes to in one launch."""

    kind: ArithmeticKind
    names: tuple[str, ...]
    alternative: str = ""
    causes: tuple[ir.Span, ...] = ()
    keeps_type: bool = False
    in_loop: bool = False
    executions: float = 0.0
    saved: float = 0.0
    doubles: float = 0.0
    special: float = 0.0
    by_data: bool = False


class _Computation(Struct, frozen=True, eq=False):
    """An operation, with how often it is executed in one world."""

    code: ir.Expr
    site: Site
    warps: float
    lanes: float
    by_data: bool
    in_loop: bool


def slow(trace: Trace, lengths: Lengths, spelled: Spelled, world: int = 0) -> dict[Key, Slow]:
    """By kind and place."""
    found: dict[Key, Slow] = {}
    computations = list(_computations(trace, lengths, world))
    roots: dict[int, Key] = {}
    for each in computations:
        tree = unasked_double(each.code)
        if tree is not None:
            key: Key = ("double", each.code.span)
            names = dict.fromkeys(map(spelled, tree.causes))
            found.setdefault(key, Slow("double", tuple(names), causes=tuple(cause.span for cause in tree.causes)))
            roots |= dict.fromkeys(tree.parts, key)
    divided: set[tuple[object, ...]] = set()
    for each in computations:
        if id(each.code) in roots:
            _add_double(found[roots[id(each.code)]], each)
            continue
        for own, saved in _slow(each, spelled):
            if own.kind == "division":
                # A quotient and its remainder are one division.
                operands = (spelled(operand) for operand in walk.children(each.code))
                same = *operands, each.site.stack, lengths.nests.around(each.code, each.site.stack), each.warps
                if same in divided:
                    continue
                divided.add(same)
            site = found.setdefault((own.kind, each.code.span), own)
            _count(site, each)
            site.saved += saved * each.warps
    return found


def _count(found: Slow, computation: _Computation) -> None:
    found.executions = max(found.executions, computation.warps)
    found.by_data = found.by_data or computation.by_data
    found.in_loop = found.in_loop or computation.in_loop


def _add_double(found: Slow, computation: _Computation) -> None:
    _count(found, computation)
    counts, takes = operation_of(computation.code), in_single_precision(computation.code)
    found.saved += computation.warps * max(0.0, float(counts[5]) - takes)
    found.doubles += computation.lanes * float(counts[1])
    if not takes:
        found.special += computation.lanes * float(counts[4])


# --- how often ----------------------------------------------------------------------------------------


def _computations(trace: Trace, lengths: Lengths, world: int) -> Iterator[_Computation]:
    """The operations of the source that are executed, but for those of the bundled headers."""
    executions = lengths.counted()
    taken = _taken(trace, world)
    for site, own in executions.items():
        if site.library is not None or not own.counts[1, world]:
            continue
        loop = site.statement
        turns = executions.get(site._replace(statement=loop.body)) if isinstance(loop, LOOPS) else None
        for code, share in _operations(site, taken):
            around = lengths.nests.around(code, site.stack)
            # What a loop computes for its turns.
            times = turns if turns is not None and site in around else own
            warps, lanes = (float(number) * share for number in times.counts[:, world])
            if warps:
                yield _Computation(code, site, warps, lanes, times.by_data, bool(around))


Sides = tuple[float, float]
"""Of the warps that come to a choice, the parts that compute either side."""


def _operations(site: Site, taken: Mapping[tuple[int, Stack], Sides]) -> Iterator[tuple[Any, float]]:
    """The expressions of a statement, with which part of its executions comes to each."""
    waiting: list[tuple[Any, float]] = [(each, 1.0) for each in own_parts(site.statement)]
    while waiting:
        node, share = waiting.pop()
        yield node, share
        if isinstance(node, ir.Conditional):
            then, otherwise = taken.get((id(node), site.stack), (1.0, 1.0))
            waiting += ((node.condition, share), (node.then, share * then), (node.otherwise, share * otherwise))
        else:
            waiting += [(each, share) for each in own_parts(node)]


def _taken(trace: Trace, world: int) -> dict[tuple[int, Stack], Sides]:
    """Of the choices in expressions that some lanes decide otherwise than others."""
    lanes = trace.lanes
    rows = slice(world * lanes.blocks, (world + 1) * lanes.blocks)
    sums: dict[tuple[int, Stack], Any] = {}

    def warps(mask: Any, weight: Any) -> float:
        active = lanes.by_warp(np.broadcast_to(mask, (lanes.rows, lanes.lanes))).any(axis=2)
        return float((active * weight)[rows].sum())

    for event in trace.branches:
        if isinstance(event.node, ir.Conditional):
            masks = event.mask, event.mask & event.taken, event.mask & ~event.taken
            own = sums.setdefault((id(event.node), event.stack), np.zeros(3))
            own += [warps(mask, event.weight) for mask in masks]
    return {key: (own[1] / own[0], own[2] / own[0]) for key, own in sums.items() if own[0]}


# --- what is slow -------------------------------------------------------------------------------------


def _slow(computation: _Computation, spelled: Spelled) -> Iterator[tuple[Slow, float]]:
    """What is slow of one operation, and the instructions that each execution takes too many."""
    code = computation.code
    match code:
        case ir.Binary(op="/" | "%", right=right, type=ir.Scalar(kind="int" | "uint") as type_):
            takes = float(operation_of(code)[5])
            wide = "long" if type_.bytes == 8 else "int"
            if takes >= DIVISIONS[wide, "number"].instructions:
                yield Slow("division", (spelled(right),)), takes - DIVISIONS[wide, "constant"].instructions
        case ir.Binary(op="/", left=left, right=right, type=ir.Scalar(kind="float") as type_):
            takes = float(operation_of(code)[5])
            if takes > 1 and isinstance(walk.without_casts(right), ir.Constant) and type_.bytes in (4, 8):
                divisor, one = spelled(right), "1.0" if type_.bytes == 8 else "1.0f"
                keeps = is_number_of(type_, left)
                if not isinstance(walk.without_casts(left), ir.Constant):
                    yield Slow("quotient", (divisor,), f"{one} / {divisor}", (right.span,), keeps), takes - 1
        case ir.Call(name="pow" | "powf", arguments=(base, exponent), receiver=None):
            yield from _power(code, base, walk.without_casts(exponent), spelled)
        case ir.Call(name=name, receiver=None, type=ir.Scalar() as type_):
            intrinsic = builtin(name).quick
            if intrinsic and not is_double(type_):
                keeps = all(is_number_of(type_, argument) for argument in code.arguments)
                yield Slow("function", (name,), intrinsic, keeps_type=keeps), float(operation_of(code)[5]) - 3


def _power(code: ir.Call, base: ir.Expr, exponent: ir.Expr, spelled: Spelled) -> Iterator[tuple[Slow, float]]:
    takes, text, keeps = float(operation_of(code)[5]), spelled(base), is_number_of(code.type, base)
    if not isinstance(exponent, ir.Constant):
        return
    if exponent.value in range(2, _MOST_FACTORS + 1):
        factors = int(exponent.value)
        written = " * ".join([text] * factors) if text.isidentifier() else f"a product of {factors} factors"
        if takes >= 10 * factors:
            yield Slow("power", (spelled(code),), written, keeps_type=keeps), takes - (factors - 1)
    elif exponent.value == 0.5:
        root = "sqrtf" if ir.type_name(code.type) == "float" else "sqrt"
        yield Slow("power", (spelled(code),), f"{root}({text})", keeps_type=keeps), takes - 8


def is_number_of(type_: ir.Type, operand: ir.Expr) -> bool:
    """Whether an operand is of a type before it is converted without being told so."""
    while isinstance(operand, ir.Cast) and not operand.explicit:
        operand = operand.operand
    return isinstance(operand.type, ir.Scalar) and isinstance(type_, ir.Scalar) and (
        (operand.type.kind, operand.type.bytes) == (type_.kind, type_.bytes)
    )
