"""Records beside sources: written, read again, and held against predictions."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema

from cudalint.confirm.fixes import FixRow
from cudalint.confirm.holding import differences
from cudalint.confirm.picture import svg
from cudalint.confirm.preparing import Prepared, PrepareJob, prepare
from cudalint.confirm.recording import MEMBER, record_path, recorded, write_records
from cudalint.confirm.reporting import document, lines, summary_line
from cudalint.confirm.rows import Row
from cudalint.confirm.session import Measured, Report
from cudalint.confirm.trials import Device
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import Failure

_SOURCE = "__global__ void k(float *a) { a[2 * threadIdx.x] = 1; }\nvoid f(float *p) { k<<<1, 32>>>(p); }\n"
_DEVICE = Device("Played GPU", "sm_80", "1.0", "12.0", "NVRTC 12.0", "13", "/usr/bin/nvcc")


def _report(folder: Path, measured: float) -> Report:
    path = folder / "a.cu"
    path.write_text(_SOURCE, encoding="utf-8")
    one = prepare(PrepareJob(str(path), AnalysisOptions(), str(folder / "b")))
    assert isinstance(one, Prepared)
    row = Row(
        str(path), 1, 31, "k", (32, 1, 1), (1, 1, 1), "sectors", "global store of a, 4 B", 8.0, measured,
        "equal" if measured == 8 else "off", "ncu", "", 4.0,
    )  # fmt: skip
    return Report(device=_DEVICE, rows=[row], measured=[Measured(one.candidates[0], None)])


def _held(path: Path) -> list[str]:
    prepared = prepare(PrepareJob(str(path), AnalysisOptions(), str(path.parent / "b")))
    assert isinstance(prepared, Prepared)
    return list(differences(prepared.candidates, recorded(str(path)) or {}))


def test_what_was_measured_is_held_against_predictions(tmp_path: Path) -> None:
    for measured, expected in ((8.0, 0), (8.3, 0), (32.0, 1)):
        write_records(_report(tmp_path, measured), [], "2026-01-01")
        found = _held(tmp_path / "a.cu")
        assert len(found) == expected, measured
    assert found == ["line 1, k, sectors of global store of a, 4 B: measured 32.0, predicted 8"]


def test_a_prediction_that_is_gone_is_a_difference(tmp_path: Path) -> None:
    write_records(_report(tmp_path, 8.0), [], "2026-01-01")
    path = tmp_path / "a.cu"
    path.write_text(_SOURCE.replace("k(", "j(").replace("k<", "j<"), encoding="utf-8")
    assert _held(path) == ["line 1, k, sectors of global store of a, 4 B: measured 8.0, nothing is predicted"]


def test_a_kernel_that_moved_is_found(tmp_path: Path) -> None:
    write_records(_report(tmp_path, 8.0), [], "2026-01-01")
    path = tmp_path / "a.cu"
    path.write_text("// One line more.\n" + _SOURCE, encoding="utf-8")
    assert _held(path) == []
    path.write_text("// One line more.\n" + _SOURCE.replace("2 *", "3 *"), encoding="utf-8")
    assert _held(path) == ["line 2, k, sectors of global store of a, 4 B: measured 8.0, predicted 12"]


def test_what_else_was_measured(tmp_path: Path) -> None:
    """Splits of a branch, lanes, blocks per SM, static shared memory and errors, each right and wrong."""
    source = (
        "__global__ void k(float *a)\n{\n    __shared__ float s[64];\n    s[threadIdx.x] = a[threadIdx.x];\n"
        "    if (threadIdx.x < 16)\n        a[threadIdx.x] = s[threadIdx.x];\n}\n"
        "void f(float *p) { k<<<1, 64>>>(p); k<<<1, 2048>>>(p); }\n"
    )
    path = tmp_path / "a.cu"
    path.write_text(source, encoding="utf-8")
    good: list[tuple[int, int, str, str, object, str]] = [
        (5, 64, "divergent warps", "if", 0.5, ""),
        (6, 64, "active lanes", "global store of a, 4 B", 16.0, ""),
        (1, 64, "static shared bytes", "k", 256, ""),
        (1, 64, "blocks per SM", "k", 32, ""),
        (1, 2048, "error", "k", "CUDA_ERROR_INVALID_VALUE: invalid argument", "CL502: too many"),
    ]
    wrong = (0.25, 8.0, 128, 16, "no error")

    def record(rows: list[tuple[int, int, str, str, object, str]]) -> None:
        keys = ("line", "block", "quantity", "subject", "measured", "note")
        whole = [dict(zip(keys, row, strict=True)) for row in rows]
        fixed = {"kernel": "k", "grid": [1, 1, 1], "verdict": "equal"}
        launch = {"kernel": "k", "line": 1, "block": [64, 1, 1], "grid": [1, 1, 1], "registers": 16}
        rows_ = [{**row, **fixed, "block": [row["block"], 1, 1]} for row in whole]
        text = {MEMBER: {"device": {"architecture": "sm_90"}, "launches": [launch], "rows": rows_}}
        Path(record_path(str(path))).write_text(json.dumps(text), encoding="utf-8")

    record(good)
    assert _held(path) == []
    for index, value in enumerate(wrong):
        row = good[index]
        record([(*row[:4], value, row[5])])
        assert len(_held(path)) == 1, row


def test_what_others_recorded_stays(tmp_path: Path) -> None:
    path = record_path(str(tmp_path / "a.cu"))
    Path(path).write_text('{"launches": [1, 2]}', encoding="utf-8")
    write_records(_report(tmp_path, 8.0), [], "2026-01-01")
    whole = json.loads(Path(path).read_text(encoding="utf-8"))
    assert whole["launches"] == [1, 2]
    assert whole[MEMBER]["device"]["name"] == "Played GPU"
    assert whole[MEMBER]["date"] == "2026-01-01"


def test_a_broken_record_is_none(tmp_path: Path) -> None:
    Path(record_path(str(tmp_path / "a.cu"))).write_text("{", encoding="utf-8")
    assert recorded(str(tmp_path / "a.cu")) is None


def test_the_report(tmp_path: Path) -> None:
    report = _report(tmp_path, 32.0)
    text = "\n".join(lines(report, []))
    assert "predicted 8        measured 32       off [ncu]" in text
    assert summary_line(report) == "1 predictions: 0 equal within 5%, 1 off, 0 not measured"
    whole = json.loads(json.dumps(document(report, [])))
    assert whole["summary"] == {"equal": 0, "off": 1, "not_measured": 0, "without_prediction": 0}
    assert whole["rows"][0]["measured"] == 32.0


def test_the_document_follows_its_schema(tmp_path: Path) -> None:
    schema = json.loads(resources.files("cudalint").joinpath("schemas/confirm.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    report = _report(tmp_path, 32.0)
    report.failures.append(Failure("b.cu", "it is binary"))
    extents = ((32, 1, 1), (1, 1, 1))
    fix = FixRow("CL201", "a.cu", 1, "k", *extents, "pad", "wavefronts", 33.0, 2.0, 2.0, 0.5, None, "identical")
    for whole in (document(report, [fix]), document(Report(notes=["no GPU is there"]), [])):
        jsonschema.validate(json.loads(json.dumps(whole)), schema, jsonschema.Draft202012Validator)


def test_the_picture_is_xml_with_a_circle_for_each_figure(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    root = ElementTree.fromstring(svg(_report(tmp_path, 32.0).rows, "a < b"))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["1 x sectors: predicted 8, measured 32"]
    assert svg([], "nothing").startswith("<svg")
