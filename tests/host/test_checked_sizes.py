"""What host code compares a size with before it launches is the size's value at that launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = "__global__ void k(float *x, int n, long m) { x[threadIdx.x * n] = m; }\n"


def _launches(tmp_path: Path, host: str) -> list[LaunchFacts]:
    path = tmp_path / "k.cu"
    path.write_text(f"#include <stdlib.h>\n{_KERNEL}void run(float *x, int n, long m) {{ {host} }}\n")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    return list(kernel.launches)


@pytest.mark.parametrize(
    "check",
    [
        "if (n != 12) abort();",
        "if (!(n == 12)) return;",
        "if (n != 12 || m < 3) return;",
        "if (!(n == 12 && m > 3)) exit(1);",
    ],
)
def test_a_check_in_front_of_the_launch(check: str, tmp_path: Path) -> None:
    [launch] = _launches(tmp_path, f"{check} k<<<n, 64>>>(x, n, m);")
    assert launch.parameters == {"n": 12}
    assert launch.grid == (12, 1, 1)


def test_the_cases_of_a_switch(tmp_path: Path) -> None:
    host = "switch (n) { case 64: k<<<1, 32>>>(x, n, m); break;\ncase 128: k<<<1, 32>>>(x, n, m); break; }"
    assert [launch.parameters for launch in _launches(tmp_path, host)] == [{"n": 64}, {"n": 128}]


def test_the_branch_that_is_not_taken_then(tmp_path: Path) -> None:
    first, second = _launches(tmp_path, "if (m == 5) k<<<1, 32>>>(x, n, m); else k<<<2, 32>>>(x, n, m);")
    assert first.parameters == {"m": 5}
    assert second.parameters == {}


def test_another_comparison_gives_no_value(tmp_path: Path) -> None:
    [launch] = _launches(tmp_path, "if (n < 12) return; k<<<1, 32>>>(x, n, m);")
    assert launch.parameters == {}


_ROWS = "__global__ void rows(float *x, int n) { if (threadIdx.x < 16) x[threadIdx.x * n] = 1; }\n"


def _sectors(tmp_path: Path, host: str) -> list[tuple[float | None, tuple[str, ...]]]:
    path = tmp_path / "k.cu"
    path.write_text(f"#include <stdlib.h>\n{_ROWS}{host}")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    [access] = kernel.accesses
    return [(result.sectors_per_request, result.assumptions) for result in access.results]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        # Two floats or 8 bytes apart, four of the 16 lanes touch one sector, and each has its own from 32 bytes on.
        ("n <= 2", (4.0, ("n = 2",))),
        ("n < 4 && n > 1", (4.0, ("n = 2",))),
        # 8 floats or 32 bytes apart, and further on, each lane has a sector.
        ("n <= 1024", (16.0, ("n = 1024",))),
        ("n > 100000", (16.0, ())),
        # There is no other one: 3 floats or 12 bytes apart, 16 lanes touch 15 * 12 + 4 bytes.
        ("n <= 4 && n % 4 == 3", (6.0, ("n = 3",))),
        # From 601 to 700, which are no powers of two.
        ("(n + 99) / 100 == 7", (16.0, ())),
    ],
)
def test_a_bound_that_generic_sizes_break(condition: str, expected: object, tmp_path: Path) -> None:
    host = f"void run(float *x, int n) {{ if ({condition}) rows<<<1, 32>>>(x, n); }}\n"
    assert _sectors(tmp_path, host) == [expected]


@pytest.mark.parametrize(
    ("default", "condition", "expected"),
    [
        (4096, "n > 2", (16.0, ("n == 4096",))),
        (4096, "n <= 2", (4.0, ("n = 2",))),
        (1, "n != 1", (16.0, ())),
        (1, "n == 1", (2.0, ())),
    ],
)
def test_a_default_that_is_none_of_the_launch(
    default: int, condition: str, expected: object, tmp_path: Path
) -> None:
    body = f"int n = {default}; if (argc > 1) n = atoi(argv[1]); if ({condition}) rows<<<1, 32>>>(0, n);"
    assert _sectors(tmp_path, f"int main(int argc, char **argv) {{ {body} }}\n") == [expected]


def test_a_bound_that_picks_a_kernel(tmp_path: Path) -> None:
    picked = "void (*f)(float *, int) = wide; if (n > 2) f = wide; else f = rows; f<<<1, 32>>>(x, n);"
    wide = _ROWS.replace("void rows", "void wide")
    host = f"{wide}void run(float *x, int n) {{ {picked} }}\n"
    (tmp_path / "k.cu").write_text(_ROWS + host)
    kernels = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    found = {kernel.name: kernel.accesses[0].results[0].sectors_per_request for kernel in kernels}
    assert found == {"wide": 16.0, "rows": 4.0}


def test_a_bound_goes_on_to_hold_where_sizes_are_made_to_fit(tmp_path: Path) -> None:
    """By itself, what is divided by 48 is a multiple of 32 * 48 = 1536. Of 512, a 48th are 10 lanes, whose floats are 8
    bytes apart."""
    kernel = "__global__ void k(float *x, int n) { int r = n / 48; if (threadIdx.x < r) x[threadIdx.x * 2] = 1; }\n"
    (tmp_path / "k.cu").write_text(kernel + "void run(float *x, int n) { if (n <= 1000) k<<<1, 64>>>(x, n); }\n")
    [facts] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    [result] = facts.accesses[0].results
    assert (result.sectors_per_request, result.assumptions) == (3, ("n = 512",))


def test_an_option_that_a_launch_is_for(tmp_path: Path) -> None:
    """Options are off, but where they are what it takes."""
    kernel = "__global__ void k(float *x, bool all) { x[threadIdx.x * (all ? 1 : 8)] = 1; }\n"
    host = "void run(float *x, bool all) { if (all) k<<<1, 32>>>(x, all); else k<<<2, 32>>>(x, all); }\n"
    (tmp_path / "k.cu").write_text(kernel + host)
    [facts] = analyse_file(str(tmp_path / "k.cu"), AnalysisOptions()).kernels
    assert [r.sectors_per_request for r in facts.accesses[0].results] == [4, 32]


def test_what_a_loop_counts_up_to(tmp_path: Path) -> None:
    """Rows of 1, 2 and 32 elements: 64 bytes, 128 bytes, and a sector for each of the 16."""
    host = (
        "int log2_ceil(int value) { int bits = 0; while ((1 << bits) < value) ++bits; return bits; }\n"
        "void run(float *x, int n) {\n"
        "  switch (log2_ceil(n)) {\n"
        "    case 0: rows<<<1, 32>>>(x, n); break;\n"
        "    case 1: rows<<<2, 32>>>(x, n); break;\n"
        "    case 5: rows<<<3, 32>>>(x, n); break;\n"
        "  }\n"
        "}\n"
    )
    assert [sectors for sectors, _ in _sectors(tmp_path, host)] == [2.0, 4.0, 16.0]


def test_extents_in_braces(tmp_path: Path) -> None:
    """As nvcc takes them."""
    launches = _launches(tmp_path, "k<<<{3, 2}, {16, 4, 1}, 0, 0>>>(x, n, m); k<<<(n), { 8 , 8 }>>>(x, 1, m);")
    assert [launch.block for launch in launches] == [(16, 4, 1), (8, 8, 1)]
    assert launches[0].grid == (3, 2, 1)


@pytest.mark.parametrize(
    "declaration",
    [
        'extern "C" [[noreturn]] void fail(int);',
        "_Noreturn void fail(int);",
        "__attribute__((noreturn)) void fail(int);",
        "#define FATAL [[noreturn]]\nFATAL void fail(int);",
    ],
)
@pytest.mark.parametrize("check", ["if (!(c / h == 64)) fail(1);", "check(c / h == 64);"])
def test_a_function_that_never_returns_ends_the_program(declaration: str, check: str) -> None:
    source = f"""{declaration}
    static void check(bool holds) {{ if (!holds) fail(2); }}
    __global__ void k(float *a) {{ a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }}
    void run(float *a, int c, int h) {{ {check} k<<<8, c / h>>>(a); }}
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert [launch.block for launch in kernel.launches] == [(64, 1, 1)]


@pytest.mark.parametrize(
    "destructor",
    ["[[noreturn]] ~Fatal();", "~Fatal() __attribute__((noreturn));", "~Fatal() { fail(); }", "~Fatal() { abort(); }",
     "~Fatal() noexcept(false) { throw std::runtime_error(std::string()); }"],
)
@pytest.mark.parametrize("check", ["if (c / h != 64) Fatal(1);", "CHECK(c / h == 64) << c;", "each(float{});"])
def test_a_message_with_whose_end_the_program_ends(destructor: str, check: str) -> None:
    source = f"""#include <cstdlib>
    #include <iostream>
    #include <stdexcept>
    struct Fatal {{ Fatal(int line); {destructor} std::ostream &stream(); [[noreturn]] static void fail(); }};
    #define CHECK(holds) if (!(holds)) Fatal(__LINE__).stream() << #holds
    template <int N> __global__ void k(float *a) {{ a[blockIdx.x * blockDim.x + threadIdx.x] = N; }}
    void run(float *a, int c, int h) {{
        auto each = [&](auto of_type) {{ CHECK(c / h == 64); k<1><<<8, c / h>>>(a); }};
        {check}
        k<1><<<8, c / h>>>(a);
    }}
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert {launch.block for launch in kernel.launches} == {(64, 1, 1)}


_BLOCK = "static int block_of(unsigned n) { if (n <= 32) return 32; if (n <= 64) return 64; return -1; }\n"
_TABLE = "template <int N> __global__ void k(float *x) { x[blockIdx.x * N + threadIdx.x] = 1; }\n"


def test_a_function_whose_results_are_numbers_is_a_table(tmp_path: Path) -> None:
    """Each launch is for one of its results, and nobody asks for -1 threads."""
    path = tmp_path / "k.cu"
    host = "int b = block_of(n * m);\nif (b == 32) k<32><<<n, b>>>(x); else if (b == 64) k<64><<<n, b>>>(x);"
    path.write_text(f"{_BLOCK}{_TABLE}void run(float *x, int n, int m) {{ {host} }}\n")
    kernels = analyse_file(str(path), AnalysisOptions()).kernels
    launches = {kernel.instantiation: kernel.launches[0] for kernel in kernels}
    assert {name: launch.block for name, launch in launches.items()} == {"k<32>": (32, 1, 1), "k<64>": (64, 1, 1)}
    assert {launch.source for launch in launches.values()} == {"launch-site"}


@pytest.mark.parametrize("last", ["nullptr", "k<16>"])
def test_a_function_that_picks_a_kernel(last: str, tmp_path: Path) -> None:
    """Each of those that it may give is launched, with the sizes for which it is the one."""
    picks = "if (n == 32) return k<32>; if (n == 64) return &k<64>; "
    setup = f"typedef void (*Kernel)(float *);\n{_TABLE}static Kernel pick(int n) {{ {picks}return {last}; }}\n"
    path = tmp_path / "k.cu"
    path.write_text(f"{setup}void run(float *x, int n) {{ Kernel kernel = pick(n); kernel<<<8, n>>>(x); }}\n")
    kernels = analyse_file(str(path), AnalysisOptions()).kernels
    launches = {kernel.instantiation: kernel.launches[0] for kernel in kernels}
    launches.pop("k<16>", None)
    assert {name: launch.block for name, launch in launches.items()} == {"k<32>": (32, 1, 1), "k<64>": (64, 1, 1)}
    assert {launch.source for launch in launches.values()} == {"launch-site"}


def test_branches_that_pick_a_kernel(tmp_path: Path) -> None:
    """The one that is there first is not the only one."""
    branches = "auto *f = k<16>; if (n == 64) f = k<64>; else if (n == 32) f = k<32>; "
    path = tmp_path / "k.cu"
    path.write_text(f"{_TABLE}void run(float *x, int n) {{ {branches}f<<<8, n>>>(x); }}\n")
    kernels = analyse_file(str(path), AnalysisOptions()).kernels
    launches = {kernel.instantiation: kernel.launches[0] for kernel in kernels}
    assert launches.keys() == {"k<16>", "k<32>", "k<64>"} and all(launch.line == 2 for launch in launches.values())
    assert [launches[name].block for name in ("k<32>", "k<64>")] == [(32, 1, 1), (64, 1, 1)]


def test_a_condition_that_picks_a_kernel(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"{_TABLE}void run(float *x, int n) {{ auto f = n > 9 ? k<32> : k<64>; f<<<n, 128>>>(x); }}\n")
    kernels = analyse_file(str(path), AnalysisOptions()).kernels
    assert {kernel.instantiation: kernel.launches[0].block[0] for kernel in kernels} == {"k<32>": 128, "k<64>": 128}


def test_what_a_function_returns_last_else(tmp_path: Path) -> None:
    """Where it is no table, the earlier returns are those of errors."""
    host = "int b = threads(n);\nk<<<1, b>>>(x, n, m);"
    path = tmp_path / "k.cu"
    setup = "static int threads(int n) { if (n > 4096) return -1; int b = 2 * 32; return n < 0 ? n : b; }\n"
    path.write_text(f"{_KERNEL}{setup}void run(float *x, int n, long m) {{ {host} }}\n")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert [launch.block for launch in kernel.launches] == [(64, 1, 1)]


@pytest.mark.parametrize(
    ("guard", "remainder"), [("n % 4 != 0", 1), ("n % 4 == 2", 2), ("n % 2 && n % 3 == 0", 3), ("(n & 7) == 5", 5)]
)
def test_the_remainder_that_a_launch_is_for(guard: str, remainder: int, tmp_path: Path) -> None:
    """A size is a multiple of 32 otherwise; the grid shows which one was taken."""
    [launch] = _launches(tmp_path, f"if ({guard}) k<<<n, 32>>>(x, n, m);")
    if "3" in guard:
        assert launch.grid[0] % 3 == 0 and launch.grid[0] % 2 == 1
    else:
        assert launch.grid[0] % 32 == remainder
