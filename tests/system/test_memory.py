"""Memory that nothing needs any more is given back in large processes only."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest

from cudalint.system.processes.memory import give_back, held_megabytes

_HUGE = 1e9


class _Knot:
    """It refers to itself, as a parsed file and its functions do to each other."""

    def __init__(self) -> None:
        self.other = self


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    """As in an analysis."""
    gc.disable()
    yield
    gc.enable()


def test_what_refers_to_itself_is_collected_where_much_is_held() -> None:
    knot = weakref.ref(_Knot())
    give_back(least=0)
    assert knot() is None


def test_a_small_process_does_not_look_for_it() -> None:
    knot = weakref.ref(_Knot())
    give_back(least=_HUGE)
    assert knot() is not None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_linux_tells_what_is_held() -> None:
    before = held_megabytes()
    block = bytearray(b"x") * (64 << 20)
    assert held_megabytes() - before == pytest.approx(64, abs=8)
    assert len(block) == 64 << 20


_UNUSED_DATA = """
import mmap, os, sys
from cudalint.system.processes import memory
reserved = mmap.mmap(-1, 512 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # As the stacks of threads of numpy are.
memory.limit(256)
print(memory.limit_megabytes())
held = [bytearray(1 << 20) for _ in range(100)]
try:
    held.append(bytearray(512 << 20))
except MemoryError:
    print("too much")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits it")
def test_memory_that_is_reserved_and_unused_does_not_count() -> None:
    run = subprocess.run([sys.executable, "-c", _UNUSED_DATA], capture_output=True, text=True, check=False)
    assert run.stdout.split("\n") == ["256", "too much", ""], run.stderr
