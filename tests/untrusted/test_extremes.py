"""Sources at the edges of what numbers and places can be: each is linted, and costs nothing that stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
        "for (auto i = 9223372036854775808ull; i < t; i++) if (i % 2 == threadIdx.x) p[i] = i;",
        "for (int i = 9223372036854775808ull; i < 18446744073709551615ull; i++) p[i] = i;",
        "p[(__int128)9223372036854775807 * 4 + threadIdx.x] = 1.0f;",
    ],
)
def test_numbers_beyond_64_bits(body: str, folder: Path, check: Check) -> None:
    (folder / "a.cu").write_text(f"{_STRIDED}__global__ void extreme(float *p, int t) {{ {body} }}\n")
    result = check("a.cu")
    assert (result.err, result.status) == ("", 1)
    assert "a.cu:1:37: CL101" in result.out


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
@pytest.mark.parametrize("format_", ["concise", "sarif", "text", "github", "gitlab"])
def test_places_outside_of_the_text(code: str, format_: str, folder: Path, check: Check) -> None:
    """Clang counts carriage returns as ends of lines, and what is cut off ends behind the last line."""
    (folder / "a.cu").write_bytes(code.encode())
    (folder / "b.cu").write_text(_STRIDED)
    result = check("--format", format_, "a.cu", "b.cu")
    assert (result.err, result.status) == ("", 1)
    assert "CL101" in result.out or "uncoalesced" in result.out
