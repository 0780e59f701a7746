"""What several rules share: which results they may rely on, how much an access weighs, how figures are written."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from cudalint.diagnostics import Picture, Related, Suggestion
from cudalint.facts import (
    Access,
    AccessResult,
    ArrayFacts,
    BarrierResult,
    Branch,
    Frame,
    KernelFacts,
    LaunchFacts,
    Place,
    Sample,
)
from cudalint.hardware.banks import SharedOperation, shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import global_request
from cudalint.hardware.warps import thread_index
from cudalint.numerals import count as count
from cudalint.numerals import figure as figure

WITH_FIGURES = frozenset({"exact", "assumed", "range"})
"""The statuses whose figures stand for every request that the launch makes."""


class Evaluated(NamedTuple):
    """An access under one launch for which the model has figures."""

    access: Access
    result: AccessResult
    launch: LaunchFacts


def picture_of(access: Access, sample: Sample | None) -> Picture | None:
    """Of the requests of a sample that which takes most sectors of global memory, or most wavefronts of shared memory;
    None without a sample, and for accesses to other memory."""
    if sample is None or not len(sample.weights) or access.space not in ("shared", "global"):
        return None
    taken: NDArray[Any]
    if access.space == "shared":
        taken, _ = shared_request(sample.addresses, sample.mask, access.bytes, access.operation)
    else:
        taken, _ = global_request(sample.addresses, sample.mask, access.bytes)
    worst = int(taken.argmax())
    kind: Literal["banks", "sectors"] = "banks" if access.space == "shared" else "sectors"
    return Picture(kind, sample, worst, access.bytes, float(taken[worst]))


class Cost(NamedTuple):
    """Sectors or wavefronts per request, and the fewest possible."""

    actual: float
    ideal: float


Figures = Callable[[AccessResult], Cost]
"""Reads the cost of a result that has figures."""


def sectors(result: AccessResult) -> Cost:
    return Cost(result.sectors_per_request or 0.0, result.ideal_sectors or 1.0)


def wavefronts(result: AccessResult) -> Cost:
    return Cost(result.wavefronts_per_request or 0.0, result.ideal_wavefronts or 1.0)


def evaluated(kernel: KernelFacts, space: str) -> Iterator[Evaluated]:
    """The accesses of one memory space that have figures, launch by launch."""
    for access in kernel.accesses:
        if access.space != space:
            continue
        for result in _of_launches(access.results) if space == "shared" else access.results:
            is_known = access.per_request(result).actual is not None
            if result.status in WITH_FIGURES and is_known and result.reason_kind != "estimate":
                yield Evaluated(access, result, kernel.launches[result.launch])


def _of_launches(results: Iterable[AccessResult]) -> Iterator[AccessResult]:
    """One result for each launch: the copies that unrolling makes of an access are one access to a reader."""
    for _, group in itertools.groupby(results, lambda result: result.launch):
        copies = list(group)
        total = sum(copy.requests or 0.0 for copy in copies)
        if len(copies) == 1 or not total:
            yield from copies
            continue
        actual, ideal = (sum((copy.requests or 0.0) * wavefronts(copy)[i] for copy in copies) / total for i in (0, 1))
        worst = max(copies, key=lambda copy: wavefronts(copy).actual)
        yield replace(
            worst, wavefronts_per_request=actual, ideal_wavefronts=ideal, conflict_ways=actual / ideal, requests=total
        )


def is_rare(
    kernel: KernelFacts, one: Evaluated, everything: Sequence[Evaluated], figures: Figures, share: float
) -> bool:  # fmt: skip
    """Whether the excess of an access is under this share of what the kernel's costliest access costs. What is only
    made with other sizes is compared with what others take with those.
    """
    if one.result.requests is None:
        return False
    actual, ideal = figures(one.result)
    if one.result.beside is not None:
        return one.result.requests * (actual - ideal) < share * one.result.beside
    parts = next((cost.shares for cost in kernel.costs or () if cost.launch == one.result.launch), {})
    # Of loops of unknown length, as many turns count as the cost model takes them to have.
    counted = {
        id(each): (each.result.requests or 0.0) * parts.get((each.access.place, each.access.inlined_from), 1.0)
        for each in (one, *everything)
        if each.result.launch == one.result.launch
    }
    others = (each for each in everything if id(each) in counted)
    costliest = max((counted[id(each)] * figures(each.result).actual for each in others), default=0.0)
    return counted[id(one)] * (actual - ideal) < share * costliest


# --- the model on changed addresses --------------------------------------------------------------------


def mean_sectors(addresses: NDArray[np.int64], sample: Sample, width: int) -> float:
    """Sectors per request, if the sample's requests went to these addresses."""
    touched, _ = global_request(addresses, sample.mask, width)
    return _weighted(touched, sample.weights)


def mean_wavefronts(addresses: NDArray[np.int64], sample: Sample, width: int, operation: SharedOperation) -> float:
    """Wavefronts per request, if the sample's requests went to these addresses."""
    taken, _ = shared_request(addresses, sample.mask, width, operation)
    return _weighted(taken, sample.weights)


def _weighted(figures: NDArray[np.int64] | NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float((figures * weights).sum() / weights.sum())


def thread_indices(
    sample: Sample, block: tuple[int, int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """`threadIdx` of every lane of the sample's requests, each [n, 32]; lanes past the block run on in z."""
    linear = sample.warps[:, None] * WARP_LANES + np.arange(WARP_LANES)
    return thread_index(linear, block)


# --- wording ---------------------------------------------------------------------------------------------


def noun(access: Access) -> str:
    """What to call the access in a sentence."""
    return {"load": "load", "store": "store", "atomic": "atomic operation", "async-copy": "asynchronous copy"}[
        access.operation
    ]


class Blamed(NamedTuple):
    """Where a finding about an access stands: where its address is made."""

    place: Place
    related: tuple[Related, ...]
    """The access itself, where its address is made elsewhere, and the calls that lead there, innermost first."""


def blamed(access: Access) -> Blamed:
    if access.made_at is None or access.made_at == access.place:
        return Blamed(access.place, frames_related(access.inlined_from))
    return Blamed(access.made_at, (Related(access.place, f"the {noun(access)}"), *frames_related(access.made_through)))


def call_sites(access: Access | Branch) -> tuple[Related, ...]:
    """The calls through which a kernel gets to a place in a device function, innermost first."""
    return frames_related(access.inlined_from)


def frames_related(frames: Iterable[Frame]) -> tuple[Related, ...]:
    return tuple(Related(frame.place, "called from here") for frame in frames)


def parted(result: BarrierResult) -> str:
    """How data splits the threads that a barrier waits for."""
    how = "and their own numbers together with it" if result.parting == "number" else "by each for itself"
    return f"{result.source}, {how}"


def with_values(values: Iterable[tuple[str, int]]) -> str:
    """The arguments of an example."""
    named = ", ".join(f"{name} = {value}" for name, value in values)
    return f", with {named}" if named else ""


def in_kernel(kernel: KernelFacts, cause: str) -> str:
    """A cause of findings in one kernel and all instantiations of it."""
    return f"{kernel.place.path}:{kernel.place.line}: {cause}"


def in_function(access: Access, cause: str) -> str:
    """A cause of findings in the function that makes an access, whatever kernels call it."""
    return f"{access.place.path}: {access.function}: {cause}"


def what_is_asked(suggestion: Suggestion | None) -> str:
    """What a suggestion asks for, whichever the array and whatever it brings."""
    if suggestion is None:
        return ""
    text = re.sub(r"`[^`]*`", "_", suggestion.message)
    return re.sub(r"\b(load|store)(ed)?\b", "take", re.sub(r"\d+(\.\d+)?", "#", text))


def array_key(access: Access) -> tuple[str, Place | None]:
    """Equal for accesses of one array of a kernel."""
    declaration: ArrayFacts | None = access.declaration
    return access.array, declaration.place if declaration else None


def is_estimate(result: AccessResult) -> bool:
    """Whether the figure is what random data would cost: good for a table, and no ground for a finding."""
    return result.reason_kind in ("estimate", "activity")


def is_repeat(result: AccessResult) -> bool:
    """Whether the access makes no request of its own, as the value of another load is used."""
    return result.reason_kind == "repeat"
