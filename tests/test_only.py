"""Facts on demand, as users ask for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cudalint.cli import run

Run = Callable[..., Any]
_ROOT = Path(__file__).parents[1]


@pytest.fixture
def tile() -> str:
    return str(_ROOT / "examples" / "transpose.cu")


@pytest.fixture
def cudalint(capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> Any:
        status = run(arguments)
        captured = capfd.readouterr()
        return SimpleNamespace(status=status, out=captured.out, err=captured.err)

    return call


def test_facts_of_other_kinds_are_null(cudalint: Run, tile: str) -> None:
    whole, part = (
        json.loads(cudalint("facts", tile, "--format", "json", *only).out)["files"][0]["kernels"]
        for only in ([], ["--only", "occupancy, Barriers"])
    )
    left_out = {"accesses", "branches", "races", "costs"}
    for all_, some in zip(whole, part, strict=True):
        assert {key for key, value in some.items() if value is None} - {"roofline"} == left_out
        assert [all_[key] for key in all_ if key not in left_out] == [some[key] for key in some if key not in left_out]
        assert all_["accesses"]


@pytest.mark.parametrize(
    ("only", "hint"),
    [
        ("ocupancy", "did you mean `occupancy`?"),
        ("", "there are accesses, "),
        ("races,x", "no facts are called `x`; there are "),
    ],
)
def test_an_unknown_kind_is_named(cudalint: Run, tile: str, only: str, hint: str) -> None:
    result = cudalint("facts", tile, "--only", only)
    assert result.status == 2
    assert hint in result.err
    assert result.err.count("\n") == 1


def test_accesses_that_nobody_asked_for_are_not_counted(cudalint: Run, tile: str) -> None:
    def summary(*options: str) -> Any:
        return json.loads(cudalint("check", tile, "--format", "json", *options).out)["summary"]

    known = summary()
    assert known["accesses"] > 0
    few = summary("--select", "CL503")
    assert [few[key] for key in ("accesses", "evaluated", "unknown_kernels")] == [None, None, None]
    assert summary("--select", "CL503", "--fail-on-incomplete")["accesses"] == known["accesses"]
    assert "evaluated" not in cudalint("check", tile, "--select", "CL503").out
