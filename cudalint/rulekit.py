"""What several rules share: which results they may rely on, how much an access weighs, how figures are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudalint.facts import Access, AccessResult, ArrayFacts, KernelFacts, LaunchFacts, Place, Sample
from cudalint.hardware.banks import SharedOperation, shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import global_request

WITH_FIGURES = frozenset({"exact", "assumed", "range"})
"""The statuses whose figures stand for every request that the launch makes."""


class Evaluated(NamedTuple):
    """An access under one launch for which the model has figures."""

    access: Access
    result: AccessResult
    launch: LaunchFacts


def evaluated(kernel: KernelFacts, space: str) -> Iterator[Evaluated]:
    """The accesses of one memory space that have figures, launch by launch."""
    for access in kernel.accesses:
        if access.space != space:
            continue
        for result in access.results:
            if result.status in WITH_FIGURES:
                yield Evaluated(access, result, kernel.launches[result.launch])


def share_of_kernel(
    one: Evaluated,
    all_of_them: list[Evaluated],
    excess: Callable[[AccessResult], float],
    cost: Callable[[AccessResult], float],
) -> float:
    """The excess of one access as a share of what all accesses of its space cost under the same launch.

    A request whose number is not known counts once; if it is the access in question, its share is taken as whole.
    """
    if one.result.requests is None:
        return 1.0
    total = sum(
        (o.result.requests or 1.0) * cost(o.result) for o in all_of_them if o.result.launch == one.result.launch
    )
    return one.result.requests * excess(one.result) / total if total else 1.0


# --- the model on changed addresses --------------------------------------------------------------------


def mean_sectors(addresses: NDArray[np.int64], sample: Sample, width: int) -> float:
    """Sectors per request, if the sample's requests went to these addresses."""
    sectors, _ = global_request(addresses, sample.mask, width)
    return _weighted(sectors, sample.weights)


def mean_wavefronts(addresses: NDArray[np.int64], sample: Sample, width: int, operation: SharedOperation) -> float:
    """Wavefronts per request, if the sample's requests went to these addresses."""
    wavefronts, _ = shared_request(addresses, sample.mask, width, operation)
    return _weighted(wavefronts, sample.weights)


def _weighted(figures: NDArray[np.int64] | NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float((figures * weights).sum() / weights.sum())


def thread_indices(
    sample: Sample, block: tuple[int, int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """`threadIdx` of every lane of the sample's requests, each [n, 32]; lanes past the block run on in z."""
    linear = sample.warps[:, None] * WARP_LANES + np.arange(WARP_LANES)
    return linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])


# --- wording ---------------------------------------------------------------------------------------------


def figure(value: float) -> str:
    """A figure as short as it is right to two decimals: 32, 4.5, 0.33."""
    return f"{round(value, 2):g}"


def count(amount: float, singular: str, plural: str | None = None) -> str:
    """`1 sector`, `4.5 sectors`."""
    return f"{figure(amount)} {singular if round(amount, 2) == 1 else plural or singular + 's'}"


def noun(access: Access) -> str:
    """What to call the access in a sentence."""
    return {"load": "load", "store": "store", "atomic": "atomic operation", "async-copy": "asynchronous copy"}[
        access.operation
    ]


def array_key(access: Access) -> tuple[str, Place | None]:
    """Equal for accesses of one array of a kernel."""
    declaration: ArrayFacts | None = access.declaration
    return access.array, declaration.place if declaration else None


def is_repeat(result: AccessResult) -> bool:
    """Whether the access makes no request of its own, as an earlier load of the same value is still at hand."""
    return result.status == "unknown" and (result.reason or "").startswith("it repeats the load")
