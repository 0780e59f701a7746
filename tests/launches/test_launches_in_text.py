"""Launches in functions that clang leaves out, as it doesn't know the type of a parameter."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions, ParameterValue
from cudalint.run.analysis import analyse_file

_KERNEL = "__global__ void k(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 1; }\n"
_SOURCE = '#include "run.h"\n'


def _launches(folder: Path, header: str, options: AnalysisOptions | None = None) -> tuple[LaunchFacts, ...]:
    """Those of a kernel whose host code stands in a header, with a library that isn't there."""
    (folder / "run.h").write_text('#pragma once\n#include "library/handle.h"\n' + _KERNEL + header)
    (folder / "run.cu").write_text(_SOURCE)
    [kernel] = analyse_file(str(folder / "run.cu"), options or AnalysisOptions()).kernels
    return kernel.launches


def _run(body: str, parameters: str = "") -> str:
    return f"void run(const library::handle &h, float *a, int n{parameters}) {{ {body} }}\n"


@pytest.mark.parametrize(
    ("header", "block"),
    [
        (_run("k<<<library::ceildiv(n, 1024), 1024, 0, h.stream()>>>(a, n);"), (1024, 1, 1)),
        (_run("constexpr int t = 4 * 32; k<<<1, t, 0, h.stream()>>>(a, n);"), (128, 1, 1)),
        (_run("int w = library::warp_size(); dim3 b(w, 4); k<<<dim3(n), b, 0, h.stream()>>>(a, n);"), (32, 4, 1)),
        ("#define THREADS (2 * 48)\n" + _run("k<<<n, THREADS, 0, h.stream()>>>(a, n);"), (96, 1, 1)),
        ("template <int TPB = 64>\n" + _run("k<<<n, TPB, 0, h.stream()>>>(a, n);"), (64, 1, 1)),
        (_run("k<<<n, t, 0, h.stream()>>>(a, n);", ", int t = 192"), (192, 1, 1)),
        (
            _run("k<<<n, t, 0, h.stream()>>>(a, n);", ", int t")
            + "void go(library::handle &h) { const int size = 320; run(h, nullptr, 1 << 20, size); }",
            (320, 1, 1),
        ),
        (
            "template <int TPB>\n" + _run("k<<<n, TPB, 0, h.stream()>>>(a, n);")
            + "static const int kThreads = 448;\nvoid go(library::handle &h) { run<kThreads>(h, nullptr, 1 << 20); }",
            (448, 1, 1),
        ),
    ],
)  # fmt: skip
def test_the_block_is_what_the_text_says(tmp_path: Path, header: str, block: tuple[int, int, int]) -> None:
    [launch] = _launches(tmp_path, header)
    assert (launch.block, launch.source) == (block, "launch-site")
    assert launch.path == str(tmp_path / "run.h")


def test_the_grid_goes_with_the_argument(tmp_path: Path) -> None:
    options = AnalysisOptions(params=(ParameterValue(None, "n", "1000"),))
    [launch] = _launches(tmp_path, _run("k<<<library::ceildiv(n, 256), 256, 0, h.stream()>>>(a, n);"), options)
    assert (launch.grid, launch.parameters["n"]) == ((4, 1, 1), 1000)


def test_an_open_block_is_said_to_be(tmp_path: Path) -> None:
    [launch] = _launches(tmp_path, _run("k<<<1, h.threads(n), 0, h.stream()>>>(a, n);"))
    assert (launch.source, launch.line) == ("default", 4)


def test_not_in_what_is_for_nobody(tmp_path: Path) -> None:
    [launch] = _launches(tmp_path, "#if 0\n" + _run("k<<<1, 96>>>(a, n);") + "#endif\n")
    assert (launch.source, launch.path) == ("default", None)


def test_from_a_header_beside_it(tmp_path: Path) -> None:
    (tmp_path / "launch.cuh").write_text('#include "run.h"\n' + _run("k<<<n, 96, 0, h.stream()>>>(a, n);"))
    [launch] = _launches(tmp_path, "")
    assert (launch.block, launch.path) == ((96, 1, 1), str(tmp_path / "launch.cuh"))


def test_not_from_a_file_that_has_another_kernel_of_the_name(tmp_path: Path) -> None:
    (tmp_path / "launch.cuh").write_text(_KERNEL + _run("k<<<n, 96, 0, h.stream()>>>(a, n);"))
    [launch] = _launches(tmp_path, "")
    assert (launch.source, launch.path) == ("default", None)


def test_of_kernels_of_one_name_the_one_with_as_many_parameters(tmp_path: Path) -> None:
    other = "namespace other { __global__ void k(float *a, int n, int m) { a[threadIdx.x] = n + m; } }\n"
    (tmp_path / "run.h").write_text(_KERNEL + other + _run("k<<<n, 96, 0, h.stream()>>>(a, n);"))
    (tmp_path / "run.cu").write_text(_SOURCE)
    first, second = analyse_file(str(tmp_path / "run.cu"), AnalysisOptions()).kernels
    assert [launch.block for launch in first.launches] == [(96, 1, 1)]
    assert [launch.path for launch in second.launches] == [None]


def test_a_template_that_nothing_instantiates_has_its_block_from_the_text(tmp_path: Path) -> None:
    """Clang keeps the template, in which the block is any."""
    header = (
        "template <int TPB> void run(float *a, int n) { k<<<n, TPB>>>(a, n); }\n"
        "static const int TPB = 160;\ntemplate <class H> void go(library::handle &h) { run<TPB>(nullptr, 1 << 20); }"
    )
    [launch] = _launches(tmp_path, header)
    assert (launch.block, launch.source) == ((160, 1, 1), "launch-site")


_OF_SIZES = (
    "template <int V> __global__ void k(float *a, int n)\n"
    "{ int i = V * (blockIdx.x * blockDim.x + threadIdx.x); if (i < n) a[i] = 1; }\n"
)
_UNKNOWN = "#include <library/launch.h>\n"


def _all_launches(folder: Path, text: str) -> list[tuple[str, tuple[int, int, int], str]]:
    """Of all instances of the kernel: with which numbers it was made, and the block."""
    (folder / "k.cu").write_text(_OF_SIZES + text)
    kernels = analyse_file(str(folder / "k.cu"), AnalysisOptions()).kernels
    return sorted((each.instantiation, launch.block, launch.source) for each in kernels for launch in each.launches)


_TYPE = "using F = void (*)(float *, int);\n"
_TABLE = "table[] = {k<1>, &k<2>};"
_RUN = "void run(float *a, int n, int i)"


@pytest.mark.parametrize(
    "host",
    [
        # Tables, inside of the function and outside.
        f"{_TYPE} static const F {_TABLE}\n{_RUN} {{ table[i]<<<n / 96, 96>>>(a, n); }}\n",
        f"{_TYPE} {_RUN} {{ F {_TABLE} table[i]<<<n / 96, 96>>>(a, n); }}\n",
        (f"{_TYPE} F {_TABLE}\n{_RUN} {{ void *args[] = {{&a, &n}}; dim3 g(n / 96), b(96);\n"
         "cudaLaunchKernel((const void *)table[i], g, b, args, 0, 0); }\n"),
        (f"#include <map>\n{_TYPE} std::map<int, F> table = {{{{1, k<1>}}, {{2, k<2>}}}};\n"
         f"{_RUN} {{ auto it = table.find(i); it->second<<<n / 96, 96>>>(a, n); }}\n"),
        # Variables that are given one or another.
        _UNKNOWN + "void run(library::A a, int n) { auto f = &k<1>; if (n > 9) f = k<2>; f<<<n / 96, 96>>>(a, n); }\n",
    ],
)
def test_a_launched_function_is_one_of_several(tmp_path: Path, host: str) -> None:
    assert _all_launches(tmp_path, host) == [(f"k<{v}>", (96, 1, 1), "launch-site") for v in (1, 2)]


@pytest.mark.parametrize(
    "launch",
    [
        "hipLaunchKernelGGL(k<1>, dim3(n / 96), dim3(96), 0, 0, a, n);",
        "hipLaunchKernelGGL(HIP_KERNEL_NAME(k<1>), n / 96, 96, 0, 0, a, n);",
        "LAUNCH_KERNEL(k<1>, dim3(n / 96), dim3(96), 0, stream, a, n);",
        "dim3 b(96); library::launch(reinterpret_cast<const void *>(&k<1>), n / 96, b, 0, stream, a, n);",
        "cudaLaunchConfig_t c; c.gridDim = n / 96; c.blockDim = 96; cudaLaunchKernelEx(&c, k<1>, a, n);",
        "cudaLaunchConfig_t c{n / 96, dim3(96), 0}; auto f = k<1>; cudaLaunchKernelEx(&c, f, a, n);",
        "cudaLaunchConfig_t c = {.gridDim = n / 96, .blockDim = 96}; cudaLaunchKernelEx(&c, k<1>, a, n);",
        "dim3 g(n / 96), b(96); k<1><<<g, b>>>(a, n);",
    ],
)
def test_launches_that_are_calls(tmp_path: Path, launch: str) -> None:
    host = f"{_UNKNOWN}void run(library::Array a, int n, library::Stream stream) {{ {launch} }}\n"
    assert _all_launches(tmp_path, host) == [("k<1>", (96, 1, 1), "launch-site")]


def test_what_takes_no_block_is_no_launch(tmp_path: Path) -> None:
    """A function that is called after launches may take anything behind the kernel."""
    host = f"{_UNKNOWN}void run(library::Array a, int n) {{ library::launch(k<1>, n, a.stream()); }}\n"
    assert [source for _, _, source in _all_launches(tmp_path, host)] == ["default"]


@pytest.mark.parametrize("bytes_", ["1e999", "-1e999", "1e999 - 1e999", "1e300", "2.5 * 1e308 * n"])
def test_bytes_that_no_launch_can_ask_for_are_not_known(tmp_path: Path, bytes_: str) -> None:
    [launch] = _launches(tmp_path, _run(f"k<<<n, 96, {bytes_}, h.stream()>>>(a, n);"))
    assert launch.site is not None
    assert (launch.block, launch.site.dynamic_shared_bytes) == ((96, 1, 1), None)


@pytest.mark.parametrize("grid", ["1e999", "-1e999", "1e30", "1e999 - 1e999"])
def test_grids_that_no_launch_can_have_are_not_known(tmp_path: Path, grid: str) -> None:
    [launch] = _launches(tmp_path, _run(f"k<<<{grid}, 96, 0, h.stream()>>>(a, n);"))
    assert launch.site is not None
    assert launch.site.grid == (None, 1, 1)
    assert 1 <= launch.grid[0] <= (1 << 31) - 1


def _of(folder: Path, source: str) -> dict[str, tuple[LaunchFacts, ...]]:
    (folder / "nested.cu").write_text(source)
    kernels = analyse_file(str(folder / "nested.cu"), AnalysisOptions()).kernels
    return {kernel.name: kernel.launches for kernel in kernels}


_PARENT = (
    "__device__ void go(float *a, int n) { k<<<(n + 95) / 96, 96>>>(a, n); }\n"
    "__global__ void parent(float *a, int n) { if (threadIdx.x == 0) go(a, n); }\n"
)


def test_a_kernel_launched_by_another_one_has_that_launch(tmp_path: Path) -> None:
    [launch] = _of(tmp_path, _KERNEL + _PARENT + "void run(float *a) { parent<<<1, 32>>>(a, 1000); }\n")["k"]
    assert (launch.block, launch.source, launch.line) == ((96, 1, 1), "launch-site", 2)


def test_launches_of_host_code_are_enough(tmp_path: Path) -> None:
    """What threads launch may be sizes that only they know."""
    [launch] = _of(tmp_path, _KERNEL + _PARENT + "void run(float *a) { k<<<8, 128>>>(a, 1024); }\n")["k"]
    assert launch.block == (128, 1, 1)


def test_a_block_that_threads_compute_is_open(tmp_path: Path) -> None:
    parent = "__global__ void parent(float *a, int *n) { k<<<1, n[threadIdx.x]>>>(a, n[threadIdx.x]); }\n"
    [launch] = _of(tmp_path, _KERNEL + parent)["k"]
    assert launch.source == "default"
