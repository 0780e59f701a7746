"""All providers of facts, and which of them collect the kinds that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from cudalint.collect.accesses import AccessCollector
from cudalint.collect.alignments import AlignmentCollector
from cudalint.collect.barriers import BarrierCollector
from cudalint.collect.bounds import BoundsCollector
from cudalint.collect.branches import BranchCollector
from cudalint.collect.pitches import PitchCollector
from cudalint.collect.provider import Provider
from cudalint.collect.races import RaceCollector
from cudalint.collect.resources import OccupancyCollector
from cudalint.facts.kinds import Kind

PROVIDERS: Final[Sequence[type[Provider]]] = (
    AccessCollector,
    BranchCollector,
    AlignmentCollector,
    BoundsCollector,
    PitchCollector,
    BarrierCollector,
    RaceCollector,
    OccupancyCollector,
)
"""In the order in which they are shown a launch; what one needs comes before it."""


def providers_of(kinds: Iterable[Kind]) -> list[type[Provider]]:
    """The providers of some kinds and of all that these need."""
    by_kind = {provider.kind: provider for provider in PROVIDERS}
    wanted: set[Kind] = set()
    pending = list(kinds)
    while pending:
        kind = pending.pop()
        if kind not in wanted:
            wanted.add(kind)
            pending += by_kind[kind].needs
    return [provider for provider in PROVIDERS if provider.kind in wanted]
