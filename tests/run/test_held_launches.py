"""In which of a kernel's launches a finding is there, and which of them count."""

from __future__ import annotations

from pathlib import Path

from cudalint.diagnostics import Diagnostic
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.merging import gather
from cudalint.report.findings.results import FileReport
from cudalint.report.findings.showing import certainty_of
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_REVERSED = """
__global__ void reversed(float *out, const float *in, bool late)
{
    __shared__ float tile[1024];
    tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (late)
        __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 1 << 22);
    cudaMalloc(&out, 1 << 22);
    reversed<<<64, 100>>>(out, in, false);
    reversed<<<64, 128>>>(out, in, false);
    reversed<<<64, 256>>>(out, in, true);
    reversed<<<64, 512>>>(out, in, true);
    reversed<<<64, 1024>>>(out, in, false);
}
"""


def _found(tmp_path: Path, code: str) -> Diagnostic:
    source = tmp_path / "reversed.cu"
    source.write_text(_REVERSED, encoding="utf-8")
    report = check_file(CheckJob(str(source), AnalysisOptions(), Selection((code,)), pictures=False))
    assert isinstance(report, FileReport)
    (found,) = gather([report])
    return found


def test_a_race_names_all_launches_that_have_it(tmp_path: Path) -> None:
    """Where `late` is false nothing orders the two accesses: in three of five launches."""
    race = _found(tmp_path, "CL301")
    assert [launch.block[0] for launch in race.launches] == [100, 128, 1024]
    assert race.worlds == (3, 5)


def test_a_block_is_about_its_launch(tmp_path: Path) -> None:
    """Of five launches one has a block of 100 threads; at its place there is no other."""
    found = _found(tmp_path, "CL501")
    assert (found.worlds, certainty_of(found)) == ((1, 1), "certain")
