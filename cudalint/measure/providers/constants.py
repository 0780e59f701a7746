"""Loads of constant memory: how many different words the lanes of a warp want at once, by world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cudalint.execute.trace import Trace
from cudalint.execute.values import Data
from cudalint.facts import Place
from cudalint.facts.constants import ConstantLoad, ConstantResult
from cudalint.kinds import Kind
from cudalint.measure.arrays import Weights
from cudalint.measure.distinct import Extent, Pattern, distinct_of, groups, merged, prints_of
from cudalint.measure.places import frames_of, spans_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.requests import AccessSite, sites
from cudalint.measure.sensitivity import where


class ConstantCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "constants"
    into: ClassVar[str] = "constants"

    def add(self, run: Run) -> None:
        for site, words in constant_loads(run.executed.trace):
            reached = words.requests > 0
            holds = [bool(words.most[world] > 1) if reached[world] else None for world in range(len(reached))]
            if not any(holds):
                continue
            world = holds.index(True)
            rests = where(holds, run.executed.batch.numbers)
            result = ConstantResult(
                run.index, float(words.mean[world]), int(words.most[world]), float(words.requests[world]),
                (rests.condition,) if rests.condition else (),
            )  # fmt: skip
            load = ConstantLoad(Place(*site.node.span), site.array, frames_of(site.stack), ())
            self.note((*spans_of(site.node, site.stack), site.array), load, result)


# --- what the trace shows ------------------------------------------------------------------------------


_WORD = 4


class Words(NamedTuple):
    """Of one load; arrays [W]."""

    requests: Weights
    """By warps."""
    mean: Weights
    """Different words that a warp wants at once."""
    most: Weights


def constant_loads(trace: Trace) -> Iterator[tuple[AccessSite, Words]]:
    """Those at addresses that are known, and that numbers alone decide about."""
    extent = Extent.of(trace.lanes)
    patterns: dict[int, Pattern] = {}
    for site, events in sites(trace).items():
        is_known = not any(isinstance(event.offset, Data) or event.data for event in events)
        if site.space != "constant" or site.operation != "load" or not is_known:
            continue
        parts = [distinct_of(group, prints_of(group), extent, _WORD) for group in groups(events, extent, patterns)]
        distinct = merged(parts, extent)
        wanted = _words(distinct.addresses, distinct.mask)
        requests = distinct.weights.sum(axis=0)
        mean = wanted @ distinct.weights / np.maximum(requests, np.finfo(np.float64).tiny)
        most = np.where(distinct.weights > 0, wanted[:, None], 0).max(axis=0, initial=0)
        yield site, Words(requests, mean, most)


def _words(addresses: Any, mask: Any) -> Any:
    """Of each request, the different words among its active lanes."""
    beyond = np.iinfo(np.int64).max
    words = np.sort(np.where(mask, addresses // _WORD, beyond), axis=1)
    is_new = np.diff(words, axis=1, prepend=-1) != 0
    return (is_new & (words != beyond)).sum(axis=1)
