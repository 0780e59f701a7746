"""What a kernel is compiled from."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.confirm.sources import MAIN, Build, blanked, build_of
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.parse import parse_file
from cudalint.frontend.slices import NoSuchKernel, kernel_slice


def _build(folder: Path, text: str, kernel: str, instantiation: str = "", **headers: str) -> Build:
    for name, content in headers.items():
        (folder / f"{name}.h").write_text(content, encoding="utf-8")
    path = folder / "a.cu"
    path.write_text(text, encoding="utf-8")
    lines = text.split("\n")
    line = next(n for n, content in enumerate(lines) if f"{kernel}(" in content and "__global__" in content)
    parsed = parse_file(str(path), ParseOptions())
    sliced = kernel_slice(parsed, str(path), line + 1, lines[line].index(f"{kernel}(") + 1)
    return build_of(sliced, instantiation or kernel, lambda p: Path(p).read_bytes())


_FILE = """#include <cstdio>
#include <vector>
#define TILE 16
constexpr int unused = 3;
constexpr int width = TILE * 2;
struct Pair { float a, b; };
static std::vector<int> table;
__device__ float first(Pair p) { return p.a; }
__device__ float second(Pair p) { return p.b; }
__global__ void k(Pair *p, float *out) { out[threadIdx.x] = first(p[width]); }
__global__ void other(float *out) { out[0] = 1; }
int main() { k<<<1, 32>>>(nullptr, nullptr); printf("done"); }
"""


def test_only_what_is_reached_stays_and_where_it_was(tmp_path: Path) -> None:
    text = _build(tmp_path, _FILE, "k").files[MAIN].decode()
    kept = [line for line in text.split("\n") if line.strip(" ;")]
    assert kept == [_FILE.split("\n")[n] for n in (2, 4, 5, 7, 9)]
    for word in ("unused", "vector", "second", "other", "main", "printf", "cstdio"):
        assert word not in text
    assert text.split("\n")[9] == _FILE.split("\n")[9]


def test_headers_come_along_under_names_of_their_own(tmp_path: Path) -> None:
    header = (
        "#pragma once\n#include <iostream>\ninline void say() { std::cout << 1; }\n"
        "__device__ int twice(int i) { return 2 * i; }\n"
    )
    source = '#include "lib.h"\n__global__ void k(int *a) { a[0] = twice(a[1]); }\n'
    build = _build(tmp_path, source, "k", lib=header)
    assert sorted(build.files) == ["h1_lib.h", MAIN]
    assert build.files[MAIN].startswith(b'#include "h1_lib.h"\n')
    assert b"twice" in build.files["h1_lib.h"]
    assert b"cout" not in build.files["h1_lib.h"]
    assert build.paths["h1_lib.h"].endswith("lib.h")


def test_namespaces_name_the_kernel(tmp_path: Path) -> None:
    source = (
        "namespace a { namespace b {\ntemplate <typename T> __global__ void k(T *p) { *p = 0; }\n} }\n"
        "void f(int *p) { a::b::k<int><<<1, 1>>>(p); }\n"
    )
    build = _build(tmp_path, source, "k", "k<int>")
    assert build.name_expression == "a::b::k<int>"
    assert b"namespace a { namespace b {" in build.files[MAIN]
    assert b"<<<" not in build.files[MAIN]


def test_linkage_without_braces_goes_with_its_function(tmp_path: Path) -> None:
    source = 'extern "C" void host() { int *p = new int; }\nextern "C" __global__ void k(int *p) { *p = 0; }\n'
    text = _build(tmp_path, source, "k").files[MAIN].decode()
    assert text.split("\n")[0].strip() == ""
    assert 'extern "C" __global__' in text


def test_methods_that_only_the_host_calls_are_blanked(tmp_path: Path) -> None:
    source = (
        "#include <string>\nstruct View {\n    float *data;\n    std::string name() { return std::string(); }\n"
        "    __device__ float &at(int i) { return data[i]; }\n};\n"
        "__global__ void k(View v) { v.at(threadIdx.x) = 0; }\n"
    )
    text = _build(tmp_path, source, "k").files[MAIN].decode()
    assert "string" not in text
    assert "float &at" in text


def test_specializations_are_kept(tmp_path: Path) -> None:
    source = (
        "template <class T> struct Zero { static __device__ T get() { return 0; } };\n"
        "template <> struct Zero<float> { static __device__ float get() { return 0.f; } };\n"
        "template <class T> __global__ void k(T *p) { *p = Zero<T>::get(); }\nvoid f(float *p) { k<<<1, 1>>>(p); }\n"
    )
    assert b"0.f" in _build(tmp_path, source, "k", "k<float>").files[MAIN]


def test_names_of_the_standard_library_come_from_the_prelude(tmp_path: Path) -> None:
    source = (
        "#include <cstdint>\n#include <cfloat>\n__global__ void k(uint32_t *p, float *q) { *p = 1; *q = FLT_MAX; }\n"
    )
    build = _build(tmp_path, source, "k")
    assert "typedef unsigned int uint32_t;" in build.prelude
    assert "#define FLT_MAX" in build.prelude
    assert "int64_t" not in build.prelude


def test_a_missing_header_is_left_out(tmp_path: Path) -> None:
    build = _build(tmp_path, '#include "nowhere.h"\n__global__ void k(int *p) { *p = 1; }\n', "k")
    assert b"nowhere" not in build.files[MAIN]


def test_toolkit_headers_stay_where_they_are_needed(tmp_path: Path) -> None:
    source = (
        "#include <cooperative_groups.h>\n#include <cuda_fp16.h>\nnamespace cg = cooperative_groups;\n"
        "__global__ void k(int *p) { cg::this_thread_block().sync(); *p = 1; }\n"
    )
    text = _build(tmp_path, source, "k").files[MAIN]
    assert b"#include <cooperative_groups.h>" in text
    assert b"cuda_fp16" not in text


def test_blanks_keep_lines_and_conditions() -> None:
    text = b"int a;\nvoid f() {\n#if X\n  b();\n#endif\n}\nint c;\n"
    result = blanked(text, [(7, text.index(b"int c"))])
    assert result == b"int a;\n          \n#if X\n      \n#endif\n \nint c;\n"


def test_no_kernel_at_the_place(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text("int x;\n", encoding="utf-8")
    with pytest.raises(NoSuchKernel):
        kernel_slice(parse_file(str(path), ParseOptions()), str(path), 1, 5)
