"""What is counted and not shown: what nobody who reads it would act upon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from cudalint.cli import run
from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.driver.file_findings import CheckJob, check_file
from cudalint.facts import FindingCost, LaunchSite, Place
from cudalint.findings.holding import held_for_their_place, is_large, marked
from cudalint.findings.merging import merge
from cudalint.findings.results import FileReport
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from tests.support.handmade import strided_load

# Points of three floats: 12 sectors for a load of one of them, 4 are ideal.
_POINTS = """
__global__ void k(const float* xyz, float* out) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = xyz[3 * i + 1];
}}
{host}
"""
_HANDED_ON = "void run(const float* xyz, float* out) { k<<<4096, 256>>>(xyz, out); }"
_ALLOCATED = """void run(float* out) {
  float* xyz;
  cudaMalloc(&xyz, 4096 * 256 * 3 * sizeof(float));
  k<<<4096, 256>>>(xyz, out);
}"""


def _reasons(path: Path, source: str, code: str) -> set[str | None]:
    path.write_text(source)
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection((code,)), pictures=False))
    assert isinstance(report, FileReport)
    assert report.diagnostics
    assert not any(d.held_back for d in report.with_least(0.0).diagnostics)
    return {d.held_back for d in report.with_least(0.02).diagnostics}


def test_layouts_are_their_owners(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    assert _reasons(path, _POINTS.format(host=_HANDED_ON), "CL101") == {"layout"}
    assert _reasons(path, _POINTS.format(host=_ALLOCATED), "CL101") == {None}


def test_a_struct_of_the_program_can_be_declared_anew(tmp_path: Path) -> None:
    """One of 128 bytes, of which every lane takes 4."""
    source = """
        struct Cell { float weight, more[31]; };
        __global__ void k(const Cell* cells, float* out) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          out[i] = cells[i].weight;
        }
        void run(const Cell* cells, float* out) { k<<<4096, 256>>>(cells, out); }
    """
    assert _reasons(tmp_path / "k.cu", source, "CL101") == {None}
    assert _reasons(tmp_path / "k.cu", source.replace("struct Cell { float weight, more[31]; };", "").replace(
        "Cell", "double4").replace("weight", "y"), "CL101") == {"layout"}  # fmt: skip


_RUNS = """
__global__ void k(const float* in, float* out) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < {length}; j++) sum += in[i * {length} + j] * (j + 1);
  out[i] = sum;
}}
void run(const float* in, float* out) {{ k<<<4096, 256>>>(in, out); }}
"""


def test_a_thread_that_has_nine_elements_has_a_matrix(tmp_path: Path) -> None:
    """Eight are a share of the work, which is the kernel's to deal out."""
    path = tmp_path / "k.cu"
    assert _reasons(path, _RUNS.format(length=9), "CL101") == {"layout"}
    assert "layout" not in _reasons(path, _RUNS.format(length=8), "CL101")


def test_what_stands_on_a_name_that_nothing_declares_is_about_the_name(tmp_path: Path) -> None:
    """A template of a program, which writes a number for `@COLUMNS@` or the like before it compiles the text."""
    source = """
        template <int N> struct Row { float first, others[N]; };
        __global__ void k(const Row<_COLUMNS_>* rows, float* out) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          out[i] = rows[i].first;
        }
        void run(const Row<_COLUMNS_>* rows, float* out) { k<<<4096, 256>>>(rows, out); }
    """
    assert _reasons(tmp_path / "k.cu", source, "CL101") == {"guessed"}
    assert _reasons(tmp_path / "k.cu", f"#define _COLUMNS_ 32\n{source}", "CL101") == {None}


def test_numbers_of_a_template_that_nothing_says(tmp_path: Path) -> None:
    """A block of 256 for a kernel that is bound to 128 threads only because that is usual is no mistake of anybody."""
    source = """
        template <int THREADS> __global__ void __launch_bounds__(THREADS) k(float* out) { out[threadIdx.x] = 0; }
        template <class Settings> void run(float* out) { k<Settings::threads><<<64, 256>>>(out); }
    """
    assert _reasons(tmp_path / "k.cu", source, "CL502") == {"guessed"}
    named = source.replace("<class Settings>", "<int THREADS = 128>").replace("Settings::threads", "THREADS")
    assert _reasons(tmp_path / "k.cu", named, "CL502") == {None}


def test_lanes_that_meet_only_for_a_large_factor(tmp_path: Path) -> None:
    """Of `x / scale`, 32 lanes have one value if the scale is at least that; where the launch says so, it is."""
    source = """
        __global__ void k(float* sums, const float* in, int width, int scale) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          int x = i % width, y = i / width;
          atomicAdd(&sums[y / scale * (width / scale) + x / scale], in[i]);
        }
        void run(float* sums, const float* in, int width, int scale) { k<<<4096, 256>>>(sums, in, width, scale); }
    """
    assert _reasons(tmp_path / "k.cu", source, "CL109") == {"guessed"}
    assert _reasons(tmp_path / "k.cu", source.replace("in, width, scale)", "in, 8192, 4096)"), "CL109") == {None}


def _cost(time: float, traffic: float) -> FindingCost:
    return FindingCost(time, 1.0, "dram", traffic_share=traffic)


_ROWS = """
template <int V> __global__ void k(const float* in, float* out, int n) {{
  const float* row = in + blockIdx.x * n;
  for (int i = 4 * threadIdx.x; {bound}; i += 4 * blockDim.x) {{
    float4 v = *reinterpret_cast<const float4*>(row + i);
    out[blockIdx.x * 4096 + i] = v.x + v.y + v.z + v.w;
  }}
}}
{host}
"""
_OTHER = """
__global__ void other(const float* in, float* out, int n) {
  float4 v = reinterpret_cast<const float4*>(in + blockIdx.x * n)[threadIdx.x];
  out[blockIdx.x * 256 + threadIdx.x] = v.x + v.y + v.z + v.w;
}
"""
_CALL = "void run(const float* in, float* out, int rows, int columns) { k<4><<<rows, 256>>>(in, out, columns); }"


@pytest.mark.parametrize(
    ("bound", "host", "reason"),
    [
        # A rest would take the last vector over the end of the row: it is written for rows without one.
        ("i < n", _CALL, "callers"),
        ("!(i >= n)", _CALL, "callers"),
        ("i < n", _CALL.replace("columns);", "columns / 2);"), "callers"),
        # Room is left for a rest.
        ("i + 3 < n", _CALL, None),
        ("i + 4 <= n", _CALL, None),
        ("i < n && i + 3 < n", _CALL, None),
        # Nothing says that the rows end with a whole vector: 100 columns in 7 groups have 14 each.
        ("i < n", _CALL.replace("columns);", "columns / rows);"), None),
        # Whoever launches the other kernel is asked.
        ("i < n", _CALL + _OTHER + """
            void ask(const float* in, float* out, int n) { if (n % 4 != 0) return; other<<<64, 256>>>(in, out, n); }
        """, None),
        ("i < n", _CALL + _OTHER + """
            void ask(const float* in, float* out, int n) { if (n % 2 != 0) return; other<<<n, 256>>>(in, out, 1024); }
        """, "callers"),
        # Anybody may run it with any number.
        ("i < n", """#include <cstdlib>
            int main(int count, char** words) {
              int n = count > 1 ? atoi(words[1]) : 1000;
              float *in, *out;
              cudaMalloc(&in, 4096 * n * sizeof(float));
              cudaMalloc(&out, 4096 * 4096 * sizeof(float));
              k<4><<<4096, 256>>>(in, out, n);
            }
        """, None),
    ],
)  # fmt: skip
def test_rows_of_whole_vectors(tmp_path: Path, bound: str, host: str, reason: str | None) -> None:
    assert _reasons(tmp_path / "k.cu", _ROWS.format(bound=bound, host=host), "CL102") == {reason}


def test_little_time() -> None:
    """Without a remedy, the time has to be five times as much; with the edit at hand, a fifth of it will do."""
    without = replace(strided_load(), assumptions=())
    remedied = replace(without, suggestion=Suggestion("pad it"))
    edit = Edit(Place("k.cu", 1, 1, 1, 2), "x")
    at_hand = replace(without, suggestion=Suggestion("pad it", edits=(edit,)))
    assert is_large(_cost(0.05, 0.0), 0.05, remedied)
    assert not is_large(_cost(0.049, 0.0), 0.05, remedied)
    assert not is_large(_cost(0.24, 0.0), 0.05, without)
    assert is_large(_cost(0.25, 0.0), 0.05, without)
    assert is_large(_cost(0.011, 0.0), 0.05, at_hand)
    assert not is_large(_cost(0.009, 0.0), 0.05, at_hand)
    assert is_large(_cost(0.05, 0.0), 0.05, without, remedied)
    assert is_large(FindingCost(None, None, "unknown"), 0.05, without)


def test_little_time_of_guessed_sizes() -> None:
    """Where sizes are guessed, or the block is, it takes twice the share."""
    found = replace(strided_load(), assumptions=(), suggestion=Suggestion("pad it"))
    launch = found.launches[0]
    of_sizes = replace(found, assumptions=("stride >= 8",))
    of_block = replace(found, launches=(replace(launch, source="default", path=None),))
    for guessed in (of_sizes, of_block):
        assert not is_large(_cost(0.099, 0.0), 0.05, guessed)
        assert is_large(_cost(0.1, 0.0), 0.05, guessed)
        assert is_large(_cost(0.25, 0.0), 0.05, replace(guessed, suggestion=None))
    assert is_large(_cost(0.05, 0.0), 0.05, found)


def test_much_traffic() -> None:
    """A tenth of it counts in a kernel that has little to do, where L1 doesn't make up for it."""
    found = replace(strided_load(), assumptions=(), suggestion=Suggestion("pad it"))
    idle = replace(_cost(0.0, 0.5), limiter="latency")
    assert is_large(idle, 0.05, found)
    assert is_large(replace(idle, limiter="launch"), 0.05, found)
    assert is_large(idle, 0.05, replace(found, suggestion=None))
    assert not is_large(replace(idle, limiter="dram"), 0.05, found)
    assert not is_large(replace(idle, traffic_share=0.4), 0.05, found)
    assert not is_large(idle, 0.05, replace(found, is_absorbed=True))


def test_traffic_of_assumed_sizes() -> None:
    """With `stride >= 8` for an argument of which nothing is known, or for a grid that nothing gives, the launch is
    taken for a large one: if it is bound by latency even so, traffic is not what it will wait for."""
    found = replace(strided_load(), assumptions=(), suggestion=Suggestion("pad it"))
    launch = found.launches[0]
    idle = replace(_cost(0.0, 0.5), limiter="latency")
    assumed = replace(found, assumptions=("stride >= 8",))
    open_grid = replace(launch, site=LaunchSite(Place("k.cu", 9, 1, 9, 2), (256, 1, 1), (None, 1, 1), 0, 0))
    made_up = replace(launch, source="default", path=None)
    assert is_large(idle, 0.05, found)
    for of_unknown_size in (assumed, replace(found, launches=(open_grid,)), replace(found, launches=(made_up,))):
        assert not is_large(idle, 0.05, of_unknown_size)
        assert is_large(replace(idle, share=0.2), 0.05, of_unknown_size)


def test_waste_in_instantiations_for_doubles() -> None:
    cost, names = _cost(0.5, 0.5), ("k<float, 24>",)
    found = replace(strided_load(), instantiation="k<double, 24>", not_in=names, cost=cost)
    (held,) = held_for_their_place([found], ["a.cu"], 0.02, True)
    assert held.held_back == "doubles"
    for other in (replace(found, not_in=("k<float, 32>",)), replace(found, instantiation="k<float, 24>")):
        assert held_for_their_place([other], ["a.cu"], 0.02, True) == [other]
    assert held_for_their_place([found], ["a.cu"], 0.0, True) == [found]


def test_launches_that_tests_make() -> None:
    """They say nothing of the sizes that the product's kernels get."""
    found = strided_load()
    launch = replace(found.launches[0], path="tests/try.cu", line=1)
    tried = replace(found, launches=(launch,))
    paths = ["a.cu", "tests/try.cu", "tests/other.cu"]
    assert [d.held_back for d in held_for_their_place([tried], paths, 0.02, True)] == ["tests"]
    assert held_for_their_place([tried], ["a.cu", *["tests/try.cu"] * 3], 0.02, True) == [tried]
    both = replace(found, launches=(launch, replace(launch, path="run.cu")))
    assert held_for_their_place([both], paths, 0.02, True) == [both]


def test_what_is_known_of_one_launch_is_told() -> None:
    """Where the cost in another one is not known, a small one is all that is known."""
    small = replace(strided_load(), cost=_cost(0.0, 0.0), held_back="small")
    unknown = replace(small, cost=FindingCost(None, None, "unknown"), held_back=None)
    (merged,) = merge([small, unknown])
    assert merged.held_back == "small"
    (merged,) = merge([unknown, unknown])
    assert merged.held_back is None


def test_unknown_cost() -> None:
    advised = Suggestion("pad it")
    unknown = replace(strided_load(), assumptions=(), cost=FindingCost(None, None, "unknown"), suggestion=advised)
    assert marked(unknown, 0.02).held_back is None
    assert marked(replace(unknown, suggestion=None), 0.02).held_back == "guessed"
    assert marked(replace(unknown, assumptions=("k == 8",)), 0.02).held_back == "guessed"


def test_guessed_sizes_under_guessed_blocks() -> None:
    cost = FindingCost(0.5, 2.0, "l2")
    seen = replace(strided_load(), assumptions=("k == 8",), cost=cost)
    guessed = tuple(replace(launch, source="default") for launch in seen.launches)
    for_large = tuple(replace(launch, by_default=True) for launch in guessed)

    def reason(found: Diagnostic, has_launches: bool = True) -> str | None:
        (held,) = held_for_their_place([found], ["a.cu"], 0.02, has_launches)
        return held.held_back

    assert reason(seen) is None
    assert reason(replace(seen, launches=guessed)) == "guessed"
    assert reason(replace(seen, launches=guessed), has_launches=False) is None
    assert reason(replace(seen, launches=guessed, assumptions=())) is None
    assert reason(replace(seen, launches=(*guessed, *seen.launches))) is None
    assert reason(replace(seen, launches=for_large)) is None


def _json(capfd: pytest.CaptureFixture[str], *arguments: str) -> Any:
    run(["check", "--no-cache", "--format", "json", *arguments])
    return json.loads(capfd.readouterr().out)


def test_tests_beside_a_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("src", "tests"):
        Path(folder).mkdir()
    Path("src/a.cu").write_text(_POINTS.format(host=_ALLOCATED))
    Path("src/b.cu").write_text("__global__ void nothing() {}\nvoid run() { nothing<<<1, 32>>>(); }\n")
    # Not a copy, which would be one cause with the other.
    Path("tests/a.cu").write_text(_POINTS.format(host=_ALLOCATED).replace("+ 1]", "] * 2 + 1"))
    product = _json(capfd, ".", "--select", "CL101")
    assert [each["path"] for each in product["diagnostics"]] == ["src/a.cu"]
    assert product["summary"]["held_back"] == {"tests": 1}
    assert len(_json(capfd, ".", "--select", "CL101", "--min-share", "0")["diagnostics"]) == 2
    assert [each["path"] for each in _json(capfd, "tests", "--select", "CL101")["diagnostics"]] == ["tests/a.cu"]


def test_gaps_that_nobody_can_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Kernels that nothing launches are evaluated, and each finding says for which block; a header that is not there is
    something to act upon, once for all files that lack it."""
    monkeypatch.chdir(tmp_path)
    kernel = "__global__ void k(float* a) { a[threadIdx.x] = SCALE(1); }\n"
    Path("a.cu").write_text("__global__ void k(float* a) { a[threadIdx.x] = 1; }\n")
    quiet = _json(capfd, "a.cu")
    assert quiet["diagnostics"] == []
    assert quiet["summary"]["held_back"] == {"no-action": 1}
    assert [each["code"] for each in _json(capfd, "a.cu", "--show-gaps")["diagnostics"]] == ["CL902"]
    for name in ("b.cu", "c.cu"):
        Path(name).write_text(f'#include "sizes.h"\n{kernel.replace("k(", f"k_{name[0]}(")}')
    (found,) = _json(capfd, "b.cu", "c.cu")["diagnostics"]
    assert "most in the way: `sizes.h` was not found (1 kernel)" in found["message"]
    assert "the same in 1 more file" in found["message"]
