"""One execution of host code, as far as launches need it: configurations, arguments, allocations.

Unknown numbers are uniform symbols, so that a grid computed from `n` and the argument `n` stay consistent. Where a
condition is unknown, both branches are executed and known values are preferred afterwards: a default beats what the
command line might say. What an execution leaves behind is `found`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from cudalint.host.executor.answers import Answers
from cudalint.host.executor.code import Code, Outside
from cudalint.host.executor.command_line import CommandLine
from cudalint.host.executor.generics import Generics, is_provisional
from cudalint.host.executor.handlers import PLACE_HANDLERS, STATEMENT_HANDLERS, VALUE_HANDLERS
from cudalint.host.executor.launching import Found
from cudalint.host.executor.library import HOST_LIBRARY
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.memory import Memory
from cudalint.host.executor.state import Before, State, reached
from cudalint.host.executor.values import Allocation, Closure, LocalPlace, Place, RecordValue, Value, nodes_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Reason, Uniform, without_cast
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.system.processes.deadline import NEVER, Deadline

_STATEMENT_WORK = 50
"""Microseconds that a statement takes, as measured."""
_CLOCK_EVERY = 16
"""Statements between two looks at the clock, which asks the operating system."""
MAX_STATEMENTS = 8_000
"""Statements from one root."""


Following = Literal["all", "own", "launches"]
"""Which of the functions without launches are executed for what they compute and check: all that are worth it; those
that a file's own functions call where other files lead to these, which tell the extents; or none that call others."""


class GaveUp(Exception):
    """The execution became too large; what was recorded until then is not complete."""


class Execution:
    """The execution of a file's host code, root by root."""

    value_handlers = VALUE_HANDLERS
    place_handlers = PLACE_HANDLERS

    def __init__(
        self, graph: Graph, generics: Generics, properties: Mapping[str, int], outside: Outside,
        executed: Collection[str], deadline: Deadline = NEVER,
    ) -> None:  # fmt: skip
        self.graph = graph
        self.properties = properties
        """What the program learns about the device."""
        self.code = Code(outside)
        self.options = CommandLine()
        self.library = HOST_LIBRARY
        """Functions that are known by name."""
        self.state = State()
        self.memory = Memory(graph, generics)
        self.globals: dict[ir.Symbol, Allocation] = {}
        """Constant and device variables met so far."""
        self.addresses: dict[object, Node] = {}
        """The numbers that stand for the addresses of allocations, where a program computes with them."""
        self.answers = Answers(self)
        self.found = Found(set(executed))
        self.deadline = deadline
        self.statements = 0
        """Executed from this root."""
        self.gave_up = False
        """Whether that was too much for some root."""
        self.following: Following = "all"
        self.most_statements = MAX_STATEMENTS
        self.taken = True
        """Whether the known values lead here."""
        self.computed = False
        """Whether the last `return` gives what is computed there, or a structure of numbers."""
        self.waiting: dict[str, tuple[Closure, ir.Span, tuple[Node, ...]]] = {}
        """By key: the lambdas of a block that launch kernels, each with the conditions under which it is made."""
        self.iterations: list[int] = []
        """For each loop that the execution is in, which iteration it is."""
        self.with_choices: dict[RecordValue, bool] = {}
        """Records of which is known whether there is a number in them that a condition chooses."""
        self.counted: dict[object, Node] = {}
        """How often loops go round that count something of a size: a launch that is made again is the same one."""
        self.chosen: dict[ir.Symbol, None] = {}
        """Variables that an unknown condition in a loop changes from one known number to another."""
        self.memory.now = lambda: (self.state.frames, tuple(self.iterations))

    def statement(self, statement: st.Stmt) -> None:
        """Executes a statement. Raises `GaveUp` where that is too much, or takes too long."""
        if statement in self.code.idle or self.state.dead:
            return
        self.statements += 1
        self.graph.work += _STATEMENT_WORK
        if self.statements > self.most_statements + 1:
            raise GaveUp("host code is too long")
        if self.statements % _CLOCK_EVERY == 1 and self.deadline.is_over():
            raise GaveUp("host code takes too long to execute")
        STATEMENT_HANDLERS[type(statement)](self, statement)

    @contextmanager
    def on_trial(self) -> Iterator[Before]:
        """What is executed meanwhile is taken back: the variables' values, and the ways out that were taken."""
        before = self.state.before()
        try:
            yield before
        finally:
            self.state.take_back(before)

    @contextmanager
    def under(self, guards: tuple[Node, ...]) -> Iterator[None]:
        """What is executed meanwhile has further conditions in front of it."""
        outer, self.state.guards = self.state.guards, (*self.state.guards, *guards)
        try:
            yield
        finally:
            self.state.guards = outer

    def stated(self, condition: Node) -> None:
        """Takes for true what a check ends the program without."""
        if not condition.is_const:
            self.state.guards = (*self.state.guards, condition)

    def place_of(self, span: ir.Span) -> ir.Span:
        """Where something happens: what the bundled headers do happens where the user calls them."""
        return self.state.library_call or span

    def unknown(self, text: str, type_: ir.Type, args: tuple[Node, ...] = (), origin: object = None) -> Value:
        """A value that cannot be followed, but depends on `args` and on nothing else."""
        return self.memory.unknown(type_, Reason(text, origin), args)

    def changed_in(self, parts: LoopParts) -> Collection[ir.Symbol]:
        """The variables that a loop changes."""
        return reached(self.code.effects_of(parts), self.state.variables)

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

    def unknown_parameters(self, parameters: Collection[ir.Symbol]) -> Mapping[ir.Symbol, Value | Place]:
        """Parameters of a function that is called from outside."""
        return {symbol: self.memory.unknown_parameter(symbol) for symbol in parameters}
