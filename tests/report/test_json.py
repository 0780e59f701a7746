"""Every JSON document against its published schema."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import numpy as np
import pytest
from handmade import access, column_read, file_facts, kernel, launch, strided_load
from msgspec.structs import replace

from cudalint.facts import (
    AccessResult,
    Branch,
    BranchResult,
    FileFacts,
    Gap,
    MostByEstimate,
    Occupancy,
    Place,
    Problem,
    Resources,
)
from cudalint.report.findings.results import CheckResult, Failure, coverage_of
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import diagnostics_json, facts_json
from cudalint.report.formats.presentation import Presentation


def _schema(name: str) -> Any:
    text = resources.files("cudalint").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def _validated(name: str, text: str) -> Any:
    document = json.loads(text)
    jsonschema.validate(document, _schema(name), jsonschema.Draft202012Validator)
    return document


def test_diagnostics() -> None:
    annotation = replace(column_read(), kernel="", instantiation="", launches=(), figures={}, suggestion=None)
    result = CheckResult(
        "a100",
        (replace(column_read(), variants=(strided_load(),)), strided_load(), annotation),
        (Failure("none.cu", "no such file or folder"),),
        2,
        coverage_of(file_facts()),
    )
    document = _validated("diagnostics", "\n".join(diagnostics_json.render(result, SourceLines(), Presentation())))
    assert document["summary"] == {
        "files": 2, "kernels": 1, "accesses": 2, "evaluated": 1, "unknown_kernels": 0,
        "kernels_without_accesses": 0, "launches_left_out": 0, "errors": 0, "warnings": 3, "infos": 0,
        "below_min_share": 0, "requirements": 0, "held_back": {}, "not_linted": [],
    }  # fmt: skip
    first, _, last = document["diagnostics"]
    assert first["launches"][0]["block"] == [32, 32, 1]
    assert first["suggestion"]["edits"][0]["text"] == "33"
    assert first["figures"]["conflict_ways"] == 32
    assert first["variants"][0]["figures"]["ideal_sectors"] == 4
    assert last["kernel"] is None


def _facts_document(*texts: str) -> Any:
    return _validated("facts", "\n".join(facts_json.document_lines("a100", iter(texts))))


def _rich_facts() -> FileFacts:
    result = AccessResult(
        0,
        "range",
        assumptions=("n > 0",),
        sectors_per_request=np.float64(4.5),  # type: ignore[arg-type]
        sectors_range=(np.int64(4), np.int64(8)),  # type: ignore[arg-type]
        ideal_sectors=float("nan"),
    )
    branch = Branch(Place("tile.cu", 5, 1, 5, 9), "tile32", (), "if", (BranchResult(0, "divergent", 0.5),))
    kernels = (
        kernel(branches=(branch,), gaps=(Gap("tile.cu", 5, "inline PTX"),)),
        kernel(accesses=(access(8, results=(result,)),), launches=(launch(path=None, line=None),)),
    )
    problems = (Problem("tile.cu", 3, 1, "'foo.h' file not found"),)
    return file_facts(status="partial", kernels=kernels, problems=problems)


def test_facts() -> None:
    document = _facts_document(facts_json.file_text(file_facts()), facts_json.file_text(_rich_facts()))
    assert [file["status"] for file in document["files"]] == ["ok", "partial"]
    plain, rich = document["files"][0]["kernels"][0], document["files"][1]["kernels"][1]
    assert plain["barriers"] is None
    assert plain["accesses"][0]["inlined_from"] == [{"path": "tile.cu", "line": 9}]
    figures = rich["accesses"][0]["results"][0]
    assert (figures["sectors_per_request"], figures["sectors_range"], figures["ideal_sectors"]) == (4.5, [4, 8], None)


def test_estimated_registers() -> None:
    limits = {"warps": 8, "blocks": 32, "registers": None, "shared_memory": None}
    estimated = Occupancy(0, 8, 64, 1.0, ("warps",), limits, most=MostByEstimate(68, 3, 24, 0.375, ("registers",)))
    own = kernel(resources=Resources(0, registers_estimate=85), occupancy=(estimated,))
    document = _facts_document(facts_json.file_text(file_facts(kernels=(own,))))
    (found,) = document["files"][0]["kernels"]
    assert (found["resources"]["registers"], found["resources"]["registers_estimate"]) == (None, 85)
    assert (found["occupancy"][0]["occupancy"], found["occupancy"][0]["most_by_estimate"]) == (1.0, {
        "registers": 68, "blocks_per_sm": 3, "warps_per_sm": 24, "occupancy": 0.375, "limiters": ["registers"],
    })  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 3])
def test_facts_of_failed_files(count: int) -> None:
    document = _facts_document(*[facts_json.failure_text(Failure(f"{i}.cu", "gone")) for i in range(count)])
    assert [file["status"] for file in document["files"]] == ["failed"] * count
