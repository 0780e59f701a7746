"""The accesses of a kernel whose pitch is another size than the row's length.

This is a property of the kernel, whichever numbers a launch gives it.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, PitchMismatch, Place
from cudalint.host.executor.checked_sizes import equal
from cudalint.host.values.nodes import without_cast
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import nodes_in
from cudalint.measure.access_places import frames_of
from cudalint.measure.pitches import Mismatch, pitch_mismatches
from cudalint.measure.providers.provider import Provider, Run
from cudalint.worlds.records import Parameter


class PitchCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "pitches"
    found: list[PitchMismatch] = field(default_factory=list)

    def add(self, run: Run) -> None:
        if run.is_refused:
            return
        configuration, function = run.configuration, run.subject.function
        # Launches of one block are alike, and so are the instantiations of a template.
        like = function.span, configuration.block
        if like in run.subject.right_pitches or (function.span, None) in run.subject.right_pitches:
            return
        known = configuration.source != "default"
        found = pitch_mismatches(function, run.executed.batch, run.compiled.program, known)
        if found is None:
            # With other blocks its loops are as long.
            run.subject.right_pitches.add((function.span, None))
            return
        if not found:
            run.subject.right_pitches.add(like)
        facts: dict[object, PitchMismatch] = {}
        for each in found:
            if not _are_equal(each, configuration):
                fact = _fact(each, run)
                facts.setdefault((fact.place, fact.inlined_from), fact)
        self.found += facts.values()

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, pitches=tuple(self.found))


def _fact(each: Mismatch, run: Run) -> PitchMismatch:
    other = each.by_other.node.span if each.by_other is not None else None
    return PitchMismatch(
        Place(*each.site.node.span),
        frames_of(each.site.stack),
        each.site.operation,
        each.site.allocation.name,
        run.index,
        each.pitch.name,
        each.length.name,
        Place(*other) if other is not None else None,
    )


def _are_equal(each: Mismatch, configuration: Configuration) -> bool:
    """Whether the host only goes on to the launch where both are one number."""
    nodes = {
        parameter: without_cast(node)
        for symbol, value in configuration.arguments.items()
        for parameter, node in nodes_in(value, Parameter(symbol))
        if parameter is not None
    }
    both = {nodes.get(each.pitch), nodes.get(each.length)}
    sides = (pair for guard in configuration.guards for pair in equal(guard))
    return any({without_cast(side) for side in pair} == both for pair in sides)
