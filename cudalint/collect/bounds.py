"""The accesses of a kernel that leave an array of known size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of, made_at
from cudalint.evaluate.checks.bounds import Leaving, Touch, assumed_extent, extent_text, leaving
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import KernelFacts, OutOfBounds, Place
from cudalint.interpreter.device.events import AccessEvent, LocalIndexEvent
from cudalint.interpreter.device.memory import element_bytes
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.ir.sizes import Size
from cudalint.ir.walk import nodes_in
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.launches.variants import other_blocks
from cudalint.values.arithmetic import I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node
from cudalint.values.polynomial import Monomial, terms_of

_CONFIRMING_WORK = 1_000_000
"""For what leaves its array under other blocks than the one that was made up: the file's other kernels need time too.
"""


class BoundsCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "bounds"
    found: dict[object, OutOfBounds] = field(default_factory=dict)
    """By place and launch; the first execution of an access that leaves its array stands for the others."""

    def add(self, run: Run) -> None:
        if run.is_refused:
            return
        self._add(run.execution, run.configuration)
        if run.execution.launch.is_made_up:
            self._with_other_blocks(run)

    def _with_other_blocks(self, run: Run) -> None:
        """What leaves its array under a block that was made up does so for certain if it is the same element with other
        blocks too: an index may be made of their size."""
        subject = run.subject
        end = subject.graph.work + _CONFIRMING_WORK
        for block in other_blocks(replace(run.configuration, source="default"), subject.function):
            own = [key for key, found in self.found.items() if found.launch == run.index]
            if not own:
                return
            others: dict[object, OutOfBounds] = {}
            if not subject.is_over(end):
                again, under = BoundsCollector(), replace(run.configuration, block=block)
                again._add(subject.again(run.index, under), under)
                others = again.found
            for key in own:
                if key not in others or others[key].offset != self.found[key].offset:
                    del self.found[key]

    def _add(self, execution: Execution, configuration: Configuration) -> None:
        arrays, launch = list(_arrays(execution)), execution.launch
        is_made_up = launch.is_made_up and not (launch.guesses or launch.made_up)
        assumed: dict[Allocation, Node | None] = {}
        touches: dict[Allocation, list[Touch]] = {}
        for array in arrays:
            if array.extent is None:
                touches.setdefault(array.target, []).append(array.touch)
        for array in arrays:
            extent = array.extent
            if extent is None:
                if array.target not in assumed:
                    assumed[array.target] = assumed_extent(touches[array.target], execution.view)
                extent = assumed[array.target]
            found = leaving(array.touch, extent, execution.view, is_made_up) if extent is not None else None
            if found is None or extent is None:
                continue
            place = (*array.made_at(), array.name, execution.view.index)
            if place not in self.found:
                fact = array.fact(found, extent, execution)
                named = _in_parameters(extent, array.element, configuration, execution.view.graph)
                self.found[place] = replace(fact, in_parameters=named)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = sorted(self.found.values(), key=lambda o: (o.place, o.inlined_from, o.launch))
        return replace(facts, out_of_bounds=tuple(found))


class _Array(Struct, frozen=True, eq=False):
    """An array that is touched, with its size where that is known."""

    name: str
    touch: Touch
    extent: Node | None
    """In bytes; for an array in registers, in elements."""
    element: int
    event: AccessEvent | LocalIndexEvent
    symbol: ir.Symbol | None

    @property
    def target(self) -> Allocation:
        """Of an array in memory."""
        assert isinstance(self.event, AccessEvent)
        return self.event.target

    def made_at(self) -> tuple[ir.Span, tuple[ir.Span, ...]]:
        """Where the address is made, and the calls that lead there."""
        if isinstance(self.event, AccessEvent):
            return made_at(self.event)
        return self.touch.context.span, self.touch.context.frames

    def fact(self, found: Leaving, extent: Node, execution: Execution) -> OutOfBounds:
        offender, view = found.offender, execution.view
        span, calls = self.made_at()
        dimensions = _dimensions(self.symbol) if isinstance(self.event, AccessEvent) else 1
        return OutOfBounds(
            Place(*span),
            frames_of(calls),
            self.event.target.space if isinstance(self.event, AccessEvent) else "local",
            self.event.operation,
            self.name,
            view.index,
            found.kind,
            offender.thread,
            offender.block,
            offender.offset,
            self.touch.bytes,
            found.extent,
            self.element,
            extent_text(view.graph, extent, self.element),
            found.values,
            found.condition,
            self.extent is not None,
            Place(*_declared_at(self.symbol, execution.function)) if self.symbol is not None else None,
            dimensions,
        )


def _arrays(execution: Execution) -> Iterator[_Array]:
    """What is touched, each access once for each of its addresses."""
    tried: set[object] = set()
    for event in execution.events:
        array = _array(event, execution) if isinstance(event, (AccessEvent, LocalIndexEvent)) else None
        if array is None:
            continue
        touch = array.touch
        conditions = tuple(c.index for c in touch.context.conditions)
        key = (array.symbol, array.name, array.event.operation, touch.offset.index, touch.bytes, conditions)
        if key not in tried:
            tried.add(key)
            yield array


def _array(event: AccessEvent | LocalIndexEvent, execution: Execution) -> _Array | None:
    graph = execution.view.graph
    if isinstance(event, LocalIndexEvent):
        one = Touch(event.context, event.index, 1)
        return _Array(event.name, one, graph.const(event.count, I8), 1, event, event.symbol)
    target = event.target
    unknown = event.one_of or target.opaque is not None or target.is_null or target.space == "generic"
    if unknown or dependence(event.context, event.offset, graph).is_astray:
        return None
    extent, element = target.size, element_bytes(event.element)
    if target.bytes is not None:
        extent = graph.const(target.bytes, I8)
    if target.bytes is not None and event.bytes > target.bytes:
        # The type is a stand-in for one that nobody declared.
        return None
    declared = next((s.type for s in execution.function.parameters if s.name == target.name), None)
    if target.symbol is None and isinstance(declared, ir.PointerType) and declared.pointee.bytes:
        element = element_bytes(declared.pointee)
    if target.symbol is not None:
        element = _innermost(target.symbol.type)
        if target.symbol.storage == "dynamic-shared" and execution.dynamic_shared is not None:
            extent = graph.const(execution.dynamic_shared, I8)
    if extent is None and target.space != "global":
        return None
    return _Array(target.name, Touch(event.context, event.offset, event.bytes), extent, element, event, target.symbol)


def _in_parameters(extent: Node, element: int, configuration: Configuration, graph: Graph) -> str | None:
    """A size as a number of elements, in the names of the parameters that are given it or its factors."""
    wanted = _counted(extent, element, graph)
    if wanted is None or not extent.bits & graph.uniform_bits:
        return None
    given = {name: _counted(value, 1, graph) for name, value in configuration.numbers()}
    if (whole := next((name for name, parts in given.items() if parts == wanted), None)) is not None:
        return whole
    names = {monomial: name for name, parts in given.items() if parts for monomial in parts if parts == {monomial: 1}}
    terms = []
    for monomial, factor in wanted.items():
        factors = [names.get((atom,)) for atom in monomial]
        if None in factors:
            return None
        numbers = [str(factor)] if factor != 1 or not monomial else []
        terms.append(" * ".join([*numbers, *(name for name in factors if name)]))
    return " + ".join(terms).replace("+ -", "- ")


def _counted(size: Node, element: int, graph: Graph) -> dict[Monomial, int] | None:
    """A number of bytes as a polynomial of elements; None where it is none with whole coefficients."""
    parts: dict[Monomial, int] = {}
    for monomial, coefficient in terms_of(graph, size).items():
        if not coefficient.is_const or int(coefficient.value) % element:
            return None
        parts[monomial] = int(coefficient.value) // element
    return parts


def _declared_at(symbol: ir.Symbol, kernel: ir.Function) -> ir.Span:
    """Where an array is declared, in its kernel if there: `extern __shared__` arrays of one name are one symbol,
    whatever functions declare them."""
    if symbol.storage != "dynamic-shared":
        return symbol.span
    own = (node.span for node in nodes_in(kernel) if isinstance(node, ir.Declare) and node.symbol is symbol)
    return next(own, symbol.span)


def _innermost(type_: ir.Type) -> Size:
    while isinstance(type_, ir.ArrayType):
        type_ = type_.element
    return element_bytes(type_)


def _dimensions(symbol: ir.Symbol | None) -> int:
    type_, count = symbol.type if symbol is not None else None, 0
    while isinstance(type_, ir.ArrayType):
        type_, count = type_.element, count + 1
    return count
