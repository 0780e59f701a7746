"""Which core gives the facts of kernels, while there are two."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "CUDALINT_CORE"
"""The environment variable that says it."""
EXECUTES_TRACES: Final = os.environ.get(VARIABLE) == "traces"
"""Whether kernels are executed in lockstep, in all worlds of a launch, and facts are computed of the traces. It is for
whoever works on the program, and goes with the old core; `benchmarks/differ.py` sets what both say side by side."""
