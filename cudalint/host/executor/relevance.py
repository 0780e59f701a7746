"""Which statements of host code can decide a launch: the rest (filling arrays, computing a reference) is not executed.

By syntax alone and regardless of order. What a statement changes depends on what it reads and on whether it is executed
at all; what a launch, a way out of the function or anything outside of it depends on is relevant. A branch and a loop
count as variables here: they depend on their conditions, and what they hold depends on them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import ENDING, named

_TELLING = ENDING | named("attribute-of-kernel")
"""Functions of the library that are always executed."""
_ASSERTS = named("refuted", "assumed-by-host")
_LOOPS = (st.For, st.RangeFor, st.While, st.DoWhile)
_OUTSIDE = frozenset({"global", "static", "device", "constant", "shared", "template"})

_Variable = ir.Symbol | st.Stmt
"""A variable of the program, or the branch or loop that decides whether something is executed."""


def ends_program(statement: st.ExprStmt) -> bool:
    """Whether a statement makes an object with whose end the program ends: `Fatal(__LINE__) << "size " << n;`."""
    made = (node.constructor for node in walk.walk(statement.expr) if isinstance(node, ir.Construct))
    return any(constructor is not None and constructor.never_returns() for constructor in made)


class _Flow(Struct, eq=False):
    """One statement, or one expression in the head of one."""

    targets: dict[_Variable, None] = field(default_factory=dict)
    sources: dict[_Variable, None] = field(default_factory=dict)
    is_needed: bool = False


class Relevance:
    """Sorts the statements of functions."""

    def __init__(self, launches: Callable[[Any], bool], silent: Collection[str]) -> None:
        """`launches` says whether a node launches a kernel; `silent` are the functions of the library of which neither
        the result nor what they do to memory is followed."""
        self._launches = launches
        self._silent = silent

    def idle(self, body: st.Stmt, outer: Iterable[ir.Symbol] = ()) -> set[st.Stmt]:
        """The statements in a body that decide nothing; what happens to the variables `outer` matters to others."""
        flows = _Flows(self._launches, self._silent)
        flows.statement(body, None)
        relevant = flows.relevant(outer)
        idle: set[st.Stmt] = set()
        _collect(body, flows.own, relevant, idle)
        return idle


def _collect(
    statement: st.Stmt, own: dict[st.Stmt, list[_Flow]], relevant: Collection[_Variable], idle: set[st.Stmt]
) -> bool:
    """Whether a statement or any in it is needed; those that are not are added to `idle`."""
    needed = any(flow.is_needed or any(t in relevant for t in flow.targets) for flow in own.get(statement, ()))
    for inner in _inner(statement):
        needed = _collect(inner, own, relevant, idle) or needed
    if not needed:
        idle.add(statement)
    return needed


def _inner(statement: st.Stmt) -> Iterator[st.Stmt]:
    match statement:
        case st.Block(statements=inner):
            yield from inner
        case st.If(then=then, otherwise=otherwise):
            yield then
            if otherwise is not None:
                yield otherwise
        case st.For(init=init, body=body):
            if init is not None:
                yield init
            yield body
        case st.RangeFor(body=body) | st.While(body=body) | st.DoWhile(body=body):
            yield body
        case st.Switch(cases=cases):
            for part in cases:
                yield from part.body
        case st.UnknownStmt(children=children):
            yield from children


class _Flows:
    """What depends on what in one body."""

    def __init__(self, launches: Callable[[Any], bool], silent: Collection[str]) -> None:
        self._launches = launches
        self._silent = silent
        self.own: dict[st.Stmt, list[_Flow]] = {}
        self._all: list[_Flow] = []
        self._leaving: list[st.Stmt] = []
        """The loops and switches around, which `break` leaves."""

    def relevant(self, outer: Iterable[ir.Symbol]) -> Collection[_Variable]:
        by_target: dict[_Variable, list[_Flow]] = {}
        pending: list[_Variable] = list(outer)
        for flow in self._all:
            if flow.is_needed:
                pending += flow.sources
            for target in flow.targets:
                by_target.setdefault(target, []).append(flow)
        found: dict[_Variable, None] = {}
        while pending:
            variable = pending.pop()
            if variable not in found:
                found[variable] = None
                for flow in by_target.get(variable, ()):
                    pending += flow.sources
        return found.keys()

    # statements

    def statement(self, statement: st.Stmt, around: st.Stmt | None) -> None:
        """`around` is the innermost branch or loop."""
        match statement:
            case st.Declare(symbol=symbol, initializer=initializer):
                self._stored(statement, symbol, symbol.type, initializer, around)
            case st.ExprStmt(expr=ir.Assign() as assign) if isinstance(assign.target, (ir.Name, ir.Member, ir.Index)):
                flow = self._flow(statement, (assign,), around)
                self._link(flow, walk.root(assign.target), assign.target.type, assign.value)
            case st.ExprStmt() if ends_program(statement):
                self._flow(statement, (), around).is_needed = True
            case st.ExprStmt(expr=expr):
                self._flow(statement, (expr,), around)
            case st.Return(value=value):
                self._flow(statement, (value,), around).is_needed = True
            case st.Break() | st.Continue():
                self._leave(statement, around)
            case st.Block():
                for inner in statement.statements:
                    self.statement(inner, around)
            case st.If() | st.Switch() | st.For() | st.RangeFor() | st.While() | st.DoWhile():
                self._control(statement, around)
            case _:
                self._flow(statement, (), around).is_needed = True
                for inner in _inner(statement):
                    self.statement(inner, around)

    def _control(self, statement: st.Stmt, around: st.Stmt | None) -> None:
        """A branch or a loop: what is in it depends on its condition, and on what it is in itself."""
        heads = [head for name in ("condition", "range") if (head := getattr(statement, name, None)) is not None]
        self._flow(statement, heads, around, (statement,))
        if isinstance(statement, st.For):
            self._flow(statement, (statement.increment,), statement)
        if isinstance(statement, st.RangeFor):
            self._stored(statement, statement.symbol, statement.symbol.type, statement.range, statement)
        leaves = isinstance(statement, (*_LOOPS, st.Switch))
        if leaves:
            self._leaving.append(statement)
        for inner in _inner(statement):
            self.statement(inner, statement)
        if leaves:
            self._leaving.pop()

    def _leave(self, statement: st.Stmt, around: st.Stmt | None) -> None:
        """`break` decides how far a loop goes, and matters if that does."""
        loops = [s for s in self._leaving if isinstance(statement, st.Break) or isinstance(s, _LOOPS)]
        flow = self._flow(statement, (), around)
        flow.targets |= dict.fromkeys(loops[-1:])

    def _stored(
        self, statement: st.Stmt, symbol: ir.Symbol, type_: ir.Type, value: ir.Expr | None, around: st.Stmt | None
    ) -> None:
        flow = self._flow(statement, (value,), around)
        flow.targets[symbol] = None
        self._link(flow, symbol, type_, value)

    def _link(self, flow: _Flow, holder: ir.Symbol | None, type_: ir.Type, value: ir.Expr | None) -> None:
        """What a pointer, a reference or a closure leads to is changed through it."""
        reached = [s for s in _led_to(value, isinstance(type_, ir.PointerType)) if s is not holder]
        if holder is not None and reached:
            self._all.append(_Flow(dict.fromkeys(reached), {holder: None}))

    # expressions

    def _flow(
        self,
        statement: st.Stmt,
        parts: Iterable[ir.Expr | None],
        around: st.Stmt | None,
        decides: tuple[st.Stmt, ...] = (),
    ) -> _Flow:
        flow = _Flow(dict.fromkeys(decides), {} if around is None else {around: None})
        for part in parts:
            if part is not None:
                self._read(part, flow)
        if any(isinstance(t, ir.Symbol) and t.storage in _OUTSIDE for t in flow.targets):
            flow.is_needed = True
        self.own.setdefault(statement, []).append(flow)
        self._all.append(flow)
        return flow

    def _read(self, expr: ir.Expr, flow: _Flow) -> None:
        pending: list[Any] = [expr]
        asserts = False
        while pending:
            node = pending.pop()
            match node:
                case ir.Name(symbol=symbol):
                    flow.sources[symbol] = None
                case ir.Assign(target=target):
                    self._change(flow, target)
                case ir.Unary(op=op, operand=operand) if op in walk.STEPS:
                    self._change(flow, operand)
                case ir.Call():
                    asserts = asserts or node.name in _ASSERTS
                    if node.name in self._silent and (node.function is None or not node.function.is_user):
                        continue
                    self._call(node, flow)
                case ir.Construct(constructor=constructor, arguments=arguments):
                    self._arguments(constructor, arguments, flow)
                case ir.Lambda(captures=captures):
                    flow.sources |= dict.fromkeys(capture.symbol for capture in captures)
                    flow.is_needed = flow.is_needed or self._launches(node)
                case ir.Launch() | ir.UnknownExpr() | ir.FunctionName():
                    flow.is_needed = flow.is_needed or not isinstance(node, ir.FunctionName) or self._launches(node)
            pending += walk.children(node)
        if asserts:
            # It says something of what it names, whatever that is.
            flow.targets |= dict(flow.sources)

    def _change(self, flow: _Flow, target: ir.Expr) -> None:
        symbol = walk.root(target)
        if symbol is None:
            flow.is_needed = True
        else:
            flow.targets[symbol] = None

    def _call(self, call: ir.Call, flow: _Flow) -> None:
        if call.name in _TELLING or call.callee is not None or self._launches(call):
            flow.is_needed = True
        if call.function is not None and call.function.never_returns():
            flow.is_needed = True
        if call.receiver is not None:
            self._change(flow, call.receiver)
        self._arguments(call.function, call.arguments, flow)

    def _arguments(self, ref: ir.FunctionRef | None, arguments: tuple[ir.Expr, ...], flow: _Flow) -> None:
        if ref is not None and ref.is_user and ref.acts():
            flow.is_needed = True
        flow.targets |= dict.fromkeys(walk.passed_to(ref, arguments))


def _led_to(value: ir.Expr | None, is_pointer: bool) -> Iterator[ir.Symbol]:
    """The variables to which a stored value leads."""
    pending: list[Any] = [] if value is None else [value]
    if is_pointer and value is not None and (symbol := walk.root(value)) is not None:
        yield symbol
    while pending:
        node = pending.pop()
        if isinstance(node, ir.Unary) and node.op == "&" and (symbol := walk.root(node.operand)) is not None:
            yield symbol
        elif is_pointer and isinstance(node, ir.Name) and isinstance(node.type, (ir.PointerType, ir.ArrayType)):
            yield node.symbol
        elif isinstance(node, ir.Lambda):
            yield from (capture.symbol for capture in node.captures if capture.by_reference)
        if not isinstance(node, ir.Call):
            pending += walk.children(node)
