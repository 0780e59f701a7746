"""The edits for uncoalesced accesses that spell the accesses anew: vectors, tiles, wider structs, other blocks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

# 32 lanes that each load the first of two neighbouring floats touch 8 sectors where 4 would do, and the same 8 for the
# second one: 16 in place of the 8 of one load of 8 bytes.
_PAIRS = """__global__ void sums(const float *in, float *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {statements}
}}
void run() {{
    float *in, *out;
    cudaMalloc(&in, 64 * 256 * 2 * sizeof(float));
    cudaMalloc(&out, 64 * 256 * 2 * sizeof(float));
    sums<<<64, 256>>>(in, out);
}}
"""

# 32 lanes that store to a column touch 32 sectors, and to a row 4.
_TRANSPOSE = """__global__ void turned(const float *in, float *out, int width, int height) {{
    int x = blockIdx.x * {side} + threadIdx.x;
    int y = blockIdx.y * {side} + threadIdx.y;
    {statement}
}}
void run(const float *in, float *out, int width, int height) {{
    dim3 grid((width + {side} - 1) / {side}, (height + {side} - 1) / {side});
    turned<<<grid, dim3({side}, {side})>>>(in, out, width, height);
}}
"""


def _findings(source: str, code: str = "CL101") -> list[Diagnostic]:
    options = AnalysisOptions(unsaved=(("a.cu", source),))
    report = check_file(CheckJob("a.cu", options, Selection((code,)), pictures=False))
    assert isinstance(report, FileReport)
    assert report.diagnostics
    return list(report.diagnostics)


def _edited(source: str) -> tuple[str, str]:
    """The text with the edits of the first finding made, and how far they are to be trusted."""
    suggestion = _findings(source)[0].suggestion
    assert suggestion is not None and suggestion.edits
    return apply_edits(source, suggestion.edits), suggestion.applicability


def test_loads_that_fill_each_others_gaps_become_one() -> None:
    edited, safety = _edited(_PAIRS.format(statements="out[i] = in[2 * i] + in[2 * i + 1];"))
    assert "const float2 in2 = *reinterpret_cast<const float2 *>(&in[2 * i]);\n    out[i] = in2.x + in2.y;" in edited
    assert safety == "safe"


@pytest.mark.parametrize(
    ("statement", "edited"),
    [
        (
            "if (i < 9000) out[i] = in[2 * i] + in[2 * i + 1];",
            "if (i < 9000) { LOAD out[i] = in2.x + in2.y; }",
        ),
        (
            "if (in[2 * i] < 1 && in[2 * i + 1] > 2) out[i] = 1;",
            "LOAD\n    if (in2.x < 1 && in2.y > 2) out[i] = 1;",
        ),
    ],
)
def test_nothing_is_loaded_outside_of_a_guard(statement: str, edited: str) -> None:
    """What hangs on a condition on the first load is in the same aligned bytes, which may always be loaded."""
    load = "const float2 in2 = *reinterpret_cast<const float2 *>(&in[2 * i]);"
    assert edited.replace("LOAD", load) in _edited(_PAIRS.format(statements=statement))[0]


def test_who_loads_under_a_condition_is_no_statement() -> None:
    found = _findings(_PAIRS.format(statements="out[i] = i < 9000 ? in[2 * i] + in[2 * i + 1] : 0;"))
    assert all(not (one.suggestion and one.suggestion.edits) for one in found)


def test_who_is_called_from_elsewhere_may_get_any_address() -> None:
    source = _PAIRS.format(statements="out[i] = in[2 * i] + in[2 * i + 1];")
    begin, end = source.index("void run()"), source.index("sums<<<")
    _, safety = _edited(source[:begin] + "void run(const float *in, float *out) {\n    " + source[end:])
    assert safety == "unsafe"


def test_what_is_held_back_is_not_tried() -> None:
    """Of what takes less of its kernel than is asked for, nobody gets to see the edit."""
    source = _PAIRS.format(statements="out[i] = in[2 * i] + in[2 * i + 1];")
    options = AnalysisOptions(unsaved=(("a.cu", source),))
    job = CheckJob("a.cu", options, Selection(("CL101",)), pictures=False)
    for share, is_tried in ((0.0, True), (5.0, False)):
        report = check_file(replace(job, min_share=share))
        assert isinstance(report, FileReport)
        suggestion = report.diagnostics[0].suggestion
        assert suggestion is not None
        assert bool(suggestion.edits) == is_tried
        assert ("--all tries all" in report.diagnostics[0].no_edit) != is_tried


def test_a_loop_that_takes_its_bound_in_is_left_alone() -> None:
    """Of n + 1 elements nothing says that they are whole vectors, and `n % 4 == 0` says that they are none."""
    loop = "float sum = 0; for (int j = 0; j {less} 63; j++) sum += in[i * 64 + j]; out[i] = sum;"
    found = _findings(_PAIRS.format(statements=loop.format(less="<=")))
    assert not any(one.suggestion and one.suggestion.edits for one in found)
    assert found[0].no_edit


def test_stores_that_follow_one_another_become_one() -> None:
    edited, _ = _edited(_PAIRS.format(statements="out[2 * i] = in[i];\n    out[2 * i + 1] = 3.0f;"))
    assert "*reinterpret_cast<float2 *>(&out[2 * i]) = make_float2(in[i], 3.0f);" in edited


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("float a = in[2 * i]; out[i] = a; a += in[2 * i + 1]; out[i + 1] = a;", "something is stored"),
        ("float a = in[2 * i]; i++; out[i] = a + in[2 * i - 1];", "its index changes between the loads"),
        ("float a = in[2 * i]; __syncthreads(); out[i] = a + in[2 * i + 1];", "waited for, between the loads"),
        ("out[2 * i] = 1.0f; out[2 * i + 1] = out[2 * i] + in[i];", "what is stored last may depend on"),
    ],
)
def test_what_is_in_the_way_of_a_vector_is_said(statements: str, reason: str) -> None:
    found = _findings(_PAIRS.format(statements=statements))
    assert all(not (one.suggestion and one.suggestion.edits) for one in found)
    assert any(reason in one.no_edit for one in found)


@pytest.mark.parametrize(
    ("side", "tile", "read"),
    [
        # A row of 33 words begins one bank after the one before: a column has 32 banks.
        (32, "tile[32][32 + 1];", "tile[threadIdx.x][threadIdx.y];"),
        # A warp has two rows of 16 words: no longer row keeps both rows and columns apart, and exchanged columns do.
        (16, "tile[16][16];", "tile[threadIdx.x][threadIdx.y ^ threadIdx.x];"),
    ],
)
def test_a_transpose_goes_through_a_tile(side: int, tile: str, read: str) -> None:
    statement = "if (x < width && y < height) { out[x * height + y] = in[y * width + x]; }"
    edited, safety = _edited(_TRANSPOSE.format(side=side, statement=statement))
    assert f"__shared__ float {tile}" in edited
    guarded = "if (x_turned < width && y_turned < height) out[x_turned * height + y_turned] = "
    assert guarded + read in edited
    assert f"int y_turned = blockIdx.y * {side} + threadIdx.x;" in edited
    assert safety == "unsafe"


def test_a_column_is_loaded_through_a_tile() -> None:
    statement = "if (x < height && y < width) out[y * height + x] = 2 * in[x * width + y];"
    edited, _ = _edited(_TRANSPOSE.format(side=32, statement=statement))
    guard = "if (x_turned < height && y_turned < width) "
    assert f"{guard}tile[threadIdx.x][threadIdx.y] = in[x_turned * width + y_turned];" in edited
    assert "if (x < height && y < width) out[y * height + x] = 2 * tile[threadIdx.y][threadIdx.x];" in edited


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("if (x >= width || y >= height) return;\n    {plain};\n    out[0] = 1;", "does more with `out`"),
        ("if (x >= width) return;\n    {plain};\n    __syncthreads();", "is for the threads that have not left"),
        ("if (x >= width) return;\n    {plain};\n    if (y > 9) return;", "is for the threads that have not left"),
        ("if (x >= width) { out[0] = 1; return; }\n    {plain};", "threads may leave at line"),
        (
            (
                "if (x >= width) return;\n    float f = in[0];\n    int h = height;\n    "
                "out[x * h + y] = in[y * width + x] * f;"
            ),
            "`h` is declared for the threads that have not left",
        ),
        ("for (int j = 0; j < 32; j += 32)\n    out[x * height + y + j] = in[y * width + x];", "is not what a block"),
        ("for (; y < height; y += 64) out[x * height + y] = in[y * width + x];", "stands in a loop or a branch"),
        ("y += 0; out[x * height + y] = in[y * width + x];", "`y` gets another value on the way"),
    ],
)
def test_what_is_in_the_way_of_a_tile_is_said(statement: str, reason: str) -> None:
    plain = statement.replace("{plain}", "out[x * height + y] = in[y * width + x]")
    found = _findings(_TRANSPOSE.format(side=32, statement=plain))
    assert all(not (one.suggestion and one.suggestion.edits) for one in found)
    assert any(reason in one.no_edit for one in found)


def test_threads_that_left_stay_for_the_barrier() -> None:
    loaded = "float v = in[x * width + y];\n    out[y * height + x] = 2 * v;"
    statement = f"if (x >= height || y >= width) return;\n    {loaded}"
    edited, _ = _edited(_TRANSPOSE.format(side=32, statement=statement))
    assert "return" not in edited
    kept = "{\n        float v = tile[threadIdx.y][threadIdx.x];\n        out[y * height + x] = 2 * v;\n    }"
    assert f"if (x < height && y < width) {kept}" in edited
    assert edited.index("__syncthreads();") < edited.index(kept)


@pytest.mark.parametrize(
    ("end", "index", "value", "reason"),
    [
        (32, "x * height + y + j", "in[(y + j) * width + x]", ""),
        (32, "x * height + y + j * 2", "in[(y + j) * width + x]", "is not computed of"),
        (16, "x * height + y + j", "in[(y + j) * width + x]", "does not take the 32 rows of"),
        (32, "x * height + y + j", "out[0] + in[(y + j) * width + x]", "does more with `out`"),
    ],
)
def test_a_block_takes_the_rows_of_a_tile_in_turns(end: int, index: str, value: str, reason: str) -> None:
    loop = f"for (int j = 0; j < {end}; j += 8)\n    if (x < width && y + j < height) out[{index}] = {value};"
    source = _TRANSPOSE.format(side=32, statement=loop).replace("dim3(32, 32)>>>", "dim3(32, 8)>>>")
    found = [one for one in _findings(source) if "`out`" in one.message and "reversed" in one.message]
    assert {bool(one.suggestion and one.suggestion.edits) for one in found} == {not reason}
    assert all(reason in one.no_edit for one in found)


def test_a_struct_is_declared_with_the_alignment_of_its_size() -> None:
    """16 bytes that are aligned to 8 are copied in two requests, each of which touches all 16 sectors."""
    source = "struct Pair { double re, im; };\n" + _PAIRS.format(statements="out[i] = in[i];").replace("float", "Pair")
    edited, safety = _edited(source)
    assert "struct __align__(16) Pair {" in edited
    assert safety == "unsafe"


def test_blocks_are_exchanged_with_the_kernels_x_and_y() -> None:
    source = """__global__ void scale(float *out, const float *in, int width, int height) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < height && column < width) out[row * width + column] = 2 * in[row * width + column];
}
void run(float *out, const float *in, int width, int height) {
    dim3 block(16, 8), grid((height + 15) / 16, (width + 7) / 8);
    scale<<<grid, block>>>(out, in, width, height);
    scale<<<dim3((height + 31) / 32, (width + 7) / 8), dim3(32, 8)>>>(out, in, width, height);
}
"""
    edited, _ = _edited(source)
    assert "blockIdx.x * blockDim.y + threadIdx.y, column = blockIdx.y * blockDim.x + threadIdx.x;" in edited
    assert "scale<<<grid, dim3(block.y, block.x, block.z)>>>" in edited
    assert "dim3((height + 31) / 32, (width + 7) / 8), dim3(8, 32)>>>" in edited
