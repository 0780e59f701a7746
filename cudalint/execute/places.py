"""Lvalues: variables, members, elements, and what pointers lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cudalint.execute.memory import ASTRAY, NOWHERE, Allocation, either, joined, plus, stepped
from cudalint.execute.program import Evaluate, Locate, Place, Program
from cudalint.execute.values import COMPUTED, Data, Pointer, Undeclared, Value
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

CHAR = ir.Scalar("char", 1, "int")


def nowhere(type_: ir.Type) -> Place:
    """The place of what could not be followed."""
    return Place(NOWHERE, COMPUTED, type_)


def astray(pointer: Value, type_: ir.Type) -> Place:
    """Where a pointer leads of which nothing is known."""
    reason = pointer.reason if isinstance(pointer, Data) else ""
    return Place(ASTRAY, Data("unknown", reason or "the pointer is not known"), type_)


class Places:
    """Compiles lvalues."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def compiled(self, e: ir.Expr) -> Locate:
        match e:
            case ir.Name(symbol=ir.Symbol(storage="builtin")):
                return self._made(e)
            case ir.Member(base=ir.Name(symbol=ir.Symbol(storage="builtin")), arrow=False):
                return self._made(e)
            case ir.Name():
                return self._name(e)
            case ir.Member():
                return self._member(e)
            case ir.Index():
                return self._index(e)
            case ir.Unary(op="*"):
                return self._behind(self._program.value(e.operand), e.type)
            case ir.Unary(op="++x" | "--x"):
                return self._after(self._program.value(e), self._program.place(e.operand))
            case ir.Assign():
                return self._after(self._program.value(e), self._program.place(e.target))
            case ir.Binary(op=","):
                return self._after(self._program.value(e.left), self._program.place(e.right))
            case ir.Conditional():
                return self._chosen(e)
            case ir.Cast() if _renames(e):
                return self._cast(e)
            case ir.Call() if e.function is not None or e.callee is not None:
                return self._program.calls.place(e)
        return self._made(e)

    def _name(self, e: ir.Name) -> Locate:
        symbol, type_ = e.symbol, e.symbol.type

        def locate(m: Machine) -> Place:
            found = m.environment.get(symbol) or variable(m, symbol)
            if isinstance(found, Pointer):
                return Place(found.allocation, found.offset, found.pointee)
            return Place(found, 0, type_)

        return locate

    def _member(self, e: ir.Member) -> Locate:
        base_type = ir.referent(e.base.type)
        name, type_ = e.field, e.type
        if e.arrow:
            base: Locate = self._behind(self._program.value(e.base), ir.pointee(base_type))
        else:
            base = self._program.place(e.base)
        within = None if e.arrow else e.base

        def locate(m: Machine) -> Place:
            allocation, offset, record = base(m)
            if not isinstance(record, ir.RecordType):
                return nowhere(type_)
            field = record.field(name)
            if field is None:
                return nowhere(type_)
            if record.unsized and allocation.space != "local":
                text = f"where `{name}` stands in its record is not known: {record.unsized}"
                offset = plus(offset, Data("unknown", text))
            else:
                offset = plus(offset, field.offset)
            if ir.is_reference(field.type):
                target = m.memory.load(allocation, offset, field.type, e)
                if type(target) is Pointer:
                    return Place(target.allocation, target.offset, field.type.pointee)
                return nowhere(field.type.pointee)
            if field.bits is not None:
                return _bit_field(m, allocation, offset, field)
            if within in m.subscripts:
                subscripts, inner = m.subscripts[within]
                m.subscripts[e] = subscripts, inner + field.offset
            return Place(allocation, offset, field.type)

        return locate

    def _index(self, e: ir.Index) -> Locate:
        symbol, chain = _spelled(e)
        if symbol is not None:
            return self._of_shared(e, symbol, chain)
        index = self._program.value(e.index)
        base_type = ir.referent(e.base.type)
        if isinstance(base_type, ir.ArrayType):
            array, element = self._program.place(e.base), base_type.element

            def of_array(m: Machine) -> Place:
                allocation, offset, type_ = array(m)
                own = type_.element if isinstance(type_, ir.ArrayType) else element
                return Place(allocation, plus(offset, stepped(index(m), own)), own)

            return of_array
        pointer, type_ = self._program.value(e.base), e.type

        def of_pointer(m: Machine) -> Place:
            at, own = pointer(m), index(m)
            if type(at) is not Pointer:
                return astray(at, type_)
            return Place(at.allocation, plus(at.offset, stepped(own, type_)), type_)

        return of_pointer

    def _of_shared(self, e: ir.Index, array: ir.Name, chain: Sequence[ir.Index]) -> Locate:
        """An element of a shared array, of which all subscripts are spelled."""
        start = self._program.place(array)
        indices = [self._program.value(each.index) for each in chain]

        def locate(m: Machine) -> Place:
            allocation, offset, type_ = start(m)
            subscripts = []
            for index in indices:
                type_ = type_.element if isinstance(type_, ir.ArrayType) else type_
                own = index(m)
                subscripts.append(own)
                offset = plus(offset, stepped(own, type_))
            m.subscripts[e] = tuple(subscripts), 0
            return Place(allocation, offset, type_)

        return locate

    def _behind(self, pointer: Evaluate, type_: ir.Type) -> Locate:
        def locate(m: Machine) -> Place:
            at = pointer(m)
            return Place(at.allocation, at.offset, type_) if type(at) is Pointer else astray(at, type_)

        return locate

    def _after(self, first: Evaluate, place: Locate) -> Locate:
        def locate(m: Machine) -> Place:
            first(m)
            return place(m)

        return locate

    def _chosen(self, e: ir.Conditional) -> Locate:
        condition = self._program.value(e.condition)
        then, otherwise, type_ = self._program.place(e.then), self._program.place(e.otherwise), e.type

        def locate(m: Machine) -> Place:
            holds = m.truth(condition(m))
            if type(holds) is bool:
                return then(m) if holds else otherwise(m)
            first, second = then(m), otherwise(m)
            both = Pointer(*first), Pointer(*second)
            found = either(*both, is_common=holds.is_common) if isinstance(holds, Data) else joined(holds, *both)
            return Place(found.allocation, found.offset, first.type) if type(found) is Pointer else nowhere(type_)

        return locate

    def _cast(self, e: ir.Cast) -> Locate:
        place = self._program.place(e.operand)
        type_ = ir.referent(e.type)

        def locate(m: Machine) -> Place:
            allocation, offset, _ = place(m)
            return Place(allocation, offset, type_)

        return locate

    def _made(self, e: ir.Expr) -> Locate:
        """A temporary that holds a value."""
        value, type_ = self._program.value(e), ir.referent(e.type)

        def locate(m: Machine) -> Place:
            return Place(m.memory.local(type_, value(m)), 0, type_)

        return locate


def _spelled(e: ir.Index) -> tuple[ir.Name | None, Sequence[ir.Index]]:
    """The shared array that an element is one of, where it is named with all of its subscripts, and these."""
    chain: list[ir.Index] = []
    node: ir.Expr = e
    while isinstance(node, ir.Index):
        chain.insert(0, node)
        node = node.base
        while isinstance(node, ir.Cast) and _decays(node):
            node = node.operand
    if not isinstance(node, ir.Name) or node.symbol.storage not in ("shared", "dynamic-shared"):
        return None, ()
    type_, dimensions = node.symbol.type, 0
    while isinstance(type_, ir.ArrayType):
        type_, dimensions = type_.element, dimensions + 1
    return (node, chain) if dimensions == len(chain) else (None, ())


def _decays(e: ir.Cast) -> bool:
    """Whether it makes a pointer to an array's first element of the array."""
    array, pointer = ir.referent(e.operand.type), ir.referent(e.type)
    if not isinstance(array, ir.ArrayType) or not isinstance(pointer, ir.PointerType):
        return False
    return pointer.pointee.bytes == array.element.bytes


def _bit_field(m: Machine, allocation: Allocation, offset: Any, field: ir.Field) -> Place:
    """The unit of a bit-field, which is accessed as a whole; what its bits are nobody follows."""
    if allocation.space == "local":
        return nowhere(field.type)
    return Place(allocation, offset, ir.OpaqueType(ir.type_name(field.type), field.type.bytes))


def _renames(e: ir.Cast) -> bool:
    """Whether a cast says another type of the same place."""
    if ir.is_reference(e.type):
        return True
    is_place = isinstance(e.operand, (ir.Name, ir.Member, ir.Index, ir.Unary))
    return is_place and not isinstance(e.operand.type, ir.PointerType) and not isinstance(
        e.type, (ir.PointerType, ir.Scalar)
    )


def _is_guessed(m: Machine, symbol: ir.Symbol) -> bool:
    """Whether the front end has made up a variable for a name that nothing declares."""
    problems = (problem for frame in m.frames for problem in frame.function.problems)
    return any(problem.kind == "guessed" and problem.name == symbol.name for problem in problems)


def variable(m: Machine, symbol: ir.Symbol) -> Allocation | Pointer:
    """A variable that no statement has declared: of shared memory, of the file, or a constant."""
    storage, type_ = symbol.storage, symbol.type
    if storage == "dynamic-shared":
        # All arrays without an extent begin at the same place.
        known = m.allocations.get(storage)
        if known is not None:
            m.environment[symbol] = Pointer(known, 0, type_)
            return m.environment[symbol]
        made = m.allocations[storage] = Allocation(symbol.name, "shared", type_, symbol=symbol)
    elif storage == "builtin":  # A reference to it, or to a part.
        made = Allocation(symbol.name, "local", type_, m.full)
        values = (32,) if symbol.name == "warpSize" else m.lanes.built_in.get(symbol.name, ())
        made.cells.update({4 * axis: value for axis, value in enumerate(values)})
    elif storage == "shared":
        made = Allocation(symbol.name, "shared", type_, symbol=symbol)
    elif storage == "device" and _is_guessed(m, symbol):
        made = Allocation(symbol.name, "local", type_, m.full)
        made.cells[0] = Undeclared(symbol.name)
    elif storage in ("constant", "device") and not symbol.is_const:
        made = Allocation(
            symbol.name, "constant" if storage == "constant" else "global", type_, symbol=symbol
        )
    elif storage == "template":
        made = Allocation(symbol.name, "local", type_, m.full)
        made.cells[0] = Data(
            "unknown", f"`{symbol.name}` is up to the arguments of the template, which nothing instantiates",
            is_common=True,
        )  # fmt: skip
    else:
        made = Allocation(symbol.name, "local", type_, m.full)
        initializer = symbol.initializer() if symbol.initializer is not None else None
        if initializer is not None:
            mask, m.mask = m.mask, m.full
            m.memory.store(made, 0, m.program.value(initializer)(m), type_, initializer)
            m.mask = mask
        elif storage in ("constant", "device"):
            made = Allocation(symbol.name, "constant", type_, symbol=symbol)
    m.environment[symbol] = made
    return made
