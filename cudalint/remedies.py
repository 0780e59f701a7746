"""Ways out of uncoalesced accesses, each tried on the model before it is suggested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudalint.diagnostics import Suggestion
from cudalint.facts import AccessResult, KernelFacts, Sample, Space
from cudalint.hardware.banks import shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES, global_request
from cudalint.patterns import Pattern
from cudalint.rulekit import Evaluated, is_repeat, mean_sectors, thread_indices

_WORTH_IT = 0.8
"""A remedy has to bring the figure under this share of what it was."""
_BASES = 16
"""Different places in memory at which a block is tried."""
_COMMON_TURN = 128
"""Bytes after which both sectors and banks repeat."""


def suggest(kernel: KernelFacts, one: Evaluated, pattern: Pattern) -> Suggestion | None:
    """The remedy that fits the pattern, None where the model knows of none that helps."""
    match pattern.kind:
        case "reversed":
            return _exchange_or_stage(kernel, one)
        case "field":
            return _structure_of_arrays(one)
        case "own-run":
            return _neighbouring_elements(one, pattern)
        case _:
            return None


def _exchange_or_stage(kernel: KernelFacts, one: Evaluated) -> Suggestion | None:
    """Exchanging x and y costs nothing, so it is preferred where the kernel's other accesses don't lose by it."""
    staged = _stage(one)
    changed = _all_exchanged(kernel, one)
    if changed is not None and _exchange_pays(changed, one, staged):
        return _exchange_suggestion(changed, one)
    return staged


# --- remedies for one access -----------------------------------------------------------------------------


def _structure_of_arrays(one: Evaluated) -> Suggestion | None:
    after = _with_unit_stride(one)
    text = f"keep the fields of `{one.access.array}` in arrays of their own (structure of arrays)"
    return _if_better(one, text, after)


def _neighbouring_elements(one: Evaluated, pattern: Pattern) -> Suggestion | None:
    """Threads that each walk along a run of their own can walk along it together."""
    after = _with_unit_stride(one)
    index = "index `j * blockDim.x + threadIdx.x`"
    text = f"let neighbouring threads take neighbouring elements ({index} in place of a run for each thread)"
    if "row" in pattern.text:
        text = "let the threads of a warp take neighbouring elements of one row"
    if one.access.operation != "atomic":
        text += ", or stage the runs through shared memory"
    return _if_better(one, text, after)


def _stage(one: Evaluated) -> Suggestion | None:
    """A tile in shared memory takes the exchange of x and y, so that global memory sees rows."""
    if one.access.operation in ("atomic", "async-copy"):
        return None
    block = one.launch.block
    steps = _steps(one.result, block)
    if steps is None or block[0] * one.access.bytes < SECTOR_BYTES:
        return None
    after = _block_figure(one, (steps[1], steps[0], steps[2]), block)
    verb = "read" if one.access.operation == "load" else "write"
    text = f"stage a tile through shared memory: {verb} `{one.access.array}` with `threadIdx.x` along the row"
    return _if_better(one, f"{text}, and exchange x and y in the tile", after)


def _with_unit_stride(one: Evaluated) -> float | None:
    """Sectors per request if lane n, with the same mask, touched the n-th element of an aligned array."""
    sample = one.result.sample
    if sample is None:
        return None
    lanes = np.broadcast_to(np.arange(WARP_LANES, dtype=np.int64) * one.access.bytes, sample.addresses.shape)
    return mean_sectors(lanes, sample, one.access.bytes)


def _if_better(one: Evaluated, text: str, after: float | None) -> Suggestion | None:
    before = one.result.sectors_per_request
    if after is None or before is None or after > before * _WORTH_IT:
        return None
    return Suggestion(text, (), {"sectors_per_request": before}, {"sectors_per_request": after})


# --- exchanging x and y in the whole kernel --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Exchanged:
    """What an exchange of x and y does to one access: its cost per request, before and after."""

    one: Evaluated
    before: float
    after: float

    @property
    def requests(self) -> float:
        return self.one.result.requests or 1.0


def _all_exchanged(kernel: KernelFacts, one: Evaluated) -> list[_Exchanged] | None:
    """All accesses of the kernel with x and y exchanged; None if the model can't tell what becomes of one."""
    launches = {result.launch for result in one.access.results}
    changed: list[_Exchanged] = []
    for access in kernel.accesses:
        for result in access.results:
            if result.launch not in launches or result.status == "unreached" or is_repeat(result):
                continue
            exchanged = _exchanged(Evaluated(access, result, kernel.launches[result.launch]))
            if exchanged is None:
                return None
            changed.append(exchanged)
    return changed


def _exchange_pays(changed: Sequence[_Exchanged], one: Evaluated, staged: Suggestion | None) -> bool:
    """Whether the exchange helps this access and the kernel, and doesn't leave much more than staging would."""
    mine = next(e for e in changed if e.one.result is one.result)
    before, after = _total(changed, "global")
    if mine.after > mine.before * _WORTH_IT or after > before * _WORTH_IT:
        return False
    wavefronts_before, wavefronts_after = _total(changed, "shared")
    if wavefronts_after > wavefronts_before:
        return False
    if staged is None:
        return True
    saved_by_staging = (mine.before - staged.after["sectors_per_request"]) * mine.requests
    return after * _WORTH_IT <= before - saved_by_staging


def _total(changed: Sequence[_Exchanged], space: Space) -> tuple[float, float]:
    """What all accesses of a memory space cost together, before and after."""
    here = [e for e in changed if e.one.access.space == space]
    return sum(e.before * e.requests for e in here), sum(e.after * e.requests for e in here)


def _exchange_suggestion(changed: Sequence[_Exchanged], one: Evaluated) -> Suggestion:
    mine = next(e for e in changed if e.one.result is one.result)
    before, after = _total(changed, "global")
    x, y, _ = one.launch.block
    also = "" if x == y else f", and launch blocks of {y}x{x}"
    text = (
        f"exchange `threadIdx.x` and `threadIdx.y` throughout the kernel{also}; its global accesses take"
        f" {1 - after / before:.0%} fewer sectors together"
    )
    return Suggestion(text, (), {"sectors_per_request": mine.before}, {"sectors_per_request": mine.after})


def _exchanged(one: Evaluated) -> _Exchanged | None:
    """The access with x and y exchanged in a block of exchanged extents; None if the model can't tell."""
    access, result, launch = one
    if access.space not in ("global", "shared") or result.status not in ("exact", "assumed"):
        return None
    before = result.wavefronts_per_request if access.space == "shared" else result.sectors_per_request
    steps = _steps(result, launch.block)
    if before is None or steps is None:
        return None
    (step_x, step_y, step_z), (x, y, z) = steps, launch.block
    after = _block_figure(one, (step_y, step_x, step_z), (y, x, z))
    return _Exchanged(one, before, after) if after is not None else None


def _steps(result: AccessResult, block: tuple[int, int, int]) -> tuple[int, int, int] | None:
    """The strides along the axes of the block; along an axis of one thread any will do. None if one isn't constant."""
    if result.strides is None:
        return None
    strides = (result.strides.x, result.strides.y, result.strides.z)
    x, y, z = (step if extent > 1 else 0 for step, extent in zip(strides, block, strict=True))
    return None if x is None or y is None or z is None else (x, y, z)


def _block_figure(one: Evaluated, steps: tuple[int, int, int], block: tuple[int, int, int]) -> float | None:
    """Cost per request of a block whose threads are this far apart, over the places where blocks begin.

    None where not all lanes take part: then the figure would rest on a mask that the change moves as well.
    """
    access, result, launch = one
    sample = result.sample
    if sample is None or not _all_lanes_active(sample, launch.block):
        return None
    bases = _bases(one, sample)
    threads = block[0] * block[1] * block[2]
    linear = np.arange(-(-threads // WARP_LANES) * WARP_LANES, dtype=np.int64)
    offsets = _moved(linear, block, steps)
    addresses = (bases[:, None] + offsets).reshape(len(bases), -1, WARP_LANES)
    mask = np.broadcast_to((linear < threads).reshape(-1, WARP_LANES), addresses.shape)
    if access.space == "shared":
        if np.any(addresses % access.bytes):
            return None
        return float(shared_request(addresses, mask, access.bytes, access.operation)[0].mean())
    return float(global_request(addresses, mask, access.bytes)[0].mean())


def _moved(linear: NDArray[np.int64], block: tuple[int, int, int], steps: tuple[int, int, int]) -> NDArray[np.int64]:
    """Bytes from thread (0, 0, 0) to the threads of these numbers."""
    x, y, z = linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])
    return x * steps[0] + y * steps[1] + z * steps[2]


def _all_lanes_active(sample: Sample, block: tuple[int, int, int]) -> bool:
    exists = thread_indices(sample, block)[2] < block[2]
    return bool(np.all(sample.mask == exists))


def _bases(one: Evaluated, sample: Sample) -> NDArray[np.int64]:
    """Where thread (0, 0, 0) of each of the sample's blocks is, as far as sectors and banks can tell."""
    block = one.launch.block
    steps = _steps(one.result, block)
    assert steps is not None
    first = sample.addresses[:, 0] - _moved(sample.warps * WARP_LANES, block, steps)
    return np.unique(first % _COMMON_TURN)[:_BASES]
