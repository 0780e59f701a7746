"""Arrays of threads that are indexed by what isn't known when the kernel is compiled, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from cudalint.facts import Place
from cudalint.facts.local_arrays import IndexedAccess, LocalArray, LocalArrayResult
from cudalint.kinds import Kind
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.work.local_arrays import LaidArray, local_arrays, requests_of


class LocalArrayCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "local_arrays"
    into: ClassVar[str] = "local_arrays"

    def add(self, run: Run) -> None:
        if run.subject.is_over():
            return
        executed = run.executed
        arrays = local_arrays(executed.laid)
        if not arrays:
            return
        lengths = (length.assumption for length in run.lengths.found.values())
        assumptions = tuple(dict.fromkeys((*run.launch.assumptions, *lengths)))
        found = requests_of(arrays, executed.laid, run.lengths.counted())
        for each, requests in zip(arrays, found, strict=True):
            result = LocalArrayResult(run.index, requests, run.work().total, assumptions) if requests else None
            self.note(each.symbol.span, _fact(each), result)


def _fact(array: LaidArray) -> LocalArray:
    accesses = {
        IndexedAccess(Place(*each.node.span), frames_of(each.stack), each.operation): None for each in array.accesses
    }
    return LocalArray(
        Place(*array.symbol.span), array.symbol.name, array.bytes, array.elements, tuple(accesses), array.is_small
    )
