"""What an execution shows of the places of a kernel, beside what the tree says of them: which doubts about races and
barriers ask for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Stack, Trace
from cudalint.ir import nodes as ir
from cudalint.ir.walk import children, nodes_in
from cudalint.measure.origins import NOTHING, Origins, OriginsOf, together
from cudalint.measure.places import spans_of
from cudalint.measure.touches import Site
from cudalint.measure.ways import Guard, Ways


class Use(NamedTuple):
    """Where a value goes: into an access."""

    site: Site
    how: str
    """`value`, `address`, or `guard` where it decides whether the access happens."""
    guard: Guard | None = None


class Seen:
    """An execution of a kernel."""

    def __init__(self, function: ir.Function, trace: Trace) -> None:
        self.function, self.trace = function, trace
        self.ways = Ways(function)
        self.origins = OriginsOf(self.ways)
        self._values: dict[int, dict[int, Any]] = {}
        self._uses: dict[tuple[Any, Stack], list[Use]] | None = None

    @cached_property
    def events(self) -> dict[Site, list[AccessEvent]]:
        """By site, as they come."""
        found: dict[Site, list[AccessEvent]] = {}
        for event in (*self.trace.accesses, *(event for _, event in self.trace.touched)):
            site = Site(event.node, event.operation, event.bytes, event.stack)
            found.setdefault(site, []).append(event)
        return found

    @cached_property
    def memories(self) -> dict[tuple[int, Stack], dict[Allocation, None]]:
        """What is accessed at a node."""
        found: dict[tuple[int, Stack], dict[Allocation, None]] = {}
        for site, events in self.events.items():
            known = found.setdefault((id(site.node), site.stack), {})
            for event in events:
                known[event.allocation] = None
        return found

    def memory_of(self, node: Any, stack: Stack) -> dict[Allocation, None]:
        return self.memories.get((id(node), stack), {})

    @cached_property
    def written(self) -> set[Allocation]:
        return {event.allocation for event in self.trace.accesses if event.operation != "load"}

    @property
    def is_followed(self) -> bool:
        """Whether all that the kernel calls is known, and its execution came to its end."""
        return not self.trace.cut and not any(call.is_users or call.is_in_part for call in self.trace.calls)

    # --- conditions --------------------------------------------------------------------------------

    def guards(self, site: Site) -> tuple[Guard, ...]:
        return self.ways.guards_of(site.node, site.stack)

    def origins_of(self, guard: Guard) -> Origins:
        return self.origins.of(guard.condition, guard.stack)

    def varies(self, found: Origins, between_blocks: bool) -> bool:
        """Whether two threads, of one block or of two, may have different values."""
        if found.may_vary or (between_blocks and found.by_block):
            return True
        if not between_blocks:
            return False
        return any(memory.space == "shared" for load in found.loads for memory in self.memory_of(*load))

    def decided_by_data(self, site: Site, between_blocks: bool) -> list[Guard]:
        """The conditions by which loaded data decides, thread by thread, who gets there."""
        return [
            guard for guard in self.guards(site)
            for found in [self.origins_of(guard)]
            if found.is_data and self.varies(found, between_blocks)
        ]  # fmt: skip

    def described(self, found: Origins) -> str:
        """The data that goes into a value, in words."""
        sources = sorted(
            (*found.atomics, *found.loads), key=lambda each: (each[0].span.line, spans_of(*each))
        )
        for node, stack in sources:
            names = [memory.name for memory in self.memory_of(node, stack)]
            if names:
                return f"`{names[0]}` is read at line {node.span.line}"
        return f"what is read at line {sources[0][0].span.line}" if sources else "a value is not known"

    # --- places and values -------------------------------------------------------------------------

    def address(self, site: Site) -> Origins:
        """What goes into an address."""
        node, stack = site.node, site.stack
        match node:
            case ir.Index():
                return together((self.origins.of(node.base, stack), self.origins.of(node.index, stack)))
            case ir.Unary():
                return self.origins.of(node.operand, stack)
            case ir.Member():
                inner = Site(node.base, site.operation, site.bytes, stack)
                return self.origins.of(node.base, stack) if node.arrow else self.address(inner)
            case ir.Call():
                places = node.arguments[:1] if node.receiver is None else (node.receiver, *node.arguments[:1])
                return together(self.origins.of(each, stack) for each in places)
            case ir.Cast():
                return self.address(site._replace(node=node.operand))
            case _:
                return NOTHING

    def goes_into(self, expression: Any, site: Site) -> bool:
        """Whether an address is computed by an expression."""
        waiting: list[tuple[Any, Stack]] = [(site.node, site.stack)]
        seen = set[tuple[int, Stack]]()
        while waiting:
            e, stack = waiting.pop()
            if e is expression:
                return True
            if isinstance(e, ir.Name):
                waiting += self.origins.values_of(e.symbol, stack)
                continue
            if (id(e), stack) not in seen:
                seen.add((id(e), stack))
                waiting += [(child, stack) for child in children(e)]
        return False

    def stored(self, site: Site) -> Any:
        """The assignment, or the step, that stores at a place; None where it is none."""
        function = self.ways.function_of(site.stack)
        if id(function) not in self._values:
            found: dict[int, Any] = {}
            for node in nodes_in(function):
                if isinstance(node, ir.Assign):
                    found[id(node.target)] = node
                    # A copy of a record may stand where what it copies does.
                    found.setdefault(id(node.value), node)
                elif isinstance(node, ir.Unary) and node.op in ("++x", "--x", "x++", "x--"):
                    found[id(node.operand)] = node
            self._values[id(function)] = found
        return self._values[id(function)].get(id(site.node))

    def value_of(self, site: Site) -> Origins | None:
        """What goes into a value that is stored; None where it is not known which expression makes it."""
        node = self.stored(site)
        if isinstance(node, ir.Assign):
            found = self.origins.of(node.value, site.stack)
            return found._replace(loads=found.loads | {(site.node, site.stack)}) if node.op else found
        if isinstance(node, ir.Unary):
            return Origins(loads=frozenset({(site.node, site.stack)}))
        return None

    def uses_of(self, site: Site) -> list[Use] | None:
        """The accesses that what is loaded at a place goes into; None where not all of them are known."""
        if self._uses is None:
            self._uses = {}
            for use, found in self._all_uses():
                for source in (*found.loads, *found.atomics):
                    self._uses.setdefault(source, []).append(use)
        return self._uses.get((site.node, site.stack), [])

    def _all_uses(self) -> Iterator[tuple[Use, Origins]]:
        for site in self.events:
            yield Use(site, "address"), self.address(site)
            if site.operation != "load":
                value = self.value_of(site)
                if value is None and isinstance(site.node, ir.Call):
                    value = together(self.origins.of(each, site.stack) for each in site.node.arguments[1:])
                if value is not None:
                    yield Use(site, "value"), value
            for guard in self.guards(site):
                yield Use(site, "guard", guard), self.origins_of(guard)


def is_uniform(value: Any) -> bool:
    """Whether a number is one for all lanes of a block."""
    return not isinstance(value, np.ndarray) or value.shape[1] == 1


def spelled(e: Any) -> object:
    """A key that is equal for expressions with the same spelling, of the same variables."""
    match e:
        case ir.Cast():
            return spelled(e.operand)
        case ir.Constant():
            return "constant", e.value
        case ir.Name():
            return "name", id(e.symbol)
        case ir.Member():
            return "member", e.field, spelled(e.base)
        case ir.Unary() | ir.Binary() | ir.Assign():
            return type(e).__name__, e.op, *map(spelled, children(e))
        case ir.Call():
            return "call", e.name, *map(spelled, children(e))
        case _:
            return type(e).__name__, *map(spelled, children(e))
