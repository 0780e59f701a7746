"""Launches and their sizes that stand in other files of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNELS = """
#include "k.h"
__global__ void k(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 1; }
void run(float *a, const Sizes &sizes, int n) { k<<<n / sizes.block, sizes.block>>>(a, n); }
extern "C" void run_c(float *a, int n) { k<<<n, 64>>>(a, n); }
void Solver::run(float *a) { k<<<1, width>>>(a, width); }
void unused(float *a, int n, int block) { k<<<n, block>>>(a, n); }
"""
_HEADER = """
struct Sizes { int block; };
struct Solver { int width; void run(float *a); };
void run(float *a, const Sizes &sizes, int n);
extern "C" void run_c(float *a, int n);
"""


def _launches(folder: Path, main: str, name: str = "main.cpp") -> list[LaunchFacts]:
    (folder / "k.h").write_text(_HEADER)
    (folder / "k.cu").write_text(_KERNELS)
    (folder / name).write_text('#include "k.h"\n' + main)
    [kernel] = analyse_file(str(folder / "k.cu"), AnalysisOptions()).kernels
    return list(kernel.launches)


@pytest.mark.parametrize("name", ["main.cpp", "main.cu"])
def test_arguments_come_from_the_main_of_another_file(tmp_path: Path, name: str) -> None:
    launches = _launches(tmp_path, "int main() { Sizes s; s.block = 96; run(0, s, 960); }", name)
    [launch] = [launch for launch in launches if launch.line == 4]
    assert (launch.block, launch.grid, launch.source) == ((96, 1, 1), (10, 1, 1), "launch-site")
    assert launch.parameters["n"] == 960
    assert launch.path == str(tmp_path / "k.cu")


def test_through_a_function_of_the_other_file(tmp_path: Path) -> None:
    main = "static void go(int n) { run_c(0, n); } int main() { for (int i = 0; i < 3; i++) go(128); }"
    [launch] = [launch for launch in _launches(tmp_path, main) if launch.line == 5]
    assert (launch.block, launch.grid) == ((64, 1, 1), (128, 1, 1))


def test_parameters_that_are_const_in_the_definition_only(tmp_path: Path) -> None:
    """To the linker, `void run(float *, int)` and `void run(float *__restrict__, const int)` are one function."""
    kernel = "__global__ void k(float *a) { a[threadIdx.x] = 1; }\n"
    run = "void run(float *__restrict__ a, const int n) { k<<<n, 96>>>(a); }\n"
    (tmp_path / "k.cu").write_text(kernel + run)
    (tmp_path / "main.cpp").write_text("void run(float *a, int n); int main() { run(0, 12); }")
    [facts] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    assert [launch.grid for launch in facts.launches] == [(12, 1, 1)]


def test_a_method(tmp_path: Path) -> None:
    main = "int main() { Solver solver; solver.width = 96; solver.run(0); }"
    [launch] = [launch for launch in _launches(tmp_path, main) if launch.line == 6]
    assert (launch.block, launch.source) == ((96, 1, 1), "launch-site")


def test_what_no_main_calls_is_launched_with_unknown_sizes(tmp_path: Path) -> None:
    launches = _launches(tmp_path, "int main() { Sizes s; s.block = 96; run(0, s, 960); }")
    assert {launch.line: launch.source for launch in launches} == {
        4: "launch-site",
        5: "launch-site",
        6: "default",
        7: "default",
    }


def test_launches_that_the_main_of_another_file_does_not_lead_to(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(float *a) { a[threadIdx.x] = 1; }\n"
        "void run(float *a, int n) { for (int i = 0; i < n; i++) k<<<i + 1, 64>>>(a); }\n"
    )
    (tmp_path / "main.cpp").write_text("void run(float *a, int n); int main() { run(0, 0); }")
    [kernel] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    assert [(launch.block, launch.source) for launch in kernel.launches] == [((64, 1, 1), "launch-site")]


@pytest.mark.parametrize("main", ["", "int main( {", "int main() { undeclared(3); }", "\xff\xfe"])
def test_a_main_that_says_nothing(tmp_path: Path, main: str) -> None:
    launches = _launches(tmp_path, main)
    assert [launch.line for launch in launches] == [4, 5, 6, 7]


def _below(folder: Path) -> Path:
    """A kernel in a folder of its own, and a `main` in the folder above."""
    (folder / "kernels").mkdir()
    path = folder / "kernels" / "k.cu"
    path.write_text(
        "__global__ void k(float *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n"
        "void run(float *a, int n, int block) { k<<<n / block, block>>>(a, n); }\n"
    )
    (folder / "main.cpp").write_text("void run(float *a, int n, int block); int main() { run(0, 960, 96); }")
    return path


@pytest.mark.parametrize("current", [None, ".", "kernels"])
def test_the_main_of_the_folder_above(tmp_path: Path, current: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(_below(tmp_path))
    if current is not None:
        monkeypatch.chdir(tmp_path / current)
        path = "k.cu" if current == "kernels" else "kernels/k.cu"
    [kernel] = analyse_file(path, AnalysisOptions()).kernels
    assert [(launch.block[0], launch.grid[0], launch.source) for launch in kernel.launches] == [(96, 10, "launch-site")]


def test_a_launch_in_the_folder_above(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    path = tmp_path / "kernels" / "k.cu"
    path.write_text("__global__ void k(float *a) { a[threadIdx.x] = 1; }\n")
    (tmp_path / "main.cu").write_text("__global__ void k(float *a);\nint main() { float *a; k<<<1, 96>>>(a); }\n")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert [(launch.block[0], launch.source) for launch in kernel.launches] == [(96, "launch-site")]


_TEMPLATE = "template <typename T, int N> __global__ void k(T *a)"


@pytest.mark.parametrize("launcher", ["k<double, 2><<<1, 96>>>(a)", "k<double, 3><<<1, 96>>>(a)"])
def test_a_launch_of_an_instantiation_that_the_file_makes(tmp_path: Path, launcher: str) -> None:
    """Where another file launches a template that it only declares, the types are those of its instantiation here; one
    that is not here either stands for any of those that are."""
    (tmp_path / "k.cu").write_text(
        f"{_TEMPLATE} {{ a[N * threadIdx.x] = 1; }}\n"
        "template __global__ void k<double, 2>(double *);\ntemplate __global__ void k<float, 1>(float *);\n"
    )
    (tmp_path / "main.cu").write_text(f"{_TEMPLATE};\nint main() {{ double *a; {launcher}; }}\n")
    kernels = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    expected = {"k<double, 2>", "k<float, 1>"} if "3" in launcher else {"k<double, 2>"}
    assert {kernel.instantiation for kernel in kernels} == expected
    assert {launch.block for kernel in kernels for launch in kernel.launches} == {(96, 1, 1)}


@pytest.mark.parametrize("around", ["work tree", "collection"])
def test_folders_above_that_are_not_of_the_program(tmp_path: Path, around: str) -> None:
    path = _below(tmp_path)
    if around == "work tree":
        (path.parent / ".git").mkdir()
    for number in range(64 if around == "collection" else 0):
        (tmp_path / f"{number}.c").write_text("")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert [launch.source for launch in kernel.launches] == ["default"]


_GRID = """
#include "g.h"
Grid make(int n) { Grid grid; grid.halo = 4; grid.rows = n / 8; return grid; }
void fill(int *threads) { *threads = 96; }
"""


@pytest.mark.parametrize("where", ["beside the kernel", "in a file of its own"])
def test_sizes_that_a_third_file_makes(tmp_path: Path, where: str) -> None:
    """The grid comes out of a function that neither the file with the kernel nor the one with `main` defines."""
    (tmp_path / "g.h").write_text(
        "struct Grid { int halo, rows; };\n"
        "Grid make(int n);\nvoid fill(int *threads);\nvoid run(float *a, Grid grid, int t);\n"
    )
    kernel = (
        '#include "g.h"\n'
        "__global__ void k(float *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x + n] = 1; }\n"
        "void run(float *a, Grid grid, int t) { k<<<grid.rows, t>>>(a, grid.halo); }\n"
    )
    main = '#include "g.h"\nint main() { int t; fill(&t); run(0, make(80), t); }\n'
    files = {"k.cu": kernel, "main.cu": main, "grid.cu": _GRID}
    if where == "beside the kernel":
        files = {"k.cu": kernel + main, "grid.cu": _GRID}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    [kernel_facts] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    [launch] = kernel_facts.launches
    assert (launch.block, launch.grid, launch.parameters["n"]) == ((96, 1, 1), (10, 1, 1), 4)


def test_a_way_through_another_file_and_back(tmp_path: Path) -> None:
    """`main` stands beside the kernel, what it calls elsewhere, and that calls the function with the launch."""
    (tmp_path / "s.h").write_text("void setup(int n); void run(float *a, int n);\n")
    setup = '#include "s.h"\nvoid start(int n) { run(0, n); }\nvoid setup(int n) { start(n); }\n'
    (tmp_path / "setup.cu").write_text(setup)
    (tmp_path / "k.cu").write_text(
        '#include "s.h"\n__global__ void k(float *a, int n) { a[threadIdx.x + n] = 1; }\n'
        "int main() { setup(16); }\nvoid run(float *a, int n) { k<<<n, 96>>>(a, n); }\n"
    )
    [kernel] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    [launch] = kernel.launches
    assert (launch.block, launch.grid, launch.parameters["n"]) == ((96, 1, 1), (16, 1, 1), 16)


def test_a_block_that_a_function_of_another_file_hands_on(tmp_path: Path) -> None:
    """A library has no `main`: its interface makes the block, and another file launches with it."""
    (tmp_path / "k.h").write_text("void launch(float *a, int n, dim3 grid, dim3 block);\nvoid fill(float *a, int n);\n")
    (tmp_path / "k.cu").write_text(
        '#include "k.h"\n__global__ void k(float *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n'
        "void launch(float *a, int n, dim3 grid, dim3 block) { k<<<grid, block>>>(a, n); }\n"
    )
    (tmp_path / "api.cu").write_text(
        '#include "k.h"\n#define TILE 16\n'
        "void fill(float *a, int n) { dim3 block(TILE, TILE), grid(n / TILE, 4); launch(a, n, grid, block); }\n"
    )
    [kernel] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    [launch] = kernel.launches
    assert (launch.block, launch.source, launch.line) == ((16, 16, 1), "launch-site", 3)


def test_who_calls_a_template_of_a_header_has_instances_of_its_own(tmp_path: Path) -> None:
    """The kernels of this file are launched with what it gives, and not with what others give theirs."""
    (tmp_path / "fill.cuh").write_text(
        "template <class T> __global__ void k(T *a) { a[threadIdx.x] = 0; }\n"
        "template <class T> void fill(T *a, int block) { k<<<1, block>>>(a); }\n"
    )
    (tmp_path / "a.cu").write_text('#include "fill.cuh"\nvoid start(float *a) { fill(a, 64); }\n')
    (tmp_path / "b.cu").write_text('#include "fill.cuh"\nvoid other(float *a) { fill(a, 512); }\n')
    [kernel] = analyse_file(str(tmp_path / "a.cu"), AnalysisOptions()).kernels
    assert [launch.block for launch in kernel.launches] == [(64, 1, 1)]


_OF_TEMPLATES = """
#include <type_traits>
template <class F> __global__ void k(F f, float *a) { a[threadIdx.x] = f(a[threadIdx.x], 1.0f); }
template <class F> struct Wrap { F f; __device__ float operator()(float a, float b) const { return f(a, b) ? a : b; } };
"""


def _instances(folder: Path, host: str) -> list[tuple[str, int]]:
    (folder / "k.cu").write_text(_OF_TEMPLATES + host)
    kernels = analyse_file(str(folder / "k.cu"), AnalysisOptions()).kernels
    return [(kernel.instantiation, launch.block[0]) for kernel in kernels for launch in kernel.launches]


def test_what_a_template_argument_decides_against_is_not_launched(tmp_path: Path) -> None:
    """The other side of the branch is compiled, and nobody gets there."""
    host = """
struct Sum { __device__ float operator()(float x, float y) const { return x + y; } };
template <class F> void launch(F f, float *a, int n) { k<<<n, 64>>>(f, a); }
struct Engine {
    template <class R, class F> void run(R, F f, float *a) {
        if (std::is_same<R, bool>::value) launch(Wrap<F>{f}, a, 2);
        else launch(f, a, 3);
    }
};
void go(float *a, Engine &engine) { engine.run(1.0f, Sum{}, a); }
"""
    assert _instances(tmp_path, host) == [("k<Sum>", 64)]


def test_lambdas_of_one_function_are_different_types(tmp_path: Path) -> None:
    host = """
template <class F> void less(F f, float *a) { k<<<1, 64>>>(Wrap<F>{f}, a); }
template <class F> void run(F f, float *a) { k<<<1, 128>>>(f, a); }
void go(float *a, int n) {
    run([] __device__(float x, float y) { return x + y; }, a);
    run([] __device__(float x, float y) { return x * y; }, a);
    less([] __device__(float x, float y) { return x < y; }, a);
}
"""
    assert [block for _, block in _instances(tmp_path, host)] == [128, 128, 64]


def test_where_host_code_is_too_long_its_launches_are_there_all_the_same(tmp_path: Path) -> None:
    """Each of 14 functions calls the next one twice: 2 ** 14 executions of the last one are over the limit of 8,000
    statements, and none of them decides about the block."""
    calls = [f"int f{i}(int n) {{ if (n > {i}) n += f{i + 1}(n); return n + f{i + 1}(n + 1); }}\n" for i in range(14)]
    text = "int f14(int n) { return n; }\n" + "".join(reversed(calls)) + "int half(int n) { return n / 2; }\n"
    text += "__global__ void k(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n"
    text += "void run(float *a, int n) { k<<<f0(n), half(384)>>>(a); }\n"
    path = tmp_path / "k.cu"
    path.write_text(text)
    [facts] = analyse_file(str(path), AnalysisOptions()).kernels
    assert [(launch.block, launch.source) for launch in facts.launches] == [((192, 1, 1), "launch-site")]


def test_what_another_file_launches_of_its_own_tells_sizes_all_the_same(tmp_path: Path) -> None:
    """A function that launches other kernels only is executed for what it returns."""
    (tmp_path / "k.cu").write_text(
        "__global__ void k(float *a) { a[threadIdx.x] = 1; }\nvoid run(float *a, int n) { k<<<n, 96>>>(a); }\n"
    )
    (tmp_path / "main.cu").write_text(
        "void run(float *a, int n);\n__global__ void init(float *a) { *a = 0; }\n"
        "int prepared(float *a, int n) { init<<<n, 1>>>(a); return n / 2; }\n"
        "int main() { run(0, prepared(0, 48)); }\n"
    )
    [facts] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    assert [(launch.grid, launch.block) for launch in facts.launches] == [((24, 1, 1), (96, 1, 1))]


def test_a_launcher_that_two_files_share(tmp_path: Path) -> None:
    (tmp_path / "start.h").write_text(
        "template <typename K> void start(K kernel, int blocks, float *a) { kernel<<<blocks, 96>>>(a); }\n"
    )
    (tmp_path / "k.cu").write_text(
        '#include "start.h"\n__global__ void k(float *a) { a[threadIdx.x] = 1; }\n'
        "void run(float *a, int n) { start(k, n, a); }\n"
    )
    (tmp_path / "main.cu").write_text(
        '#include "start.h"\nvoid run(float *a, int n);\n__global__ void other(float *a) { *a = 0; }\n'
        "int main() { start(other, 7, nullptr); run(0, 12); }\n"
    )
    [facts] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    assert [(launch.grid, launch.block) for launch in facts.launches] == [((12, 1, 1), (96, 1, 1))]
