"""What stands between a session and the GPU, and how it is asked. The process of the command itself never touches the
GPU: whatever does lives in workers that may fault or hang."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from cudalint.confirm.counters import Instruction, profile
from cudalint.confirm.device import Missing, device
from cudalint.confirm.running import run_on_gpu
from cudalint.confirm.trials import Device, Outcome, Trial
from cudalint.run.limits import Limits, Lost

Method = Literal["auto", "ncu", "instrumented"]

RunTrial = Callable[[Trial], Outcome]
AskDevice = Callable[[int], "Device | str"]
Profile = Callable[[Sequence[Trial], str, float], "list[Instruction]"]


class Settings(Struct, frozen=True):
    method: Method = "auto"
    seconds: float = 20.0
    """For one kernel, its compilation included."""
    timed: bool = True

    @property
    def one_worker(self) -> Limits:
        """Kernels are timed alone on their GPU."""
        return Limits(workers=1, seconds=self.seconds, wall_seconds=2 * self.seconds, megabytes=1 << 20)


class Backend(Struct, frozen=True):
    """The tests have another one."""

    ask: AskDevice
    run: RunTrial
    profile: Profile


def ask_device(_: int) -> Device | str:
    """What GPU there is, or why there is none; runs in a worker, like everything that loads the driver."""
    try:
        return device()
    except Missing as reason:
        return str(reason)


def why_lost(lost: Lost) -> str:
    """Why a run has no result. What the pool says is said of a file's analysis, whose limit is another option."""
    return lost.reason.replace("the analysis", "the run").partition("; --time-limit")[0]


CUPY = Backend(ask_device, run_on_gpu, profile)
