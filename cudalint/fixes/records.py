"""What each lane takes of a record of its own by several accesses, which together may waste nothing.

Three loads of the fields of a 12-byte record take 12 sectors per request each, three times what their bytes need; but
they are the same 12 sectors, of which every byte is used. L1 keeps them from one load to the next.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.facts import Access, KernelFacts, Sample
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.targets import Target
from cudalint.rulekit import Evaluated, array_key, evaluated

_STORED_BYTES = 16
"""Of a record that a thread stores in pieces: as many as reach the memory at its full speed."""


class Together(Struct, frozen=True):
    """What the accesses of one record move, for all requests of the sample."""

    requests: int
    """Of one of the accesses."""
    sectors: int
    """Distinct ones, each counted once for all accesses of a record."""
    ideal: int
    """The fewest that could hold the bytes."""
    length: int
    """Of a record, in bytes."""


def is_absorbed(kernel: KernelFacts, one: Evaluated, target: Target, factor: float, excess: float) -> bool:
    """Whether the caches make up for what one request wastes: the accesses of the kernel that lie beside it move no
    more than `factor` times the sectors that their bytes need, or `excess` more per request, and the records of all
    threads on an SM fit into its L1, which keeps their sectors from the first load to the last.

    Measured on an H100 (benchmarks/records.cu): records of up to 20 floats, loaded one by one, take the time that
    arrays of their fields take, and those of 32 floats, 256 KiB for 2048 threads, three times that. Stores are not
    kept: records of 4 floats take the time of arrays, those of 5 take 1.6 times that, of 6 2.5 and of 12 8.9 times.
    """
    together = taken_together(kernel, one)
    if together is None:
        return False
    if together.sectors > max(factor * together.ideal, together.ideal + excess * together.requests):
        return False
    if one.access.operation == "load":
        return together.length * target.max_warps_per_sm * WARP_LANES <= target.shared_per_sm
    return together.length <= _STORED_BYTES


def taken_together(kernel: KernelFacts, one: Evaluated) -> Together | None:
    """The requests of an access and of all that lie at a fixed distance from it; None where there are no others."""
    mine = one.result.sample
    if mine is None or not mine.mask.any() or one.access.operation == "atomic":
        return None
    starts, spans = parts(kernel, one, mine)
    if len(spans) < 2:
        return None
    return moved(starts, mine.mask, spans)


def moved(starts: NDArray[np.int64], mask: NDArray[np.bool_], spans: set[tuple[int, int]]) -> Together | None:
    """What requests [n, 32] move of which each lane takes these spans of bytes, each with its length, from where its
    own begin; None where nobody takes anything."""
    if not mask.any():
        return None
    # All begins and ends between pieces of so many bytes, of which there are fewer to be counted.
    piece = math.gcd(SECTOR_BYTES, *itertools.chain.from_iterable(spans), int(np.gcd.reduce(starts[mask])))
    offsets = np.unique(
        np.concatenate([np.arange(begin // piece, (begin + width) // piece) for begin, width in spans])
    )
    if not len(offsets):
        return None
    # A lane that isn't active counts as one does that is.
    of_an_active = np.take_along_axis(starts, mask.argmax(axis=1)[:, None], axis=1)
    begins = np.where(mask, starts, of_an_active)[mask.any(axis=1)] // piece
    touched = np.sort((begins[:, :, None] + offsets).reshape(len(begins), -1), axis=1)
    ideal = int(np.sum(-(-_distinct(touched) * piece // SECTOR_BYTES)))
    sectors = int(np.sum(_distinct(touched // (SECTOR_BYTES // piece))))
    return Together(len(starts), sectors, ideal, int(offsets[-1] - offsets[0] + 1) * piece)


def _distinct(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many different numbers there are in each row."""
    counts: NDArray[np.int64] = 1 + np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    return counts


def takes_most(kernel: KernelFacts, one: Evaluated, length: int) -> bool:
    """Whether each lane makes accesses like this one to more than half of the bytes of its own record, which is
    `length` bytes long: as a whole, records are nothing that fields in arrays of their own would save."""
    mine = one.result.sample
    if mine is None or not mine.mask.any():
        return False
    spans = parts(kernel, one, mine)[1]
    return 2 * len({byte % length for begin, width in spans for byte in range(begin, begin + width)}) > length


def parts(kernel: KernelFacts, one: Evaluated, sample: Sample) -> tuple[NDArray[np.int64], set[tuple[int, int]]]:
    """What each lane takes around an access: where that begins, [n, 32], and spans of bytes from there on, each with
    its length. Of a struct that is loaded or stored as a whole these are its parts, else the accesses beside it."""
    starts, spans = _pieces(one, sample)
    if len(spans) > 1:
        return starts, spans
    return sample.addresses, {(distance, other.access.bytes) for other, distance in _beside(kernel, one, sample)}


def _beside(kernel: KernelFacts, one: Evaluated, mine: Sample) -> Iterator[tuple[Evaluated, int]]:
    """The accesses of the same kind to the same array that the same lanes make, each at a fixed distance in bytes from
    this one; itself among them."""
    for other in evaluated(kernel, "global"):
        sample, access = other.result.sample, other.access
        if sample is None or sample.addresses.shape != mine.addresses.shape or other.result.launch != one.result.launch:
            continue
        if _made_by(access) != _made_by(one.access):
            continue
        both = mine.mask & sample.mask
        distances = (sample.addresses - mine.addresses)[both]
        if distances.size and np.all(distances == distances[0]):
            yield other, int(distances[0])


def _pieces(one: Evaluated, sample: Sample) -> tuple[NDArray[np.int64], set[tuple[int, int]]]:
    """Of a struct that is loaded or stored as a whole: where each lane's begins, and the parts that samples have
    requests for, of all copies that the machine's code has of the access. The lowest address is where a struct begins.
    """
    length, width = one.access.record_bytes or one.access.bytes, one.access.bytes
    copies = [result.sample for result in one.access.results if result.launch == one.result.launch]
    samples = [each for each in (sample, *copies) if each is not None and each.mask.any()]
    first = min(int(each.addresses[each.mask].min()) for each in samples)
    starts = {int(start) for each in samples for start in np.unique((each.addresses[each.mask] - first) % length)}
    return sample.addresses - (sample.addresses - first) % length, {(start, width) for start in starts}


def _made_by(access: Access) -> tuple[object, ...]:
    return access.operation, array_key(access)
