"""Where the host code's executor looks for it: see `cudalint/processes/deadline.py`."""

from __future__ import annotations

from cudalint.processes.deadline import NEVER, Deadline, Pause

__all__ = ["NEVER", "Deadline", "Pause"]
