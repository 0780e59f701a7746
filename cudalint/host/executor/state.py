"""The state of an execution: variables, the conditions that hold where it stands, and the ways out that it took."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.host.executor.values import Closure, LocalMemory, LocalPlace, Place, Pointer, Value
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir.walk import Effects, effects

Variables = dict[ir.Symbol, Value | Place]


class LoopScope(Struct):
    """A loop or switch being executed."""

    is_switch: bool = False
    breaks: list[Variables] = field(default_factory=list)
    """The variables wherever it was left by `break`."""
    continues: list[Variables] = field(default_factory=list)
    """The same for `continue`."""
    exits: int = 0
    """How often it was left for somewhere further out: by `return`, or to continue a loop around a switch."""


class FunctionScope(Struct):
    """A function being executed."""

    key: str
    is_instance: bool = False
    """Whether it is a template with certain arguments."""
    is_root: bool = False
    """Nobody calls it."""
    guards: tuple[Node, ...] = ()
    """What holds where it is called."""
    outer: dict[ir.Symbol, Value | Place | None] = field(default_factory=dict)
    """The variables that there were before and that no branch of it has set for good, with what one in a loop has set
    them to."""
    returns: list[tuple[Node, Value | Place | None]] = field(default_factory=list)
    """What it returns, each with the condition under which it does."""
    returns_place: bool = False
    reaches_end: bool = False
    """Whether it also comes back from the end of its body."""
    call: ir.Span | None = None
    """Where the user's code calls it."""
    given: frozenset[str] = frozenset()
    """Keys of the functions among its arguments."""


class State(Struct):
    variables: Variables = field(default_factory=dict)
    """Values of variables; for a variable of reference type, the place that it names."""
    guards: tuple[Node, ...] = ()
    """Unknown conditions that hold where the execution stands, from branches and from those that lead out."""
    dead: bool = False
    """Nothing comes here."""
    loop_scopes: list[LoopScope] = field(default_factory=list)
    functions: list[FunctionScope] = field(default_factory=list)
    frames: tuple[ir.Span, ...] = ()
    """The calls of functions of the user's, innermost first."""
    library_call: ir.Span | None = None
    """The user's call of a function of the bundled headers, while its body is executed: whatever it does happens
    there, since nobody wants to read about our headers."""

    def before(self) -> Before:
        """What `take_back` goes back to, which later changes leave alone."""
        return Before(
            replace(self, variables=dict(self.variables)),
            tuple(len(f.returns) for f in self.functions),
            tuple((len(s.breaks), len(s.continues), s.exits) for s in self.loop_scopes),
        )

    def take_back(self, before: Before) -> None:
        """Forgets all that was executed since, ways out included. The object stays the same, since callers up the stack
        hold it."""
        saved = before.state
        self.variables, self.guards, self.dead = saved.variables, saved.guards, saved.dead
        self.frames, self.library_call = saved.frames, saved.library_call
        self.loop_scopes, self.functions = saved.loop_scopes, saved.functions
        for function, count in zip(self.functions, before.returns, strict=False):
            del function.returns[count:]
        for scope, (breaks, continues, exits) in zip(self.loop_scopes, before.exits, strict=False):
            del scope.breaks[breaks:], scope.continues[continues:]
            scope.exits = exits


class Before(Struct, frozen=True):
    """A state as it was before something was tried."""

    state: State
    returns: tuple[int, ...]
    """How many returns of each function had been recorded by then."""
    exits: tuple[tuple[int, int, int], ...]
    """The same for what leaves each loop: by `break`, by `continue`, for further out."""


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
