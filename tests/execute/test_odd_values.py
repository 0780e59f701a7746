"""Values and accesses that few kernels have, and that no kernel may be given up for."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_FIELDS = """
struct __align__(8) S { int a, b; };
__global__ void k(int *o) {
  __shared__ S s[64];
  int t = threadIdx.x;
  int x = s[t].a;
  s[t].b = 3;
  int y = reinterpret_cast<int *>(s + t)[1];
  o[t] = x + y;
}
void run(int *o) { k<<<1, 64>>>(o); }
"""

_WIDE = """
__global__ void k(const int *in, int *o) {
  unsigned __int128 v = (unsigned __int128)threadIdx.x << 1;
  __int128 w = (__int128)blockIdx.x + in[threadIdx.x];
  int n = 0;
  while (v > 127) { v >>= 7; n++; }
  if (w < 0) o[(int)(v + threadIdx.x)] = n;
  o[(int)((unsigned __int128)(in[threadIdx.x] & 3) + threadIdx.x)] = (int)w;
  if ((unsigned __int128)((int)threadIdx.x - 5) < 7) o[threadIdx.x] = 1;
}
void run(const int *in, int *o) { k<<<8, 64>>>(in, o); }
"""


_COUNTED = """
__global__ void k(const int *in, int *o) {
  __shared__ int s[256];
  int t = threadIdx.x, n = 0;
  while (in[t + n] != 0) n++;
  s[t] = n;
  s[t ^ 32] = n;
  __syncthreads();
  o[t] = s[t];
}
void run(const int *in, int *o) { k<<<1, 256>>>(in, o); }
"""


def test_what_two_threads_store_may_be_how_long_a_loop_was(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(_COUNTED, encoding="utf-8")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert [access.array for access in kernel.accesses if access.array == "s"]


@pytest.mark.parametrize("source", [_FIELDS, _WIDE], ids=["a field and its bytes", "numbers of 128 bits"])
def test_all_accesses_have_figures(tmp_path: Path, source: str) -> None:
    path = tmp_path / "a.cu"
    path.write_text(source, encoding="utf-8")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert kernel.accesses
    made = [result for access in kernel.accesses for result in access.results if result.reason_kind != "repeat"]
    assert {result.status for result in made} <= {"exact", "assumed", "range"}
