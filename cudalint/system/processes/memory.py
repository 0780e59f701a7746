"""How much memory this process takes, and giving back what nothing needs any more."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from functools import cache

_MUCH = 250
"""Megabytes from which on it is worth a search for what is unused, which takes up to a second where there is so much.
"""
_STATE = "/proc/self/statm"
_most: int | None = None
"""Megabytes that `limit` has been asked for."""
MORE = "--memory-limit gives more"
_NEAR = 0.7
"""The share of its limit from which on a process may have failed for want of memory: the next piece may be large."""


def peak_megabytes() -> float:
    """The most memory that this process has held; 0 where the platform doesn't tell."""
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def limit(megabytes: int) -> None:
    """Has the system give this process so much memory at most, where it can: what asks for more gets a MemoryError, or
    fails in its own way if it is no Python. What it has asked for before and never used, such as the stacks of
    numpy's threads in the process that it was forked from, does not count. Elsewhere than on Linux nothing is limited:
    other systems count what a process could address, which is far more than it holds, or nothing at all."""
    if sys.platform != "linux":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    global _most
    _most = megabytes
    most = (megabytes << 20) + _unused()
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _unused() -> int:
    """Bytes of data that this process may write to by now and has not touched, which the system counts as taken."""
    import resource

    try:
        with open(_STATE, encoding="ascii") as file:
            _, resident, shared, _, _, data, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return max(0, data - (resident - shared)) * resource.getpagesize()


def limit_megabytes() -> int | None:
    """What this process may hold; None where nothing limits it."""
    if sys.platform != "linux":
        return None
    if _most is not None:
        return _most
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return None if soft == resource.RLIM_INFINITY else soft >> 20


def is_exhausted() -> bool:
    """Whether what has failed may have failed for want of memory."""
    most = limit_megabytes()
    return most is not None and peak_megabytes() > _NEAR * most


def out_of_memory() -> str:
    """What a user reads about it."""
    most = limit_megabytes()
    return f"it needs more than {most} MB of memory; {MORE}" if most is not None else "there is not enough memory"


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
    many megabytes, or of which nobody knows how many.

    Python's collection is off during an analysis. Parsed files know their functions and those know the file, so that
    nothing else ends them; and what libclang has left is of no use to Python's own objects, which lie elsewhere.
    """
    if 0 < held_megabytes() < least:
        return
    gc.collect()
    library = _c_library()
    if library is not None:
        library.malloc_trim(0)


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
