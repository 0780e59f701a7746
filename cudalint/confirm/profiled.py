"""The process that Nsight Compute watches: `python -m cudalint.confirm.profiled FILE` runs each pickled trial once.

Data is made on the host, so that no kernels but the user's are launched.
"""

from __future__ import annotations

import os
import pickle
import sys

from cudalint.confirm.counters import STARTED
from cudalint.confirm.device import CompileFailure, CupyGpu, Fault, pattern_of
from cudalint.confirm.running import images
from cudalint.confirm.trials import Trial


def main(path: str) -> int:
    with open(path, "rb") as file:
        trials: list[Trial] = pickle.load(file)  # noqa: S301 - the parent wrote it a moment ago.
    gpu = CupyGpu()
    with open(os.path.join(os.path.dirname(path), STARTED), "a", encoding="utf-8") as progress:
        for trial in trials:
            print("kernel", file=progress, flush=True)
            if not _launch(trial, gpu):
                return 1
        print("end", file=progress, flush=True)
    return 0


def _launch(trial: Trial, gpu: CupyGpu) -> bool:
    """Whether another kernel can follow."""
    try:
        kernel = gpu.compile(trial)
        memories = [gpu.fill(b, pattern_of(b, i, trial)) for i, b in enumerate(trial.buffers)]
        kernel.launch(images(trial.arguments, trial.buffers, memories))
    except CompileFailure:
        pass  # The run without ncu has reported it.
    except Fault as fault:
        return fault.launch
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
