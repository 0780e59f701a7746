"""How much memory this process takes, and giving back what nothing needs any more."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from functools import cache

_MUCH = 250
"""Megabytes from which on it is worth a search for what is unused. That takes up to half a second where there is so
much, and would take a tenth of the time of a small file."""
_GROWTH = 60
"""Megabytes by which it has to have grown since the last search: what was in use then mostly still is."""
_STATE = "/proc/self/statm"
_left: float | None = None
"""Megabytes that the process held after the last search."""


def peak_megabytes() -> float:
    """The most memory that this process has held; 0 where the platform doesn't tell."""
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def held_megabytes() -> float:
    """The memory that this process holds now; 0 where the platform doesn't tell."""
    try:
        with open(_STATE, encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return 0.0
    import resource

    return pages * resource.getpagesize() / 2**20


def give_back(least: float = _MUCH) -> None:
    """Looks for what only refers to itself, and returns what is free to the system, in a process that holds at least so
    many megabytes, and by `_GROWTH` more than after the last time.

    Python's collection is off during an analysis. Parsed files know their functions and those know the file, so that
    nothing else ends them; and what libclang has left is of no use to Python's own objects, which lie elsewhere.
    """
    global _left
    if held_megabytes() < max(least, 0.0 if _left is None else _left + _GROWTH):
        return
    gc.collect()
    library = _c_library()
    if library is not None:
        library.malloc_trim(0)
    _left = held_megabytes()


@cache
def _c_library() -> ctypes.CDLL | None:
    """The GNU C library, if it is that one."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.malloc_trim.argtypes = (ctypes.c_size_t,)
        return library
    return None
