"""Orders of recorded kernels and launches that rest on nothing but what they hold."""

from __future__ import annotations

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
