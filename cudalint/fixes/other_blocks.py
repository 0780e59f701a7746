"""Blocks of another shape, and x and y exchanged in the whole kernel: what becomes of all its accesses then."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from cudalint.diagnostics import Suggestion
from cudalint.facts import AccessResult, KernelFacts, LaunchFacts, Sample, Space
from cudalint.fixes.exchange_edits import exchange_edits
from cudalint.fixes.obstacles import edited
from cudalint.fixes.one_access import WORTH_IT, Texts
from cudalint.hardware.banks import shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES, global_request
from cudalint.hardware.warps import thread_index, warp_count
from cudalint.rulekit import Evaluated, is_repeat, mean_sectors, mean_wavefronts, thread_indices

_WORTH_A_NUMBER = 0.9
"""The share of a figure that a remedy which only changes a number has to bring it under."""
_AS_BEFORE = 1.001
"""What is under this share of what it was is no worse."""
_BASES = 16
"""Different places in memory at which a block is tried."""
_COMMON_TURN = 128
"""Bytes after which both sectors and banks repeat."""

Block = tuple[int, int, int]


class _Changed(Struct, frozen=True):
    """What a change does to one access: its cost per request, before and after."""

    one: Evaluated
    before: float
    after: float

    @property
    def requests(self) -> float:
        return self.one.result.requests or 1.0

    @property
    def is_worse(self) -> bool:
        """Whether a request takes more than before, and more than neighbouring elements would."""
        least = self.one.access.bytes * WARP_LANES / SECTOR_BYTES if self.one.access.space == "global" else 1.0
        return self.after > max(self.before, least) * _AS_BEFORE


class _Tried(Struct, eq=False):
    """What changes of the kernel that was looked at last do to its accesses: each of its findings asks for the same."""

    kernel: KernelFacts | None = None
    changed: dict[tuple[int, Block, bool], list[_Changed] | None] = field(default_factory=dict)


_TRIED = _Tried()


def _all_changed(
    kernel: KernelFacts, launch: LaunchFacts, number: int, block: Block, exchange: bool
) -> list[_Changed] | None:
    """All accesses of the kernel under a launch in a block of another shape, with x and y exchanged or not.

    None if the model can't tell what becomes of one of them.
    """
    if _TRIED.kernel is not kernel:
        _TRIED.kernel, _TRIED.changed = kernel, {}
    key = (number, block, exchange)
    if key not in _TRIED.changed:
        _TRIED.changed[key] = _try_all(kernel, launch, number, block, exchange)
    return _TRIED.changed[key]


def _try_all(
    kernel: KernelFacts, launch: LaunchFacts, number: int, block: Block, exchange: bool
) -> list[_Changed] | None:
    changed: list[_Changed] = []
    for access in kernel.accesses:
        for result in access.results:
            if result.launch != number or result.status == "unreached" or is_repeat(result):
                continue
            after = _changed(Evaluated(access, result, launch), block, exchange)
            if after is None:
                return None
            changed.append(after)
    return changed


def _changed(one: Evaluated, block: Block, exchange: bool) -> _Changed | None:
    access, result, launch = one
    if access.space not in ("global", "shared") or result.status not in ("exact", "assumed"):
        return None
    before = result.wavefronts_per_request if access.space == "shared" else result.sectors_per_request
    steps = steps_of(result, launch.block)
    if before is None or steps is None:
        return None
    x, y, z = steps
    after = block_figure(one, (y, x, z) if exchange else steps, block)
    return _Changed(one, before, after) if after is not None else None


def _total(changed: Sequence[_Changed], space: Space) -> tuple[float, float]:
    """What all accesses of a memory space cost together, before and after."""
    here = [c for c in changed if c.one.access.space == space]
    return sum(c.before * c.requests for c in here), sum(c.after * c.requests for c in here)


def wider_block(kernel: KernelFacts, one: Evaluated) -> Suggestion | None:
    """Where rows are as short as the block is narrow, a block as wide as a warp makes longer ones."""
    x, y, z = one.launch.block
    if x >= WARP_LANES or x * y % WARP_LANES or any(access.space == "shared" for access in kernel.accesses):
        return None
    block = (WARP_LANES, x * y // WARP_LANES, z)
    changed = _all_changed(kernel, one.launch, one.result.launch, block, exchange=False)
    if changed is None or any(c.is_worse for c in changed):
        return None
    mine = next(c for c in changed if c.one.result is one.result)
    before, after = _total(changed, "global")
    if mine.after > mine.before * _WORTH_A_NUMBER or after > before * _WORTH_A_NUMBER:
        return None
    text = f"launch blocks of {_spelled(block)} in place of {_spelled((x, y, z))}, with tiles of that shape"
    return Suggestion(text, (), {"sectors_per_request": mine.before}, {"sectors_per_request": mine.after})


def _spelled(block: Block) -> str:
    x, y, z = block
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}"


def exchange(kernel: KernelFacts, one: Evaluated) -> list[_Changed] | None:
    """Renaming x to y and y to x everywhere is always right, but only advised where it makes no access worse under any
    launch."""
    mine = None
    for number, launch in enumerate(kernel.launches):
        x, y, z = launch.block
        changed = _all_changed(kernel, launch, number, (y, x, z), exchange=True)
        if changed is None or any(c.is_worse for c in changed):
            return None
        if number == one.result.launch:
            mine = changed
    return mine


def exchange_pays(changed: Sequence[_Changed], one: Evaluated, staged: Suggestion | None) -> bool:
    """Whether the exchange helps this access and the kernel, and doesn't leave much more than staging would."""
    mine = next(c for c in changed if c.one.result is one.result)
    before, after = _total(changed, "global")
    if mine.after > mine.before * WORTH_IT or after > before * WORTH_IT:
        return False
    wavefronts_before, wavefronts_after = _total(changed, "shared")
    if wavefronts_after > wavefronts_before:
        return False
    if staged is None:
        return True
    saved_by_staging = (mine.before - staged.after["sectors_per_request"]) * mine.requests
    return after * WORTH_IT <= before - saved_by_staging


def exchange_suggestion(kernel: KernelFacts, changed: Sequence[_Changed], one: Evaluated, texts: Texts) -> Suggestion:
    """Launches elsewhere may have blocks that are not square, so that the edits are not to be made unseen."""
    mine = next(c for c in changed if c.one.result is one.result)
    before, after = _total(changed, "global")
    x, y, z = one.launch.block
    also = "" if x == y else f", and launch blocks of {_spelled((y, x, z))}"
    text = (
        f"exchange `threadIdx.x` and `threadIdx.y` throughout the kernel{also}; its global accesses take"
        f" {1 - after / before:.0%} fewer sectors together"
    )
    figures = {"sectors_per_request": mine.before}, {"sectors_per_request": mine.after}
    advice = Suggestion(text, (), *figures, relaunches=x != y, of_launches=True)
    return edited(advice, lambda: exchange_edits(kernel, texts.paths, texts.text_of), "unsafe")


def exchange_alone(kernel: KernelFacts, one: Evaluated, texts: Texts) -> Suggestion | None:
    """Where a loop walks along the row, staging would take more than an exchange of indices."""
    changed = exchange(kernel, one)
    if changed is None or not exchange_pays(changed, one, None):
        return None
    return exchange_suggestion(kernel, changed, one, texts)


def steps_of(result: AccessResult, block: Block) -> tuple[int, int, int] | None:
    """The strides along the axes of the block; along an axis of one thread any will do. None if one isn't constant."""
    if result.strides is None:
        return None
    strides = (result.strides.x, result.strides.y, result.strides.z)
    x, y, z = (step if extent > 1 else 0 for step, extent in zip(strides, block, strict=True))
    return None if x is None or y is None or z is None else (x, y, z)


def block_figure(one: Evaluated, steps: tuple[int, int, int], block: Block) -> float | None:
    """Cost per request of a block whose threads are this far apart, over the places where blocks begin.

    A guard cuts the blocks at the edge of a grid, whichever way their threads lie: it is told from requests that all
    lanes take part in, and those at the edge are taken to cost less to the same degree as before. None where few
    requests are whole: then the figure would rest on a mask that the change moves as well.
    """
    access, result, launch = one
    sample = result.sample
    if sample is None:
        return None
    whole = _whole(sample, launch.block)
    if whole is None:
        return None
    bases = _bases(one, whole)
    linear = np.arange(warp_count(block) * WARP_LANES, dtype=np.int64)
    offsets = _moved(linear, block, steps)
    addresses = (bases[:, None] + offsets).reshape(len(bases), -1, WARP_LANES)
    mask = np.broadcast_to((linear < math.prod(block)).reshape(-1, WARP_LANES), addresses.shape)
    if access.space == "shared":
        if np.any(addresses % access.bytes):
            return None
        figure = float(shared_request(addresses, mask, access.bytes, access.operation)[0].mean())
    else:
        figure = float(global_request(addresses, mask, access.bytes)[0].mean())
    return figure if whole is sample else figure * _mean(one, sample) / _mean(one, whole)


def _mean(one: Evaluated, sample: Sample) -> float:
    """What a request of a sample takes."""
    access = one.access
    if access.space == "shared":
        return mean_wavefronts(sample.addresses, sample, access.bytes, access.operation)
    return mean_sectors(sample.addresses, sample, access.bytes)


def _moved(linear: NDArray[np.int64], block: Block, steps: tuple[int, int, int]) -> NDArray[np.int64]:
    """Bytes from thread (0, 0, 0) to the threads of these numbers."""
    x, y, z = thread_index(linear, block)
    return x * steps[0] + y * steps[1] + z * steps[2]


def _whole(sample: Sample, block: Block) -> Sample | None:
    """The requests that all lanes of their warps take part in, if most are such."""
    exists = thread_indices(sample, block)[2] < block[2]
    is_whole = np.all(sample.mask == exists, axis=1)
    if is_whole.all():
        return sample
    if sample.weights[is_whole].sum() <= sample.weights.sum() / 2:
        return None
    return Sample(
        sample.addresses[is_whole], sample.mask[is_whole], sample.weights[is_whole], sample.warps[is_whole]
    )


def _bases(one: Evaluated, sample: Sample) -> NDArray[np.int64]:
    """Where thread (0, 0, 0) of each of the sample's blocks is, as far as sectors and banks can tell."""
    block = one.launch.block
    steps = steps_of(one.result, block)
    assert steps is not None
    first = sample.addresses[:, 0] - _moved(sample.warps * WARP_LANES, block, steps)
    return np.flatnonzero(np.bincount(first % _COMMON_TURN))[:_BASES]
