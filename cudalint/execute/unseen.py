"""Calls of functions whose bodies are not in sight: what they are given is read, what they may set is unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cudalint.execute.library.common import data_of, opaque
from cudalint.execute.program import Evaluate, Place, Program
from cudalint.execute.values import UNKNOWN, Aggregate, Data, Pointer, Value
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import FUNCTION_CLASS
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_COMPARING: Final = frozenset({"operator==", "operator!=", "operator<=", "operator>="})
_COUNTING: Final = frozenset({"operator++", "operator--"})


_COLLECTIVE: Final = regex(
    r"(?:cub::)?(?P<whose>Block|Warp)(?:(?P<moves>Load|Store)|Reduce|Scan|Exchange|Radix\w+|MergeSort|Histogram"
    r"|Discontinuity|Shuffle|AdjacentDifference|RunLengthDecode)<(?P<arguments>.*)"
)
"""The name of one of CUB's classes, of the block or of a warp."""


def _collective_of(e: ir.Call) -> re.Match[str] | None:
    """The class of CUB's of which something is called, or an object made, in a template that nothing instantiates."""
    of = e.receiver if e.receiver is not None else e if e.callee is not None else None
    type_ = ir.referent(of.type) if of is not None and e.function is None else None
    return _COLLECTIVE.match(type_.name) if isinstance(type_, ir.OpaqueType) else None


def _assigns(name: str) -> bool:
    """Whether an operator changes its first operand: `a[i] += h` of a library's type."""
    return name in _COUNTING or (name.startswith("operator") and name.endswith("=") and name not in _COMPARING)


NO_BODY: Final = "has no body in sight"
_FUNCTOR: Final = "a call of the function that it is handed, which nothing in sight names"
_OF_TEMPLATE: Final = "a call of which only template arguments tell the function, and nothing gives them"


def _waits(collective: re.Match[str]) -> bool:
    """Whether all threads of the block wait for each other in the methods of a class: in those for blocks they do, but
    for loads and stores that exchange nothing."""
    return collective["whose"] == "Block" and (collective["moves"] is None or "TRANSPOSE" in collective["arguments"])


class Unseen:
    """Compiles what a call does if nobody knows the function's body."""

    def __init__(self, program: Program, e: ir.Call) -> None:
        self._call = e
        self._values = [program.value(argument) for argument in e.arguments]
        outputs = e.function.outputs() if e.function is not None else frozenset()
        self._places = {at: program.place(e.arguments[at]) for at in outputs if at < len(e.arguments)}
        self._type = ir.referent(e.type)
        self._changes_first = e.receiver is None and _assigns(e.name) and e.name != "operator="
        self._is_users = e.function is None or e.function.is_user
        collective = _collective_of(e)
        self._is_collective = collective is not None
        self._waits = collective is not None and e.receiver is not None and _waits(collective)

    def execute(
        self, m: Machine, receiver: Place | None, function: ir.FunctionRef | None, why: str
    ) -> tuple[Value, bool]:
        """What it returns, and whether that is a reference; `why` the function that it calls was not followed."""
        e = self._call
        set_: list[Place] = []
        found: list[Value] = []
        for at, value in enumerate(self._values):
            if at in self._places:
                set_.append(self._places[at](m))
            else:
                found.append(value(m))
        if set_ and self._changes_first:
            found.append(m.memory.load(*set_[0], e.arguments[0]))
        if m.mask is None:
            return UNKNOWN, False
        if receiver is not None and e.name != "operator=":
            found.append(m.memory.load(*receiver, e))
        places = (*set_, receiver) if receiver is not None else set_
        m.note_arguments([*_scalars(found), *(Pointer(*place) for place in places)])
        pointers = self._touch(m, found)
        pointers += [Pointer(*place) for place in places if place.allocation.space not in ("local", "nowhere")]
        self._note(m, function, why, pointers)
        if self._waits:
            m.barrier(e, "cooperative-groups", is_implied=True)
        data = data_of(_scalars(found)) if not self._is_users else Data("unknown", f"it is the result of {self._name}")
        for place in set_:
            m.memory.store(place.allocation, place.offset, opaque(place.type, data), place.type, e)
        if set_ and self._changes_first and ir.is_reference(e.type):
            return Pointer(set_[0].allocation, set_[0].offset, set_[0].type), True
        if receiver is not None and _assigns(e.name):
            self._assign(m, receiver, found, data)
            return Pointer(receiver.allocation, receiver.offset, receiver.type), ir.is_reference(e.type)
        return opaque(self._type, data), False

    @property
    def _name(self) -> str:
        return f"`{self._call.name}`" if self._call.name else _OF_TEMPLATE

    def _note(self, m: Machine, function: ir.FunctionRef | None, why: str, pointers: Sequence[Pointer]) -> None:
        """Leaves the call in the trace, and why it is not followed."""
        e = self._call
        is_users = e.is_virtual or function is None or (function.is_user and function.kind != "host")
        is_users = is_users and not self._is_collective
        if e.is_virtual:
            m.gap(e.span, f"`{e.name}` is virtual and was not followed")
        elif function is None:
            receiver = ir.type_name(e.receiver.type) if e.receiver is not None else ""
            name = f"the call of `{e.name}`" if e.name else "a call"
            m.unread(e.span, _FUNCTOR if receiver == FUNCTION_CLASS else f"which function {name} means is not known")
        elif is_users:
            m.gap(e.span, f"`{e.name or function.name}` {why}", "unseen" if why == NO_BODY else "other")
        elif pointers or e.receiver is not None:
            # A library's functions touch the memory that they are passed, and no other.
            m.unread(e.span, f"`{e.name}` has no body in sight", "unseen")
        if is_users or pointers:
            m.call(e, e.name, is_users, pointers)

    def _touch(self, m: Machine, found: Sequence[Value]) -> list[Pointer]:
        """The pointers into memory that others see; of the thread's own that it gets to nothing is known any more."""
        seen = []
        for value in _scalars(found):
            if type(value) is Pointer and value.allocation.space == "local":
                m.memory.forget(value.allocation)
            elif type(value) is Pointer and not value.allocation.is_null and value.allocation.space != "nowhere":
                seen.append(value)
        return seen

    def _assign(self, m: Machine, receiver: Place, found: Sequence[Value], data: Data) -> None:
        """A copy of a record is the record; what else an operator assigns is not known."""
        new = found[0] if self._call.name == "operator=" and len(found) == 1 else None
        if type(new) is not Aggregate or new.type is not receiver.type:
            new = opaque(receiver.type, data)
        m.memory.store(receiver.allocation, receiver.offset, new, receiver.type, self._call.receiver)


def _scalars(values: Sequence[Value]) -> list[Value]:
    """The parts of records among values."""
    return [cell for value in values for cell in (value.cells.values() if type(value) is Aggregate else (value,))]


def read_arguments(program: Program, e: ir.Construct) -> list[Evaluate]:
    """What reads the arguments of a constructor; those that it may change are passed by reference, and not read."""
    changed = e.constructor.outputs() if e.constructor is not None else frozenset()
    return [program.value(argument) for at, argument in enumerate(e.arguments) if at not in changed]


def constructed(m: Machine, e: ir.Construct, found: Sequence[Value]) -> Value:
    """What a constructor without a body in sight makes of its arguments."""
    if len(found) == 1 and type(found[0]) is Aggregate and found[0].type is e.type:
        return found[0]
    if e.constructor is not None and e.constructor.is_user:
        m.unread(e.span, f"the constructor of `{e.constructor.name}` {NO_BODY}", "unseen")
        pointers = [each for each in _scalars(found) if type(each) is Pointer and each.allocation.space != "local"]
        m.call(e, e.constructor.name, is_users=True, pointers=pointers)
    return opaque(e.type, data_of(_scalars(found)))
