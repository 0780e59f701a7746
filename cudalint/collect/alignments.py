"""The accesses of a kernel whose address is no multiple of their width, or not for all arguments."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of, site_of
from cudalint.facts import KernelFacts, Misalignment, Place
from cudalint.kinds import Kind
from cudalint.measure.alignment import Misaligned, misaligned
from cudalint.measure.names import name_of
from cudalint.measure.numbers import parameters_of
from cudalint.measure.shared_layout import shared_layout


class AlignmentCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "alignments"
    found: dict[object, Misalignment] = field(default_factory=dict)
    """By place and launch; the first execution of an access that goes wrong stands for the others."""

    def add(self, run: Run) -> None:
        if run.is_refused:
            return
        function, executed = run.subject.function, run.executed
        layout = shared_layout(function, executed.trace)
        for each in misaligned(function, executed.trace, executed.batch, layout):
            fact = _fact(each, run)
            self.found.setdefault((fact.place, fact.inlined_from, fact.array, run.index), fact)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = sorted(self.found.values(), key=lambda m: (m.place, m.inlined_from, m.launch))
        return replace(facts, misalignments=tuple(found))


def _fact(each: Misaligned, run: Run) -> Misalignment:
    found, batch = each.found, run.executed.batch
    site, offender, numbers = found.site, found.offender, batch.numbers[found.first]
    span, calls = site_of(site.node, site.stack)
    needed = each.requirement
    given = {name: values[found.first] for name, values in parameters_of(batch).items()}
    values = [(name, numbers.get(name, given.get(name))) for name in (needed.names if needed is not None else ())]
    return Misalignment(
        Place(*span),
        frames_of(calls),
        "shared" if site.allocation.space == "shared" else "global",
        site.operation,
        name_of(site.node, site.stack, site.allocation, batch),
        each.width,
        run.index,
        needed.text if needed is not None else None,
        offender.thread,
        offender.block,
        offender.offset,
        each.base,
        tuple((name, int(value)) for name, value in values if value is not None),
        run.configuration.assumptions,
    )
