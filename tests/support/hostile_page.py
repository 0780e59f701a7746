"""A source that tries to be more than text in an HTML report, with something for each kind of picture."""

from __future__ import annotations

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import CheckResult, FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.html.page import render
from cudalint.report.formats.presentation import Presentation
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.runs import result_of

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\'{{ 7*7 }}'
PATH = f"src/{HOSTILE.replace('/', '_')}.cu"
ANCHOR = "k-src-_script-script-alert-1-_script-img-src-x-onerror-alert-2-7-7-cu-transpose"
"""Of the kernel: its file, from the project's root on, and its name, without what an address might not have."""
SOURCE = f"""\
// {HOSTILE}
__global__ void transpose(float *out, const float *in, int width)
{{
    __shared__ float tile[32][32];  // {HOSTILE} \u202e ##[error]
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    out[x * width + y] = tile[threadIdx.x][threadIdx.y];
}}
void run(float *out, const float *in) {{ transpose<<<dim3(32, 32), dim3(32, 32)>>>(out, in, 1024); }}
"""
"""A race, since no barrier parts the store of the tile from its load; a load of it in 32 ways; a strided store."""


def hostile_result() -> CheckResult:
    options = AnalysisOptions(unsaved=((PATH, SOURCE),))
    report = check_file(CheckJob(PATH, options, Selection(), pictures=True, shows_kernels=True))
    assert isinstance(report, FileReport)
    return result_of([report], [], "a100")


def page_of(result: CheckResult) -> str:
    return "\n".join(render(result, SourceLines({PATH: SOURCE}), Presentation()))
