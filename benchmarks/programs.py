"""The measured programs: where their sources lie, and running cudalint on them as a user would."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

SAMPLES = "NVIDIA+cuda-samples"
HECBENCH = "zjin-lcf+HeCBench"
_SECONDS = 120


class Facts(Struct, frozen=True):
    """The output of `cudalint facts` for one program, or why there is none."""

    document: Mapping[str, Any] | None
    error: str | None = None


def read_counters(path: Path) -> list[dict[str, Any]]:
    """The programs of a counters file, which may be compressed."""
    data = path.read_bytes()
    programs: list[dict[str, Any]] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return programs


def program_name(program: Mapping[str, Any]) -> str:
    return f"{program['set']}/{program['program']}"


def command_line(program: Mapping[str, Any], checkouts: Path) -> list[str]:
    """The arguments of `cudalint facts` for a program: its sources, and the include folders of its build."""
    match program["set"]:
        case "samples":
            return ["-I", str(checkouts / SAMPLES / "Common"), *_sample(program["program"], checkouts)]
        case "hec" | "hec2":
            return [str(path) for path in sorted((checkouts / HECBENCH / "src" / program["program"]).glob("*.cu"))]
        case _:
            return [*options_of(program, checkouts), *(str(checkouts / file) for file in program["files"])]


def options_of(program: Mapping[str, Any], checkouts: Path) -> list[str]:
    """What the program's compiler is told besides, such as folders of headers."""
    return [option.replace("ROOT", str(checkouts)) for option in program.get("options", ())]


def _sample(name: str, checkouts: Path) -> list[str]:
    """A sample's source `transpose.cu` lies in a folder of that name."""
    folder = name.removesuffix(".cu")
    for parent, _, names in os.walk(checkouts / SAMPLES / "Samples"):
        if os.path.basename(parent) == folder and name in names:
            return [os.path.join(parent, name)]
    return []


def run_facts(arguments: Sequence[str]) -> Facts:
    """Runs `profiler_lines.py` in a process of its own. No launch and no argument is hinted at."""
    command = [sys.executable, str(Path(__file__).with_name("profiler_lines.py")), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Facts(None, f"no answer within {_SECONDS} s")
    try:
        return Facts(json.loads(done.stdout))
    except json.JSONDecodeError:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return Facts(None, last[0])
