"""Facts of kernels that are kept between edits are those that a fresh analysis finds."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from cudalint.diagnostics import Diagnostic
from cudalint.editor.analysing import Analysed, Asked, _drafted, analysed, answered
from cudalint.editor.analysing import _memories as memories
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.job import CheckJob

_SOURCE = """\
#include <cstdlib>
__device__ float loaded(const float *p, int i) {
    return p[i * 4];
}

__global__ void first(float *out, int width) {
    extern __shared__ float room[];
    int i = threadIdx.x;
    room[i] = i;
    out[i * (width / 24)] = room[i * 2 % 64];
}

__global__ void second(float *out, const float *in, int width) {
    extern __shared__ float room[];
    int i = threadIdx.x;
    room[i * 2] = loaded(in, i * (width / 32));
    if (i % 2) out[i] = room[i * 2];
    for (int j = 0; j < width; j++) out[i] += in[i * width + j];
}

int main(int argc, char **argv) {
    int width = atoi(argv[1]);
    float *p;
    cudaMalloc(&p, width * 4096);
    first<<<8, 64, 1024>>>(p, width);
    second<<<8, 64, 1024>>>(p, p, width);
}
"""


def _job(text: str) -> CheckJob:
    return CheckJob("kept.cu", AnalysisOptions(unsaved=(("kept.cu", text),)), Selection(), pictures=False)


def _lint(text: str) -> Analysed:
    return analysed(_job(text))


def _from_scratch(text: str) -> Analysed:
    draft, found = _drafted(_job(text), None)
    assert draft is not None
    return replace(found, report=draft.report())


def _shown(found: Analysed) -> list[object]:
    """All that a user may see of it."""
    assert isinstance(found.report, FileReport)
    findings = [*found.report.diagnostics, *found.report.suppressed]
    return [*map(_told, findings), found.accesses, found.kernels, found.report.failures, found.report.parameters]


def _told(finding: Diagnostic) -> tuple[object, ...]:
    suggestion = finding.suggestion
    edits = suggestion and (suggestion.message, suggestion.edits)
    return finding.code, finding.place, finding.message, finding.assumptions, finding.related, edits, finding.cost


_CHECK = "    if (atoi(argv[3]) < 3) return 1;"

_EDITS = {
    "lines above all": ("// above\n\n" + _SOURCE, 2),
    "a finding allowed": (_SOURCE.replace("int main", "// cudalint: allow(bank-conflict) -- none\nint main"), 2),
    "another index": (_SOURCE.replace("room[i * 2];\n", "room[i];\n"), 1),
    "no semicolon": (_SOURCE.replace("    room[i] = i;", "\n    room[i] = i * 2"), 1),
    "as it was": (_SOURCE, 2),
    "a comment where a body begins": (_SOURCE.replace("room[];\n    int i", "room[];\n    // i\n    int i"), 2),
    "a comment before": (_SOURCE.replace("    extern", "    // room\n    extern"), 2),
    "lines and a comment in a body": (_SOURCE.replace("    for (int j", "\n    // a row\n\n    for (int j"), 2),
    # A launch counts for its own kernel.
    "another block": (_SOURCE.replace("<<<8, 64, 1024>>>(p, p", "<<<8, 32, 1024>>>(p, p"), 1),
    "as it was again": (_SOURCE, 2),
    # Host code counts for what it gives to launches, and for the lines on which they are.
    "a line between launches": (_SOURCE.replace("    second<<<", '    printf("%d", width);\n\n    second<<<'), 2),
    "what launches don't have": (_SOURCE.replace("    float *p;", "    int rows = width / 3;\n    float *p;"), 2),
    "another name": (_SOURCE.replace("width = atoi(argv[1])", "width = atoi(argv[2])"), 2),
    "a number instead": (_SOURCE.replace("atoi(argv[1])", "640"), 0),
    "a check before": (_SOURCE.replace("    float *p;", "    if (width % 12) return 1;\n    float *p;"), 0),
    "a problem in host code": (_SOURCE.replace("    float *p;", "    int n = missing;\n    float *p;"), 2),
    "a second launch": (_SOURCE.replace("    second<<<", "    first<<<8, 32, 1024>>>(p, width);\n    second<<<"), 1),
    "a check of something else": (_SOURCE.replace("    float *p;", f"{_CHECK}\n    float *p;"), None),
    "another unknown before it": (_SOURCE.replace("    float *p;", f"int n = atoi(argv[4]);\n{_CHECK}\nfloat *p;"), 2),
    # A device function, what all have in common: nothing is as it was.
    "another stride": (_SOURCE.replace("p[i * 4]", "p[i * 8]"), 0),
    "another type": (_SOURCE.replace("extern __shared__ float", "extern __shared__ double", 1), 0),
    # What one kernel divides a size by holds for the other too.
    "another divisor": (_SOURCE.replace("width / 24", "width / 56"), None),
}
"""Each with the kernels that are not executed again."""


def test_edits() -> None:
    memories.forget()
    _lint(_SOURCE)
    for name, (text, kept) in _EDITS.items():
        edited = _lint(text)
        assert kept is None or edited.kept == kept, name
        assert _shown(edited) == _shown(_from_scratch(text)), name


_CONFLICT = """\
__global__ void columns(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

void launch(float *out, const float *in) { columns<<<64, dim3(32, 32)>>>(out, in); }
"""


def test_findings_come_before_their_edits_are_tried() -> None:
    """The 32-way conflict is told at once, its edit when somebody asks for it; once tried, it is known for a text in
    which the kernel is the same."""
    memories.forget()
    found = {
        "at once": answered(Asked(_job(_CONFLICT))),
        "asked for": answered(Asked(_job(_CONFLICT), tries_edits=True)),
        "the same text": answered(Asked(_job(_CONFLICT))),
        "the same kernel": answered(Asked(_job("// above\n" + _CONFLICT))),
    }
    edits = {name: _edits_of_conflict(each) for name, each in found.items()}
    assert not edits.pop("at once") and found["at once"].is_open
    assert all(edits.values()) and not any(found[name].is_open for name in edits)
    assert found["the same text"].kept == found["the same kernel"].kept == 1


def _edits_of_conflict(found: Analysed) -> object:
    assert isinstance(found.report, FileReport)
    (conflict,) = (d for d in found.report.diagnostics if d.code == "CL201")
    assert conflict.suggestion is not None
    return conflict.suggestion.edits
