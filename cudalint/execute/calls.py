"""Calls: of functions whose bodies are in sight, of lambdas, of the library's functions, and of inline PTX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cudalint.execute.execution import Frame
from cudalint.execute.library import effect_of, place_of
from cudalint.execute.memory import Allocation, as_type, plus
from cudalint.execute.places import nowhere
from cudalint.execute.program import Evaluate, Execute, Locate, Place, Program
from cudalint.execute.ptx import instruction
from cudalint.execute.unseen import NO_BODY, Unseen, constructed, read_arguments
from cudalint.execute.values import UNKNOWN, Aggregate, Closure, FunctionValue, Pointer, Value
from cudalint.facts.files import not_resolved
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_MOST_CALLS = 40
"""One in the other."""
_MOST_AGAIN = 1000
"""Of functions by themselves, in all."""
_CALLS_BY_DATA = 2
"""Of a function by itself, if data decides whether there is another."""


class Calls:
    """Compiles calls."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def value(self, e: ir.Call) -> Evaluate:
        """A call read for its value; what a function returns by reference is loaded."""
        effect = effect_of(self._program, e)
        if effect is not None:
            return effect
        called = self._called(e)

        def value(m: Machine) -> Value:
            found, by_reference = called(m)
            if by_reference and type(found) is Pointer:
                type_ = ir.referent(e.type)
                if isinstance(type_, ir.ArrayType):
                    return Pointer(found.allocation, found.offset, type_.element)
                return m.memory.load(found.allocation, found.offset, type_, e)
            return found

        return value

    def discarded(self, e: ir.Call) -> Evaluate:
        """A call whose value nobody asks for."""
        effect = effect_of(self._program, e)
        return effect if effect is not None else self._called(e)

    def place(self, e: ir.Call) -> Locate:
        """Where what a call returns is: what it refers to, or a place of its own."""
        forwarded = place_of(self._program, e)
        if forwarded is not None:
            return forwarded
        effect = effect_of(self._program, e)
        called = self._called(e)
        type_ = ir.referent(e.type)

        def locate(m: Machine) -> Place:
            found, by_reference = (effect(m), False) if effect is not None else called(m)
            if by_reference:
                return Place(found.allocation, found.offset, type_) if type(found) is Pointer else nowhere(type_)
            return Place(m.memory.local(type_, found), 0, type_)

        return locate

    def _called(self, e: ir.Call) -> Any:
        receiver = self._program.place(e.receiver) if e.receiver is not None else None
        callee = self._program.value(e.callee) if e.callee is not None else None
        unseen = Unseen(self._program, e)
        invoke = self._invocation(e, e.arguments)

        def called(m: Machine) -> tuple[Value, bool]:
            function, this = e.function, None
            copies: dict[ir.Symbol, Allocation] = {}
            place: Place | None = None
            if receiver is not None:
                place = receiver(m)
                allocation, offset, type_ = place
                own = ir.pointee(type_) if isinstance(type_, ir.PointerType) else type_
                held = allocation.cells.get(offset) if allocation.space == "local" and type(offset) is int else None
                if type(held) is Closure:
                    function, copies = function or held.function, held.copies
                else:
                    this = Pointer(allocation, offset, own)
            elif callee is not None and function is None:
                held = callee(m)
                if type(held) is FunctionValue:
                    function = held.function
                elif type(held) is Closure:
                    function, copies = held.function, held.copies
            body = function.load() if function is not None and not e.is_virtual else None
            why = self._obstacle(m, body)
            if body is None or function is None or why:
                return unseen.execute(m, place, function, why)
            return invoke(m, body, function, this, copies), ir.is_reference(body.result)

        return called

    def construct(self, e: ir.Construct) -> Evaluate:
        type_ = e.type
        arguments = read_arguments(self._program, e)
        if e.constructor is None:
            is_copy = len(arguments) == 1 and isinstance(type_, (ir.RecordType, ir.ArrayType))

            def trivial(m: Machine) -> Value:
                found = [argument(m) for argument in arguments]
                return found[0] if is_copy else Aggregate(type_, {})

            return trivial
        invoke, constructor = self._invocation(e, e.arguments), e.constructor

        def made(m: Machine) -> Value:
            body = constructor.load()
            if body is None or self._obstacle(m, body):
                found = [argument(m) for argument in arguments]
                return constructed(m, e, found)
            own = m.memory.local(type_)
            invoke(m, body, constructor, Pointer(own, 0, type_), {})
            return m.memory.load(own, 0, type_, e)

        return made

    def assembly(self, n: st.Asm) -> Execute:
        return instruction(self._program, n)

    # --- user functions ----------------------------------------------------------------------------

    def _invocation(self, e: ir.Call | ir.Construct, arguments: Sequence[ir.Expr]) -> Any:
        """What calls a function with the arguments of a call."""
        places = [self._program.place(argument) for argument in arguments]
        values = [self._program.value(argument) for argument in arguments]

        def bind(m: Machine, parameter: ir.Symbol, at: int) -> Allocation | Pointer:
            if ir.is_reference(parameter.type):
                place = places[at](m)
                return Pointer(place.allocation, place.offset, place.type)
            value, type_ = values[at](m), parameter.type
            plain = isinstance(type_, (ir.Scalar, ir.PointerType))
            return m.memory.local(type_, as_type(value, type_) if plain else value, parameter.name)

        def invoke(
            m: Machine, function: ir.Function, reference: ir.FunctionRef, this: Pointer | None,
            copies: dict[ir.Symbol, Allocation],
        ) -> Value:  # fmt: skip
            if m.mask is None:
                return UNKNOWN
            if function.problems and reference.is_user:
                self._note_problems(m, e, function)
            bound = {p: bind(m, p, at) for at, p in enumerate(function.parameters) if at < len(arguments)}
            m.step()
            is_again = any(frame.function is function for frame in m.frames)
            m.calls_again += is_again
            saved = dict(m.environment) if is_again else None
            hidden = {symbol: m.environment.get(symbol) for symbol in copies}
            m.environment.update(copies)
            m.environment.update(bound)
            if function.this is not None and this is not None:
                own = m.memory.local(function.this.type, None, "this")
                own.cells[0] = this
                hidden.setdefault(function.this, m.environment.get(function.this))
                m.environment[function.this] = own
            mask, state = m.mask, (m.broken, m.continued, m.stack, m.library, m.passed, m.is_lost)
            if not reference.is_user:
                m.library = m.library or e
            elif m.library is None:
                m.stack = (e, *m.stack)
                m.passed = (_passed(e, arguments, bound, this), *m.passed)
            m.broken = m.continued = None
            ended = m.ended
            frame = Frame(function, m.data)
            m.frames.append(frame)
            self._initialise(m, function, this)
            if m.mask is not None:
                self._program.statement(function.body)(m)
            m.frames.pop()
            m.broken, m.continued, m.stack, m.library, m.passed, m.is_lost = state
            if saved is not None:
                m.environment = saved
            for symbol, old in hidden.items():
                if old is not None:
                    m.environment[symbol] = old
            m.mask = mask
            if m.ended is not ended:
                m.mask = m.gone(mask)
            return frame.value if frame.value is not None else UNKNOWN

        return invoke

    def _obstacle(self, m: Machine, function: ir.Function | None) -> str:
        """What is in the way of executing a function's body."""
        if function is None:
            return NO_BODY
        if function.is_template_pattern:
            return "is a template of unknown arguments"
        before = [frame.data for frame in m.frames if frame.function is function]
        is_deep = len(m.frames) > _MOST_CALLS or (bool(before) and m.calls_again > _MOST_AGAIN)
        # One that calls itself once more under conditions that data decides does what it did.
        if len(before) >= _CALLS_BY_DATA and (is_deep or m.data > before[-_CALLS_BY_DATA]):
            return "is recursive and was followed no further"
        return f"is more than {_MOST_CALLS} calls deep and was not followed" if is_deep else ""

    def _note_problems(self, m: Machine, e: ir.Call | ir.Construct, function: ir.Function) -> None:
        """What the front end lost of a function is lost to the kernel."""
        m.call(e, function.name, is_users=True, is_in_part=True)
        for problem in function.problems:
            m.gap(function.name_span, not_resolved(problem), "unresolved", problem)

    def _initialise(self, m: Machine, function: ir.Function, this: Pointer | None) -> None:
        """The members that a constructor sets before its body."""
        for name, expression in function.member_initializers:
            type_ = this.pointee if this is not None else None
            field = type_.field(name) if isinstance(type_, ir.RecordType) else None
            if this is None:
                continue
            if field is None:
                value = self._program.value(expression)(m)
                if type(value) is Aggregate:  # A base class.
                    m.memory.store(this.allocation, this.offset, value, value.type, expression)
                continue
            at = plus(this.offset, field.offset)
            if ir.is_reference(field.type):
                place = self._program.place(expression)(m)
                m.memory.store(
                    this.allocation, at, Pointer(place.allocation, place.offset, place.type), field.type, expression
                )
            else:
                value = as_type(self._program.value(expression)(m), field.type)
                m.memory.store(this.allocation, at, value, field.type, expression)


def _passed(
    e: ir.Call | ir.Construct, arguments: Sequence[ir.Expr], bound: dict[ir.Symbol, Allocation | Pointer],
    this: Pointer | None,
) -> tuple[tuple[Pointer, ir.Expr], ...]:  # fmt: skip
    """The addresses that a call passes on, with the expressions that make them."""
    found = []
    for value, argument in zip(bound.values(), arguments, strict=False):
        pointer = value.cells.get(0) if isinstance(value, Allocation) else value
        if type(pointer) is Pointer and pointer.allocation.space != "local":
            found.append((pointer, argument))
    if this is not None and this.allocation.space != "local" and isinstance(e, ir.Call) and e.receiver is not None:
        found.append((this, e.receiver))
    return tuple(found)
