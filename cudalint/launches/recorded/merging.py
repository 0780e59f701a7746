"""Recordings put together, cut down to what weighs most, and kept without names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import msgspec

from cudalint.launches.recorded.names import MANGLED, hidden, is_hidden
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
        return alike[0]
    timed = [(launch.count, launch.time_us) for launch in alike if launch.time_us is not None]
    # Exact sums, so that no order of the recordings changes the last digit.
    total = math.fsum(count * time for count, time in timed)
    counted = sum(count for count, _ in timed)
    return msgspec.structs.replace(
        alike[0],
        count=min(MOST_COUNTED, sum(launch.count for launch in alike)),
        order=min((launch.order for launch in alike if launch.order is not None), default=None),
        time_us=min(total / counted, max(time for _, time in timed)) if timed else None,
    )


def _devices(names: Iterable[str]) -> str:
    each = {name for several in names for name in several.split(_BETWEEN_DEVICES) if name}
    return _BETWEEN_DEVICES.join(sorted(each))[:MOST_LETTERS]


def pruned(recording: Recording, most: int) -> Recording:
    """The launches that weigh most, `most` of them. Each kernel keeps one as far as that allows, those first that weigh
    most as a whole; the others are counted as left out."""
    is_timed = all(launch.time_us is not None for kernel in recording.kernels for launch in kernel.launches)

    def heaviness(launch: RecordedLaunch) -> tuple[float, float]:
        return (launch.weight, launch.count) if is_timed else (launch.count, launch.threads * launch.blocks)

    ranked: list[tuple[bool, tuple[float, ...], int, int]] = []
    """Of each launch: whether it isn't the first of its kernel, how little it weighs, and where it stands."""
    kernels = sorted(recording.kernels, key=kernel_order)
    ordered = [sorted(kernel.launches, key=launch_order) for kernel in kernels]
    for number, launches in enumerate(ordered):
        lightness = [tuple(-part for part in heaviness(launch)) for launch in launches]
        whole = tuple(math.fsum(part) for part in zip(*lightness, strict=True))
        for rank, own in enumerate(sorted(range(len(launches)), key=lightness.__getitem__)):
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


def without_names(recording: Recording) -> Recording:
    """The same launches of kernels that only whoever has the source can tell."""
    kernels = [msgspec.structs.replace(kernel, symbol=hidden(kernel.symbol), name="") for kernel in recording.kernels]
    # Names that differ by the compiler alone are the same when they are hidden.
    return merged([msgspec.structs.replace(recording, kernels=tuple(kernels))])
