"""Elements of templates that nothing instantiates: where nobody knows how large they are nothing is said of them."""

from __future__ import annotations

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """
template <typename G, int N>
__global__ void k(typename G::A *a, typename G::A *b, float *out, int n) {
    __shared__ typename G::A s[N];
    __shared__ typename G::A fixed[16];
    typename G::A own[3];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = a[i];
        fixed[threadIdx.x] = b[i * n];
        own[threadIdx.x & 7] = s[threadIdx.x + 1];
        b[i + n] = own[5];
        for (int j = 0; j < n; ++j) { out[i] += a[j] * b[j * n + i]; atomicAdd(&b[a[j]], 1); }
        out[i] = fixed[0];
    }
}
template <typename G>
void launch(typename G::A *a, typename G::A *b, float *out, int n) { k<G, 256><<<n / 256, 256>>>(a, b, out, n); }
"""


def test_what_has_no_size_leaves_nothing_and_takes_nothing() -> None:
    facts = analyse_file("k.cu", AnalysisOptions(unsaved=(("k.cu", _SOURCE),)))
    (kernel,) = facts.kernels
    assert "internal error" not in repr(facts)
    unsized = [access for access in kernel.accesses if access.array in ("a", "b", "s", "fixed")]
    assert unsized
    assert all(result.status == "unknown" for access in unsized for result in access.results)
    assert not [each for each in kernel.out_of_bounds if each.array in ("a", "b", "s", "fixed")]
    assert any(access.array == "out" for access in kernel.accesses)
