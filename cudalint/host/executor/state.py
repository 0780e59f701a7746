"""The state of an execution: variables, the path condition, and the exits that lanes took."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.host.executor.values import Closure, LocalMemory, LocalPlace, Place, Pointer, Value
from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir.walk import Effects, effects

Exit = tuple[Node, dict[ir.Symbol, Value | Place]]
"""Lanes that left a body early: their condition relative to its start, and their variables then."""


class LoopScope(Struct):
    """A loop or switch being executed: the lanes that left it by `break`."""

    depth: int
    """Length of the path condition at the start of the body."""
    is_switch: bool = False
    breaks: list[Exit] = field(default_factory=list)
    """The lanes that left."""
    exits: list[Node] = field(default_factory=list)
    """Conditions of the lanes that left for somewhere further out: returned, or continued a loop around a switch."""
    continues: list[Exit] = field(default_factory=list)
    """The lanes that went on to the next iteration."""


class FunctionScope(Struct):
    """A function being executed: the lanes that returned, and with what."""

    name: str
    depth: int
    """Length of the path condition at the call."""
    returns: list[tuple[Node, Value | Place | None]] = field(default_factory=list)
    returns_place: bool = False
    reaches_end: bool = False
    """Whether it also comes back from the end of its body."""



class State(Struct):
    graph: Graph
    variables: dict[ir.Symbol, Value | Place] = field(default_factory=dict)
    """Values of variables; for a variable of reference type, the place that it names."""
    conditions: tuple[Node, ...] = ()
    dead: bool = False
    """No lane gets here."""
    loop_scopes: list[LoopScope] = field(default_factory=list)
    functions: list[FunctionScope] = field(default_factory=list)
    frames: tuple[ir.Span, ...] = ()
    library_call: ir.Span | None = None
    """The user's call of a function of the bundled headers, while its body is executed: whatever it does happens
    there, since nobody wants to read about our headers."""

    def since(self, depth: int) -> Node:
        """The path condition added after the first `depth` conditions."""
        return self.graph.conjunction(self.conditions[depth:])

    def assume(self, condition: Node) -> None:
        """Restricts the path to the lanes for which `condition` holds, split at its conjunctions."""
        for part in conjuncts(self.graph, condition):
            if part.is_const:
                if not part.value:
                    self.dead = True
                continue
            if not any(part is known for known in self.conditions):
                self.conditions = (*self.conditions, part)

    def before(self) -> Before:
        """What `take_back` goes back to, which later changes leave alone."""
        return Before(
            replace(self, variables=dict(self.variables)),
            tuple(len(f.returns) for f in self.functions),
            tuple((len(s.breaks), len(s.exits), len(s.continues)) for s in self.loop_scopes),
        )

    def take_back(self, before: Before) -> None:
        """Forgets all that was executed since, exits included. The object stays the same, since callers up the stack
        hold it."""
        saved = before.state
        self.variables, self.conditions, self.dead = saved.variables, saved.conditions, saved.dead
        self.frames, self.library_call = saved.frames, saved.library_call
        self.loop_scopes, self.functions = saved.loop_scopes, saved.functions
        for function, count in zip(self.functions, before.returns, strict=False):
            del function.returns[count:]
        for scope, (breaks, exits, continues) in zip(self.loop_scopes, before.exits, strict=False):
            del scope.breaks[breaks:], scope.exits[exits:], scope.continues[continues:]


class Before(Struct, frozen=True):
    """A state as it was before something was tried."""

    state: State
    returns: tuple[int, ...]
    """How many returns of each function had been recorded by then."""
    exits: tuple[tuple[int, int, int], ...]
    """The same for what leaves each loop: by `break`, for further out, by `continue`."""
    guards: tuple[Node, ...] = ()
    """The conditions on what host code checks."""


def reached(found: Effects, variables: Mapping[ir.Symbol, Value | Place]) -> Collection[ir.Symbol]:
    """The variables that the effects change, in one order, seen through references, pointers to locals and closures."""
    result: dict[ir.Symbol, None] = {}
    pending = list(found.assigned)
    for closure in found.closures:
        value = variables.get(closure)
        function = value.function.load() if isinstance(value, Closure) else None
        if function is not None:
            pending += effects(function.body).assigned
    while pending:
        symbol = pending.pop()
        if symbol in result:
            continue
        result[symbol] = None
        value = variables.get(symbol)
        if isinstance(value, LocalPlace):
            pending.append(value.symbol)
        elif isinstance(value, Pointer) and isinstance(value.target, LocalMemory):
            pending.append(value.target.place.symbol)
    return result.keys()
