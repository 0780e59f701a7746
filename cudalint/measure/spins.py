"""Loops in which threads do nothing but wait: they load one place again and again until somebody has changed it.

A loop is one if it writes nothing that others see, looks at places that stay the same from turn to turn, and ends by
nothing else than what it finds there: no count of turns, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Stack
from cudalint.execute.trace import Site as LoopSite
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import builtin
from cudalint.ir.walk import STEPS, root, walk, without_casts
from cudalint.measure.origins import is_own
from cudalint.measure.seen import Seen, spelled
from cudalint.measure.touches import Site

_LOOPS = (st.For, st.While, st.DoWhile)
_CLOCKS = frozenset({"clock", "clock64", "globaltimer", "__clock", "__clock64"})
_OF_NOTHING = ("Add", "Sub", "Or", "Xor", "add", "sub", "or", "xor")
"""Atomics that change nothing if they are given 0."""
_KEEPS = ("fence", "atomic", "nv-atomic", "atomic-method", "fetch", "syncthreads", "barrier")


class Spin(NamedTuple):
    """A loop that waits, and one place that it looks at."""

    loop: LoopSite
    look: Any
    """What makes it look there, in the function that the loop is in: the load, or a call that leads to it."""
    site: Site
    allocation: Allocation
    events: tuple[tuple[int, AccessEvent], ...]
    """The loads, with their numbers in the trace."""
    is_plain: bool
    """Whether nothing tells the compiler that what is there may change."""


def spins_of(seen: Seen) -> list[Spin]:
    """Those of an execution, in the order in which threads come to them."""
    undecided = {(id(node), stack) for node, stack in seen.trace.undecided}
    if not undecided:
        return []
    loops = dict.fromkeys(turn.loop for turn in seen.trace.turns if isinstance(turn.loop.statement, _LOOPS))
    found: list[Spin] = []
    for loop in loops:
        if loop.library is None and _is_undecided(loop, undecided):
            found += _spins(loop, seen)
    return found


def reads_only(node: Any) -> bool:
    """Whether an atomic leaves what it finds: `atomicAdd(&x, 0)`, `x.load()`."""
    if not isinstance(node, ir.Call):
        return False
    name = node.name.split("::")[-1]
    if node.receiver is not None:
        return name in ("load", "test")
    if len(node.arguments) < 2:
        return False
    if "CAS" in name and len(node.arguments) > 2:
        return spelled(node.arguments[1]) == spelled(node.arguments[2])
    given = without_casts(node.arguments[1])
    return any(each in name for each in _OF_NOTHING) and isinstance(given, ir.Constant) and not given.value


def _is_undecided(loop: LoopSite, undecided: set[tuple[int, Stack]]) -> bool:
    n = loop.statement
    if (id(n), loop.stack) in undecided:
        return True
    return any(isinstance(each, st.If) and (id(each), loop.stack) in undecided for each in walk(n.body))  # type: ignore[union-attr]


def _parts(n: Any) -> Iterator[Any]:
    """What each turn of a loop does."""
    yield from (each for each in (n.condition, n.body, getattr(n, "increment", None)) if each is not None)


def _spins(loop: LoopSite, seen: Seen) -> Iterator[Spin]:
    n: Any = loop.statement
    nodes = [node for part in _parts(n) for node in walk(part)]
    if any(_is_progress(node) for node in nodes):
        return
    inside = _Inside(loop, nodes)
    trace = seen.trace
    if any(inside.has(call.node, call.stack) and call.is_users for call in trace.calls):
        return
    if any(inside.has(b.node, b.stack) and b.scope == "block" and not b.is_implied for b in trace.barriers):
        return
    loads: dict[Site, list[tuple[int, AccessEvent]]] = {}
    for number, event in enumerate(trace.accesses):
        if inside.has(event.node, event.stack) and event.allocation.space in ("global", "shared"):
            if event.operation != "load" and not reads_only(event.node):
                return
            site = Site(event.node, event.operation, event.bytes, event.stack)
            loads.setdefault(site, []).append((number, event))
    deciding = _deciding(loop, loads, inside, seen)
    if not deciding or any(inside.varies(site) for site in deciding):
        return
    keeps = any(_keeps_order(node) for node in nodes) or any(inside.has(f.node, f.stack) for f in trace.fences)
    is_plain = not keeps and all(_is_plain(site, loop, seen) for site in deciding)
    for site in deciding:
        of_memory = {event.allocation for _, event in loads[site]}
        for allocation in of_memory:
            events = tuple(each for each in loads[site] if each[1].allocation is allocation)
            yield Spin(loop, inside.inner(site.node, site.stack), site, allocation, events, is_plain)


def _deciding(
    loop: LoopSite, loads: dict[Site, list[tuple[int, AccessEvent]]], inside: _Inside, seen: Seen
) -> list[Site]:
    """The loads on which it depends whether the loop goes on; none where something else decides as well."""
    n: Any = loop.statement
    guards = [guard for guard in seen.ways.guards_of(n.body, loop.stack) if guard.loop is n]
    names = {node.symbol for guard in guards for node in walk(guard.condition) if isinstance(node, ir.Name)}
    if names & inside.counted:
        return []
    found: dict[Site, None] = {}
    for guard in guards:
        origins = seen.origins_of(guard)
        sources = {(id(node), stack) for node, stack in origins.loads}
        for site in loads:
            is_unseen = isinstance(site.node, st.Asm) and origins.is_unknown
            if (id(site.node), site.stack) in sources or is_unseen:
                found[site] = None
    return list(found)


class _Inside:
    """What belongs to a loop, and what changes in it."""

    def __init__(self, loop: LoopSite, nodes: list[Any]) -> None:
        self._loop = loop
        self._nodes = {id(node) for node in nodes}
        self.counted = _counted(nodes)
        changing = {symbol for node in nodes for symbol in _changed_by(node)}
        declared = [node for node in nodes if isinstance(node, st.Declare) and node.initializer is not None]
        for _ in declared:
            values = ((each.symbol, each.initializer) for each in declared)
            more = {symbol for symbol, value in values if _looks_up(value) or _names(value) & changing}
            if more <= changing:
                break
            changing |= more
        self._changing = changing

    def has(self, node: Any, stack: Stack) -> bool:
        """Whether something is done in a turn of the loop, there or in what it calls."""
        inner = self.inner(node, stack)
        return inner is not None and id(inner) in self._nodes

    def inner(self, node: Any, stack: Stack) -> Any:
        """The node of the loop's own function that leads to one."""
        calls = len(stack) - len(self._loop.stack)
        if calls < 0 or stack[calls:] != self._loop.stack:
            return None
        return node if not calls else stack[calls - 1]

    def varies(self, site: Site) -> bool:
        """Whether an access may look at another place in the next turn."""
        inner = self.inner(site.node, site.stack)
        return bool(_names(inner, is_place=inner is site.node) & self._changing)


def _names(e: Any, is_place: bool = False) -> set[ir.Symbol]:
    """The variables that an expression mentions; of a statement of inline PTX those that it does not set."""
    if isinstance(e, st.Asm) and is_place:
        own = [each for each in e.operands if isinstance(each.type, ir.PointerType)]
        return {node.symbol for each in own for node in walk(each) if isinstance(node, ir.Name)}
    return {node.symbol for node in walk(e) if isinstance(node, ir.Name)}


def _looks_up(e: Any) -> bool:
    """Whether an expression may have another value although its variables have the same."""
    nodes = list(walk(e))
    return any(isinstance(n, (ir.Index, ir.Call)) or (isinstance(n, ir.Unary) and n.op == "*") for n in nodes)


def _changed_by(node: Any) -> Iterator[ir.Symbol]:
    """The variables that get another value; not those that lead to memory of which this is true."""
    changed: list[Any] = []
    match node:
        case ir.Assign():
            changed = [node.target]
        case ir.Unary() if node.op in (*STEPS, "&"):
            changed = [node.operand]
        case st.Asm():
            changed = [each for each in node.operands if not isinstance(each.type, ir.PointerType)]
        case ir.Call():
            types = node.function.parameter_types() if node.function is not None else ()
            changed = [
                argument for argument, type_ in zip(node.arguments, types, strict=False)
                if isinstance(type_, ir.PointerType) and type_.reference
            ]  # fmt: skip
        case _:
            pass
    for each in changed:
        symbol = root(each)
        if symbol is not None and is_own(each):
            yield symbol


def _counted(nodes: list[Any]) -> set[ir.Symbol]:
    """Variables that go on from what they were in the turn before, and what is made of them."""
    found: set[ir.Symbol] = set()
    given: list[tuple[ir.Symbol, Any]] = []
    for node in nodes:
        if isinstance(node, ir.Unary) and node.op in STEPS and (symbol := root(node.operand)) is not None:
            found.add(symbol)
        elif isinstance(node, ir.Assign) and (symbol := root(node.target)) is not None:
            if node.op:
                found.add(symbol)
            given.append((symbol, node.value))
        elif isinstance(node, st.Declare) and node.initializer is not None:
            given.append((node.symbol, node.initializer))
    while True:
        more = {symbol for symbol, value in given if _names(value) & (found | {symbol})} - found
        if not more:
            return found
        found |= more


def _is_progress(node: Any) -> bool:
    """Whether something is done that others see, or that makes the next turn another one."""
    if isinstance(node, ir.Assign):
        return not is_own(node.target)
    if isinstance(node, ir.Unary) and node.op in STEPS:
        return not is_own(node.operand)
    if isinstance(node, ir.Call):
        name = node.name.split("::")[-1]
        return name in _CLOCKS or builtin(name).effect == "random"
    return isinstance(node, st.Asm) and any(each in node.text for each in ("clock", "globaltimer"))


def _keeps_order(node: Any) -> bool:
    """Whether the compiler loads memory again behind it."""
    if isinstance(node, st.Asm):
        return True
    if not isinstance(node, ir.Call):
        return False
    body = node.function.load() if node.function is not None and node.function.is_user else None
    return body is None


def _is_plain(site: Site, loop: LoopSite, seen: Seen) -> bool:
    """Whether it is an ordinary load, in the loop's own function."""
    is_load = site.operation == "load" and isinstance(site.node, (ir.Index, ir.Unary, ir.Member, ir.Name))
    return is_load and site.stack == loop.stack and site.node.span not in seen.function.volatile
