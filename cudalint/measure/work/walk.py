"""A kernel walked once with terms for values: loops' bodies as the compiler lays them out, and both sides of branches.

Statements and expressions that choose are this module's and `turns.py`'s; all others are the executor's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cudalint.execute.program import Evaluate, Execute, Program
from cudalint.execute.values import UNKNOWN, Aggregate, Pointer, Value, truth
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import BUILTINS
from cudalint.measure.work import compiler
from cudalint.measure.work.compiler import Separation, separation_of
from cudalint.measure.work.graph import Scope
from cudalint.measure.work.machine import Writes
from cudalint.measure.work.runs import ALL, Kind
from cudalint.measure.work.terms import BOOL, UINT, VOID, Term, type_of
from cudalint.measure.work.turns import Turns

_BULK = 16
"""Bytes that a copy has a multiple of, and is aligned to, that one bulk copy does."""
_FOLLOWED = frozenset({
    "barrier", "warp-barrier", "load", "store", "atomic", "first-argument", "assumed-alignment", "stride", "operator",
    "fused",
})  # fmt: skip
"""Effects that the executor carries out on terms as on anything else."""
_ENDING = frozenset({"end", "refuted"})
"""Nobody is taken to come there, and others go on."""
_COMPOUND = (st.For, st.While, st.DoWhile, st.RangeFor, st.Block, st.Switch)
_ENDS: tuple[Kind, ...] = ("compiler", "stores")
_NEW_COMPILER = (10, 0)
"""The compute capability from which on another compiler is used (nvcc 13.0), which distinguishes inline PTX that is not
volatile: to that before, all of it stays in its place."""
_SELECTED = 3
"""Instructions that a branch may compute and still become a selection of its results."""
_TRADED = frozenset({"shuffle", "masked-shuffle", "masked-vote", "unmasked-vote", "match", "active-mask"})


class SymbolicProgram(Program):
    """Statements and expressions on terms: those that choose are its own, and all others the executor's."""

    def __init__(self, capability: tuple[int, int] = (0, 0)) -> None:
        super().__init__()
        self._capability = capability

    def statement(self, statement: st.Stmt) -> Execute:
        found = self._statements.get(statement)
        if found is None:
            found = self._statements[statement] = self._visited(statement)
        return found

    def value(self, expression: ir.Expr) -> Evaluate:
        found = self._values.get(expression)
        if found is None:
            found = self._values[expression] = self._own(expression) or self._expressions.compiled(expression)
        return found

    def discarded(self, expression: ir.Expr) -> Execute:
        return self._own(expression) or super().discarded(expression)

    def _own(self, e: ir.Expr) -> Evaluate | None:
        if isinstance(e, ir.Conditional):
            return self._conditional(e)
        if isinstance(e, ir.Binary) and e.op in ("&&", "||"):
            return self._both(e)
        if isinstance(e, ir.Call):
            return self._call(e)
        return None

    def _visited(self, n: st.Stmt) -> Execute:
        if isinstance(n, (st.For, st.While, st.DoWhile)):
            inner: Any = self._loop(n)
        elif isinstance(n, st.If):
            inner = self._if(n)
        elif isinstance(n, st.Return):
            inner = self._return(n)
        else:
            inner = self._code.compiled(n)
        # What is in other statements separates what is around these.
        own = n.condition if isinstance(n, st.If) else n
        separated = separation_of(own) if not isinstance(n, _COMPOUND) else Separation()
        is_assembly = isinstance(n, st.Asm) and (n.is_volatile or self._capability < _NEW_COMPILER)
        given = [self.value(each) for each in n.operands if isinstance(each, ir.Name)] if isinstance(n, st.Asm) else []

        def execute(m: Any) -> None:
            site, slow = m.graph.site, m.slow
            m.visit(n)
            m.slow = separated
            if is_assembly:
                m.straight.end("compiler")
            for each in given:
                m.graph.need(each(m))
            inner(m)
            if is_assembly:
                m.straight.end("compiler")
            m.pass_slow_path()
            m.graph.site, m.slow = site, slow

        return execute

    # --- choices -------------------------------------------------------------------------------------------

    def _call(self, e: ir.Call) -> Evaluate | None:
        builtin = BUILTINS.get(e.name)
        if builtin is None or (e.function is not None and e.function.is_user):
            return None
        if builtin.effect in ("group-copy", "pipeline-copy"):
            return self._copy(e)
        if builtin.effect in _ENDING:
            return lambda m: UNKNOWN
        if builtin.effect in _FOLLOWED:
            return None
        if not builtin.computes and builtin.effect not in _TRADED:
            return None
        arguments = [self.value(argument) for argument in e.arguments]
        type_ = ir.referent(e.type)
        own = type_ if isinstance(type_, ir.Scalar) and type_.kind != "void" else None
        pure = builtin.computes

        def call(m: Any) -> Value:
            given = tuple(argument(m) for argument in arguments)
            if not pure:
                m.straight.end("compiler")
            if own is None:
                m.graph.root("call", [(each, "value") for each in given], UINT, builtin)
                return UNKNOWN
            if pure:
                return m.graph.make("call", given, own, info=builtin)
            return m.graph.root("call", [(each, "value") for each in given], own, builtin)

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
                isinstance(each, Aggregate) and f"<{_BULK}" in ir.type_name(each.type) for each in given
            )
            m.graph.root("copy", needs, VOID, is_bulk)
            m.straight.end("compiler")
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
            scope, before = graph.scope, _begin_branch(m)
            graph.scope = Scope(scope, scope.loop)
            first = then(m)
            sides = [graph.scope]
            m.straight.end(*_ENDS)
            graph.scope = Scope(scope, scope.loop)
            second = otherwise(m)
            sides.append(graph.scope)
            graph.scope = scope
            _end_branch(m, before, sides)
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
            return first if type(second) is bool else m.graph.make(op, (first, second), BOOL)

        return computed

    def _if(self, n: st.If) -> Execute:
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
            sides: list[tuple[Scope, Writes, Writes]] = []
            before, leaves = _begin_branch(m), False
            m.pass_slow_path()
            m.data += 1
            for side in (then, otherwise):
                if side is None:
                    empty = Scope(scope, scope.loop)
                    empty.begin = empty.end = graph.total
                    sides.append((empty, {}, {}))
                    continue
                graph.scope = Scope(scope, scope.loop)
                graph.scope.begin = graph.total
                m.begin()
                side(m)
                graph.scope.end = graph.total
                m.straight.end(*_ENDS)
                leaves = leaves or m.mask is not mask
                m.mask = mask
                written = dict(m.writes[-1])
                m.end()
                sides.append((graph.scope, written, m.restore(written)))
                graph.scope = scope
            m.data -= 1
            graph.branch(holds, [side for side, _, _ in sides])
            _end_branch(m, before, [side for side, _, _ in sides], leaves)
            _join(m, holds, sides)

        return execute

    def _return(self, n: st.Return) -> Execute:
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

    def _loop(self, n: st.For | st.While | st.DoWhile) -> Execute:
        init = self.statement(n.init) if isinstance(n, st.For) and n.init is not None else None
        turns = Turns(self, n)

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


class _Before(NamedTuple):
    """Of a branch that is about to be walked."""

    log: int
    numbers: dict[Kind, int]


def _begin_branch(m: Any) -> _Before:
    before = _Before(len(m.straight.log), dict(m.straight.numbers))
    m.straight.end(*_ENDS)
    return before


def _end_branch(m: Any, before: _Before, sides: Sequence[Scope], leaves: bool = False) -> None:
    """What a branch separates: nothing where both sides are computed and one result is taken. What is loaded at the
    beginning of one that is a jump may still be loaded before it."""
    straight = m.straight
    is_empty = all(kinds == _ENDS for kinds in straight.log[before.log :])
    if is_empty and not leaves and sum(side.size for side in sides) <= _SELECTED:
        straight.numbers = before.numbers
        del straight.log[before.log :]
    elif not compiler.is_predicated(sides):
        straight.end(*ALL)
    else:
        straight.end(*_ENDS)


def _join(m: Any, holds: Value, sides: list[tuple[Scope, Writes, Writes]]) -> None:
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
    known = not isinstance(one, Term) and not isinstance(other, Term)
    if known and type(one) is type(other) and one == other:
        return one
    type_ = type_of(one if isinstance(one, Term) else other)
    return m.graph.make("select", (holds, one, other), type_)
