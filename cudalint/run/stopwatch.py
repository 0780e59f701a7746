"""How long the analysis of a file takes."""

from __future__ import annotations

import time
from collections.abc import Mapping

from cudalint.system.processes.timings import taken


class Stopwatch:
    """Runs from the beginning of a file's analysis."""

    def __init__(self) -> None:
        self._begin = time.process_time()
        self.again()

    def again(self) -> None:
        """The analysis begins anew; what was spent stays."""
        self._start, self._before = time.process_time(), taken().kernels

    def pause(self) -> None:
        self._paused = time.process_time(), taken().kernels

    def go_on(self) -> None:
        """What was done since it paused was for something else."""
        at, kernels = self._paused
        since, now = time.process_time() - at, taken().kernels
        self._begin, self._start = self._begin + since, self._start + since
        self._before = {
            name: self._before.get(name, 0.0) + spent - kernels.get(name, 0.0) for name, spent in now.items()
        }

    @property
    def seconds(self) -> float:
        """Spent until now."""
        return time.process_time() - self._begin

    @property
    def lasted(self) -> tuple[Mapping[str, float], float]:
        """What was spent since the beginning of the last analysis on each kernel, and on the rest."""
        kernels = {name: spent - self._before.get(name, 0.0) for name, spent in taken().kernels.items()}
        return kernels, time.process_time() - self._start - sum(kernels.values())
