"""The executor's machine with terms for values: one warp of a kernel, of which only its text is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple

from cudalint.execute.cells import Memory
from cudalint.execute.lanes import Lanes
from cudalint.execute.library.matrices import fragment_registers
from cudalint.execute.machine import Machine
from cudalint.execute.memory import ASTRAY, Allocation, pieces, plus
from cudalint.execute.program import Program
from cudalint.execute.trace import BarrierPart, BarrierScope, Trace
from cudalint.execute.values import AGGREGATES, UNKNOWN, Aggregate, Pointer, Value, leaves
from cudalint.facts import BarrierKind, Operation
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.measure.places import record_at
from cudalint.measure.work import compiler, terms
from cudalint.measure.work.attempts import Attempts
from cudalint.measure.work.compiler import Separation
from cudalint.measure.work.graph import Access, Graph, Indexed, Place, Scope, Stored, Version, Visit
from cudalint.measure.work.runs import ALL, Spot, Straight
from cudalint.measure.work.terms import ADDRESS, SHARED_ADDRESS, UINT, VOID, Term

Variable = tuple[str, int]
"""By its name and its type."""
Writes = dict[tuple[Allocation, int], Value]


class SymbolicMemory(Memory):
    """What is written under a condition is what there is until the branch ends. Arrays that are indexed by what is not
    known when the kernel is compiled are in local memory, where each access is one."""

    __slots__ = ("declared", "fragments", "indexed")

    machine: SymbolicMachine

    def __init__(self, machine: SymbolicMachine, indexed: set[Variable]) -> None:
        super().__init__(machine)
        self.indexed = indexed
        self.declared: dict[Allocation, terms.Loops] = {}
        """The loops around each variable that holds several values."""
        self.fragments: dict[ir.Symbol, Place] = {}
        """Where matrices for tensor cores are declared, whose elements are no terms: in the last turn of a loop that is
        laid out."""

    def local(
        self, type_: ir.Type, value: Value | None = None, name: str = "", symbol: ir.Symbol | None = None
    ) -> Allocation:
        made = super().local(type_, value, name, symbol)
        if symbol is not None and isinstance(type_, AGGREGATES):
            self.declared[made] = self.machine.graph.around()
        if symbol is not None and fragment_registers(type_):
            self.fragments[symbol] = self.machine.graph.here()
        return made

    def store(self, to: Allocation, offset: Any, value: Value, type_: ir.Type, node: Any) -> None:
        if to.space == "local" and (_key(to) in self.indexed or isinstance(offset, Term)):
            self.indexed.add(_key(to))
            self._accessed("store", to, offset, type_, node, [(each, "value") for each in _scalars(value)])
        else:
            super().store(to, offset, value, type_, node)

    def load(self, source: Allocation, offset: Any, type_: ir.Type, node: Any) -> Value:
        is_indexed = source.space == "local" and (_key(source) in self.indexed or isinstance(offset, Term))
        if is_indexed and isinstance(type_, ir.Scalar):
            self.indexed.add(_key(source))
            return self._accessed("load", source, offset, type_, node, [])
        return super().load(source, offset, type_, node)

    def _accessed(
        self, op: Literal["load", "store"], memory: Allocation, offset: Any, type_: ir.Type, node: Any, needs: list[Any]
    ) -> Term:
        machine = self.machine
        graph, own = machine.graph, type_ if isinstance(type_, ir.Scalar) else UINT
        at = machine.library or node
        if at is not None:
            found = Indexed(
                memory, at, machine.stack, op, _is_open(memory, offset), offset, graph.around(), graph.scope.loop
            )
            graph.log.append(("indexed", found))
        access = Access(memory, 0, type_.bytes, False)
        if op == "load":
            return graph.fresh(op, (offset,), own, access)
        return graph.root(op, [(offset, "address"), *needs], own, access)

    def _put(self, to: Allocation, offset: int, value: Value, width: int | None) -> None:
        machine, cells = self.machine, to.cells
        if width is not None and isinstance(to.type, (ir.RecordType, ir.ArrayType)):
            self._cover(to, offset, width)
        if to.depth < machine.depth:
            machine.note_write(to, offset, cells.get(offset))
        cells[offset] = value


def _is_open(memory: Allocation, offset: Any) -> bool:
    """Whether the offset is not known when the kernel is compiled, and more than one fits in the variable."""
    size = memory.type.bytes if memory.type is not None else 0
    if not isinstance(offset, Term):
        return False
    # What conditions choose among, the compiler selects.
    return any(abs(part.factor) < size and part.term.op != "flag" for part in offset.parts)


def _key(memory: Allocation) -> Variable:
    return memory.name, id(memory.type)


def _scalars(value: Value) -> list[Value]:
    return list(value.cells.values()) if isinstance(value, Aggregate) else [value]


class State(NamedTuple):
    """What an attempt may come back to, beside what is in cells."""

    mark: tuple[int, int]
    scope: Scope
    site: Any
    size: int
    versions: dict[Any, Version]
    mask: Any


class SymbolicMachine(Machine):
    """One warp of a kernel, of which nothing is known but what its text says."""

    def __init__(self, program: Program, indexed: set[Variable], starts: Mapping[ir.Symbol, int]) -> None:
        """`indexed` are arrays that are in local memory, as far as they are known; those that are found join them.
        `starts` are the places of shared variables, as far as these are known."""
        super().__init__(Lanes((32, 1, 1), (1, 1, 1), [(0, 0, 0)]), program)
        self.memory: SymbolicMemory = SymbolicMemory(self, indexed)
        self.graph = Graph()
        self.straight = Straight(starts)
        self.slow = Separation()
        """What the arithmetic of the statement that is walked separates: what it loads comes before, what it stores
        behind it."""
        self.attempts = Attempts()
        """What becomes of the loops that it walks."""
        self.versions: dict[Any, Version] = {}
        self.bases: dict[Allocation, Term] = {}
        self.lanes.built_in = {name: self._built_in(name) for name in self.lanes.built_in}

    def _built_in(self, name: str) -> list[Any]:
        op = "special" if name in ("threadIdx", "blockIdx") else "parameter"
        made = []
        for axis in "xyz":
            term = Term(self.graph, op, (), UINT, terms.NO_LOOPS, f"{name}.{axis}")
            term.low, term.high = 0, 1023 if name == "threadIdx" else None
            made.append(term)
        return made

    def parameter(self, name: str, type_: ir.Scalar) -> Term:
        return Term(self.graph, "parameter", (), type_, terms.NO_LOOPS, name)

    def _fill(self, variable: Allocation, offset: int, type_: ir.Type, value: Value, name: str) -> None:
        if isinstance(type_, ir.Scalar):
            variable.cells[offset] = self.parameter(name, type_)
        else:
            super()._fill(variable, offset, type_, value, name)

    # --- memory --------------------------------------------------------------------------------------------

    def access(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value = None,
    ) -> Value:  # fmt: skip
        if not isinstance(type_, (ir.RecordType, ir.ArrayType)):
            return self._accessed(to, offset, type_, operation, value, self.library or node)
        found: dict[int, Value] = {}
        for own, bytes_ in pieces(type_):
            inside = [(at - own, leaf) for at, leaf in leaves(type_) if own <= at < own + bytes_ and leaf.bytes]
            if not inside:
                continue
            is_whole, is_one = bytes_ == type_.bytes, len(inside) == 1 and inside[0][1].bytes == bytes_
            piece = type_ if is_whole else inside[0][1] if is_one else ir.Scalar("piece", bytes_, "uint")
            held = value
            if isinstance(value, Aggregate) and not is_whole:
                cells = {at: value.cells[own + at] for at, _ in inside if own + at in value.cells}
                held = Aggregate(piece, cells)
            made = self._accessed(to, plus(offset, own), piece, operation, held, self.library or node)
            if isinstance(made, Aggregate):
                found |= {own + at: cell for at, cell in made.cells.items()}
            elif is_one or not isinstance(made, Term):
                found[own] = made
            else:
                found |= {own + at: self._field(made, at, leaf) for at, leaf in inside}
        return UNKNOWN if operation == "store" else Aggregate(type_, found)

    def _field(self, of: Term, at: int, leaf: ir.Type) -> Value:
        return self.graph.make("field", (of, at), leaf if isinstance(leaf, ir.Scalar) else ADDRESS)

    def _accessed(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, value: Value, node: Any
    ) -> Value:
        graph = self.graph
        address, constant = self.address(to, offset)
        named = walk.root(node)
        key = self._memory_of(to)
        if key is not to and named is not None and named.is_restrict:
            key = named  # A variable of the kernel's own says that nothing else points there.
        is_shared = to.space == "shared"
        record = record_at(node, type_.bytes)
        align = record.align if record is not None else 0
        if operation != "load":
            self.pass_slow_path()
        spot = Spot(to, key, is_shared, address, constant, type_.bytes, record)
        past = (constant - record.offset) % align if record is not None and align and record.offset is not None else 0
        info = Access(to, constant, type_.bytes, is_shared, None, align, 0 if is_shared else past)
        if operation == "store" and self._is_there_already(value, info, address, key):
            self._visit(node, operation, type_, _scalars(value)[0], node)
            return UNKNOWN
        if operation != "load":
            info = info._replace(runs=self.straight.join(operation, spot))
            needs = [(address, "address"), *((each, "value") for each in _scalars(value))]
            own = type_ if isinstance(type_, ir.Scalar) else UINT
            made = graph.root("store" if operation == "store" else operation, needs, own, info)
            self._visit(node, operation, type_, made)
            before = self.versions.get(key)
            self._change(key)
            if operation == "store" and node.span not in self.volatile:
                self._keep(Stored(address, info, own, value, node, made), type_, key, before)
            if before is not None and operation == "store":
                self.versions[key].by = before, address, constant, type_.bytes
            return made if operation == "atomic" else UNKNOWN
        version = self.versions.setdefault(key, Version(terms.NO_LOOPS))
        stored = graph.stored(address, type_, version, info)
        if stored is not None and node.span not in self.volatile:
            self._visit(node, operation, type_, stored.term, stored.node, is_stored=True)
            return stored.value
        if not compiler.REPEATS.is_on:
            version = Version(graph.around())
        load, is_there = graph.load(address, type_, version, info)
        self._visit(node, operation, type_, load, load.node if is_there else None)
        if not is_there:
            runs = self.straight.join(operation, spot)
            if load.node is None:
                load.info = load.info._replace(runs=runs)
            load.node = node
        if isinstance(type_, ir.PointerType):
            behind = Allocation(f"*{to.name}", "global")
            self.bases[behind] = load
            return Pointer(behind, 0, type_.pointee)
        if isinstance(type_, ir.Scalar):
            return load
        return Aggregate(type_, {at: self._field(load, at, leaf) for at, leaf in leaves(type_)})

    def _is_there_already(self, value: Value, to: Access, address: Any, key: Any) -> bool:
        """Whether a field of a record is what was loaded from there, and nothing can have changed it since."""
        cells = _scalars(value)
        value = cells[0] if len(cells) == 1 else None
        if not compiler.UNUSED.is_on or not to.align or not isinstance(value, Term):
            return False
        if value.op != "load" or value.info.version is None:
            return False
        same = value.info.memory is to.memory and (value.info.constant, value.info.bytes) == (to.constant, to.bytes)
        if not same or value.arguments[0] is not address:
            return False
        now = self.versions.get(key)
        while now is not None and now is not value.info.version:
            # Stores to other fields of the record have not changed it.
            before, where, constant, bytes_ = now.by or (None, None, 0, 0)
            is_beside = constant + bytes_ <= to.constant or to.constant + to.bytes <= constant
            now = before if where is address and is_beside else None
        return now is not None

    def note_arguments(self, values: Iterable[Value]) -> None:
        for value in values:
            held = value.allocation.cells.values() if isinstance(value, Pointer) else (value,)
            for each in list(held):
                self.graph.need(each)

    def pass_slow_path(self) -> None:
        separated, self.slow = self.slow, Separation()
        if separated.stores:
            kinds = zip(ALL, (separated.for_compiler, separated.loads, separated.stores), strict=True)
            self.straight.end(*(kind for kind, holds in kinds if holds))

    def _keep(self, stored: Stored, type_: ir.Type, key: Any, before: Version | None) -> None:
        """Remembers what a store has put into memory, and what earlier ones have that it leaves as it is."""
        if not compiler.FORWARDING.is_on:
            return
        held = dict(before.stored) if before is not None else {}
        held = {at: own for at, own in held.items() if own.is_beside(stored.address, stored.access)}
        if isinstance(type_, ir.Scalar) and isinstance(stored.value, (Term, int, float)):
            of = id(stored.address) if isinstance(stored.address, Term) else stored.address
            held[of, stored.access.constant] = stored
        self.versions[key].stored = held

    def _visit(
        self, node: Any, operation: Operation, type_: ir.Type, term: Term, earlier: Any = None, is_stored: bool = False
    ) -> None:
        visit = Visit(node, self.stack, operation, type_.bytes, term, earlier, is_stored)
        self.graph.log.append(("access", visit))

    def address(self, to: Allocation, offset: Any) -> tuple[Any, int]:
        """The address without what is constant of it, and that."""
        graph = self.graph
        own: tuple[terms.Part, ...] = ()
        constant = 0
        if isinstance(offset, Term):
            own, constant = offset.parts, offset.constant
        elif type(offset) is int:
            constant = offset
        if to.space == "shared":
            narrow = [part for part in own if part.term.op in ("zext", "sext")]
            for part in narrow:  # What wraps around in 32 bits does so in the address, too.
                inner = part.term.arguments[0]
                own = terms.added(terms.added(own, (part,), -1), inner.parts, part.factor)
                constant += inner.constant * part.factor
        else:
            # A pointer of which nothing is known may be another one each time.
            base = self.bases.get(to) if to is not ASTRAY else None
            if base is None:
                base = self.bases[to] = self.parameter(to.name, ADDRESS)
            own = terms.added(own, base.parts)
        type_ = SHARED_ADDRESS if to.space == "shared" else ADDRESS
        if not compiler.OFFSETS.is_on:
            return graph.sum_of(own, constant, type_), 0
        return graph.sum_of(own, 0, type_), constant

    def _memory_of(self, to: Allocation) -> Any:
        """What stores through other pointers may change, too."""
        return to if to.space == "shared" or to.name in self.restricted else to.space

    def _change(self, key: Any) -> None:
        self.versions[key] = Version(self.graph.around(), begin=self.graph.total)

    def change(self, memory: Allocation) -> None:
        self._change(self._memory_of(memory))

    def barrier(
        self, node: Any, kind: BarrierKind, scope: BarrierScope = "block", part: BarrierPart = "whole",
        is_implied: bool = False, named: Value = None,
    ) -> None:  # fmt: skip
        if is_implied:
            self.straight.end("compiler")
            return
        self.straight.end(*ALL)
        self.graph.root("barrier", [], VOID)
        for loop in self.graph.around():
            loop.is_whole = True
        for key in list(self.versions):
            if not self._is_alone(key):
                self._change(key)

    def _is_alone(self, memory: Any) -> bool:
        """Whether nothing but what the kernel itself does through one pointer changes memory."""
        if isinstance(memory, Allocation):
            return memory.space != "shared" and memory.name in self.restricted
        return isinstance(memory, ir.Symbol)

    def fence(self, node: Any) -> None:
        self.straight.end(*ALL)

    def copies(self, node: Any, kept: int | None) -> None:
        self.straight.end(*(ALL if kept is not None else ("compiler", "stores")))

    # --- statements ----------------------------------------------------------------------------------------

    def run(
        self, function: ir.Function, arguments: dict[ir.Symbol, Value], axioms: Sequence[ir.Function] = ()
    ) -> Trace:
        self.volatile = function.volatile
        self.restricted = {p.name for p in function.parameters if p.is_restrict}
        start = Place(self.graph.scope, (function.body, (), None))
        for axis in (term for name in ("threadIdx", "blockIdx") for term in self.lanes.built_in[name]):
            axis.home = start
        return super().run(function, arguments, axioms)

    restricted: set[str] = set()
    volatile: Set[ir.Span] = frozenset()

    def visit(self, statement: st.Stmt) -> None:
        self.graph.site = (statement, self.stack, self.library)
        self.graph.log.append(("visit", self.graph.site))

    def state(self) -> State:
        graph = self.graph
        return State(graph.mark(), graph.scope, graph.site, graph.scope.size, dict(self.versions), self.mask)

    def go_back(self, to: State, writes: Writes) -> None:
        """Undoes all that was walked since: cells become what they were."""
        self.restore(writes)
        self.graph.take_back(to.mark)
        self.graph.scope, self.graph.site = to.scope, to.site
        to.scope.size = to.size
        self.versions, self.mask, self.broken, self.continued = dict(to.versions), to.mask, None, None

    def restore(self, writes: Writes) -> Writes:
        """Puts cells back to what was in them; gives what is in them now."""
        now = {(to, offset): to.cells.get(offset) for to, offset in writes}
        for (to, offset), old in writes.items():
            if old is None:
                to.cells.pop(offset, None)
            else:
                to.cells[offset] = old
        return now

    def begin(self) -> None:
        self.depth += 1
        self.writes.append({})

    def end(self) -> Writes:
        self.depth -= 1
        written = self.writes.pop()
        if self.writes:
            for (to, offset), old in written.items():
                if to.depth < self.depth:
                    self.writes[-1].setdefault((to, offset), old)
        return written
