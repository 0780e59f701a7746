"""The facts of kernels for reports that show them: what is drawn, and no more of it than fits in a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from cudalint.facts import Access, AccessResult, FileFacts, KernelFacts, Sample
from cudalint.hardware.banks import BANK_BYTES
from cudalint.hardware.features import target_for
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.targets import find_target
from cudalint.kinds import NO_KIND
from cudalint.report.findings.results import ShownKernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_REQUESTS = 4
"""Different requests of an access under one launch that can be looked at."""


def shown(facts: FileFacts, target: str) -> tuple[ShownKernel, ...]:
    """The kernels of a file that was analysed for a target, as a report shows them."""
    configured = find_target(target)
    return tuple(
        ShownKernel(_slim(kernel), (target_for(configured, kernel.need) or configured).name) for kernel in facts.kernels
    )


def _slim(kernel: KernelFacts) -> KernelFacts:
    return replace(
        kernel,
        accesses=tuple(map(_slim_access, kernel.accesses)),
        parameters=(),
        unmasked_calls=(),
        absent_lanes=(),
        need=None,
        collected=NO_KIND,
    )


def _slim_access(access: Access) -> Access:
    return replace(access, results=tuple(_slim_result(result, access) for result in access.results))


def _slim_result(result: AccessResult, access: Access) -> AccessResult:
    if result.sample is None:
        return result
    rows = list(_different(result.sample, access))
    return replace(result, sample=requests_of(result.sample, rows))


def requests_of(sample: Sample, rows: Sequence[int]) -> Sample:
    """The requests with these positions alone, without what no picture shows of them."""
    index = list(rows)
    return Sample(sample.addresses[index], sample.mask[index], sample.weights[index], sample.warps[index])


def _different(sample: Sample, access: Access) -> Iterator[int]:
    """The positions of requests that look different, in the order of the sample."""
    seen: set[bytes] = set()
    for row in range(len(sample.mask)):
        look = look_of(sample.addresses[row], sample.mask[row], access.space == "shared")
        if look not in seen:
            seen.add(look)
            yield row
            if len(seen) == MOST_REQUESTS:
                return


def look_of(addresses: NDArray[Any], mask: NDArray[Any], is_shared: bool) -> bytes:
    """What is the same for requests that differ by their distance alone, in whole banks or sectors. Empty for those
    without an active lane."""
    if not mask.any():
        return b""
    unit = BANK_BYTES if is_shared else SECTOR_BYTES
    first = int(addresses[mask].min()) // unit * unit
    moved = addresses - first
    moved[~mask] = -1
    return bytes(moved.tobytes())
