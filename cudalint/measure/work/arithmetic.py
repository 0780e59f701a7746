"""Arithmetic: what one operation of the source takes, as operations of the machine by type and instructions, and which
operations take more than they have to.

What nvcc makes of floats and literals without a suffix was read from its PTX (13.0, sm_90): a single sum, difference,
product or quotient of a float and a literal that is a float's value exactly (`0.5 * x`, `x - 1.0`) is computed in
single precision, and so is a comparison with such a literal; everything else is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from msgspec import Struct

from cudalint.execute.trace import Site, Stack, Trace
from cudalint.facts.arithmetic import ArithmeticKind
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import DIVISIONS, Sequence, builtin, machine_code
from cudalint.measure.distinct import executions_in
from cudalint.measure.places import called
from cudalint.measure.work.compiler import is_power_of_two
from cudalint.measure.work.counts import Work
from cudalint.measure.work.divisors import has_faster_way
from cudalint.measure.work.double_variables import Group, double_variables
from cudalint.measure.work.doubles import is_double, unasked_double
from cudalint.measure.work.lengths import Lengths
from cudalint.measure.work.nests import LOOPS, own_parts
from cudalint.regexes import regex

_FLOAT: Final = ir.Scalar("float", 4, "float")
_NOTHING: Final = Sequence(0)
_ONE: Final = Sequence(1)
_HALVES: Final = {"__half": 1, "half": 1, "__nv_bfloat16": 1, "__half2": 2, "half2": 2, "__nv_bfloat162": 2}
"""How many 16-bit floating-point numbers types of the CUDA headers hold."""
_DECLARED_DOUBLE = regex(r"(?:(?:const|register)\s+)*(?:double|auto)\b")
_MOST_FACTORS = 4
"""Of a power that is written as a product."""


def operation_of(code: ir.Expr) -> Sequence:
    """What the operation at the root of an expression takes, a lane each: what its operands take is counted with them.
    """
    match code:
        case ir.Unary(op=op, type=type_) if op in walk.STEPS:
            return _plain("+", type_)
        case ir.Unary(type=type_):
            # The sign of a floating-point number goes into what uses it.
            return _NOTHING if _float_bytes(type_) else _ONE
        case ir.Binary(left=ir.Constant(), right=ir.Constant()):
            return _NOTHING
        case ir.Binary(op=op, left=left, right=right, type=type_):
            return _binary(op, left, right, type_)
        case ir.Assign(op=op, target=target, value=value) if op:
            wider = value.type if _float_bytes(value.type) > _float_bytes(target.type) else target.type
            both = _conversion(target.type, wider), _conversion(wider, target.type)
            return Sequence(*map(sum, zip(_binary(op, target, value, wider), *both, strict=True)))
        case ir.Conditional():
            return _ONE
        case ir.Cast(operand=operand, type=type_) if not isinstance(operand, ir.Constant):
            return _conversion(operand.type, type_)
        case ir.Call():
            return _call(code)
    return _NOTHING


def in_single_precision(code: ir.Expr) -> float:
    """Instructions of the operation at the root of an expression, if it were one of floats."""
    match code:
        case ir.Cast():
            return 0.0
        case ir.Binary(op="/", left=left, right=right) | ir.Assign(op="/", target=left, value=right):
            return _division(left, right, _FLOAT).instructions
        case ir.Assign():
            return 1.0
        case ir.Call(name=name, arguments=arguments):
            return machine_code(name, _FLOAT.bytes, _exponent(arguments)).instructions
    return operation_of(code).instructions


def _call(call: ir.Call) -> Sequence:
    arguments = call.arguments if call.receiver is None else (call.receiver, *call.arguments)
    first = arguments[0].type if arguments else call.type
    half = _HALVES.get(ir.type_name(ir.referent(first)).removeprefix("const "), 0)
    if half and call.name.removeprefix("operator") in ("+", "-", "*", "+=", "-=", "*="):
        return Sequence(1, fp16=half)
    # A template may take what it converts: `pow(x, 2)` of a float computes doubles.
    size = 8 if _float_bytes(call.type) == 8 else _float_bytes(first)
    return machine_code(call.name, size, _exponent(arguments))


def _exponent(arguments: tuple[ir.Expr, ...]) -> int | float | str | None:
    second = walk.without_casts(arguments[1]) if len(arguments) > 1 else None
    return second.value if isinstance(second, ir.Constant) else None


def _binary(op: str, left: ir.Expr, right: ir.Expr, type_: ir.Type) -> Sequence:
    if op == "/" or (op == "%" and not _float_bytes(type_)):
        return _division(left, right, type_)
    return _plain(op, type_) if op != "," else _NOTHING


def _plain(op: str, type_: ir.Type) -> Sequence:
    size = _float_bytes(type_)
    if not size or op not in ("+", "-", "*"):
        return _ONE
    return {2: Sequence(1, fp16=1), 4: Sequence(1, fp32=1)}.get(size, Sequence(1, fp64=1))


def _division(left: ir.Expr, right: ir.Expr, type_: ir.Type) -> Sequence:
    size, left, right = _float_bytes(type_), walk.without_casts(left), walk.without_casts(right)
    is_fixed = isinstance(right, ir.Constant) or (isinstance(right, ir.Name) and walk.is_fixed(right.symbol))
    by = "constant" if is_fixed else "number"
    if size and isinstance(left, ir.Constant) and left.value == 1:
        by = "reciprocal"
    divisor = right.value if isinstance(right, ir.Constant) else None
    if isinstance(right, ir.Name) and right.symbol.storage == "builtin" and right.symbol.name == "warpSize":
        divisor = WARP_LANES
    if isinstance(divisor, (int, float)) and is_power_of_two(divisor):
        by = "power"
    wide = isinstance(type_, ir.Scalar) and type_.bytes == 8
    return DIVISIONS[("double" if size == 8 else "float") if size else ("long" if wide else "int"), by]


def _float_bytes(type_: ir.Type) -> int:
    return type_.bytes if isinstance(type_, ir.Scalar) and type_.kind == "float" else 0


def _conversion(source: ir.Type, target: ir.Type) -> Sequence:
    """A cast is an instruction between integers and floating point, and between widths of the latter."""
    if not isinstance(source, ir.Scalar) or not isinstance(target, ir.Scalar):
        return _NOTHING
    floats = {each.bytes if each.kind == "float" else 0 for each in (source, target)}
    if len(floats) == 1:
        return _NOTHING
    if max(source.bytes, target.bytes) == 8:
        return Sequence(1, special=1)
    return _ONE if source.kind != "float" and target.bytes == 4 else Sequence(1, special=0.25)


# --- arithmetic that takes more than it has to ---------------------------------------------------------


Spelled = Callable[[ir.Expr | st.Declare], str]
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
    is_sized: bool = False


class _Computation(Struct, frozen=True, eq=False):
    """An operation, with how often it is executed in one world."""

    code: ir.Expr
    site: Site
    warps: float
    lanes: float
    by_data: bool
    in_loop: bool
    is_sized: bool
    """Whether it is outside of a loop of which nothing in sight says how long it is."""


def slow(
    trace: Trace, lengths: Lengths, kernel: ir.Function, work: Work, spelled: Spelled, world: int = 0
) -> dict[Key, Slow]:
    """By kind and place."""
    found: dict[Key, Slow] = {}
    computations = list(_computations(trace, lengths, world))
    roots = _variables(found, computations, kernel, spelled)
    for each in computations:
        tree = unasked_double(each.code) if id(each.code) not in roots else None
        if tree is not None:
            key: Key = ("double", each.code.span)
            names = dict.fromkeys(map(spelled, tree.causes))
            found.setdefault(key, Slow("double", tuple(names), causes=tuple(cause.span for cause in tree.causes)))
            roots |= dict.fromkeys(tree.parts, key)
    divided: set[tuple[object, ...]] = set()
    divisions: dict[Site, list[tuple[Slow, float, float]]] = {}
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
            site = own
            function = called(each.site.stack[0]) if each.site.stack else kernel
            if own.kind != "division" or (
                function is not None and has_faster_way(_divisor(each.code), function, each.site.stack, kernel)
            ):
                site = found.setdefault((own.kind, each.code.span), own)
            _count(site, each)
            if own.kind == "division":
                special = each.lanes * operation_of(each.code).special
                divisions.setdefault(each.site, []).append((site, saved * each.warps, special))
            else:
                site.saved += saved * each.warps
    for statement, own_divisions in divisions.items():
        # The compiler knows divisors where it lays out loops turn by turn, and computes outside of loops what it can.
        whole = sum(saved for _, saved, _ in own_divisions)
        left = min(1.0, work.divisions.get(statement, 0.0) / whole) if whole else 0.0
        for site, saved, special in own_divisions:
            site.saved += left * saved
            site.special += left * special
    return found


def _divisor(code: Any) -> ir.Expr:
    right: ir.Expr = code.right
    return right


def _variables(
    found: dict[Key, Slow], computations: Iterable[_Computation], kernel: ir.Function, spelled: Spelled
) -> dict[int, Key]:
    """The nodes that are computed in double precision for the sake of variables that are declared so, each with what it
    belongs to; notes the variables."""
    roots: dict[int, Key] = {}
    groups = dict[ir.Function, tuple[Group, ...]]()
    for each in computations:
        function = called(each.site.stack[0]) if each.site.stack else kernel
        if function is None or function in groups:
            continue
        groups[function] = double_variables(function)
        for group in groups[function]:
            if not all(_says_double(declared, function, spelled) for declared in group.declarations):
                continue  # A template's argument says so, or an alias.
            key: Key = ("variable", group.main.span)
            names = tuple(dict.fromkeys(declared.symbol.name for declared in group.declarations))
            found[key] = Slow("variable", names, causes=tuple(declared.span for declared in group.declarations))
            roots |= dict.fromkeys((part for parts in group.roots.values() for part in parts), key)
    return roots


def _says_double(declared: st.Declare, function: ir.Function, spelled: Spelled) -> bool:
    """Whether the declaration itself names the type, or leaves it to the value."""
    text, name = spelled(declared), declared.symbol.name
    if not re.match(rf"{name}\b", text):
        return _DECLARED_DOUBLE.match(text) is not None
    # It follows others in one declaration.
    others = [each for each in walk.nodes_in(function) if isinstance(each, st.Declare)]
    at = others.index(declared)
    return at > 0 and others[at - 1].symbol.type == declared.symbol.type and (
        _says_double(others[at - 1], function, spelled)
    )


def _count(found: Slow, computation: _Computation) -> None:
    found.executions = max(found.executions, computation.warps)
    found.by_data = found.by_data or computation.by_data
    found.in_loop = found.in_loop or computation.in_loop
    found.is_sized = found.is_sized or computation.is_sized


def _add_double(found: Slow, computation: _Computation) -> None:
    _count(found, computation)
    counts, takes = operation_of(computation.code), in_single_precision(computation.code)
    found.saved += computation.warps * max(0.0, counts.instructions - takes)
    found.doubles += computation.lanes * counts.fp64
    if not takes:
        found.special += computation.lanes * counts.special


# --- how often ----------------------------------------------------------------------------------------


def _computations(trace: Trace, lengths: Lengths, world: int) -> Iterator[_Computation]:
    """The operations of the source that are executed, but for those of the bundled headers."""
    executions = lengths.counted()
    taken, taken_for = _taken(trace, world), lengths.taken_for()
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
                is_sized = not taken_for <= lengths.numbers(code, site.stack)
                yield _Computation(code, site, warps, lanes, times.by_data, bool(around), is_sized)


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
    sums: dict[tuple[int, Stack], Any] = {}
    for event in trace.branches:
        if isinstance(event.node, ir.Conditional):
            masks = event.mask, event.mask & event.taken, event.mask & ~event.taken
            own = sums.setdefault((id(event.node), event.stack), np.zeros(3))
            own += [executions_in(world, mask, event.weight, trace.lanes) for mask in masks]
    return {key: (own[1] / own[0], own[2] / own[0]) for key, own in sums.items() if own[0]}


# --- what is slow -------------------------------------------------------------------------------------


def _slow(computation: _Computation, spelled: Spelled) -> Iterator[tuple[Slow, float]]:
    """What is slow of one operation, and the instructions that each execution takes too many."""
    code = computation.code
    match code:
        case ir.Binary(op="/" | "%", right=right, type=ir.Scalar(kind="int" | "uint") as type_):
            takes = operation_of(code).instructions
            wide = "long" if type_.bytes == 8 else "int"
            if takes >= DIVISIONS[wide, "number"].instructions:
                yield Slow("division", (spelled(right),)), takes - DIVISIONS[wide, "constant"].instructions
        case ir.Binary(op="/", left=left, right=right, type=ir.Scalar(kind="float") as type_):
            takes = operation_of(code).instructions
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
                yield Slow("function", (name,), intrinsic, keeps_type=keeps), operation_of(code).instructions - 3


def _power(code: ir.Call, base: ir.Expr, exponent: ir.Expr, spelled: Spelled) -> Iterator[tuple[Slow, float]]:
    takes, text, keeps = operation_of(code).instructions, spelled(base), is_number_of(code.type, base)
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
    """Whether an operand is of a type before it is converted implicitly."""
    while isinstance(operand, ir.Cast) and not operand.explicit:
        operand = operand.operand
    return isinstance(operand.type, ir.Scalar) and isinstance(type_, ir.Scalar) and (
        (operand.type.kind, operand.type.bytes) == (type_.kind, type_.bytes)
    )
