"""Statements: what they do to the mask, to variables and to the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudalint.execute.budget import size_of
from cudalint.execute.conditions import Conjunction, Disjunction
from cudalint.execute.drawn import Drawn
from cudalint.execute.loops import compiled_loop
from cudalint.execute.memory import Allocation, as_type, either, joined
from cudalint.execute.places import variable
from cudalint.execute.program import Execute, Program
from cudalint.execute.ranges import as_statement
from cudalint.execute.values import COMPUTED, Data, Pointer, Value
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.execute.lanes import Mask
    from cudalint.execute.machine import Machine



class Statements:
    """Compiles statements. None of them is executed without an active lane."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._whole: set[st.If] = set()
        """Those that are all that there is of another one."""

    def compiled(self, n: st.Stmt) -> Execute:
        match n:
            case st.Declare():
                return self._declare(n)
            case st.ExprStmt():
                return self._expression(n)
            case st.Block():
                return self._block(n.statements)
            case st.If():
                return self._if(n)
            case st.For() | st.While() | st.DoWhile():
                return compiled_loop(self._program, n)
            case st.Switch():
                return self._switch(n)
            case st.Return():
                return self._return(n)
            case st.Break():
                return _break
            case st.Continue():
                return _continue
            case st.Asm():
                return self._program.calls.assembly(n)
            case st.RangeFor():
                return self._program.statement(as_statement(n))
            case st.UnknownStmt():
                return self._unknown(n)

    def _expression(self, n: st.ExprStmt) -> Execute:
        value, size = self._program.discarded(n.expr), size_of(n.expr)

        def execute(m: Machine) -> None:
            m.step(size)
            value(m)

        return execute

    def _block(self, statements: tuple[st.Stmt, ...]) -> Execute:
        parts = [self._program.statement(statement) for statement in statements]
        if len(parts) == 1:
            return parts[0]

        def execute(m: Machine) -> None:
            for part in parts:
                if m.mask is None:
                    return
                part(m)

        return execute

    def _declare(self, n: st.Declare) -> Execute:
        symbol, type_ = n.symbol, n.symbol.type
        if symbol.storage in ("shared", "dynamic-shared"):

            def shared(m: Machine) -> None:
                if symbol not in m.environment:
                    variable(m, symbol)

            return shared
        if symbol.storage in ("static", "device") and not symbol.is_const:

            def outliving(m: Machine) -> None:
                # Nobody knows what earlier launches have left there.
                if symbol not in m.environment:
                    m.environment[symbol] = Allocation(symbol.name, "global", type_)

            return outliving
        if symbol.storage == "static" and n.initializer is None and symbol.initializer is not None:
            return lambda m: None  # It has its value when it is asked for.
        if n.initializer is None:

            def bare(m: Machine) -> None:
                m.environment[symbol] = m.memory.local(type_, None, symbol.name, symbol)

            return bare
        if ir.is_reference(type_):
            place = self._program.place(n.initializer)

            def bound(m: Machine) -> None:
                at = place(m)
                m.environment[symbol] = Pointer(at.allocation, at.offset, at.type)

            return bound
        value, is_static, is_plain = self._program.value(n.initializer), symbol.storage == "static", isinstance(
            type_, (ir.Scalar, ir.PointerType)
        )
        size = size_of(n.initializer)

        def declare(m: Machine) -> None:
            if is_static and symbol in m.environment:
                return
            m.step(size)
            first = value(m)
            m.environment[symbol] = m.memory.local(
                type_, as_type(first, type_) if is_plain else first, symbol.name, symbol
            )

        return declare

    def _if(self, n: st.If) -> Execute:
        inner = _all_of(n.then)
        if n.otherwise is None and isinstance(inner, st.If) and inner.otherwise is None:
            # The compiler makes one predicate of both.
            self._whole.add(inner)
        is_whole = n in self._whole
        condition, then = self._program.value(n.condition), self._program.statement(n.then)
        otherwise = self._program.statement(n.otherwise) if n.otherwise is not None else None
        size = size_of(n.condition)
        is_exit = isinstance(inner, (st.Return, st.Break, st.Continue))

        def execute(m: Machine) -> None:
            m.step(size)
            holds = m.truth(condition(m))
            mask = m.mask
            if mask is None:
                return
            if type(holds) is bool:
                m.agreed(n)
                if holds:
                    then(m)
                elif otherwise is not None:
                    otherwise(m)
                return
            if isinstance(holds, Data):
                m.undecided(n, holds)
                if is_exit and isinstance(holds, Disjunction):
                    mask = _left(m, holds, then)
                if mask is not None:
                    _if_by_data(m, mask, holds, then, otherwise)
                return
            with_it, without = m.split(holds)
            m.branch(n, mask, with_it)
            left_then, left_otherwise = with_it, without
            outer = m.guard
            if not is_whole or outer is None:
                m.guard = mask
            if with_it is not None:
                m.mask = with_it
                then(m)
                left_then = m.mask
            if without is not None and otherwise is not None:
                m.mask = without
                otherwise(m)
                left_otherwise = m.mask
            m.guard = outer
            if left_then is with_it and left_otherwise is without:
                m.mask = mask
            else:
                m.mask = _both(left_then, left_otherwise)

        return execute

    def _switch(self, n: st.Switch) -> Execute:
        condition = self._program.value(n.condition)
        cases = [
            ([self._program.value(value) for value in case.values], case.is_default, self._block(case.body))
            for case in n.cases
        ]

        def execute(m: Machine) -> None:
            m.step()
            value, mask = condition(m), m.mask
            if mask is None:
                return
            outer, outer_data, m.broken = m.broken, m.loop_data, None
            if isinstance(value, Data) or type(value) not in (int, bool, np.ndarray):
                m.undecided(n, value if isinstance(value, Data) else COMPUTED)
                for _, _, body in cases:
                    m.open_scope(value if isinstance(value, Data) else None)
                    m.loop_data = m.data
                    m.mask, m.broken = mask, None
                    body(m)
                    m.close_scopes(m.data - 1)
            else:
                _chosen_cases(m, mask, value, n)
            broken = m.broken if not isinstance(value, Data) else None
            m.broken, m.loop_data = outer, outer_data
            if isinstance(value, Data):
                m.mask = m.gone(mask)
            else:
                m.mask = _both(m.mask, broken)
                if m.mask is not None and np.count_nonzero(m.mask) == np.count_nonzero(mask):
                    m.mask = mask

        def _chosen_cases(m: Machine, mask: Mask, value: Value, n: st.Switch) -> None:
            hits: list[Mask | None] = []
            left: Mask | None = mask
            for values, _, _ in cases:
                hit: Mask | None = None
                for each in values:
                    m.mask = mask
                    wanted = each(m)
                    if left is None or isinstance(wanted, Data):
                        continue
                    m.watch("==", value, wanted)
                    own = left & (value == wanted)
                    hit = _both(hit, own if own.any() else None)
                if hit is not None and left is not None:
                    left = _some(left & ~hit)
                hits.append(hit)
            number = next((at for at, (_, is_default, _) in enumerate(cases) if is_default), None)
            if number is not None:
                hits[number] = _both(hits[number], left)
                left = None
            if type(value) is np.ndarray:
                m.branch(n, mask, next((hit for hit in hits if hit is not None), None), cases=list(hits))
            else:
                m.agreed(n)
            falls: Mask | None = None
            for hit, (_, _, body) in zip(hits, cases, strict=True):
                m.mask = _both(falls, hit)
                if m.mask is not None:
                    if m.mask is not mask and np.count_nonzero(m.mask) == np.count_nonzero(mask):
                        m.mask = mask
                    body(m)
                falls = m.mask
            m.mask = _both(falls, left)

        return execute

    def _return(self, n: st.Return) -> Execute:
        value = self._program.value(n.value) if n.value is not None else None
        place = self._program.place(n.value) if n.value is not None else None

        def execute(m: Machine) -> None:
            frame = m.frames[-1]
            found: Value = None
            if value is not None and place is not None:
                if ir.is_reference(frame.function.result):
                    at = place(m)
                    found = Pointer(at.allocation, at.offset, at.type)
                else:
                    found = as_type(value(m), frame.function.result)
                if m.mask is None:
                    return
                if frame.value is None:
                    frame.value = found
                elif m.data > frame.data or frame.is_open:
                    if found is not frame.value:
                        is_one = m.is_common_since(frame.data) and m.is_left_together
                        frame.value = either(found, frame.value, is_common=is_one)
                else:
                    frame.value = joined(m.mask, found, frame.value)
            if m.data > frame.data:
                m.leave_by_data(frame.data)
                frame.is_open = True
                return
            frame.returned = _both(frame.returned, m.mask)
            m.mask = None

        return execute

    def _unknown(self, n: st.UnknownStmt) -> Execute:
        parts = self._block(n.children) if n.children else None

        def execute(m: Machine) -> None:
            m.gap(n.span, n.reason)
            m.is_lost |= n.is_jump
            if parts is not None:
                parts(m)

        return execute


def _all_of(n: st.Stmt) -> st.Stmt:
    """The statement that a block consists of, if it is a single one."""
    while isinstance(n, st.Block) and len(n.statements) == 1:
        n = n.statements[0]
    return n


def _left(m: Machine, holds: Disjunction, leave: Execute) -> Mask | None:
    """Those of whom data decides whether they leave (`if (i >= n || !flags[i]) return;`), when others have left."""
    sure, rest = m.split(holds.known)
    if sure is not None:
        m.mask = sure
        leave(m)
    m.mask = rest
    return rest


def _if_by_data(m: Machine, mask: Mask, holds: Data, then: Execute, otherwise: Execute | None) -> None:
    """Both sides of a branch that data decides: all lanes may come, but those that the rest of the condition leaves
    out, and of those for which something is what was loaded once (`if (threadIdx.x == winner)`) only ones for which
    it is the same."""
    data = m.data
    m.open_scope(holds)
    first = m.scopes[-1]
    if isinstance(holds, Conjunction):
        m.mask, _ = m.split(holds.known)
    elif type(holds) is Drawn:
        m.mask = holds.of_one_value(mask)
    if m.mask is not None:
        then(m)
    m.mask = mask
    if otherwise is not None:
        m.close_scopes(data)
        m.open_scope(holds, first)
        if isinstance(holds, Disjunction):
            _, m.mask = m.split(holds.known)
        if m.mask is not None:
            otherwise(m)
    m.close_scopes(data)
    m.mask = mask


def _break(m: Machine) -> None:
    if m.data > m.loop_data:
        m.leave_by_data(m.loop_data)
        return
    m.broken = _both(m.broken, m.mask)
    m.mask = None


def _continue(m: Machine) -> None:
    if m.data > m.loop_data:
        return
    m.continued = _both(m.continued, m.mask)
    m.mask = None


def _both(one: Mask | None, other: Mask | None) -> Mask | None:
    if one is None or one is other:
        return other
    return one if other is None else one | other


def _some(mask: Mask) -> Mask | None:
    return mask if mask.any() else None
