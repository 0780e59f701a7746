"""What many values go into depends on all of them, and not on the first few alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """
__constant__ unsigned c[64];
__device__ unsigned mix(unsigned a, unsigned b, unsigned d, unsigned e, unsigned f, unsigned g, unsigned h,
                        unsigned i, unsigned j) { return a ^ b ^ d ^ e ^ f ^ g ^ h ^ i ^ j; }
__device__ void pass_on(unsigned *to, const unsigned *from) { *(uint4 *)to = *(const uint4 *)from; }
__global__ void k(const unsigned *data, unsigned *out, unsigned n)
{
    unsigned in[16], v = 0;
    for (int i = 0; i < 12; i++) in[i] = c[3 * i];
    for (int i = 12; i < 16; i++) in[i] = SOURCE;
    BODY
    out[v & 1023] = 1;
}
void run(const unsigned *data, unsigned *out, unsigned n) { k<<<1, 32>>>(data, out, n); }
"""


@pytest.mark.parametrize(
    "body",
    [
        "v = mix(in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[15]);",
        "for (unsigned i = 0; i < n; i++) v = v * 5 + in[(v + i) & 15];",
        "for (unsigned i = 0; i < n; i++) v = v + in[i & 15];",
        "for (unsigned i = 0; i < n; i++) v = in[c[i] & 15];",
        # Stored through a pointer of another type.
        "for (unsigned i = 0; i < n; i++) *(uint4 *)in = *(uint4 *)&in[12];\nv = in[1];",
        "for (unsigned i = 0; i < n; i++) pass_on(in, in + 12);\nv = in[1];",
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_a_value_of_each_thread_among_those_that_all_threads_share(tmp_path: Path, body: str, own: bool) -> None:
    """If all threads have the same values, they store to one place: 1 sector."""
    source = "data[4 * threadIdx.x + i]" if own else "data[i]"
    path = tmp_path / "k.cu"
    path.write_text(_KERNEL.replace("SOURCE", source).replace("BODY", body))
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    [store] = [access for access in kernel.accesses if access.operation == "store"]
    [result] = store.results
    if own:
        assert result.status in ("range", "data-dependent")
        assert result.sectors_per_request is None or result.sectors_per_request > 4
    else:
        assert result.sectors_per_request == 1


@pytest.mark.parametrize("statement", ["a[t] = b[t]", "a[t] += b[t], ++n", "(a[t] = b[t])"])
def test_what_a_discarded_call_returns_a_reference_to_is_not_read(statement: str) -> None:
    """`operator=` returns `*this`, and nobody asks for its value."""
    source = f"""
    struct V {{
        float x;
        __device__ V& operator=(const V& v) {{ x = v.x; return *this; }}
        __device__ V& operator+=(const V& v) {{ x = v.x; return *this; }}
    }};
    __global__ void k(V* a, const V* b, int n) {{ int t = threadIdx.x; {statement}; }}
    void run(V* a, V* b, int n) {{ k<<<1, 32>>>(a, b, n); }}
    """
    (kernel,) = analyse_file("k.cu", AnalysisOptions(unsaved=(("k.cu", source),))).kernels
    assert sorted((access.operation, access.array) for access in kernel.accesses) == [("load", "b"), ("store", "a")]
