"""Looking for something in a folder and in those around it."""

from __future__ import annotations

import os
from collections.abc import Iterator


def upwards(folder: str) -> Iterator[str]:
    """A folder, the one that it is in, and so on to the root."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def work_tree(folder: str) -> str:
    """The nearest folder upwards that git keeps something in; the folder itself if there is none."""
    return next((each for each in upwards(folder) if os.path.exists(os.path.join(each, ".git"))), folder)


__all__ = ["upwards", "work_tree"]
