"""The benchmarks are scripts beside the package; their modules are found as the scripts find them."""

from __future__ import annotations

import sys
from pathlib import Path

# Behind everything else, so that `coverage` stays the name of the tool for whoever has it installed.
sys.path += [str(Path(__file__).parents[2] / "benchmarks"), str(Path(__file__).parent)]
