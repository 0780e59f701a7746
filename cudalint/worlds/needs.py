"""What the worlds of a batch have to show, and the numbers worth trying for it.

Each use of a number asks for worlds that differ where the use could matter: small and large bounds; multiples of each
divisor and others; strides of one and large ones; both sides of a flag.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.worlds.records import Parameter
from cudalint.worlds.uses import Use

Values = Mapping[Parameter, Any]
"""A number for each parameter, or as many worlds of them as arrays have elements."""

LARGE = 1024
"""Of a loop by tiles of at most half of it that is two turns, and of a row many sectors."""
_MOST_LARGE = 1 << 15
"""Of what is multiplied: two of them are still an `int`."""
_BITS = 30
"""Of products that are."""
SMALL = 8
"""Less than a warp, and yet whole sectors of most types."""
_MOST_UNIT = 4096
SHIFTED = 32
"""Bits of an `int`: shifts by as many have no result."""
_FARTHEST = (1 << 63) - 1
_PARTS = (4, 8, 16)
"""Elements of a sector of 8, 4 and 2 bytes each: rows of as many, and of half of it, tell what a figure rests on."""


class Need(NamedTuple):
    """Something that one world at least should have."""

    text: str
    about: tuple[Parameter, ...]
    holds: Callable[[Values], Any]
    """By world."""
    is_extra: bool = False
    """Whether it only makes what is said of others more exact."""


def needs_of(
    uses: Iterable[Use], parameters: Sequence[Parameter], threads: int = 0, extents: Sequence[int] = ()
) -> list[Need]:
    """What uses ask for, each once; `threads` as for `values_of`, `extents` those along the axes of the grid."""
    uses, by_name = [use for use in uses if not _is_far(use)], {parameter.name: parameter for parameter in parameters}
    own = {p: [use for use in uses if use.parameter == p] for p in parameters}
    sizes = {p: size_of(p, own[p]) for p in parameters}
    large = {p: large_of(own[p], threads) for p in parameters}
    found: dict[str, Need] = {}
    few = [p for p in parameters if is_few(own[p])]
    for p in few:
        for need in _of_few(p):
            found.setdefault(need.text, need)
    for use in uses:
        if use.parameter in sizes and not (use.parameter in few and use.kind in _LARGER):
            other = by_name.get(use.other) if isinstance(use.other, str) else None
            for need in _needs(use, sizes[use.parameter], large[use.parameter], other):
                found.setdefault(need.text, need)
            if use.kind == "guard" and other is None and extents:
                need = _ends_within(use.parameter, extents)
                found.setdefault(need.text, need)
    for p in parameters:
        for need in (*_of_several_constants(p, own[p]), *_beside_lengths(p, sizes[p], own)):
            found.setdefault(need.text, need)
    return list(found.values())


def _ends_within(p: Parameter, extents: Sequence[int]) -> Need:
    """About as many as there are threads along an axis: some of them are on each side, in whole warps."""

    def holds(values: Values) -> Any:
        return np.any([(values[p] > extent // 2) & (values[p] <= extent) for extent in extents], axis=0)

    return Need(f"{p.name} ends within the grid", (p,), holds)


_LARGER = ("dividend", "divisor", "loop", "guard", "stride")
"""Uses of sizes, that large ones and small ones are tried for."""


def is_few(own: Iterable[Use]) -> bool:
    """Whether a number is that of places in a window, or between two of them, of which there are few."""
    return any(use.kind in ("window", "step") for use in own)


def _of_few(p: Parameter) -> Iterator[Need]:
    yield Need(f"{p.name} == 1", (p,), lambda values: values[p] == 1)
    yield Need(f"{p.name} > 1, % 2 == 0", (p,), lambda values: (values[p] > 1) & (values[p] % 2 == 0))
    yield Need(f"{p.name} > 1, % 2 != 0", (p,), lambda values: (values[p] > 1) & (values[p] % 2 != 0))


def _is_far(use: Use) -> bool:
    """Whether it is about a constant that nothing of 64 bits reaches: there are no worlds on both sides of it."""
    return isinstance(use.other, int) and abs(use.other) > _FARTHEST


def large_of(own: Iterable[Use], threads: int = 0) -> int:
    """What counts as large for a parameter, by its uses."""
    found, most = LARGE, 1 << _BITS
    for use in own:
        if use.kind in ("stride", "divisor"):
            most = min(most, _MOST_LARGE)
        if use.kind == "guard" or (use.kind == "loop" and use.other == "thread"):
            found = max(found, 2 * threads)
        if use.factors > 1:
            # Each of them may be a factor twice.
            most = min(most, 1 << _BITS // (use.factors + 1))
    return min(found, most)


def _of_several_constants(p: Parameter, uses: Sequence[Use]) -> Iterator[Need]:
    """A multiple of one divisor and of no other; what none of the cases is about."""
    divisors = {u.other for u in uses if u.kind in ("dividend", "vector") and isinstance(u.other, int)}
    for one, other in itertools.permutations(sorted(divisors), 2):
        if one % other:
            yield Need(f"{p.name} % {one} == 0, % {other} != 0", (p,), _multiple_of_one(p, one, other))
    cases = {u.other for u in uses if u.kind == "flag" and isinstance(u.other, int)}
    if len(cases) > 1:
        text = ", ".join(str(case) for case in sorted(cases))
        yield Need(f"{p.name} is none of {text}", (p,), lambda values: ~np.isin(values[p], list(cases)))


def _beside_lengths(p: Parameter, size: int, own: Mapping[Parameter, Sequence[Use]]) -> Iterator[Need]:
    """A stride of one where there are neighbours: beside bounds of one there is nothing that it could be good for."""
    if not any(use.kind == "stride" and use.other != "block" for use in own[p]):
        return
    bounds = [other for other, uses in own.items() if other != p and any(u.kind in ("loop", "guard") for u in uses)]
    if bounds:

        def holds(values: Values) -> Any:
            long = [values[bound] >= WARP_LANES for bound in bounds]
            return (values[p] == size) & np.logical_and.reduce(np.broadcast_arrays(*long))

        yield Need(f"{p.name} == {size} beside long rows", (p,), holds)


def _multiple_of_one(p: Parameter, one: int, other: int) -> Callable[[Values], Any]:
    return lambda values: (values[p] % one == 0) & (values[p] % other != 0)


def size_of(parameter: Parameter, uses: Iterable[Use]) -> int:
    """What a number is a multiple of wherever the program makes sense: the bytes of an element, if it counts bytes."""
    own = (u.other for u in uses if u.parameter == parameter and u.kind == "size")
    return _least_common(each for each in own if isinstance(each, int))


def _needs(use: Use, size: int, large: int, other: Parameter | None) -> Iterator[Need]:
    p, constant = use.parameter, use.other

    def need(text: str, holds: Callable[[Any], Any], is_extra: bool = False) -> Need:
        return Need(f"{p.name} {text}", (p,), lambda values: holds(_wide(values[p])), is_extra)

    match use.kind:
        case "dividend" | "vector" if isinstance(constant, int):
            yield need(f"% {constant} == 0", lambda value: value % constant == 0)
            if size % constant:
                yield need(f"% {constant} != 0", lambda value: value % constant != 0)
            if use.kind == "dividend":
                # What is wasteful with large ones may not be with more than one, of which the quotient is one as well.
                few = f"> {size}, <= {constant}"
                yield need(few, lambda value: (value > size) & (value <= constant), is_extra=True)
        case "dividend" | "guard" if other is not None and other != p:
            yield from _between(use.kind == "guard", p, other)
        case "loop" | "guard":
            yield need(f"< {WARP_LANES * size}", lambda value: value < WARP_LANES * size)
            yield need(f">= {large}", lambda value: value >= large)
            if use.kind == "guard":
                unit = WARP_LANES * size
                yield need(f"> {unit}, % {unit} != 0", lambda value: (value > unit) & (value % unit != 0))
        case "stride" | "divisor":
            unit = WARP_LANES * size
            if use.kind == "divisor" or use.other != "block":
                yield need(f"== {size}", lambda value: value == size)
            yield need(f"% {unit} == 0", lambda value: (value > 0) & (value % unit == 0))
            yield need(f"> {unit}, % {2 * size} != 0", lambda value: (value > unit) & (value % (2 * size) != 0))
            for part in _PARTS:
                own = part * size
                text = f"> {unit}, % {own} == 0, % {2 * own} != 0"
                yield need(text, lambda value, own=own: (value > unit) & (value % (2 * own) == own), is_extra=True)  # type: ignore[misc]
        case "flag" if isinstance(constant, int):
            yield need(f"== {constant}", lambda value: value == constant)
            yield need(f"!= {constant}", lambda value: value != constant)
        case "limit" if isinstance(constant, int):
            yield need(f">= {constant}", lambda value: value >= constant)
            yield need(f"< {constant}", lambda value: value < constant)
        case "shift":
            yield need("== 0", lambda value: value == 0)
            yield need("> 0", lambda value: value > 0)


def _wide(values: Any) -> Any:
    """As numbers that all of a kernel's constants can be compared with and divide."""
    return values.astype(np.int64) if isinstance(values, np.ndarray) and values.dtype.kind in "iu" else values


def _between(is_compared: bool, p: Parameter, other: Parameter) -> Iterator[Need]:
    both = p, other
    if is_compared:
        yield Need(f"{p.name} > {other.name}", both, lambda values: values[p] > values[other])
        yield Need(f"{p.name} < {other.name}", both, lambda values: values[p] < values[other])
        return
    yield Need(f"{p.name} % {other.name} == 0", both, lambda values: _rest(values[p], values[other]) == 0)
    yield Need(f"{p.name} % {other.name} != 0", both, lambda values: _rest(values[p], values[other]) > 0)


def _rest(dividend: Any, divisor: Any) -> Any:
    """Below 0 where something is divided by zero."""
    return np.where(np.equal(divisor, 0), -1, dividend % np.where(np.equal(divisor, 0), 1, divisor))


def values_of(parameter: Parameter, type_: ir.Type, uses: Iterable[Use], threads: int = 0) -> list[int]:
    """Numbers to try for a parameter, a usual one first. `threads` are those of a launch: a bound has to be larger for
    all of them to have something to do; 0 where their number is not known."""
    own = [use for use in uses if use.parameter == parameter]
    kinds = {use.kind for use in own}
    size = size_of(parameter, own)
    chosen = [use.other for use in own if use.kind in ("flag", "limit") and isinstance(use.other, int)]
    found: list[int] = []
    if is_few(own):
        found += [SMALL, 1, 2, 3]
    elif kinds != {"shift"} and not is_shift(own) and (kinds - {"flag", "limit", "shift"} or not kinds):
        large, small = _sizes(own, size, threads)
        # Up to a limit sizes are rather as large as it is than small.
        limits = [use.other for use in own if use.kind == "limit" and isinstance(use.other, int)]
        found += [*large, *(limit - less for limit in limits for less in (0, 1)), *small]
    elif "shift" in kinds:
        found += [2, 0, 5]
    for use in own:
        if isinstance(use.other, int) and use.kind in ("flag", "limit"):
            found += [use.other, use.other - 1 if use.kind == "limit" else use.other + 1]
    if chosen and kinds == {"flag"}:
        # What none of the cases is about.
        found.append(max(chosen) + 1)
    if not found:
        found = [LARGE]
    return [value for value in dict.fromkeys(found) if _fits(value, type_)] or [0]


def is_shift(own: Iterable[Use]) -> bool:
    """Whether something is shifted by a number itself, which has to be less than the bits of an integer then."""
    return any(use.kind == "shift" and use.other in ("<<", ">>", "place") for use in own)


def _sizes(own: Sequence[Use], size: int, threads: int) -> tuple[list[int], list[int]]:
    """A large multiple of all that a number is divided by, and large ones that are no multiples; a small one, one, and
    further large ones."""
    kinds = {use.kind for use in own}
    by = [u.other for u in own if u.kind in ("dividend", "vector", "size") and isinstance(u.other, int) and u.other > 1]
    units = sorted({size, *by})
    unit = _least_common((WARP_LANES * size, *by))
    large = -(-large_of(own, threads) // unit) * unit
    parts = [part * size for part in _PARTS] if kinds & {"stride", "divisor"} else []
    # The first numbers with which something that is compared with them is on the other side.
    edges = [u.other + 1 for u in own if u.kind == "edge" and isinstance(u.other, int) and 0 <= u.other < large]
    parts += [*edges, *(SMALL * size + edge - large for edge in edges)]
    # A multiple of one of them is none of what does not divide it.
    return [large, *(large + number for number in units)], [SMALL * size, size, *(large + part for part in parts)]


def _least_common(numbers: Iterable[int]) -> int:
    """The least common multiple of those that leave it usual."""
    found = 1
    for number in numbers:
        both = math.lcm(found, max(1, number))
        found = both if both <= _MOST_UNIT else max(found, number)
    return found


def _fits(value: int, type_: ir.Type) -> bool:
    if not isinstance(type_, ir.Scalar):
        return True
    if type_.kind == "bool":
        return value in (0, 1)
    bits = 8 * type_.bytes
    return 0 <= value < 1 << bits if type_.kind == "uint" else -(1 << (bits - 1)) <= value < 1 << (bits - 1)
