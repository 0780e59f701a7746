"""`--baseline`, `--write-baseline` and `--diff` on the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handmade import TILE_SOURCE

Run = Callable[..., Any]


def test_a_baseline_keeps_known_findings_quiet(cudalint: Run, tile: str, project: Path) -> None:
    written = cudalint(tile, "--write-baseline", "known.json")
    assert (written.status, written.err) == (0, "")
    counted = "in 1 kernel for a100 (1 of 2 accesses evaluated)"
    assert written.out == f"Nothing to report {counted}\nWritten to known.json: 1 finding\n  1 of CL201\n"
    known = cudalint(tile, "--baseline", "known.json")
    assert known.status == 0
    assert known.out.endswith("; 1 finding known from the baseline\n")
    assert cudalint(tile, "--baseline", "known.json", "--select", "CL101").status == 1
    (project / "other.cu").write_text("// another file\n" + TILE_SOURCE.replace("[x][y]", "[y][x]"))
    result = cudalint(".", "--baseline", "known.json", "--format", "json")
    assert result.status == 1
    assert [d["path"] for d in json.loads(result.out)["diagnostics"]] == ["other.cu"]
    (project / "tile.cu").write_text("")
    assert cudalint(tile, "--baseline", "known.json").out.endswith("; 1 place of the baseline no longer there\n")


def test_errors_stay_findings(cudalint: Run, tile: str, project: Path) -> None:
    (project / "cudalint.toml").write_text('select = ["CL101", "CL201"]\n[severity]\nCL201 = "error"\n')
    written = cudalint(tile, "--write-baseline", "known.json")
    assert written.status == 1
    first, *told = written.out.splitlines()
    assert first.startswith("error[CL201]: 32-way bank conflict")
    assert [found["code"] for found in json.loads(Path("known.json").read_text())["findings"]] == ["CL101"]
    assert told[-3:-1] == ["Written to known.json: 1 finding", "  1 of CL101"]
    assert told[-1] == "Left out of it: 1 error; --include-errors takes it in"
    assert cudalint(tile, "--baseline", "known.json").status == 1
    written = cudalint(tile, "--write-baseline", "known.json", "--include-errors")
    assert written.status == 0
    assert "Written to known.json: 2 findings\n  1 of CL101, 1 of CL201\n" in written.out
    assert cudalint(tile, "--baseline", "known.json").status == 0


def test_a_failure_is_no_less_one(cudalint: Run, tile: str) -> None:
    assert cudalint(tile, "none.cu", "--write-baseline", "known.json").status == 2
    assert cudalint(tile, "none.cu", "--baseline", "known.json").status == 2


def test_diff(cudalint: Run, tile: str, project: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *arguments], check=True)
    quiet = cudalint(tile, "--diff", "HEAD")
    assert (quiet.status, quiet.err) == (0, "")
    assert quiet.out.endswith("; 1 file that no change reaches not linted\n")
    (project / "other.cu").write_text(TILE_SOURCE)
    reached = cudalint(".", "--diff", "HEAD")
    assert reached.status == 1
    # What stands beside it may launch its kernels.
    assert reached.out.endswith("; 1 finding on unchanged lines; see `cudalint explain CL201`\n")
    (project / "other.cu").unlink()
    (project / "tile.cu").write_text(TILE_SOURCE.replace("    out[y", "        out[y"))
    assert cudalint(tile, "--diff", "HEAD").status == 1


def test_errors_come_before_the_work(cudalint: Run, tile: str) -> None:
    for arguments, message in (
        (("--baseline", "none.json"), "none.json: no such file; `--write-baseline none.json` makes it"),
        (("--diff", "HEAD"), "not a git repository"),
        (("--write-baseline", "b.json", "--diff", "HEAD"), "--write-baseline takes all findings"),
        (("--include-errors",), "--include-errors is about what --write-baseline writes"),
        (("--write-baseline", "none/b.json"), "none/b.json: cannot be written: the folder does not exist"),
    ):
        result = cudalint(tile, *arguments)
        assert (result.status, result.out) == (2, "")
        assert message in result.err
        assert result.err.count("\n") == 1


_RACING = """__global__ void old_race(float *out) {
    __shared__ float t[64];
    t[threadIdx.x] = out[threadIdx.x];
    out[threadIdx.x] = t[63 - threadIdx.x];
}
__device__ void filled(float *t, const float *in) {
    t[threadIdx.x] = in[threadIdx.x];
}
__device__ float other_end(const float *t) {
    return t[63 - threadIdx.x];
}
__global__ void reversed_block(float *out, const float *in) {
    __shared__ float t[64];

    filled(t, in);
    __syncthreads();

    out[threadIdx.x] = other_end(t);
}
void run(float *out, const float *in) {
    old_race<<<1, 64>>>(out);
    reversed_block<<<1, 64>>>(out, in);
}
"""


def test_the_race_of_a_barrier_that_is_gone(real_cudalint: Run, project: Path) -> None:
    """It is between lines of two functions in which nothing has changed. The race of the kernel beside it is old."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    (project / "race.cu").write_text(_RACING)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *arguments], check=True)
    (project / "race.cu").write_text(_RACING.replace("    __syncthreads();\n", ""))
    known = ("race.cu", "--select", "CL301", "--format", "json")
    found = [each["kernel"] for each in json.loads(real_cudalint("check", *known).out)["diagnostics"]]
    assert sorted(found) == ["old_race", "reversed_block"]
    told = json.loads(real_cudalint("check", *known, "--diff", "HEAD").out)["diagnostics"]
    assert [each["kernel"] for each in told] == ["reversed_block"]


def test_findings_are_counted_as_reports_show_them(cudalint: Run, tile: str, project: Path) -> None:
    """Two copies of a kernel are one finding of a report, and two entries of a baseline."""
    (project / "other.cu").write_text(TILE_SOURCE)
    assert "Found 1 warning in 2 kernels" in cudalint(".").out
    written = cudalint(".", "--write-baseline", "known.json")
    assert written.out.endswith("\nWritten to known.json: 1 finding in 2 places\n  1 of CL201\n")
    assert len(json.loads(Path("known.json").read_text())["findings"]) == 2
    assert cudalint(".", "--baseline", "known.json").out.endswith("; 1 finding in 2 places known from the baseline\n")
