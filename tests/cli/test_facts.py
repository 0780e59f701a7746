"""`cudalint facts`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_table(cudalint: Run, tile: str) -> None:
    result = cudalint("facts", tile)
    assert result.status == 0
    assert result.out.startswith("tile.cu:4: tile32, for block 32x32, grid 8x8 (launch at tile.cu:15)\n")
    assert "data-dependent: index is loaded from `cols` at line 8" in result.out


def test_json_keeps_the_order_of_files(cudalint: Run, project: Path) -> None:
    names = [f"{i}.cu" for i in range(10)]
    for name in names:
        (project / name).write_text("__global__" if name == "3.cu" else "")
    result = cudalint("facts", *names, "--format", "json", "-j", "3")
    assert result.status == 0
    document = json.loads(result.out)
    assert [file["path"] for file in document["files"]] == names
    assert [len(file["kernels"]) for file in document["files"]] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_a_failed_file_has_its_entry_and_its_line(cudalint: Run, tile: str, project: Path) -> None:
    (project / "bad.cu").write_bytes(b"\0")
    result = cudalint("facts", "bad.cu", tile, "none.cu", "--format", "json")
    assert result.status == 2
    document = json.loads(result.out)
    assert {file["path"]: file["status"] for file in document["files"]} == {
        "none.cu": "failed",
        "bad.cu": "failed",
        "tile.cu": "ok",
    }
    assert len(result.err.splitlines()) == 2
    assert all(line.startswith("cudalint: error: ") for line in result.err.splitlines())


def test_no_files_at_all(cudalint: Run, project: Path) -> None:
    document = json.loads(cudalint("facts", "none.cu", "--format", "json").out)
    assert [file["path"] for file in document["files"]] == ["none.cu"]


def test_a_roofline_has_a_target_of_each_name(cudalint: Run, tile: str) -> None:
    assert "unknown target 'b999'" in cudalint("roofline", tile, "--target", "a100,b999").err
