"""Barriers that CL301 and CL304 suggest: applied, and evaluated again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from linting import advice, lint

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts
from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import report_on
from cudalint.run.job import CheckJob

_FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
_SPELLINGS = """
#define BOTH(s, a) s[threadIdx.x] = a[threadIdx.x]; out[threadIdx.x] = s[255 - threadIdx.x]
#define TIMES(n) for (int k = 0; k < n; k++)
__global__ void tree(const float *in, float *out)
{
    __shared__ float s[256];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
    out[0] = s[0];
}
__global__ void one_line(const float *in, float *out)
{
    __shared__ float s[256];
    s[threadIdx.x] = in[threadIdx.x]; out[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void before_a_pragma(const float *in, float *out)
{
    __shared__ float s[256];
    float x = 0;
    s[threadIdx.x] = in[threadIdx.x];
    #pragma unroll
    for (int k = 0; k < 20; k++)
        x += s[k];
    out[threadIdx.x] = x;
}
__global__ void at_the_end(const float *in, float *out)
{
    __shared__ float s[256];
    float x = 0;
    int k = 0;
    do {
        s[threadIdx.x] = in[threadIdx.x + k];
        __syncthreads();
        x += s[255 - threadIdx.x];
    } while (++k < 20);
    out[threadIdx.x] = x;
}
__global__ void one_declaration(const float *in, float *out)
{
    __shared__ float s[256];
    float a = s[threadIdx.x] = in[threadIdx.x], b = s[255 - threadIdx.x];
    out[threadIdx.x] = a + b;
}
__global__ void of_a_macro(const float *in, float *out)
{
    __shared__ float s[256];
    BOTH(s, in);
}
__global__ void loop_of_a_macro(const float *in, float *out)
{
    __shared__ float s[256];
    float x = 0;
    TIMES(20) { s[threadIdx.x] = in[threadIdx.x + k]; __syncthreads(); x += s[255 - threadIdx.x]; }
    out[threadIdx.x] = x;
}
void run(float *a, float *b)
{
    tree<<<1, 256>>>(a, b);
    one_line<<<1, 256>>>(a, b);
    before_a_pragma<<<1, 256>>>(a, b);
    at_the_end<<<1, 256>>>(a, b);
    one_declaration<<<1, 256>>>(a, b);
    of_a_macro<<<1, 256>>>(a, b);
    loop_of_a_macro<<<1, 256>>>(a, b);
}
"""
_BY_HAND = {"one_declaration", "of_a_macro", "loop_of_a_macro"}
"""Where the place has no text of its own."""


def _findings(path: str, text: str) -> Sequence[Diagnostic]:
    options = AnalysisOptions(unsaved=((path, text),))
    facts = analyse(path, options)
    assert isinstance(facts, FileFacts)
    assert facts.status == "ok"
    job = CheckJob(path, options, Selection(select=("CL301", "CL302", "CL304")), pictures=False)
    return report_on(facts, job).diagnostics


def _tell(found: Sequence[Diagnostic]) -> list[tuple[str, str]]:
    """Without lines, which a barrier moves, and threads, which differ where data says who meets."""
    return sorted((one.code, one.kernel) for one in found)


def _each_applied(path: str, text: str) -> set[str]:
    """Applies every suggestion by itself: its race is gone, and nothing else is there. Returns the kernels."""
    found = _findings(path, text)
    changed = set()
    for one in found:
        if one.suggestion is not None and one.suggestion.edits:
            after = _findings(path, apply_edits(text, one.suggestion.edits))
            assert _tell(after) == _tell([other for other in found if other is not one]), one.message
            changed.add(one.kernel)
    return changed


@pytest.mark.parametrize("name", ["shared-race/tiles", "shared-race/patterns", "missing-syncwarp/steps"])
def test_suggested_barriers_end_their_races(name: str) -> None:
    path = _FIXTURES / f"{name}.cu"
    assert len(_each_applied(str(path), path.read_text(encoding="utf-8"))) >= 2


def test_no_barrier_goes_where_some_threads_of_another_launch_skip_it() -> None:
    path = _FIXTURES / "shared-race/branches.cu"
    text = path.read_text(encoding="utf-8")
    suggestions = {one.kernel: one.suggestion for one in _findings(str(path), text)}
    guarded = suggestions["in_a_guard"]
    assert guarded is not None and not guarded.edits
    assert "between lines 8 and 9, outside of branches and loops" in guarded.message
    assert _each_applied(str(path), text) == {"in_a_branch_of_blocks", "two_arrays"}


def test_one_barrier_for_several_races_says_so() -> None:
    path = _FIXTURES / "shared-race/branches.cu"
    found = {one.kernel: one for one in _findings(str(path), path.read_text(encoding="utf-8"))}
    suggestion = found["two_arrays"].suggestion
    assert suggestion is not None
    assert suggestion.message == (
        "put `__syncthreads()` before line 29, between the two accesses; it ends the race at line 30 too"
    )


def test_spellings() -> None:
    kernels = {one.kernel for one in _findings("spellings.cu", _SPELLINGS)}
    assert len(kernels) == 7
    assert _each_applied("spellings.cu", _SPELLINGS) == kernels - _BY_HAND


def test_a_race_in_a_helper_says_from_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "helper.cuh").write_text("__device__ void put(float *s, float x) {\n  s[threadIdx.x] = x;\n}\n")
    path = tmp_path / "a.cu"
    path.write_text(
        '#include "helper.cuh"\n'
        "__global__ void k(float *a) {\n"
        "  __shared__ float s[64];\n"
        "  a[threadIdx.x] = s[63 - threadIdx.x];\n"
        "  put(s, a[threadIdx.x]);\n"
        "}\n"
        "void run(float *a) { k<<<1, 64>>>(a); }\n"
    )
    (found,) = _findings(str(path), path.read_text())
    assert (found.place.path, found.place.line) == (str(tmp_path / "helper.cuh"), 2)
    assert "may still read it (a.cu:4)" in found.message
    assert [(r.place.path, r.place.line) for r in found.related if r.message == "called from here"] == [(str(path), 5)]


def test_one_finding_for_each_missing_barrier() -> None:
    path = _FIXTURES / "shared-race/one_barrier.cu"
    text = path.read_text(encoding="utf-8")
    found = {one.kernel: one for one in _findings(str(path), text)}
    keyed = found["keyed"]
    assert {related.place.line for related in keyed.related} == {6, 7, 8, 9, 10, 20, 27}
    assert keyed.suggestion is not None
    assert keyed.suggestion.message == (
        "put `__syncthreads()` before line 21, between the two accesses; it ends the races at lines 6, 7, 8, 9, 10 too"
    )
    lacking = found["in_a_branch"].suggestion
    assert lacking is not None and not lacking.edits
    assert lacking.message.endswith("begin them again behind it; what is at line 62 lacks it, too")
    assert {"keyed", "nested", "in_turn"} <= _each_applied(str(path), text)


def test_what_all_threads_store_is_to_be_done_by_one_or_by_each_alone() -> None:
    """Thread 255 may still store the first value of `y[0]` once thread 0 has made the second of it."""
    source = """
        __device__ void turned(const float *q, float *y) {
            y[0] = q[0] - q[1];
            y[1] = q[0] + q[1];
            y[0] = 1 - y[0];
            y[1] = 2 * y[1];
        }
        __global__ void k(const float *in, float *out) {
            __shared__ float q[2], y[2];
            if (threadIdx.x < 2) q[threadIdx.x] = in[threadIdx.x];
            __syncthreads();
            turned(q, y);
            __syncthreads();
            out[blockIdx.x * 256 + threadIdx.x] = y[0] + threadIdx.x * y[1];
        }
        void run(const float *in, float *out) { k<<<64, 256>>>(in, out); }
    """
    found = lint(source, "CL301")
    assert {advice(each).split(":")[0] for each in found} == {"all threads of the block store to `y` there"}
    assert len({each.causes for each in found}) == 1
