"""Edits that are right somewhere and wrong elsewhere are not suggested; those that hold say how safe they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import lint

from cudalint.diagnostics import Suggestion
from cudalint.facts import FileFacts, Place
from cudalint.fixes.deletions import deletion
from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob


def _suggestion(source: str, code: str) -> Suggestion | None:
    found = lint(source, code)
    assert found, "nothing is found to suggest something for"
    return found[0].suggestion


def _column(declaration: str, more: str = "", launch: str = "kernel<<<8, dim3(32, 32)>>>(in, out);") -> str:
    """A column of a tile: 32 lanes a row of 32 words apart, all in one bank."""
    return f"""__global__ void kernel(const float *in, float *out) {{
    {declaration};
    {more}
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}}
void launch(const float *in, float *out) {{ {launch} }}
"""


def test_what_is_launched_in_sight_is_safe() -> None:
    suggestion = _suggestion(_column("__shared__ float t[32][32]"), "CL201")
    assert suggestion is not None and suggestion.edits
    assert suggestion.applicability == "safe"


def test_what_nothing_launches_is_looked_at() -> None:
    suggestion = _suggestion(_column("__shared__ float t[32][32]", launch="") + "// cudalint: x", "CL201")
    assert suggestion is None or suggestion.applicability in ("unsafe", "display")


@pytest.mark.parametrize(
    "use",
    [
        "memset(t, 0, 32 * 32 * 4)",
        "memset(t, 0, sizeof(t))",
        "for (int i = 0; i < sizeof(t) / 4; i++) in += 0",
        "float *row = t[3]; row[40] = 0",
        "float4 *wide = (float4 *)t; wide[0] = float4()",
        "float *from = &t[0][0]; from[threadIdx.x] = 0",
    ],
)
def test_who_relies_on_how_it_lies_keeps_it(use: str) -> None:
    suggestion = _suggestion(_column("__shared__ float t[32][32]", f"{use};"), "CL201")
    assert suggestion is None or (not suggestion.edits and suggestion.applicability == "display")


def test_memory_of_the_launch_grows_with_every_launch() -> None:
    """32 x 32 words, of each 32 of which one more is asked for: the same share of the bytes."""
    launch = "kernel<<<8, dim3(32, 32), 32 * 32 * sizeof(float)>>>(in, out);"
    source = _column("extern __shared__ float t[]", launch=launch)
    source = source.replace("t[threadIdx.y][threadIdx.x]", "t[threadIdx.y * 32 + threadIdx.x]")
    source = source.replace("t[threadIdx.x][threadIdx.y]", "t[threadIdx.x * 32 + threadIdx.y]")
    suggestion = _suggestion(source, "CL201")
    assert suggestion is not None
    assert " + 32 * 32 * sizeof(float) / 32" in [edit.text for edit in suggestion.edits]
    assert "let every launch ask for the bytes that this adds" in suggestion.message


def test_memory_of_the_launch_that_a_choice_is() -> None:
    """What is added belongs to either side of it."""
    asked = "(in ? 32 * 32 : 32 * 33) * 4"
    choice = "sizeof(int) == 4 ? 4096 : 8192"
    for text, expected in ((asked, f" + ({asked}) / 32"), (choice, f"({choice}) + ({choice}) / 32")):
        source = _column("extern __shared__ float t[]", launch=f"kernel<<<8, dim3(32, 32), {text}>>>(in, out);")
        source = source.replace("t[threadIdx.y][threadIdx.x]", "t[threadIdx.y * 32 + threadIdx.x]")
        source = source.replace("t[threadIdx.x][threadIdx.y]", "t[threadIdx.x * 32 + threadIdx.y]")
        suggestion = _suggestion(source, "CL201")
        assert suggestion is not None
        assert expected in [edit.text for edit in suggestion.edits]


def test_what_one_instantiation_wants_and_another_does_not() -> None:
    """Rows of 32 + 1 words spread a column over all banks. Of rows of 31 words, a column of which is free of conflicts
    as it is, 31 + 1 make the worst case."""
    source = """template <int T> __global__ void kernel(const float *in, float *out) {
    __shared__ float t[32][T];
    t[threadIdx.y][threadIdx.x % T] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y % T];
}
void launch(const float *in, float *out) {
    kernel<32><<<8, dim3(32, 32)>>>(in, out);
    kernel<31><<<8, dim3(32, 32)>>>(in, out);
}
"""
    alone = source.replace("    kernel<31><<<8, dim3(32, 32)>>>(in, out);\n", "")
    suggestion = _suggestion(alone, "CL201")
    assert suggestion is not None and [edit.text for edit in suggestion.edits] == [" + 1"]
    both = _suggestion(source, "CL201")
    assert both is None or not both.edits


def test_sizes_are_in_the_terms_of_the_declaration() -> None:
    """Lane n stores to element 32 n: one element more after every 32 spreads the lanes over the banks."""
    source = """template <int BM, int BK> __global__ void kernel(const float *in, float *out) {
    __shared__ float t[BM * BK];
    t[threadIdx.x * BK + 1] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = t[(threadIdx.x ^ 1) * BK + 1];
}
void launch(const float *in, float *out) { kernel<64, 32><<<8, 64>>>(in, out); }
"""
    suggestion = _suggestion(source, "CL201")
    assert suggestion is not None and suggestion.edits
    assert "__shared__ float t[BM * BK + BM * BK / 32];" in apply_edits(source, suggestion.edits)


_SQUARE = """{head} __global__ void kernel(const float *in, float *out) {{
    __shared__ float t[{size}][{size}];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    t[y][x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = t[x][y];
}}
void launch(const float *in, float *out) {{ {kernel}<<<8, 256>>>(in, out); }}
"""


def test_rows_of_any_length_are_not_swizzled() -> None:
    """The exclusive or of two columns stays in the row where there are 16 of them, and not where there are 24: 16 ^ 8
    is 24. A number stays what it is, and a template argument need not."""
    suggestion = _suggestion(_SQUARE.format(head="", size=16, kernel="kernel"), "CL201")
    assert suggestion is not None and [edit.text for edit in suggestion.edits] == ["x ^ y", "y ^ x"]
    suggestion = _suggestion(_SQUARE.format(head="template <int T>", size="T", kernel="kernel<16>"), "CL201")
    assert suggestion is None or not suggestion.edits


_TWO_WAYS = """template <bool Flat> __global__ void kernel(const float *in, float *out) {{
    __shared__ float t[32][32];
    if constexpr (Flat)
        t[0][threadIdx.y * 32 + threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    else
        t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}}
void launch(const float *in, float *out) {{ {launches} }}
"""


@pytest.mark.parametrize("ways", [("false", "true"), ("true", "false"), ("false",)])
def test_rows_that_run_on_are_not_padded(ways: tuple[str, ...]) -> None:
    """Element 32 of row 0 is element 0 of row 1, until rows have 33. Of an instantiation that nothing makes nobody
    knows what it does."""
    launches = " ".join(f"kernel<{way}><<<8, dim3(32, 32)>>>(in, out);" for way in ways)
    suggestion = _suggestion(_TWO_WAYS.format(launches=launches), "CL201")
    assert suggestion is None or not suggestion.edits


def test_code_that_is_left_out_is_not_known() -> None:
    left_out = "\n#if 0\n    t[0][threadIdx.y * 32 + threadIdx.x] = 0;\n#endif\n"
    suggestion = _suggestion(_column("__shared__ float t[32][32]", left_out), "CL201")
    assert suggestion is not None and not suggestion.edits


def test_edits_of_headers_are_tried(tmp_path: Path) -> None:
    header, source = tmp_path / "kernel.cuh", tmp_path / "a.cu"
    kernel, _, launch = _column("__shared__ float t[32][32]").partition("void launch")
    header.write_text(kernel, encoding="utf-8")
    source.write_text(f'#include "kernel.cuh"\nvoid launch{launch}', encoding="utf-8")
    job = CheckJob(str(source), AnalysisOptions(), Selection(("CL201",)), pictures=False)
    report = check_file(job)
    assert isinstance(report, FileReport)
    [suggestion] = [diagnostic.suggestion for diagnostic in report.diagnostics]
    assert suggestion is not None and suggestion.applicability == "safe"
    [edit] = suggestion.edits
    assert (edit.place.path, edit.text) == (str(header), " + 1")
    worse = kernel.replace("t[32][32]", "t[32][32 + 32]")
    changed = analyse(str(source), AnalysisOptions(unsaved=((str(header), worse),)))
    assert isinstance(changed, FileFacts)
    assert {a.declaration.extents for k in changed.kernels for a in k.accesses if a.declaration} == {(32, 64)}


_TAIL = """__global__ void kernel(const float *in, float *out) {{
    __shared__ float t[64];
    t[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = t[63 - threadIdx.x];
{last}}}
void launch(const float *in, float *out) {{ kernel<<<8, 64>>>(in, out); }}
"""


def test_a_barrier_that_orders_nothing_goes_with_its_line() -> None:
    source = _TAIL.format(last="    __syncthreads();\n")
    suggestion = _suggestion(source, "CL303")
    assert suggestion is not None and suggestion.applicability == "safe"
    assert apply_edits(source, suggestion.edits) == _TAIL.format(last="")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{\n  a();\n  b();\n}", "{\n  b();\n}"),
        ("{ a(); b(); }", "{  b(); }"),
        ("{\n  a();  // why\n}", "{\n}"),
        ("if (x) a();", None),
        ("for (; x; a()) ;", None),
        ("for (int i = 0; a(); ) ;", None),
        ("{ x = a(); }", None),
        ("{\n#pragma unroll\n  a();\n}", None),
        ("{\n#define A a();\n}", None),
        ("{\n    a();  // all have come\n    b();\n}", "{\n    b();\n}"),
        ("{\n    a(); /* all */ // have come\n    b();\n}", "{\n    b();\n}"),
        ("{\n    a();  /* of all\n    that */ b();\n}", "{\n      /* of all\n    that */ b();\n}"),
        ("{\n    b();  // of b\n    // All\n    // have come.\n    a();\n}", "{\n    b();  // of b\n}"),
        ("{\n    // Heads the next lines.\n    a();\n    b();\n}", "{\n    // Heads the next lines.\n    b();\n}"),
        ("{\n    // cudalint: x\n    a();\n}", "{\n    // cudalint: x\n}"),
    ],
)
def test_deletions(before: str, after: str | None) -> None:
    at = before.index("a()")
    line, column = before.count("\n", 0, at) + 1, at - before.rfind("\n", 0, at)
    edits = deletion(before, Place("a.cu", line, column, line, column + 3))
    assert (apply_edits(before, edits) if edits else None) == after


_LIMIT = """template <int T, int U> __global__ void kernel(float *out) {{
    extern __shared__ float t[];
    t[threadIdx.x] = T;
    __syncthreads();
    out[threadIdx.x] = t[threadIdx.x ^ 1];
}}
void launch(float *out, bool wanted) {{
    const int words = 16 * 1024;
    if (wanted) {before}kernel<1, 2><<<8, 256, {bytes}>>>(out);{after}
}}
"""


@pytest.mark.parametrize("bytes_", ["words * sizeof(float)", "4 * (words - 1)"])
def test_the_limit_of_dynamic_shared_memory_is_raised(bytes_: str) -> None:
    """64 KiB are more than the 48 KiB that a launch gets unasked."""
    before = _LIMIT.format(before="", after="", bytes=bytes_)
    suggestion = _suggestion(before, "CL202")
    assert suggestion is not None and suggestion.applicability == "safe"
    call = f"cudaFuncSetAttribute(kernel<1, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes_});"
    assert apply_edits(before, suggestion.edits) == _LIMIT.format(before=f"{{ {call} ", after=" }", bytes=bytes_)


_LAST_BLOCK = """__global__ void sum(const float *in, float *partial, unsigned *done, float *out) {{
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) {{
        partial[blockIdx.x] = in[blockIdx.x];
        {fence}{draw}
    }}
    __syncthreads();
    if (ticket == gridDim.x - 1 && threadIdx.x == 0) {{
        float x = 0;
        for (int i = 0; i < gridDim.x; i++) x += partial[i];
        out[0] = x;
    }}
}}
void launch(const float *in, float *partial, unsigned *done, float *out) {{ sum<<<64, 64>>>(in, partial, done, out); }}
"""


@pytest.mark.parametrize("draw", ["ticket = atomicInc(done, gridDim.x);", "if (true) ticket = atomicInc(done, 64);"])
def test_a_fence_stands_before_the_atomic_that_lacks_it(draw: str) -> None:
    """What a block has written is only visible to the block that comes last with a memory fence before it draws."""
    before = _LAST_BLOCK.format(fence="", draw=draw)
    suggestion = _suggestion(before, "CL305")
    assert suggestion is not None
    fence = "__threadfence();\n        "
    assert apply_edits(before, suggestion.edits) == _LAST_BLOCK.format(fence=fence, draw=draw)


def test_a_barrier_orders_a_single_block() -> None:
    """Each thread writes what its neighbour has read, and only threads of this block are there to do so."""
    source = """__global__ void shift(float *x) {{
    float next = x[threadIdx.x + 1];
    {barrier}x[threadIdx.x] = next;
}}
void launch(float *x) {{ shift<<<1, 256>>>(x); }}
"""
    suggestion = _suggestion(source.format(barrier=""), "CL305")
    assert suggestion is not None
    barrier = "__syncthreads();\n    "
    assert apply_edits(source.format(barrier=""), suggestion.edits) == source.format(barrier=barrier)
