"""The parse: set-up, problems, recovery, and what the bundled headers promise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from clang.cindex import Cursor, CursorKind
from parses import parses_of

from cudalint.frontend import recovery
from cudalint.frontend.flags import BUNDLED_ROOT, ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.frontend.precompiled import precompiled
from cudalint.frontend.reading import SourceError
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file
from cudalint.system.disk.cache_folder import FOLDER_VARIABLE
from cudalint.system.disk.folders import without_detours


def parse(text: str | bytes, path: str = "/nowhere/kernel.cu", options: ParseOptions | None = None) -> ParsedFile:
    source = text.encode() if isinstance(text, str) else text
    return parse_file(path, options or ParseOptions(), source)


def walk(cursor: Cursor) -> Iterator[Cursor]:
    stack = [cursor]
    while stack:
        current = stack.pop()
        yield current
        stack += current.get_children()


def kernels(parsed: ParsedFile) -> list[str]:
    """Names of the kernels with a body."""
    found = []
    for cursor in walk(parsed.tu.cursor):
        kinds = [child.kind for child in cursor.get_children()]
        if CursorKind.CUDAGLOBAL_ATTR in kinds and CursorKind.COMPOUND_STMT in kinds:
            found.append(cursor.spelling)
    return sorted(found)


def messages(parsed: ParsedFile) -> list[str]:
    return [problem.message for problem in parsed.problems]


SAMPLES = Path(__file__).parent / "parses"
SIMPLE = "__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }\n"


# --- source text ---------------------------------------------------------------------------------


def test_a_kernel_parses_without_problems() -> None:
    parsed = parse(SIMPLE)
    assert kernels(parsed) == ["k"]
    assert parsed.problems == ()


def test_an_empty_file_is_fine() -> None:
    parsed = parse("")
    assert kernels(parsed) == []
    assert parsed.problems == ()


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse(b"\xef\xbb\xbf" + SIMPLE.encode()).problems == ()


def test_a_binary_file_is_refused_with_its_place() -> None:
    with pytest.raises(SourceError, match=r"^/nowhere/kernel\.cu:2:3: not a text file"):
        parse(b"ab\ncd\0ef")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_refused(encoding: str) -> None:
    with pytest.raises(SourceError, match=r"UTF-16|NUL"):
        parse(SIMPLE.encode(encoding))


def test_latin_1_text_keeps_its_columns() -> None:
    source = '/* \xe4\xf6 */ __global__ void k() { const char* s = "\xfc"; unknown; }'.encode("latin-1")
    parsed = parse(source)
    assert kernels(parsed) == ["k"]
    assert parsed.problems[0].column == source.index(b"unknown") + 1


def test_an_unreadable_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read it"):
        parse_file(str(tmp_path / "missing.cu"), ParseOptions())
    with pytest.raises(SourceError, match="cannot read it"):
        parse_file(str(tmp_path), ParseOptions())


def test_a_file_of_50000_lines() -> None:
    body = "\n".join(f"  x[{i}] = {i};" for i in range(50_000))
    parsed = parse(f"__global__ void k(int* x) {{\n{body}\n}}\n")
    assert kernels(parsed) == ["k"]
    assert parsed.problems == ()


def test_a_syntax_error_costs_no_other_kernel() -> None:
    parsed = parse("__global__ void a(int* x) { x[0] = ; int y = 3 +; }\n" + SIMPLE)
    assert kernels(parsed) == ["a", "k"]
    assert parsed.problems
    assert all(problem.kind == "error" and problem.line == 1 for problem in parsed.problems)


# --- what is missing --------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [" ", "  ", "\n"])
def test_c_linkage_without_a_space_before_an_attribute(gap: str) -> None:
    """nvcc's macros are no suffixes of a literal; the name stays where it is."""
    line = f'extern{gap}"C"__global__ void k(float *a) {{ a[threadIdx.x] = 1; }}\n'
    parsed = parse(line)
    assert messages(parsed) == []
    [kernel] = Listing(parsed).unit().kernels
    assert kernel.name == "k"


@pytest.mark.parametrize("launch", ["k << < 8, 128 >> > (x)", "k <<< 8, 128 >> >(x)", "k << <\n8, 128 >>> (x)"])
def test_a_launch_with_spaces_in_its_brackets(launch: str) -> None:
    """As nvcc 13.0 takes them; `< < <` it does not."""
    parsed = parse(f"{SIMPLE}void go(float* x) {{ {launch}; }}\n")
    assert messages(parsed) == []
    assert any(cursor.spelling == "cudaConfigureCall" for cursor in walk(parsed.tu.cursor))


def test_launches_with_spaces_in_headers(tmp_path: Path) -> None:
    """Also in one that is included by another, which must be read as nvcc takes it, too."""
    (tmp_path / "go.cuh").write_text(f"{SIMPLE}void go(float* x) {{ k << <8, 128 >> > (x); }}\n")
    (tmp_path / "all.cuh").write_text(
        '#include "go.cuh"\ntemplate <class T> void all(T* x) { go(x); k << <{2, 3}, 64 >> > (x); }\n'
    )
    path = tmp_path / "main.cu"
    path.write_text('#include "all.cuh"\nint main() { float* x; all(x); }\n')
    parsed = parse_file(str(path), ParseOptions())
    assert messages(parsed) == []
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert sorted((launch.block, launch.grid) for launch in kernel.launches) == [
        ((64, 1, 1), (2, 3, 1)), ((128, 1, 1), (8, 1, 1)),
    ]  # fmt: skip


def test_shifts_and_templates_are_no_launches() -> None:
    text = "template <class T> struct A {};\ntemplate <class T> int f(int);\n"
    text += "int go(int a) { return f<A<A<int> > > (a << 2 >> 1) + f<A<A<int>> > (a); }\n"
    assert messages(parse(text + "__global__ void k() {} void run() { k<<<1, 2>>>(); }")) == []
    assert messages(parse(text)) == []


@pytest.mark.parametrize("header", ["cublas_v2.h", "cublasLt.h", "nccl.h"])
def test_headers_that_bring_the_types_of_16_bits(header: str) -> None:
    """cublas_api.h and nccl.h of the toolkit include cuda_fp16.h and cuda_bf16.h."""
    parsed = parse(f"#include <{header}>\n__global__ void k(__nv_bfloat16* a, half* b) {{ a[0] = b[0]; }}\n")
    assert messages(parsed) == []


def test_a_missing_include_hides_nothing_after_it() -> None:
    parsed = parse('#include "not_there.h"\n' + SIMPLE)
    assert kernels(parsed) == ["k"]
    (problem,) = parsed.problems
    assert (problem.kind, problem.line, problem.path) == ("missing-include", 1, "/nowhere/kernel.cu")


def test_a_missing_type_is_guessed_and_noted() -> None:
    parsed = parse("__global__ void k(real_t* x, index_t n) { if (threadIdx.x < n) x[threadIdx.x] = 0; }")
    assert kernels(parsed) == ["k"]
    assert [(problem.kind, problem.line) for problem in parsed.problems] == [("guessed", 1), ("guessed", 1)]
    assert messages(parsed)[0] == "nothing declares 'real_t'; taken as `float`"


def test_without_time_a_file_is_what_it_was_understood_as_by_then() -> None:
    """Nothing is guessed, and the kernels that need no guess are there."""
    text = b"__global__ void k(float *p, missing_t n) { *p = 0; }\n__global__ void other(float *p) { *p = 0; }"
    in_time = parse_file("/nowhere/kernel.cu", ParseOptions(), text)
    assert [problem.kind for problem in in_time.problems] == ["guessed"]
    late = parse_file("/nowhere/kernel.cu", ParseOptions(), text, is_over=lambda: True)
    assert [problem.name for problem in late.problems] == ["missing_t"]
    assert late.problems[0].kind != "guessed"
    assert "other" in kernels(late)


def test_missing_names_behind_each_other_are_guessed() -> None:
    parsed = parse("__global__ void k(float* x) { vec_t v = load(x, WIDTH); x[0] = v; }")
    assert {problem.kind for problem in parsed.problems} == {"guessed"}
    assert "load" in str(messages(parsed))


def test_a_guessed_number_has_no_value() -> None:
    parsed = parse("__global__ void k(float* x) { x[threadIdx.x * STRIDE] = 0; }")
    assert messages(parsed) == ["nothing declares 'STRIDE'; taken as an unknown `int`"]


def test_a_guessed_number_has_a_value_where_nothing_else_can_stand() -> None:
    text = "template <int N> __global__ void k(float* x) {}\nvoid f(float* x) { k<SIZE><<<1, STEP>>>(x); }"
    parsed = parse(text)
    assert messages(parsed) == [
        "nothing declares 'SIZE'; taken as 32", "nothing declares 'STEP'; taken as an unknown `int`",
    ]  # fmt: skip
    assert parsed.stand_ins == {"SIZE": 32}


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("std::tuple<int, int> sizes();", "tuple"),
        ("float *last(float *p) { return p + std::accumulate(p, p + 3, 0); }", "numeric"),
        ("std::unordered_map<int, int> m;", "unordered_map"),
        ("void draw(std::uniform_int_distribution<int> &d);", "random"),
    ],
)
def test_standard_headers_that_are_left_out(line: str, header: str) -> None:
    """Other compilers' headers include them."""
    parsed = parse(f"{line}\n__global__ void k(float *a) {{ a[threadIdx.x] = 1; }}\n")
    assert messages(parsed) == [f"`{header}` is not included; taken as if it were"]


def test_standard_headers_that_headers_of_the_project_leave_out(tmp_path: Path) -> None:
    """One compiler's headers include them, or those of a library that isn't here."""
    (tmp_path / "pool.h").write_text(
        "#pragma once\nstruct Pool { std::multimap<int, char *> free; std::array<int, 4> sizes; int count; };\n"
    )
    path = tmp_path / "a.cu"
    path.write_text('#include "pool.h"\n__global__ void k(Pool pool) { pool.free.clear(); }\n')
    parsed = parse_file(str(path), ParseOptions())
    assert messages(parsed) == ["`map` is not included; taken as if it were"]


def test_what_a_left_out_header_declares_is_known(tmp_path: Path) -> None:
    """The names that stand for a tuple's parts are numbers, and the launch after them is found."""
    path = tmp_path / "a.cu"
    path.write_text("""
std::tuple<int, int> sizes();
template <int B> __global__ void k(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x * B] = 1; }
int main() { float *a = 0; auto [n, m] = sizes(); k<2><<<m, 64>>>(a, n); }
""")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert [(launch.block, launch.source) for launch in kernel.launches] == [((64, 1, 1), "launch-site")]


def test_headers_in_folders_around_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "deep"
    folder.mkdir(parents=True)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "near.h").write_text('#include "further.h"\n')
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "further.h").write_text("typedef double element;\n")
    source = folder / "k.cu"
    source.write_text("#include <near.h>\n__global__ void k(element* x) { x[0] = 1; }\n")
    assert parse_file(str(source), ParseOptions()).problems == ()


def test_includes_are_counted_from_a_folder_around_one_that_they_name(tmp_path: Path) -> None:
    """However deep in it the file is; nothing but the name says so."""
    folder = tmp_path / "library" / "core" / "kernels" / "fused" / "dense"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "library" / "core" / "types.h").write_text("typedef double element;\n")
    source = folder / "k.cu"
    source.write_text('#include "library/core/types.h"\n__global__ void k(element* x) { x[0] = 1; }\n')
    assert parse_file(str(source), ParseOptions()).problems == ()


@pytest.mark.parametrize("others", [(), ("other",)])
@pytest.mark.parametrize("own", ["utilities", "component/include"])
def test_headers_in_a_folder_of_any_name(tmp_path: Path, own: str, others: tuple[str, ...]) -> None:
    """As long as it is the only one there that has them; a component of a project often has an `include` of its own."""
    others = tuple(own.replace("utilities", other).replace("component", other) for other in others)
    for folder in (own, "programs/atax", *others):
        (tmp_path / folder).mkdir(parents=True)
    for folder in (own, *others):
        (tmp_path / folder / "shared.h").write_text("typedef double element;\n")
    source = tmp_path / "programs" / "atax" / "k.cu"
    source.write_text("#include <shared.h>\n__global__ void k(element *a) { a[0] = 1; }\n")
    found = messages(parse_file(str(source), ParseOptions()))
    assert bool(found) == bool(others)


def test_headers_of_another_project_are_none_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "mine" / ".git").mkdir(parents=True)
    (tmp_path / "yours").mkdir()
    (tmp_path / "yours" / "shared.h").write_text("typedef double element;\n")
    source = tmp_path / "mine" / "k.cu"
    source.write_text('#include "shared.h"\n__global__ void k(float *a) { a[0] = 1; }\n')
    assert messages(parse_file(str(source), ParseOptions())) == ["'shared.h' file not found"]


def test_a_folder_that_the_includes_of_a_file_need_takes_no_second_parse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "near.h").write_text("typedef double element;\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "beside.h").write_text("")
    source = tmp_path / "src" / "k.cu"
    source.write_text('#include "beside.h"\n # include <near.h>\n__global__ void k(element* x) { x[0] = 1; }\n')
    parses = parses_of(source, monkeypatch)
    assert parse_file(str(source), ParseOptions()).problems == ()
    assert len(parses) == 1


def test_headers_in_a_folder_that_the_makefile_names(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "shared.h").write_text("typedef double element;\n")
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "Makefile").write_text("# -I../wrong\nCFLAGS := $(EXTRA) -I../other -DTILE=16 -DN=$(N)\n")
    source = folder / "k.cu"
    source.write_text(
        '#include "shared.h"\n__global__ void k(element* x) { __shared__ element t[TILE]; t[0] = x[0]; }\n'
    )
    assert parse_file(str(source), ParseOptions()).problems == ()


def test_what_the_makefile_defines_chooses_the_program(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("CFLAGS = -DWIDE -DTILE=16\nk: k.cu\n\tnvcc $(CFLAGS) k.cu\n")
    source = tmp_path / "k.cu"
    source.write_text(
        "#ifndef TILE\n#define TILE 4\n#endif\n"
        "#if defined(WIDE) && TILE == 16\n__global__ void wide() {}\n"
        "#else\n__global__ void narrow() {}\n#endif\n"
    )
    parsed = parse_file(str(source), ParseOptions())
    assert (kernels(parsed), parsed.problems) == (["wide"], ())
    # The user knows better.
    assert kernels(parse_file(str(source), ParseOptions(defines=("TILE=8",)))) == ["narrow"]
    assert kernels(parse_file(str(source), ParseOptions(extra=("-UWIDE",)))) == ["narrow"]


def test_what_the_makefile_defines_is_left_out_where_it_needs_what_is_not_here(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("k: k.cu\n\tnvcc -DWITH_LIBRARY k.cu\n")
    source = tmp_path / "k.cu"
    library = '#include "library_of_nobody.h"\n__device__ type_of_nobody value;\n'
    source.write_text(f"#ifdef WITH_LIBRARY\n{library}#endif\n{SIMPLE}")
    assert parse_file(str(source), ParseOptions()).problems == ()


def test_a_project_file_does_not_hide_a_standard_header(tmp_path: Path) -> None:
    (tmp_path / "vector").write_text("#error the wrong one\n")
    source = tmp_path / "k.cu"
    source.write_text("#include <vector>\nstd::vector<int> v;\n" + SIMPLE)
    assert parse_file(str(source), ParseOptions()).problems == ()


def test_kernels_that_only_an_includer_includes_are_none_of_a_fragment(tmp_path: Path) -> None:
    (tmp_path / "scale.cuh").write_text("#pragma once\n__global__ void scale(int* p) { p[0] = 1; }\n")
    (tmp_path / "shift.cuh").write_text("#pragma once\n__global__ void shift(int* p) { p[0] = 2; }\n")
    before = '#include "scale.cuh"\n#include "shift.cuh"\nstruct node { int key; };\n'
    (tmp_path / "main.cu").write_text(before + '#include "kernel.cuh"\n')
    fragment = tmp_path / "kernel.cuh"
    fragment.write_text('#include "shift.cuh"\n__global__ void k(node* n) { n->key = 1; }\n')
    unit = Listing(parse_file(str(fragment), ParseOptions())).unit()
    assert unit.problems == ()
    assert sorted(ref.name for ref in unit.kernels) == ["k", "shift"]


def test_a_fragment_is_read_in_the_context_of_its_includer(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text(
        'typedef struct { int key; } node;\n#define WIDTH 4\nextern "C" {\n#include "kernel.cu"\n}\nint main() {}\n'
    )
    fragment = tmp_path / "kernel.cu"
    fragment.write_text("__global__ void k(node* n) { __shared__ int t[WIDTH]; t[0] = n->key; }\n")
    parsed = parse_file(str(fragment), ParseOptions())
    assert [problem for problem in parsed.problems if problem.path == str(fragment)] == []
    assert kernels(parsed) == ["k"]


def test_a_file_that_includes_itself_comes_to_an_end(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text('#include "k.cu"\n' + SIMPLE)
    assert "k" in kernels(parse_file(str(source), ParseOptions()))


# --- options ------------------------------------------------------------------------------------------


def test_include_folders_and_macros(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("typedef float element;\n")
    options = ParseOptions((str(tmp_path),), ("TILE=8", "FAST"), users=(str(tmp_path),))
    kernel = "__global__ void k(element* x) { __shared__ element t[TILE]; }"
    parsed = parse(f"#include <mine.h>\n#ifndef FAST\n#error\n#endif\n{kernel}", options=options)
    assert parsed.problems == ()


@pytest.mark.parametrize(
    ("arch", "value"),
    [
        ("sm_70", 700),
        ("sm_80", 800),
        ("compute_86", 860),
        ("sm_90a", 900),
        ("sm_100", 1000),
        ("sm_120a", 1200),
        ("?", 800),
    ],
)
def test_architectures(arch: str, value: int) -> None:
    text = f"static_assert(__CUDA_ARCH__ == {value}); {SIMPLE}"
    assert parse(text, options=ParseOptions(arch=arch)).problems == ()


@pytest.mark.parametrize(("std", "value"), [(None, 201703), ("c++11", 201703), ("c++17", 201703), ("gnu++20", 202002)])
def test_standards(std: str | None, value: int) -> None:
    assert parse(f"static_assert(__cplusplus == {value}L);", options=ParseOptions(std=std)).problems == ()


_NEWER = "template <class T> concept Small = sizeof(T) <= 4;\n"


def test_a_text_with_words_of_a_newer_standard_is_read_in_that() -> None:
    parsed = parse(_NEWER + "template <Small T> __global__ void k(T *x) { x[threadIdx.x] = 1; }\n")
    assert kernels(parsed) == ["k"]
    assert [problem.message for problem in parsed.problems] == ["`concept` is C++20: linted with --std c++20"]


def test_a_standard_that_is_given_counts() -> None:
    parsed = parse(_NEWER, options=ParseOptions(std="c++17"))
    assert [problem.message for problem in parsed.problems] == ["nothing declares 'concept'; taken as `int`"]


def test_templates_with_default_arguments_stand_for_ones_without() -> None:
    text = "template <class T, int N = 4> struct Row { T v[N]; };\n"
    text += "template <template <class> class X> struct Of { X<float> x; };"
    assert not parse(text + "\n__global__ void k(Of<Row> *x) { x->x.v[threadIdx.x] = 1; }\n").problems


def test_further_arguments_reach_clang() -> None:
    options = ParseOptions(extra=("-fopenmp", "-DFROM_EXTRA=1"))
    assert parse(f"static_assert(FROM_EXTRA == 1); {SIMPLE}", options=options).problems == ()


_ONE = "__global__ void k(float *a) { a[threadIdx.x] = 0; }\n"


@pytest.mark.parametrize(
    "text",
    [
        f"// __global__ is for CUDA\n#ifdef USE_GPU\n{_ONE}#endif\n",
        f"#if defined(USE_GPU)\n#if WITH_KERNELS // as a rule\n{_ONE}#endif\n#endif\n",
        f"#ifdef USE_HIP\n{_ONE}#elif 0\n#endif\n#ifdef USE_GPU\n/* two\nlines */ {_ONE}#endif\n",
    ],
)
def test_macros_that_all_kernels_wait_for_are_taken_as_defined(text: str) -> None:
    parsed = parse(text)
    assert kernels(parsed) == ["k"]
    assert "linted with -D USE_GPU, without which it has no kernels" in messages(parsed)
    assert not any("HIP" in message for message in messages(parsed))


@pytest.mark.parametrize(
    "text",
    [
        f"{_ONE}#ifdef USE_GPU\n{_ONE.replace('k(', 'other(')}#endif\n",
        f"#define USE_GPU\n#ifdef USE_GPU\n{_ONE}#endif\n",
    ],
)
def test_macros_that_some_kernels_wait_for_are_up_to_the_build(text: str) -> None:
    parsed = parse(text)
    assert kernels(parsed) == ["k"]
    assert messages(parsed) == []


def test_kernels_that_nothing_brings_in_are_left_out() -> None:
    for condition in ("#if 0", "#if VERSION > 3", "#ifdef __SOME_COMPILER__", "#ifdef USE_HIP"):
        parsed = parse(f"{condition}\n{_ONE}#endif\n")
        assert (kernels(parsed), messages(parsed)) == ([], [])


def test_skipped_ranges_are_those_of_the_file() -> None:
    assert parse("#if 0\nint a;\n#endif\n#ifdef __CUDA_ARCH__\nint b;\n#else\nint c;\n#endif\n").skipped_ranges == (
        (1, 3),
        (6, 8),
    )


def test_whose_a_file_is(tmp_path: Path) -> None:
    parsed = parse(SIMPLE, options=ParseOptions(cuda_path=str(tmp_path / "cuda")))
    assert parsed.is_user("/nowhere/kernel.cu")
    assert not parsed.is_user(f"{BUNDLED_ROOT}/vector")
    assert parsed.is_bundled(f"{BUNDLED_ROOT}/vector")
    assert not parsed.is_user(str(tmp_path / "cuda" / "include" / "cub.h"))
    assert not parsed.is_user("/usr/include/stdio.h")


def test_a_named_toolkit_serves_what_is_not_bundled(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "rare.h").write_text("typedef float rare_t;\n")
    (tmp_path / "include" / "cuda_fp16.h").write_text("#error the bundled one comes first\n")
    parsed = parse(
        "#include <rare.h>\n#include <cuda_fp16.h>\n__global__ void k(rare_t* x, half* h) {}",
        options=ParseOptions(cuda_path=str(tmp_path)),
    )
    assert parsed.problems == ()


def test_the_libraries_of_a_named_toolkit_are_where_cuda_13_has_them(tmp_path: Path) -> None:
    libraries = tmp_path / "include" / "cccl"
    (libraries / "nv").mkdir(parents=True)
    (libraries / "nv" / "rare.h").write_text('#include <of_the_toolkit.h>\ntypedef float rare_t;\n')
    (tmp_path / "include" / "of_the_toolkit.h").touch()
    source = "#include <nv/rare.h>\n__global__ void k(rare_t* x) {}"
    assert parse(source).problems != ()
    parsed = parse(source, options=ParseOptions(cuda_path=str(tmp_path)))
    assert parsed.problems == ()
    assert not parsed.is_user(str(libraries / "nv" / "rare.h"))


def test_a_toolkit_among_the_include_folders_stands_behind_the_bundled_headers(tmp_path: Path) -> None:
    (tmp_path / "cuda_runtime_api.h").touch()
    (tmp_path / "cuda_fp16.h").write_text("#error the bundled one comes first\n")
    options = ParseOptions(include_dirs=(str(tmp_path),), users=(str(tmp_path),))
    parsed = parse("#include <cuda_fp16.h>\n" + SIMPLE, options=options)
    assert parsed.problems == ()
    assert not parsed.is_user(str(tmp_path / "cuda_fp16.h"))


# --- the precompiled prelude ------------------------------------------------------------------------------


def test_preludes_of_long_ago_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    old, other, young = tmp_path / "prelude-old.pch", tmp_path / "notes.txt", tmp_path / "prelude-young.pch"
    abandoned = tmp_path / "prelude-old.new"
    abandoned.mkdir()
    for path in (old, other, young, abandoned / "made.pch"):
        path.touch()
    for path in (old, other, abandoned):
        os.utime(path, (0, 0))
    assert parse(SIMPLE).problems == ()
    assert not old.exists()
    assert not abandoned.exists()
    assert other.exists()
    assert young.exists()


def test_the_precompiled_prelude_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    assert parse(SIMPLE).problems == ()
    (made,) = (tmp_path / "cache").iterdir()
    time = made.stat().st_mtime_ns
    assert parse(SIMPLE).problems == ()
    assert made.stat().st_mtime_ns == time


@pytest.mark.parametrize("folder", ["", "/dev/null/cache"])
def test_without_a_cache_the_prelude_is_parsed(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, folder)
    assert kernels(parse(SIMPLE)) == ["k"]
    assert precompiled(f"{BUNDLED_ROOT}/_cudalint/prelude.h", ("-x", "cuda")) is None


# --- the bundled headers -----------------------------------------------------------------------------------


def test_launch_bounds_can_be_read() -> None:
    parsed = parse("__global__ void __launch_bounds__(128 * 2, 3) k() {}")
    annotations = [cursor for cursor in walk(parsed.tu.cursor) if cursor.kind is CursorKind.ANNOTATE_ATTR]
    (annotation,) = [cursor for cursor in annotations if cursor.spelling == "cudalint.launch_bounds"]
    # How many there are, and the two.
    assert len(list(annotation.get_children())) == 3


VECTOR_LAYOUTS = {
    "char1": (1, 1), "char2": (2, 2), "char3": (3, 1), "char4": (4, 4), "uchar4": (4, 4),
    "short2": (4, 4), "short3": (6, 2), "ushort4": (8, 8),
    "int1": (4, 4), "int2": (8, 8), "int3": (12, 4), "int4": (16, 16), "uint4": (16, 16),
    "long2": (16, 16), "longlong2": (16, 16), "longlong4": (32, 16), "ulonglong3": (24, 8),
    "float1": (4, 4), "float2": (8, 8), "float3": (12, 4), "float4": (16, 16),
    "double1": (8, 8), "double2": (16, 16), "double3": (24, 8), "double4": (32, 16), "double4_32a": (32, 32),
    "dim3": (12, 4), "__half": (2, 2), "__half2": (4, 4), "__nv_bfloat162": (4, 4), "cuDoubleComplex": (16, 16),
    "cudaTextureObject_t": (8, 8),
}  # fmt: skip


def test_vector_types_have_their_size_and_alignment() -> None:
    checks = "\n".join(
        f"static_assert(sizeof({name}) == {size} && alignof({name}) == {alignment});"
        for name, (size, alignment) in VECTOR_LAYOUTS.items()
    )
    assert parse(f"#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuComplex.h>\n{checks}").problems == ()


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.cu")), ids=lambda path: path.stem)
def test_samples_parse_without_problems(path: Path) -> None:
    assert messages(parse_file(str(path), ParseOptions())) == []


def test_every_bundled_header_parses_by_itself() -> None:
    root = Path(BUNDLED_ROOT)
    pieces = {"guesses.h", "half_class.h", "half_functions.h"}
    headers = [path for path in sorted(root.rglob("*")) if path.is_file() and path.name not in pieces]
    assert len(headers) > 300
    for header in headers:
        parsed = parse(f'#include "{header}"\n{SIMPLE}')
        assert messages(parsed) == [], header


def test_single_letter_macros_of_a_project_break_no_bundled_header() -> None:
    macros = "\n".join(f"#define {letter} 7" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    includes = "\n".join(
        f"#include <{name}>"
        for name in (
            "iostream",
            "map",
            "random",
            "thread",
            "cuda_fp16.h",
            "cub/cub.cuh",
            "thrust/device_vector.h",
            "mma.h",
        )
    )
    assert messages(parse(f"{macros}\n{includes}\n{SIMPLE}")) == []


def test_the_kernels_of_an_includer_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places in the start of the includer are places in the includer."""
    monkeypatch.chdir(tmp_path)
    Path("main.cu").write_text(
        "struct node { int key; };\n"
        "__global__ void other(int* n) { *n = 1; }\n"
        "__device__ int twice(int n) { return 2 * n; }\n"
        'int main() {\n#include "kernel.cu"\n}\n'
    )
    Path("kernel.cu").write_text("__global__ void k(node* n) { n->key = twice(n->key); }\n")
    unit = Listing(parse_file("kernel.cu", ParseOptions())).unit()
    assert [(ref.name, ref.span.path, ref.span.line) for ref in unit.kernels] == [("k", "kernel.cu", 1)]
    (main,) = [ref for ref in unit.host_functions if ref.name == "main"]
    assert (main.span.path, main.span.line) == ("main.cu", 4)


def test_a_header_has_one_name_by_whatever_way_files_come_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a finding in it would be as many findings as there are folders that include it."""
    monkeypatch.chdir(tmp_path)
    for folder in ("common", "one", "two"):
        Path(folder).mkdir()
    Path("common/kernel.cuh").write_text("__global__ void k(int* n) { n[threadIdx.x] = 1; }\n")
    for path in ("one/a.cu", "two/a.cu"):
        Path(path).write_text('#include "../common/kernel.cuh"\n')
        (ref,) = Listing(parse_file(path, ParseOptions())).unit().kernels
        assert ref.span.path == "common/kernel.cuh"


@pytest.mark.parametrize("header", ["include/kernel.cuh", "kernel.cuh"])
def test_a_header_in_a_folder_nearby_is_named_as_files_are(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings are to have one kind of path, by which code scanning finds their lines."""
    monkeypatch.chdir(tmp_path)
    for folder in ("src", "include"):
        Path(folder).mkdir()
    Path(header).write_text("__global__ void k(int* n) { n[threadIdx.x] = 1; }\n")
    Path("src/a.cu").write_text('#include "kernel.cuh"\n')
    for path, shown in (("src/a.cu", header), (f"{tmp_path}/src/a.cu", f"{tmp_path}/{header}")):
        (ref,) = Listing(parse_file(path, ParseOptions())).unit().kernels
        assert ref.span.path == shown


def test_what_an_includer_includes_is_named_as_the_fragment_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise what a header has is told once more, by an absolute path."""
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/kernel.cuh").write_text("__global__ void k(Number* n) { n[threadIdx.x] = 1; }\ninline void f() {}\n")
    Path("src/launch.cuh").write_text("inline void launch(Number* n) { f(); k<<<1, 32>>>(n); }\n")
    Path("src/a.cu").write_text('using Number = int;\n#include "kernel.cuh"\n#include "launch.cuh"\n')
    for folder in ("src", f"{tmp_path}/src"):
        path, shown = f"{folder}/launch.cuh", f"{folder}/kernel.cuh"
        ref, _ = Listing(parse_file(path, ParseOptions())).unit().host_functions
        assert ref.span.path == shown


def test_a_folder_that_is_a_link_is_no_detour(tmp_path: Path) -> None:
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "deep")
    assert without_detours(f"{tmp_path}/link/../k.cuh") == f"{tmp_path}/link/../k.cuh"
    assert without_detours(f"{tmp_path}/far/deep/../k.cuh") == f"{tmp_path}/far/k.cuh"


def test_what_is_new_and_deleted_is_known_behind_a_precompiled_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libclang 18 crashes on `delete` there in C++20, unless it is told of no modules."""
    source = tmp_path / "a.cu"
    source.write_text("__global__ void k(float *a) { a[0] = 1; }\nvoid h() { float *p = new float; delete p; }\n")
    parses = parses_of(source, monkeypatch)
    parsed = parse_file(str(source), ParseOptions(std="c++20"))
    assert (kernels(parsed), parsed.problems, len(parses)) == (["k"], (), 1)


def test_headers_are_not_looked_for_in_the_folders_of_the_whole_machine() -> None:
    """A file two levels below the root has `/usr` above it, whose headers don't go with those that are bundled."""
    root = Path(__file__).resolve().anchor
    assert any(entry.is_dir() for entry in os.scandir(root))
    assert recovery._subfolders(root) == ()


@pytest.mark.parametrize(
    ("use", "meaning"),
    [("p[i].x = 1", "`float4`"), ("real4 q = p[i]; q.w = 1; p[i] = q", "`float4`"), ("p[i] = 1", "`float`")],
)
def test_a_type_is_a_vector_if_it_has_the_parts_of_one(use: str, meaning: str) -> None:
    parsed = parse(f"__global__ void k(real4* p) {{ int i = threadIdx.x; {use}; }}\n")
    assert messages(parsed) == [f"nothing declares 'real4'; taken as {meaning}"]


def test_a_name_that_no_guess_helps_keeps_no_other_one_from_being_guessed() -> None:
    # A function of unknown arguments gives an `int`, into which no text can be shifted.
    text = 'void f() { journal::info() << "x"; }\n__global__ void k(float* x) { x[cell_t(threadIdx.x)] = 0; }'
    assert "nothing declares 'cell_t'; taken as a function" in messages(parse(text))


@pytest.mark.parametrize(
    ("name", "size"), [("vec2", 8), ("ivec3", 12), ("dvec4", 32), ("mat3", 36), ("mat4x3", 48), ("shapes::uvec2", 8)]
)
def test_vectors_of_shading_languages_have_the_size_of_their_elements(name: str, size: int) -> None:
    parsed = parse(f"__global__ void k({name}* p, {name} v) {{ p[threadIdx.x] = v; }}\nchar size[sizeof({name})];")
    assert [problem.kind for problem in parsed.problems] == ["guessed"]
    array = next(c for c in parsed.tu.cursor.get_children() if c.spelling == "size")
    assert array.type.element_count == size


def test_vectors_of_shading_languages_are_known_in_headers(tmp_path: Path) -> None:
    body = "vec3 o, d; float near(float t) const { return clamp(t, 0.f, o.x); }"
    (tmp_path / "ray.h").write_text(f"struct Ray {{ {body} }};")
    (tmp_path / "k.cu").write_text('#include "ray.h"\n__global__ void k(Ray* r) { r[threadIdx.x].o.x = 0; }')
    parsed = parse_file(str(tmp_path / "k.cu"), ParseOptions())
    assert {problem.kind for problem in parsed.problems} == {"guessed"}
    assert {problem.name for problem in parsed.problems} == {"vec3", "clamp"}


def test_a_check_in_a_namespace_is_a_function() -> None:
    """A macro is in none."""
    parsed = parse("void host(int n) { library::CHECK(n > 0); }\n__global__ void k(float* a) { a[0] = 1; }\n")
    assert messages(parsed) == ["nothing declares 'library::CHECK'; taken as a function"]
