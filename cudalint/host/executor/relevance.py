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
from cudalint.ir import walk
from cudalint.ir.builtins import ENDING, named

_TELLING = ENDING | named("attribute-of-kernel")
"""Functions of the library that are always executed."""
_ASSERTS = named("refuted", "assumed-by-host")
_LOOPS = (ir.For, ir.RangeFor, ir.While, ir.DoWhile)
_OUTSIDE = frozenset({"global", "static", "device", "constant", "shared", "template"})

_Variable = ir.Symbol | ir.Stmt
"""A variable of the program, or the branch or loop that decides whether something is executed."""


def ends_program(statement: ir.ExprStmt) -> bool:
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

    def idle(self, body: ir.Stmt, outer: Iterable[ir.Symbol] = ()) -> set[ir.Stmt]:
        """The statements in a body that decide nothing; what happens to the variables `outer` matters to others."""
        flows = _Flows(self._launches, self._silent)
        flows.statement(body, None)
        relevant = flows.relevant(outer)
        idle: set[ir.Stmt] = set()
        _collect(body, flows.own, relevant, idle)
        return idle


def _collect(
    statement: ir.Stmt, own: dict[ir.Stmt, list[_Flow]], relevant: Collection[_Variable], idle: set[ir.Stmt]
) -> bool:
    """Whether a statement or any in it is needed; those that are not are added to `idle`."""
    needed = any(flow.is_needed or any(t in relevant for t in flow.targets) for flow in own.get(statement, ()))
    for inner in _inner(statement):
        needed = _collect(inner, own, relevant, idle) or needed
    if not needed:
        idle.add(statement)
    return needed


def _inner(statement: ir.Stmt) -> Iterator[ir.Stmt]:
    match statement:
        case ir.Block(statements=inner):
            yield from inner
        case ir.If(then=then, otherwise=otherwise):
            yield then
            if otherwise is not None:
                yield otherwise
        case ir.For(init=init, body=body):
            if init is not None:
                yield init
            yield body
        case ir.RangeFor(body=body) | ir.While(body=body) | ir.DoWhile(body=body):
            yield body
        case ir.Switch(cases=cases):
            for part in cases:
                yield from part.body
        case ir.UnknownStmt(children=children):
            yield from children


class _Flows:
    """What depends on what in one body."""

    def __init__(self, launches: Callable[[Any], bool], silent: Collection[str]) -> None:
        self._launches = launches
        self._silent = silent
        self.own: dict[ir.Stmt, list[_Flow]] = {}
        self._all: list[_Flow] = []
        self._leaving: list[ir.Stmt] = []
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

    def statement(self, statement: ir.Stmt, around: ir.Stmt | None) -> None:
        """`around` is the innermost branch or loop."""
        match statement:
            case ir.Declare(symbol=symbol, initializer=initializer):
                self._stored(statement, symbol, symbol.type, initializer, around)
            case ir.ExprStmt(expr=ir.Assign() as assign) if isinstance(assign.target, (ir.Name, ir.Member, ir.Index)):
                flow = self._flow(statement, (assign,), around)
                self._link(flow, walk.root(assign.target), assign.target.type, assign.value)
            case ir.ExprStmt() if ends_program(statement):
                self._flow(statement, (), around).is_needed = True
            case ir.ExprStmt(expr=expr):
                self._flow(statement, (expr,), around)
            case ir.Return(value=value):
                self._flow(statement, (value,), around).is_needed = True
            case ir.Break() | ir.Continue():
                self._leave(statement, around)
            case ir.Block():
                for inner in statement.statements:
                    self.statement(inner, around)
            case ir.If() | ir.Switch() | ir.For() | ir.RangeFor() | ir.While() | ir.DoWhile():
                self._control(statement, around)
            case _:
                self._flow(statement, (), around).is_needed = True
                for inner in _inner(statement):
                    self.statement(inner, around)

    def _control(self, statement: ir.Stmt, around: ir.Stmt | None) -> None:
        """A branch or a loop: what is in it depends on its condition, and on what it is in itself."""
        heads = [head for name in ("condition", "range") if (head := getattr(statement, name, None)) is not None]
        self._flow(statement, heads, around, (statement,))
        if isinstance(statement, ir.For):
            self._flow(statement, (statement.increment,), statement)
        if isinstance(statement, ir.RangeFor):
            self._stored(statement, statement.symbol, statement.symbol.type, statement.range, statement)
        leaves = isinstance(statement, (*_LOOPS, ir.Switch))
        if leaves:
            self._leaving.append(statement)
        for inner in _inner(statement):
            self.statement(inner, statement)
        if leaves:
            self._leaving.pop()

    def _leave(self, statement: ir.Stmt, around: ir.Stmt | None) -> None:
        """`break` decides how far a loop goes, and matters if that does."""
        loops = [s for s in self._leaving if isinstance(statement, ir.Break) or isinstance(s, _LOOPS)]
        flow = self._flow(statement, (), around)
        flow.targets |= dict.fromkeys(loops[-1:])

    def _stored(
        self, statement: ir.Stmt, symbol: ir.Symbol, type_: ir.Type, value: ir.Expr | None, around: ir.Stmt | None
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
        statement: ir.Stmt,
        parts: Iterable[ir.Expr | None],
        around: ir.Stmt | None,
        decides: tuple[ir.Stmt, ...] = (),
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
