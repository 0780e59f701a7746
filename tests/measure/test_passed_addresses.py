"""Where findings stand whose address calls hand on into other files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from linting import lint

from cudalint.diagnostics import Diagnostic
from cudalint.report.findings.merging import merge

_LIBRARY = """#pragma once
struct V { float x, y, z; };
__device__ inline float first(const V& v) { return v.x; }
__device__ inline float last(const V* v) { return v->z; }
__device__ inline float sum(const V& v) { return v.x + v.z; }
__device__ inline float through(const V& v) { return last(&v); }
__device__ inline float own(const V* all, int i) { return all[3 * i].x; }
struct Row { V* all; __device__ float at(int i) const { return all[i].y; } };
"""


def _told(tmp_path: Path, body: str, code: str = "CL101", launch: str = "k<<<n / 256, 256>>>(n, v, out);") -> list[str]:
    """The findings as `file:line:column related, ...`."""
    (tmp_path / "library.h").write_text(_LIBRARY)
    source = f"""#include "library.h"
__global__ void k(int n, V* v, float* out) {{
    int i = blockIdx.x * 256 + threadIdx.x;
{body}
}}
void run(int n, V* v, float* out) {{ {launch} }}
"""
    found = merge(lint(source, code, str(tmp_path / "a.cu")))
    return [_spelled(diagnostic) for diagnostic in found]


def _spelled(diagnostic: Diagnostic) -> str:
    place = diagnostic.place
    related: Sequence[str] = [f"{Path(r.place.path).name}:{r.place.line} {r.message}" for r in diagnostic.related]
    return ", ".join([f"{Path(place.path).name}:{place.line}:{place.column}", *related])


@pytest.mark.parametrize(
    ("call", "column", "line"),
    [("first(v[i])", 20, 3), ("last(v + i)", 19, 4), ("last(&v[i])", 19, 4), ("through(v[i])", 22, 4)],
)
def test_a_finding_stands_at_the_argument(tmp_path: Path, call: str, column: int, line: int) -> None:
    """Columns: `    out[i] = first(` is 19 long, of which the name is 5."""
    assert _told(tmp_path, f"    out[i] = {call};") == [f"a.cu:4:{column}, library.h:{line} the load"]


def test_two_fields_of_what_is_handed_on_are_one_finding(tmp_path: Path) -> None:
    assert _told(tmp_path, "    out[i] = sum(v[i]);") == ["a.cu:4:18, library.h:5 the load"]


def test_what_the_header_computes_is_the_headers(tmp_path: Path) -> None:
    assert _told(tmp_path, "    out[i] = own(v, i);") == ["library.h:7:59, a.cu:4 called from here"]
    assert _told(tmp_path, "    Row r{v}; out[i] = r.at(i);") == ["library.h:8:64, a.cu:4 called from here"]


def test_a_call_within_the_file_changes_nothing() -> None:
    source = """struct V { float x, y, z; };
__device__ float first(const V& v) { return v.x; }
__global__ void k(V* v, float* out) { out[threadIdx.x] = first(v[threadIdx.x]); }
void run(V* v, float* out) { k<<<1, 256>>>(v, out); }
"""
    assert [_spelled(d) for d in lint(source, "CL101")] == ["a.cu:2:45, a.cu:3 called from here"]


def test_errors_stand_there_too(tmp_path: Path) -> None:
    """A shared array of four elements, and the threads of a block of 256 that read the others."""
    body = "    __shared__ V s[4]; if (i < 4) s[i] = v[i]; __syncthreads(); out[i] = last(s + threadIdx.x);"
    (found,) = _told(tmp_path, body, "CL107")
    assert found.startswith("a.cu:4:79, ")
