"""How many threads of a block come to the functions that it computes together, and which block those were made for.

Source: CUB 3.0, "Block-wide primitives": where a block's extents stand among the arguments of its classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple

from cudalint.execute.library.common import class_of
from cudalint.execute.trace import Stack, Trace
from cudalint.facts import Place
from cudalint.facts.collectives import CollectiveCall, CollectiveResult
from cudalint.kinds import Kind
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Run, SiteProvider


class CollectiveCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "collectives"
    into: ClassVar[str] = "collectives"

    def add(self, run: Run) -> None:
        for call, threads in collectives_of(run.executed.trace).items():
            place, frames = Place(*call.node.span), frames_of(call.stack)
            key = place, frames, call.name, call.made_for, call.or_fewer
            known = self.found.get(key)
            is_new = threads and (known is None or all(result.launch != run.index for result in known.results))
            result = CollectiveResult(run.index, threads, run.launch.assumptions) if is_new else None
            self.note(key, CollectiveCall(place, call.name, call.made_for, call.or_fewer, frames, ()), result)

    @staticmethod
    def rank(fact: CollectiveCall) -> tuple[object, ...]:
        return fact.place, fact.inlined_from


# --- what the trace shows ------------------------------------------------------------------------------


_EXTENTS: Final[Mapping[str, tuple[int, int, int]]] = {
    "BlockReduce": (1, 3, 4), "BlockScan": (1, 3, 4), "BlockLoad": (1, 4, 5), "BlockStore": (1, 4, 5),
    "BlockExchange": (1, 4, 5), "BlockRadixSort": (1, 8, 9), "BlockMergeSort": (1, 4, 5), "BlockHistogram": (1, 5, 6),
    "BlockAdjacentDifference": (1, 2, 3), "BlockDiscontinuity": (1, 2, 3), "BlockShuffle": (1, 2, 3),
}  # fmt: skip


class Collective(NamedTuple):
    """A call that the threads of a block make together."""

    node: Any
    stack: Stack
    name: str
    """Of the class."""
    made_for: tuple[int, int, int]
    or_fewer: bool
    """It says how many threads have something to add."""


def collectives_of(trace: Trace) -> dict[Collective, int]:
    """The most threads of a block that come to each of them at once."""
    found: dict[Collective, int] = {}
    for event in trace.barriers:
        if not event.is_implied or event.scope != "block" or event.kind != "cooperative-groups":
            continue
        made = _made_for(event.made_by)
        if made is None:
            continue
        name, extents = made
        call = Collective(event.node, event.stack, name, extents, event.made_by.name == "_wait_for_some")
        found[call] = max(found.get(call, 0), int(event.mask.sum(axis=1).max()))
    return found


def _made_for(call: Any) -> tuple[str, tuple[int, int, int]] | None:
    """The block for which the object's type is made; an extent that isn't written is 1."""
    name, full = class_of(getattr(call, "receiver", None))
    places = _EXTENTS.get(name)
    if places is None:
        return None
    written = template_arguments(full)
    x, y, z = (_whole(written[place]) if place < len(written) else 1 for place in places)
    if len(written) <= places[0] or not x or not y or not z:
        return None
    return name, (x, y, z)


def template_arguments(name: str) -> list[str]:
    """Of `BlockReduce<Pair<int, float>, 128>` the two."""
    inner = name.partition("<")[2].rpartition(">")[0]
    depth, found = 0, [""]
    for letter in inner:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found]


def _whole(text: str) -> int | None:
    return int(text) if text.isdigit() else None
