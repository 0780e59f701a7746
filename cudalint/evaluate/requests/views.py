"""One launch of one kernel, ready to evaluate accesses under, and what is known of an access before its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from cudalint.evaluate.requests.dependence import Dependence
from cudalint.evaluate.requests.edges import Edges, edges_of, of_blocks
from cudalint.evaluate.requests.requests import Requests, Totals, count, gather
from cudalint.evaluate.requests.situations import (
    BY_DATA,
    DEEP,
    PROBED,
    QUICK,
    REPLICATED,
    SCATTERED,
    THOROUGH,
    Effort,
    Situation,
)
from cudalint.interpreter.device.events import AccessEvent
from cudalint.scenarios.sizes import fits
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Reason

TOLERANCE = 0.02
"""Figures that differ by less count as equal."""
_NO_EDGES: Edges = ((), (), ())


class LaunchView(Struct, eq=False):
    """One launch of one kernel, ready to evaluate accesses under."""

    graph: Graph
    index: int
    block: tuple[int, int, int]
    grid: tuple[Node, Node, Node]
    assumptions: tuple[str, ...] = ()
    assumed: tuple[Node, ...] = ()
    """Conditions that the user states; values that break them need not be tried."""
    guards: tuple[Node, ...] = ()
    """Conditions under which the host code launches it. Generic values need not meet them."""
    open_block: Mapping[Node, int | float] | None = None
    """The sizes that a launch in sight makes its block of and leaves open, with what they were taken for, if nothing
    else is assumed."""
    allowing: dict[object, tuple[bool, int]] = field(default_factory=dict)
    """Whether the above leave room for some values of the uniform symbols, which all accesses try, and the work that
    it took to tell."""
    pins: Mapping[Node, int] = field(default_factory=dict)
    """Values that some symbols have in place of their generic ones."""
    needed: frozenset[Node] = frozenset()
    """Those among them without which the accesses in question are not reached."""
    _pinned: dict[frozenset[tuple[int, int, bool]], LaunchView] = field(default_factory=dict)
    _situations: dict[object, Situation] = field(default_factory=dict)
    _numbers: dict[object, dict[tuple[int, ...], int]] = field(default_factory=dict)
    """Of each of them, by which iterations are drawn: they are the same ones again once it was forgotten."""
    _fitting: dict[tuple[int, int], bool] = field(default_factory=dict)
    _allowed: dict[tuple[int, float], bool] = field(default_factory=dict)
    _launched: dict[tuple[int, float], bool] = field(default_factory=dict)
    _edges: dict[tuple[int, ...], Edges] = field(default_factory=dict)
    _times_emptied: int = 0

    def pinned(self, pins: Mapping[Node, int], needed: frozenset[Node] = frozenset()) -> LaunchView:
        """The same launch with other values for some symbols than the ones they have so far."""
        pins, needed = {**self.pins, **pins}, self.needed | needed
        key = frozenset((node.index, value, node in needed) for node, value in pins.items())
        if key not in self._pinned:
            # What was found with the generic values is found anew.
            self._pinned[key] = LaunchView(
                self.graph, self.index, self.block, self.grid, self.assumptions, self.assumed, self.guards,
                self.open_block, pins=pins, needed=needed,
            )  # fmt: skip
        return self._pinned[key]

    def trim(self) -> None:
        """Forgets the situations once their numbers were dropped, to make room."""
        if self._times_emptied < self.graph.caches.times_emptied:
            self._times_emptied = self.graph.caches.times_emptied
            self._situations.clear()

    def quick(self) -> Situation:
        return self._situation("quick", QUICK, {})

    def thorough(self) -> Situation:
        return self.bounded(_NO_EDGES, THOROUGH)

    def deep(self) -> Situation:
        return self.bounded(_NO_EDGES, DEEP)

    def replicated(self) -> Situation:
        return self._situation("replicated", REPLICATED, {})

    def by_data(self) -> Situation:
        return self._situation("by data", BY_DATA, {})

    def scattered(self) -> Situation:
        return self._situation("scattered", SCATTERED, {})

    def probed(self) -> Situation:
        return self._situation("probed", PROBED, {})

    def bounded(self, edges: Edges, effort: Effort) -> Situation:
        """One of which the blocks at the given places are part."""
        return self._situation((edges, effort), effort, {}, edges)

    def edges(self, conditions: tuple[Node, ...]) -> Edges:
        """The blocks at which some conditions change."""
        own = of_blocks(self.graph, conditions)
        key = tuple(condition.index for condition in own)
        if key not in self._edges:
            situation = self.quick()
            self._edges[key] = edges_of(self.graph, situation.threads, situation.grid, own)
        return self._edges[key]

    def allows(self, uniform: Node, value: int | float) -> bool:
        """Whether the user's assumptions leave room for this value of a uniform symbol."""
        key = (uniform.index, value)
        if key not in self._allowed:
            self._allowed[key] = self._hold(self.assumed, uniform, value)
        return self._allowed[key]

    def is_launched(self, uniform: Node, value: int | float) -> bool:
        """Whether the host code comes to the launch with such a size as far as it does with the generic one."""
        key = (uniform.index, value)
        if key not in self._launched:
            guards = [g for g in self.guards if g.bits & uniform.bits and holds(self.graph, g, self.pins)]
            self._launched[key] = self._hold(guards, uniform, value)
        return self._launched[key]

    def _hold(self, conditions: Sequence[Node], uniform: Node, value: int | float) -> bool:
        """Whether the conditions on a uniform symbol hold for a value of it."""
        values = {**self.pins, uniform: value}
        return all(holds(self.graph, c, values) for c in conditions if c.bits & uniform.bits)

    def fits(self, uniform: Node, value: int) -> bool:
        """Whether no product of sizes overflows with this value of a uniform symbol."""
        key = (uniform.index, value)
        if key not in self._fitting:
            self._fitting[key] = fits(self.graph, uniform, value)
        return self._fitting[key]

    def varied(self, uniform: Node, value: int | float) -> Situation:
        """The quick situation with another value for one uniform symbol."""
        return self.valued({uniform: value})

    def valued(self, values: Mapping[Node, int | float], effort: Effort = QUICK) -> Situation:
        """One in which uniform symbols have other values; those that aren't named keep their generic ones."""
        if not values and effort is QUICK:
            return self.quick()
        key = (frozenset((node.index, value) for node, value in values.items()), effort)
        return self._situation(key, effort, dict(values))

    def _situation(
        self, key: object, effort: Effort, values: dict[Node, int | float], edges: Edges = _NO_EDGES
    ) -> Situation:
        found = self._situations.get(key)
        if found is None:
            self.trim()
            usual = self._situations.get("quick")
            numbers = self._numbers.setdefault(key, {})
            values = {**self.pins, **values}
            found = Situation(self.graph, self.block, self.grid, effort, values, edges, usual, numbers)
            self._situations[key] = found
        return found


class Known(Struct, frozen=True, eq=False):
    """An access event with the conditions that can be evaluated, and what cannot."""

    event: AccessEvent
    on: Dependence
    conditions: tuple[Node, ...]
    relaxed: tuple[Node, ...]
    """Conditions on unknown uniform values that had to be taken as true for the access to be reached."""
    quick: Requests
    situation: Situation
    """Where `quick` was gathered."""
    doubt: Reason | None
    doubt_in_mask: bool

    @property
    def places(self) -> tuple[Node, ...]:
        """What decides where the access goes, and where a copy comes from."""
        event = self.event
        return (event.offset,) if event.copied_from is None else (event.offset, event.copied_from)


def totals_of(reached: Sequence[Known], situation: Situation) -> Totals:
    totals = Totals()
    for known in reached:
        totals.include(_totals_of_one(known, situation))
    return totals


def _totals_of_one(known: Known, situation: Situation) -> Totals:
    """Accesses that are alike, as the load and the store of `a[i] += x` are, share what was found for one of them."""
    event, conditions = known.event, known.conditions
    context, target = event.context, event.target
    key = (
        event.offset, conditions, context.conditions[: context.guard],
        *(loop.counter for loop in context.loops), event.bytes, event.operation, target.space, target.bytes,
    )  # fmt: skip
    totals = situation.totals.get(key)
    if totals is None:
        totals = situation.totals[key] = Totals()
        totals.add(count(event, situation, conditions) or gather(event, situation, conditions))
    return totals
