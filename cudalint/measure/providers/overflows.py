"""Arithmetic of 32 bits that sizes do not fit, collected launch by launch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.execute.trace import Stack
from cudalint.facts import KernelFacts, Overflow, Place
from cudalint.frontend.source_text import Spellings
from cudalint.hardware.requests import WARP_LANES
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.narrowing import Known, Narrowed, most_of, upper
from cudalint.host.values.nodes import Node, bits_of
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import nodes_in
from cudalint.measure.narrow_arithmetic import Suspect, axes_in, bytes_of, is_signed, products_of_sizes, suspects
from cudalint.measure.overflows import Admitted, Wrapped, wrapped
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Provider, Run
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import text_of

_SEEN = ("launch-site", "recorded")
"""Launches that are not made up."""
_INT_MAX, _UINT_MAX = float((1 << 31) - 1), float((1 << 32) - 1)
_SEVERAL = 2
"""Sizes of which a product may be too large while each of them is not."""
_MOST_NODES = 400
"""Of a launch's numbers that are looked through for what was narrowed."""


class OverflowCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "overflows"
    found: dict[object, Overflow] = field(default_factory=dict)
    bounded: set[object] = field(default_factory=set)

    def add(self, run: Run) -> None:
        if run.configuration.made_up or any(guard.is_const and not guard.value for guard in run.configuration.guards):
            return
        spellings = Spellings(run.subject.options)
        for narrowed in self._narrowed(run):
            self._note(_of_host(narrowed, spellings), run.index)
        if run.is_refused or is_overflowed(run):
            return
        admitted = admitted_by(run)
        if is_known(run):
            for each in wrapped(run.executed, admitted):
                self._note(_of_launch(each, spellings), run.index)
            return
        for suspect in suspects(run.subject.function):
            if _is_admitted(suspect, admitted):
                self._note(_of_text(suspect, spellings), run.index)
        for product, stack in _of_open_sizes(run):
            if admitted.is_too_large(product):
                place = Place(*product.span)
                self._note(
                    Overflow(
                        place, spellings.of(place), "sizes", is_signed(product), frames_of(stack),
                        _first_factor(product),
                    ),
                    run.index,
                )  # fmt: skip

    @staticmethod
    def _narrowed(run: Run) -> Iterator[Narrowed]:
        """Of known numbers all that don't fit, and of others those that a thread each is launched for: of rows, and of
        the elements of tables, there are fewer."""
        known = run.subject.graph.narrowed
        if known:
            shared = {each for node in _shared_out(run.configuration.grid) for each in _below([node])}
            for node, each in narrowed_in(run.configuration, known):
                if each.value is not None or node in shared:
                    yield each

    def _note(self, fact: Overflow, launch: int) -> None:
        known = self.found.setdefault((fact.place, fact.ground), fact)
        if launch not in known.launches:
            self.found[fact.place, fact.ground] = replace(known, launches=(*known.launches, launch))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = sorted(self.found.values(), key=_rank)
        return replace(facts, overflows=tuple(found))


# --- host code -----------------------------------------------------------------------------------------


def narrowed_in(configuration: Configuration, known: Known) -> Iterator[tuple[Node, Narrowed]]:
    """What a launch is given, and its grid is made of, that was a number of elements in 64 bits; each once."""
    if not known:
        return
    given = [node for s, value in configuration.arguments.items() for _, node in nodes_in(value, Parameter(s))]
    for node in _below([*given, *configuration.grid]):
        narrowed = _nearest(configuration, known[node]) if node in known else None
        if narrowed is not None and (narrowed.wide is None or not _is_checked(configuration, narrowed.wide)):
            yield node, narrowed


def _nearest(configuration: Configuration, places: Sequence[Narrowed]) -> Narrowed:
    """Of several places the last one in front of a launch."""
    line = configuration.line or 0
    own = [
        each for each in places
        if each.expression.span.path == configuration.path and each.expression.span.line <= line
    ]  # fmt: skip
    return max(own, key=lambda each: each.expression.span.line) if own else places[0]


def _below(nodes: Sequence[Node]) -> Iterator[Node]:
    """What nodes are computed of, themselves included."""
    pending, seen = list(nodes), set[Node]()
    while pending and len(seen) < _MOST_NODES:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            yield node
            pending += node.args


def _shared_out(grid: Sequence[Node]) -> Iterator[Node]:
    """What blocks of several warps share out among them: what a grid divides by as many."""
    for node in _below(grid):
        if node.op == "/" and not (node.args[1].is_const and float(node.args[1].value) < WARP_LANES):
            yield node.args[0]


def _is_checked(configuration: Configuration, wide: Node) -> bool:
    """Whether the launch is made only where a number has been compared with what 32 bits hold."""
    return any(
        _names_limit(guard) and guard.bits & wide.bits for guard in configuration.guards
    )


def _names_limit(guard: Node) -> bool:
    return any(
        node.is_const and _INT_MAX - 1 <= float(node.value) <= _UINT_MAX + 1 for node in _below([guard])
    )


def is_overflowed(run: Run) -> bool:
    """Whether host code has cut off a launch's numbers: what the kernel does with them is wrong for that."""
    return any(each.value is not None for _, each in narrowed_in(run.configuration, run.subject.graph.narrowed))


# --- kernels -------------------------------------------------------------------------------------------


def is_known(run: Run) -> bool:
    """Whether a launch in sight has all of its numbers."""
    choices = run.executed.batch.worlds[0].values()
    return run.configuration.source in _SEEN and all(choice.basis == "given" for choice in choices)


def admitted_by(run: Run) -> Admitted:
    """How large values may be under a launch."""
    configuration, text = run.configuration, text_of(run.subject.function)
    is_seen = configuration.source in _SEEN
    numbers: dict[Parameter, float] = {}
    for symbol, value in configuration.arguments.items():
        for parameter, node in nodes_in(value, Parameter(symbol)):
            if parameter is not None and not node.kind.is_float:
                numbers[parameter] = _finite(upper(node))
    x, y, z = (
        min(float(limit), upper(node)) if is_seen or (node.is_const and node.value == 1) else float(limit)
        for node, limit in zip(configuration.grid, run.subject.target.max_grid_dimensions, strict=True)
    )
    return Admitted(text, numbers, configuration.block, (x, y, z))


def _of_open_sizes(run: Run) -> Iterator[tuple[ir.Binary, Stack]]:
    """The products of 32 bits of several sizes of a launch in sight that nobody bounds."""
    if run.configuration.source not in _SEEN:
        return
    text, graph = text_of(run.subject.function), run.subject.graph
    nodes = {
        parameter: node
        for symbol, value in run.configuration.arguments.items()
        for parameter, node in nodes_in(value, Parameter(symbol))
        if parameter is not None
    }
    for product, stack in products_of_sizes(run.subject.function):
        own = [nodes[source] for source in text.uses.origins.of(product).sources if source in nodes]
        own += [run.configuration.grid[axis] for axis in axes_in(product, text)]
        symbols = graph.atoms(bits_of(own), graph.uniform_bits)
        if sum(not symbol.kind.is_float and not graph.choice(symbol).is_default for symbol in symbols) >= _SEVERAL:
            yield product, stack


def _finite(number: float) -> float:
    return number if math.isfinite(number) else float(most_of(I8))


def _is_admitted(suspect: Suspect, admitted: Admitted) -> bool:
    if suspect.size is not None:
        largest = admitted.largest(suspect.size)
        if largest is not None and largest <= _INT_MAX:
            return False
    return suspect.goes_on or admitted.is_too_large(suspect.node)


# --- facts ---------------------------------------------------------------------------------------------


def _of_host(narrowed: Narrowed, spellings: Spellings) -> Overflow:
    place = Place(*narrowed.expression.span)
    return Overflow(
        place, spellings.of(place), "count" if narrowed.value is None else "launch", narrowed.kind.code == "i",
        value=narrowed.value, in_host=True, is_converted=not narrowed.is_product, is_explicit=narrowed.is_explicit,
        first_factor=_first_factor(narrowed.expression) if narrowed.is_product else None,
    )  # fmt: skip


def _of_launch(found: Wrapped, spellings: Spellings) -> Overflow:
    node = found.node.operand if isinstance(found.node, ir.Cast) else found.node
    place = Place(*node.span)
    is_converted = isinstance(found.node, ir.Cast)
    return Overflow(
        place, spellings.of(place), "launch", is_signed(found.node), frames_of(found.stack),
        _first_factor(node) if found.is_direct and not is_converted else None, value=found.value,
        thread=found.thread, block=found.block, is_converted=is_converted,
        accesses=tuple(dict.fromkeys(Place(*span) for span in found.accesses)),
    )  # fmt: skip


def _of_text(suspect: Suspect, spellings: Spellings) -> Overflow:
    place = Place(*suspect.node.span)
    because = Place(*suspect.because.span) if suspect.because is not None else None
    return Overflow(
        place, spellings.of(place), suspect.ground, is_signed(suspect.node) or suspect.ground == "guard",
        frames_of(suspect.stack), _first_factor(suspect.node) if suspect.ground != "guard" else None, because,
        spellings.of(because) if because is not None else "", is_requirement=suspect.is_requirement,
    )  # fmt: skip


def _first_factor(expr: ir.Expr) -> Place | None:
    """The factor at which a product begins, if nothing encloses it."""
    while isinstance(expr, (ir.Binary, ir.Cast)):
        if isinstance(expr, ir.Cast):
            if expr.explicit:
                break
            expr = expr.operand
        elif expr.op in ("*", "+", "-", "<<"):
            expr = expr.left
        else:
            return None
    return Place(*expr.span) if bytes_of(expr) else None


def _rank(fact: Overflow) -> tuple[object, ...]:
    """The surest first, and what others come of before these."""
    return fact.ground != "launch", not fact.in_host, fact.place
