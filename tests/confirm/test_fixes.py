"""Suggestions applied to copies, and what the two versions have to say."""

from __future__ import annotations

from pathlib import Path

from cudalint.confirm.backend import Backend, Settings
from cudalint.confirm.fixes import compare_outputs, confirm_fixes
from cudalint.confirm.session import Report
from cudalint.confirm.trials import Device, Log, ModuleFigures, Outcome, Trial
from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.limits import Limits

_DEVICE = Device("Played GPU", "sm_80", "1.0", "12.0", "NVRTC 12.0", "13", None)


def _edit(line: int, column: int, end_column: int, text: str) -> Edit:
    return Edit(Place("a.cu", line, column, line, end_column), text)


def test_edits_count_bytes() -> None:
    text = "/* ä */ float t[32][32];\nint x;\r\n"
    column = text.encode().index(b"32];") + 1
    assert apply_edits(text, [_edit(1, column, column + 2, "33"), _edit(2, 5, 5, "y")]) == (
        "/* ä */ float t[32][33];\nint yx;\r\n"
    )


def test_outputs() -> None:
    one, other = Outcome(digests={"out": "a"}), Outcome(digests={"out": "b"})
    assert compare_outputs(one, one, race=False) == "identical"
    assert compare_outputs(one, other, race=False) == "differ"
    assert compare_outputs(one, other, race=True) == "differ (race)"
    assert compare_outputs(one, None, race=False) == "one version was given up"
    assert compare_outputs(one, Outcome(compile_error="no"), race=False) == "no"


def _play(trial: Trial) -> Outcome:
    """A GPU whose kernel takes one wavefront for each column that the padded array has too few."""
    import numpy as np

    padded = b"[32][32 + 1]" in trial.build.files["main.cu"]
    if not trial.sites:
        milliseconds = 0.1 if padded else 0.9
        return Outcome(ModuleFigures(16, 4224, 0, 2, "nvrtc"), milliseconds=milliseconds, digests={"out": "x"})
    pitch = 33 if padded else 32
    rows = np.arange(32, dtype=np.int64).reshape(1, 32) * 4
    addresses = np.concatenate([rows, rows, rows * pitch, rows])
    sites = np.arange(4)
    shared = np.array([True, False, False, True])
    log = Log(sites, np.full(4, 4), np.ones((4, 32), dtype=bool), shared, addresses)
    return Outcome(ModuleFigures(16, 4224, 0, 2, "nvrtc"), log=log)


def test_both_versions_run_on_the_same_data(tmp_path: Path) -> None:
    path = tmp_path / "t.cu"
    path.write_text(
        "__global__ void k(const float *in, float *out)\n{\n    __shared__ float t[32][32];\n"
        "    int x = threadIdx.x, y = threadIdx.y;\n    t[y][x] = in[y * 32 + x];\n    __syncthreads();\n"
        "    out[y * 32 + x] = t[x][y];\n}\nvoid f(float *p) { k<<<1, dim3(32, 32)>>>(p, p); }\n",
        encoding="utf-8",
    )
    seen: list[Trial] = []
    backend = Backend(lambda _: _DEVICE, _play, lambda trials, folder, seconds: seen.extend(trials) or [])
    sources, report = [(str(path), AnalysisOptions())], Report(device=_DEVICE)
    [row] = confirm_fixes(sources, Limits(1, 20), Settings(), str(tmp_path / "b"), report, backend)
    before, after = seen
    assert before.buffers == after.buffers
    assert before.seed == after.seed
    assert (row.code, row.line, row.kernel, row.outputs) == ("CL201", 7, "k", "identical")
    assert (row.milliseconds_before, row.milliseconds_after) == (0.9, 0.1)
    assert b"[32][32 + 1]" in after.build.whole
    assert path.read_text(encoding="utf-8").count("[32][32]") == 1
