"""Records that are copied into variables: which of their fields are loaded and stored, as counters of an H200 have it
for records of ten floats (`Particle own = p[i]; ... p[i] = own;`, nvcc 13.0 -O3)."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """
struct Particle { float pos[3]; float vel[3]; float acc[3]; float mass; };
__device__ void moved(Particle &x);
__global__ void k(Particle* P, float* E, Particle* __restrict__ Q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    BODY
}
int main() { Particle *p, *q; float *e; k<<<64, 256>>>(p, e, q, 1000); }
"""
_WARPS = 64 * 8


@pytest.mark.parametrize(
    ("body", "loads", "stores"),
    [
        # What is read is loaded, whatever the copy holds.
        ("Particle x = P[i]; E[i] = x.pos[0] + x.pos[1] + x.mass;", 3, 0),
        # With an index that is not known, the copy lies in local memory as a whole.
        ("Particle x; x = P[i]; E[i] = x.pos[n];", 10, 0),
        ("auto x = P[i]; float s = x.acc[0]; x.acc[0] = s + x.pos[0]; P[i] = x;", 2, 1),
        # Measured: nine of ten are changed, and all are read.
        ("""auto x = P[i];
            for (int d = 0; d < 1; d++) {
                x.vel[0] += x.acc[0]; x.vel[1] += x.acc[1]; x.vel[2] += x.acc[2];
                x.pos[0] += x.vel[0]; x.pos[1] += x.vel[1]; x.pos[2] += x.vel[2];
            }
            x.acc[0] = x.mass; x.acc[1] = 0; x.acc[2] = 0; P[i] = x;""", 10, 9),
        # What may stay as it was is loaded to be stored.
        ("auto x = P[i]; if (n > 5) x.mass = 1; P[i] = x;", 1, 1),
        # Another place needs all of it but what was changed (machine code).
        ("auto x = P[i]; x.mass = 1; P[i + n] = x;", 9, 10),
        # What is stored in between may be the record, unless nothing else points to it.
        ("auto x = P[i]; x.mass = 1; E[i] = 2; P[i] = x;", 9, 10),
        ("auto x = Q[i]; x.mass = x.mass + 1; E[i] = 2; Q[i] = x;", 1, 1),
        # A function may read and change it.
        ("auto x = P[i]; moved(x); P[i] = x;", 10, 10),
    ],
)  # fmt: skip
def test_fields_that_are_of_use(body: str, loads: int, stores: int) -> None:
    source = _SOURCE.replace("BODY", body)
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    found = {"load": 0.0, "store": 0.0}
    for access in kernel.accesses:
        if access.array in ("P", "Q"):
            found[access.operation] += sum(result.requests or 0 for result in access.results)
    assert found == {"load": loads * _WARPS, "store": stores * _WARPS}
