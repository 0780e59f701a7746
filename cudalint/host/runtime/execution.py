"""Executing host code as far as launches need it: configurations, arguments, allocations.

The same executor as for kernels, with one "lane". Where a condition is unknown both branches are executed and known
values are preferred afterwards (a default beats what the command line might say); unknown numbers become generic
uniform symbols, so that a grid computed from `n` and the argument `n` stay consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from cudalint.host.executor import expressions
from cudalint.host.executor.executor import Arm, Executor, GaveUp
from cudalint.host.executor.handlers import VALUE_HANDLERS
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.state import Before, FunctionScope
from cudalint.host.executor.values import (
    PLACES,
    Choice,
    Closure,
    FunctionValue,
    LocalPlace,
    Place,
    RecordValue,
    TemporaryPlace,
    Value,
    nodes_of,
)
from cudalint.host.runtime import (
    command_line,
    device,
    euclid,
    heap,
    joins,
    jumps,
    lambdas,
    launching,
    lists,
    loops,
    switches,
    undecided,
    worth,
)
from cudalint.host.runtime.answers import Answers
from cudalint.host.runtime.launching import HostLaunch
from cudalint.host.runtime.library import HOST_LIBRARY, SILENT
from cudalint.host.runtime.memory import Generics, HostMemory, is_provisional
from cudalint.host.runtime.outcomes import outcome
from cudalint.host.runtime.relevance import Relevance, ends_program
from cudalint.host.runtime.set_elsewhere import set_elsewhere
from cudalint.host.runtime.tiling import Definitions
from cudalint.host.runtime.told_by_names import told_by_name
from cudalint.host.values.arithmetic import Kind
from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import UNINITIALISED, Node, Reason, Uniform, without_cast, without_not
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.system.processes.deadline import NEVER, Deadline
from cudalint.toolchain.buildfiles.run_command import RunCommand

MAX_HOST_STATEMENTS = 8_000
"""Statements from one root, and from all together."""
MAX_ALL_STATEMENTS = 20_000

_VALUE_HANDLERS: Mapping[type, Callable[..., Value]] = {
    **VALUE_HANDLERS, ir.Cast: lists.cast_value, ir.New: heap.new_value, ir.Name: command_line.name_value,
    ir.Member: device.member_value, ir.Lambda: lambdas.noted, ir.Construct: lists.construct_value,
    ir.Conditional: undecided.conditional_value, ir.Binary: undecided.binary_value,
}  # fmt: skip


class Outside(Struct, frozen=True):
    """What other files of the program say: the executor opens none itself."""

    linked: Mapping[str, ir.FunctionRef]
    """By their USR: the functions that launch the kernels in question, which this file only declares."""
    find: Callable[[ir.FunctionRef], ir.FunctionRef | None]
    """Looks for the definition of any other."""
    run_command: Callable[[str], RunCommand | None]
    """How the program is run whose `main` stands in a file."""

    def definition(self, ref: ir.FunctionRef) -> ir.FunctionRef:
        linked = self.linked.get(ref.usr)
        if linked is not None:
            return linked
        is_declared = ref.is_user and ref.kind == "host" and not ref.templated and ref.load() is None
        return (self.find(ref) or ref) if is_declared else ref


def _is_name(expr: ir.Expr) -> bool:
    """Whether it may be evaluated once more without any effect."""
    return isinstance(expr.operand if isinstance(expr, ir.Cast) else expr, ir.Name)


def _computes(expr: ir.Expr) -> bool:
    """Whether an expression computes a number from variables: no constant, and no status that is handed on."""
    steps = (n for n in walk.walk(expr) if isinstance(n, ir.Binary) and n.op in ("+", "-", "*", "/", "%", "<<", ">>"))
    return any(isinstance(node, ir.Name) for step in steps for node in walk.walk(step))


def _is_of_constants(condition: ir.Expr) -> bool:
    plain = (ir.Constant, ir.Binary, ir.Unary, ir.Cast)
    return all(isinstance(node, plain) for node in walk.walk(condition))


def _is_refusal(value: Value | Place) -> bool:
    """Whether a result says that there is none: a structure of sizes of which one is negative."""
    if not isinstance(value, RecordValue):
        return False
    numbers = (part for part in value.fields.values() if isinstance(part, Node) and part.is_const)
    return any(number.value < 0 for number in numbers)


def _is_of_numbers(value: Value | Place | None) -> bool:
    """Whether a result is a structure of plain numbers, and none that says by negative ones, or by nothing but zeros,
    that there are none."""
    if not isinstance(value, RecordValue) or _is_refusal(value):
        return False
    numbers = [part for part in value.fields.values() if isinstance(part, Node)]
    return len(numbers) == len(value.fields) and any(not part.is_const or part.value != 0 for part in numbers)


def _is_smaller_or_larger(table: Sequence[tuple[Node, Node]]) -> bool:
    """Whether two numbers are returned that are compared with each other: `if (n < most) return n; return most;`."""
    if len(table) != 2:
        return False
    (guard, first), (_, second) = table
    compared = without_not(guard)
    numbers = {without_cast(first), without_cast(second)}
    return compared.op in ("<", "<=") and {without_cast(argument) for argument in compared.args} == numbers


def _is_instance(ref: ir.FunctionRef, function: ir.Function) -> bool:
    """Whether a function is a template with certain arguments; a member's are in its USR only."""
    return "<" in function.instantiation or f"@F@{ref.name}<" in ref.usr


def _launching_in(statement: ir.Stmt) -> set[str]:
    """The keys of the functions with launches that a statement calls, directly or through others."""
    calls = (node.function for node in walk.walk(statement) if isinstance(node, ir.Call))
    waiting = [ref for ref in calls if ref is not None]
    found: set[str] = set()
    while waiting:
        ref = waiting.pop()
        if ref.key not in found and ref.is_user and ref.kind == "host" and ref.has_launch():
            found.add(ref.key)
            waiting += ref.named()
    return found


class HostExecutor(Executor):
    """The execution of a file's host code, root by root."""

    value_handlers = _VALUE_HANDLERS

    def __init__(
        self,
        graph: Graph,
        memory: HostMemory,
        properties: Mapping[str, int],
        outside: Outside,
        executed: Collection[str],
        deadline: Deadline = NEVER,
    ) -> None:
        super().__init__(graph, deadline)
        self.memory: HostMemory = memory
        self.library = HOST_LIBRARY
        self.on_launch = partial(launching.record, self)
        self.relevance = Relevance(self._launches, SILENT)
        self.properties = properties
        """What the program learns about the device."""
        self.outside = outside
        self.executed = set(executed)
        """Keys of the functions that have been executed with launches in them."""
        self.gave_up = False
        """Whether that was too much for some root."""
        self.plainly = False
        """Whether functions without launches are executed only where they compute something by themselves."""
        self.launches: list[HostLaunch] = []
        self.kernels: dict[str, ir.FunctionRef] = {}
        """Kernels by key, to resolve launches through `cudaLaunchKernel`."""
        self.made: set[object] = set()
        """The launches that differ by place, extents or whole numbers among their arguments."""
        self.unfollowed: set[ir.Span] = set()
        """Launches of loops that go on to make others there."""
        self.waiting: dict[str, tuple[Closure, ir.Span, tuple[Node, ...]]] = {}
        """By key: the lambdas of a block that launch kernels, each with the conditions under which it is made."""
        self.taken = True
        self.computed = False
        """Whether the last `return` gives what is computed there, or a structure of numbers."""
        self.total = 0
        """Statements executed from earlier roots."""
        self.opt_ins: dict[str, list[Node]] = {}
        """By a kernel's key: the bytes to which its limit of dynamic shared memory is raised."""
        self.idle: set[ir.Stmt] = set()
        """Statements that decide no launch."""
        self.sorted: set[str] = set()
        """Keys of the functions whose idle statements are known."""
        self.small: dict[str, bool] = {}
        """By the keys of functions without launches: whether they are executed."""
        self.definitions = Definitions()
        self.launching: dict[ir.Stmt, bool] = {}
        """Statements of which is known whether they launch a kernel."""
        self.ending: dict[ir.Stmt, bool] = {}
        """Statements of which is known whether they end the program."""
        self.exits: dict[ir.Stmt, tuple[ir.Stmt, ...]] = {}
        """For jumps that lead out of functions: the statements on their way."""
        self.jumping: set[str] = set()
        """Keys of the functions whose jumps are known."""
        self.reading: dict[ir.Stmt, bool] = {}
        """Bodies of loops of which is known whether they read the command line."""
        self.callers: list[dict[ir.Symbol, Value | Place | None]] = []
        """For each function that is inlined, the variables that there were before and that no branch of it has set for
        good, with what one in a loop has set them to."""
        self.guards: tuple[Node, ...] = ()
        """Unknown conditions that hold where the execution stands, from branches and from those that lead out."""
        self.outer_guards: list[tuple[Node, ...]] = []
        """For each function that is inlined, those where it is called."""
        self.instances: list[bool] = []
        """For each function that is inlined, whether it is a template with certain arguments."""
        self.iterations: list[int] = []
        """For each loop that the execution is in, which iteration it is."""
        self.ruled_out: set[str] = set()
        """Keys of the functions that are called on sides of branches against which a template's arguments decide."""
        self.answers = Answers(self)
        memory.now = lambda: (self.state.frames, tuple(self.iterations))
        self.command: RunCommand | None = None
        """How the program is run."""
        self.arguments: set[Node] = set()
        """The number of arguments that `main` is given."""
        self.words: dict[tuple[str, str, Kind], Node] = {}
        """The numbers that were read from words of the command line, by what they are called and say."""
        self.chosen_by_words: set[Node] = set()
        """Whether words of the command line are certain texts."""
        self.flags: set[Node] = set()
        """Numbers that choose between one that is known and one that isn't, once they have chosen one."""
        self.with_choices: dict[RecordValue, bool] = {}
        """Records of which is known whether there is a number in them that a condition chooses."""
        self.counted: dict[object, Node] = {}
        """How often loops go round that count something of a size: a launch that is made again is the same one."""
        self.chosen: dict[ir.Symbol, None] = {}
        """Variables that an unknown condition in a loop changes from one known number to another."""

    # trying

    def before(self) -> Before:
        return replace(super().before(), guards=self.guards)

    def take_back(self, before: Before) -> None:
        super().take_back(before)
        self.guards = before.guards

    # roots

    def run_root(self, ref: ir.FunctionRef) -> None:
        """Executes a function from outside, its parameters unknown; of a template that nothing instantiates, the types
        are so as well."""
        function = ref.load()
        if function is None or (function.is_template_pattern and not ref.templated):
            return
        self.executed.add(ref.key)
        self._note_jumps(ref.key, function)
        self.state.variables.update(self.unknown_parameters(function.parameters))
        if function.name == "main":
            command = self.outside.run_command(ref.span.path)
            if command is not None:
                command_line.give(self, function, command)
            given = (self.state.variables[symbol] for symbol in function.parameters)
            self.arguments.update(value for value in given if isinstance(value, Node))
        self.state.functions.append(FunctionScope(function.name, len(self.state.conditions)))
        self.active.append(ref.key)
        self.instances.append(_is_instance(ref, function))
        try:
            body = self._up_to_launches(function.body)
            self.idle |= self.relevance.idle(body)
            super().statement(body)
        except GaveUp:
            self.gave_up = True
        finally:
            self.active.clear()
            self.instances.clear()
            self.state.functions.clear()
            self.state.loop_scopes.clear()
            self.state.conditions, self.state.dead, self.state.frames = (), False, ()
            self.guards = ()
            self.outer_guards.clear()
            self.iterations.clear()

    def forget(self, symbols: Iterable[ir.Symbol]) -> None:
        """Takes variables for unknown that other files have set by calling functions of this one."""
        reason = Reason(False, "set by another function")
        for symbol in symbols:
            self.state.variables[symbol] = self.memory.unknown(symbol.type, reason, (), symbol.name)

    def unknown_parameters(self, parameters: Sequence[ir.Symbol]) -> Mapping[ir.Symbol, Value | Place]:
        return {symbol: self._unknown_parameter(symbol) for symbol in parameters}

    def _unknown_parameter(self, symbol: ir.Symbol) -> Value | Place:
        type_, reason = symbol.type, Reason(False, "parameter")
        if ir.is_reference(type_):
            return TemporaryPlace(self.memory.unknown(type_.pointee, reason, (), symbol.name), type_.pointee)
        return self.memory.unknown(type_, reason, (), symbol.name)

    def _up_to_launches(self, body: ir.Stmt) -> ir.Stmt:
        """A body without what comes after its last launch: the results' verification decides no launch."""
        if not isinstance(body, ir.Block):
            return body
        last = max((i for i, s in enumerate(body.statements) if self.has_launch(s)), default=len(body.statements))
        return ir.Block(body.statements[: last + 1], body.span)

    def statement(self, statement: ir.Stmt) -> None:
        if statement in self.idle:
            return
        if self.statements > MAX_HOST_STATEMENTS:
            raise GaveUp("host code is too long")
        super().statement(statement)

    def block(self, statement: ir.Block) -> None:
        outer, self.waiting = self.waiting, {}
        super().block(statement)
        lambdas.call_waiting(self)
        self.waiting = outer

    def follow(self, parts: LoopParts) -> None:
        loops.follow(self, parts)

    def range_for(self, statement: ir.RangeFor) -> None:
        if not lists.follow_range(self, statement):
            super().range_for(statement)

    def declare(self, statement: ir.Declare) -> None:
        self.definitions.note(statement.symbol, statement.initializer)
        super().declare(statement)
        value = self.state.variables.get(statement.symbol)
        if value is not None and not isinstance(value, PLACES):
            self.name(value, statement.symbol.name)

    def name(self, value: Value, name: str) -> None:
        """An unknown number is called after the first variable that holds it; a word of the command line that is known
        goes only into the variables that it is meant for."""
        for held in nodes_of(value):
            node = without_cast(held)
            symbol = node.payload
            if isinstance(symbol, Uniform) and is_provisional(symbol.name) and (self.taken or not symbol.first.place):
                self.graph.rename(node, name)

    def note_set(self, where: Place, value: Value) -> None:
        """`scanf("%d", &n)` sets `n`."""
        if isinstance(where, LocalPlace) and all(isinstance(step, str) for step in where.path):
            self.name(value, ".".join((where.symbol.name, *map(str, where.path))))

    def expression(self, statement: ir.ExprStmt) -> None:
        expr = statement.expr
        if not isinstance(expr, ir.Assign) and self._ends(statement):
            self.state.dead = True
            return
        super().expression(statement)
        if isinstance(expr, ir.Assign):
            self.definitions.note_assignment(expr)
        if isinstance(expr, ir.Assign) and isinstance(expr.target, (ir.Name, ir.Member)):
            value = expressions.evaluate(self, expr.target)
            name = expr.target.symbol.name if isinstance(expr.target, ir.Name) else expr.target.field
            self.name(value, name)
        elif isinstance(expr, ir.Assign) and isinstance(expr.target, ir.Unary) and _is_name(expr.target.operand):
            # `*x = header->width` in what is called as `load(path, &width)`.
            where = expressions.place(self, expr.target)
            if isinstance(where, LocalPlace) and not where.path:
                self.name(expressions.read(self, where, expr.span), where.symbol.name)

    def answered(self, expr: ir.Call) -> Value | None:
        told = told_by_name(self, expr)
        return told if told is not None else self.answers.of(expr)

    def stated(self, condition: Node) -> None:
        """Takes for true what a check ends the program without."""
        if not condition.is_const:
            self.guards = (*self.guards, condition)

    @contextmanager
    def under(self, guards: tuple[Node, ...]) -> Iterator[None]:
        """What is executed meanwhile has further conditions in front of it."""
        outer, self.guards = self.guards, (*self.guards, *guards)
        try:
            yield
        finally:
            self.guards = outer

    def _ends(self, statement: ir.ExprStmt) -> bool:
        found = self.ending.get(statement)
        if found is None:
            found = self.ending[statement] = ends_program(statement)
        return found

    # control flow

    def if_(self, statement: ir.If) -> None:
        is_settled = self.instances and self.instances[-1] and _is_of_constants(statement.condition)
        condition = expressions.condition(self, statement.condition) if is_settled else None
        if condition is None or not condition.is_const:
            super().if_(statement)
            return
        # The template's arguments decide: other ones lead to the other side.
        sides = (statement.then, statement.otherwise)
        chosen, other = sides if condition.value else sides[::-1]
        if other is not None:
            self.ruled_out |= _launching_in(other)
        if chosen is not None:
            self.statement(chosen)

    def branch(self, condition: Node, then: Arm, otherwise: Arm | None) -> None:
        if condition.is_const:
            chosen, other = (then, otherwise) if condition.value else (otherwise, then)
            if other is not None:
                self.not_taken(other)
            if chosen is not None:
                self._believe(chosen, other)
            return
        state, outer, opposite = self.state, self.guards, self.graph.negate(condition)
        before = state.variables
        returns = self._returns()
        self._enter(condition, outer, before)
        then()
        first, first_dead, first_returns = state.variables, state.dead, self._returns()
        state.dead = False
        self._enter(opposite, outer, before)
        if otherwise is not None:
            otherwise()
        self.guards = outer
        if first_dead and state.dead:
            return
        if first_dead:
            self.guards = (*outer, opposite)
            if first_returns > returns:
                self._set_for_callers(before, first)
            return
        if state.dead:
            second, returned = state.variables, self._returns() > first_returns
            state.variables, state.dead, self.guards = first, False, (*outer, condition)
            if returned:
                self._set_for_callers(before, second)
            return
        state.variables = joins.joined_variables(self, before, first, state.variables, condition)

    def _enter(self, condition: Node, guards: tuple[Node, ...], before: Mapping[ir.Symbol, Value | Place]) -> None:
        """Starts one side of a branch: numbers that an earlier branch on the same condition chose are known there."""
        self.guards = (*guards, condition)
        self.state.variables = dict(before)
        if not self.graph.choosing.isdisjoint((condition, self.graph.negate(condition))):
            for symbol, value in before.items():
                self.state.variables[symbol] = self._known_side(value, condition)

    def _known_side(self, value: Value | Place, condition: Node) -> Value | Place:
        if isinstance(value, Node) and value.op == "select":
            test, a, b = value.args
            return a if test is condition else b if self.graph.negate(test) is condition else value
        if isinstance(value, RecordValue) and self._has_choices(value):
            fields = {name: self._known_side(part, condition) for name, part in value.fields.items()}
            if any(part is not value.fields[name] for name, part in fields.items()):
                return RecordValue(value.type, fields)  # type: ignore[arg-type]
        return value

    def _has_choices(self, record: RecordValue) -> bool:
        """Whether there are numbers in a record that a condition chooses between."""
        known = self.with_choices.get(record)
        if known is None:
            parts = record.fields.values()
            known = any(isinstance(part, Node) and part.op == "select" for part in parts)
            known = known or any(isinstance(part, RecordValue) and self._has_choices(part) for part in parts)
            self.with_choices[record] = known
        return known

    def _believe(self, chosen: Callable[[], None], other: Callable[[], None] | None) -> None:
        """Takes a branch, unless it only leads out of the function: then it is the end of a program that failed to read
        a file, say, which nothing here really does. One that computes a number to return is none, and so is one that
        returns a structure of numbers (`if (layout == ROWS) return {columns, 1};`)."""
        before, launches, returns = self.before(), len(self.launches), self._returns()
        self.computed = False
        chosen()
        if not self.state.dead or len(self.launches) > launches or self._left_loop(before) or self.computed:
            return
        left, returned = self.state.variables, self._returns() > returns
        self.take_back(before)
        if returned:
            self._set_for_callers(before.state.variables, left)
        if other is not None:
            other()

    def _returns(self) -> int:
        return len(self.state.functions[-1].returns) if self.state.functions else 0

    def _set_for_callers(
        self, before: Mapping[ir.Symbol, Value | Place], left: Mapping[ir.Symbol, Value | Place]
    ) -> None:
        """Keeps what a branch that returns has set of the callers' variables, through references and pointers: a
        function that chooses a block says so in such a branch as often as after it. One in a loop that sets another
        number with each iteration looks for the number, which is unknown."""
        callers = self.callers[-1] if self.callers else {}
        in_loop = any(not scope.is_switch for scope in self.state.loop_scopes)
        for symbol, kept in list(callers.items()):
            value, old = left.get(symbol), before.get(symbol)
            if value is None or value is old or self.state.variables.get(symbol) is not old:
                continue
            if kept is not None:
                value = self.memory.unknown(
                    symbol.type, Reason(False, "found by a loop", kind="iteration"), (), symbol.name
                )
            self.state.variables[symbol] = value
            if in_loop and kept is None and isinstance(value, Node):
                callers[symbol] = value
            else:
                del callers[symbol]

    def _left_loop(self, before: Before) -> bool:
        """Whether the innermost loop or switch was left by `break` or `continue`, which is no failure."""
        scopes = self.state.loop_scopes
        if not scopes or not before.exits:
            return False
        breaks, _, continues = before.exits[-1]
        return len(scopes[-1].breaks) > breaks or len(scopes[-1].continues) > continues

    def not_taken(self, side: Callable[[], None]) -> None:
        """Looks for launches where the known values don't lead; nothing else of it stays."""
        taken, statements = self.taken, self.statements
        self.taken = False
        try:
            with self.on_trial():
                side()
        finally:
            self.taken = taken
            self.statements = min(self.statements, statements + 200)

    def converted(self, number: Node, kind: Kind) -> Node:
        return self.memory.generics.rounded(number, kind) or super().converted(number, kind)

    def preferred(self, condition: Node, a: Value, b: Value) -> Value | None:
        return joins.preferred(self, condition, a, b)

    def switch(self, statement: ir.Switch) -> None:
        switches.follow(self, statement)

    def unknown(self, statement: ir.UnknownStmt) -> None:
        rest = self.exits.get(statement)
        if rest is None:
            super().unknown(statement)
            return
        # Of a root, nobody asks what it returns.
        for each in rest if self.outer_guards else ():
            if not self.state.dead:
                self.statement(each)
        if not self.state.dead:
            self.return_(ir.Return(None, statement.span))

    def _note_jumps(self, key: str, function: ir.Function) -> None:
        if key not in self.jumping:
            self.jumping.add(key)
            self.exits |= jumps.ways_out(function, self.has_launch)

    def has_launch(self, code: ir.Stmt) -> bool:
        """Whether code launches a kernel, or calls or names a function that does, or calls one through a pointer."""
        found = self.launching.get(code)
        if found is None:
            found = self.launching[code] = any(self._launches(node) for node in walk.walk(code))
        return found

    def leads_to_linked(self, ref: ir.FunctionRef) -> bool:
        """Whether a function calls one that other files define, and that launches a kernel."""
        function = ref.load() if self.outside.linked else None
        return function is not None and self.has_launch(function.body)

    def _launches(self, node: Any) -> bool:
        if isinstance(node, ir.Launch):
            return True
        if isinstance(node, (ir.Call, ir.Lambda, ir.FunctionName)):
            if isinstance(node, ir.Call) and (node.callee is not None or node.name.startswith("cudaLaunch")):
                return True
            ref = node.function
            return ref is not None and ref.is_user and (ref.usr in self.outside.linked or ref.has_launch())
        return False

    def reads_options(self, parts: LoopParts) -> bool:
        """Whether a loop goes through the command line."""
        found = self.reading.get(parts.body)
        if found is None:
            found = self.reading[parts.body] = loops.reads_options(parts)
        return found

    # calls

    def return_(self, statement: ir.Return) -> None:
        super().return_(statement)
        returns = self.state.functions[-1].returns
        self.computed = statement.value is not None and (_computes(statement.value) or _is_of_numbers(returns[-1][1]))
        own = self.guards[len(self.outer_guards[-1]) if self.outer_guards else 0 :]
        returns[-1] = (self.graph.conjunction(own), returns[-1][1])

    def returned(self, scope: FunctionScope, function: ir.Function) -> Value | Place:
        """What the last `return` gives: earlier ones report errors, as a rule, unless it is the last that does so
        (`return {-1, 0};`). A function all of whose results are
        numbers is a table (`if (n <= 32) return 32; if (n <= 64) return 64; return -1;`), and so is one all of whose
        results are computed (`if (n % b == 0) return n / b; return n / b + 1;`), or that gives the smaller of two, and
        one that picks a kernel, and perhaps none."""
        if scope.returns:
            outer = self.outer_guards[-1]
            ends = [self.graph.conjunction(self.guards[len(outer) :])] if scope.reaches_end else []
            self.guards = (*outer, *self._met_by_all([*(guard for guard, _ in scope.returns), *ends]))
        values = [value for _, value in scope.returns if value is not None]
        if not values:
            return self.memory.unknown(function.result, UNINITIALISED)
        kernels = [(guard, value) for guard, value in scope.returns if isinstance(value, FunctionValue)]
        if len(kernels) > 1:
            return self._one_of(kernels, values[-1])
        layout = joins.one_layout(self, scope.returns)
        if layout is not None:
            return layout
        table = [(guard, value) for guard, value in scope.returns if isinstance(value, Node)]
        is_mixed = len({value.is_const for _, value in table}) > 1 and not _is_smaller_or_larger(table)
        if len(table) < len(scope.returns) or is_mixed:
            usual = next((value for value in reversed(values) if not _is_refusal(value)), values[-1])
            told = outcome(self.graph, scope.returns, usual)
            return usual if told is None else told
        if not all(joins.is_plain(self.graph, guard) for guard, _ in table[:-1]):
            return values[-1]
        result = table[-1][1]
        for guard, number in table[-2::-1]:
            result = self.graph.select(guard, number, result)
        return result

    def _met_by_all(self, guards: Sequence[Node]) -> list[Node]:
        """What holds wherever a function returns, as it ends the program or throws otherwise."""
        first, *others = (conjuncts(self.graph, guard) for guard in guards)
        return [part for part in first if not part.is_const and all(part in other for other in others)]

    def _one_of(self, kernels: Sequence[tuple[Node, Value]], last: Value | Place) -> Value:
        """The first of some whose condition holds; the last one where none does, if that is a kernel."""
        chosen = kernels[: joins.MOST_KERNELS]
        result: Value = self.graph.zero
        if last is chosen[-1][1]:
            *chosen, (_, result) = chosen
        for depth, (guard, kernel) in enumerate(reversed(chosen), 1):
            result = Choice(guard, kernel, result, depth)
        return result

    def inline(
        self,
        ref: ir.FunctionRef,
        bind_: Callable[[ir.Function], Mapping[ir.Symbol, Value | Place]],
        call: ir.Span,
        arguments: Sequence[ir.Expr] = (),
        receiver: ir.Expr | None = None,
    ) -> Value | Place | None:
        ref = self.outside.definition(ref)
        if ref.key in self.active and (called := ref.load()) is not None:
            return euclid.divide_again(self, called, bind_)
        if ref.is_user and ref.has_launch():
            if not self.taken and ref.key in self.executed:
                # Where the known values don't lead, its launches are looked for once, and not in all combinations of
                # cases that it takes to get there.
                return None
            self._sort(ref)
            self.executed.add(ref.key)
        elif not self._worth_it(ref):
            return None
        function = ref.load()
        if function is not None:
            self._note_jumps(ref.key, function)
        self.callers.append(dict.fromkeys(self.state.variables, None))
        self.outer_guards.append(self.guards)
        self.instances.append(function is not None and _is_instance(ref, function))
        try:
            return super().inline(ref, bind_, call, arguments, receiver)
        finally:
            self.callers.pop()
            self.outer_guards.pop()
            self.instances.pop()

    def _sort(self, ref: ir.FunctionRef) -> None:
        """Finds the idle statements of a function that is called for its launches."""
        function = ref.load()
        if function is None or ref.key in self.sorted:
            return
        self.sorted.add(ref.key)
        outer = [symbol for symbol in function.parameters if isinstance(symbol.type, ir.PointerType)]
        outer += [capture.symbol for capture in function.captures if capture.by_reference]
        self.idle |= self.relevance.idle(function.body, (*outer, *(() if function.this is None else (function.this,))))

    def _worth_it(self, ref: ir.FunctionRef) -> bool:
        """Small functions are executed for what they return or set, long ones for the global variables that they set
        and for what they check: of what else they do, nothing decides a launch."""
        known = self.small.get(ref.key)
        if self.plainly:
            function = ref.load() if known is not False and not ref.named() else None
            return function is not None and worth.is_small(function)
        if known is None:
            function = ref.load()
            known = function is not None and worth.is_small(function)
            if not known and function is not None and worth.is_for_effects(function):
                known = True
                self._sort(ref)
            self.small[ref.key] = known
        return known


def _called_by_others(functions: Iterable[ir.FunctionRef]) -> Mapping[str, int]:
    """Keys of the functions that are called by others among these which lead to launches, with a number that is higher
    for what is called than for what calls it, but for recursion."""
    calls: dict[str, list[str]] = {}
    for ref in functions:
        if not ref.templated and ref.has_launch():
            calls[ref.key] = [called.key for called in ref.named() if called.key != ref.key]
    left: dict[str, None] = {}
    for root in calls:
        waiting = [(root, iter(calls[root]))]
        entered = {root}
        while waiting:
            others = waiting[-1][1]
            other = next((each for each in others if each not in left and each not in entered), None)
            if other is None:
                left.setdefault(waiting.pop()[0])
            else:
                entered.add(other)
                waiting.append((other, iter(calls.get(other, ()))))
    place = {key: -number for number, key in enumerate(left)}
    first = min(place.values(), default=0)
    return {key: place[key] - first for others in calls.values() for key in others}


def run_host(
    graph: Graph,
    functions: tuple[ir.FunctionRef, ...],
    generics: Generics,
    properties: Mapping[str, int],
    outside: Outside,
    executed: Collection[str] = (),
    deadline: Deadline = NEVER,
) -> HostExecutor:
    """Executes the host code of a file, from `main` first, then from functions that no other one calls, which check
    what they hand on, and then from whatever still holds launches: functions of the file that others have called, with
    known arguments, are in `executed`; what other files have is in `outside`. What is left at the deadline is not
    executed."""
    executor = HostExecutor(graph, HostMemory(graph, generics), properties, outside, executed, deadline)
    called = _called_by_others(functions)
    roots = sorted(functions, key=lambda f: (f.name != "main", called.get(f.key, -1)))
    if roots and roots[0].name != "main":
        executor.forget(set_elsewhere(roots))
    for ref in roots:
        leads = ref.has_launch() or executor.leads_to_linked(ref)
        is_done = ref.key in executor.executed or ref.key in executor.ruled_out
        if leads and not is_done and executor.total < MAX_ALL_STATEMENTS:
            if deadline.is_over():
                break
            _run_root(executor, ref, deadline)
    return executor


def _run_root(executor: HostExecutor, ref: ir.FunctionRef, deadline: Deadline) -> None:
    """Executes a root, and those that are too long once more without what they call on the way: what this is needed for
    is unknown then, and the launches are there. The next root will call the same."""
    before = len(executor.launches)
    for plainly in (True,) if executor.plainly else (False, True):
        executor.plainly, executor.gave_up, executor.statements = plainly, False, 0
        executor.deadline = deadline if plainly else deadline.halfway()
        found, executor.launches = executor.launches, []
        executor.run_root(ref)
        executor.total += executor.statements
        places = {launch.span for launch in found[before:]}
        executor.launches = found + [launch for launch in executor.launches if launch.span not in places]
        if not executor.gave_up:
            return
