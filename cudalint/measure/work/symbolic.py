"""A kernel executed once with terms for values: each loop's body as the compiler lays it out, and both sides of branches.

The machine is the executor's own, with one warp. Loops whose tests come to plain numbers are walked turn by turn, as long
as the compiler would unroll them; of all others one turn is walked, in which what turns change are variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudalint.execute.lanes import Lanes
from cudalint.execute.library import _HANDLERS
from cudalint.execute.machine import Machine
from cudalint.execute.memory import Allocation, Memory, parts, plus
from cudalint.execute.program import Evaluate, Execute, Program
from cudalint.execute.values import COMPUTED, UNKNOWN, Aggregate, Data, Pointer, Value, leaves, truth
from cudalint.facts import BarrierKind, Operation
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import BUILTINS
from cudalint.measure.work import compiler, terms
from cudalint.measure.work.places import Access, Graph, Loop, Place, Scope, Version
from cudalint.measure.work.terms import ADDRESS, SHARED_ADDRESS, Term

if TYPE_CHECKING:
    from cudalint.execute.trace import Trace

_UINT = ir.Scalar("unsigned", 4, "uint")
_VOID = ir.Scalar("void", 0, "void")
_BOOL = ir.Scalar("bool", 1, "bool")
_VECTORS = frozenset({1, 2, 4, 8, 16})
_MOST_TURNS = 1200
_BULK = 16
"""Bytes that a copy has a multiple of, and is aligned to, that one bulk copy does."""
_MOST_ATTEMPTS = 3
"""Until it is known what a loop's turns change."""
_FOLLOWED = frozenset({
    "barrier", "warp-barrier", "load", "store", "atomic", "first-argument", "assumed-alignment", "stride", "operator",
    "fused", "end",
})  # fmt: skip
"""Effects that the executor carries out on terms as on anything else."""
_TRADED = frozenset({"shuffle", "masked-shuffle", "masked-vote", "unmasked-vote", "match", "active-mask"})
Writes = dict[tuple[Allocation, int], Value]


class SymbolicMemory(Memory):
    """What is written under a condition is what there is until the branch ends."""

    __slots__ = ()

    def _put(self, to: Allocation, offset: int, value: Value, width: int | None) -> None:
        machine, cells = self.machine, to.cells
        if width is not None and isinstance(to.type, (ir.RecordType, ir.ArrayType)):
            self._cover(to, offset, width)
        if to.depth < machine.depth:
            machine.note_write(to, offset, cells.get(offset))
        cells[offset] = value


class SymbolicMachine(Machine):
    """One warp of a kernel, of which nothing is known but what its text says."""

    def __init__(self, program: SymbolicProgram) -> None:
        super().__init__(Lanes((32, 1, 1), (1, 1, 1), [(0, 0, 0)]), program)
        self.memory = SymbolicMemory(self)
        self.graph = Graph()
        self.versions: dict[Any, Version] = {}
        self.bases: dict[Allocation, Term] = {}
        self.lanes.built_in = {name: self._built_in(name) for name in self.lanes.built_in}

    def _built_in(self, name: str) -> list[Any]:
        op = "special" if name in ("threadIdx", "blockIdx") else "parameter"
        made = []
        for axis in "xyz":
            term = Term(self.graph, op, (), _UINT, terms.NO_LOOPS, f"{name}.{axis}")
            self.graph.total += 1
            term.number, term.low = self.graph.total, 0
            term.high = 1023 if name == "threadIdx" else None
            made.append(term)
        return made

    def parameter(self, name: str, type_: ir.Scalar) -> Term:
        term = Term(self.graph, "parameter", (), type_, terms.NO_LOOPS, name)
        self.graph.total += 1
        term.number = self.graph.total
        return term

    def _fill(self, variable: Allocation, offset: int, type_: ir.Type, value: Value, name: str) -> None:
        if isinstance(type_, ir.Scalar):
            variable.cells[offset] = self.parameter(name, type_)
        else:
            super()._fill(variable, offset, type_, value, name)

    # --- memory --------------------------------------------------------------------------------------------

    def access(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value = None,
    ) -> Value:  # fmt: skip
        pieces = [(0, type_)] if type_.bytes in _VECTORS else parts(type_)
        found: dict[int, Value] = {}
        for own, piece in pieces:
            held = value
            if isinstance(value, Aggregate) and len(pieces) > 1:
                held = value.cells.get(own)
            made = self._accessed(to, plus(offset, own), piece, operation, held)
            if isinstance(made, Aggregate):
                found |= {own + at: cell for at, cell in made.cells.items()}
            else:
                found[own] = made
        if operation == "store":
            return UNKNOWN
        return Aggregate(type_, found) if isinstance(type_, (ir.RecordType, ir.ArrayType)) else found[0]

    def _accessed(self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, value: Value) -> Value:
        graph = self.graph
        address, constant = self.address(to, offset)
        key = self._memory_of(to)
        info = Access(to, constant, type_.bytes, to.space == "shared")
        if operation != "load":
            held = list(value.cells.values()) if isinstance(value, Aggregate) else [value]
            needs = [(address, "address"), *((each, "value") for each in held)]
            own = type_ if isinstance(type_, ir.Scalar) else _UINT
            made = graph.root("store" if operation == "store" else operation, needs, own, info)
            self._change(key)
            return made if operation == "atomic" else UNKNOWN
        version = self.versions.setdefault(key, Version(terms.NO_LOOPS))
        load = graph.load(address, type_, version, info)
        if isinstance(type_, ir.PointerType):
            behind = Allocation(f"*{to.name}", "global")
            self.bases[behind] = load
            return Pointer(behind, 0, type_.pointee)
        if isinstance(type_, ir.Scalar):
            return load
        return Aggregate(type_, {
            at: graph.make("field", (load, at), leaf if isinstance(leaf, ir.Scalar) else ADDRESS)
            for at, leaf in leaves(type_)
        })  # fmt: skip

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
            narrow = [part for part in own if part.term.op == "zext"]
            for part in narrow:  # What wraps around in 32 bits does so in the address, too.
                inner = part.term.arguments[0]
                own = terms.added(terms.added(own, (part,), -1), inner.parts, part.factor)
                constant += inner.constant * part.factor
        else:
            base = self.bases.get(to)
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
        self.versions[key] = Version(self.graph.around())

    def change(self, memory: Allocation) -> None:
        self._change(self._memory_of(memory))

    def barrier(self, node: Any, kind: BarrierKind) -> None:
        self.graph.root("barrier", [], _VOID)
        self._is_whole()
        for key in list(self.versions):
            self._change(key)

    def _is_whole(self) -> None:
        loop = self.graph.scope.loop
        while loop is not None:
            loop.is_whole = True
            loop = loop.before.scope.loop

    # --- statements ----------------------------------------------------------------------------------------

    def run(self, function: ir.Function, arguments: dict[ir.Symbol, Value]) -> Trace:
        self.restricted = {p.name for p in function.parameters if p.is_restrict}
        start = Place(self.graph.scope, (function.body, (), None))
        for axis in (term for name in ("threadIdx", "blockIdx") for term in self.lanes.built_in[name]):
            axis.home = start
        return super().run(function, arguments)

    restricted: set[str] = set()

    def visit(self, statement: ir.Stmt) -> None:
        self.graph.site = (statement, self.stack, self.library)
        self.graph.log.append(("visit", self.graph.site))

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


class SymbolicProgram(Program):
    """Statements and expressions on terms: those that choose are its own, and all others the executor's."""

    def statement(self, statement: ir.Stmt) -> Execute:
        found = self._statements.get(statement)
        if found is None:
            found = self._statements[statement] = self._visited(statement)
        return found

    def value(self, expression: ir.Expr) -> Evaluate:
        found = self._values.get(expression)
        if found is None:
            found = self._values[expression] = self._own(expression) or self._expressions.compiled(expression)
        return found

    def _own(self, e: ir.Expr) -> Evaluate | None:
        if isinstance(e, ir.Conditional):
            return self._conditional(e)
        if isinstance(e, ir.Binary) and e.op in ("&&", "||"):
            return self._both(e)
        if isinstance(e, ir.Call):
            return self._call(e)
        return None

    def _visited(self, n: ir.Stmt) -> Execute:
        if isinstance(n, (ir.For, ir.While, ir.DoWhile)):
            inner: Any = self._loop(n)
        elif isinstance(n, ir.If):
            inner = self._if(n)
        elif isinstance(n, ir.Return):
            inner = self._return(n)
        else:
            inner = self._code.compiled(n)

        def execute(m: Any) -> None:
            site = m.graph.site
            m.visit(n)
            inner(m)
            m.graph.site = site

        return execute

    # --- choices -------------------------------------------------------------------------------------------

    def _call(self, e: ir.Call) -> Evaluate | None:
        builtin = BUILTINS.get(e.name)
        if builtin is None or (e.function is not None and e.function.is_user):
            return None
        if builtin.effect in ("group-copy", "pipeline-copy"):
            return self._copy(e)
        if builtin.effect in _FOLLOWED:
            return None
        if builtin.effect not in _HANDLERS and not (builtin.computes or builtin.effect in _TRADED):
            return None
        arguments = [self.value(argument) for argument in e.arguments]
        type_ = ir.referent(e.type)
        own = type_ if isinstance(type_, ir.Scalar) and type_.kind != "void" else None
        pure = builtin.computes

        def call(m: Any) -> Value:
            given = tuple(argument(m) for argument in arguments)
            if own is None:
                m.graph.root("call", [(each, "value") for each in given], _UINT, e)
                return UNKNOWN
            if pure:
                return m.graph.make("call", given, own, info=builtin)
            return m.graph.root("call", [(each, "value") for each in given], own, e)

        return call

    def _copy(self, e: ir.Call) -> Evaluate:
        """An asynchronous copy into shared memory, which needs both addresses."""
        arguments = [self.value(argument) for argument in e.arguments]

        def call(m: Any) -> Value:
            given = [argument(m) for argument in arguments]
            ends = [each for each in given if isinstance(each, Pointer)][:2]
            sizes = [each.cells.get(0) if isinstance(each, Aggregate) else each for each in given]
            bytes_ = next((size for size in sizes if type(size) is int), 0)
            needs = [(m.address(end.allocation, end.offset)[0], "address") for end in ends]
            is_bulk = e.name == "memcpy_async" and bytes_ % _BULK == 0 and any(
                isinstance(each, Aggregate) and f"<{_BULK}" in each.type.name for each in given
            )
            m.graph.root("copy", needs, _VOID, is_bulk)
            for end in ends[:1]:
                m.change(end.allocation)
            return UNKNOWN

        return call

    def _conditional(self, e: ir.Conditional) -> Evaluate:
        condition, then, otherwise = self.value(e.condition), self.value(e.then), self.value(e.otherwise)
        type_ = ir.referent(e.type)

        def chosen(m: Any) -> Value:
            holds = truth(condition(m))
            if type(holds) is bool:
                return then(m) if holds else otherwise(m)
            graph = m.graph
            scope = graph.scope
            graph.scope = Scope(scope, scope.loop)
            first = then(m)
            graph.scope = Scope(scope, scope.loop)
            second = otherwise(m)
            graph.scope = scope
            if isinstance(type_, ir.Scalar) and not isinstance(first, Pointer) and not isinstance(second, Pointer):
                return graph.make("chosen", (holds, first, second), type_)
            return first

        return chosen

    def _both(self, e: ir.Binary) -> Evaluate:
        left, right, op = self.value(e.left), self.value(e.right), e.op

        def computed(m: Any) -> Value:
            first = truth(left(m))
            if type(first) is bool:
                return first if first is (op == "||") else truth(right(m))
            second = truth(right(m))
            if type(second) is bool and second is (op == "||"):
                return second
            return first if type(second) is bool else m.graph.make(op, (first, second), _BOOL)

        return computed

    def _if(self, n: ir.If) -> Execute:
        condition, then = self.value(n.condition), self.statement(n.then)
        otherwise = self.statement(n.otherwise) if n.otherwise is not None else None

        def execute(m: Any) -> None:
            holds = truth(condition(m))
            if type(holds) is bool:
                if holds:
                    then(m)
                elif otherwise is not None:
                    otherwise(m)
                return
            graph, mask, scope = m.graph, m.mask, m.graph.scope
            sides = []
            m.data += 1
            for side in (then, otherwise):
                if side is None:
                    sides.append((Scope(scope, scope.loop), {}, {}))
                    continue
                graph.scope = Scope(scope, scope.loop)
                m.begin()
                side(m)
                m.mask = mask
                written = dict(m.writes[-1])
                m.end()
                sides.append((graph.scope, written, m.restore(written)))
                graph.scope = scope
            m.data -= 1
            graph.branch(holds, [side for side, _, _ in sides])
            _join(m, holds, sides)

        return execute

    def _return(self, n: ir.Return) -> Execute:
        """What a function returns in several places is one of these."""
        inner = self._code.compiled(n)

        def execute(m: Any) -> None:
            frame = m.frames[-1]
            before, frame.value = frame.value, None
            inner(m)
            if before is not None:
                frame.value = before if frame.value is None else _chosen(m, True, before, frame.value)

        return execute

    # --- loops ---------------------------------------------------------------------------------------------

    def _loop(self, n: ir.For | ir.While | ir.DoWhile) -> Execute:
        init = self.statement(n.init) if isinstance(n, ir.For) and n.init is not None else None
        turns = _Turns(self, n)

        def execute(m: Any) -> None:
            if init is not None:
                init(m)
            outer = m.broken, m.continued, m.loop_data, m.data, m.is_left_by_data, m.mask
            m.broken = m.continued = None
            m.loop_data = m.data
            if not turns.unrolled(m):
                turns.rolled(m)
            m.broken, m.continued, m.loop_data, m.data, m.is_left_by_data, m.mask = outer

        return execute


def _join(m: Any, holds: Value, sides: list[Any]) -> None:
    """Behind a branch: what its sides have written, by which of them was taken."""
    (_, first, then), (_, second, otherwise) = sides
    for to, offset in {**first, **second}:
        old = to.cells.get(offset)
        one, other = then.get((to, offset), old), otherwise.get((to, offset), old)
        made = _chosen(m, holds, one, other)
        if to.depth < m.depth:
            m.note_write(to, offset, old)
        if made is not None:
            to.cells[offset] = made


def _chosen(m: Any, holds: Value, one: Value, other: Value) -> Value:
    if one is other or other is None or other is UNKNOWN:
        return one
    if one is None or one is UNKNOWN:
        return other
    if isinstance(one, Pointer) and isinstance(other, Pointer):
        if one.allocation is not other.allocation:
            return one
        return Pointer(one.allocation, _chosen(m, holds, one.offset, other.offset), one.pointee)
    if not isinstance(one, Term) and not isinstance(other, Term):
        return one if type(one) is type(other) and one == other else m.graph.make("select", (holds, one, other), _type(one))
    type_ = one.type if isinstance(one, Term) else other.type
    return m.graph.make("select", (holds, one, other), type_)


def _type(value: Value) -> ir.Scalar:
    if isinstance(value, Term):
        return value.type
    return ir.Scalar("float", 4, "float") if isinstance(value, float) else ir.Scalar("int", 4, "int")


class _Turns:
    """The turns of one loop of the source."""

    def __init__(self, program: SymbolicProgram, n: ir.For | ir.While | ir.DoWhile) -> None:
        self.n = n
        self.body = program.statement(n.body)
        self.condition = program.value(n.condition) if n.condition is not None else None
        self.increment = program.value(n.increment) if isinstance(n, ir.For) and n.increment is not None else None
        self.is_tested_first = not isinstance(n, ir.DoWhile)
        self.asked = n.unroll if isinstance(n, ir.For) else None

    def unrolled(self, m: Any) -> bool:
        """Walks all turns, where the compiler lays them out one by one; whether it does."""
        if not compiler.UNROLLING.is_on or (self.asked or 0) == 1:
            return False
        graph, mark, versions, mask = m.graph, m.graph.mark(), dict(m.versions), m.mask
        scope_size = graph.scope.size
        m.begin()
        limit = compiler.MOST_UNROLLED * (1 if self.asked is None else 16)
        turn = 0
        done = False
        while turn < _MOST_TURNS:
            if self.condition is not None and (self.is_tested_first or turn):
                holds = truth(self.condition(m))
                if type(holds) is not bool:
                    break
                if not holds:
                    done = True
                    break
            elif self.condition is None:
                break
            self.body(m)
            turn += 1
            if not m.next_turn():
                done = True
                break
            if self.increment is not None:
                self.increment(m)
            if graph.size - mark[1] > limit:
                break
        if done:
            m.end()
            return True
        m.restore(m.writes[-1])
        m.end()
        graph.take_back(mark)
        graph.scope.size = scope_size
        m.versions, m.mask, m.broken, m.continued = versions, mask, None, None
        return False

    def rolled(self, m: Any) -> None:
        """Walks one turn, with a variable for everything that turns change."""
        variables: dict[tuple[Allocation, int], Value] = {}
        changed: set[Any] = set()
        graph = m.graph
        for attempt in range(_MOST_ATTEMPTS + 1):
            mark, versions, mask = graph.mark(), dict(m.versions), m.mask
            outer_scope, outer_site = graph.scope, graph.site
            size = outer_scope.size
            loop = Loop(graph.here())
            loop.asked = self.asked
            m.begin()
            held = self._variables(m, loop, variables, changed)
            self._turn(m, loop)
            written = dict(m.writes[-1])
            now = {key: key[0].cells.get(key[1]) for key in written}
            fresh = {key: value for key, value in now.items() if key not in variables and _differs(value, written[key])}
            fresh = {key: value for key, value in fresh.items() if key[0].depth < m.depth}
            stores = {k for k, version in m.versions.items() if version.loops and versions.get(k) is not version}
            stores -= changed
            m.end()
            if (not fresh and not stores) or attempt == _MOST_ATTEMPTS:
                break
            m.restore(written)
            graph.scope, graph.site = outer_scope, outer_site
            graph.take_back(mark)
            outer_scope.size = size
            m.versions, m.mask, m.broken, m.continued = versions, mask, None, None
            variables |= fresh
            changed |= stores
        graph.scope, graph.site = outer_scope, outer_site
        m.mask = mask
        for (to, offset), variable in held.items():
            after = to.cells.get(offset)
            pair = (variable.offset, after.offset) if isinstance(variable, Pointer) and isinstance(after, Pointer) else (variable, after)
            if isinstance(pair[0], Term):
                loop.variables[pair[0]] = pair[1]
            if self.is_tested_first:
                to.cells[offset] = variable
        graph.close(loop)
        outer = outer_scope.loop
        while outer is not None:
            outer.is_whole = True
            outer = outer.before.scope.loop

    def _variables(
        self, m: Any, loop: Loop, names: dict[tuple[Allocation, int], Value], changed: set[Any]
    ) -> dict[tuple[Allocation, int], Value]:
        """Puts variables of the loop where its turns leave other values."""
        graph = m.graph
        graph.scope = loop.scope
        loop.place = Place(loop.scope, (self.n.body, m.stack, m.library))
        around = graph.around()
        held: dict[tuple[Allocation, int], Value] = {}
        for (to, offset), after in names.items():
            old = to.cells.get(offset)
            made = self._variable(graph, loop, around, old, after)
            if made is not None:
                m.note_write(to, offset, old)
                to.cells[offset] = held[to, offset] = made
        for key in changed:
            m.versions[key] = Version(around)
        return held

    def _variable(self, graph: Graph, loop: Loop, around: terms.Loops, old: Value, after: Value) -> Value:
        if isinstance(old, Pointer) and isinstance(after, Pointer):
            if old.allocation is not after.allocation:
                return None
            inner = self._variable(graph, loop, around, old.offset, after.offset)
            return None if inner is None else Pointer(old.allocation, inner, old.pointee)
        if isinstance(after, (Pointer, Aggregate)) or (isinstance(after, Data) and not isinstance(after, Term)):
            return None
        if isinstance(old, (Pointer, Aggregate)):
            return None
        type_ = after.type if isinstance(after, Term) else old.type if isinstance(old, Term) else _type(after)
        term = Term(graph, "variable", (old,) if isinstance(old, Term) else (), type_, around, loop)
        graph.total += 1
        term.number, term.home = graph.total, loop.place
        loop.scope.size += compiler.weight(term)
        return term

    def _turn(self, m: Any, loop: Loop) -> None:
        graph = m.graph
        graph.site = loop.place.site
        test: Value = None
        if self.is_tested_first and self.condition is not None:
            test = truth(self.condition(m))
            if isinstance(test, Term):
                graph.root("test", [(test, "test")], _VOID)
        self.body(m)
        m.next_turn()
        graph.site = loop.place.site
        if self.increment is not None and m.mask is not None:
            self.increment(m)
        if not self.is_tested_first and self.condition is not None and m.mask is not None:
            test = truth(self.condition(m))
            if isinstance(test, Term):
                graph.root("test", [(test, "test")], _VOID)


def _differs(one: Value, other: Value) -> bool:
    if one is other:
        return False
    if isinstance(one, Pointer) and isinstance(other, Pointer):
        return one.allocation is not other.allocation or _differs(one.offset, other.offset)
    if type(one) is type(other) and type(one) in (int, float, bool):
        return bool(one != other)
    return True


__all__ = ["COMPUTED", "SymbolicMachine", "SymbolicProgram"]
