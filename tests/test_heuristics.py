"""Heuristics can be switched off by name. What is checked follows from the switched part alone: without it two loads
of one address are two."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cudalint.heuristics import VARIABLE, all_heuristics, heuristic


def test_each_has_a_name_its_evidence_and_a_module() -> None:
    found = all_heuristics()
    assert len(found) > 30
    for name, one in found.items():
        assert name == one.name and one.evidence and one.module.startswith("cudalint.")


def test_none_is_off_unless_the_environment_says_so() -> None:
    assert not os.environ.get(VARIABLE)
    assert all(one.is_on for one in all_heuristics().values())


def test_names_are_not_given_twice() -> None:
    with pytest.raises(ValueError, match="repeated-loads"):
        heuristic("repeated-loads", "none")


@pytest.mark.parametrize(("off", "is_repeated"), [("", True), ("repeated-loads", False)])
def test_a_switch_leaves_its_part_out(off: str, is_repeated: bool, tmp_path: object) -> None:
    code = "__global__ void k(const float *x, float *y) {\n  float a = x[threadIdx.x];\n  y[threadIdx.x] = a +\n"
    source = f"{tmp_path}/k.cu"
    with open(source, "w", encoding="utf-8") as file:
        file.write(f"{code}  x[threadIdx.x];\n}}\n")
    command = [sys.executable, "-m", "cudalint", "facts", "--format", "json", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, VARIABLE: off})
    assert ("it repeats the load" in done.stdout) == is_repeated
