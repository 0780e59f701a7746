"""The analysis of whole files: launches, statements of the user, what is listed and what is left out."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from cudalint.facts import FileFacts, KernelFacts
from cudalint.host.executor.launching import HostLaunch
from cudalint.ir.nodes import FunctionRef
from cudalint.measure.providers.provider import Provider, Run
from cudalint.options.analysis import AnalysisOptions, ParameterValue
from cudalint.run.analysis import analyse_file
from cudalint.run.file_analysis import FileAnalysis
from cudalint.shortfalls import Shortfall
from cudalint.system.processes.time_limit import OutOfTime

COLUMN = """
__global__ void column(float *out, const float *in, int N) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < N && y < N) out[y * N + x] = in[x * N + y];
}
"""


def facts_of(tmp_path: Path, source: str, name: str = "a.cu", **options: object) -> FileFacts:
    path = tmp_path / name
    path.write_text(source)
    return analyse_file(str(path), AnalysisOptions(**options))  # type: ignore[arg-type]


def only_kernel(facts: FileFacts) -> KernelFacts:
    (kernel,) = facts.kernels
    return kernel


def sectors(kernel: KernelFacts, operation: str) -> list[float | None]:
    return [r.sectors_per_request for a in kernel.accesses if a.operation == operation for r in a.results]


def test_an_annotated_launch_may_name_macros_and_constants(tmp_path: Path) -> None:
    head = "#define TILE 16\nconstexpr int ROWS = TILE / 2;\nenum { MANY = 64 };\n"
    note = "// cudalint: launch(block = dim3(TILE, ROWS), grid = dim3(MANY, MANY))"
    (launch,) = only_kernel(facts_of(tmp_path, head + note + COLUMN)).launches
    assert (launch.block, launch.grid, launch.source) == ((16, 8, 1), (64, 64, 1), "annotation")


def test_an_annotation_that_names_nothing_known_is_unusable(tmp_path: Path) -> None:
    kernel = only_kernel(facts_of(tmp_path, "// cudalint: launch(block = dim3(NOBODY, 8))" + COLUMN))
    assert kernel.launches[0].source == "default"
    assert any("`NOBODY` is not known here" in found.message for found in kernel.unusable)


def test_divisibility_is_an_assumption_until_the_user_states_it(tmp_path: Path) -> None:
    """A warp's 128 bytes are in 4 sectors, or 5 where rows begin within one, which those of 8 * k floats never do. What
    the guard leaves of a warp is one sector at least."""
    launch = "// cudalint: launch(block = dim3(32, 8), grid = dim3(64, 64))\n"
    for note, most in (("", 5.0), ("// cudalint: assume(N % 8 == 0)", 4.0)):
        kernel = only_kernel(facts_of(tmp_path, launch + note + COLUMN))
        (store,) = (a for a in kernel.accesses if a.operation == "store")
        assert [(r.sectors_per_request, r.sectors_range) for r in store.results] == [(4.0, (1.0, most))]


@pytest.mark.parametrize(
    "note",
    ["#define A 4\n// cudalint: assume(N % (2 * A) == 0)", "constexpr int A = 8;\n// cudalint: assume(N % A == 0)",
     "// cudalint: assume(N % sizeof(double) == 0)"],
)  # fmt: skip
def test_assumptions_may_use_constants_of_the_file(tmp_path: Path, note: str) -> None:
    launch = "// cudalint: launch(block = dim3(32, 8), grid = dim3(64, 64))\n"
    kernel = only_kernel(facts_of(tmp_path, note.replace("// cudalint", launch + "// cudalint") + COLUMN))
    (store,) = (a for a in kernel.accesses if a.operation == "store")
    assert [(r.sectors_per_request, r.sectors_range) for r in store.results] == [(4.0, (1.0, 4.0))]
    assert not kernel.gaps


def test_an_annotated_assumption_gives_a_parameter_a_constant(tmp_path: Path) -> None:
    """Rows of 100 floats: as with `--param`, below."""
    note = "#define ROW (10 * 10)\n// cudalint: launch(block = dim3(32, 8), grid = dim3(3, 12))\n"
    facts = facts_of(tmp_path, note + "// cudalint: assume(N == ROW)" + COLUMN)
    assert sectors(only_kernel(facts), "store") == [4.5]


def test_equations_of_several_sizes_hold_together_beside_sizes_that_nothing_gives(tmp_path: Path) -> None:
    """Each thread stores a run of `rows` floats, which nothing gives: with what is usual for it, 8 * 4096 rows would
    have more elements than an index has numbers, and it is that size which has to be a smaller one."""
    source = """
// cudalint: assume(b == 8, m == 4096)
__global__ void fill(float *out, int b, int m, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.y >= b || i >= m) return;
  out += blockIdx.y * m * rows + i * rows;
  for (int l = 0; l < rows; l++) out[l] = 0;
}
void launch(float *out, int b, int m, int rows) {
  fill<<<dim3(m / 256 + (m % 256 > 0), b), 256>>>(out, b, m, rows);
}
"""
    (launch,) = only_kernel(facts_of(tmp_path, source)).launches
    assert launch.grid == (4096 // 256, 8, 1)


def test_a_stride_is_named_by_a_size_that_is_given_and_not_by_a_multiple_of_another_one(tmp_path: Path) -> None:
    """The launch has `b` rows of blocks, and 4 * 8 = 32 by chance."""
    source = """
__global__ void fill(float *out, int b, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.y < b) for (int l = 0; l < rows; l++) out[i * rows + l] = 0;
}
void launch(float *out, int b, int rows) { fill<<<dim3(4, b), 256>>>(out, b, rows); }
"""
    params = ParameterValue(None, "b", "8"), ParameterValue(None, "rows", "32")
    (access,) = only_kernel(facts_of(tmp_path, source, params=params)).accesses
    assert [r.strides and r.strides.sized for r in access.results] == ["rows"]


def test_an_annotated_assumption_about_nothing_is_unusable(tmp_path: Path) -> None:
    kernel = only_kernel(facts_of(tmp_path, "// cudalint: assume(N % NOBODY == 0)" + COLUMN))
    message = "`assume(N % NOBODY == 0)` could not be evaluated: `NOBODY` is not known here"
    assert [found.message for found in kernel.unusable] == [message]
    kernel = only_kernel(facts_of(tmp_path, COLUMN, assumes=("NOBODY > 3",)))
    assert not kernel.gaps and not kernel.unusable


def test_assumptions_about_fields_of_records(tmp_path: Path) -> None:
    source = """
struct Shape { int rows, width; };
// cudalint: launch(block = dim3(32, 8), grid = dim3(3, 12))
// cudalint: assume(s.width == 100)
__global__ void column(float *out, Shape s) {
  out[(blockIdx.y * 8 + threadIdx.y) * s.width + blockIdx.x * 32 + threadIdx.x] = 1;
}"""
    assert sectors(only_kernel(facts_of(tmp_path, source)), "store") == [4.5]


def test_a_parameter_value_is_used_as_it_is(tmp_path: Path) -> None:
    """Rows of 100 floats start 400 bytes apart: every second one is 16 bytes into a sector, 4.5 sectors on average."""
    params = (ParameterValue("column", "N", "100"),)
    facts = facts_of(tmp_path, COLUMN, params=params, block=(32, 8, 1), grid=(3, 12, 1))
    assert sectors(only_kernel(facts), "store") == [4.5]


def test_a_launch_in_a_neighbouring_file_counts(tmp_path: Path) -> None:
    declaration = "__global__ void column(float *, const float *, int);\n"
    caller = "int main() { float *p; cudaMalloc(&p, 4 << 20); column<<<dim3(8, 8), dim3(16, 16)>>>(p, p, 128); }"
    (tmp_path / "main.cu").write_text(declaration + caller)
    (launch,) = only_kernel(facts_of(tmp_path, COLUMN)).launches
    assert (launch.block, launch.source, launch.parameters["N"]) == ((16, 16, 1), "launch-site", 128)


def test_default_values_win_over_what_the_command_line_may_say(tmp_path: Path) -> None:
    main = """
int main(int argc, char **argv) {
  int n = 512; float *p;
  if (argc > 1) n = atoi(argv[1]);
  cudaMalloc(&p, n * n * sizeof(float));
  column<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(p, p, n);
}"""
    (launch,) = only_kernel(facts_of(tmp_path, "#include <stdlib.h>\n" + COLUMN + main)).launches
    assert launch.grid == (16, 64, 1)
    assert "N" not in launch.parameters, "what the command line may change is assumed"


def test_failed_reads_do_not_end_the_program(tmp_path: Path) -> None:
    main = """
static bool read(const char *name) { return false; }
int main() {
  float *p; cudaMalloc(&p, 1 << 20);
  if (!read("input.pgm")) return 1;
  column<<<dim3(4, 16), dim3(32, 8)>>>(p, p, 128);
}"""
    (launch,) = only_kernel(facts_of(tmp_path, COLUMN + main)).launches
    assert launch.source == "launch-site"


def test_a_block_that_no_size_changes_is_known(tmp_path: Path) -> None:
    main = "void run(float *p, int n) { column<<<64, n < 256 ? 128 + 128 : 256>>>(p, p, n); }"
    (launch,) = only_kernel(facts_of(tmp_path, COLUMN + main)).launches
    assert (launch.block, launch.source) == ((256, 1, 1), "launch-site")


def test_a_block_that_the_launch_leaves_open_is_said_to_be_assumed(tmp_path: Path) -> None:
    main = "void run(float *p, int n, int threads) { column<<<64, threads>>>(p, p, n); }"
    (launch,) = only_kernel(facts_of(tmp_path, COLUMN + main)).launches
    assert launch.source == "default"
    assert launch.assumptions == ("block = 256 (the launch leaves it open)",)


def test_an_open_block_of_quotients_is_whole() -> None:
    """As many vectors as a head is wide, beside as many heads: 32 of them are 4 * 8 * 32 elements of 8 heads."""
    kernel = "__global__ void k(float4 *a) { a[threadIdx.y * blockDim.x + threadIdx.x] = float4(); }"
    host = "void run(float4 *a, int width, int heads) { width >>= 2; k<<<9, dim3(width / heads, heads)>>>(a); }"
    source = f"{kernel}\n{host}\n"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [launch] = facts.launches
    assert launch.block == (32, 8, 1)
    assert launch.assumptions == ("block = 32x8 (the launch leaves it open)",)


def test_an_open_block_has_a_warp_along_x() -> None:
    kernel = "template <int T> __global__ void k(int *a) { a[threadIdx.y * blockDim.x + threadIdx.x] = T; }"
    host = "void run(int *a, int lanes) { k<8><<<9, dim3(lanes, 256 / lanes)>>>(a); }"
    source = f"{kernel}\n{host}\n"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert facts.launches[0].block == (32, 8, 1)


@pytest.mark.parametrize(
    ("index", "block"),
    [
        ("threadIdx.x", (256, 1, 1)),
        ("threadIdx.y * blockDim.x + threadIdx.x", (32, 8, 1)),
        ("(threadIdx.z * 4 + threadIdx.y) * 32 + threadIdx.x", (32, 4, 2)),
    ],
)
def test_an_open_block_is_spread_over_the_axes_that_the_kernel_asks_for(
    tmp_path: Path, index: str, block: tuple[int, int, int]
) -> None:
    kernel = f"__global__ void k(float *a) {{ a[{index}] = 1; }}\n"
    main = "void sizes(dim3 &grid, dim3 &block);\nvoid run(float *p) { dim3 g, b; sizes(g, b); k<<<g, b>>>(p); }"
    (launch,) = only_kernel(facts_of(tmp_path, kernel + main)).launches
    assert launch.block == block


def test_a_block_is_not_small_since_something_is_divided_by_it(tmp_path: Path) -> None:
    main = """
int main(int argc, char **argv) {
  int threads = atoi(argv[1]), parts = 4096 / threads;
  float *p; cudaMalloc(&p, parts * sizeof(float));
  column<<<parts, threads>>>(p, p, 128);
}"""
    (launch,) = only_kernel(facts_of(tmp_path, "#include <stdlib.h>\n" + COLUMN + main)).launches
    assert (launch.block, launch.grid) == ((256, 1, 1), (16, 1, 1))


def test_accesses_that_no_lane_reaches_are_listed(tmp_path: Path) -> None:
    source = """
__global__ void k(float *a, bool extra) { if (extra) a[threadIdx.x * 2] = 1; a[threadIdx.x] = 2; }
int main() { float *p; cudaMalloc(&p, 4096); k<<<1, 32>>>(p, false); }"""
    kernel = only_kernel(facts_of(tmp_path, source))
    assert [r.status for a in kernel.accesses for r in a.results] == ["unreached", "exact"]


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        ("if (blockDim.x <= 32) { a[t] = 1; return; } a[2 * t] = 2; a[3 * t] = 3;", "exact unreached unreached"),
        ("for (int i = 0; i < 2; i++) { if (blockDim.x == 32) break; a[t] = 1; } a[2 * t] = 2;", "unreached exact"),
        # What `x` becomes has no closed form, so that the loop would be counted out: there is nothing to count.
        ("int x = 7; for (int i = 64; i < blockDim.x; i++) { if (t < x) a[t] = 1; x = x * x + t; } a[x] = 2;",
         "unreached exact"),
        # The compiler makes no code of what constants never come to.
        ("int x = 7; while (x < 6) { if (t < x) a[t] = 1; else break; x = x * x + t; } a[x] = 2;", "exact"),
        # The second iteration gets there.
        ("for (int i = 0; i < 2; i++) { if (i == 0) continue; a[t] = 1; }", "exact"),
        # The loads of `helper` come first, since it is defined above.
        ("a[t] = helper(a);", "exact unreached exact"),
    ],
)
def test_accesses_behind_an_exit_of_all_lanes_are_listed(body: str, statuses: str, tmp_path: Path) -> None:
    source = f"""
__device__ float helper(float *a) {{ if (blockDim.x == 32) return a[threadIdx.x]; return a[3 * threadIdx.x]; }}
__global__ void k(float *a) {{ int t = threadIdx.x; {body} }}
int main() {{ float *p; cudaMalloc(&p, 4096); k<<<1, 32>>>(p); }}"""
    kernel = only_kernel(facts_of(tmp_path, source))
    assert [r.status for access in kernel.accesses for r in access.results] == statuses.split()


def test_null_arguments_hide_no_access(tmp_path: Path) -> None:
    source = """
__global__ void k(float *a, const float *bias) {
  float b = 0; if (bias) b = bias[threadIdx.x]; a[threadIdx.x] = b;
}
int main() { float *p; cudaMalloc(&p, 4096); k<<<1, 32>>>(p, nullptr); }"""
    kernel = only_kernel(facts_of(tmp_path, source))
    assert {a.array: a.results[0].status for a in kernel.accesses} == {"a": "exact", "bias": "unreached"}


@pytest.mark.parametrize("text", ["", "\n", "int main() { return 0; }\n"])
def test_files_without_kernels_are_fine(tmp_path: Path, text: str) -> None:
    assert facts_of(tmp_path, text).kernels == ()


def test_a_strange_type_costs_only_what_depends_on_it(tmp_path: Path) -> None:
    source = '#include "nowhere.h"\n' + COLUMN + "__global__ void other(Strange s, float *a) { a[threadIdx.x] = 1; }\n"
    facts = facts_of(tmp_path, source)
    assert facts.status == "partial"
    assert {k.name for k in facts.kernels} == {"column", "other"}


def test_a_file_that_takes_too_long_keeps_what_it_has(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, COLUMN + COLUMN.replace("column", "other"), time_limit=0)
    assert facts.status == "partial"
    left = "launches of `column` and `other` were not evaluated"
    message = f"the time limit of 0 s is too short: {left}; --time-limit gives more time"
    assert facts.failures == (Shortfall(message, "warning", ("column", "other"), 2, is_late=True),)
    assert [kernel.name for kernel in facts.kernels] == ["column", "other"]
    assert all("takes too long" in kernel.gaps[0].reason for kernel in facts.kernels)
    assert facts_of(tmp_path, COLUMN).failures == ()


def test_what_is_left_of_many_kernels_is_one_line(tmp_path: Path) -> None:
    source = "".join(f"__global__ void k{number}(float *a) {{ a[threadIdx.x] = 1; }}\n" for number in range(300))
    (failure,) = facts_of(tmp_path, source, time_limit=0).failures
    assert (failure.number, failure.kernels) == (300, ("k0", "k1", "k2", "k3", "k4"))
    assert "`k0`, `k1`, `k2`, `k3`, `k4` and 295 more kernels" in failure.message
    assert len(failure.message) < 200


@pytest.mark.parametrize(
    ("stage", "kernels", "left"),
    [
        ("Listing", [], "to parse it takes longer"),
        ("HostCode", ["column"], "none of its kernels were evaluated, since the host code takes longer"),
    ],
)
def test_what_comes_before_the_kernels_may_take_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, kernels: list[str], left: str
) -> None:
    def endless(*_: object, **__: object) -> None:
        raise OutOfTime

    module = "cudalint.run.file_analysis" if stage == "HostCode" else "cudalint.run.analysis"
    monkeypatch.setattr(f"{module}.{stage}", endless)
    facts = facts_of(tmp_path, COLUMN)
    assert facts.status == "partial"
    assert [kernel.name for kernel in facts.kernels] == kernels
    message = f"the time limit of 20 s is too short: {left}; --time-limit gives more time"
    assert facts.failures == (Shortfall(message, "warning", is_late=True),)


def test_each_kernel_is_listed_with_its_scalar_parameters(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, COLUMN)
    assert facts.parameters == {("column", "N")}


def test_a_value_for_a_pointer_changes_nothing(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, COLUMN, params=(ParameterValue(None, "in", "64"),))
    assert sectors(only_kernel(facts), "load") == sectors(only_kernel(facts_of(tmp_path, COLUMN)), "load")


def test_a_parameter_whose_type_points_to_itself(tmp_path: Path) -> None:
    text = "struct Node { Node *next; int value; };\n__global__ void k(Node *n) { n[threadIdx.x].value = 1; }\n"
    path = tmp_path / "list.cu"
    path.write_text(text, encoding="utf-8")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert [leaf.name for parameter in kernel.parameters for leaf in parameter.leaves] == ["n"]


_SPELLED = """
#define FIRST(p) p[threadIdx.x]
#define STORE FIRST(out) = 0
/* Größe */ __global__ void spelled(float *out, const float4 *in, int n) {
  out[threadIdx.x
      + 32] = in[threadIdx.x].y;
  FIRST(out) += 1;
  STORE;
  *out = 1;
}
"""


def test_each_access_has_the_text_that_stands_there(tmp_path: Path) -> None:
    kernel = only_kernel(facts_of(tmp_path, _SPELLED))
    spelled = {access.expression for access in kernel.accesses}
    assert spelled >= {"out[threadIdx.x + 32]", "in[threadIdx.x].y", "*out"}
    assert all(spelled), spelled


def test_kernels_behind_the_deadline_are_only_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of them would take as long again to be lowered, and nothing would be left of the file."""
    begun = []
    original = FileAnalysis._kernel

    def counted(self: FileAnalysis, ref: FunctionRef, sites: Sequence[HostLaunch]) -> KernelFacts | None:
        begun.append(ref.name)
        return original(self, ref, sites)

    monkeypatch.setattr(FileAnalysis, "_kernel", counted)
    names = [f"k{number}" for number in range(5)]
    facts = facts_of(tmp_path, "".join(COLUMN.replace("column", name) for name in names), time_limit=0)
    assert [kernel.name for kernel in facts.kernels] == names
    assert begun == ["k0"]
    assert all("takes too long" in kernel.gaps[0].reason for kernel in facts.kernels)


_OF_MANY = """
template <int N> __global__ void many(float *out) { out[threadIdx.x * N] = 0; }
__global__ void longer_one(
  float *out
) {
  out[threadIdx.x] = 0;
}
void run(float *out) {
  many<1><<<1, 64>>>(out);
  many<2><<<1, 64>>>(out);
  many<3><<<1, 64>>>(out);
  longer_one<<<1, 64>>>(out);
}
"""


def _order(monkeypatch: pytest.MonkeyPatch, over_after: int | None = None) -> list[str]:
    """The instances as they are evaluated; time is over after so many of them."""
    begun: list[str] = []
    original = FileAnalysis._kernel

    def counted(self: FileAnalysis, ref: FunctionRef, sites: Sequence[HostLaunch]) -> KernelFacts | None:
        facts = original(self, ref, sites)
        begun.append(facts.instantiation if facts is not None else "")
        if len(begun) == over_after:
            self.deadline = 0.0
        return facts

    monkeypatch.setattr(FileAnalysis, "_kernel", counted)
    return begun


def test_each_kernel_comes_before_further_instances_of_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = _order(monkeypatch)
    facts = facts_of(tmp_path, _OF_MANY)
    assert begun == ["many<1>", "longer_one", "many<2>", "many<3>"]
    assert [kernel.instantiation for kernel in facts.kernels] == ["many<1>", "many<2>", "many<3>", "longer_one"]
    assert not any(kernel.gaps for kernel in facts.kernels)


def test_after_much_work_further_instances_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudalint.run.file_analysis._MUCH_WORK", 1)
    begun = _order(monkeypatch)
    facts = facts_of(tmp_path, _OF_MANY)
    assert begun == ["many<1>", "longer_one"]
    assert [gap.reason for gap in facts.kernels[0].gaps] == ["2 more instantiations of it were not evaluated"]
    assert not facts.failures
    assert facts.status == "ok"


def test_of_kernels_with_instances_left_at_the_deadline_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _order(monkeypatch, over_after=3)
    facts = facts_of(tmp_path, _OF_MANY)
    assert len(begun) == 3
    assert [kernel.instantiation for kernel in facts.kernels] == ["many<1>", "many<2>", "longer_one"]
    assert [gap.reason for gap in facts.kernels[0].gaps] == ["1 more instantiations of it were not evaluated"]
    (failure,) = facts.failures
    assert "further instantiations of `many` were not evaluated" in failure.message
    assert (failure.severity, failure.kernels, failure.number) == ("warning", ("many",), 1)
    assert facts.status == "partial"


_TWICE = COLUMN + "void run(float *a, float *b) { column<<<4, dim3(32, 8)>>>(a, b, 64); column<<<4, 64>>>(a, b, 64); }"


@pytest.mark.parametrize(
    ("provider", "launches"),
    [("accesses.AccessCollector", {0}), ("branches.BranchCollector", {0, 1}), ("races.RaceCollector", {0, 1})],
)
def test_what_is_known_of_a_kernel_stays_where_time_runs_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, launches: set[int]
) -> None:
    """Time is over while a provider is shown the second launch: of what others have nothing is lost."""
    module, _, name = provider.partition(".")
    collector = getattr(importlib.import_module(f"cudalint.measure.providers.{module}"), name)
    add = collector.add

    def interrupted(self: Provider, run: Run) -> None:
        add(self, run)
        if run.index == 1:
            raise OutOfTime

    monkeypatch.setattr(collector, "add", interrupted)
    facts = facts_of(tmp_path, _TWICE)
    kernel = only_kernel(facts)
    assert [launch.block for launch in kernel.launches] == [(32, 8, 1), (64, 1, 1)]
    assert [{result.launch for result in access.results} for access in kernel.accesses] == [launches] * 2
    assert [gap.kind for gap in kernel.gaps] == ["time"]
    assert facts.status == "partial"


def test_sizes_of_accessors_are_called_as_the_source_asks_for_them(tmp_path: Path) -> None:
    """For a tensor with one row the quotient is 0."""
    source = """#include <torch/extension.h>
__global__ void mix(torch::PackedTensorAccessor32<float, 2> in) {
  for (int i = threadIdx.x; i < in.size(1); i += blockDim.x) in[blockIdx.x][i] += 1;
}
void launch(torch::Tensor in) { mix<<<in.size(0) / 32, 128>>>(in.packed_accessor32<float, 2>()); }
"""
    (fault, *_) = only_kernel(facts_of(tmp_path, source)).launch_faults
    assert dict(fault.sizes) == {"in.size(0)": 1}
