"""Sums in memory, and what is stored over: how often the machine loads and stores, read from the PTX that nvcc 13.0
makes of the same loops (sm_80)."""

from __future__ import annotations

import pytest

from cudalint.driver.analysis import analyse_file
from cudalint.options.analysis import AnalysisOptions

_ALONE = "float *__restrict__ out, const float *__restrict__ in, int n"
_ANY = "float *out, const float *in, int n"
_LOOP = "for (int j = 0; j < n; j++)"
_TURNS = 64


@pytest.mark.parametrize(
    ("parameters", "body", "loads", "stores"),
    [
        # In a register while the loop turns: one load before it, one store behind it.
        (_ALONE, f"{_LOOP} out[t] += in[j];", 1, 1),
        (_ALONE, f"{_LOOP} for (int k = 0; k < n; k++) out[t] += in[j + k];", 1, 1),
        (_ANY, f"{_LOOP} out[t] += j * j;", 1, 1),
        # What is stored before the loop need not be loaded; it stays for loops that don't turn.
        (_ALONE, f"out[t] = 0; {_LOOP} out[t] += in[j];", 0, 2),
        # `in` may be the same memory, so that it has to be there in each iteration; but nothing else stores there.
        (_ANY, f"{_LOOP} out[t] += in[j];", 1, _TURNS),
        # Another element may be the same one.
        (_ALONE, f"{_LOOP} {{ out[t] += in[j]; out[n - j] = 1; }}", _TURNS, 2 * _TURNS),
        (_ALONE, f"{_LOOP} {{ out[2 * t] += in[j]; out[2 * t + 1] += in[j]; }}", 2, 2),
        # Nobody else is told of `__restrict__` memory at a barrier.
        (_ALONE, f"{_LOOP} {{ out[t] += in[j]; __syncthreads(); }}", 1, 1),
        (_ANY, f"{_LOOP} {{ out[t] += j; __syncthreads(); }}", _TURNS, _TURNS),
        (_ALONE, f"{_LOOP} {{ out[t] += in[j]; __threadfence(); }}", _TURNS, _TURNS),
        # A branch of its own, which this launch takes.
        (_ALONE, f"{_LOOP} if (j >= 0 && n > t) out[t] += in[j];", _TURNS, _TURNS),
        # A loop that vanishes: five sums and what is made of them are one store.
        (_ANY, "out[t] = 0; for (int j = 0; j < 5; j++) out[t] += j * n; out[t] = 3 * out[t] + 7;", 0, 1),
        (_ALONE, "out[t] = 1; out[t] = in[t];", 0, 1),
        # `in[t]` may be what has just been stored.
        (_ANY, "out[t] = 1; out[t] = in[t];", 0, 2),
        (_ANY, "out[t] = 1; __syncthreads(); out[t] = 2;", 0, 2),
        # A loop or a branch in between.
        (_ALONE, f"float x = 1; out[t] = x; {_LOOP} x = x * x + 1; out[t] = x;", 0, 2),
        (_ALONE, "out[t] = 1; if (in[t] > 0) n = n * n / 7 + sqrtf(n); out[t] = n;", 0, 2),
    ],
)  # fmt: skip
def test_how_often_a_place_is_loaded_and_stored(parameters: str, body: str, loads: int, stores: int) -> None:
    source = f"__global__ void k({parameters}) {{ int t = threadIdx.x; {body} }}"
    source += f"void run(float *a, float *b) {{ k<<<1, 32>>>(a, b, {_TURNS}); }}"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    found = {"load": 0.0, "store": 0.0}
    for access in kernel.accesses:
        if access.array == "a" or access.array == "out":
            found[access.operation] += sum(result.requests or 0.0 for result in access.results)
    assert (found["load"], found["store"]) == (loads, stores)
