"""Macros that dispatch and that nothing declares: what they are given is read, and what they bind is told."""

from __future__ import annotations

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """
struct Tensor { void* data; int type; };
template <class T> __global__ void scale(T* out, const T* in, int n) {
    __shared__ T tile[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = tile[blockDim.x - 1 - threadIdx.x];
}
template <int WIDTH, class T> __global__ void rows(T* out) { out[threadIdx.x * WIDTH] = 0; }
"""


def _kernel(use: str, tile: int = 1024) -> KernelFacts:
    source = _KERNEL.replace("TILE", str(tile)) + "void run(Tensor a, Tensor b, int n) {\n" + use + "\n}"
    kernels = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    launched = [kernel for kernel in kernels if any(launch.source == "launch-site" for launch in kernel.launches)]
    assert len(launched) == 1, [kernel.launches for kernel in kernels]
    return launched[0]


_LAUNCH = "scale<{0}><<<n / 96, 96>>>(static_cast<{0}*>(a.data), static_cast<const {0}*>(b.data), n);"


@pytest.mark.parametrize(
    ("use", "name"),
    [
        ('OUR_DISPATCH_ALL(a.type, "scale, but faster", [&] { ' + _LAUNCH.format("scalar_t") + " });", "scalar_t"),
        ("SWITCH_TYPES(a.type, Type, { int x = 1, y = 2; " + _LAUNCH.format("Type") + " });", "Type"),
        ("SWITCH_TYPES(a.type, Type, { int x = 1, y = 2; " + _LAUNCH.format("Type") + " })", "Type"),
        ("bool done = DISPATCH_TO(a.type, c_type, [&]() -> bool { " + _LAUNCH.format("c_type") + " return true; });",
         "c_type"),
        # One in the other.
        ("OUTER_SWITCH(b.type, O, { INNER_SWITCH(a.type, itype, { " + _LAUNCH.format("itype") + " }); });", "itype"),
    ],
)  # fmt: skip
def test_code_that_a_dispatch_is_given_is_read(use: str, name: str) -> None:
    facts = _kernel(use)
    assert facts.launches[0].block == (96, 1, 1)
    assert f"{name} = float (nothing declares it)" in facts.launches[0].assumptions
    assert not facts.gaps


def test_a_number_that_a_dispatch_binds() -> None:
    use = "HEAD_SWITCH(n, HEAD_DIM, [&] { rows<HEAD_DIM><<<1, 32>>>(static_cast<float*>(a.data)); });"
    assert "HEAD_DIM == 32 (nothing declares it)" in _kernel(use).launches[0].assumptions


def test_a_size_that_rests_on_a_made_up_type_is_not_known() -> None:
    """20000 floats are more than any block may have, 20000 bytes are not."""
    facts = _kernel("OUR_DISPATCH_ALL(a.type, [&] { " + _LAUNCH.format("scalar_t") + " });", tile=20000)
    assert facts.resources.static_shared_bytes is None


def test_what_a_declared_macro_does_is_not_guessed() -> None:
    use = "#define OUR_SWITCH(X, T, ...) { using T = double; __VA_ARGS__ }\n"
    use += "OUR_SWITCH(a.type, Type, { " + _LAUNCH.format("Type") + " });"
    assert not [text for text in _kernel(use).launches[0].assumptions if "declares" in text]


def test_a_type_that_clang_takes_as_another_one() -> None:
    """Through an alias in a macro that is declared, to a type that is not."""
    use = "#define OUR_SWITCH(X, T, ...) { using T = float6; __VA_ARGS__ }\n"
    use += "OUR_SWITCH(a.type, Type, { " + _LAUNCH.format("Type") + " });"
    said = " ".join(_kernel(use).launches[0].assumptions)
    assert "nothing declares it" in said
