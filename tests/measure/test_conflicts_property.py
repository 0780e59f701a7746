"""Conflicts against brute force: every pair of threads of a block, for random index expressions and barriers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_cases import cases

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_THREADS = 96
_SIZE = 128
_WARP = 32

Index = tuple[int, int, int]
"""`(a * t + b) % m`, with m at most the size of the array."""
_indices = st.tuples(st.integers(0, 5), st.integers(0, 70), st.integers(1, _SIZE))
_guards = st.one_of(st.none(), st.tuples(st.integers(1, 8), st.integers(0, 7)))
"""`t % m == r`, for who gets there."""
_barriers = st.sampled_from(("", "__syncwarp();", "__syncthreads();"))


_ALL = np.arange(_THREADS)


def _addresses(index: Index) -> NDArray[np.int64]:
    """Of each thread."""
    a, b, m = index
    return (a * _ALL + b) % m


def _reaching(guard: tuple[int, int] | None) -> NDArray[np.bool_]:
    return np.ones(_THREADS, bool) if guard is None else _ALL % guard[0] == guard[1] % guard[0]


def _source(store: Index, load: Index, guard: tuple[int, int] | None, barrier: str, rounds: int) -> str:
    condition = "" if guard is None else f"if (threadIdx.x % {guard[0]} == {guard[1] % guard[0]}) "
    return f"""
        __global__ void k(float *out) {{
            __shared__ int s[{_SIZE}];
            int sum = 0, t = threadIdx.x;
            for (int round = 0; round < {rounds}; round++) {{
                {condition}s[({store[0]} * t + {store[1]}) % {store[2]}] = t * {rounds} + round;
                {barrier}
                sum += s[({load[0]} * t + {load[1]}) % {load[2]}];
            }}
            out[blockIdx.x * {_THREADS} + t] = sum;
        }}
        void run(float *out) {{ k<<<4, {_THREADS}>>>(out); }}
    """


def _ordered(barrier: str) -> NDArray[np.bool_]:
    """Whether the store of one thread is ordered with the load of another in the same round, for all pairs."""
    together = _ALL[:, None] // _WARP == _ALL[None, :] // _WARP
    return {"__syncthreads();": np.ones_like(together), "__syncwarp();": together}.get(barrier, np.zeros_like(together))


def _expected(store: Index, load: Index, guard: tuple[int, int] | None, barrier: str, rounds: int) -> set[str]:
    """The kinds of race: two stores, or a store and a load."""
    stores = np.where(_reaching(guard), _addresses(store), -1)[:, None]
    apart = ~np.eye(_THREADS, dtype=bool) & (stores >= 0)
    found: set[str] = set()
    if (apart & (stores == stores.T)).any():
        found.add("store-store")
    # A load of one round and the store of the next have no barrier between them at all.
    free = apart if rounds > 1 else apart & ~_ordered(barrier)
    if (free & (stores == _addresses(load)[None, :])).any():
        found.add("store-load")
    return found


def _races(kernel: KernelFacts) -> set[str]:
    shared = [race for race in kernel.races or () if race.space == "shared"]
    operations = [{race.first.operation, race.second.operation} for race in shared]
    return {"store-store" if found == {"store"} else "store-load" for found in operations}


@settings(max_examples=cases(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(store=_indices, load=_indices, guard=_guards, barrier=_barriers, rounds=st.integers(1, 3))
def test_conflicts_are_those_of_brute_force(
    tmp_path: Path,
    store: Index,
    load: Index,
    guard: tuple[int, int] | None,
    barrier: str,
    rounds: int,
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(_source(store, load, guard, barrier, rounds), encoding="utf-8")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert _races(kernel) == _expected(store, load, guard, barrier, rounds)
