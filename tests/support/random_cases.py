"""How long tests with random cases go on."""

from __future__ import annotations

import os


def cases(usual: int) -> int:
    """So many random cases as each run tries, or `CUDALINT_EXAMPLES` times as many: 10, or 0.25."""
    return max(1, round(usual * float(os.environ.get("CUDALINT_EXAMPLES", "1"))))
