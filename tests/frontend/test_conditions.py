"""Macros that only a build gives, as headers ask for them, and headers wherever in a project they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.parse import ParsedFile, parse_file

_KERNEL = "__global__ void fill(float* a) { a[blockIdx.x * WIDTH + threadIdx.x] = 0; }\n"


def _parsed(folder: Path, header: str, source: str, options: ParseOptions | None = None) -> ParsedFile:
    (folder / "sizes.h").write_text(header)
    (folder / "fill.cu").write_text(f'#include "sizes.h"\n{source}')
    return parse_file(str(folder / "fill.cu"), options or ParseOptions())


def _messages(parsed: ParsedFile) -> list[str]:
    return [problem.message for problem in parsed.problems]


def test_a_name_that_is_defined_where_a_macro_of_the_build_is(tmp_path: Path) -> None:
    parsed = _parsed(tmp_path, "#ifdef ON_DEVICE\n#define WIDTH 64\n#endif\n", _KERNEL)
    where = tmp_path / "sizes.h"
    assert _messages(parsed) == [f"`WIDTH` is defined under `ON_DEVICE` ({where}:2): linted with -D ON_DEVICE"]


_OF_LANES = "\n#endif\nconstexpr int WIDTH = 2 * LANES;\n"


@pytest.mark.parametrize(
    ("header", "macro"),
    [
        ("#if defined(LANES)\nconstexpr int WIDTH = 2;\n#else\n#if 1\n#endif\n#error which?\n#endif\n", "LANES"),
        # A number is a usual size, unless the error has one for an example.
        ("#ifndef LANES\n#error the build sets the number of lanes" + _OF_LANES, "LANES=32"),
        ("#ifndef LANES\n#error the build sets LANES, e.g. -DLANES=48" + _OF_LANES, "LANES=48"),
    ],
)
def test_a_macro_that_an_error_asks_for(tmp_path: Path, header: str, macro: str) -> None:
    (message,) = _messages(_parsed(tmp_path, header, _KERNEL))
    assert message.startswith(f"`#error` asks for `{macro}` (")
    assert message.endswith(f"): linted with -D {macro}")


def test_a_macro_of_which_an_error_asks_for_one_of_some_values(tmp_path: Path) -> None:
    """The first that the header has something for."""
    header = "#if LANES == 16\n#define WIDTH 64\n#elif LANES == 8\n#define WIDTH 32\n#else\n#error 8 or 16\n#endif\n"
    parsed = _parsed(tmp_path, header, _KERNEL)
    (message,) = _messages(parsed)
    assert message.startswith("`#error` asks for `LANES=16` (")
    assert message.endswith("): linted with -D LANES=16")


def test_a_macro_that_does_not_help_is_not_defined(tmp_path: Path) -> None:
    """What it brings in needs more than it gives."""
    header = "#ifdef ON_DEVICE\n#include <nowhere.h>\nstatic Far WIDTH, more = Near;\n#endif\n"
    assert _messages(_parsed(tmp_path, header, _KERNEL)) == ["nothing declares 'WIDTH'; taken as an unknown `int`"]


def test_what_the_options_say_counts(tmp_path: Path) -> None:
    header = "#if ON_DEVICE\n#define WIDTH 64\n#endif\n"
    parsed = _parsed(tmp_path, header, _KERNEL, ParseOptions(defines=("ON_DEVICE=0",)))
    assert _messages(parsed) == ["nothing declares 'WIDTH'; taken as an unknown `int`"]


_CASE = """#ifdef {macro}
#define CASE_OF_TWO(type, ...) \\
    case 2: {{                  \\
        using type = short;    \\
        return __VA_ARGS__();  \\
    }}
#else
#define CASE_OF_TWO(type, ...){otherwise}
#endif
#define BY_SIZE(size, type, ...) [&] {{ switch (size) {{ CASE_OF_TWO(type, __VA_ARGS__) default: return 0; }} }}()
"""
_DISPATCH = """template <class T> __global__ void fill(T* a) { a[threadIdx.x] = 0; }
int run(void* a, int size) { return BY_SIZE(size, type, [&] { fill<<<1, 64>>>((type*)a); return 1; }); }
"""


@pytest.mark.parametrize(
    ("macro", "otherwise", "is_taken"),
    [("WITH_SHORT", "", True), ("WITH_SHORT", " default: return 2;", False), ("WITH_HIP", "", False)],
)
def test_cases_of_a_dispatch_that_are_empty_without_a_macro(
    tmp_path: Path, macro: str, otherwise: str, is_taken: bool
) -> None:
    header = _CASE.format(macro=macro, otherwise=otherwise)
    said = "".join(_messages(_parsed(tmp_path, header, _DISPATCH)))
    assert said.startswith("`CASE_OF_TWO` is empty without `WITH_SHORT`") == is_taken


def test_members_that_are_templates_by_their_brackets_alone(tmp_path: Path) -> None:
    header = """template <class T> struct Cast {
    template <int N> __device__ static T to(float x) { return T(x * N); }
};
template <class T> __device__ T twice(float x) { return Cast<T>::to<2>(x); }
"""
    source = "__global__ void k(float* a) { a[threadIdx.x] = twice<float>(a[threadIdx.x]); }\n"
    assert _messages(_parsed(tmp_path, header, source)) == []


def test_a_header_anywhere_in_the_project(tmp_path: Path) -> None:
    for folder in ("include/lib", "a/b/c/d/e", "old/copy/lib"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "LICENSE").touch()
    (tmp_path / "include/lib/sizes.h").write_text("constexpr int WIDTH = 64;\n")
    (tmp_path / "old/copy/lib/sizes.h").write_text("#error the farther one\n")
    source = tmp_path / "a/b/c/d/e/fill.cu"
    source.write_text(f"#include <lib/sizes.h>\n{_KERNEL}")
    assert _messages(parse_file(str(source), ParseOptions())) == []
