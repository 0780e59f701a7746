"""`cudalint occupancy`, and the options of registers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
_DATA = Path(__file__).parent.parent / "data"


def _json(result: Any) -> dict[str, Any]:
    assert result.status == 0, result.err
    document: dict[str, Any] = json.loads(result.out)
    return document


def test_json(cudalint: Run) -> None:
    line = "occupancy --threads 256 --registers 40 --shared 8192 --target a100 --format json"
    document = _json(cudalint(*line.split()))
    assert document["blocks_per_sm"] == 6 and document["warps_per_sm"] == 48 and document["occupancy"] == 0.75
    assert document["limiters"] == ["registers"]
    assert document["limits"] == {"warps": 8, "blocks": 32, "registers": 6, "shared_memory": 18}
    (cliff,) = document["cliffs"]
    assert (cliff["resource"], cliff["value"], cliff["blocks_per_sm"]) == ("registers", 32, 8)
    assert {row["threads"]: row["blocks_per_sm"] for row in document["by_block_size"]}[1024] == 1
    assert document["by_registers"] == []


def test_text(cudalint: Run) -> None:
    result = cudalint("occupancy", "--threads", "256", "--registers", "40", "--shared", "8192")
    assert result.status == 0
    assert "  warps per SM   48 of 64 (75%)\n  limited by     registers\n" in result.out
    assert "8 registers fewer (32) let 8 blocks in: 64 warps, 100%" in result.out


def test_without_registers_there_is_a_table_of_them(cudalint: Run) -> None:
    document = _json(cudalint("occupancy", "--threads", "96", "--target", "sm_86", "--format", "json"))
    assert document["limits"]["registers"] is None and document["architecture"] == "sm_86"
    assert [row["registers"] for row in document["by_registers"]][:2] == [16, 24]
    assert "registers  blocks" in cudalint("occupancy", "--threads", "96").out


def test_shared_memory_options(cudalint: Run) -> None:
    base = ("occupancy", "--threads", "128", "--format", "json", "--shared", "1024", "--dynamic-shared", "64512")
    allowed = _json(cudalint(*base))
    assert allowed["shared_bytes"] == 65536 and allowed["blocks_per_sm"] == 2 and allowed["needs_opt_in"]
    refused = _json(cudalint(*base, "--no-opt-in"))
    assert refused["blocks_per_sm"] == 0
    assert refused["obstacles"] == ["65536 bytes of shared memory per block, at most 49152"]
    # 66 KB need the capacity of 100 KB, into which one block goes.
    assert _json(cudalint(*base, "--carveout", "50"))["blocks_per_sm"] == 1


def test_a_block_that_does_not_fit(cudalint: Run) -> None:
    result = cudalint("occupancy", "--threads", "1024", "--registers", "300", "--shared", "200000")
    assert result.status == 0
    assert "no block fits: 300 registers per thread, at most 256" in result.out
    assert "no block fits: 200000 bytes of shared memory per block, at most 166912" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "Missing option '--threads'"),
        ("--threads 0", "0 is not in the range"),
        ("--threads 1025", "--threads: 1025 threads are more than a block of a100 may have (1024)"),
        ("--threads many", "'many' is not a valid integer"),
        ("--threads 32 --registers -1", "-1 is not in the range"),
        ("--threads 32 --shared -5", "-5 is not in the range"),
        ("--threads 32 --carveout 101", "101 is not in the range"),
        ("--threads 32 --target a1000", "unknown target 'a1000'; did you mean a100"),
        ("--threads 32 --format yaml", "'yaml' is not one of"),
        ("--threads 32 more", "Got unexpected extra argument"),
    ],
)
def test_bad_values_are_one_line(cudalint: Run, arguments: str, message: str) -> None:
    result = cudalint("occupancy", *arguments.split())
    assert result.status == 2 and result.out == ""
    assert message in result.err and result.err.count("\n") == 1


@pytest.mark.parametrize("content", [None, b"", b"text"])
def test_a_bad_cubin_is_one_line(cudalint: Run, tile: str, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "k.cubin"
    if content is not None:
        path.write_bytes(content)
    for command in ("check", "facts"):
        result = cudalint(command, tile, "--cubin", str(path))
        assert result.status == 2 and str(path) in result.err and result.err.count("\n") == 1


def test_a_good_cubin_is_taken(cudalint: Run, tile: str) -> None:
    assert cudalint("facts", tile, "--cubin", str(_DATA / "registers_sm80.cubin")).status == 0


def test_ptxas_without_nvcc(cudalint: Run, tile: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    result = cudalint("check", tile, "--ptxas")
    assert result.status == 2
    wanted = "cudalint: error: --ptxas needs nvcc, and there is none in PATH, CUDA_HOME or CUDA_PATH; "
    assert result.err.startswith(wanted)
