"""What a finding doesn't list it doesn't rest on: with other sizes in place of those that nobody gives, large ones
again, the same is found, and the same is taken for granted."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.host.executor import generics
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection, all_rules
from cudalint.report.findings.merging import gather
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_ROOT = Path(__file__).parent.parent
_FIXTURES = [
    "uncoalesced-access/matrices.cu", "uncoalesced-access/open_layouts.cu", "uncoalesced-access/rows_of_one.cu",
    "uncoalesced-access/strides_of_vectors.cu", "uncoalesced-access/sizes_of_models.cu",
    "bank-conflict/sized_extern.cu",
]  # fmt: skip
_OF_FIGURES = ("CL101", "CL201")
_POOLING = """
    __global__ void largest(int n, const float *in, int height, int width, int out_height, int out_width, int window,
                            int step, int margin, float *out) {
        int index = blockIdx.x * blockDim.x + threadIdx.x;
        if (index >= n) return;
        int x0 = index % out_width * step - margin, y0 = index / out_width % out_height * step - margin;
        const float *image = in + index / out_width / out_height * height * width;
        float most = 0;
        for (int y = max(y0, 0); y < min(y0 + window, height); y++)
            for (int x = max(x0, 0); x < min(x0 + window, width); x++) most = fmaxf(most, image[y * width + x]);
        out[index] = most;
    }
    void run(int n, const float *in, int h, int w, int oh, int ow, int k, int s, int p, float *out) {
        largest<<<(n + 255) / 256, 256>>>(n, in, h, w, oh, ow, k, s, p, out);
    }
    """


def _found(path: Path) -> set[tuple[object, ...]]:
    selection = Selection(tuple(rule.code for rule in all_rules() if rule.on_by_default))
    report = check_file(CheckJob(str(path), AnalysisOptions(), selection, pictures=False))
    assert isinstance(report, FileReport)
    certain = [d for d in gather([report]) if d.code in _OF_FIGURES and not d.condition]
    # What is assumed is named with a number, which is another one here.
    return {(d.code, d.place, d.kernel, d.message, *(a.partition(" = ")[0] for a in d.assumptions)) for d in certain}


def _with_others(path: Path, monkeypatch: pytest.MonkeyPatch) -> set[tuple[object, ...]]:
    """Odd multiples of 1536 and of 393216, and not of 8192 and a million."""
    monkeypatch.setattr(generics, "_GENERIC_FACTORS", tuple(6 + factor for factor in generics._GENERIC_FACTORS[::-1]))
    monkeypatch.setattr(generics, "_GENERIC_UNITS", {4: 1536, 8: 393216})
    return _found(path)


@pytest.mark.parametrize("name", _FIXTURES)
def test_findings_rest_on_what_they_list(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _ROOT / "fixtures" / name
    usual = _found(path)
    assert usual
    assert _with_others(path, monkeypatch) == usual


def test_windows_of_any_size_are_no_finding(tmp_path: Path) -> None:
    """How far neighbouring lanes are apart is the step of the window, which is 1 or 2 as a rule, and an argument."""
    path = tmp_path / "pooling.cu"
    path.write_text(_POOLING, encoding="utf-8")
    assert not _found(path)
