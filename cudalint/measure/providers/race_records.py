"""Races as facts have them: places, threads, the element as the source spells it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from cudalint.execute.memory import Allocation
from cudalint.execute.values import Data, Pointer
from cudalint.facts import Benign, Place, Race, RaceEnd
from cudalint.frontend.source_text import Spellings
from cudalint.ir import nodes as ir
from cudalint.ir.sizes import sized
from cudalint.ir.walk import without_casts
from cudalint.measure import races as measured
from cudalint.measure.doubts import Doubt
from cudalint.measure.places import frames_of, pointees_of
from cudalint.measure.seen import Seen
from cudalint.measure.tickets import Turn
from cudalint.worlds.records import Batch

_MOST_NUMBERS = 8


class Records(Struct, eq=False):
    """Makes records of the races of one kernel."""

    function: ir.Function
    spellings: Spellings

    def of(
        self, race: measured.Race, seen: Seen, batch: Batch, launch: int, doubt: Doubt | None, condition: str,
        symbol: str | None, benign: Benign | None, late: Turn | None,
    ) -> Race:  # fmt: skip
        """`condition` says in which worlds it is there, by a number named `symbol` if it is there in most of them."""
        second = self._end(race, race.second)
        first = self._end(race, race.first)
        is_shared = race.allocation.space == "shared"
        by_data = any(isinstance(end.event.offset, Data) for end in race.ends)
        array = second.array
        element = self._element(race, array, seen, batch)
        if by_data:
            # The call of an atomic is no name of an element.
            spelled = self.spellings.of(second.place) if second.operation != "atomic" else ""
            element = spelled or f"{array}[...]"
        return Race(
            space="shared" if is_shared else "global",
            array=array,
            certainty="certain" if doubt is None and symbol is None else "possible",
            launch=launch,
            first=first,
            second=second,
            element=element,
            reason=doubt.reason if doubt is not None else condition or None,
            size=symbol if doubt is None else None,
            usual=doubt is not None and doubt.usual,
            by_data=by_data,
            reach=race.reach,
            across=race.is_carried,
            one_access=_is_one_access(race),
            sizes=() if by_data else _numbers(race, seen, batch),
            benign=benign if doubt is None else None,
            fence_before=Place(*late.drawn.span) if late is not None else None,
        )

    def _end(self, race: measured.Race, end: measured.RaceEnd) -> RaceEnd:
        site = end.site
        name = self._named(race.allocation, site.node, bool(site.stack))
        return RaceEnd(
            Place(*site.node.span), site.operation, end.thread, end.block, name, frames_of(site.stack)
        )  # fmt: skip

    def _named(self, allocation: Allocation, node: object, is_called: bool) -> str:
        """What the array is called there: a launch may pass one for several parameters."""
        name = _path(_pointer(node)) if not is_called else None
        pointees = pointees_of(self.function)
        return name if name in pointees and allocation.name in pointees else allocation.name

    def _element(self, race: measured.Race, array: str, seen: Seen, batch: Batch) -> str:
        """The element as the source would spell it: `t[1][0]`."""
        if race.byte is None:
            return f"{array}[...]"
        type_ = race.allocation.type
        if race.allocation.space == "shared" and type_ is not None and not isinstance(type_, ir.ArrayType):
            return array
        if not isinstance(type_, ir.ArrayType) or not type_.count:
            # What is declared counts, however it is cast where it is touched: `half2` in an array of `half`.
            pointee = pointees_of(self.function).get(array)
            width = sized(pointee.bytes) if pointee is not None else _width(race, seen)
            start = _start(array, race, batch)
            # In front of where its pointer leads it is an element of the memory that it leads into.
            return f"{array}[{(race.byte - (start if start <= race.byte else 0)) // width}]"
        text, address = array, race.byte
        while isinstance(type_, ir.ArrayType):
            step = sized(type_.element.bytes)
            text += f"[{address // step}]"
            address %= step
            type_ = type_.element
        return text


def _pointer(node: Any) -> Any:
    """The expression of the pointer that an access goes by."""
    match node:
        case ir.Index():
            base = without_casts(node.base)
            return base if isinstance(ir.referent(base.type), ir.PointerType) else _pointer(base)
        case ir.Unary(op="*"):
            return node.operand
        case ir.Member():
            return node.base if node.arrow else _pointer(node.base)
        case ir.Cast():
            return _pointer(node.operand)
        case _:
            return None


def _path(pointer: Any) -> str | None:
    """The variable that an address is computed from, as the source spells it: `buffers.in` of `buffers.in + 4`."""
    pointer = without_casts(pointer)
    match pointer:
        case ir.Name():
            return pointer.symbol.name
        case ir.Member(arrow=False):
            base = _path(pointer.base)
            return f"{base}.{pointer.field}" if base is not None else None
        case ir.Binary(op="+" | "-"):
            return _path(pointer.left)
        case _:
            return None


def _start(array: str, race: measured.Race, batch: Batch) -> int:
    """Where the pointer of a name leads to in the memory of a race, in bytes."""
    first, *fields = array.split(".")
    value = next((value for symbol, value in batch.arguments.items() if symbol.name == first), None)
    for name in fields:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, Pointer) or value.allocation is not race.allocation:
        return 0
    offset = value.offset
    if isinstance(offset, (list, tuple)):
        offset = offset[race.world]
    return offset if isinstance(offset, int) else 0


def _width(race: measured.Race, seen: Seen) -> int:
    node = race.second.site.node
    if isinstance(race.allocation.type, ir.ArrayType):
        return sized(race.allocation.type.element.bytes)
    type_ = getattr(node, "type", None)
    if isinstance(node, ir.Member) and not node.arrow and isinstance(node.base.type, ir.RecordType):
        return sized(node.base.type.bytes)
    own = getattr(type_, "bytes", None)
    return sized(own) if own else race.second.site.bytes


def _is_one_access(race: measured.Race) -> bool:
    """Whether the touches are of one access. One place in a function that is called twice is two, and so is what a
    macro reads and stores at different addresses, which all stands where the macro does."""
    first, second = race.first.site, race.second.site
    return first.stack == second.stack and first.node is second.node


def _numbers(race: measured.Race, seen: Seen, batch: Batch) -> tuple[tuple[str, int], ...]:
    """What nobody gives of the element's address, and the values for which the two threads meet there."""
    names = sorted(seen.address(race.first.site).numbers | seen.address(race.second.site).numbers)
    world = batch.worlds[race.world]
    found = []
    for name in names:
        choice = world.get(name)
        if choice is not None and choice.basis != "given":
            found.append((name, int(choice.value)))
    return tuple(found[:_MOST_NUMBERS])
