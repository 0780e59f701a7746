"""Expressions read for their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.conditions import Conjunction, narrowed, opposite, widened
from cudalint.execute.drawn import Drawn, decided_together, whole_number
from cudalint.execute.memory import LITERAL, NULL, Allocation, as_type, either, joined
from cudalint.execute.operators import combine, common_type, may_wrap, watch_cast
from cudalint.execute.places import CHAR
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import (
    AGGREGATES,
    MOST_ELEMENTS,
    UNKNOWN,
    Aggregate,
    Closure,
    Data,
    FunctionValue,
    InPart,
    Pointer,
    Value,
    leaves,
)
from cudalint.execute.whole_numbers import compared_as_whole
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_LONG = ir.Scalar("long", 8, "int")


class Expressions:
    """Compiles expressions."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def compiled(self, e: ir.Expr) -> Evaluate:
        match e:
            case ir.Constant():
                value = e.value if not isinstance(e.value, str) else UNKNOWN
                return lambda m: value
            case ir.Name() | ir.Member() | ir.Index():
                return self._read(e)
            case ir.Unary():
                return self._unary(e)
            case ir.Binary():
                return self._binary(e)
            case ir.Assign():
                return self._assign(e)
            case ir.Conditional():
                return self._conditional(e)
            case ir.Cast():
                return self._cast(e)
            case ir.Call():
                return self._program.calls.value(e)
            case ir.Construct():
                return self._program.calls.construct(e)
            case ir.InitList():
                return self._init_list(e)
            case ir.StatementExpr():
                return self._statements(e)
            case ir.Lambda():
                return self._lambda(e)
            case ir.FunctionName():
                function = FunctionValue(e.function)
                return lambda m: function
            case ir.New():
                return self._new(e)
            case ir.Launch():
                return self._unknown(e, "it launches a kernel from the device", (e.grid, e.block, *e.arguments))
            case ir.UnknownExpr():
                return self._unknown(e, e.reason, e.children)

    # --- reading -----------------------------------------------------------------------------------

    def _read(self, e: ir.Name | ir.Member | ir.Index) -> Evaluate:
        built_in = _built_in(e)
        if built_in is not None:
            return built_in
        if isinstance(e, ir.Name) and not isinstance(ir.referent(e.symbol.type), AGGREGATES):
            return self._variable(e)
        place = self._program.place(e)

        def read(m: Machine) -> Value:
            allocation, offset, type_ = place(m)
            if isinstance(type_, ir.ArrayType):
                return Pointer(allocation, offset, type_.element)
            return m.memory.load(allocation, offset, type_, e)

        return read

    def _variable(self, e: ir.Name) -> Evaluate:
        symbol, place = e.symbol, self._program.place(e)

        def read(m: Machine) -> Value:
            found = m.environment.get(symbol)
            if type(found) is Allocation and found.space == "local" and not found.widths:
                value = found.cells.get(0, UNKNOWN)
                return m.memory.seen(value) if m.scopes or type(value) is InPart else value
            allocation, offset, type_ = place(m)
            return m.memory.load(allocation, offset, type_, e)

        return read

    # --- operators ---------------------------------------------------------------------------------

    def _unary(self, e: ir.Unary) -> Evaluate:
        op, type_ = e.op, e.type
        if op == "*":
            place = self._program.place(e)

            def read(m: Machine) -> Value:
                allocation, offset, own = place(m)
                if isinstance(own, ir.ArrayType):
                    return Pointer(allocation, offset, own.element)
                return m.memory.load(allocation, offset, own, e)

            return read
        if op == "&":
            return self._address(e)
        if op in ("++x", "--x", "x++", "x--"):
            return self._step(e)
        value = self._program.value(e.operand)
        if op == "+":
            return value
        if op == "!":

            def negated(m: Machine) -> Value:
                holds = m.truth(value(m))
                if type(holds) is bool:
                    return not holds
                return ~holds if type(holds) is np.ndarray else opposite(holds)

            return negated
        left, operator = (0, "-") if op == "-" else (-1, "^")

        def computed(m: Machine) -> Value:
            return combine(m, operator, left, value(m), type_, type_)

        return computed

    def _address(self, e: ir.Unary) -> Evaluate:
        if isinstance(e.operand, ir.FunctionName):
            return self._program.value(e.operand)
        place = self._program.place(e.operand)

        def address(m: Machine) -> Value:
            allocation, offset, type_ = place(m)
            return Pointer(allocation, offset, type_) if allocation.space != "nowhere" else UNKNOWN

        return address

    def _step(self, e: ir.Unary) -> Evaluate:
        place, op, is_after = self._program.place(e.operand), e.op.strip("x")[0], e.op[-1] == "x"
        operand = e.operand

        def step(m: Machine) -> Value:
            allocation, offset, type_ = place(m)
            old = m.memory.load(allocation, offset, type_, operand)
            new = combine(m, op, old, 1, type_, type_)
            m.memory.store(allocation, offset, new, type_, operand)
            return new if is_after else old

        return step

    def _binary(self, e: ir.Binary) -> Evaluate:
        op, type_ = e.op, e.type
        left = self._program.discarded(e.left) if op == "," else self._program.value(e.left)
        right = self._program.value(e.right)
        if op == ",":

            def last(m: Machine) -> Value:
                left(m)
                return right(m)

            return last
        if op in ("&&", "||"):
            return self._short_circuit(e, left, right)
        operand = e.left.type

        def computed(m: Machine) -> Value:
            return combine(m, op, left(m), right(m), type_, operand)

        return compared_as_whole(e, self._program, computed) or computed

    def _short_circuit(self, e: ir.Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        stops_at, is_branch = e.op == "||", walk.needs_a_branch(e.right)

        def computed(m: Machine) -> Value:
            first = m.truth(left(m))
            if type(first) is bool:
                return first if first is stops_at else m.truth(right(m))
            mask = m.mask
            if mask is None:
                return first
            if isinstance(first, Data):
                m.open_scope(first)
                second = m.truth(right(m))
                m.close_scopes(m.data - 1)
                if type(second) is bool and second is stops_at:
                    return second
                if type(first) is Drawn and type(second) is Drawn:
                    both = decided_together(first, second, stops_at)
                    if both is not None:
                        return m.truth(both)
                if stops_at:
                    return widened(first, second)
                known = second.known if isinstance(second, Conjunction) else second
                return narrowed(first, known) if type(known) is np.ndarray else first
            go_on, _ = m.split(~first if stops_at else first)
            if is_branch:
                m.branch(e, mask, go_on)
            if go_on is None:
                return first
            m.mask = go_on
            second = m.truth(right(m))
            m.mask = mask
            if isinstance(second, Data):
                # What the left side says of some lanes is known: the others are up to data.
                if stops_at:
                    return widened(second, first)
                return narrowed(second, first)
            return (first | second) if stops_at else (first & second)

        return computed

    def _assign(self, e: ir.Assign) -> Evaluate:
        place, value = self._program.place(e.target), self._program.value(e.value)
        if e.op:
            return self._compound(e)
        stored_at = _place_of_store(e)

        def assign(m: Machine) -> Value:
            new = value(m)
            allocation, offset, type_ = place(m)
            if not isinstance(type_, AGGREGATES):
                new = as_type(new, type_)
            m.memory.store(allocation, offset, new, type_, stored_at)
            return new

        return assign

    def _compound(self, e: ir.Assign) -> Evaluate:
        place, value, target, op = self._program.place(e.target), self._program.value(e.value), e.target, e.op
        value_type = ir.referent(e.value.type)

        def assign(m: Machine) -> Value:
            by = value(m)
            allocation, offset, type_ = place(m)
            old = m.memory.load(allocation, offset, type_, target)
            common = common_type(type_, value_type, op)
            if isinstance(common, ir.Scalar) and not isinstance(type_, ir.PointerType):
                old, by = as_type(old, common), by if op in ("<<", ">>") else as_type(by, common)
            new = combine(m, op, old, by, common, common)
            if m.notes is not None and may_wrap(common, type_):
                watch_cast(m, new, type_)
            new = as_type(new, type_)
            m.memory.store(allocation, offset, new, type_, target)
            return new

        return assign

    def _conditional(self, e: ir.Conditional) -> Evaluate:
        condition = self._program.value(e.condition)
        then, otherwise = self._program.value(e.then), self._program.value(e.otherwise)

        def chosen(m: Machine) -> Value:
            holds = m.truth(condition(m))
            if type(holds) is bool:
                m.agreed(e)
                return then(m) if holds else otherwise(m)
            mask = m.mask
            if mask is None:
                return then(m)
            if type(holds) is not np.ndarray:
                m.undecided(e, holds)
                return _by_data(m, then, otherwise, holds)
            with_it, without = m.split(holds)
            m.branch(e, mask, with_it)
            if without is None:
                return then(m)
            if with_it is None:
                return otherwise(m)
            m.mask = with_it
            first = then(m)
            m.mask = without
            second = otherwise(m)
            m.mask = mask
            return joined(holds, first, second)

        return chosen

    def _cast(self, e: ir.Cast) -> Evaluate:
        operand, type_ = e.operand, e.type
        if isinstance(ir.referent(operand.type), ir.ArrayType):
            pointee = type_.pointee if isinstance(type_, ir.PointerType) else CHAR
            if isinstance(operand, ir.Constant):
                literal = Pointer(LITERAL, 0, pointee)
                return lambda m: literal
            array = self._program.place(operand)

            def decayed(m: Machine) -> Value:
                allocation, offset, _ = array(m)
                return Pointer(allocation, offset, pointee)

            return decayed
        if ir.is_reference(type_):
            place = self._program.place(e)

            def read(m: Machine) -> Value:
                allocation, offset, own = place(m)
                return m.memory.load(allocation, offset, own, e)

            return read
        value, is_narrow = self._program.value(operand), may_wrap(ir.referent(operand.type), type_)
        own = ir.referent(operand.type)
        is_whole = isinstance(own, ir.Scalar) and own.kind == "float"

        def cast(m: Machine) -> Value:
            found = value(m)
            if is_narrow and m.notes is not None:
                watch_cast(m, found, type_)
            if is_whole and type(found) is Data:
                found = whole_number(found, type_, e.span)
            return as_type(found, type_)

        return cast

    # --- the rest ----------------------------------------------------------------------------------

    def _init_list(self, e: ir.InitList) -> Evaluate:
        type_ = e.type
        if not isinstance(type_, AGGREGATES):
            return self._program.value(e.elements[0]) if e.elements else lambda m: 0
        fields = _fields(type_, len(e.elements))
        given: list[tuple[int, ir.Type, Any]] = []
        for (offset, own), element in zip(fields, e.elements, strict=False):
            reader = self._program.place(element) if ir.is_reference(own) else self._program.value(element)
            given.append((offset, own, reader))
        rest = [leaf for offset, own in fields[len(e.elements) :] for leaf in leaves(own, offset)]

        def made(m: Machine) -> Value:
            cells: dict[int, Value] = {}
            for offset, own, reader in given:
                if ir.is_reference(own):
                    place = reader(m)
                    cells[offset] = Pointer(place.allocation, place.offset, place.type)
                    continue
                value = reader(m)
                if type(value) is Aggregate:
                    cells |= {offset + at: cell for at, cell in value.cells.items()}
                else:
                    cells[offset] = as_type(value, own) if isinstance(own, ir.Scalar) else value
            for offset, own in rest:
                is_pointer = isinstance(own, ir.PointerType)
                cells[offset] = Pointer(NULL, 0, own.pointee) if is_pointer else as_type(0, own)
            return Aggregate(type_, cells)

        return made

    def _statements(self, e: ir.StatementExpr) -> Evaluate:
        statements = [self._program.statement(statement) for statement in e.statements]
        value = self._program.value(e.value) if e.value is not None else None

        def executed(m: Machine) -> Value:
            for statement in statements:
                if m.mask is None:
                    return UNKNOWN
                statement(m)
            return value(m) if value is not None and m.mask is not None else UNKNOWN

        return executed

    def _lambda(self, e: ir.Lambda) -> Evaluate:
        copied = [capture.symbol for capture in e.captures if not capture.by_reference]

        def made(m: Machine) -> Value:
            copies: dict[ir.Symbol, Allocation] = {}
            for symbol in copied:
                old = m.environment.get(symbol)
                if type(old) is Allocation and old.space == "local":
                    own = m.memory.local(old.type or symbol.type, None, symbol.name)
                    own.cells, own.widths = dict(old.cells), dict(old.widths)
                    copies[symbol] = own
            return Closure(e.function, copies)

        return made

    def _new(self, e: ir.New) -> Evaluate:
        """Memory of the heap, which is global memory."""
        parts = [self._program.value(part) for part in (e.count, e.initial) if part is not None]

        def made(m: Machine) -> Value:
            for part in parts:
                part(m)
            return Pointer(Allocation("new", "global"), 0, e.element)

        return made

    def _unknown(self, e: ir.Expr, reason: str, children: tuple[ir.Expr, ...]) -> Evaluate:
        parts = [self._program.value(child) for child in children]
        data = Data("unknown", f"of {reason}")

        def executed(m: Machine) -> Value:
            for part in parts:
                part(m)
            m.gap(e.span, reason)
            return data

        return executed
















def _place_of_store(e: ir.Assign) -> ir.Expr:
    """For both halves of a record's copy, nvcc names the line of what is copied."""
    is_copy = isinstance(ir.referent(e.target.type), ir.RecordType) and not isinstance(e.value, (ir.Call, ir.Construct))
    return e.value if is_copy and e.value.span.line != e.target.span.line else e.target


def _by_data(m: Machine, then: Evaluate, otherwise: Evaluate, holds: Data) -> Value:
    """Both sides of a choice that data makes."""
    data = m.data
    m.open_scope(holds)
    first = then(m)
    m.close_scopes(data)
    m.open_scope(holds)
    second = otherwise(m)
    m.close_scopes(data)
    plain = type(first) in (int, bool, float) and type(first) is type(second)
    if first is second or (plain and first == second):
        return first
    return either(first, second, is_common=holds.is_common)














def _fields(type_: ir.RecordType | ir.ArrayType, given: int) -> list[tuple[int, ir.Type]]:
    if isinstance(type_, ir.RecordType):
        return [(field.offset, field.type) for field in type_.fields]
    number = type_.count if type_.count is not None else given
    return [(at * type_.element.bytes, type_.element) for at in range(min(number, max(given, MOST_ELEMENTS)))]


def _built_in(e: ir.Expr) -> Evaluate | None:
    """`threadIdx.x` and the like."""
    if isinstance(e, ir.Name) and e.symbol.storage == "builtin":
        name, type_ = e.symbol.name, e.type
        if name == "warpSize":
            return lambda m: 32
        return lambda m: Aggregate(type_, {4 * axis: value for axis, value in enumerate(m.lanes.built_in[name])})
    if isinstance(e, ir.Member) and not e.arrow and isinstance(e.base, ir.Name) and e.base.symbol.storage == "builtin":
        name, axis = e.base.symbol.name, "xyz".index(e.field)
        return lambda m: m.lanes.built_in[name][axis]
    return None
