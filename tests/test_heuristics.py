"""Heuristics can be switched off by name. What is checked follows from the switched part alone: without it two words
beside each other are two loads."""

from __future__ import annotations

import json
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
    with pytest.raises(ValueError, match="work-wide"):
        heuristic("work-wide", "none")


@pytest.mark.parametrize(("off", "width"), [("", 8), ("work-wide", 4)])
def test_a_switch_leaves_its_part_out(off: str, width: int, tmp_path: object) -> None:
    code = "__global__ void k(float *y) {\n  __shared__ float s[64];\n  s[threadIdx.x] = y[threadIdx.x];\n"
    source = f"{tmp_path}/k.cu"
    with open(source, "w", encoding="utf-8") as file:
        file.write(f"{code}  __syncthreads();\n  y[threadIdx.x] = s[2 * threadIdx.x] + s[2 * threadIdx.x + 1];\n}}\n")
    command = [sys.executable, "-m", "cudalint", "facts", "--format", "json", "--block", "32", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, VARIABLE: off})
    [kernel] = json.loads(done.stdout)["files"][0]["kernels"]
    loads = [access for access in kernel["accesses"] if (access["space"], access["operation"]) == ("shared", "load")]
    assert {access["bytes"] for access in loads} == {width}
