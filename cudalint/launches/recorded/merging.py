"""Recordings put together, cut down to what weighs most, and kept without names."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import Final

import msgspec

from cudalint.launches.recorded.names import MANGLED, hidden, is_hidden
from cudalint.launches.recorded.ordering import heaviness, kernel_order, launch_order
from cudalint.launches.recorded.records import (
    MOST_COUNTED,
    MOST_LETTERS,
    VERSION,
    RecordedKernel,
    RecordedLaunch,
    Recording,
)

_BETWEEN_DEVICES: Final = ", "
_TIME_DIGITS: Final = 4
"""Of a time, significant ones: no program takes the same time twice."""
_LETTERS: Final = 1000
"""Of arguments that count as one launch where a kernel keeps so many; a struct of 4 KB has eight times as many."""


def merged(recordings: Iterable[Recording]) -> Recording:
    """What several recordings hold together: launches that were made in the same way are one, with the sum of their
    counts and the mean of the times that are known. A kernel is known by its symbol; where that is no more than its
    plain name, by its name in the source too, which tells instances of a template apart.

    A kernel that has parameters of other sizes in another recording stays a kernel of its own. One program may have
    two kernels of a name, and a program may have changed between recordings; whoever looks for the launches of a
    kernel of the source finds those with parameters like its own among both. Where it has no sizes at all in a
    recording, as those of profilers are, its launches join the kernel with sizes if there is only one.
    """
    found = tuple(recordings)
    kernels: dict[tuple[str, str], dict[tuple[int, ...] | None, list[RecordedKernel]]] = {}
    for kernel in chain.from_iterable(each.kernels for each in found):
        is_plain = not kernel.symbol.startswith(MANGLED) and not is_hidden(kernel.symbol)
        known_by = (kernel.symbol, kernel.name if is_plain else "")
        kernels.setdefault(known_by, {}).setdefault(kernel.parameters, []).append(kernel)
    for by_sizes in kernels.values():
        if None in by_sizes and len(by_sizes) == 2:
            unsized = by_sizes.pop(None)
            next(iter(by_sizes.values())).extend(unsized)
    together = [_one_kernel(sizes, parts) for by_sizes in kernels.values() for sizes, parts in by_sizes.items()]
    return Recording(
        VERSION,
        tuple(sorted(together, key=kernel_order)),
        _devices(each.device for each in found),
        sum(each.left_out for each in found),
    )


def _one_kernel(sizes: tuple[int, ...] | None, parts: Sequence[RecordedKernel]) -> RecordedKernel:
    alike: dict[RecordedLaunch, list[RecordedLaunch]] = {}
    for launch in chain.from_iterable(part.launches for part in parts):
        alike.setdefault(msgspec.structs.replace(launch, count=1, order=None, time_us=None), []).append(launch)
    launches = sorted(map(_one_launch, alike.values()), key=launch_order)
    name = min((part.name for part in parts if part.name), default="")
    return RecordedKernel(parts[0].symbol, tuple(launches), name, sizes)


def _one_launch(alike: Sequence[RecordedLaunch]) -> RecordedLaunch:
    if len(alike) == 1:
        (own,) = alike
        return own if own.time_us is None else msgspec.structs.replace(own, time_us=_rounded(own.time_us))
    timed = [(launch.count, launch.time_us) for launch in alike if launch.time_us is not None]
    # Exact sums, so that no order of the recordings changes the last digit.
    total = math.fsum(count * time for count, time in timed)
    counted = sum(count for count, _ in timed)
    return msgspec.structs.replace(
        alike[0],
        count=min(MOST_COUNTED, sum(launch.count for launch in alike)),
        order=min((launch.order for launch in alike if launch.order is not None), default=None),
        time_us=_rounded(min(total / counted, max(time for _, time in timed))) if timed else None,
    )


def _rounded(time_us: float) -> float:
    return float(f"{time_us:.{_TIME_DIGITS}g}")


def _devices(names: Iterable[str]) -> str:
    each = {name for several in names for name in several.split(_BETWEEN_DEVICES) if name}
    return _BETWEEN_DEVICES.join(sorted(each))[:MOST_LETTERS]


def pruned(recording: Recording, most: int, of_each: int | None = None) -> Recording:
    """The launches that take most, `most` of them, and no more than `of_each` of a kernel. Each kernel keeps one as far
    as that allows, those first that take most as a whole; the others are counted as left out.

    Where `of_each` is given, a launch with large arguments counts as several of its kernel, so that structs of some
    kilobytes don't make up the whole file."""
    taken = heaviness(launch for kernel in recording.kernels for launch in kernel.launches)
    ranked: list[tuple[bool, tuple[float, ...], int, int]] = []
    """Of each launch: whether it isn't the first of its kernel, how little it takes, and where it stands."""
    kernels = sorted(recording.kernels, key=kernel_order)
    ordered = [sorted(kernel.launches, key=launch_order) for kernel in kernels]
    for number, launches in enumerate(ordered):
        lightness = [tuple(-part for part in taken(launch)) for launch in launches]
        whole = tuple(math.fsum(part) for part in zip(*lightness, strict=True))
        first = sorted(range(len(launches)), key=lightness.__getitem__)
        if of_each is not None:
            first = first[: _fitting((launches[own] for own in first), of_each)]
        for rank, own in enumerate(first):
            ranked.append((rank > 0, lightness[own] if rank else whole, number, own))
    kept: dict[int, list[int]] = {}
    for _, _, number, own in sorted(ranked)[: max(most, 0)]:
        kept.setdefault(number, []).append(own)
    fewer = tuple(
        msgspec.structs.replace(kernel, launches=tuple(ordered[number][own] for own in sorted(kept.get(number, ()))))
        for number, kernel in enumerate(kernels)
        if number in kept or not kernel.launches
    )
    left_out = recording.left_out + recording.launches - sum(map(len, kept.values()))
    return msgspec.structs.replace(recording, kernels=fewer, left_out=left_out)


def _fitting(launches: Iterable[RecordedLaunch], most: int) -> int:
    """How many of the first launches count as `most` at the utmost; one always does."""
    return max(1, bisect_right(list(accumulate(map(_counted_as, launches))), most))


def _counted_as(launch: RecordedLaunch) -> int:
    letters = sum(len(argument) for argument in launch.arguments or () if isinstance(argument, str))
    return max(1, math.ceil(letters / _LETTERS))


def without_names(recording: Recording) -> Recording:
    """The same launches of kernels that only whoever has the source can tell."""
    kernels = [msgspec.structs.replace(kernel, symbol=hidden(kernel.symbol), name="") for kernel in recording.kernels]
    # Names that differ by the compiler alone are the same when they are hidden.
    return merged([msgspec.structs.replace(recording, kernels=tuple(kernels))])
