"""Integers that were loaded, and what is computed from them: data, for which numbers can be drawn.

To the execution they are data like any other, and cost it next to nothing. Whoever asks what an access costs that goes
where data says has numbers drawn for it: arbitrary ones, but what is loaded from one address is one number.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute import values as of_value
from cudalint.execute.arithmetic import COMPARING, binary, converted, dtype_of
from cudalint.execute.values import COMPUTED, Data, Value, is_common
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Lanes, Mask
    from cudalint.execute.trace import AccessEvent

_DEEPEST = 48
"""Steps from a number back to what was loaded first; what was loaded where a longer way leads is drawn by itself."""
_MOST_CHOICES = 4
"""Between plain numbers, all combinations of which are looked at."""
_KEPT = 8
"""Of these steps, the last ones with plain numbers (`(x & 255) * 8`), which are kept."""
_KINDS = frozenset({"int", "uint", "bool"})
_BOOL = ir.Scalar("bool", 1, "bool")
_INT = ir.Scalar("int", 4, "int")
_LONG = ir.Scalar("long", 8, "int")
_MOST_BITS = 32
_SCALING = frozenset({"*", "/", "%", "<<", ">>", "&", "|"})
_LOADS = frozenset({"load", "any"})
_STEPPED = 8
"""Draws of one number that go on from one another."""
_MOST_ALTERNATIVES = 4
"""Values that data chooses from for each lane, of which there are more where each turn of a loop adds one."""
_NUMBERS = (int, bool, np.ndarray)


class Drawn(Data):
    """An integer that a load finds, or that is computed from such."""

    __slots__ = ("arguments", "depth", "is_by_lane", "op", "otherwise", "scope", "type")
    depth: int

    def __init__(
        self, op: str, arguments: tuple[Any, ...], type_: ir.Scalar, origin: AccessEvent | None = None,
        is_one: bool | None = None,
    ) -> None:  # fmt: skip
        """`is_one` says of a load whether a warp finds one number; of what is computed the arguments do."""
        is_one = all(map(is_common, arguments)) if is_one is None else is_one
        super().__init__("loaded" if op == "load" else "computed", "", origin, is_one)
        self.op, self.arguments, self.type = op, arguments, type_
        self.is_by_lane = False
        """Of one value or another one: whether data says which it is for each lane."""
        self.scope = 0
        """Of what was stored where data decides who comes: within that it is the first of its arguments."""
        self.otherwise = 0
        """The scope to which all come who do not come to that one."""
        self.depth = 1 + max((each.depth for each in arguments if type(each) is Drawn), default=0)

    @property
    def derived(self) -> Data:
        """Of what is computed in ways that nobody follows the numbers are as good as these."""
        if self.origin is None or self.is_derived:
            return self
        found = Drawn(self.op, self.arguments, self.type, self.origin, self.is_common)
        found.is_derived = True
        return found

    def numbers(self, lanes: Lanes, known: Known | None = None, draw: int = 0) -> tuple[Any, bool]:
        """Numbers for all lanes, [1 or R, 1 or L], or a single one; and whether what is loaded differs within warps.
        `known` keeps those of others that this may have parts in common with, of the same draw."""
        known = {} if known is None else known
        found = known.get(self)
        if found is None:
            given = [
                each.numbers(lanes, known, draw) if type(each) is Drawn else (each, False) for each in self.arguments
            ]
            values, is_scattered = [value for value, _ in given], any(scattered for _, scattered in given)
            with np.errstate(all="ignore"):
                found = known[self] = self._computed(values, is_scattered, lanes, draw)
        return found

    def _computed(self, values: list[Any], is_scattered: bool, lanes: Lanes, draw: int) -> tuple[Any, bool]:
        if self.op == "load":
            number = _drawn(values[0], values[1], self.type, lanes, draw)
            return number, is_scattered or _differs_in_warps(values[1], lanes)
        if self.op == "any":
            # Nobody knows from where it is loaded: each lane has its own, or each block.
            where = np.zeros((1, 1), np.int64) if self.is_common else np.arange(lanes.lanes, dtype=np.int64)[None]
            return _drawn(self.arguments[0], where, self.type, lanes, draw), not self.is_common
        if self.op == "either":
            both = [_in_type(each, self.type) for each in values]
            by_row = np.arange(1 + draw, lanes.rows + 1 + draw, dtype=np.uint64)[:, None]
            if not self.is_by_lane:
                return np.where(_scramble(by_row) & np.uint64(1), *both), is_scattered
            own = np.arange(lanes.lanes, dtype=np.uint64) + by_row * np.uint64(lanes.lanes * self.depth)
            is_any = self._has_many_alternatives()
            return np.where(_scramble(own) & np.uint64(1), *both), is_scattered or is_any
        return self.of_arguments(values), is_scattered

    def of_arguments(self, values: list[Any]) -> Any:
        """What is computed of numbers that stand for its arguments."""
        if self.op == "cast":
            return converted(values[0], self.type)
        if self.op == "chosen":
            return np.where(values[0], *(_in_type(each, self.type) for each in values[1:]))
        if self.op == "function":
            return converted(self.arguments[0](*map(np.asarray, values[1:])), self.type)
        if self.op == ">>" and self.type.bytes > _MOST_BITS // 8:
            # Words of 64 bits are drawn with 32 of them: parts of one may be packed into the upper half.
            is_plain = type(values[0]) is int
            word = np.uint64(values[0] & _ALL_BITS) if is_plain else np.asarray(values[0], np.int64).view(np.uint64)
            filled = (word | _scramble(word) << np.uint64(32)) & np.uint64((1 << 63) - 1)
            values = [int(filled) if is_plain else filled.view(np.int64), values[1]]
        found = binary(self.op, values[0], values[1], self.type)
        # What nothing gives a number for, as what is divided by zero, has one that is as good as others.
        return 0 if isinstance(found, Data) else found

    def _has_many_alternatives(self) -> bool:
        """Whether data chooses from more than a few values: each of several is counted as often as ways lead to it."""
        waiting, count = [self], 0
        while waiting and count <= _MOST_ALTERNATIVES:
            each = waiting.pop()
            if each.op == "either":
                inner = [argument for argument in each.arguments if type(argument) is Drawn]
                count += len(each.arguments) - len(inner)
                waiting += inner
            else:
                count += 1
        return count > _MOST_ALTERNATIVES

    def of_one_value(self, mask: Mask) -> Mask:
        """Of a condition, and lanes that may go where it holds: where a number that differs by lane has to be one that
        they have in common, these are some for which it is the same: as the last of them has it, since what first
        threads do is often theirs alone."""
        if self.op != "==":
            return mask
        one, other = self.arguments
        own, common = (one, other) if type(other) is Drawn else (other, one)
        if type(own) is not np.ndarray or is_common(own) or not is_common(common):
            return mask
        own = np.broadcast_to(own, mask.shape)
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        found: Mask = mask & (own == np.take_along_axis(own, last[:, None], axis=1))
        return found

    @property
    def is_scaled(self) -> bool:
        """Whether the distance between lanes is up to the size of what was loaded (`threadIdx.x * n[0]`), which that of
        arbitrary numbers says nothing about."""
        for each in self.parts(beyond_loads=False):
            if each.op in _SCALING:
                by_lane = any(type(own) is np.ndarray and not is_common(own) for own in each.arguments)
                if by_lane and any(type(own) is Drawn and own.is_common for own in each.arguments):
                    return True
        return False

    def without_data(self, lanes: Lanes, known: Known | None = None) -> Any:
        """What it is if all that is loaded is zero. `known` keeps that of others."""
        known = {} if known is None else known
        known.update(dict.fromkeys(self.loads(), (0, False)))
        return self.numbers(lanes, known)[0]

    def salt(self) -> int:
        """What tells it from other numbers, more or less."""
        found, each = 0, self
        for _ in range(_DEEPEST):
            found = found * 31 + sum(map(ord, each.op))
            inner = [argument for argument in each.arguments if type(argument) is Drawn]
            if not inner:
                return found + (each.arguments[0] if type(each.arguments[0]) is int else 0)
            each = inner[-1]
        return found

    def loads(self) -> Iterator[Drawn]:
        """The loads that it is computed from, and those that lead to these."""
        return (each for each in self.parts() if each.op in _LOADS)

    def parts(self, beyond_loads: bool = True) -> Iterator[Drawn]:
        """All that it is computed of, itself included, each once: parts that several have in common are as many as
        there are ways to them otherwise. Not what leads to loads, unless that is asked for, too."""
        waiting: list[Drawn] = [self]
        seen = set[int]()
        while waiting:
            each = waiting.pop()
            if id(each) not in seen:
                seen.add(id(each))
                yield each
                if beyond_loads or each.op not in _LOADS:
                    waiting += [argument for argument in each.arguments if type(argument) is Drawn]

    @property
    def is_mixed(self) -> bool:
        """Whether data goes into it by way of an exclusive or with other data, or in pieces of few bits."""
        for each in self.parts(beyond_loads=False):
            if each.op == "^" and all(type(argument) is Drawn for argument in each.arguments):
                return True
            if each.op in ("&", ">>") and type(each.arguments[1]) is int:
                return True
        return False


Known = dict[Drawn, tuple[Any, bool]]


def loaded_number(name: str, offset: Any, type_: ir.Type, origin: AccessEvent, is_one: bool) -> Data:
    """What a load finds; `is_one` where all active lanes of a warp find the same."""
    if not (isinstance(type_, ir.Scalar) and type_.kind in _KINDS):
        return Data("loaded", "", origin, is_one)
    if isinstance(offset, Data) and type(offset) is not Drawn:
        where = origin.node.span
        return Drawn("any", (zlib.crc32(name.encode()) + 1009 * where.line + where.column,), type_, origin, is_one)
    return Drawn("load", (zlib.crc32(name.encode()), _near(offset)), type_, origin, is_one)


def computed_number(op: str, left: Value, right: Value, type_: ir.Type, operand: ir.Type) -> Data | None:
    """What an operator makes of two values of which one was drawn; None where the other one is no number."""
    own = operand if op in COMPARING else type_
    if not isinstance(own, ir.Scalar) or own.kind not in _KINDS:
        return None
    if not all(type(each) in (Drawn, *_NUMBERS) for each in (left, right)):
        return None
    return _shallow(Drawn(op, (left, right), own))


def function_number(compute: Callable[..., Any], values: Sequence[Value], type_: ir.Type) -> Data | None:
    """What a function makes of numbers of which one was drawn; None where another one is no number."""
    if not isinstance(type_, ir.Scalar) or type_.kind not in _KINDS or Drawn not in map(type, values):
        return None
    if not all(type(each) in (Drawn, *_NUMBERS) for each in values):
        return None
    return _shallow(Drawn("function", (compute, *values), type_, None, all(map(is_common, values))))


def whole_number(of: Data, type_: ir.Type, span: ir.Span) -> Data:
    """An integer that is made of a float of which nothing is known."""
    if not isinstance(type_, ir.Scalar) or type_.kind not in _KINDS or type(of) is not Data or of.kind == "unknown":
        return of
    return Drawn("any", (1009 * span.line + span.column,), type_, of.origin, of.is_common)


def one_number(type_: ir.Type, salt: int) -> Data:
    """What all lanes of a warp have that take one of several numbers which they have in common, whichever it is."""
    if not isinstance(type_, ir.Scalar) or type_.kind not in _KINDS:
        return Data("computed", is_common=True)
    return Drawn("any", (salt,), type_, None, True)


def _shallow(made: Drawn) -> Drawn:
    """A number, without the long way that led to it."""
    if made.depth <= _DEEPEST:
        return made
    return Drawn(made.op, tuple(map(_cut, made.arguments)), made.type, made.origin, made.is_common)


def _cut(value: Value, kept: int = _KEPT) -> Value:
    """What stands for a number with a long way: of its last steps, those that tell how large and how aligned it is."""
    if type(value) is not Drawn or value.depth <= _DEEPEST // 2:
        return value
    if kept and value.op not in ("load", "any") and sum(type(each) is Drawn for each in value.arguments) == 1:
        arguments = tuple(_cut(each, kept - 1) for each in value.arguments)
        return Drawn(value.op, arguments, value.type, value.origin, value.is_common)
    type_ = _BOOL if value.op in COMPARING else value.type
    return Drawn("any", (value.salt(),), type_, value.origin, value.is_common)


def cast_number(value: Drawn, type_: ir.Type) -> Data:
    if not isinstance(type_, ir.Scalar) or type_.kind not in _KINDS:
        return Data("computed", is_common=value.is_common)
    return value if type_ == value.type else Drawn("cast", (value,), type_)


def chosen_number(mask: Any, new: Value, old: Value) -> Data:
    """One number in the lanes of a mask, and another in the others."""
    if any(type(each) not in (Drawn, *_NUMBERS) for each in (new, old)):
        return COMPUTED
    type_ = next(each.type for each in (new, old) if type(each) is Drawn)
    return _shallow(Drawn("chosen", (mask, new, old), type_))


def either_number(
    new: Value, old: Value, scope: int = 0, otherwise: int = 0, is_one_of_two: bool = False, is_common: bool = True
) -> Data:  # fmt: skip
    """One number or the other, as data says: here the one, and there the other; in one warp, too, unless that data is
    common to it. `scope` is where it is the new one, and `otherwise` where data leads if not there; `is_one_of_two`
    where all who see the number come to one of these."""
    if type(old) is Drawn and old.scope and old.scope in (scope, otherwise):
        old = old.arguments[1] if old.scope == scope else old.arguments[0]
    if any(type(each) not in (Drawn, *_NUMBERS) for each in (new, old)):
        return COMPUTED
    type_ = next((each.type for each in (new, old) if type(each) is Drawn), _LONG)
    is_one = is_common and all(map(of_value.is_common, (new, old)))
    made = _shallow(Drawn("either", (new, old), type_, None, is_one))
    made.scope, made.otherwise = scope, otherwise if is_one_of_two else 0
    made.is_by_lane = made.op == "either" and not is_common
    return made


def decided(value: Drawn) -> Any:
    """What a number is whatever data decides, if all that goes into it are plain numbers of which data chooses some;
    None for any other."""
    choices: dict[object, None] = {}
    for each in value.parts():
        if each.op in _LOADS:
            return None
        if each.op == "either":
            choices[each.otherwise or each.scope or each] = None
            if len(choices) > _MOST_CHOICES:
                return None
    found: Any = None
    for taken in itertools.product((True, False), repeat=len(choices)):
        own = _chosen_by(value, dict(zip(choices, taken, strict=True)), {})
        if found is not None and not np.array_equal(found, own):
            return None
        found = own
    return found if np.ndim(found) else np.asarray(found).item()


def decided_together(first: Drawn, second: Drawn, is_either: bool) -> Any:
    """The same of whether both of two numbers are other than zero, or either."""
    truths = tuple(Drawn("!=", (each, 0), each.type) for each in (first, second))
    return decided(Drawn("|" if is_either else "&", truths, _BOOL))


def _chosen_by(value: Any, taken: dict[object, bool], known: dict[int, Any]) -> Any:
    """A number where it is known which way data decides each choice."""
    if type(value) is not Drawn:
        return value
    found = known.get(id(value))
    if found is None:
        arguments = [_chosen_by(each, taken, known) for each in value.arguments]
        if value.op == "either":
            is_new = not taken[value.otherwise] if value.otherwise else taken[value.scope or value]
            found = arguments[0] if is_new else arguments[1]
        else:
            with np.errstate(all="ignore"):
                found = value.of_arguments(arguments)
        known[id(value)] = found
    return found


def after_turns(new: Value, old: Value, is_common: bool, salt: int) -> Value:
    """What a loop leaves that data ends: it was `old` before and is `new` after some turns, but nobody knows after how
    many lanes leave it, or warps."""
    if new is old or type(new) not in (Drawn, *_NUMBERS):
        return new
    if type(new) is Drawn and type(old) is Drawn:
        return either_number(new, old, is_common=is_common)
    if type(new) is bool or (type(new) is np.ndarray and new.dtype.kind not in "iu"):
        return COMPUTED
    type_ = new.type if type(new) is Drawn else _INT
    return Drawn("any", (salt,), type_, None, is_common)


def moved_offset(offset: Any, added: Any) -> Data:
    """The sum of two numbers of bytes of which one is data."""
    found = computed_number("+", offset, added, _LONG, _LONG)
    return found if found is not None else COMPUTED


def scaled_index(index: Drawn, bytes_: int) -> Data:
    found = computed_number("*", cast_number(index, _LONG), bytes_, _LONG, _LONG)
    return found if found is not None else COMPUTED


def _in_type(value: Any, type_: ir.Scalar) -> Any:
    """A number as one that numpy has of a type."""
    dtype = dtype_of(type_)
    found = converted(value, type_)
    if type(found) is int and dtype.kind in "iu":
        return np.uint64(found & _ALL_BITS).astype(dtype)
    return found if type(found) is np.ndarray else dtype.type(found)


_ALL_BITS = (1 << 64) - 1


def _near(offset: Any) -> Any:
    """The offset of a load, without the long way that led to it."""
    return _cut(offset) if type(offset) is Drawn and offset.depth >= _DEEPEST else offset


def _drawn(salt: int, offset: Any, type_: ir.Scalar, lanes: Lanes, draw: int = 0) -> Any:
    """Arbitrary numbers of a type, by the address; each block has its own, so that there are many of them. Where lanes
    have one in common, draws that follow one another have all remainders of a division by a small power of two."""
    at = np.atleast_2d(np.asarray(offset, np.int64)).view(np.uint64)
    steps, again = (draw % _STEPPED, draw // _STEPPED) if at.shape[1] == 1 else (0, draw)
    rows = np.arange(1 + again, lanes.rows + 1 + again, dtype=np.uint64)[:, None] * np.uint64(0xD1B54A32D192ED03)
    word = _scramble(_scramble(at + np.uint64(salt * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)) ^ rows)
    if type_.kind == "bool":
        return ((word + np.uint64(steps)) & np.uint64(1)) != 0
    bits = min(8 * type_.bytes - (type_.kind == "int"), _MOST_BITS)
    number = (word >> np.uint64(64 - bits)) + np.uint64(steps * (5 + 8 * (salt % 4)))
    return converted((number & np.uint64((1 << bits) - 1)).view(np.int64), type_)


def _scramble(x: Any) -> Any:
    """The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def some_of(mask: Any, conditions: int) -> Any:
    """Lanes of a mask that are left after so many conditions that each leave half of them, wherever they are."""
    rows, lanes = mask.shape
    place = np.arange(rows, dtype=np.uint64)[:, None] * np.uint64(lanes) + np.arange(lanes, dtype=np.uint64)
    word = _scramble(_scramble(place))
    return mask & ((word & np.uint64((1 << conditions) - 1)) == 0)


def _differs_in_warps(offset: Any, lanes: Lanes) -> bool:
    if type(offset) is not np.ndarray or offset.shape[-1] == 1:
        return False
    by_warp = offset.reshape(len(offset), -1, WARP_LANES)
    full = lanes.full[:1].reshape(1, -1, WARP_LANES)
    return bool(((by_warp != by_warp[..., :1]) & full).any())
