"""Symbolic execution of a function: statements, branches and calls, for all lanes of a block at once.

Both sides of a branch are executed under their own path condition and the variables are joined lane by lane. Loops
are summarised (cudalint.interpreter.device.loops). What the execution leaves behind is the list of events in its
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from msgspec import Struct

from cudalint.facts.files import not_resolved
from cudalint.interpreter.device import expressions, loops, objects
from cudalint.interpreter.device.events import BranchEvent, Computation, Context, Loop, Side, Step, UnseenCall
from cudalint.interpreter.device.handed import handed_on
from cudalint.interpreter.device.handlers import PLACE_HANDLERS, VALUE_HANDLERS
from cudalint.interpreter.device.loop_parts import LoopParts
from cudalint.interpreter.device.memory import Memory
from cudalint.interpreter.device.operands import Operands
from cudalint.interpreter.device.policy import DEVICE, Policy
from cudalint.interpreter.device.positions import linear_thread
from cudalint.interpreter.device.state import Before, Exit, FunctionScope, LoopScope, State, reached
from cudalint.interpreter.device.values import (
    PLACES,
    Allocation,
    Place,
    Value,
    join,
)
from cudalint.interpreter.library.intrinsics import LIBRARY, Handler
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.processes.deadline import NEVER, Deadline
from cudalint.reasons import Problem, ReasonKind
from cudalint.values.arithmetic import BOOL, Kind
from cudalint.values.graph import Graph
from cudalint.values.nodes import UNINITIALISED, Node, Reason

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


class Extents(Struct, frozen=True, eq=False):
    """What a kernel can ask about its launch: the extents of block and grid, in threads and blocks."""

    block: tuple[Node, Node, Node]
    grid: tuple[Node, Node, Node]


class Gap(Struct):
    """Something that the execution passed over."""

    span: ir.Span
    reason: str
    kind: ReasonKind = "other"
    problem: Problem | None = None


class Executor:
    """One execution, and what it leaves behind."""

    value_handlers = VALUE_HANDLERS
    policy: Policy = DEVICE
    place_handlers = PLACE_HANDLERS

    def __init__(self, graph: Graph, extents: Extents | None, deadline: Deadline = NEVER) -> None:
        """`extents` are None for host code, which has no threads; what is left at the deadline is given up."""
        self.graph = graph
        self.extents = extents
        self.deadline = deadline
        self.state = State(graph)
        self.memory = Memory(graph)
        self.gaps: list[Gap] = []
        self.unseen: list[UnseenCall] = []
        """The functions that it calls and that are not understood: that have no body in sight, are virtual, or have
        errors in them."""
        self.unread: list[Gap] = []
        """Calls of functions of which nothing is known, neither by their bodies nor by their names: of a kernel in
        which nothing else was found, these may be all that it does."""
        self.statements = 0
        self.met: set[ir.Stmt] = set()
        """Those that were executed, or listed although no lane gets there."""
        self.steps: list[Step] = []
        """What device code computed, in order."""
        self.counts = False
        """Whether operations are noted, one by one."""
        self._operands = Operands()
        self.computations: list[Computation] = []
        self._computed: dict[tuple[object, ...], Computation] = {}
        """By operator and operands: who computed it last."""
        self.stepping = True
        """False while code is listed that no thread gets to: it takes no steps."""
        self.globals: dict[ir.Symbol, Allocation] = {}
        """Shared, constant and device variables met so far."""
        self.addresses: dict[object, Node] = {}
        """The numbers that stand for the addresses of allocations, where a program computes with them."""
        self.library: Mapping[str, Handler] = LIBRARY
        """Functions that are known by name."""
        self.on_launch: Callable[[ir.Launch], None] | None = None
        """What to do about `<<<>>>`; None where launches are not expected (device code)."""
        self.on_loop: Callable[[LoopParts], None] | None = None
        """How to execute loops instead of summarising them (host code)."""
        self.assumed: list[Node] = []
        """What the program states about its arguments; other values need not be tried."""
        self.rests_on: dict[Node, None] = {}
        """Numbers that options may change, by which loops were counted out: they are taken for what they are
        otherwise."""
        self.nested: dict[ir.If, int] = {}
        """For an `if` that is all that another one decides about, how many conditions there were before that one."""
        self.active: list[str] = []
        """Keys of the functions being executed, to stop at recursion."""
        self.effects: dict[ir.Stmt, walk.Effects] = {}
        """What loops may do to the variables around them, by their bodies."""

    # trying

    def before(self) -> Before:
        """What `take_back` goes back to."""
        return self.state.before()

    def take_back(self, before: Before) -> None:
        """Forgets what was executed since: the variables' values, the path and the lanes that left it. What was
        recorded stays; a trial that is not to leave events is made with `memory.unrecorded()`."""
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

    def context(self, span: ir.Span) -> Context:
        state = self.state
        name = state.functions[-1].name if state.functions else "?"
        guard = len(state.conditions) if state.guard is None else state.guard
        span = state.library_call or span
        library = state.library_function
        return Context(span, name, state.frames, state.conditions, state.loops, guard, library, state.handed)

    def gap(
        self, span: ir.Span, reason: str, kind: ReasonKind = "other", problem: Problem | None = None
    ) -> None:
        if self.memory.recording:
            self.gaps.append(Gap(span, reason, kind, problem))

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
        self.note_problems(ref, function)
        bindings = bind(function)
        scope = FunctionScope(function.name, len(self.state.conditions), returns_place=ir.is_reference(function.result))
        before, frames, handed = self.state.conditions, self.state.frames, self.state.handed
        loop_scopes, self.state.loop_scopes = self.state.loop_scopes, []
        self.state.variables.update(bindings)
        self.active.append(ref.key)
        library = self.state.library_call, self.state.library_function
        if ref.is_user:
            self.state.frames, self.state.library_function = (call, *frames), ""
            is_elsewhere = function.span.path != self.state.frames[-1].path
            on = handed_on(function, bindings, arguments, receiver) if is_elsewhere else ()
            self.state.handed = (on, *handed)
        else:
            self.state.library_call, self.state.library_function = library[0] or call, function.name
            scope.name = self.state.functions[-1].name if self.state.functions else scope.name
        self.state.functions.append(scope)
        self.initialise_members(function)
        self.statement(function.body)
        scope.reaches_end = not self.state.dead
        self.state.functions.pop()
        self.state.library_call, self.state.library_function = library
        self.active.pop()
        self.state.loop_scopes = loop_scopes
        self.state.conditions, self.state.frames, self.state.handed = before, frames, handed
        self.state.dead = self.state.dead and not scope.returns
        return self.returned(scope, function)

    def answered(self, expr: ir.Call) -> Value | None:
        """What a call gives of which nothing but the declaration is in sight, where something is known of it."""
        return None

    def note_unseen(self, name: str, is_anywhere: bool = False) -> None:
        self.unseen.append(UnseenCall(name, len(self.memory.events), is_anywhere or bool(self.state.loops)))

    def note_unread(self, span: ir.Span, reason: str, kind: ReasonKind) -> None:
        if self.policy.counts_gaps:
            self.unread.append(Gap(span, reason, kind))

    def note_problems(self, ref: ir.FunctionRef, function: ir.Function) -> None:
        """What the front end lost of a function that a kernel calls is lost to the kernel."""
        if ref.is_user and function.problems and self.policy.counts_gaps:
            self.note_unseen(function.name, is_anywhere=True)
            for problem in function.problems:
                self.gap(function.name_span, not_resolved(problem), "unresolved", problem)

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
        """What nothing in sight gives a value. A pointer of a kernel that is followed all the same was given one by
        code that was lost in parsing: each thread may have its own."""
        is_lost = isinstance(type_, ir.PointerType) and self.policy.counts_gaps
        return self.memory.unknown(type_, UNINITIALISED, tuple(self.graph.thread) if is_lost else (), name)

    # statements

    def statement(self, statement: ir.Stmt) -> None:
        if self.state.dead:
            return
        self.statements += 1
        self.met.add(statement)
        self.graph.work += _STATEMENT_WORK
        if self.statements > MAX_STATEMENTS:
            raise GaveUp(f"its body takes more than {MAX_STATEMENTS} statements once inlined and unrolled")
        if self.statements % _CLOCK_EVERY == 1:
            self.check_time()
        self.step(statement)
        getattr(self, _STATEMENTS[type(statement)])(statement)

    def check_time(self) -> None:
        if self.deadline.is_over():
            raise GaveUp("its body takes too long to execute")

    def step(self, code: ir.Stmt | ir.Expr) -> None:
        if self.stepping and self.memory.recording and self.policy.notes_steps:
            self.steps.append(Step(code, self.state.loops, len(self.memory.events), self.state.conditions))

    def computes(self, code: ir.Expr, operator: object, *operands: Value) -> None:
        """Notes an operation on some numbers, if nobody has carried it out before on all paths to here: the compiler
        keeps the value. It belongs to the innermost loop that one of the numbers depends on."""
        if not self.counts or not self.stepping or not self.memory.recording:
            return
        bits, newest, is_open = 0, 0, False
        key: list[object] = [operator]
        numbers = tuple(operand for operand in operands if isinstance(operand, Node))
        if len(numbers) < len(operands):
            return
        for place, operand in enumerate(numbers):
            bits |= operand.bits
            # Of arguments that the launch knows, the compiler doesn't know that they are equal; and one node stands for
            # all elements of an array of unknown numbers.
            spelled = self._operands.at(code, place)
            is_open = is_open or not operand.is_const or spelled.has_name
            key += (operand.index, spelled.number)
            if operand.bits & self.graph.opaque_bits:
                newest = max(newest, operand.index)
        if not is_open:
            return
        state = self.state
        loops, conditions = state.loops, state.conditions
        # What is loaded in a loop that changes memory is another value each time.
        while loops and not loops[-1].counter.bits & bits and newest < loops[-1].since:
            conditions, loops = loops[-1].conditions, loops[:-1]
        known = self._computed.get(tuple(key))
        if known is not None and self._is_kept(known, loops, conditions):
            return
        found = Computation(code, loops, conditions, len(self.computations), numbers)
        self._computed[tuple(key)] = found
        self.computations.append(found)

    def _is_kept(self, known: Computation, loops: tuple[Loop, ...], conditions: tuple[Node, ...]) -> bool:
        """Whether an operation was carried out by all lanes that come here, and is not taken back since."""
        if known.place >= len(self.computations) or self.computations[known.place] is not known:
            return False
        depth = len(known.conditions)
        return known.loops == loops[: len(known.loops)] and known.conditions == conditions[:depth]

    def declare(self, statement: ir.Declare) -> None:
        symbol = statement.symbol
        if symbol.storage != "constant" and self.lies_in_memory(symbol):
            return
        if symbol.storage == "static" and not self.policy.shares_statics and statement.initializer is None:
            return
        self.state.variables[symbol] = expressions.initial_value(self, symbol, statement.initializer)

    def lies_in_memory(self, symbol: ir.Symbol) -> bool:
        """Whether a variable has an address in memory, where all threads see the same one: so it is with one that a
        kernel keeps from launch to launch, too."""
        if symbol.storage == "static":
            return self.policy.shares_statics and not symbol.is_const
        return symbol.storage in ("shared", "dynamic-shared", "constant", "device")

    def branch(self, condition: Node, then: Arm, otherwise: Arm | None, unguarded: int | None = None) -> None:
        """Executes both sides of a branch, each for its lanes, and joins what they did to the variables. `unguarded`:
        how many of the conditions are not part of its guard (see `Context`), if not all that there are."""
        if condition.is_const:
            taken, other = (then, otherwise) if condition.value else (otherwise, then)
            if taken is not None:
                taken()
            if other is not None and self.memory.recording:
                self.list_unreached(other)
            return
        state = self.state
        base, before, guard = state.conditions, state.variables, state.guard
        state.guard = len(base) if unguarded is None else unguarded
        state.variables = dict(before)
        state.assume(condition)
        then()
        first = (state.variables, state.conditions, state.dead)
        state.variables, state.conditions, state.dead = dict(before), base, False
        state.assume(self.graph.negate(condition))
        if otherwise is not None:
            otherwise()
        state.guard = guard
        self._join(condition, base, first, (state.variables, state.conditions, state.dead))

    def list_unreached(self, side: Callable[[], object]) -> None:
        """Lists what stands in a branch that no lane takes under this launch; nothing else of it stays."""
        stepping, unseen = self.stepping, len(self.unseen)
        with self.on_trial():
            self.state.conditions, self.state.dead = (*self.state.conditions, self.graph.false), False
            self.stepping = False
            side()
        self.stepping = stepping
        del self.unseen[unseen:]

    def _join(
        self,
        condition: Node,
        base: tuple[Node, ...],
        then: tuple[dict[ir.Symbol, Value | Place], tuple[Node, ...], bool],
        otherwise: tuple[dict[ir.Symbol, Value | Place], tuple[Node, ...], bool],
    ) -> None:
        state, graph = self.state, self.graph
        state.dead = then[2] and otherwise[2]
        if then[2] or otherwise[2]:
            survivor = otherwise if then[2] else then
            state.variables, state.conditions = survivor[0], survivor[1]
            return
        state.variables = self.join_variables(condition, then[0], otherwise[0])
        state.conditions = base
        negated = graph.negate(condition)
        left = graph.conjunction(tuple(c for c in then[1][len(base) :] if c is not condition))
        right = graph.conjunction(tuple(c for c in otherwise[1][len(base) :] if c is not negated))
        if left is graph.true and right is graph.true:
            return
        extra_then = graph.conjunction(then[1][len(base) :])
        extra_else = graph.conjunction(otherwise[1][len(base) :])
        if self._only_condition(then[1][len(base) :], condition) and self._only_condition(
            otherwise[1][len(base) :], negated
        ):
            return
        state.assume(graph.binary("||", extra_then, extra_else, graph.true.kind))

    def _only_condition(self, added: tuple[Node, ...], condition: Node) -> bool:
        """Whether a side added nothing to the path but the branch's own condition."""
        return self.graph.conjunction(added) is condition or not added

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

    def record_branch(self, condition: Node, kind: str, span: ir.Span) -> list[Side]:
        """Notes that lanes may part here; the caller adds the sides to the list that it gets."""
        if not self.memory.recording or not self.policy.notes_steps:
            return []
        event = BranchEvent(self.context(span), condition, kind)  # type: ignore[arg-type]
        self.memory.events.append(event)
        return event.sides

    def side(self, sides: list[Side], execute: Callable[[], _T]) -> _T:
        """Executes one side of a branch, and notes what belongs to it."""
        start = len(self.steps)
        result = execute()
        if self.stepping:
            sides.append(Side(range(start, len(self.steps)), self.state.dead))
        return result

    def if_(self, statement: ir.If) -> None:
        condition = expressions.condition(self, statement.condition)
        sides = self.record_branch(condition, "if", statement.span)
        otherwise = statement.otherwise
        unguarded = self.nested.pop(statement, None)
        inner = walk.nested_if(statement)
        if inner is not None and not condition.is_const:
            self.nested[inner] = len(self.state.conditions) if unguarded is None else unguarded
        self.branch(
            condition,
            lambda: self.side(sides, lambda: self.statement(statement.then)),
            None if otherwise is None else lambda: self.side(sides, lambda: self.statement(otherwise)),
            unguarded,
        )

    def switch(self, statement: ir.Switch) -> None:
        """Each case is executed for the lanes whose value selects it or that fall through from above."""
        graph, state = self.graph, self.state
        value = expressions.number(self, statement.condition)
        base, dead, before = state.conditions, state.dead, state.variables
        scope = LoopScope(len(base), is_switch=True)
        state.loop_scopes.append(scope)
        falling, fallen = graph.false, before
        selections = [self._selected(value, case, statement.cases) for case in statement.cases]
        sides = self.record_branch(self._chosen(selections), "switch", statement.span)
        for case, selected in zip(statement.cases, selections, strict=True):
            entered = graph.binary("||", selected, falling, selected.kind)
            if entered is graph.false:
                continue
            state.variables = self.join_variables(falling, dict(fallen), before)
            state.conditions, state.dead = base, False
            state.assume(entered)
            self.side(sides, partial(self.statements_of, case))
            falling = graph.false if state.dead else state.since(len(base))
            fallen = state.variables
        state.loop_scopes.pop()
        state.variables = self.join_variables(falling, dict(fallen), before)
        state.conditions, state.dead = base, dead
        self.merge_exits(scope.breaks, scope.exits)

    def statements_of(self, case: ir.Case) -> None:
        for inner in case.body:
            self.statement(inner)

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
        for index, inner in enumerate(statement.statements):
            if self.state.dead:
                self._list_behind_exit(statement.statements[index:])
                return
            self.statement(inner)

    def _list_behind_exit(self, rest: Sequence[ir.Stmt]) -> None:
        """What stands behind a `return` that all lanes take under this launch has entries, too; once is enough."""
        if not self.policy.notes_steps or not self.memory.recording or rest[0] in self.met:
            return
        self.list_unreached(lambda: self.block(ir.Block(tuple(rest), rest[0].span)))

    def unknown(self, statement: ir.UnknownStmt) -> None:
        self.gap(statement.span, statement.reason)
        if statement.is_jump and self.policy.counts_gaps:
            reason = Reason(False, f"it comes after {statement.reason}, which is not followed", statement.span)
            self.state.assume(self.graph.opaque(reason, (linear_thread(self),), BOOL))
        for child in statement.children:
            self.statement(child)

    def assembly(self, statement: ir.Asm) -> None:
        """Inline PTX is for threads of a GPU, which no host code is executed for."""

    def expression(self, statement: ir.ExprStmt) -> None:
        expressions.discard(self, statement.expr)

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
