"""`cudalint diff`: two versions of kernels beside each other, and gates."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from handmade import TILE_SOURCE, column_read, kernel, launch
from msgspec.structs import replace

from cudalint.cli.comparing.comparison_json import document
from cudalint.cli.comparing.gates import GateError, judged, parse
from cudalint.cli.comparing.markdown import lines as markdown_lines
from cudalint.cli.comparing.pairing import compare
from cudalint.cli.comparing.reported import Report
from cudalint.cli.comparing.tables import text_lines
from cudalint.cli.comparing.versions import Version, is_cut
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import Failure, ShownKernel
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.style import Style
from cudalint.run.unchecked import Unchecked
from cudalint.run.unevaluated import out_of_time
from cudalint.shortfalls import Shortfall, of_kernels

Run = Callable[..., Any]

_OLD = """__global__ void turned(float *out, const float *in, int n) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
__global__ void scaled(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
void run(float *out, const float *in) {
    turned<<<dim3(32, 32), dim3(32, 32)>>>(out, in, 1024);
    scaled<<<(1000000 + 255) / 256, 256>>>(out, 1000000);
}
"""
_NEW = _OLD.replace("t[32][32]", "t[32][33]").replace("x[i] *= 2", "x[2 * i] *= 2")


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.cu").write_text(_OLD)
    (tmp_path / "new.cu").write_text("// A line more.\n" + _NEW)
    return "old.cu", "new.cu"


def test_figures_and_findings_of_files_with_other_names(real_cudalint: Run, versions: tuple[str, str]) -> None:
    result = real_cudalint("diff", *versions)
    assert result.status == 0
    assert "turned (old.cu:1 -> new.cu:2), block 32x32, grid 32x32\n" in result.out
    rows = [line.split() for line in result.out.splitlines()]
    assert ["wavefronts", "per", "request", "16.5", "->", "1", "-15.5"] in rows
    assert ["shared", "memory", "4", "KiB", "->", "4224", "B", "+128", "B"] in rows
    assert "  shared load of `t`, line 6: 32 wavefronts per request -> 1 wavefront per request\n" in result.out
    assert "  - CL201 old.cu:5: 32-way bank conflict on `t`" in result.out
    assert "  + CL101 new.cu:10: 8 sectors per request, ideal 4" in result.out


def test_a_version_beside_itself_is_the_same(real_cudalint: Run, versions: tuple[str, str]) -> None:
    assert real_cudalint("diff", versions[0], versions[0]).out == "2 launches are the same\n"


def test_json_has_both_sides(real_cudalint: Run, versions: tuple[str, str]) -> None:
    result = real_cudalint("diff", *versions, "--format", "json", "--gate", "time <= 1.05")
    found = json.loads(result.out)
    assert result.status == 1
    assert (found["schema"], found["target"], found["base_target"]) == (1, "a100", "a100")
    turned, scaled = found["kernels"]
    assert (turned["base"]["figures"]["wavefronts_per_request"], turned["head"]["figures"]["shared"]) == (16.5, 4224)
    assert turned["base"]["figures"]["registers"] is None
    assert [finding["code"] for finding in turned["vanished"]] == ["CL201"]
    assert scaled["accesses"][0] == {
        "space": "global", "operation": "load", "array": "x", "base_line": 9, "head_line": 10,
        "base": "4 sectors per request", "head": "8 sectors per request",
    }  # fmt: skip
    (gate,) = found["gates"]
    assert (gate["passes"], [each["kernel"] for each in gate["failed"]]) == (False, ["scaled"])


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("time <= 1.5", ""),
        ("turned: time < 1", ""),
        ("scaled: time <= 1.05", "scaled, block 256, grid 3907: time is 1."),
        ("sectors_per_request <= base", "sectors_per_request is 8 (before 4)"),
        ("sectors_per_request <= base + 4", ""),
        ("sectors <= base * 1.5", "sectors is 2x of the base"),
        ("wavefronts_per_request <= 1", ""),
        ("shared <= 4096", "turned, block 32x32, grid 32x32: shared is 4224 B"),
        ("occupancy >= 50%", ""),
        ("new_findings == 0", "scaled: new_findings is 1"),
        ("findings <= base", "findings is 1 (before 0)"),
    ],
)
def test_gates(real_cudalint: Run, versions: tuple[str, str], gate: str, said: str) -> None:
    result = real_cudalint("diff", *versions, "--gate", gate)
    assert result.status == (1 if said else 0)
    assert (f"gate failed: `{gate}`: " in result.out and said in result.out) if said else "1 gate passed" in result.out


@pytest.mark.parametrize("gate", ["registers <= 255", "registers <= base"])
def test_a_gate_on_what_nobody_knows_is_not_checked(
    real_cudalint: Run, versions: tuple[str, str], tmp_path: Path, gate: str
) -> None:
    """Whatever it is compared with, in no format it passes; the other gate does."""
    wanted = ("--gate", gate, "--gate", "time <= 2", "--output", f"markdown={tmp_path / 'a.md'}")
    result = real_cudalint("diff", *versions, *wanted, "--output", f"json={tmp_path / 'a.json'}")
    assert result.status == 2
    why = "registers of `turned` and `scaled` are not known; --ptxas compiles to learn them, --cubin reads them"
    assert f"gate not checked: `{gate}`: {why}\n" in result.out
    markdown = (tmp_path / "a.md").read_text()
    assert f"**Gate not checked**: `{gate}`: {why}\n" in markdown
    assert "passed" not in result.out + markdown
    unchecked, other = json.loads((tmp_path / "a.json").read_text())["gates"]
    assert (unchecked["passes"], unchecked["failed"], other["passes"]) == (False, [], True)
    assert [each["kernel"] for each in unchecked["not_checked"]] == ["turned", "scaled"]
    assert unchecked["not_checked"][0]["reason"].startswith("registers of turned are not known; --ptxas")


def test_a_kernel_that_was_not_evaluated_in_full_is_not_compared() -> None:
    """Its figures and findings are what there was time for. The other kernel is compared as ever."""
    slower = replace(launch(), grid=(1, 1, 1))
    sides = [
        Version(
            ".",
            (ShownKernel(kernel(launches=(one,)), "a100"), ShownKernel(kernel(name="other", launches=(one,)), "a100")),
            (column_read(),) if one is slower else (), (), "a100", SourceLines({"tile.cu": TILE_SOURCE}),
            cut=cut,
        )
        for one, cut in ((launch(), frozenset()), (slower, frozenset({("tile.cu", "tile32")})))
    ]  # fmt: skip
    comparison = compare(*sides, lambda _: True)
    gates = [parse("new_findings == 0")]
    verdicts = list(judged(gates, comparison, ""))
    assert {each.pair.either.facts.name for each in comparison.launches} == {"other"}
    assert (comparison.appeared, [each.is_checked for each in verdicts]) == ((), [False])
    report = Report(comparison, *sides, (), gates, verdicts)
    cut = "`tile32`, whose evaluation the time limit cut short"
    text = list(text_lines(report, Style()))
    assert f"not compared (time limit): {cut}" in text
    why = "the time limit cut the evaluation of `tile32` short; --time-limit gives more time"
    assert text[-1] == f"gate not checked: `new_findings == 0`: {why}"
    assert f"Not compared (time limit): {cut}." in list(markdown_lines(report))
    assert [each["kernel"] for each in document(report)["cut_short"]] == ["tile32"]


def test_what_time_ran_out_for_may_be_any_kernel_that_is_not_named() -> None:
    own, other = (ShownKernel(kernel(name=name), "a100") for name in ("a", "b"))
    elsewhere = ShownKernel(kernel("other.cu"), "a100")
    unchecked = Unchecked()
    unchecked.late("CL301", "a")
    (late,) = unchecked.shortfalls()
    limit = AnalysisOptions()
    lines = [
        (late, (True, False, False)),
        (of_kernels(["a"], out_of_time("launches of {} were left", limit), is_late=True), (True, False, False)),
        (of_kernels([f"k{n}" for n in range(9)], "launches of {}", is_late=True), (True, True, False)),
        (Shortfall("not all launches are known", is_late=True), (True, True, False)),
    ]
    for shortfall, costs in lines:
        failure = Failure.of("tile.cu", shortfall)
        assert failure.is_late
        assert tuple(is_cut(failure, each) for each in (own, other, elsewhere)) == costs


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("tme <= 1", "no figure is called `tme`; did you mean `time`?"),
        ("time 1.05", "`time 1.05` is no gate such as 'registers <= 168'"),
        ("time <= fast", "`time <= fast` is no gate"),
        ("time =< 1", "`time =< 1` is no gate"),
        ("", "`` is no gate"),
        ("other: time <= 1", "no kernel is called `other`"),
        ("new_findings <= base", "`new_findings` has no base"),
    ],
)
def test_a_bad_gate_is_one_line(real_cudalint: Run, versions: tuple[str, str], gate: str, said: str) -> None:
    result = real_cudalint("diff", *versions, "--gate", gate)
    assert result.status == 2
    assert said in result.err
    assert result.err.count("\n") == 1
    assert not result.out


def test_what_is_not_told_as_a_difference_fails_no_gate(real_cudalint: Run, versions: tuple[str, str]) -> None:
    """A block more of 3,907: less than the hundredths that are shown."""
    old, _ = versions
    Path("near.cu").write_text(_OLD.replace("1000000", "1000200"))
    done = real_cudalint("diff", old, "near.cu", "--gate", "scaled: time <= 1.0")
    assert "1 gate passed" in done.out
    assert done.status == 0


def test_names_with_colons_can_have_gates() -> None:
    gate = parse("a::b<float> : registers<=168")
    assert (gate.kernel, gate.name, gate.sign, gate.number) == ("a::b<float>", "registers", "<=", 168)
    with pytest.raises(GateError):
        parse("a::b:")


_SWEEP = """__global__ void swept(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
void run(float *out, const float *in) {
    swept<<<1 << 12, 256>>>(out, in, 1 << 20);
    swept<<<1 << 11, 512>>>(out, in, 1 << 20);
    swept<<<1, 32>>>(out, in, 8);
}
"""


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A load of every second element, of which the launch of 8 threads asks for 2 sectors in the place of 1, and the
    others for 8 in the place of 4."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.cu").write_text(_SWEEP)
    (tmp_path / "new.cu").write_text(_SWEEP.replace("in[i]", "in[i * 2]"))
    return "old.cu", "new.cu"


def test_launches_that_tell_the_same_are_told_once(real_cudalint: Run, sweep: tuple[str, str]) -> None:
    lines = real_cudalint("diff", *sweep).out.splitlines()
    assert lines[0] == "swept (old.cu:1 -> new.cu:1), 3 launches"
    apart = [line for line in lines if line.startswith("  block ")]
    both = "block 256, grid 4096 and block 512, grid 2048: "
    assert any(line.strip().startswith(both) and "sectors per request 4 -> 6 (+2)" in line for line in apart)
    assert any(line.strip().startswith("block 32, grid 1: ") for line in apart)
    assert sum("swept" in line for line in lines) == 1
    assert sum("load of `in`" in line for line in lines) == len(apart) == 2


def test_markdown_has_a_row_for_a_kernel(real_cudalint: Run, sweep: tuple[str, str]) -> None:
    out = real_cudalint("diff", *sweep, "--format", "markdown", "--gate", "sectors_per_request <= base").out
    (row,) = (line for line in out.splitlines() if line.startswith("| `"))
    assert row.startswith("| `swept`<br>`")
    assert "<br>and 2 more launches; each takes " in row
    assert "| 4 → **6** (worse) |" in row
    assert out.count("**Gate failed**") == 1
    assert "**Gate failed**: `sectors_per_request <= base`: `swept`, 256, " in out
    assert out.rstrip().endswith("sectors_per_request is 6 (before 4), and 2 more launches")


def test_markdown_begins_with_errors(real_cudalint: Run, tmp_path: Path) -> None:
    """Then come warnings, then the table, then what is gone, with the lines that it had."""
    racing = _OLD.replace("    __syncthreads();\n", "").replace("x[i] *= 2", "x[2 * i] *= 2")
    for name, text in (("old.cu", _OLD), ("new.cu", racing)):
        (tmp_path / name).write_text(text)
    ways = [(f"{tmp_path}/old.cu", f"{tmp_path}/new.cu"), (f"{tmp_path}/new.cu", f"{tmp_path}/old.cu")]
    there, back = (real_cudalint("diff", *each, "--format", "markdown").out.splitlines() for each in ways)
    told = [line for line in there if line.startswith(("- **", "| kernel"))]
    begun = [line.split(f" {tmp_path}")[0] for line in told[:2]]
    assert begun == ["- **new error**: CL301", "- **new warning**: CL101"]
    assert "new.cu:4 in `turned`: race on `t[" in told[0] and told[-1].startswith("| kernel")
    gone = [line for line in back if line.startswith("- gone")]
    assert any(line.startswith("- gone: CL301 ") and "new.cu, old line 4 in `turned`: " in line for line in gone)
    (table,) = (number for number, line in enumerate(back) if line.startswith("| kernel"))
    assert back.index(gone[0]) > table


def test_launches_of_one_block_and_grid_are_told_apart_by_their_lines(real_cudalint: Run, tmp_path: Path) -> None:
    """Two alike are told with their number; one whose argument is another one, by the line that it is launched in."""
    launched = "    swept<<<1, 32>>>(out, in, 32);\n"
    text = _SWEEP[: _SWEEP.index("    swept<<<")] + launched * 2 + launched.replace("32);", "8);") + "}\n"
    (tmp_path / "old.cu").write_text(text)
    (tmp_path / "new.cu").write_text(text.replace("in[i]", "in[i * 2]"))
    out = real_cudalint("diff", str(tmp_path / "old.cu"), str(tmp_path / "new.cu")).out
    assert len([line for line in out.splitlines() if line.startswith("  block 32, grid 1 at line")]) == 2


def test_markdown_says_what_comes_from_a_repository_as_text(real_cudalint: Run, tmp_path: Path) -> None:
    """Names of files mean nothing to whoever renders them."""
    folders = [tmp_path / name for name in ("old", "new")]
    for folder, text in zip(folders, (_SWEEP, _SWEEP.replace("in[i]", "in[i * 2]")), strict=True):
        folder.mkdir()
        (folder / "a|<b>@x`.cu").write_text(text)
    out = real_cudalint("diff", *map(str, folders), "--format", "markdown").out
    (row,) = (line for line in out.splitlines() if line.startswith("| `swept`"))
    assert "/a|<b>@x'.cu</code> | " in unescape(row)
    assert "@" not in row and "<b>" not in row and "a|" not in row


def test_comparisons_are_written_into_files_too(real_cudalint: Run, sweep: tuple[str, str]) -> None:
    wanted = ("--output", "markdown=diff.md", "--output", "json=diff.json")
    assert real_cudalint("diff", *sweep, *wanted).out.startswith("swept")
    assert Path("diff.md").read_text() == real_cudalint("diff", *sweep, "--format", "markdown").out
    assert json.loads(Path("diff.json").read_text())["differs"]
    for given, said in (("sarif=x", "`sarif` is no format; there are text, markdown, json"), ("json", "FORMAT=FILE")):
        result = real_cudalint("diff", *sweep, "--output", given)
        assert (result.status, said in result.err) == (2, True)


def test_a_kernel_that_one_version_was_not_evaluated_of_is_not_gone() -> None:
    known, cut = (ShownKernel(kernel(launches=launches), "a100") for launches in ((launch(),), ()))
    old, new = (
        Version(".", (each,), (), (), "a100", SourceLines({"tile.cu": TILE_SOURCE})) for each in (known, cut)
    )  # fmt: skip
    comparison = compare(old, new, lambda _: True)
    lines = list(text_lines(Report(comparison, old, new, (), (), ()), Style()))
    assert lines[0] == "tile32 (tile.cu:4), block 32x32, grid 8x8 (not evaluated any more)"
    (verdict,) = judged([parse("time_us <= 5")], comparison, "")
    assert (verdict.is_checked, verdict.reason) == (False, "time of {} is not known")


def test_a_renamed_kernel_is_compared(real_cudalint: Run, tmp_path: Path) -> None:
    one = "__global__ void first(float* p) { p[threadIdx.x] = 0; }\n"
    (tmp_path / "a.cu").write_text(one)
    (tmp_path / "b.cu").write_text(one.replace("first", "second").replace("[threadIdx.x]", "[threadIdx.x * 2]"))
    out = real_cudalint("diff", str(tmp_path / "a.cu"), str(tmp_path / "b.cu")).out
    assert "first -> second (" in out
    assert "+ CL101" in out


def test_kernels_that_come_and_go(real_cudalint: Run, tmp_path: Path) -> None:
    kernels = [f"__global__ void {name}(float* p) {{ p[threadIdx.x] = 0; }}\n" for name in ("a", "b", "c", "d")]
    for folder, chosen in (("old", kernels[:2]), ("new", kernels[2:])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.cu").write_text("".join(chosen))
    result = real_cudalint("diff", str(tmp_path / "old"), str(tmp_path / "new"), "--gate", "time <= 1.05")
    assert result.status == 0
    assert [line.split(" (")[0] for line in result.out.splitlines() if " is " in line] == [
        "c is new", "d is new", "a is gone", "b is gone",
    ]  # fmt: skip


def _git(folder: Path, *arguments: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *named, *arguments], check=True, capture_output=True)


def test_a_revision_with_its_own_headers(real_cudalint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "stride.h").write_text("#define STRIDE 1\n")
    (source / "a.cu").write_text('#include "stride.h"\n__global__ void k(float* p) { p[threadIdx.x * STRIDE] = 0; }\n')
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "one")
    (source / "stride.h").write_text("#define STRIDE 2\n")
    monkeypatch.chdir(source)
    result = real_cudalint("diff", "--base", "HEAD", "a.cu")
    assert "k (a.cu:2), block" in result.out
    assert "  + CL101 a.cu:2" in result.out
    unknown = real_cudalint("diff", "--base", "nowhere", "a.cu")
    assert unknown.status == 2
    assert "git knows no revision `nowhere`" in unknown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("old.cu",), "two versions are expected"),
        (("old.cu", "."), "a file is compared with a file"),
        (("old.cu", "gone.cu"), "gone.cu: no such file"),
    ],
)
def test_what_is_no_pair_of_versions(
    real_cudalint: Run, versions: tuple[str, str], arguments: tuple[str, ...], said: str
) -> None:
    result = real_cudalint("diff", *arguments)
    assert (result.status, said in result.err, result.err.count("\n")) == (2, True, 1)


@pytest.mark.parametrize(
    ("gate", "is_kept"),
    [
        ("time <= 1", True),
        ("time <= 0.9", False),
        ("time < 1.05", False),  # Of a figure that is 0, 105% are no more.
        ("sectors >= 1", True),
        ("sectors == 1", True),
        ("sectors == 2", False),
        ("occupancy >= base - 0.1", True),
        ("occupancy <= base - 0.1", False),
        ("registers <= base + 8", True),
        ("registers <= base * 1.1 - 8", False),
        ("registers <= 168", False),
        ("findings <= base", True),
        ("findings == 0", False),
        ("new_findings == 0", True),
        ("new_findings >= 1", False),
    ],
)
def test_which_gates_a_kernel_passes_that_nobody_changed(gate: str, is_kept: bool) -> None:
    """Whatever its figures are, which needn't be known then."""
    assert parse(gate).is_kept_by_the_same is is_kept
