"""Facts that the new core gives, from the command line to the figure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_SOURCE = """
__global__ void turned(float *out, const float *in) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * 1024 + x];
    __syncthreads();
    out[x * 1024 + y] = tile[threadIdx.x][threadIdx.y];
}
void launch(float *out, float *in) { turned<<<dim3(32, 32), dim3(32, 32)>>>(out, in); }
"""


def test_figures_of_a_transposition(tmp_path: Path) -> None:
    """A warp has 32 threads of one y. It loads one row of 32 floats: 128 bytes, 4 sectors of 32. It stores to 32 rows
    of 4096 bytes: 32 sectors. A column of the tile has all its words in one bank: 32 wavefronts. 32 x 32 blocks of 32
    warps make 32768 requests of each access."""
    (tmp_path / "k.cu").write_text(_SOURCE)
    found = {(a["space"], a["operation"]): a["results"][0] for a in _facts(tmp_path / "k.cu")["accesses"]}
    assert found["global", "load"]["sectors_per_request"] == 4
    assert found["global", "store"]["sectors_per_request"] == 32
    assert found["shared", "store"]["wavefronts_per_request"] == 1
    assert found["shared", "load"]["wavefronts_per_request"] == 32
    assert {result["status"] for result in found.values()} == {"exact"}
    assert {result["requests"] for result in found.values()} == {32768}


def _facts(path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "cudalint", "facts", "--no-config", "--format", "json", str(path)]
    environment = {**os.environ, "CUDALINT_CORE": "traces"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    kernel: dict[str, Any] = json.loads(done.stdout)["files"][0]["kernels"][0]
    return kernel
