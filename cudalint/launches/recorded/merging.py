"""Recordings put together, cut down to what weighs most, and kept without names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import msgspec

from cudalint.launches.recorded.names import hidden
from cudalint.launches.recorded.ordering import kernel_order, launch_order
from cudalint.launches.recorded.records import (
    MOST_COUNTED,
    MOST_LETTERS,
    VERSION,
    RecordedKernel,
    RecordedLaunch,
    Recording,
)

_BETWEEN_DEVICES: Final = ", "


def merged(recordings: Iterable[Recording]) -> Recording:
    """What several recordings hold together: launches that were made in the same way are one, with the sum of their
    counts and the mean of the times that are known.

    A kernel that has parameters of other sizes in another recording stays a kernel of its own. One program may have
    two kernels of a name, and a program may have changed between recordings; whoever looks for the launches of a
    kernel of the source finds those with parameters like its own among both. Where it has no sizes at all in a
    recording, as those of profilers are, its launches join the kernel with sizes if there is only one.
    """
    found = tuple(recordings)
    kernels: dict[str, dict[tuple[int, ...] | None, list[RecordedKernel]]] = {}
    for kernel in chain.from_iterable(each.kernels for each in found):
        kernels.setdefault(kernel.symbol, {}).setdefault(kernel.parameters, []).append(kernel)
    for by_sizes in kernels.values():
        if None in by_sizes and len(by_sizes) == 2:
            unsized = by_sizes.pop(None)
            next(iter(by_sizes.values())).extend(unsized)
    together = [
        _one_kernel(symbol, sizes, parts) for symbol, by_sizes in kernels.items() for sizes, parts in by_sizes.items()
    ]
    return Recording(
        VERSION,
        tuple(sorted(together, key=kernel_order)),
        _devices(each.device for each in found),
        sum(each.left_out for each in found),
    )


def _one_kernel(symbol: str, sizes: tuple[int, ...] | None, parts: Sequence[RecordedKernel]) -> RecordedKernel:
    alike: dict[RecordedLaunch, list[RecordedLaunch]] = {}
    for launch in chain.from_iterable(part.launches for part in parts):
        alike.setdefault(msgspec.structs.replace(launch, count=1, order=None, time_us=None), []).append(launch)
    launches = sorted(map(_one_launch, alike.values()), key=launch_order)
    name = min((part.name for part in parts if part.name), default="")
    return RecordedKernel(symbol, tuple(launches), name, sizes)


def _one_launch(alike: Sequence[RecordedLaunch]) -> RecordedLaunch:
    if len(alike) == 1:
        return alike[0]
    timed = [(launch.count, launch.time_us) for launch in alike if launch.time_us is not None]
    # Exact sums, so that no order of the recordings changes the last digit.
    total = math.fsum(count * time for count, time in timed)
    return msgspec.structs.replace(
        alike[0],
        count=min(MOST_COUNTED, sum(launch.count for launch in alike)),
        order=min((launch.order for launch in alike if launch.order is not None), default=None),
        time_us=total / sum(count for count, _ in timed) if timed else None,
    )


def _devices(names: Iterable[str]) -> str:
    each = {name for several in names for name in several.split(_BETWEEN_DEVICES) if name}
    return _BETWEEN_DEVICES.join(sorted(each))[:MOST_LETTERS]


def pruned(recording: Recording, most: int) -> Recording:
    """The launches that weigh most, `most` of them. Each kernel keeps one as far as that allows, those first that weigh
    most as a whole; the others are counted as left out."""
    if recording.launches <= most:
        return recording
    is_timed = all(launch.time_us is not None for kernel in recording.kernels for launch in kernel.launches)

    def heaviness(launch: RecordedLaunch) -> tuple[float, float]:
        return (launch.weight, launch.count) if is_timed else (launch.count, launch.threads * launch.blocks)

    ranked: list[tuple[bool, tuple[float, ...], int, int]] = []
    """Of each launch: whether it isn't the first of its kernel, how little it weighs, and where it stands."""
    kernels = sorted(recording.kernels, key=kernel_order)
    for number, kernel in enumerate(kernels):
        weights = [heaviness(launch) for launch in kernel.launches]
        all_of_it = tuple(-math.fsum(part) for part in zip(*weights, strict=True))
        order = sorted(
            range(len(weights)), key=lambda own: (*(-part for part in weights[own]), launch_order(kernel.launches[own]))
        )
        for rank, own in enumerate(order):
            lightness = tuple(-part for part in weights[own]) if rank else all_of_it
            ranked.append((rank > 0, lightness, number, own))
    kept: dict[int, list[RecordedLaunch]] = {}
    for _, _, number, own in sorted(ranked)[: max(most, 0)]:
        kept.setdefault(number, []).append(kernels[number].launches[own])
    fewer = tuple(
        msgspec.structs.replace(kernels[number], launches=tuple(sorted(launches, key=launch_order)))
        for number, launches in sorted(kept.items())
    )
    left_out = recording.left_out + recording.launches - sum(map(len, kept.values()))
    return msgspec.structs.replace(recording, kernels=fewer, left_out=left_out)


def without_names(recording: Recording) -> Recording:
    """The same launches of kernels that only whoever has the source can tell."""
    kernels = [msgspec.structs.replace(kernel, symbol=hidden(kernel.symbol), name="") for kernel in recording.kernels]
    # Names that differ by the compiler alone are the same when they are hidden.
    return merged([msgspec.structs.replace(recording, kernels=tuple(kernels))])
