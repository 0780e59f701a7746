"""Texts that are not UTF-8 keep their bytes on all ways through the program."""

from pathlib import Path

import pytest
from edit_note import without_edit_note

from cudalint.cli import run
from cudalint.project.formats import FORMATS
from cudalint.system.disk.encoding import to_bytes, to_text

_KERNEL = """__global__ void t(const float* in, float* out) {
  __shared__ float s[32][32]; // \xe9
  s[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}
int main() { float *a, *b; cudaMalloc(&a, 4096); cudaMalloc(&b, 4096); t<<<1, dim3(32, 32)>>>(a, b); }
"""


def test_bytes_come_back() -> None:
    data = bytes(range(256))
    assert to_bytes(to_text(data)) == data


@pytest.mark.parametrize("shape", FORMATS)
def test_an_edit_is_tried_in_a_latin_1_text(shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.cu"
    path.write_bytes(_KERNEL.encode("latin-1"))
    assert run([str(path), "--format", shape]) == 1
    found = capsys.readouterr()
    assert without_edit_note(found.err) == ""
    assert "CL201" in found.out
    assert shape != "text" or "[32 + 1]" in found.out
