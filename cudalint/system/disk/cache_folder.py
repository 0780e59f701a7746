"""The user's cache folder. It is never one that a linted project names."""

from __future__ import annotations

import os
import sys
from typing import Final

FOLDER_VARIABLE: Final = "CUDALINT_CACHE_DIR"
"""Names another cache folder; an empty value switches the cache off."""


def cache_folder() -> str | None:
    """Absolute; None where there is none, or the user wants none."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return os.path.abspath(named) if named else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "cudalint") if base and os.path.isabs(base) else None


def results_folder(named: str | None = None) -> str | None:
    """Where the results of files are kept: in the folder that the user names, or in the cache folder."""
    folder = os.path.abspath(named) if named is not None else cache_folder()
    return os.path.join(folder, "results") if folder is not None else None
