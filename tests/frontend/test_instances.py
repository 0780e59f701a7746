"""What kernel templates that nothing instantiates are evaluated with."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file


def _kernel(source: str, **options: object) -> KernelFacts:
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),), **options)).kernels  # type: ignore[arg-type]
    return facts


_STRIDED = "a[threadIdx.x * N] = 0; }"


@pytest.mark.parametrize(
    ("head", "body", "made"),
    [
        ("class T, int N", "{ static_assert(N == 16 || N == 8, \"\"); " + _STRIDED, "T = float, N = 16"),
        # What clang does not take is none: there is no such type for `int`.
        ("class T, int N", "{ static_assert(N == 2 * sizeof(T), \"\"); if (N == 4) return; if (N == 8) " + _STRIDED,
         "T = float, N = 8"),
        ("int VEC, class IndexT", "{ IndexT i = threadIdx.x; a[i * VEC] = 0; }", "VEC = 4, IndexT = int"),
        ("class Op", "{ Op op; a[threadIdx.x] = op(a[threadIdx.x], 2); }", "Op = a function of its first argument"),
        # Nothing says how many.
        ("int N", "{ " + _STRIDED, None),
        # But there is no array in registers without a number, nor a block.
        ("int N", "{ float own[N] = {}; a[threadIdx.x] = own[0]; }", "N = 4"),
        ("int COLS", "{ float own[2][COLS] = {}; a[threadIdx.x] = own[1][0]; }", "COLS = 32"),
        ("int N", "{ __shared__ float all[N]; all[threadIdx.x] = 0; __syncthreads(); a[threadIdx.x] = all[0]; }", None),
        ("int TPB", "{ a[blockIdx.x * TPB + threadIdx.x] = 0; }", "TPB = 128"),
        # An array of no element is none, and one of four isn't that of whole warps.
        ("int N", "{ static_assert(N >= 32, \"\"); float own[N] = {}; a[threadIdx.x] = own[0]; }", "N = 32"),
        ("class T, int N = 2", "{ " + _STRIDED, "T = float"),
    ],
)  # fmt: skip
def test_arguments_come_from_what_the_template_says_of_them(head: str, body: str, made: str | None) -> None:
    facts = _kernel(f"namespace lib {{ template <{head}> __global__ void k(float* a) {body} }}")
    said = [text for text in facts.launches[0].assumptions if "nothing instantiates" in text]
    assert said == ([f"{made} (nothing instantiates the template)"] if made else [])


def test_arguments_that_another_text_names_come_first() -> None:
    """The file has them in a macro that nothing expands here."""
    facts = _kernel(
        "template <class T, int N> __global__ void k(T* a) { if (N == 8) return; a[threadIdx.x * N] = 0; }\n"
        "#define RUN k<double, 2><<<1, 64>>>\n"
    )
    [result] = [access.results[0] for access in facts.accesses]
    # Thirty-two numbers of 8 bytes that lie 16 bytes apart: 512 bytes, or 16 sectors.
    assert (facts.instantiation, result.status, result.sectors_per_request) == ("k<double, 2>", "assumed", 16.0)


def test_numbers_that_a_template_around_the_launch_is_used_with() -> None:
    """The kernel has its numbers from there, and no pair of others."""
    facts = _kernel(
        "template <class T, int THREADS, int LANES> __global__ void k(T* a, const int n) {\n"
        "    __shared__ int s[32 / LANES]; s[threadIdx.x % (32 / LANES)] = n; a[threadIdx.x * LANES] = s[0]; }\n"
        "template <class Matrix, int THREADS, int LANES> void run(const Matrix &m, int n) {\n"
        "    k<typename Matrix::value_type, THREADS, LANES><<<n, THREADS>>>(m.data(), n); }\n"
        "template <class C> void all(int n) { run<Matrix<C, 8>, 128, 16>(m, n); run<Matrix<C, 8>, 128, 4>(m, n); }\n"
    )
    assert facts.instantiation == "k<float, 128, 16>"
    # A parameter that is `const` takes nothing from what is said of the others.
    said = "T = float, THREADS = 128, LANES = 16 (nothing instantiates the template)"
    assert said in facts.launches[0].assumptions


def test_numbers_that_a_template_around_the_launch_has_by_itself() -> None:
    facts = _kernel(
        "template <class T, int Threads> __global__ void __launch_bounds__(Threads) k(T* a) { a[threadIdx.x] = 0; }\n"
        "template <class T, int Threads = 512> void run(T *a) { k<T, Threads><<<1, dim3(32, Threads / 32)>>>(a); }\n"
    )
    assert (facts.instantiation, facts.launches[0].block) == ("k<float, 512>", (32, 16, 1))


@pytest.mark.parametrize(
    "body",
    [
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 0;",
        "for (int i = 0; i < n; i++) a[threadIdx.x] += i;",
        "a[threadIdx.x * n + blockIdx.x] = 0;",
        "a[threadIdx.x] = blockIdx.x % n;",
    ],
)
def test_what_counts_elements_is_no_float(body: str) -> None:
    facts = _kernel(f"template <class value_t, class nnz_t> __global__ void k(value_t* a, const nnz_t n) {{ {body} }}")
    assert facts.instantiation == "k<float, int>"


def test_a_number_that_is_computed_with_may_be_a_float() -> None:
    body = "int i = threadIdx.x; a[i] = a[i] * scale < limit ? limit : 0;"
    facts = _kernel(f"template <class T> __global__ void k(T* a, T scale, T limit) {{ {body} }}")
    assert facts.instantiation == "k<float>"


def test_numbers_that_the_user_gives_are_those() -> None:
    source = "template <int VEC> __global__ void k(float* a) { a[threadIdx.x * VEC] = 0; }"
    facts = _kernel(source, params=((None, "VEC", "2"),), block=(64, 1, 1))
    [result] = [access.results[0] for access in facts.accesses]
    assert result.sectors_per_request == 8.0


def test_no_problem_lies_behind_the_text() -> None:
    """The lines that make instances follow the file's own, the last of which may be unfinished."""
    source = "template <class T> __global__ void k(T* a) { a[threadIdx.x] = 0; }\nvoid run() { int x = blockDim"
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),)))
    assert [problem for problem in facts.problems if problem.path == "a.cu" and (problem.line or 0) > 2] == []


def test_an_argument_that_is_computed_from_the_size_of_a_type_goes_with_that_type() -> None:
    """Two for `float`; a vector of four, as if nothing were said of it, is one that nobody has."""
    source = """
    template <int N, class T> __global__ void copy(T* a) { a[threadIdx.x * N] = 0; }
    template <class Type> struct Run {
        void run(Type* a) { constexpr int lanes = 8 / sizeof(Type); copy<lanes, Type><<<1, 32>>>(a); }
    };
    """
    facts = _kernel(source)
    said = [text for text in facts.launches[0].assumptions if "nothing instantiates" in text]
    assert said == ["N = (8 / sizeof(float)), T = float (nothing instantiates the template)"]
    [access] = facts.accesses
    # Of 32 lanes that are 8 bytes apart, 256 bytes or 8 sectors.
    assert [result.sectors_per_request for result in access.results] == [8]


def test_a_header_says_how_it_launches_its_kernels(tmp_path: Path) -> None:
    """With what a number is computed from where it is defined a step before."""
    (tmp_path / "sum.cuh").write_text("""
        template <int N, class T> __global__ void k(float* a) { a[threadIdx.x * N] = sizeof(T); }
        template <class Out> struct Run {
          void run(float* a) {
            constexpr int bytes = 8;
            constexpr int each = bytes / sizeof(Out);
            k<each, Out><<<1, 32>>>(a);
          }
        };
    """)
    path = tmp_path / "a.cu"
    path.write_text('#include "sum.cuh"\n')
    [facts] = analyse_file(str(path), AnalysisOptions()).kernels
    assert [launch.assumptions[:1] for launch in facts.launches] == [
        ("N = (8 / sizeof(float)), T = float (nothing instantiates the template)",)
    ]
    [access] = facts.accesses
    assert [result.sectors_per_request for result in access.results] == [8.0]  # Floats at a stride of 2.


_LAUNCHED = """
template <class Policy, class T, class Op> __global__ void k(T* a, Op op) { a[threadIdx.x * Policy::step] = op(a[0]); }
struct Steps { static constexpr int step = 2; };
template <class T, class Op> void through(T* a, Op op) { k<Steps><<<1, 64>>>(a, op); }
"""


@pytest.mark.parametrize(
    ("callers", "said"),
    [
        ("", "`through` with T = float, Op = a function of its first argument"),
        # It is the nearest that counts.
        ("template <class T> void run(T* a) { through(a, [] (T x) { return x; }); }",
         "`through` with T = float, Op = a function of its first argument"),
    ],
)  # fmt: skip
def test_arguments_come_from_a_function_that_launches_it(callers: str, said: str) -> None:
    """Nothing says what a policy is but the function that hands one on; it says the block, too."""
    facts = _kernel(_LAUNCHED + callers)
    [launch] = facts.launches
    assert f"{said} (nothing instantiates the template)" in launch.assumptions
    assert launch.block == (64, 1, 1)
    # Numbers of 4 bytes that lie 8 bytes apart: a request of 32 of them takes 8 sectors.
    stored = next(access for access in facts.accesses if access.operation == "store")
    assert stored.results[0].sectors_per_request == 8.0


def test_a_function_further_out_gives_what_the_nearest_does_not_know() -> None:
    handed_on = _LAUNCHED.replace("k<Steps>", "k<Policy>")
    handed_on = handed_on.replace("<class T, class Op> v", "<class Policy, class T, class Op> v")
    facts = _kernel(handed_on + "template <class T> void run(T* a) { through<Steps>(a, [] (T x) { return x; }); }")
    assert "`run` with T = float (nothing instantiates the template)" in facts.launches[0].assumptions
    assert facts.launches[0].block == (64, 1, 1)


def test_a_pack_of_types_has_one() -> None:
    kernel = "template <class... Ts> __global__ void k(float* a, Ts... n) { a[(threadIdx.x + ... + int(n))] = 0; }"
    facts = _kernel(kernel)
    assert "Ts = float (nothing instantiates the template)" in facts.launches[0].assumptions


@pytest.mark.parametrize(
    ("name", "type_"),
    [("InputIterator", "float*"), ("iter_t", "float*"), ("ReduceOp", "a function of its first argument")],
)
def test_names_of_what_is_no_number(name: str, type_: str) -> None:
    """The kernel only hands it on."""
    kernel = f"template <class {name}> __global__ void k(int* a, {name} x) {{ a[threadIdx.x] = f(x); }}"
    facts = _kernel(f"template <class T> __device__ int f(T x);\n{kernel}")
    assert f"{name} = {type_} (nothing instantiates the template)" in facts.launches[0].assumptions


def test_errors_in_a_text_are_in_the_way_of_no_instance() -> None:
    facts = _kernel("TEST(a, b) { } template <class T> __global__ void k(T* a) { a[threadIdx.x] = 0; }")
    assert facts.instantiation == "k<float>"


def test_a_text_that_ends_in_a_function_has_no_instances() -> None:
    facts = _kernel("template <class T> __global__ void k(T* a) { a[threadIdx.x] = 0; } void f() { if (1) {")
    assert facts.instantiation in ("k", "k<float>")


def test_an_error_that_two_instances_have_is_one_of_both() -> None:
    """Clang tells it for the first only."""
    facts = _kernel(
        "template <class T> __device__ void load(T* a) { static_assert(sizeof(T) == 8, \"\"); a[threadIdx.x] = 0; }\n"
        "template <class T> __global__ void k(T* a) { load(a); }\n"
        "template <class T> void run(T* a) { k<<<1, 64>>>(a); }\n"
    )
    assert facts.instantiation != "k<float>"
