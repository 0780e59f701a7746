"""Arguments for kernels that nobody gave data to."""

from __future__ import annotations

import struct

import numpy as np

from cudalint.confirm.device import pattern_of
from cudalint.confirm.running import images, run
from cudalint.confirm.trials import Buffer


def test_buffers_reach_as_far_as_the_addresses(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "__global__ void k(const float *in, double *out, int n)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[2 * i] = in[i - 8 + 8];\n}\n"
        "void f(float *p, double *q) { k<<<4, 256>>>(p, q, 1000); }\n"
    ).candidates
    sizes = {buffer.name: (buffer.low, buffer.high, buffer.element_kind) for buffer in candidate.trial.buffers}
    assert sizes == {"in": (0, 4000, "float"), "out": (0, 999 * 16 + 8, "float")}
    assert struct.unpack("<i", candidate.trial.arguments[2].image) == (1000,)


def test_what_lies_before_a_pointer_is_there_too(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "__global__ void k(float *a) { a[(int)threadIdx.x - 20] = 1; }\nvoid f(float *p) { k<<<1, 32>>>(p); }\n"
    ).candidates
    [buffer] = candidate.trial.buffers
    assert (buffer.low, buffer.high) == (-256, 48)


def test_structs_are_written_as_their_bytes(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "struct View { char tag; float *data; short pitch; };\n"
        "__global__ void k(View v) { v.data[threadIdx.y * v.pitch + threadIdx.x] = 1; }\n"
        "void f(float *p) { View v{'a', p, 40}; k<<<1, dim3(32, 4)>>>(v); }\n"
    ).candidates
    trial = candidate.trial

    class Memory:
        address = 0x7000

    [image] = images(trial.arguments, trial.buffers, [Memory()])  # type: ignore[list-item]
    assert struct.unpack_from("<Q", image, 8) == (0x7000,)
    assert struct.unpack_from("<h", image, 16) == (40,)
    assert len(image) == 24


def test_sizes_that_nothing_says_are_made_small_where_they_have_to_be(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "__global__ void k(float *a, int n, int m)\n{\n    for (int i = 0; i < n; i++)\n"
        "        a[(size_t)i * m + threadIdx.x] = 1;\n}\nvoid f(float *p, int n, int m) { k<<<1, 32>>>(p, n, m); }\n"
    ).candidates
    assert candidate.reason == ""
    assert sum(buffer.bytes for buffer in candidate.trial.buffers) < 1 << 30


def test_too_large(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "__global__ void k(float *a) { a[threadIdx.x * 100000000000ll] = 1; }\nvoid f(float *p) { k<<<1, 32>>>(p); }\n"
    ).candidates
    assert candidate.trial is None
    assert candidate.reason == "its arguments would take 11548.4 GiB"  # 31 * 10^11 floats.


def test_a_loaded_base_gets_some_memory(prepared) -> None:  # type: ignore[no-untyped-def]
    """Whatever the address is: the numbers that it comes from are zero."""
    [candidate] = prepared(
        "__global__ void k(float *a, const long long *at) { a[at[0] * 100000 + threadIdx.x] = 1; }\n"
        "void f(float *p, long long *q) { k<<<1, 32>>>(p, q); }\n"
    ).candidates
    assert candidate.plan is not None
    assert candidate.plan.zero_integers
    assert candidate.plan.buffers[0].bytes >= 1 << 20


def test_sizes_are_made_smaller_until_they_fit(prepared) -> None:  # type: ignore[no-untyped-def]
    """The grid is computed from the same numbers as the argument."""
    [candidate] = prepared(
        "__global__ void k(float *a, int n)\n{\n    long long i = blockIdx.x * 256ll + threadIdx.x;\n"
        "    if (i < 65536ll * n) a[i] = 1;\n}\n"
        "void f(float *p, int n) { k<<<65536ll * n / 256, 256>>>(p, n); }\n"
    ).candidates
    n = candidate.facts.arguments["n"]
    assert isinstance(n, int)
    assert candidate.facts.grid[0] == 65536 * n // 256
    assert candidate.plan is not None
    assert candidate.plan.buffers[0].bytes >= 65536 * n * 4


def test_buffers_are_as_large_as_the_program_makes_them(prepared) -> None:  # type: ignore[no-untyped-def]
    """Of a large grid some blocks are evaluated, and none of those may get to the end of an array."""
    source = (
        "#include <cuda_runtime.h>\n__global__ void k(float *a, int n)\n{\n"
        "    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) a[i] = 1;\n}\n"
        "void f()\n{\n    float *p;\n    cudaMalloc(&p, 1000000 * sizeof(float));\n"
        "    k<<<3000, 256>>>(p, 1000000);\n}\n"
    )
    [candidate] = prepared(source).candidates
    assert candidate.plan is not None
    assert candidate.plan.buffers[0].bytes == 4_000_000


def test_allocations_that_are_too_large(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "__global__ void k(float *a) { a[blockIdx.x * 1024 + threadIdx.x] = 1; }\n"
        "void f()\n{\n    float *a;\n    cudaMalloc(&a, 3ull << 30);\n    k<<<786432, 1024>>>(a);\n}\n"
    ).candidates
    assert (candidate.trial, candidate.reason) == (None, "its arguments would take 3.0 GiB")


def test_a_template_without_instances(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "// cudalint: launch(block = 32)\ntemplate <int N> __global__ void k(float *a) { a[threadIdx.x] = N; }\n"
    ).candidates
    assert (candidate.trial, candidate.reason) == (None, "nothing instantiates the template")


def test_a_misalignment_runs_with_the_arguments_that_show_it(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "__global__ void k(const float *a, float *out, int K)\n{\n"
        "    float4 v = reinterpret_cast<const float4 *>(a + blockIdx.x * K)[threadIdx.x];\n"
        "    out[threadIdx.x] = v.x;\n}\n"
        "void f(const float *a, float *out, int K)\n{\n"
        "    if (K % 4 != 0)\n        k<<<64, 32>>>(a, out, K);\n}\n"
    ).candidates
    assert int.from_bytes(candidate.trial.arguments[2].image, "little") % 4


def test_the_same_seed_is_the_same_data(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared("__global__ void k(int *a) { a[0] = 1; }\nvoid f(int *p) { k<<<1, 32>>>(p); }\n").candidates
    trial = candidate.trial
    for kind, width in (("float", 2), ("float", 4), ("float", 8), ("int", 4), ("uint", 1), ("other", 12)):
        buffer = Buffer("a", 0, 1000, kind, width)
        first, second = (pattern_of(buffer, 3, trial) for _ in range(2))
        assert len(first) % width == 0 or kind == "other"
        assert np.array_equal(first, second)
        if kind == "float" and width > 2:
            assert np.isfinite(first.view(f"f{width}")).all()


def test_a_run_with_a_gpu_that_faults(prepared) -> None:  # type: ignore[no-untyped-def]
    from cudalint.confirm.device import CompileFailure, Fault

    [candidate] = prepared("__global__ void k(int *a) { a[0] = 1; }\nvoid f(int *p) { k<<<1, 32>>>(p); }\n").candidates

    class Gpu:
        def compile(self, trial):  # type: ignore[no-untyped-def]
            raise CompileFailure("a.cu(1): error: no\nmore")

    assert run(candidate.trial, Gpu()).compile_error == "a.cu(1): error: no"  # type: ignore[arg-type]

    class Kernel:
        def figures(self):  # type: ignore[no-untyped-def]
            return None

        def launch(self, arguments):  # type: ignore[no-untyped-def]
            raise Fault("misaligned address", launch=False)

    class Memory:
        address = 256

    class Faulting(Gpu):
        def compile(self, trial):  # type: ignore[no-untyped-def]
            return Kernel()

        def fill(self, buffer, content):  # type: ignore[no-untyped-def]
            return Memory()

    outcome = run(candidate.trial, Faulting())  # type: ignore[arg-type]
    assert (outcome.run_error, outcome.retire) == ("misaligned address", True)
