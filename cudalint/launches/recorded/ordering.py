"""Orders of recorded kernels and launches that rest on nothing but what they hold, and which launches take most."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch

_NUMBER_DIGITS: Final = 20
"""Of numbers of eight bytes."""


def kernel_order(kernel: RecordedKernel) -> tuple[object, ...]:
    """By name; kernels of the same name by their parameters."""
    return kernel.symbol, kernel.parameters or (), kernel.parameters is not None, kernel.name


def launch_order(launch: RecordedLaunch) -> tuple[object, ...]:
    """By sizes, then arguments, then whatever else a launch has."""
    arguments = tuple((isinstance(own, str), str(own).rjust(_NUMBER_DIGITS)) for own in launch.arguments or ())
    rest = msgspec.json.encode(launch)
    return launch.grid, launch.block, launch.shared, arguments, launch.cluster or (), launch.stream, launch.count, rest


def heaviness(launches: Iterable[RecordedLaunch]) -> Callable[[RecordedLaunch], tuple[float, int]]:
    """What each of some launches takes, and how often it was made: by time where that of all of them is known, or else
    by threads, since the two can't be compared."""
    is_timed = all(launch.time_us is not None for launch in launches)

    def taken(launch: RecordedLaunch) -> tuple[float, int]:
        threads = float(launch.count * launch.threads * launch.blocks)
        return launch.weight if is_timed else threads, launch.count

    return taken
