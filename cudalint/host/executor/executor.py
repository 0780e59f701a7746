"""Symbolic execution of a function: statements, branches and calls, for all lanes of a block at once.

Both sides of a branch are executed under their own path condition and the variables are joined lane by lane. Loops
are summarised (cudalint.host.executor.loops). What the execution leaves behind is the list of events in its
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from cudalint.host.executor import expressions, loops, objects
from cudalint.host.executor.handlers import PLACE_HANDLERS, VALUE_HANDLERS
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.memory import Memory
from cudalint.host.executor.state import Before, Exit, FunctionScope, State, reached
from cudalint.host.executor.values import (
    PLACES,
    Allocation,
    Place,
    Value,
    join,
)
from cudalint.host.library.intrinsics import LIBRARY, Handler
from cudalint.host.values.arithmetic import Kind
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import UNINITIALISED, Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.system.processes.deadline import NEVER, Deadline

_T = TypeVar("_T")
Arm = Callable[[], None]
"""Executes one side of a branch."""
MAX_DEPTH = 24
"""Calls are inlined to this depth."""
_STATEMENT_WORK = 50
"""Microseconds that a statement takes, as measured."""
_CLOCK_EVERY = 16
"""Statements between two looks at the clock, which asks the operating system."""
MAX_STATEMENTS = 40_000
"""An execution that takes more statements (after unrolling and inlining) is given up."""


class GaveUp(Exception):
    """The execution became too large; what was recorded until then is not complete."""


class Executor:
    """One execution, and what it leaves behind."""

    value_handlers = VALUE_HANDLERS
    place_handlers = PLACE_HANDLERS

    def __init__(self, graph: Graph, deadline: Deadline = NEVER) -> None:
        self.graph = graph
        self.deadline = deadline
        self.state = State(graph)
        self.memory = Memory(graph)
        self.statements = 0
        self.globals: dict[ir.Symbol, Allocation] = {}
        """Shared, constant and device variables met so far."""
        self.addresses: dict[object, Node] = {}
        """The numbers that stand for the addresses of allocations, where a program computes with them."""
        self.library: Mapping[str, Handler] = LIBRARY
        """Functions that are known by name."""
        self.on_launch: Callable[[ir.Launch], None] | None = None
        """What to do about `<<<>>>`; None where launches are not expected (device code)."""
        self.active: list[str] = []
        """Keys of the functions being executed, to stop at recursion."""
        self.effects: dict[ir.Stmt, walk.Effects] = {}
        """What loops may do to the variables around them, by their bodies."""

    # trying

    def before(self) -> Before:
        """What `take_back` goes back to."""
        return self.state.before()

    def take_back(self, before: Before) -> None:
        """Forgets what was executed since: the variables' values, the path and the lanes that left it."""
        self.state.take_back(before)

    @contextmanager
    def on_trial(self) -> Iterator[Before]:
        """What is executed meanwhile is taken back."""
        before = self.before()
        try:
            yield before
        finally:
            self.take_back(before)

    # context

    def place_of(self, span: ir.Span) -> ir.Span:
        """Where something happens: what the bundled headers do happens where the user calls them."""
        return self.state.library_call or span

    def opaque(self, text: str, type_: ir.Type, args: tuple[Node, ...] = (), origin: object = None) -> Value:
        """A value that cannot be followed; it counts as data where one of `args` does."""
        data = any(a.bits & self.graph.opaque_bits for a in args)
        return self.memory.unknown(type_, Reason(data, text, origin), args)

    def note_set(self, where: Place, value: Value) -> None:
        """A function that is not in sight gives a variable a value: of kernels, nothing is to be noted."""

    def changed_in(self, parts: LoopParts) -> Collection[ir.Symbol]:
        """The variables that a loop changes."""
        effects = self.effects.get(parts.body)
        if effects is None:
            effects = self.effects[parts.body] = walk.effects(parts.condition, parts.body, parts.increment)
        return reached(effects, self.state.variables)

    def converted(self, number: Node, kind: Kind) -> Node:
        """A number as a variable of another type holds it."""
        return self.graph.convert(number, kind)

    def preferred(self, condition: Node, a: Value, b: Value) -> Value | None:
        """Which of two values of a conditional expression stands for both, if one does."""
        return None

    # functions

    def inline(
        self,
        ref: ir.FunctionRef,
        bind: Callable[[ir.Function], Mapping[ir.Symbol, Value | Place]],
        call: ir.Span,
        arguments: Sequence[ir.Expr] = (),
        receiver: ir.Expr | None = None,
    ) -> Value | Place | None:
        """Executes the body of a called function, with what `bind` makes of the arguments; None where there is an
        obstacle."""
        if self.obstacle(ref) is not None or (function := ref.load()) is None:
            return None
        bindings = bind(function)
        scope = FunctionScope(function.name, len(self.state.conditions), returns_place=ir.is_reference(function.result))
        before, frames = self.state.conditions, self.state.frames
        loop_scopes, self.state.loop_scopes = self.state.loop_scopes, []
        self.state.variables.update(bindings)
        self.active.append(ref.key)
        library_call = self.state.library_call
        if ref.is_user:
            self.state.frames = (call, *frames)
        else:
            self.state.library_call = library_call or call
            scope.name = self.state.functions[-1].name if self.state.functions else scope.name
        self.state.functions.append(scope)
        self.initialise_members(function)
        self.statement(function.body)
        scope.reaches_end = not self.state.dead
        self.state.functions.pop()
        self.state.library_call = library_call
        self.active.pop()
        self.state.loop_scopes = loop_scopes
        self.state.conditions, self.state.frames = before, frames
        self.state.dead = self.state.dead and not scope.returns
        return self.returned(scope, function)

    def answered(self, expr: ir.Call) -> Value | None:
        """What a call gives of which nothing but the declaration is in sight, where something is known of it."""
        return None

    def obstacle(self, ref: ir.FunctionRef) -> str | None:
        """What is in the way of executing a function's body where it is called."""
        if ref.key in self.active:
            return "is recursive and was followed no further"
        if len(self.active) >= MAX_DEPTH:
            return f"is more than {MAX_DEPTH} calls deep and was not followed"
        function = ref.load()
        if function is None:
            return "has no body in sight"
        return "is a template of unknown arguments" if function.is_template_pattern else None

    def initialise_members(self, function: ir.Function) -> None:
        if function.this is None or not function.member_initializers:
            return
        this = objects.this_place(self, function.this)
        for name, initializer in function.member_initializers:
            objects.initialise_field(self, this, name, initializer)

    def returned(self, scope: FunctionScope, function: ir.Function) -> Value | Place:
        result: Value | Place | None = None
        for condition, value in reversed(scope.returns):
            if value is None:
                continue
            if result is None or isinstance(value, PLACES):
                result = value
            elif not isinstance(result, PLACES):
                result = join(self.graph, condition, value, result)
        return result if result is not None else self.uninitialised(function.result)

    def uninitialised(self, type_: ir.Type, name: str = "") -> Value:
        """What nothing in sight gives a value."""
        return self.memory.unknown(type_, UNINITIALISED, (), name)

    # statements

    def statement(self, statement: ir.Stmt) -> None:
        if self.state.dead:
            return
        self.statements += 1
        self.graph.work += _STATEMENT_WORK
        if self.statements > MAX_STATEMENTS:
            raise GaveUp(f"its body takes more than {MAX_STATEMENTS} statements once inlined and unrolled")
        if self.statements % _CLOCK_EVERY == 1:
            self.check_time()
        getattr(self, _STATEMENTS[type(statement)])(statement)

    def check_time(self) -> None:
        if self.deadline.is_over():
            raise GaveUp("its body takes too long to execute")

    def declare(self, statement: ir.Declare) -> None:
        symbol = statement.symbol
        if symbol.storage != "constant" and self.lies_in_memory(symbol):
            return
        if symbol.storage == "static" and statement.initializer is None:
            return
        self.state.variables[symbol] = expressions.initial_value(self, symbol, statement.initializer)

    def lies_in_memory(self, symbol: ir.Symbol) -> bool:
        """Whether a variable has an address in memory, where all threads see the same one."""
        return symbol.storage in ("shared", "dynamic-shared", "constant", "device")

    def join_variables(
        self, condition: Node, a: dict[ir.Symbol, Value | Place], b: dict[ir.Symbol, Value | Place]
    ) -> dict[ir.Symbol, Value | Place]:
        if condition is self.graph.false:
            return dict(b)
        joined = a
        for symbol, other in b.items():
            mine = joined.get(symbol)
            if mine is None:
                joined[symbol] = other
            elif mine is not other:
                joined[symbol] = self.join_values(condition, mine, other)
        return joined

    def join_values(self, condition: Node, a: Value | Place, b: Value | Place) -> Value | Place:
        if isinstance(a, PLACES) or isinstance(b, PLACES):
            return a
        return join(self.graph, condition, a, b)

    def if_(self, statement: ir.If) -> None:
        condition = expressions.condition(self, statement.condition)
        otherwise = statement.otherwise
        self.branch(
            condition, lambda: self.statement(statement.then),
            None if otherwise is None else lambda: self.statement(otherwise),
        )  # fmt: skip

    def merge_exits(self, breaks: Sequence[Exit], exits: Sequence[Node]) -> None:
        """After a switch or a loop body: lanes that broke out come back with their variables, others have left."""
        for condition, variables in breaks:
            self.state.variables = self.join_variables(condition, dict(variables), self.state.variables)
        for condition in exits:
            self.state.assume(self.graph.negate(condition))

    def _chosen(self, selections: Sequence[Node]) -> Node:
        """Which of the cases a lane jumps to."""
        chosen = self.graph.const(len(selections))
        for position, selected in enumerate(selections):
            chosen = self.graph.select(selected, self.graph.const(position), chosen)
        return chosen

    def _selected(self, value: Node, case: ir.Case, cases: tuple[ir.Case, ...]) -> Node:
        graph = self.graph
        selected = graph.false
        labels = case.values
        for label in labels:
            hit = graph.binary("==", value, expressions.number(self, label), value.kind)
            selected = graph.binary("||", selected, hit, hit.kind)
        if case.is_default:
            others = graph.true
            for other in cases:
                for label in other.values:
                    miss = graph.binary("!=", value, expressions.number(self, label), value.kind)
                    others = graph.binary("&&", others, miss, miss.kind)
            selected = graph.binary("||", selected, others, others.kind)
        return selected

    def return_(self, statement: ir.Return) -> None:
        scope = self.state.functions[-1]
        value: Value | Place | None = None
        if statement.value is not None:
            if scope.returns_place:
                value = expressions.place(self, statement.value)
            else:
                value = expressions.evaluate(self, statement.value)
        scope.returns.append((self.state.since(scope.depth), value))
        for loop in self.state.loop_scopes:
            loop.exits.append(self.state.since(loop.depth))
        self.state.dead = True

    def break_(self, statement: ir.Break) -> None:
        if self.state.loop_scopes:
            scope = self.state.loop_scopes[-1]
            scope.breaks.append((self.state.since(scope.depth), self.state.variables))
        self.state.dead = True

    def continue_(self, statement: ir.Continue) -> None:
        """Lanes that continue skip the rest of the body; the loop lets them in again at its increment."""
        for scope in reversed(self.state.loop_scopes):
            if not scope.is_switch:
                scope.continues.append((self.state.since(scope.depth), self.state.variables))
                break
            scope.exits.append(self.state.since(scope.depth))
        self.state.dead = True

    def block(self, statement: ir.Block) -> None:
        for inner in statement.statements:
            self.statement(inner)

    def unknown(self, statement: ir.UnknownStmt) -> None:
        for child in statement.children:
            self.statement(child)

    def assembly(self, statement: ir.Asm) -> None:
        """Inline PTX is for threads of a GPU, which no host code is executed for."""

    def expression(self, statement: ir.ExprStmt) -> None:
        expressions.discard(self, statement.expr)

    def follow(self, parts: LoopParts) -> None:
        """Executes a loop."""
        raise NotImplementedError

    def branch(self, condition: Node, then: Arm, otherwise: Arm | None) -> None:
        """Executes both sides of a branch."""
        raise NotImplementedError

    def switch(self, statement: ir.Switch) -> None:
        raise NotImplementedError

    def for_(self, statement: ir.For) -> None:
        loops.for_loop(self, statement)

    def while_(self, statement: ir.While) -> None:
        loops.while_loop(self, statement)

    def do_while(self, statement: ir.DoWhile) -> None:
        loops.do_loop(self, statement)

    def range_for(self, statement: ir.RangeFor) -> None:
        loops.range_loop(self, statement)


_STATEMENTS: dict[type, str] = {
    ir.Declare: "declare",
    ir.ExprStmt: "expression",
    ir.Block: "block",
    ir.If: "if_",
    ir.For: "for_",
    ir.RangeFor: "range_for",
    ir.While: "while_",
    ir.DoWhile: "do_while",
    ir.Switch: "switch",
    ir.Return: "return_",
    ir.Break: "break_",
    ir.Continue: "continue_",
    ir.Asm: "assembly",
    ir.UnknownStmt: "unknown",
}
"""The methods by name, so that a subclass can have its own."""
