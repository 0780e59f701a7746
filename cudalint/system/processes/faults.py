"""Errors of this program itself, in words for the user: each costs the part that it happened in, and nothing else."""

from __future__ import annotations

import os
import sys
import traceback

from cudalint.system.disk import recorder as disk
from cudalint.system.processes.memory import out_of_memory


def described(error: Exception) -> str:
    """One line about an error that nobody foresaw; with `CUDALINT_DEBUG` in the environment its trace is printed."""
    if os.environ.get("CUDALINT_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, MemoryError):
        disk.note_chance()
        return out_of_memory()
    detail = " ".join(str(error).split())
    kind = type(error).__name__
    return f"internal error: {kind}: {detail}" if detail else f"internal error: {kind}"


def raised_by(error: Exception, module: str) -> str:
    """The same about an error in a rule, which is a module: the line is named if the rule is not cudalint's own."""
    package = module.partition(".")[0]
    if package != __name__.partition(".")[0]:
        for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
            if frame.f_globals.get("__name__", "").partition(".")[0] == package:
                said = described(error).removeprefix("internal error: ")
                return f"{said}, raised at {frame.f_code.co_filename}:{line} (CUDALINT_DEBUG=1 shows how)"
    return described(error)
