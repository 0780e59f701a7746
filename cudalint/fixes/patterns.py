"""What kind of access makes a global request touch more sectors than it needs, in words that name the cure."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.facts import Access, AccessResult, LaunchFacts, Sample, Strides
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.warps import warp_count
from cudalint.rulekit import Evaluated, count, figure

Kind = Literal[
    "reversed", "field", "copy", "own-row", "own-run", "strided", "column", "short-rows", "misaligned", "reduced",
    "scattered",
]

ALONG_ROWS: tuple[Kind, ...] = ("own-row", "own-run", "strided", "column")
"""What loops along rows are, as far as the model shows it."""
_LONG_STRIDE = 512
"""Elements from which on a step is called a row of a matrix: nobody strides that far within one."""

_MOST = 0.75
"""The share of lanes from which on something holds for most of them."""

_FUNDAMENTAL = frozenset(
    ("bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "size_t", "__half", "half")
)
"""Words of which the names of scalar types consist; a struct's name has others."""

_WIDE_INTEGERS = frozenset(
    ("long", "long long", "unsigned long", "unsigned long long", "int64_t", "uint64_t", "size_t", "ptrdiff_t")
)


class Pattern(Struct, frozen=True):
    """How the lanes of a warp lie in memory."""

    kind: Kind
    text: str
    """A phrase for the message."""
    step: int | None = None
    """Bytes from one lane to the next, where it is constant."""


def pattern_of(one: Evaluated) -> Pattern:
    """Names the pattern of an access that has figures."""
    access, result, launch = one
    axes = _moving_axes(result.strides, launch.block)
    if axes and axes[0].step is not None:
        step, slower = axes[0].step, axes[1] if len(axes) > 1 else None
        if slower is not None and abs(step) > access.bytes == abs(slower.step or 0):
            text = f"the roles of x and y are reversed: `threadIdx.{slower.name}` walks along the row"
            return Pattern("reversed", text, step)
    else:
        usual = _usual_step(result)
        if usual is None:
            return Pattern("scattered", "no constant stride between lanes")
        step = usual
    if abs(step) == access.bytes:
        return _contiguous(one, step)
    if step == 0:
        return Pattern("reduced", "neighbouring lanes share an address, and groups of them lie far apart", 0)
    return _strided(one, step)


class _Axis(NamedTuple):
    name: str
    step: int | None


def _moving_axes(strides: Strides | None, block: tuple[int, int, int]) -> list[_Axis]:
    """The axes of the block with more than one thread, that of the lanes first."""
    if strides is None:
        return []
    steps = (strides.x, strides.y, strides.z)
    return [_Axis(name, step) for name, step, extent in zip("xyz", steps, block, strict=True) if extent > 1]


def _usual_step(result: AccessResult) -> int | None:
    """Bytes from a lane to the next one for most lanes of the sample, None where there is no such step."""
    sample = result.sample
    if sample is None:
        return None
    # Where no two neighbours are active, what every other lane does tells as much, or every fourth one.
    moved, distance = _moved(sample, 1), 1
    while not moved.size and distance < WARP_LANES - 1:
        distance += 1
        moved = _moved(sample, distance)
    steps, times = np.unique(moved[moved % distance == 0] // distance, return_counts=True)
    if not len(steps) or times.max() < _MOST * times.sum():
        return None
    return int(steps[times.argmax()])


def _moved(sample: Sample, distance: int) -> Any:
    """Bytes between the addresses of active lanes that are so far from each other."""
    both = sample.mask[:, distance:] & sample.mask[:, :-distance]
    return (sample.addresses[:, distance:] - sample.addresses[:, :-distance])[both]


def _contiguous(one: Evaluated, step: int) -> Pattern:
    """Neighbouring lanes touch neighbouring elements; then the rows are short, or begin off a sector."""
    access, result, launch = one
    run = _run_length(result, step, min(math.prod(launch.block), WARP_LANES)) * access.bytes
    if run < SECTOR_BYTES:
        short = f"rows of only {figure(run)} bytes"
        narrow = run == launch.block[0] * access.bytes
        return Pattern("short-rows", f"{short}, as `blockDim.x` is {launch.block[0]}" if narrow else short, step)
    if _has_gaps(result):
        active = figure(result.active_lanes or WARP_LANES)
        return Pattern("reduced", f"only {active} of {WARP_LANES} lanes are active, with gaps between them", step)
    shift = _shift(result)
    if shift == 0:
        return Pattern("short-rows", f"rows of {figure(run)} bytes", step)
    where = "in the middle of a sector" if shift is None else f"{shift} bytes past the start of a sector"
    return Pattern("misaligned", f"rows of {figure(run)} bytes that begin {where}", step)


def _has_gaps(result: AccessResult) -> bool:
    """Whether many of the lanes between a request's first and last active one take no part."""
    sample = result.sample
    if sample is None:
        return False
    first = sample.mask.argmax(axis=1)
    last = WARP_LANES - 1 - sample.mask[:, ::-1].argmax(axis=1)
    return int(sample.mask.sum()) < _MOST * int((last - first + 1).sum())


def _run_length(result: AccessResult, step: int, threads: int) -> float:
    """How many neighbouring lanes follow one another at this step in most requests, masked ones counted in, of warps
    with so many threads."""
    sample = result.sample
    if sample is None:
        return threads
    lanes = np.arange(WARP_LANES)
    # A lane that takes no part has no address: each is compared with the last one before it that does.
    active = np.maximum.accumulate(np.where(sample.mask, lanes, 0), axis=1)[:, :-1]
    moved = sample.addresses[:, 1:] - np.take_along_axis(sample.addresses, active, axis=1)
    has_last = np.logical_or.accumulate(sample.mask, axis=1)[:, :-1]
    breaks = np.count_nonzero((moved != step * (lanes[1:] - active)) & sample.mask[:, 1:] & has_last, axis=1)
    # What most requests do: those at the edge of a grid, which fold or clamp their index, would only blur it.
    return threads / (1 + int(np.argmax(np.bincount(breaks, sample.weights))))


def _shift(result: AccessResult) -> int | None:
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
        if not set(access.element_type.split()) <= _FUNDAMENTAL:
            pieces = f"{done_with_structs(access)} {count(access.bytes, 'byte')} at a time"
            return Pattern("copy", f"{access.record_bytes}-byte structs {pieces}", step)
        return Pattern("field", f"field of {_article(access.record_bytes)} {access.record_bytes}-byte struct", step)
    if (distance, access.bytes) == (8, 4) and access.element_type in _WIDE_INTEGERS:
        return Pattern("strided", "of each 64-bit integer only the lower half is used", step)
    elements = distance / access.bytes
    if _walks(one, distance):
        if elements >= _LONG_STRIDE:
            return Pattern("own-row", "each thread walks along a row of its own", step)
        return Pattern("own-run", f"each thread walks along {_run(one, elements)}", step)
    length = _length(one, elements)
    if elements < _LONG_STRIDE:
        text = "a stride that sizes give" if length is None else f"stride {length}{_named(elements, launch)}"
        return Pattern("strided", text, step)
    return Pattern("column", f"column of a row-major matrix{_named(elements, launch)}", step)


_MOST_OF_A_RUN = 0.75
"""Of the elements up to the next thread's, what a thread has to take for these to be its run: some at the edge take
less."""


def _run(one: Evaluated, elements: float) -> str:
    """`a run of 64 elements of its own`; how many of them a thread takes, where these are not all. A number only where
    it is known how many it takes."""
    length = _length(one, elements)
    taken = _taken(one)
    if length is None or taken is None:
        return "a run of its own"
    if taken >= _MOST_OF_A_RUN * elements:
        return f"a run of {length} of its own"
    return f"{count(round(taken), 'element')} of its own, {length} from one thread's to the next"


def _taken(one: Evaluated) -> float | None:
    """How many requests a warp makes on average, which is how many elements each of its threads takes."""
    _, result, launch = one
    warps = warp_count(launch.block) * math.prod(launch.grid)
    return result.requests / warps if result.requests is not None else None


def _length(one: Evaluated, elements: float) -> str | None:
    """A distance between lanes: in terms of the sizes that it comes from, and as a number only where the program gives
    it. None where sizes have no names."""
    sized = one.result.strides.sized if one.result.strides is not None else None
    if sized is None:
        return count(elements, "element")
    return f"`{sized}` elements" if sized else None


def done_with_structs(access: Access) -> str:
    """What an access does with a struct: what was computed is stored, and not copied."""
    if access.is_copy or access.operation not in ("load", "store"):
        return "copied"
    return "loaded" if access.operation == "load" else "stored"


def _article(number: int) -> str:
    """`an` before 8, 11, 18 and the numbers that begin with the word eight."""
    return "an" if str(number).startswith("8") or number in (11, 18) else "a"


def _named(elements: float, launch: LaunchFacts) -> str:
    """The argument that the stride comes from, if just one has its value."""
    # A weight of 100.0 is no stride of 100 elements.
    names = [name for name, value in launch.parameters.items() if type(value) is int and value == elements]
    return f" with `{names[0]}` = {figure(elements)}" if len(names) == 1 and elements > 2 else ""


def _walks(one: Evaluated, distance: int) -> bool:
    """Whether the turns of a loop take each lane through its own elements, before the next lane's begin."""
    access, result, launch = one
    sample = result.sample
    turn = abs(result.strides.turn or 0) if result.strides is not None else 0
    if turn in (access.bytes, access.record_bytes) and distance >= _LONG_STRIDE * access.bytes:
        return True
    if sample is None or not _repeats(result, launch):
        return False
    # The first requests of a warp are turns of the innermost loop in one block, though not each of them.
    turns = np.flatnonzero(sample.warps == sample.warps[0])[:3]
    # Those that all lanes make: some may leave the loop earlier than others, or enter it later.
    lanes = sample.mask[turns].all(axis=0)
    addresses = sample.addresses[turns][:, lanes]
    moved = addresses[1:] - addresses[:1]
    if not moved.size or np.any(moved != moved[:, :1]) or np.any((moved <= 0) | (moved >= distance)):
        return False
    return int(np.gcd.reduce(moved[:, 0])) in (access.bytes, access.record_bytes)


def _repeats(result: AccessResult, launch: LaunchFacts) -> bool:
    """Whether warps make more than one request on average, so that there is a loop around the access."""
    warps = warp_count(launch.block) * math.prod(launch.grid)
    return result.requests is not None and result.requests > 1.5 * warps
