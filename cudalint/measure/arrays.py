"""What numbers come in: arrays of numpy by what their elements are, and one number for each world."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Weights = NDArray[np.float64]
Mask = NDArray[np.bool_]
"""[R, L] which lanes of which rows."""
ByWorld = tuple[int | None, ...]
"""A number in each world; None where it is not known."""
