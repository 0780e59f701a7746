"""What is imported for what: a start is waited for, and libraries take longer to load than a small file to be read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_LIBRARIES = (
    "asyncio", "clang", "click", "jinja2", "multiprocessing", "networkx", "numpy", "pathspec", "pycparser", "pygls",
    "rich",
)  # fmt: skip
_COMMAND = """
import json, sys
from cudalint.cli import main
names = json.loads(sys.argv.pop(1))
try:
    main()
except SystemExit:
    pass
print(json.dumps([name for name in names if name in sys.modules]))
"""
_WORKER = """
import json, sys
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
check_file(CheckJob(sys.argv[2], AnalysisOptions(), Selection(), pictures=False))
print(json.dumps([name for name in json.loads(sys.argv[1]) if name in sys.modules]))
"""
_CLEAN = """__global__ void __launch_bounds__(256) scale(float *a, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= s;
}
"""


def _imported(program: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-P", "-c", program, json.dumps(_LIBRARIES), *arguments]
    found: list[str] = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    return found


def test_the_version_is_reported_by_the_command_line_alone() -> None:
    assert _imported(_COMMAND, "--version") == ["click"]


@pytest.mark.parametrize(("text", "in_worker"), [("", ["clang", "numpy"]), (_CLEAN, ["clang", "numpy"])])
def test_a_small_file(tmp_path: Path, text: str, in_worker: list[str]) -> None:
    """The process that starts hands clang over to its workers, and does nothing with numbers itself."""
    path = tmp_path / "small.cu"
    path.write_text(text)
    told = _imported(_COMMAND, "check", "--no-cache", "--no-config", str(path))
    assert told == ["clang", "click", "multiprocessing"]
    assert [name for name in _imported(_WORKER, str(path)) if name != "multiprocessing"] == in_worker
