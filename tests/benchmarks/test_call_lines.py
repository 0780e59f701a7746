"""Second entries at the lines of calls, where a profiler lists the first instruction of an inlined function."""

from __future__ import annotations

from pathlib import Path

from call_lines import with_call_lines

from cudalint.facts import Access
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

SOURCE = """\
__device__ float get(const float* p, int i) {
  return p[i];
}
__device__ float two(const float* p, const float* s, int i) {
  float a = s[i];
  return a +
         get(p, 8 * i) +
         p[i + 100];
}
__device__ void either(float* out, int t, int way) {
  if (way == 1)
    out[64 * t] = 1;
  else
    out[t] = 2;
}
__global__ void k(float* out, const float* in) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  float x =
      two(in, s, t);
  float y = in[t] +
            get(in, 2 * t);
  out[t] = x + get(in, 4 * t);
  either(out, t, 2);
}
void run(float* out, const float* in) { k<<<1, 32>>>(out, in); }
"""


def _listed_again(tmp_path: Path, text: str = SOURCE) -> tuple[Access, ...]:
    source = tmp_path / "k.cu"
    source.write_text(text)
    facts = analyse_file(str(source), AnalysisOptions())
    return with_call_lines(facts).kernels[0].accesses[len(facts.kernels[0].accesses) :]


def test_the_first_access_of_each_space_stands_at_the_call_too(tmp_path: Path) -> None:
    again = _listed_again(tmp_path)
    figures = {(a.place.line, a.space, a.operation): a.results[0].sectors_per_request for a in again}
    # 32 lanes read floats 8 apart at line 2, a sector each, for the call at line 7 in the call at line 21. The array in
    # shared memory is read at line 5 for line 21. Line 23 reads floats 2 apart: 256 bytes, 8 sectors. What the call at
    # line 25 comes to is the store of line 14, of 4 sectors.
    at_21 = {(21, "shared", "load"): None, (21, "global", "load"): 32.0}
    later = {(23, "global", "load"): 8.0, (25, "global", "store"): 4.0}
    assert figures == {(7, "global", "load"): 32.0, **at_21, **later}


def test_an_entry_of_a_call_tells_of_the_calls_around_it(tmp_path: Path) -> None:
    inner = [(a.place.line, [f.line for f in a.inlined_from]) for a in _listed_again(tmp_path)]
    assert sorted(inner) == [(7, [21]), (21, []), (21, []), (23, []), (25, [])]


def test_a_line_with_accesses_of_its_own_says_nothing_else(tmp_path: Path) -> None:
    assert 24 not in {a.place.line for a in _listed_again(tmp_path)}


def test_a_load_that_the_compiler_leaves_out_is_not_listed_again(tmp_path: Path) -> None:
    """`swap` has both values already, and starts with a store: of 32 floats, 4 sectors."""
    text = (
        "__device__ void swap(float* p, float* q) {\n  float x = *p;\n  *p = *q;\n  *q = x;\n}\n"
        "__global__ void k(float* a) {\n  int t = threadIdx.x;\n  if (a[t] > a[t + 64])\n"
        "    swap(a + t, a + t + 64);\n}\n"
        "void run(float* a) { k<<<1, 32>>>(a); }\n"
    )
    assert [(a.place.line, a.operation) for a in _listed_again(tmp_path, text)] == [(9, "store")]
