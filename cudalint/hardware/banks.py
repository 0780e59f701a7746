"""Shared memory: the wavefronts that one warp-level request takes through 32 banks of 4 bytes.

Source of the terms: CUDA C++ Programming Guide, section "Shared Memory" of each compute capability (32 banks,
one 32-bit word each per cycle), and Nsight Compute's source counters `memory_l1_wavefronts_shared` and
`..._ideal`. The rules for 8 and 16 bytes are in no document; they were found by measurement and equal those
counters on every shared pattern of tests/data/patterns.json, and of tests/data/copies.json those that `async_copies`
gives one figure for.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudalint.hardware.requests import WARP_LANES, count_true, lanes_by_unit, warp_arrays

BANKS = 32
BANK_BYTES = 4

SharedOperation = Literal["load", "store", "atomic", "async-copy"]

# Larger than any address in use; it stands for an inactive lane.
_NOTHING = np.iinfo(np.int64).max


class BankWord(NamedTuple):
    """One 4-byte word that a bank must serve: its number (first byte // 4) and the active lanes in it."""

    number: int
    lanes: tuple[int, ...]


def shared_request(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int, operation: SharedOperation
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count the wavefronts of warp-level shared requests, and the fewest that could move as many bytes.

    `addresses` (bytes from the start of shared memory, any sign, multiples of `width`) and `mask` (active
    lanes) have shape [..., 32], the last axis being the lanes of one request; they are broadcast against each
    other. `width` is the bytes that each lane moves: 1, 2, 4, 8 or 16.

    Returns `(wavefronts, ideal)`, both of shape [...] and whole, where `ideal` is
    `min(wavefronts, ceil(active * width / 128))`. A request without an active lane costs 0. For 16-byte
    asynchronous copies, which depend on where they read, both are NaN: see `async_copies`. Atomics of 8 and 16
    bytes, which were not measured, count as stores.

    Raises ValueError if the last axis isn't 32 lanes or `width` is another size.
    """
    addresses, mask = warp_arrays(addresses, mask)
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"no shared-memory instruction moves {width} bytes per lane")
    if operation == "async-copy" and width == 16:
        unknown = np.full(mask.shape[:-1], np.nan)
        return unknown, unknown
    shared = operation != "async-copy"
    if width <= BANK_BYTES:
        wavefronts = _busiest_bank(addresses, mask, BANK_BYTES, shared=shared)
    elif operation == "load":
        wavefronts = _wide_load(addresses, mask, width)
    else:
        wavefronts = _busiest_bank(*_by_part(addresses, mask, width), width, shared=shared).sum(axis=-1)
    ideal = np.minimum(wavefronts, -(-count_true(mask) * width // (BANKS * BANK_BYTES)))
    return wavefronts.astype(np.float64), ideal.astype(np.float64)


def async_copy_range(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bound the wavefronts of 16-byte asynchronous copies of which it isn't known where they read.

    Arguments as for `shared_request`. Returns `(low, high)`, both of shape [...]: each word has to pass its
    bank once, and lanes with one address were never measured separately. All measured copies lie within.
    """
    addresses, mask = warp_arrays(addresses, mask)
    low = _busiest_bank(addresses, mask, 16, shared=True)
    _, first = _distinct(addresses, mask)
    return low, np.count_nonzero(first, axis=-1)


class CopyCosts(NamedTuple):
    """What 16-byte asynchronous copies take, each array of shape [...]."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    ideal: NDArray[np.float64]


def async_copies(
    addresses: NDArray[np.int64], sources: NDArray[np.int64], mask: NDArray[np.bool_]
) -> CopyCosts:
    """Bound the wavefronts of 16-byte asynchronous copies, given where each lane writes and where it reads.

    All arguments have shape [..., 32]: bytes from the start of shared memory, and of what is copied, both multiples of
    16, which is taken to begin at a multiple of 128. Where `low` and `high` are equal they were the measured figure for
    each of 416 such patterns; the other 86, nearly all of them permutations or random, lay in between.

    Lanes that write one place are one copy. A wavefront has copies from one line of 128 bytes to one row of the banks,
    either of whole sectors of 32 bytes or of the same half of sectors, which all keep their halves or all exchange
    them. Sectors whose numbers are changed in the same bits go together, and so do those that are all shifted by as
    much; other ones may where no two come through one link of a network of two steps, which sets the upper bit of a
    sector's number and then the lower.
    """
    addresses, mask = warp_arrays(addresses, mask)
    sources = np.broadcast_to(sources, addresses.shape)
    batch = mask.shape[:-1]
    rows = np.stack([addresses.reshape(-1, WARP_LANES) >> 4, sources.reshape(-1, WARP_LANES) >> 4], axis=1)
    active = mask.reshape(-1, WARP_LANES)
    # Lines and rows have to differ, and which ones they are is of no matter.
    rows = rows - (np.where(active[:, None], rows, _NOTHING).min(axis=-1, keepdims=True) & ~7)
    rows[~np.broadcast_to(active[:, None], rows.shape)] = -1
    different, places = np.unique(rows.reshape(len(rows), -1), axis=0, return_inverse=True)
    costs = np.array([_copy_costs(row.tobytes()) for row in different], dtype=np.float64).reshape(-1, 3)
    low, high, ideal = (costs[places.reshape(-1), column].reshape(batch) for column in range(3))
    return CopyCosts(low, high, ideal)


@lru_cache(maxsize=4_096)
def _copy_costs(row: bytes) -> tuple[int, int, int]:
    """The least and the most wavefronts of one request and its ideal; of each lane the chunk of 16 bytes that it
    writes, and the one that it reads, -1 for a lane that does neither."""
    to, from_ = np.frombuffer(row, dtype=np.int64).reshape(2, WARP_LANES).tolist()
    copies: dict[int, int] = {}
    for target, source in zip(to, from_, strict=True):
        if target >= 0:
            copies.setdefault(target, source)
    halves: dict[tuple[int, int, int, int, int], int] = {}
    for target, source in copies.items():
        key = (source >> 3, target >> 3, (source ^ target) & 1, source >> 1 & 3, target >> 1 & 3)
        halves[key] = halves.get(key, 0) | 1 << (source & 1)
    groups: dict[tuple[int, int, int, int], list[tuple[int, int]]] = {}
    for (line, bank_row, swapped, source, target), half in halves.items():
        groups.setdefault((line, bank_row, swapped, half), []).append((source, target))
    high = sum(1 if _is_shifted(group) else len({a ^ b for a, b in group}) for group in groups.values())
    low = sum(_rounds(group) for group in groups.values())
    return low, high, min(low, -(-len(copies) * 16 // (BANKS * BANK_BYTES)))


def _is_shifted(sectors: list[tuple[int, int]]) -> bool:
    return len({target - source for source, target in sectors}) == 1


def _rounds(sectors: list[tuple[int, int]]) -> int:
    """In how many rounds sectors get from one line to their places in a row."""
    rounds: list[set[tuple[str, int]]] = []
    for source, target in sectors:
        taken = {("link", (target >> 1) << 1 | (source & 1)), ("source", source)}
        free = next((each for each in rounds if not each & taken), None)
        if free is None:
            rounds.append(taken)
        else:
            free |= taken
    return len(rounds)


def occupied_parts(mask: NDArray[np.bool_], width: int) -> NDArray[np.int64]:
    """Count the parts of requests (of 128 bytes each, see `bank_map`) in which a lane is active: [..., 32] to [...]."""
    parts = mask.reshape(*mask.shape[:-1], -1, WARP_LANES if width <= BANK_BYTES else BANKS * BANK_BYTES // width)
    occupied: NDArray[np.int64] = parts.any(axis=-1).sum(axis=-1, dtype=np.int64)
    return occupied


def bank_map(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int
) -> tuple[tuple[BankWord, ...], ...]:
    """Say which words each of the 32 banks must serve in one request, and for which lanes.

    `addresses` and `mask` have shape [32]; `width` is the bytes that each lane moves. Returns one tuple per
    bank, its words in address order. Requests of more than 4 bytes per lane go in several parts, so that a
    bank with two words need not be a conflict there.
    """
    banks: list[list[BankWord]] = [[] for _ in range(BANKS)]
    for number, lanes in lanes_by_unit(addresses, mask, width, BANK_BYTES).items():
        banks[number % BANKS].append(BankWord(number, lanes))
    return tuple(tuple(words) for words in banks)


def _wide_load(addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int) -> NDArray[np.int64]:
    """Count the wavefronts of 8- and 16-byte loads.

    The parts of a request (halves of 8-byte, quarters of 16-byte ones) add up as for stores, except that two
    neighbouring parts go together where lanes pair up and both parts' words pass the banks at once.
    """
    addresses, mask = _by_part(addresses, mask, width)
    *batch, parts, lanes = mask.shape
    busiest = _busiest_bank(addresses, mask, width, shared=True)
    both = (*batch, parts // 2, 2 * lanes)
    addresses, mask = addresses.reshape(both), mask.reshape(both)
    together = _lanes_pair_up(addresses, mask)
    if together.any():
        together &= _busiest_bank(addresses, mask, width, shared=True) == 1
    summed = busiest.reshape(*together.shape, 2).sum(axis=-1)
    wavefronts: NDArray[np.int64] = np.where(together, 1, summed).sum(axis=-1)
    return wavefronts


def _lanes_pair_up(addresses: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say whether all active lanes i read what lane i^1 reads, if active, or all what lane i^2 reads."""
    *batch, lanes = mask.shape
    paired = np.zeros(batch, dtype=np.bool_)
    for distance in (1, 2):
        split = (*batch, lanes // (2 * distance), 2, distance)
        address, active = addresses.reshape(split), mask.reshape(split)
        differ = address[..., 0, :] != address[..., 1, :]
        differ &= active[..., 0, :] & active[..., 1, :]
        paired |= ~differ.any(axis=(-2, -1))
    return paired


def _by_part(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Split the lanes into parts that move 128 bytes: [..., 32] becomes [..., parts, lanes of a part]."""
    lanes = BANKS * BANK_BYTES // width
    shape = (*mask.shape[:-1], WARP_LANES // lanes, lanes)
    return addresses.reshape(shape), mask.reshape(shape)


def _busiest_bank(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int, *, shared: bool
) -> NDArray[np.int64]:
    """Count what the busiest bank must serve, along the last axis.

    An aligned access of `width` bytes (4, 8 or 16) keeps a whole group of 1, 2 or 4 banks busy, so that it is
    enough to count per group, in units of the width. Lanes that want one unit are served at once if `shared`.
    """
    groups = BANKS * BANK_BYTES // width
    units = addresses >> (width.bit_length() - 1)
    serve = mask
    if shared:
        if mask.all() and np.all(units.max(axis=-1) - units.min(axis=-1) < groups):
            # Everything lies within one turn of the banks, which is common and leaves nothing to count.
            return np.ones(mask.shape[:-1], dtype=np.int64)
        units, serve = _distinct(units, mask)
    batch = mask.shape[:-1]
    requests = math.prod(batch)
    row = np.arange(0, requests * groups, groups).reshape(*batch, 1)
    counts = np.bincount(((units & (groups - 1)) + row)[serve], minlength=requests * groups)
    busiest: NDArray[np.int64] = counts.reshape(*batch, groups).max(axis=-1)
    return busiest


def _distinct(
    values: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Sort the values under the mask along the last axis, and mark the first of each run of equal ones."""
    ordered = np.sort(np.where(mask, values, _NOTHING), axis=-1)
    first = ordered != _NOTHING
    first[..., 1:] &= ordered[..., 1:] != ordered[..., :-1]
    return ordered, first
