"""Names that nothing declares among the arguments of templates, which must be numbers."""

from __future__ import annotations

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_KERNELS = """
template <int N> __global__ void strided(float *out) { out[threadIdx.x * N] = 0; }
template <int N> __device__ void copied(float *out) { float own[N]; own[N - 1] = out[0]; out[threadIdx.x] = own[0]; }
__global__ void by_value(float *out, int stride) { out[threadIdx.x * stride] = 0; }
template <int N> __global__ void tile(float *out) { __shared__ float s[N][N][N]; s[threadIdx.x][0][0] = out[0]; }
"""
_CALLING = "__global__ void calls(float *out) { copied<_N_>(out); }\n"
_WRAPPED = "template <int N> void wrapped(float *out) { strided<N><<<1, 64>>>(out); }\n"
_EIGHTH = "constexpr int EIGHTH = _N_ / 8;\n"
_STATED = "_N_ == 32 (nothing declares it)"


def _kernels(host: str) -> list[KernelFacts]:
    text = _KERNELS + (_EIGHTH if "EIGHTH" in host else "") + (_CALLING if "calls" in host else "")
    text += _WRAPPED if "wrapped" in host else ""
    text += f"void run(float *out, int n) {{ {host} }}\n"
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", text),)))
    launched = [kernel for kernel in facts.kernels if kernel.launches[0].line is not None]
    # The template that `wrapped` launches for any number.
    return [kernel for kernel in launched if kernel.instantiation != "strided"]


@pytest.mark.parametrize(
    ("host", "instantiation", "sectors"),
    [
        # 32 lanes, 32 floats or 128 bytes apart, touch a sector each; 4 floats or 16 bytes apart, one by two.
        ("strided<_N_><<<1, 64>>>(out);", "strided<32>", 32),
        ("strided<EIGHTH><<<1, 64>>>(out);", "strided<4>", 16),
        ("wrapped<EIGHTH>(out);", "strided<4>", 16),
        ("calls<<<1, 64>>>(out);", "calls", 4),
    ],
)
def test_what_is_made_with_such_a_number_says_so(host: str, instantiation: str, sectors: int) -> None:
    (found,) = _kernels(host)
    assert found.instantiation == instantiation
    assert found.launches[0].block == (64, 1, 1)
    (result,) = (r for a in found.accesses if (a.array, a.operation) == ("out", "store") for r in a.results)
    assert result.sectors_per_request == sectors
    # Findings name it, since it is none of the launch's numbers.
    assert found.launches[0].guesses == ("_N_",) or found.launches[0].assumptions == (_STATED,)
    assert any("nothing declares '_N_'; taken as 32" in gap.reason for gap in found.gaps)


def test_others_are_what_they_are() -> None:
    """A number that is known goes into this instantiation of the same host function."""
    (kernel,) = (k for k in _kernels("strided<3><<<1, 64>>>(out); strided<_N_><<<1, 64>>>(out);") if not k.gaps)
    assert [(r.status, r.assumptions) for a in kernel.accesses for r in a.results] == [("exact", ())]


def test_what_is_computed_from_such_a_number_rests_on_it() -> None:
    kernels = _kernels("int stride = EIGHTH; by_value<<<1, 2 * _N_>>>(out, stride); strided<_N_><<<1, 64>>>(out);")
    (kernel,) = (each for each in kernels if each.name == "by_value")
    assert (kernel.launches[0].block, kernel.launches[0].assumptions) == ((64, 1, 1), (_STATED,))
    assert all(_STATED in result.assumptions for access in kernel.accesses for result in access.results)


def test_how_large_such_arrays_are_nobody_knows() -> None:
    """With the number that was made up, 32 * 32 * 32 * 4 bytes would be more than any block may have."""
    assert [kernel.resources.static_shared_bytes for kernel in _kernels("tile<_N_><<<1, 64>>>(out);")] == [None]
    assert [kernel.resources.static_shared_bytes for kernel in _kernels("tile<8><<<1, 8>>>(out);")] == [8 * 8 * 8 * 4]
