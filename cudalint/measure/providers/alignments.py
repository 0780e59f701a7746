"""The accesses of a kernel whose address is no multiple of their width, or not for all arguments."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from cudalint.facts import Misalignment, Place
from cudalint.hardware.banks import BANK_BYTES
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.measure.alignment import Misaligned, misaligned
from cudalint.measure.executed import Executed
from cudalint.measure.numbers import parameters_of
from cudalint.measure.places import frames_of, name_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.smaller_blocks import one_warp_less


class AlignmentCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "alignments"
    into: ClassVar[str] = "misalignments"

    # By place and launch: the first execution of an access that goes wrong stands for the others.

    def add(self, run: Run) -> None:
        if run.is_refused or run.executed.batch.is_contradicted:
            return
        executed = run.executed
        found = _misaligned(executed, run.configuration)
        if run.configuration.assumptions and found:
            found = _with_any_block(found, run)
        for each in found:
            self._note(_fact(each, run), run)
        if not found and _is_wide_in_shared(executed):
            for other, sizes in one_warp_less(run):
                for each in _misaligned(other, run.configuration):
                    fact = replace(_fact(each, run), values=sizes, in_blocks=other.batch.block)
                    if fact.space == "shared" and fact.condition is None:
                        self._note(fact, run)

    def _note(self, fact: Misalignment, run: Run) -> None:
        self.note((fact.place, fact.inlined_from, fact.array, run.index), fact)

    @staticmethod
    def rank(fact: Misalignment) -> tuple[object, ...]:
        return fact.place, fact.inlined_from, fact.launch


def _is_wide_in_shared(executed: Executed) -> bool:
    """Whether several banks of shared memory are accessed at once."""
    return any(event.allocation.space == "shared" and event.bytes > BANK_BYTES for event in executed.trace.accesses)


def _misaligned(executed: Executed, configuration: Configuration) -> list[Misaligned]:
    return list(misaligned(executed, sum(not extent.is_const for extent in configuration.grid)))


def _with_any_block(found: list[Misaligned], run: Run) -> list[Misaligned]:
    """What is misaligned under a block that is assumed is so for certain if it is with other blocks too: an address may
    be made of their size."""
    for other in run.with_other_blocks():
        if not found:
            break
        again = {(each.found.site.node, each.found.site.stack) for each in _misaligned(other, run.configuration)}
        found = [each for each in found if (each.found.site.node, each.found.site.stack) in again]
    return found


def _fact(each: Misaligned, run: Run) -> Misalignment:
    found, batch = each.found, run.executed.batch
    site, offender, numbers = found.site, found.offender, batch.numbers[found.first]
    needed = each.requirement
    given = {name: values[found.first] for name, values in parameters_of(batch).items()}
    values = [(name, numbers.get(name, given.get(name))) for name in (needed.names if needed is not None else ())]
    return Misalignment(
        Place(*site.node.span),
        frames_of(site.stack),
        "shared" if site.allocation.space == "shared" else "global",
        site.operation,
        name_of(site.node, site.stack, site.allocation, batch),
        each.width,
        run.index,
        needed.text if needed is not None else None,
        offender.thread,
        offender.block,
        None if each.is_by_data else offender.offset,
        each.base,
        tuple((name, int(value)) for name, value in values if value is not None),
        run.configuration.assumptions,
    )
