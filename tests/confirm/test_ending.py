"""Whoever ends the command ends all that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

_HANGING = """
import os, time
open({pid!r}, "w").write(str(os.getpid()))
time.sleep(120)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to be handled")
def test_a_worker_does_not_outlive_the_command(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k(float *a) { a[threadIdx.x] = 1; }\n", encoding="utf-8")
    pid = tmp_path / "pid"
    (tmp_path / "cupy.py").write_text(_HANGING.format(pid=str(pid)), encoding="utf-8")
    command = subprocess.Popen(
        [sys.executable, "-m", "cudalint", "confirm", "k.cu"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, stdout=subprocess.PIPE,
    )  # fmt: skip
    for _ in range(600):
        if pid.exists() and pid.read_text():
            break
        time.sleep(0.1)
    worker = int(pid.read_text())
    command.send_signal(signal.SIGTERM)
    command.communicate(timeout=60)
    assert command.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
