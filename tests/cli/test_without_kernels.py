"""Commands about files in which no kernel is found: they say what of the files isn't read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize("command", ["facts", "roofline", "what-if"])
def test_a_file_without_kernels_says_what_of_it_is_not_read(real_cudalint: Run, tmp_path: Path, command: str) -> None:
    path = tmp_path / "a.cu"
    path.write_text('#include "missing_kernels.cuh"\n', encoding="utf-8")
    result = real_cudalint(command, str(path))
    assert result.status == 0
    assert "missing_kernels.cuh" in result.out
    assert f"{path}: no kernels" in result.out
    assert command == "facts" or not result.err
    as_json = real_cudalint(command, str(path), "--format", "json")
    assert json.loads(as_json.out)
    assert command == "facts" or "missing_kernels.cuh" in as_json.err
