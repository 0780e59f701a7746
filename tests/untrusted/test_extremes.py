"""Sources at the edges of what numbers and places can be: each is linted, and costs nothing that stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import Place
from cudalint.measure.work.compiler import is_power_of_two
from cudalint.numerals import whole
from cudalint.project.formats import FORMATS
from cudalint.source.bounds import Bounds

Check = Callable[..., Any]

_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"


@pytest.mark.parametrize(
    "body",
    [
        "p[t * (__int128)1e30] = 1.0f;",
        "if (t < (unsigned __int128)1 << 100) p[t] = 1.0f;",
        "for (__int128 i = 9223372036854775808ull; i < t; i++) p[i] = i;",
        "for (unsigned __int128 i = -1; i > t; i /= 2) p[i] = i;",
        "for (long i = 9223372036854775808ull; i < t; i++) p[i] = i;",
        "for (unsigned long i = 0; i < 9223372036854775808ull; i++) if (p[i] > threadIdx.x) p[threadIdx.x] = 1;",
        "for (unsigned long i = 0; i < 9223372036854775808ull; i += 2) if (i % 3 == threadIdx.x) p[threadIdx.x] = 1;",
        "for (auto i = 9223372036854775808ull; i < t; i++) if (i % 2 == threadIdx.x) p[i] = i;",
        "for (int i = 9223372036854775808ull; i < 18446744073709551615ull; i++) p[i] = i;",
        "p[(__int128)9223372036854775807 * 4 + threadIdx.x] = 1.0f;",
        "p[t / 18446744073709551615ull] = t / 18446744073709551616.0f;",
        "p[t] = t / ((unsigned __int128)1 << 100) + t % ((unsigned __int128)1 << 127);",
        "p[t] = t / -1 / (long)-9223372036854775807ll;",
    ],
)
def test_numbers_beyond_64_bits(body: str, folder: Path, check: Check) -> None:
    (folder / "a.cu").write_text(f"{_STRIDED}__global__ void extreme(float *p, int t) {{ {body} }}\n")
    result = check("a.cu")
    assert (result.err, result.status) == ("", 1)
    assert "a.cu:1:37: warning: CL101" in result.out


def test_a_number_that_no_type_holds(folder: Path, check: Check) -> None:
    """2^128 - 1: clang keeps it with an error, and a value for `n` is looked for at which the condition holds."""
    body = f"if (n == {(1 << 128) - 1}u) p[threadIdx.x] = 1.0f;"
    launch = "void go(float *p, int n) { k<<<n, 64>>>(p, n); }"
    (folder / "a.cu").write_text(f"{_STRIDED}__global__ void k(float *p, int n) {{ {body} }}\n{launch}\n")
    result = check("a.cu")
    assert "internal error" not in result.err
    assert "a.cu:1:37: warning: CL101" in result.out


@pytest.mark.parametrize(
    "code",
    [
        "__global__ void k(float *p) {\r\r foo::bar x;\r p[threadIdx.x] = unknown;\r}\r",
        "__global__ void k(float *p)\r\r p[threadIdx.x] = unknown;\r}\r",
        "__global__ void k(float *p)\r\r { p[threadIdx.x] = unknown;\r",
        "//\r\r\r#define M(x) x\r\r\r__global__ void k(float *p)\r\r { p[threadIdx.x] = M(vec<float, 4",
        "foo::bar x;",
        "__global__ void k(float *p) { foo::bar x;",
        "__global__ void k(float *p) { foo::bar<",
        "\\\n\\\n__global__ void k(float *p) { foo::bar x; \\\n",
    ],
)
@pytest.mark.parametrize("format_", FORMATS)
def test_places_outside_of_the_text(code: str, format_: str, folder: Path, check: Check) -> None:
    """Clang counts carriage returns as ends of lines, and what is cut off ends behind the last line."""
    (folder / "a.cu").write_bytes(code.encode())
    (folder / "b.cu").write_text(_STRIDED)
    result = check("--format", format_, "a.cu", "b.cu")
    assert (result.err, result.status) == ("", 1)
    assert "CL101" in result.out or "uncoalesced" in result.out


@pytest.mark.parametrize(
    ("place", "nearest"),
    [
        ((1, 1, 2, 3), (1, 1, 2, 3)),
        ((2, 3, 2, 3), (2, 3, 2, 3)),
        ((0, 0, 0, 0), (1, 1, 1, 1)),
        ((1, 9, 1, 10), (1, 4, 1, 4)),
        ((2, 2, 1, 1), (2, 2, 2, 2)),
        ((9, 1, 9, 5), (3, 1, 3, 1)),
        ((-1, 5, 2**64, 2**64), (1, 1, 3, 1)),
    ],
)
def test_a_place_leaves_the_analysis_within_its_text(
    place: tuple[int, int, int, int], nearest: tuple[int, int, int, int]
) -> None:
    """The text has lines of 3, 2 and no bytes. A place may end right behind the end of a line."""
    bounds = Bounds({"a.cu": "abc\n\u00fc\n"}.__getitem__)
    assert bounds.within(Place("a.cu", *place)) == Place("a.cu", *nearest)
    edit = Suggestion("change it", (Edit(Place("a.cu", *place), "x"),), applicability="safe")
    found = Diagnostic(
        "CL101", "a", "info", Place("a.cu", *place), "m", "k", "k", suggestion=edit,
        related=(Related(Place("a.cu", *place), "here"),),
    )  # fmt: skip
    placed = bounds.placed(found)
    assert (placed.place[1:], placed.related[0].place[1:]) == (nearest, nearest)
    assert placed.suggestion is not None
    assert bool(placed.suggestion.edits) == (place == nearest)


@pytest.mark.parametrize(
    ("value", "is_power"),
    [
        (0, False), (1, True), (-8, True), (12, False), (2**63, True), (2**64 - 1, False), (2**5000, True),
        (0.0, False), (0.25, True), (-3.0, False), (float("inf"), False), (float("nan"), False),
    ],
)  # fmt: skip
def test_powers_of_two_of_any_size(value: float, is_power: bool) -> None:
    assert is_power_of_two(value) == is_power


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        ("42", 10, 42), ("-7", 10, -7), ("0x1f", 0, 31), ("0b101", 0, 5), ("017", 8, 15), ("", 10, None),
        ("\u00b2", 10, None), ("1" * 5000, 10, None), ("-" + "1" * 5000, 10, None), ("0" * 5000 + "7", 10, 7),
        ("0x" + "f" * 300, 0, None), ("1" * 39, 10, int("1" * 39)), ("--1", 10, None),
    ],
)  # fmt: skip
def test_digits_of_any_length(text: str, base: int, value: int | None) -> None:
    assert whole(text, base) == value
