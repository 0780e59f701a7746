"""The race facts of a kernel, collected launch by launch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint import ir
from cudalint.evaluate.execute.events import AccessEvent
from cudalint.evaluate.execute.memory import element_bytes
from cudalint.evaluate.execute.values import Allocation
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.symbolic.nodes import OPAQUE_BIT
from cudalint.facts import BarrierFix, Frame, Place, Race, RaceEnd
from cudalint.flow.conflicts import Conflict, Thread
from cudalint.flow.search import Finding, Search
from cudalint.flow.trial import Trial
from cudalint.flow.unfold import Touch
from cudalint.options import RaceScope
from cudalint.source.text import Spellings

Key = tuple[object, ...]


class Unplaced(NamedTuple):
    """A certain race on shared memory for which no barrier is known yet."""

    key: Key
    race: Race
    first: ir.Span
    """Where the kernel itself makes the first access, or calls what makes it."""
    second: ir.Span


class RaceCollector(Struct, eq=False):
    scope: RaceScope
    spellings: Spellings
    missed: list[str] = field(default_factory=list)
    _widths: dict[str, int] = field(default_factory=dict)
    """Bytes from one element to the next one of what the parameters point to, by their names."""
    _races: dict[Key, Race] = field(default_factory=dict)
    _spans: dict[Key, tuple[ir.Span, ir.Span]] = field(default_factory=dict)

    def add(self, execution: Execution, trial: Trial) -> None:
        search = Search(execution, trial, self.scope)
        self._widths = self._widths or _widths(execution.function)
        for finding in search.findings():
            race = self._race(finding, execution.view.index)
            key = _key(race)
            known = self._races.get(key)
            if known is None or (known.certainty == "possible" and race.certainty == "certain"):
                self._races[key] = race
                self._spans[key] = (_in_kernel(finding.conflict.first), _in_kernel(finding.conflict.second))
        self.missed += [text for text in search.missed if text not in self.missed]

    def has_certain(self, launch: int) -> bool:
        return any(race.certainty == "certain" and race.launch == launch for race in self._races.values())

    def confirm(self, execution: Execution, trial: Trial) -> None:
        """Keeps those races of a launch certain that are so with another block too."""
        index = execution.view.index
        certain = [race for race in self._races.values() if race.certainty == "certain" and race.launch == index]
        scope = self.scope if any(race.reach == "grid" for race in certain) else "block"
        space = certain[0].space if len({race.space for race in certain}) == 1 else None
        keys = {_key(race) for race in certain}
        search = Search(execution, trial, scope, space, is_wanted=lambda *found: _key_of(*found) in keys)
        found = {_key(self._race(finding, index)) for finding in search.findings() if finding.doubt is None}
        reason = f"it depends on the block, which no launch in sight gives: not for {execution.view.block}"
        self.doubt(index, reason, found)

    def doubt(self, launch: int, reason: str, but: Collection[Key] = ()) -> None:
        """Makes the certain races of a launch possible ones, but for some."""
        for key, race in self._races.items():
            if race.certainty == "certain" and race.launch == launch and key not in but:
                self._races[key] = replace(race, certainty="possible", reason=reason)

    def unplaced(self, launch: int) -> Iterator[Unplaced]:
        """Those between warps first: a barrier of the block serves the warp, too."""
        for key, race in sorted(self._races.items(), key=lambda item: item[1].reach == "warp"):
            wanted = race.launch == launch and race.space == "shared" and _may_take_a_barrier(race)
            if wanted and self._races[key].fix is None:
                yield Unplaced(key, race, *self._spans[key])

    def place(self, launch: int, fix: BarrierFix, execution: Execution, trial: Trial) -> None:
        """Notes a barrier for those races that are gone in an execution with it."""
        search = Search(execution, trial, "block", "shared", how_sure=False)
        left = {_key(self._race(finding, launch)) for finding in search.findings()}
        for key, race, *_ in list(self.unplaced(launch)):
            if key not in left:
                self._races[key] = replace(race, fix=fix)

    def is_placed(self, key: Key) -> bool:
        return self._races[key].fix is not None

    def facts(self) -> tuple[Race, ...]:
        order = {"certain": 0, "possible": 1}
        return tuple(sorted(self._races.values(), key=lambda r: (order[r.certainty], r.first.place, r.second.place)))

    def _race(self, finding: Finding, launch: int) -> Race:
        conflict, doubt = finding.conflict, finding.doubt
        array = _named(finding.array, conflict)
        second = _end(conflict.second, conflict.other)
        by_data = bool((conflict.first.offset.bits | conflict.second.offset.bits) & OPAQUE_BIT)
        width = self._widths.get(array.name) or _width(conflict.second)
        element = _element(array, width, conflict.address, finding.start)
        if by_data:
            # The call of an atomic is no name of an element.
            spelled = self.spellings.of(second.place) if second.operation != "atomic" else ""
            element = spelled or f"{array.name}[...]"
        return Race(
            space="shared" if array.space == "shared" else "global",
            array=array.name,
            certainty="certain" if doubt is None else "possible",
            launch=launch,
            first=_end(conflict.first, conflict.one),
            second=second,
            element=element,
            reason=(finding.sizes or None) if doubt is None else doubt.reason,
            reach=conflict.reach,
            size=None if doubt is None else doubt.size,
            usual=doubt is not None and doubt.usual,
            by_data=by_data,
            across=conflict.across,
            one_access=_is_one_access(conflict.first, conflict.second),
            sizes=() if by_data else finding.of_element,
        )


def _key(race: Race) -> Key:
    return race.array, *sorted((race.first.place, race.second.place))


def _key_of(array: Allocation, conflict: Conflict) -> Key:
    """That of the race that a conflict makes."""
    places = sorted(Place(*end.context.span) for end in (conflict.first, conflict.second))
    return _named(array, conflict).name, *places


def _named(array: Allocation, conflict: Conflict) -> Allocation:
    """The array that a race is told about: several parameters may lead to one in global memory."""
    return array if array.space == "shared" else conflict.second.target


def _may_take_a_barrier(race: Race) -> bool:
    return race.certainty == "certain" or (race.usual and race.first.place != race.second.place)


def _in_kernel(touch: Touch) -> ir.Span:
    frames = touch.context.frames
    return frames[-1] if frames else touch.context.span


def _end(touch: Touch, thread: Thread) -> RaceEnd:
    context = touch.context
    frames = tuple(Frame(span.path, span.line) for span in context.frames)
    return RaceEnd(
        Place(*context.span), touch.operation, thread.thread, thread.block, touch.target.name, frames
    )  # fmt: skip


def _is_one_access(first: Touch, second: Touch) -> bool:
    """Whether the touches are of one access. One place in a function that is called twice is two, and so is what a
    macro reads and stores at different addresses, which all stands where the macro does."""
    is_one_place = first.context.span == second.context.span and first.context.frames == second.context.frames
    return is_one_place and (first.operation == second.operation or first.offset is second.offset)


def _widths(function: ir.Function) -> dict[str, int]:
    """Those of the parameters, and of the fields of structures that are passed. What is declared counts, however it is
    cast where it is touched: `half2` in an array of `half`."""
    found: dict[str, int] = {}
    left = [(symbol.name, symbol.type) for symbol in function.parameters]
    while left:
        name, type_ = left.pop()
        if isinstance(type_, ir.PointerType):
            found[name] = type_.pointee.bytes
        elif isinstance(type_, ir.RecordType):
            left += [(f"{name}.{field.name}", field.type) for field in type_.fields]
    return found


def _element(array: Allocation, width: int, address: int, start: int) -> str:
    """The element as the source would spell it: `t[1][0]`."""
    type_: ir.Type | None = array.symbol.type if array.symbol is not None else None
    if not array.bytes or not isinstance(type_, ir.ArrayType):
        if array.bytes and type_ is not None:
            return array.name
        if address < start and array.same_as is not None:
            array, start = array.same_as, 0
        return f"{array.name}[{(address - start) // width}]"
    text = array.name
    while isinstance(type_, ir.ArrayType):
        step = element_bytes(type_.element)
        text += f"[{address // step}]"
        address %= step
        type_ = type_.element
    return text


def _width(touch: Touch) -> int:
    """Bytes from one element to the next one: a field is that of a whole record."""
    if not isinstance(touch, AccessEvent):
        return touch.bytes
    return touch.record.bytes if touch.record is not None else element_bytes(touch.element)
