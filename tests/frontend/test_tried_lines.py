"""Lines are tried behind a text as if all were parsed once more, and without that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from cudalint.frontend import tried_lines
from cudalint.frontend.attempts import Attempt, Setting, Source
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_TEXT = b"""#include <cstdio>
#define WIDTH 4
template <class T, int N> __global__ void fill(T *a) {
    static_assert(N == 2 * sizeof(T), "");
    a[threadIdx.x * WIDTH] = T();
}
template <class T> struct Row { T values[WIDTH]; static constexpr int size = T::size; };
void host(float *a) { fill<float, 8><<<1, 32>>>(a); missing(a); }
"""
_LINES = (
    "static auto *const a0 = &fill<float, 8>;",
    "static auto *const a1 = &fill<double, 8>;",
    "static auto *const a2 = &fill<double, 2 * sizeof(double)>;",
    "static int a3 = Row<int>::size;",
    "static int a4 = WIDTH + unknown;",
    "void more(double *a) { fill<double, 16><<<1, 32>>>(a); }",
)


def _parsed(text: bytes = _TEXT) -> ParsedFile:
    return parse_file("a.cu", ParseOptions(defines=("UNUSED=1",)), text)


def test_lines_fail_as_in_a_parse_of_the_whole() -> None:
    parsed = _parsed()
    assert parsed.again is not None
    with parsed.tried() as tried:
        assert tried(_LINES) == frozenset({1, 3, 4}) == parsed.again(_LINES)[1]
        assert tried(_LINES[:1]) == frozenset()
        # They know nothing of those that were tried before.
        assert tried(["static auto *const b = a0;"]) == frozenset({0})


def test_a_text_of_which_clang_wants_other_words_is_parsed_as_a_whole() -> None:
    text = b"struct Sum { int n; __device__ Sum() : n(0) {} };\n"
    text += b"template <class T> __global__ void add(T *a) { __shared__ T sum; a[0] = sum; }\n"
    with _parsed(text).tried() as tried:
        assert tried(["static auto *const a0 = &add<Sum>;"]) is None
        assert tried(["static auto *const a0 = &add<int>;"]) == frozenset()


def test_nothing_is_written_where_a_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    class _Usage(NamedTuple):
        free: int = 1

    monkeypatch.setattr(tried_lines.shutil, "disk_usage", lambda folder: _Usage())
    with _parsed().tried() as tried:
        assert tried(_LINES) is None


def test_which_instances_fail_takes_no_parse_each(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = Source.parse
    texts: list[bytes] = []

    def counted(source: Source, setting: Setting) -> Attempt:
        texts.append(source.text)
        return parse(source, setting)

    monkeypatch.setattr(Source, "parse", counted)
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _of_sizes([4, 32, 8])),))).kernels
    assert facts.instantiation == "fill<float, 8>"
    # The text, with the first trial, and with the one that is right.
    assert len(texts) == 3


def _of_sizes(sizes: Sequence[int]) -> str:
    compared = " ".join(f"if (N == {size}) return;" for size in sizes)
    return (
        "template <class T, int N> __global__ void fill(T *a) "
        f'{{ static_assert(N == 2 * sizeof(T), ""); {compared} a[threadIdx.x * N] = 0; }}\n'
    )
