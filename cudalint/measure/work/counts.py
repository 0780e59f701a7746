"""Instructions and operations of a launch: what each term costs, as often as its place is executed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import Executions, Site
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import DIVISIONS, Builtin, Sequence, sequence_of
from cudalint.ir.kept import kept
from cudalint.measure.work import compiler
from cudalint.measure.work.graph import Charge, Graph, Place, Test
from cudalint.measure.work.machine import SymbolicMachine, Variable
from cudalint.measure.work.shared import unread
from cudalint.measure.work.terms import Loops, Term
from cudalint.measure.work.walk import SymbolicProgram
from cudalint.measure.work.wide import Wide, shared_starts, wide_accesses

_FREE = frozenset({"field", "select", "flag", "negated", "&&", "||", "!", "zext", "sext"})
_ONE = frozenset({"+", "-", "*"})
_ENTRY = 2
_BULK = 8
"""Instructions of each turn over the lanes: ELECT, three R2UR, two PLOP3, UBLKCP and the jump back."""


class Work(Struct):
    """What one world's blocks do, of those that were executed."""

    instructions: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Of warps, by kind."""
    operations: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Of threads, by type: a fused multiply-add is two."""
    by_place: dict[tuple[Site, str], float] = field(default_factory=lambda: defaultdict(float))
    """The instructions by the statements that they are executed with."""
    divisions: dict[Site, float] = field(default_factory=lambda: defaultdict(float))
    """What divisions of integers by what is no constant take beyond those by one, in instructions by statement."""

    @property
    def total(self) -> float:
        return sum(self.instructions.values())


class Laid(Struct, frozen=True, eq=False):
    """A kernel as the compiler lays it out, whatever it is launched with."""

    graph: Graph
    body: Any
    """The statement that all threads execute."""
    visits: Mapping[Any, int]
    unknown: Mapping[str, int]
    starts: Mapping[ir.Symbol, int]
    """Where shared arrays begin in the block's shared memory."""
    unread: frozenset[ir.Symbol]
    """Shared variables that nobody reads: nothing is stored there."""
    declared: Mapping[Allocation, Loops] = {}
    """The loops around each variable that holds several values."""
    fragments: Mapping[ir.Symbol, Place] = {}
    """Where matrices for tensor cores are declared."""

    @property
    def tests(self) -> Mapping[Any, Test]:
        """What decides whether loops go on."""
        return self.graph.tests


@kept(4)
def laid_out(function: ir.Function, capability: tuple[int, int] = (0, 0)) -> Laid:
    """`capability` is that of the GPU."""
    indexed: set[Variable] = set()
    dropped = unread(function)
    declared = {node.symbol for node in walk.nodes_in(function) if isinstance(node, st.Declare)} - dropped
    while True:
        known = len(indexed)
        machine = SymbolicMachine(SymbolicProgram(capability), indexed, shared_starts(declared))
        machine.run(function, {})
        if len(indexed) == known:  # Else an array was taken for registers until something indexed it.
            break
    graph, trace = machine.graph, machine.trace
    starts = shared_starts({*declared, *machine.environment} - dropped)
    visits, memory = graph.visits(), machine.memory
    body = (function.body, (), None)
    return Laid(graph, body, visits, trace.unknown, starts, dropped, memory.declared, memory.fragments)


def counted(laid: Laid, executed: Mapping[Site, Executions], world: int = 0) -> Work:
    """The work of one world."""
    work = Work()
    executions = {site: own.counts[:, world] for site, own in executed.items()}
    wide = wide_accesses(laid.graph.charges.values(), laid.starts)
    for charge in laid.graph.charges.values():
        warps, lanes, site = times_executed(charge.place, laid, executions)
        if not warps:
            continue
        sequence, kind = _cost(charge, wide)
        if kind == "copy" and charge.term.info and compiler.BULK.is_on:
            warps = lanes
        if sequence.instructions:
            share = sequence.instructions * warps
            work.instructions[kind] += share
            work.by_place[Site(*site), kind] += share
        if kind == "division" and charge.term.type.kind != "float":
            least = DIVISIONS["long" if charge.term.type.bytes == 8 else "int", "constant"].instructions
            work.divisions[Site(*site)] += warps * max(0.0, sequence.instructions - least)
        for name in ("fp32", "fp64", "fp16", "special"):
            if getattr(sequence, name):
                work.operations[name] += getattr(sequence, name) * lanes
    if compiler.ENTRY.is_on and laid.body in executions:
        goes_out = any(_goes_out(charge.term) for charge in laid.graph.charges.values())
        work.instructions["entry"] += (_ENTRY + goes_out) * float(executions[laid.body][0])
    return work


def _goes_out(term: Term) -> bool:
    """Whether it is an access of global memory."""
    return term.op in ("load", "store", "atomic") and term.info.memory.space not in ("shared", "local")


def times_executed(place: Place, laid: Laid, executions: Mapping[Any, Any]) -> tuple[float, float, Any]:
    """How often a place is executed by warps and by lanes: its statement's executions, shared by the visits of it."""
    site = place.site
    own = executions.get(site)
    if site[0] is None:  # The kernel's arguments.
        return 0.0, 0.0, site
    visits = laid.visits.get(site, 0)
    if own is None or not visits:
        warps = lanes = 0.0
    else:
        warps, lanes = float(own[0]) / visits, float(own[1]) / visits
    if place.scope.branch is not None:
        # Without a jump, all warps that come to the branch execute it.
        outer, _, _ = times_executed(place.scope.branch, laid, executions)
        warps = max(warps, outer)
    return warps, lanes, site


# --- the cost of a term --------------------------------------------------------------------------------


def _cost(charge: Charge, wide: Mapping[int, Wide]) -> tuple[Sequence, str]:
    term = charge.term
    if term.is_sum:
        return Sequence(_sum(charge)), "address" if "address" in charge.uses else "integer"
    if term.op == "variable":
        return Sequence(_variable(charge)), "loop"
    if term.op in _FREE:
        return Sequence(0), "free"
    if term.op == "special":
        return Sequence(1), "special"
    if term.op == "parameter":
        return Sequence(1 if compiler.PARAMETERS.is_on else 0), "parameter"
    if term.op in ("load", "store") and term.info.memory.space == "local":
        return Sequence(1), "local"
    if term.op in ("load", "store"):
        whole = wide.get(id(charge))
        return Sequence(1.0 / whole.parts if whole is not None else 1.0), term.op
    if term.op in ("atomic", "barrier"):
        return Sequence(1), term.op
    if term.op == "copy":
        return Sequence(_BULK if term.info and compiler.BULK.is_on else 1), "copy"
    if term.op in ("test", "branch"):
        return Sequence(_jump(charge)), "branch"
    if term.op == "call":
        return _call(term), "call"
    if term.op in ("/", "%"):
        return _division(term), "division"
    if term.type.kind == "float" and term.op in _ONE:
        return _arithmetic(term), "float"
    if term.op == "*" and charge.uses == {"part"} and compiler.PRODUCTS.is_on:
        return Sequence(0), "integer"
    if charge.uses == {"test"}:
        return Sequence(1.0 / _copies(charge)), "branch"
    return Sequence(1), "integer" if term.type.kind != "bool" else "comparison"


def _copies(charge: Charge) -> int:
    loop = charge.place.scope.loop
    return loop.copies if loop is not None and loop in charge.term.loops else 1


def _words(term: Term) -> int:
    return 2 if term.type.bytes == 8 else 1


def _variable(charge: Charge) -> float:
    """A variable of a loop that is stepped is one addition in each turn; of copies with one test, if only that asks."""
    term, loop = charge.term, charge.term.info
    step = loop.steps.get(term)
    if step is None:
        return 0.0  # It stays in its register, and what is put there is counted.
    shared = loop.copies if step != compiler.VARIABLE and charge.uses <= {"test", "address", "part"} else 1
    return _words(term) / shared


def _sum(charge: Charge) -> float:
    """The additions of a sum, or its one step in each turn of a loop."""
    term = charge.term
    loop = charge.place.scope.loop
    parts = list(term.parts)
    if loop is not None and loop in term.loops:
        step = compiler.step_of(term, loop)
        if step == compiler.VARIABLE:
            return 1.0
        if step is not None:
            return _words(term) / (loop.copies if charge.uses <= {"address", "test"} else 1)
        parts = [part for part in parts if loop in part.term.loops]
        outside = len(term.parts) > len(parts)
        return _additions(parts, outside, charge)
    if term.index is not None:
        return 1.0
    return _additions(parts, bool(term.constant) and "address" not in charge.uses, charge)


def _additions(parts: Iterable[Any], more: bool, charge: Charge) -> float:
    given = list(parts)
    addends = len(given) + more
    if not compiler.PRODUCTS.is_on:
        return float(addends - 1 + sum(part.factor != 1 for part in given))
    return float(max(1, addends - 1))


def _jump(charge: Charge) -> float:
    term = charge.term
    if term.op == "test":
        return 1.0 / _copies(charge)
    sides = term.info
    jumps = any(side.branch is None for side in sides) or not any(side.size for side in sides)
    return 1.0 if jumps else 0.0


def _arithmetic(term: Term) -> Sequence:
    operations = 2.0 if term.is_fused else 1.0
    by_bytes = {4: Sequence(1, operations), 8: Sequence(1, 0, operations), 2: Sequence(1, fp16=operations)}
    return by_bytes.get(term.type.bytes, Sequence(1))


def _division(term: Term) -> Sequence:
    left, right = term.arguments
    is_float = term.type.kind == "float"
    by = "number"
    if type(right) in (int, float):
        by = "power" if right and math.frexp(abs(right))[0] == 0.5 else "constant"
    elif is_float and left == 1:
        by = "reciprocal"
    wide = term.type.bytes == 8
    if by == "power" and term.type.kind == "uint":
        return Sequence(1)
    return DIVISIONS[("double" if wide else "float") if is_float else ("long" if wide else "int"), by]


def _call(term: Term) -> Sequence:
    builtin = term.info
    if not isinstance(builtin, Builtin):
        return Sequence(2)
    exponent = term.arguments[1] if len(term.arguments) > 1 else None
    return sequence_of(builtin, 8 if term.type.bytes == 8 else 4, exponent) or Sequence(1)
