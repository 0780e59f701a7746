"""The edits that exchange x and y of the threads throughout a kernel, and of its blocks."""

from __future__ import annotations

import pytest

from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

# `threadIdx.x` counts rows of 1024 floats: each of 32 lanes touches a sector of its own. With x and y exchanged the 32
# lanes of a warp take neighbouring floats, which are 4 sectors, and those of `in` are one float for all of them.
_SOURCE = """{head}__global__ void scale(const float *in, float *out) {{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;  // threadIdx.x
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    {more}out[row * 1024 + column] = 2.0f * in[{index}];
}}
void launch(const float *in, float *out) {{ scale<<<dim3(32, 32), {block}>>>(in, out); }}
"""
_AS_IT_IS = {"head": "", "more": "", "index": "row * 1024 + column", "block": "dim3(32, 32)"}


def _edited(**changes: str) -> str | None:
    source = _SOURCE.format(**{**_AS_IT_IS, **changes})
    options = AnalysisOptions(unsaved=(("a.cu", source),))
    report = check_file(CheckJob("a.cu", options, Selection(("CL101",)), pictures=False))
    assert isinstance(report, FileReport)
    suggestion = report.diagnostics[0].suggestion
    if suggestion is None or not suggestion.edits:
        return None
    assert suggestion.applicability == "unsafe"
    return apply_edits(source, suggestion.edits)


def test_x_becomes_y_and_y_becomes_x() -> None:
    source = _SOURCE.format(**_AS_IT_IS)
    code = source.replace("+ threadIdx.x;", "+ threadIdx.#;").replace("threadIdx.y", "threadIdx.x")
    assert _edited() == code.replace("threadIdx.#", "threadIdx.y")


@pytest.mark.parametrize(
    "changes",
    [
        # Nothing says that `Block` is a `dim3`, which could be spelled with x and y exchanged.
        {"head": "struct Block { int x, y; operator dim3() const { return dim3(32, 16); } };\n", "block": "Block()"},
        # Lanes of a warp are neighbours in x, whatever the index is used for.
        {"more": "if (__any_sync(~0u, row == 7)) return;\n    "},
        # Something else looks at the index.
        {"head": "__device__ int mine() { return threadIdx.x; }\n", "more": "if (mine() == 99) return;\n    "},
        {"head": "#define LANE threadIdx.x\n", "more": "if (LANE == 99) return;\n    "},
        {"more": "const uint3 all = threadIdx; if (all.x == 99) return;\n    "},
    ],
)
def test_where_a_thread_is_known_by_more_than_its_index(changes: dict[str, str]) -> None:
    assert _edited(**changes) is None


def test_what_all_lanes_shared_may_become_a_row() -> None:
    """Of a product, lanes that are rows touch 32 sectors of one factor, and one float of the other. Exchanged they
    share a float of the first, and take 4 sectors of the other, which 32 floats need: 5 in place of 33."""
    more = "float sum = 0;\n    for (int i = 0; i < 1024; i++) sum += in[row * 1024 + i] * in[i * 1024 + column];\n    "
    edited = _edited(more=more, index="column] * sum + in[0")
    assert edited is not None and "int row = blockIdx.x * blockDim.x + threadIdx.y;" in edited
