"""What kind of access makes a global request touch more sectors than it needs, in words that name the cure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cudalint.facts import Access, AccessResult, LaunchFacts, Strides
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.rulekit import Evaluated, count, figure

Kind = Literal["reversed", "field", "own-run", "strided", "column", "short-rows", "misaligned", "reduced", "scattered"]

_LONG_STRIDE = 512
"""Elements from which on a step is called a row of a matrix: nobody strides that far within one."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """How the lanes of a warp lie in memory."""

    kind: Kind
    text: str
    """A phrase for the message."""
    step: int | None = None
    """Bytes from one lane to the next, where it is constant."""


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The axes of the block along which the lanes of a warp lie, fastest first."""

    axis: str
    step: int | None
    slower_axis: str | None
    slower_step: int | None
    run: int
    """Lanes before the slower axis moves, at most a warp."""


def pattern_of(one: Evaluated) -> Pattern:
    """Names the pattern of an access that has figures."""
    access, result, launch = one
    lanes = _lanes(result.strides, launch.block)
    if lanes is None or lanes.step is None:
        return Pattern("scattered", "no constant stride between lanes")
    step = abs(lanes.step)
    if step == access.bytes:
        return _contiguous(access, result, lanes)
    if lanes.slower_step is not None and step > access.bytes == abs(lanes.slower_step):
        text = f"the roles of x and y are reversed: `threadIdx.{lanes.slower_axis}` walks along the row"
        return Pattern("reversed", text, lanes.step)
    if step == 0:
        return Pattern("reduced", f"all threads of equal `threadIdx.{lanes.slower_axis}` share an address", 0)
    return _strided(one, lanes.step)


def _lanes(strides: Strides | None, block: tuple[int, int, int]) -> _Lanes | None:
    if strides is None:
        return None
    steps = dict(zip("xyz", (strides.x, strides.y, strides.z), strict=True))
    axes = [(axis, extent) for axis, extent in zip("xyz", block, strict=True) if extent > 1]
    if not axes:
        return None
    (axis, run), *others = axes
    slower = others[0][0] if others else None
    return _Lanes(axis, steps[axis], slower, steps[slower] if slower else None, min(run, 32))


def _contiguous(access: Access, result: AccessResult, lanes: _Lanes) -> Pattern:
    """Neighbouring lanes touch neighbouring elements; then the rows are short, or begin off a sector."""
    if lanes.run < 32 and lanes.run * access.bytes < SECTOR_BYTES:
        text = f"rows of only {lanes.run * access.bytes} bytes, as `blockDim.{lanes.axis}` is {lanes.run}"
        return Pattern("short-rows", text, lanes.step)
    shift = _shift(result, access.bytes)
    if shift:
        return Pattern("misaligned", f"the base is {shift} bytes past the start of a sector", lanes.step)
    if shift is None:
        return Pattern("misaligned", "most warps begin in the middle of a sector", lanes.step)
    return Pattern("reduced", f"only {figure(result.active_lanes or 32)} of 32 lanes are active", lanes.step)


def _shift(result: AccessResult, width: int) -> int | None:
    """By how many bytes all requests are off a sector's start, None where that differs between requests."""
    sample = result.sample
    if sample is None:
        return None
    lowest = np.where(sample.mask, sample.addresses, np.iinfo(np.int64).max).min(axis=1) % SECTOR_BYTES
    return int(lowest[0]) if np.all(lowest == lowest[0]) else None


def _strided(one: Evaluated, step: int) -> Pattern:
    access, _, launch = one
    distance = abs(step)
    if access.record_bytes is not None and distance == access.record_bytes:
        return Pattern("field", f"field of a {access.record_bytes}-byte struct", step)
    elements = distance / access.bytes
    if _walks(one, distance):
        run = "a row of its own" if elements >= _LONG_STRIDE else f"a run of {count(elements, 'element')} of its own"
        return Pattern("own-run", f"each thread walks along {run}", step)
    if elements < _LONG_STRIDE:
        return Pattern("strided", f"stride {count(elements, 'element')}{_named(elements, launch)}", step)
    return Pattern("column", f"column of a row-major matrix{_named(elements, launch)}", step)


def _named(elements: float, launch: LaunchFacts) -> str:
    """The argument that the stride comes from, if just one has its value."""
    names = [name for name, value in launch.parameters.items() if not isinstance(value, bool) and value == elements]
    return f" with `{names[0]}` = {figure(elements)}" if len(names) == 1 and elements > 2 else ""


def _walks(one: Evaluated, distance: int) -> bool:
    """Whether the turns of a loop take each lane through its own elements, before the next lane's begin."""
    access, result, launch = one
    sample = result.sample
    if sample is None or not _repeats(result, launch):
        return False
    # The first requests of a warp are turns of the innermost loop in one block, though not each of them.
    addresses = sample.addresses[sample.warps == sample.warps[0]][:3]
    moved = addresses[1:] - addresses[0]
    if not moved.size or np.any(moved != moved[:, :1]) or np.any((moved <= 0) | (moved >= distance)):
        return False
    return int(np.gcd.reduce(moved[:, 0])) == access.bytes


def _repeats(result: AccessResult, launch: LaunchFacts) -> bool:
    """Whether warps make more than one request on average, so that there is a loop around the access."""
    warps = -(-launch.block[0] * launch.block[1] * launch.block[2] // 32)
    blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
    return result.requests is not None and result.requests > 1.5 * warps * blocks
