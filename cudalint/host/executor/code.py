"""What is known of functions and statements of host code before they are executed: which launch kernels, which end the
program, which decide nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from cudalint.host.executor import worth
from cudalint.host.executor.loop_parts import LoopParts, reads_options
from cudalint.host.executor.relevance import Relevance, ends_program
from cudalint.host.executor.tiling import Definitions
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import launches_a_kernel, named
from cudalint.ir.units import Wanted
from cudalint.toolchain.buildfiles.run_command import RunCommand

_SILENT = named("ignored")
"""Functions that are not executed at all."""


class Outside(Struct, frozen=True):
    """What other files of the program say: an execution opens none itself."""

    linked: Mapping[str, ir.FunctionRef]
    """By their USR: the functions that launch the kernels in question, which this file only declares."""
    find: Callable[[ir.FunctionRef], ir.FunctionRef | None]
    """Looks for the definition of any other."""
    run_command: Callable[[str], RunCommand | None]
    """How the program is run whose `main` stands in a file."""
    wanted: Wanted | None = None
    """The launches in question; all of them if it isn't said."""

    def definition(self, ref: ir.FunctionRef) -> ir.FunctionRef:
        linked = self.linked.get(ref.usr)
        if linked is not None:
            return linked
        is_declared = ref.is_user and ref.kind == "host" and not ref.templated and ref.load() is None
        return (self.find(ref) or ref) if is_declared else ref


class Code:
    """Of one program; each question is answered once."""

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.linked = frozenset(ref.key for ref in outside.linked.values())
        """The keys of the functions that other files only declare."""
        self.relevance = Relevance(self._launches, _SILENT)
        self.definitions = Definitions()
        self.idle: set[st.Stmt] = set()
        """Statements that decide no launch."""
        self.exits: dict[st.Stmt, tuple[st.Stmt, ...]] = {}
        """For jumps that lead out of functions: the statements on their way."""
        self._sorted: set[str] = set()
        self._jumping: set[str] = set()
        """Keys of the functions whose idle statements, and whose jumps, are known."""
        self._small: dict[str, bool] = {}
        self._launching: dict[st.Stmt, bool] = {}
        self._ending: dict[st.Stmt, bool] = {}
        self._reading: dict[st.Stmt, bool] = {}
        self._effects: dict[st.Stmt, walk.Effects] = {}

    def has_launch(self, code: st.Stmt) -> bool:
        """Whether code launches a kernel, or calls or names a function that does, or calls one through a pointer."""
        found = self._launching.get(code)
        if found is None:
            found = self._launching[code] = any(self._launches(node) for node in walk.walk(code))
        return found

    def _launches(self, node: Any) -> bool:
        if isinstance(node, ir.Launch):
            return self.is_wanted(node)
        if isinstance(node, (ir.Call, ir.Lambda, ir.FunctionName)):
            if isinstance(node, ir.Call) and (node.callee is not None or launches_a_kernel(node.name)):
                return True
            ref = node.function
            return ref is not None and ref.is_user and (ref.usr in self.outside.linked or ref.has_launch())
        return False

    def is_wanted(self, launch: ir.Launch) -> bool:
        """Whether a launch may be one in question."""
        wanted, kernel = self.outside.wanted, launch.kernel
        return wanted is None or kernel is None or kernel.name in wanted.kernels

    def leads_to_linked(self, ref: ir.FunctionRef) -> bool:
        """Whether a function calls one that other files define, and that launches a kernel."""
        function = ref.load() if self.outside.linked else None
        return function is not None and self.has_launch(function.body)

    def ends(self, statement: st.ExprStmt) -> bool:
        """Whether a statement ends the program."""
        found = self._ending.get(statement)
        if found is None:
            found = self._ending[statement] = ends_program(statement)
        return found

    def reads_options(self, parts: LoopParts) -> bool:
        """Whether a loop goes through the command line."""
        found = self._reading.get(parts.body)
        if found is None:
            found = self._reading[parts.body] = reads_options(parts)
        return found

    def effects_of(self, parts: LoopParts) -> walk.Effects:
        """What a loop may do to the variables around it."""
        found = self._effects.get(parts.body)
        if found is None:
            found = self._effects[parts.body] = walk.effects(parts.condition, parts.body, parts.increment)
        return found

    def note_jumps(self, key: str, function: ir.Function) -> None:
        if key not in self._jumping:
            self._jumping.add(key)
            self.exits |= _ways_out(function, self.has_launch)

    def sort(self, ref: ir.FunctionRef) -> None:
        """Finds the idle statements of a function that is called for its launches."""
        function = ref.load()
        if function is None or ref.key in self._sorted:
            return
        self._sorted.add(ref.key)
        outer = [symbol for symbol in function.parameters if isinstance(symbol.type, ir.PointerType)]
        outer += [capture.symbol for capture in function.captures if capture.by_reference]
        self.idle |= self.relevance.idle(function.body, (*outer, *(() if function.this is None else (function.this,))))

    def is_worth_it(self, ref: ir.FunctionRef, plainly: bool) -> bool:
        """Whether a function without launches is executed: small ones for what they return or set, long ones for the
        global variables that they set and for what they check; of what else they do, nothing decides a launch.
        `plainly`: only those that compute something by themselves."""
        known = self._small.get(ref.key)
        if plainly:
            function = ref.load() if known is not False and not ref.named() else None
            return function is not None and worth.is_small(function)
        if known is None:
            function = ref.load()
            known = function is not None and worth.is_small(function)
            if not known and function is not None and worth.is_for_effects(function):
                known = True
                self.sort(ref)
            self._small[ref.key] = known
        return known

    def up_to_launches(self, body: st.Stmt) -> st.Stmt:
        """A body without what comes after its last launch: the results' verification decides no launch."""
        if not isinstance(body, st.Block):
            return body
        last = max((i for i, s in enumerate(body.statements) if self.has_launch(s)), default=len(body.statements))
        return st.Block(body.statements[: last + 1], body.span)


def _ways_out(
    function: ir.Function, has_launch: Callable[[st.Stmt], bool]
) -> Mapping[st.Stmt, tuple[st.Stmt, ...]]:
    """The jumps of a function (`goto`) to labels of its outermost block behind which nothing is launched and that no
    jump behind them leads back from, each with the statements that are left from its label on: a jump to where a
    function frees what it has is a way out like any other."""
    jumps = [node for node in walk.nodes_in(function) if isinstance(node, st.UnknownStmt) and node.reason == "goto"]
    if not jumps or not isinstance(function.body, st.Block):
        return {}
    statements = function.body.statements
    labels = {
        node.label: i
        for i, node in enumerate(statements)
        if isinstance(node, st.UnknownStmt) and node.reason == "label"
    }
    found: dict[st.Stmt, tuple[st.Stmt, ...]] = {}
    for jump in jumps:
        rest = statements[labels[jump.label] :] if jump.label in labels else ()
        inside = (node for statement in rest for node in walk.walk(statement))
        if rest and not any(has_launch(statement) for statement in rest) and not any(node in jumps for node in inside):
            found[jump] = rest
    return found
