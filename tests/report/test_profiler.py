"""Figures by the names that Nsight Compute has for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.report.formats.profiler import metrics
from cudalint.run.analysis import analyse_file

_EXAMPLES = Path(__file__).parents[2] / "examples"
_SECTORS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"


def _metrics(path: Path, kernel: str) -> dict[str, float]:
    (found,) = [each for each in analyse_file(str(path), AnalysisOptions()).kernels if each.name == kernel]
    return {name.split(" / ")[0]: value for name, value in metrics(found, 0)}


def test_a_launch_as_it_was_measured() -> None:
    """On an H200: 32, 2097369 / 65536 = 32.0, 151044061 / 16777216 = 9.0, and 50378445 / 41943040 = 1.2."""
    assert _metrics(_EXAMPLES / "transpose.cu", "naive") == {f"{_SECTORS}ld.ratio": 4, f"{_SECTORS}st.ratio": 32}
    assert _metrics(_EXAMPLES / "transpose.cu", "tiled")[f"{_WAVEFRONTS}ld.sum"] == 32
    assert _metrics(_EXAMPLES / "matmul.cu", "transposed")[f"{_WAVEFRONTS}ld.sum"] == pytest.approx(9.0)
    assert _metrics(_EXAMPLES / "matmul.cu", "plain")[f"{_WAVEFRONTS}ld.sum"] == pytest.approx(1.2)


def test_one_access_without_a_figure_leaves_out_all(tmp_path: Path) -> None:
    """What a load from anywhere takes is not known, and so is what all loads take; of stores it is."""
    path = tmp_path / "a.cu"
    path.write_text(
        "__global__ void pick(float *out, const float *in, const int *at)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    out[i] = in[at[i]];\n}\n"
        "void run(float *out, const float *in, const int *at) { pick<<<64, 256>>>(out, in, at); }\n"
    )
    assert _metrics(path, "pick") == {f"{_SECTORS}st.ratio": 4}
