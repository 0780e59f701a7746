"""Sources with syntax errors: each error is named with its place, and no other kernel is lost."""

from __future__ import annotations

import itertools
import os
import threading
import time
from pathlib import Path

import pytest

from cudalint.facts import FileFacts
from cudalint.frontend.mending import mended
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_GOOD = """\
struct Pair { int x; };
__constant__ float table[4];
__device__ float twice(float x) { return 2 * x; }
template <typename T>
__global__ void __launch_bounds__(32) good(T* a, Pair p) {
  a[threadIdx.x * 32] = twice(table[p.x]);
}
int main() { float* d; cudaMalloc(&d, 1 << 20); good<<<1, 32>>>(d, Pair{1}); }
"""


def _facts(source: str, tmp_path: Path) -> FileFacts:
    path = tmp_path / "kernels.cu"
    path.write_text(source)
    return analyse_file(str(path), AnalysisOptions())


def _sectors(facts: FileFacts, kernel: str) -> list[float | None]:
    [found] = [k for k in facts.kernels if k.name == kernel]
    return [result.sectors_per_request for access in found.accesses for result in access.results]


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ("void bad(float* a, int n) {\n  a[threadIdx.x * 2] = n;\n\n", (1, 38, "nothing closes this brace")),
        ("void bad(float* a, int n) {\n  if (n) {\n    a[threadIdx.x * 2] = n;\n}\n", (1, 38, "nothing closes this")),
        ("void bad(float* a, int n) {\n  a[threadIdx.x * 2] = n;\n}\n}\n", (4, 1, "extraneous closing brace")),
        ("void bad(float* a, int n) {\n  a[threadIdx.x * 2] = n\n}\n", (2, 25, "expected ';'")),
        ("void bad(float* a, int n\n{\n  a[threadIdx.x * 2] = n;\n}\n", (2, 1, "a bracket is open here")),
        ("void bad(float* a, int n)\n  a[threadIdx.x * 2] = n;\n}\n", (2, 3, "no brace opens this function's body")),
        ("bad(float* a, int n) {\n  a[threadIdx.x * 2] = n;\n}\n", (1, 12, "this kernel has no type")),
        (
            'void bad(float* a, int n) {\n  a[threadIdx.x * 2] = n;\n  printf("n);\n}\n',
            (3, 10, "nothing closes this string"),
        ),
        (
            "void bad(float* a, int n) {\n  for (int i = 0; i < 2; i++ {\n    a[threadIdx.x * 2 + i] = n;\n  }\n}\n",
            (2, 30, "a bracket is open here"),
        ),
    ],
    ids=["function", "block", "too many", "semicolon", "parameters", "no brace", "type", "string", "loop"],
)
def test_an_error_is_named_and_costs_no_other_kernel(
    broken: str, error: tuple[int, int, str], tmp_path: Path
) -> None:
    """Two elements of 4 bytes apart, 32 lanes touch 8 sectors; 32 apart, 32."""
    facts = _facts(f"__global__ {broken}{_GOOD}", tmp_path)
    line, column, message = error
    assert [(p.line, p.column) for p in facts.problems if p.is_syntax and p.message.startswith(message)] == [
        (line, column)
    ]
    assert [kernel.name for kernel in facts.kernels] == ["bad", "good"]
    assert set(_sectors(facts, "bad")) == {8.0}
    assert _sectors(facts, "good")[-1] == 32.0


def test_a_class_ends_before_a_kernel(tmp_path: Path) -> None:
    facts = _facts(f"struct Open {{\n  int x;\n  Open(int y) : x(y) {{ }}\n{_GOOD[_GOOD.index('struct'):]}", tmp_path)
    assert [kernel.name for kernel in facts.kernels] == ["good"]


@pytest.mark.parametrize("kind", ["struct", "class", "union", "enum class"])
def test_a_class_without_a_semicolon_costs_no_kernel(kind: str, tmp_path: Path) -> None:
    kernel = "__global__ void k(float* a) { a[threadIdx.x * 2] = 1; }\n"
    facts = _facts(f"{kind} Open {{\n}}\n\n{kernel}{_GOOD}", tmp_path)
    assert [(p.line, p.column) for p in facts.problems if p.is_syntax] == [(2, 2)]
    assert _sectors(facts, "k") == [8.0]


@pytest.mark.parametrize(
    "source",
    [
        'namespace a { extern "C" { __global__ void k() { struct L { int f() { return 1; } }; } } }\n',
        "#ifdef A\nint f() {\n#else\nint f(int x) {\n#endif\n  return 1;\n}\nint g() { return 2; }\n",
        "auto f = [](int x) { return x; };\nvoid g() { h(1, [=] __device__ (int i) { return i; }); }\n",
        "template <int N = (3 > 2)> struct __align__(16) S { int a[N]; ~S() { } S operator+(S s) const { f(); } };\n",
        "void f() {\nfor (;;) { if (i) { } else if (i > 2) { } }\nwhile (1) { switch (2) { case 1: { } } }\n}\n",
        "char c = '{'; /* { */ // {\nconst char* r = R\"x({)\")x\";\nint f() { g(\"{\"); return 1'000; }\n",
        "void f() {\nint a[] = {1, 2};\nS s{3};\ndo { } while (0);\n#define M {\\\n  {\n}\nvoid g() { }\n",
    ],
    ids=["scopes", "conditions", "lambdas", "classes", "statements", "literals", "lists"],
)
def test_what_is_complete_stays(source: str) -> None:
    skipped = [(1, 3)] if source.startswith("#ifdef") else []
    found = mended(source.encode(), skipped, ())
    assert (found.text, found.missing) == (source.encode(), ())


def test_what_follows_from_a_missing_name_is_no_syntax_error(tmp_path: Path) -> None:
    names = "using Key = missing::key<int>;\nint x = missing::size<int>(3);\nclass Derived : Base {};\n"
    facts = _facts(f"#include <missing.h>\n{names}{_GOOD}", tmp_path)
    assert facts.problems and not [problem for problem in facts.problems if problem.is_syntax]


def test_what_follows_from_a_missing_namespace_is_no_syntax_error(tmp_path: Path) -> None:
    """Flash-attention without its CUTLASS: fifteen of them hid that headers are missing."""
    names = "using namespace shapes;\nusing Tile = Layout<Shape<_1, _8>>;\nusing Made = decltype(make(Tile<4>{}));\n"
    facts = _facts(f"#include <missing.h>\n{names}{_GOOD}", tmp_path)
    assert facts.problems and not [problem for problem in facts.problems if problem.is_syntax]


def test_names_in_latin_1_are_names(tmp_path: Path) -> None:
    path = tmp_path / "kernels.cu"
    path.write_bytes("__global__ void gr\xf6\xdfe(float* a) { a[threadIdx.x * 2] = 1; }\n".encode("latin-1"))
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert kernel.accesses[0].results[0].sectors_per_request == 8.0


def test_unknown_macros_take_no_kernel_along(tmp_path: Path) -> None:
    """Without their header they stand where declarations do, and clang takes `__global__` for a part of theirs."""
    kernel = "__global__ void {}(float* a) {{ a[threadIdx.x * 2] = 1; }}\n"
    source = f"REGISTER_OP(one)\n{kernel.format('first')}BEGIN_SPACE\n{kernel.format('second')}END_SPACE\n"
    source += f"API {kernel.format('third')}INSTANTIATE(third, float, 3)\n{kernel.format('fourth')}"
    facts = _facts(source, tmp_path)
    assert [kernel.name for kernel in facts.kernels] == ["first", "second", "third", "fourth"]
    assert all(_sectors(facts, name) == [8.0] for name in ("first", "second", "third", "fourth"))


@pytest.mark.parametrize(
    "nested",
    [
        "{" * 2000 + "a[threadIdx.x * 2] = 1;" + "}" * 2000,
        "a[threadIdx.x * 2] = " + "(" * 2000 + "1" + ")" * 2000 + ";",
    ],
    ids=["blocks", "brackets"],
)
@pytest.mark.skipif(os.name != "posix" or threading.current_thread() is not threading.main_thread(), reason="stack")
def test_two_thousand_levels(nested: str, tmp_path: Path) -> None:
    facts = _facts(f"__global__ void bad(float* a) {{ {nested} }}\n{_GOOD}", tmp_path)
    assert _sectors(facts, "bad") == [8.0]


def test_an_expression_of_thousands_of_terms_costs_its_kernel_only(tmp_path: Path) -> None:
    terms = " + ".join(["a[n]"] * 4_900)
    facts = _facts(f"__global__ void bad(float* a, int n) {{ a[0] = {terms}; }}\n{_GOOD}", tmp_path)
    bad, good = facts.kernels
    assert bad.accesses or "nested too deeply" in bad.gaps[0].reason
    assert good.accesses


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_beside_a_file_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cu")
    facts = _facts("__global__ void k(missing_t* a) { a[threadIdx.x] = 1; }\n", tmp_path)
    assert [kernel.name for kernel in facts.kernels] == ["k"]


def test_a_long_kernel_costs_no_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's time goes to the short ones first. A second passes between any two looks at the clock, and each
    statement is one look, so that the machine's speed does not matter."""
    long = "".join(f"  a[threadIdx.x * {i % 7} + {i}] = {i};\n" for i in range(20_000))
    path = tmp_path / "kernels.cu"
    path.write_text(f"__global__ void bad(float* a) {{\n{long}}}\n{_GOOD}")
    seconds = itertools.count()
    monkeypatch.setattr(time, "process_time", lambda: float(next(seconds)))
    facts = analyse_file(str(path), AnalysisOptions(time_limit=1000.0))
    assert [kernel.name for kernel in facts.kernels] == ["bad", "good"]
    assert any("takes too long" in gap.reason for gap in facts.kernels[0].gaps)
    assert _sectors(facts, "good")[-1] == 32.0


def test_a_template_whose_instantiation_clang_gives_up(tmp_path: Path) -> None:
    """Where nothing gives the length of a shared array, no instantiation has a body; the template has."""
    facts = _facts(
        "template <typename T> __global__ void k(T* a) {\n"
        "  __shared__ T tile[LENGTH];\n  tile[threadIdx.x] = 0;\n  a[threadIdx.x] = 1;\n}\n"
        "int main() { float* d; cudaMalloc(&d, 128); k<<<1, 32>>>(d); }\n",
        tmp_path,
    )
    assert _sectors(facts, "k")[-1] == 4.0
