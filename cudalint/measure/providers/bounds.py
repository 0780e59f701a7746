"""The accesses of a kernel that leave an array of known size."""

from __future__ import annotations

from typing import ClassVar

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import Stack
from cudalint.facts import OutOfBounds, Place
from cudalint.host.executor.checked_sizes import equal
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.nodes import bits_of, without_cast
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import nodes_in
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.launches.open_numbers import nodes_in as numbers_in
from cudalint.measure.bounded_data import LedOutside, led_outside
from cudalint.measure.bounds import Addresses, Leaving, Sizes, leaving
from cudalint.measure.executed import Executed
from cudalint.measure.numbers import elements_text, numbers_of, parameters_of
from cudalint.measure.places import declared_type, frames_of, made_at, name_of, space_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.worlds.records import Parameter

_ONE_THREAD = 1, 1, 1
"""What that does, a thread of any block does."""


class BoundsCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "bounds"
    into: ClassVar[str] = "out_of_bounds"

    # By place and launch: the first execution of an access that leaves its array stands for the others.

    def add(self, run: Run) -> None:
        configuration = run.configuration
        if run.is_refused or configuration.guesses or configuration.made_up or _is_never_made(run):
            return
        found = _leaving(run.executed, run)
        if _is_made_up(configuration):
            found = _with_any_block(found, run)
        elif configuration.assumptions and not configuration.by_default:
            # A tail that no guard keeps inside is there with whatever block.
            found = [each for each in found if each.kind == "tail"]
        facts = [_fact(each, run, run.executed) for each in found]
        if not any(fact.space == "global" for fact in facts):
            facts += _with_options(run)
        for fact in facts:
            self.note((fact.place, fact.inlined_from, fact.array, run.index), fact)
        self._add_led(run)

    def _add_led(self, run: Run) -> None:
        executed = run.executed
        for led in led_outside(executed.seen, Sizes.of(executed.batch, False)):
            fact = _led_fact(led, run)
            self.note((fact.place, fact.inlined_from, fact.array, run.index), fact)

    @staticmethod
    def rank(fact: OutOfBounds) -> tuple[object, ...]:
        return fact.place, fact.inlined_from, fact.launch


def _leaving(executed: Executed, run: Run, open_: OpenNumbers | None = None) -> list[Leaving]:
    configuration = run.configuration
    open_ = open_ if open_ is not None else run.chosen.space.open
    addresses = Addresses(executed.function, executed.batch, _given_by(configuration, open_))
    return leaving(executed.trace, executed.batch, addresses, configuration.source in ("launch-site", "recorded"))


def _given_by(configuration: Configuration, open_: OpenNumbers) -> frozenset[str]:
    """The numbers among the kernel's parameters that a launch gives, by itself or unless an option says otherwise, or
    that its conditions leave no choice of."""
    unknown = open_.open_bits | open_.graph.opaque_bits
    fixed = {
        without_cast(side)
        for guard in configuration.guards
        for pair in equal(guard)
        for side, other in (pair, pair[::-1])
        if other.is_const
    }
    return frozenset(
        parameter.name
        for symbol, value in configuration.arguments.items()
        for parameter, node in numbers_in(value, Parameter(symbol))
        if parameter is not None
        and (configuration.worlds or not node.bits & unknown or without_cast(node) in fixed)
    )


def _with_options(run: Run) -> list[OutOfBounds]:
    """The tails that no guard keeps inside, which nobody sees as long as the program has the sizes that it has by
    default: blocks divide them, and no check in sight asks that of others."""
    graph, configuration = run.subject.graph, run.configuration
    grid = graph.atoms(bits_of(configuration.grid), graph.uniform_bits)
    sizes = [each for each in grid if graph.choice(each).basis == "program" and each.kind.code in "iu"]
    touches_memory = any(event.allocation.space == "global" for event in run.executed.trace.accesses)
    if not sizes or configuration.worlds or not touches_memory or not run.may_be_tried():
        return []
    chosen = run.with_statements([graph.binary(">=", each, graph.const(1, each.kind), BOOL) for each in sizes])
    found = _leaving(chosen.executed, run, chosen.space.open)
    return [_fact(each, run, chosen.executed) for each in found if each.kind == "tail"]


def _is_made_up(configuration: Configuration) -> bool:
    """Whether nobody launches the kernel in sight, and nobody says how."""
    return configuration.path is None and configuration.source in ("default", "inferred", "launch-bounds")


def _is_never_made(run: Run) -> bool:
    """Whether the host code never gets there, or there are no blocks."""
    configuration = run.configuration
    if run.executed.batch.is_contradicted:
        return True
    if any(guard.is_const and not guard.value for guard in configuration.guards):
        return True
    return any(extent.is_const and extent.value < 1 for extent in configuration.grid)


def _with_any_block(found: list[Leaving], run: Run) -> list[Leaving]:
    """What leaves its array under a block that was made up does so for certain if it is the same element with other
    blocks too: an index may be made of their size."""
    found = [each for each in found if each.kind == "always" and len(set(each.extents)) == 1]
    for other in run.with_other_blocks(_ONE_THREAD) if found else ():
        if not found:
            break
        again = {(each.site.node, each.site.stack): each for each in _leaving(other, run)}
        found = [each for each in found if _is_same(each, again.get((each.site.node, each.site.stack)))]
    return found


def _is_same(one: Leaving, other: Leaving | None) -> bool:
    return other is not None and other.offender.offset == one.offender.offset


def _fact(found: Leaving, run: Run, executed: Executed) -> OutOfBounds:
    """Of what an execution under a launch shows."""
    site, batch, offender = found.site, executed.batch, found.offender
    array, kernel = site.allocation, run.subject.function
    extent = found.extents[found.world] or 0
    element = _element(array, site.bytes, kernel)
    scale = element if array.space == "local" else 1
    declared = array.symbol if array.space != "local" or isinstance(array.type, ir.ArrayType) else None
    span, calls = _made_at(found, executed)
    return OutOfBounds(
        Place(*span),
        frames_of(calls),
        space_of(array) if array.space != "nowhere" else "global",
        site.operation,
        name_of(site.node, site.stack, array, batch),
        run.index,
        found.kind,
        offender.thread,
        offender.block,
        offender.offset // scale,
        max(1, site.bytes // scale),
        extent // scale,
        element // scale,
        elements_text(found.extents, element, numbers_of(batch)),
        found.values,
        found.condition,
        found.is_allocated,
        Place(*_declared_at(declared, kernel)) if declared is not None else None,
        _dimensions(array.type) if array.space != "local" else 1,
        elements_text(found.extents, element, parameters_of(batch)) if len(set(found.extents)) > 1 else None,
        _defaults(run),
    )


def _defaults(run: Run) -> tuple[tuple[str, int], ...]:
    """What the kernel is given unless an option says otherwise, by the names of its parameters."""
    graph, parameters = run.subject.graph, run.chosen.space.open.parameters
    given = _given_by(run.configuration, run.chosen.space.open)
    by_default = {each.name for each, node in parameters.items() if graph.rests_on_defaults(node)} & given
    numbers = parameters_of(run.executed.batch)
    return tuple((name, int(values[0])) for name, values in numbers.items() if name in by_default)


def _led_fact(led: LedOutside, run: Run) -> OutOfBounds:
    event, array, kernel = led.event, led.event.allocation, run.subject.function
    element = _element(array, event.bytes, kernel)
    return OutOfBounds(
        Place(*event.node.span), frames_of(event.stack), space_of(array), event.operation,
        name_of(event.node, event.stack, array, run.executed.batch), run.index, "data", led.thread, led.block,
        led.offset, event.bytes, led.extent, element, None, (), None, True,
        Place(*_declared_at(array.symbol, kernel)) if array.symbol is not None else None, _dimensions(array.type),
    )  # fmt: skip


def _made_at(found: Leaving, executed: Executed) -> tuple[ir.Span, Stack]:
    """Where the address is made, and the calls that lead there."""
    site = found.site
    for event in executed.trace.accesses:
        if event.node is site.node and event.allocation is site.allocation and event.stack == site.stack:
            return made_at(event)
    return site.node.span, site.stack


def _element(array: Allocation, bytes_: int, kernel: ir.Function) -> int:
    """Bytes of what an array is declared to hold, or those of an access."""
    type_ = array.type if array.type is not None else declared_type(array, kernel)
    while isinstance(type_, ir.ArrayType):
        type_ = type_.element
    return (type_.bytes if type_ is not None else 0) or bytes_


def _declared_at(symbol: ir.Symbol, kernel: ir.Function) -> ir.Span:
    """Where an array is declared, in its kernel if there: `extern __shared__` arrays of one name are one symbol,
    whatever functions declare them."""
    if symbol.storage != "dynamic-shared":
        return symbol.span
    own = (node.span for node in nodes_in(kernel) if isinstance(node, st.Declare) and node.symbol is symbol)
    return next(own, symbol.span)


def _dimensions(type_: ir.Type | None) -> int:
    count = 0
    while isinstance(type_, ir.ArrayType):
        type_, count = type_.element, count + 1
    return count
