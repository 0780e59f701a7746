"""`cudalint check`: exit status, formats, selection, robustness."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from edit_note import without_edit_note
from handmade import TILE_SOURCE

from cudalint.run import runs as driver

Run = Callable[..., Any]


def _no_traceback(result: Any) -> None:
    assert "Traceback" not in result.out + result.err


def test_findings_exit_with_1(cudalint: Run, tile: str) -> None:
    result = cudalint(tile)
    assert result.status == 1
    assert "warning[CL201]: 32-way bank conflict" in result.out
    assert "Found 1 warning in 1 kernel for a100 (1 of 2 accesses evaluated)" in result.out
    assert result.err == ""


def test_check_is_the_default_command(cudalint: Run, tile: str) -> None:
    assert cudalint(tile).out == cudalint("check", tile).out
    assert cudalint("--format", "concise", tile).status == 1


@pytest.mark.parametrize(("fail_on", "status"), [("error", 0), ("warning", 1), ("info", 1)])
def test_fail_on(cudalint: Run, tile: str, fail_on: str, status: int) -> None:
    assert cudalint(tile, "--fail-on", fail_on).status == status


def test_concise(cudalint: Run, tile: str) -> None:
    result = cudalint(tile, "--format", "concise")
    found = "warning: CL201 32-way bank conflict on `t` (32 wavefronts per request, ideal 1)"
    assert result.out == f"tile.cu:10:26: {found}\n"


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ([], ["CL201"]),
        (["--select", "CL101"], ["CL101"]),
        (["--select", "CL1,CL2"], ["CL101", "CL201"]),
        (["--select", "uncoalesced-access"], ["CL101"]),
        (["--select", "all", "--ignore", "CL2"], ["CL101"]),
        (["--ignore", "bank-conflict"], []),
    ],
)
def test_selection(cudalint: Run, tile: str, arguments: list[str], codes: list[str]) -> None:
    document = json.loads(cudalint(tile, "--format", "json", *arguments).out)
    assert [diagnostic["code"] for diagnostic in document["diagnostics"]] == codes


def test_a_clean_file_exits_with_0(cudalint: Run, project: Path) -> None:
    (project / "empty.cu").write_text("")
    result = cudalint("empty.cu")
    assert result.status == 0
    assert result.out == "No findings in 0 kernels for a100 (0 of 0 accesses evaluated)\n"


def test_quiet_says_nothing_about_nothing(cudalint: Run, project: Path) -> None:
    (project / "empty.cu").write_text("")
    result = cudalint("-q", "empty.cu")
    assert (result.status, result.out, result.err) == (0, "", "")


def test_a_missing_path_fails_and_the_others_are_linted(cudalint: Run, tile: str) -> None:
    result = cudalint("none.cu", tile)
    assert result.status == 2
    assert result.err == "cudalint: error: none.cu: no such file or folder\n"
    assert "CL201" in result.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ab\n\0", "not a text file (it has a NUL byte here) (line 1, column 4)"),
        (b"CRASH", "the analysis crashed (SIGSEGV)"),
        (b"BUSY", "given up after 1 s of computing; --time-limit gives more time"),
        (b"HANG", "given up: it waits, and has computed nothing for 1 s"),
        (b"RAISE", "internal error: AssertionError: a bug"),
    ],
)
def test_a_bad_file_is_one_line_and_the_others_are_linted(
    cudalint: Run, tile: str, project: Path, content: bytes, message: str
) -> None:
    (project / "bad.cu").write_bytes(content)
    result = cudalint("bad.cu", tile, "--time-limit", "1", "--format", "json")
    assert result.status == 2
    assert result.err == f"cudalint: error: bad.cu: {message}\n"
    document = json.loads(result.out)
    row = {"severity": "error", "kernels": [], "number_of_kernels": 0}
    assert document["failures"] == [{"path": "bad.cu", "message": message, **row}]
    assert [diagnostic["path"] for diagnostic in document["diagnostics"]] == [tile]
    assert document["summary"]["files"] == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_one_line(cudalint: Run, tile: str, project: Path) -> None:
    (project / "secret.cu").write_text("")
    (project / "secret.cu").chmod(0)
    result = cudalint("secret.cu", tile)
    assert result.status == 2
    assert result.err.count("\n") == 1


def test_fifty_thousand_lines(cudalint: Run, project: Path) -> None:
    (project / "long.cu").write_text(TILE_SOURCE + "// cudalint: allow-file(CL101) -- no reason to look\n" * 50_000)
    before = os.times()
    result = cudalint("long.cu", "--select", "CL201", "--time-limit", "100")
    after = os.times()
    assert result.status == 1
    # Time of the processor, ours and the workers': other programs may keep this machine busy.
    assert after.user + after.children_user - before.user - before.children_user < 15


def test_latin_1_text(cudalint: Run, project: Path) -> None:
    (project / "old.cu").write_bytes(TILE_SOURCE.replace("float t", "float /* \xe9 */ t").encode("latin-1"))
    result = cudalint("old.cu")
    assert result.status == 1
    _no_traceback(result)


def test_folders_globs_and_repetitions(cudalint: Run, project: Path) -> None:
    for name in ("a/one.cu", "a/b/two.cu", "a/.git/three.cu", "four.cu"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(TILE_SOURCE)
    # They are copies of one another, so that there is one finding for all of them.
    (found,) = json.loads(cudalint("a", "a/one.cu", "*.cu", "--format", "json").out)["diagnostics"]
    assert [each["path"] for each in (found, *found["also"])] == ["a/b/two.cu", "a/one.cu", "four.cu"]


def test_the_current_folder_is_not_spelled_out(cudalint: Run, tile: str) -> None:
    assert cudalint(".", "--format", "concise").out.startswith("tile.cu:10:")


def test_a_folder_without_cuda_files_fails(cudalint: Run, project: Path) -> None:
    (project / "docs").mkdir()
    result = cudalint("docs", "*.cu")
    assert result.status == 2
    assert result.err == (
        "cudalint: error: docs: no CUDA files (*.cu, *.cuh, or *.py with kernels) in this folder\n"
        "cudalint: error: *.cu: no file matches this pattern\n"
    )


def test_standard_input(cudalint: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TILE_SOURCE.encode())))
    result = cudalint("-")
    assert result.status == 1
    assert "--> <stdin>:10:26" in result.out
    assert "out[y * width + x] = t[x][y];" in result.out


def test_standard_input_that_is_no_text(cudalint: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    result = cudalint("-")
    assert result.status == 2
    assert result.err == "cudalint: error: <stdin>: not UTF-8 text (byte 0)\n"


def test_standard_input_in_latin_1(cudalint: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = TILE_SOURCE + "// caf\xe9\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source.encode("latin-1"))))
    result = cudalint("-")
    assert result.status == 1
    assert "--> <stdin>:10:26" in result.out


def test_suppressions_and_annotations(cudalint: Run, project: Path) -> None:
    source = TILE_SOURCE.replace("t[x][y];", "t[x][y];  // cudalint: allow(bank-conflict) -- measured")
    (project / "quiet.cu").write_text(source)
    (project / "unused.cu").write_text("// cudalint: allow-file(CL201) -- why\n// cudalint: alow(CL201)\n")
    result = cudalint("quiet.cu", "unused.cu", "--format", "concise")
    assert result.status == 1
    assert [line.split(" ")[:3] for line in result.out.splitlines()] == [
        ["unused.cu:1:4:", "warning:", "CL901"],
        ["unused.cu:2:4:", "warning:", "CL903"],
    ]


def test_pictures_on_demand(cudalint: Run, tile: str) -> None:
    assert "below the bank" not in cudalint(tile).out
    assert "below the bank" in cudalint(tile, "--show").out
    assert "below the bank" not in cudalint(tile, "--no-show").out


def test_colours(cudalint: Run, tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in cudalint(tile).out
    assert "\x1b[" in cudalint(tile, "--color").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cudalint(tile).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in cudalint(tile).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bogus"], "No such option"),
        (["--select", "CL999"], "no rule's code or name fits `CL999`"),
        (["--select", ""], "a rule's code or name is empty"),
        (["--block", "32,0"], "`32,0` is not one to three positive numbers"),
        (["--block", "1,2,3,4"], "is not one to three positive numbers"),
        (["--shared", "-1"], "--shared"),
        (["--force-launch"], "--force-launch needs --block"),
        (["--param", "N"], "`N` has not the form NAME=VALUE"),
        (["--param", "N=4 +"], "`4 +` is not a C expression"),
        (["--assume", "K + 1"], "`K + 1` is not a condition"),
        (["--assume", "K %"], "is not a C expression"),
        (["-D", "1X"], "has not the form NAME or NAME=VALUE"),
        (["--target", "voodoo2"], "unknown target 'voodoo2'"),
        (["--fail-on", "never"], "--fail-on"),
        (["--format", "yaml"], "--format"),
        (["--jobs", "0"], "--jobs"),
        (["--time-limit", "0"], "--time-limit"),
        (["--compile-commands", "none.json"], "none.json"),
    ],
)
def test_bad_options_are_one_clear_line(cudalint: Run, tile: str, arguments: list[str], words: str) -> None:
    result = cudalint(tile, *arguments)
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith("cudalint: error: ")
    assert result.err.count("\n") == 1
    assert words in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--block", "32,8", "--grid", "64", "--shared", "1024", "--force-launch"],
        ["--param", "N=4096", "--param", "ns::k<int>:n=1 << 10", "--assume", "K % 4 == 0"],
        ["-DN=4", "-I", "include", "-Iinclude", "-std=c++20", "--std", "c++17", "--race-scope", "grid"],
        ["--target", "sm_90", "-j", "3"],
    ],
)
def test_good_options_are_taken(cudalint: Run, tile: str, arguments: list[str]) -> None:
    assert cudalint(tile, *arguments).status == 1


def test_a_header_is_linted_through_its_includer(cudalint: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from handmade import file_facts, kernel

    def analyse(path: str, options: object, *_: object) -> object:
        sources = {path: path, "tile.cuh": "tile.cuh"} if path == "a.cu" else {path: path}
        return file_facts(path, kernels=(kernel("tile.cuh"),), sources=sources)

    monkeypatch.setattr(sys.modules["cudalint.run.analysis"], "analyse_file", analyse)
    (project / "tile.cuh").write_text(TILE_SOURCE)
    (project / "a.cu").write_text("")
    document = json.loads(cudalint(".", "--format", "json").out)
    assert document["summary"]["files"] == 1
    assert len(document["diagnostics"]) == 1
    document = json.loads(cudalint("a.cu", "tile.cuh", "--format", "json").out)
    assert document["summary"]["files"] == 2
    assert len(document["diagnostics"]) == 1


def test_internal_errors_are_one_line(cudalint: Run, tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudalint.cli.check.discover", lambda *arguments, **options: 1 / 0)
    result = cudalint(tile)
    assert result.status == 2
    assert result.err == (
        "cudalint: error: internal error: ZeroDivisionError: division by zero (CUDALINT_DEBUG=1 shows where)\n"
    )


def test_interrupt(cudalint: Run, tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cudalint.cli.check.discover", interrupt)
    result = cudalint(tile)
    assert (result.status, result.err.lstrip()) == (130, "cudalint: error: interrupted\n")


def test_what_was_done_before_a_file_took_too_long_is_kept(cudalint: Run, project: Path) -> None:
    (project / "slow.cu").write_text(TILE_SOURCE + "// SLOW\n")
    result = cudalint("slow.cu", "--format", "concise")
    assert result.status == 2
    assert result.out.startswith("slow.cu:10:26: warning: CL201 ")
    assert result.err == "cudalint: error: slow.cu: given up after 12 s\n"


def test_what_was_left_for_lack_of_time_is_a_warning_of_every_format(cudalint: Run, project: Path) -> None:
    (project / "slow.cu").write_text(TILE_SOURCE + "// SLOW, PARTLY\n")
    reports = ("json=a.json", "sarif=a.sarif", "junit=a.xml", "html=a.html")
    result = cudalint("slow.cu", "--format", "github", *(word for each in reports for word in ("--output", each)))
    # As without it: the finding is a warning.
    assert result.status == 1
    assert cudalint("slow.cu", "--fail-on", "error").status == 0
    assert result.err == "cudalint: warning: slow.cu: given up after 12 s\n"
    assert "::warning file=slow.cu,title=not linted in full::given up after 12 s\n" in result.out
    assert "1 path could be linted in part only" in result.out
    document = json.loads(Path("a.json").read_text())
    row = {"severity": "warning", "kernels": [], "number_of_kernels": 0}
    assert document["failures"] == [{"path": "slow.cu", "message": "given up after 12 s", **row}]
    (invocation,) = json.loads(Path("a.sarif").read_text())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"]
    assert [each["level"] for each in invocation["toolExecutionNotifications"]] == ["warning"]
    assert '<skipped message="given up after 12 s"' in Path("a.xml").read_text()
    page = Path("a.html").read_text()
    assert "Not linted in full</h3>" in page
    assert "Not linted</h3>" not in page


@pytest.mark.parametrize("command", ["check", "facts"])
@pytest.mark.parametrize(
    ("parameter", "warning"),
    [
        ("width=4", ""),
        ("tile32:width=4", ""),
        ("h=4", "--param h: no kernel of these files has a scalar parameter `h`; there are out, width\n"),
        ("tile32:h=4", "--param tile32:h: `tile32` has no scalar parameter `h`; there are out, width\n"),
        ("other:width=4", "--param other:width: these files have no kernel `other` with scalar parameters\n"),
    ],
)
def test_parameters_that_no_kernel_has(cudalint: Run, tile: str, command: str, parameter: str, warning: str) -> None:
    result = cudalint(command, tile, "--param", parameter)
    assert result.status == (1 if command == "check" else 0)
    assert result.err == (f"cudalint: warning: {warning}" if warning else "")


def test_what_is_of_no_use_is_said(cudalint: Run, tile: str) -> None:
    result = cudalint(tile, "-q", "-I", "none", "--assume", "zz % 4 == 0", "--assume", "width % 4 == 0")
    assert result.err == (
        "cudalint: warning: -I none: no such folder\n"
        "cudalint: warning: --assume 'zz % 4 == 0': no kernel of these files has such a parameter;"
        " there are out, width\n"
    )


def test_a_misspelt_command_is_no_path(cudalint: Run, tile: str) -> None:
    result = cudalint("chekc", tile)
    assert (result.status, result.out) == (2, "")
    assert result.err == "cudalint: error: `chekc` is neither a path nor a command; did you mean `cudalint check`?\n"
    assert cudalint("--config", "none.toml", tile).err == (
        "cudalint: error: none.toml: cannot be read: No such file or directory\n"
    )


def test_an_interrupted_run_prints_what_is_there(
    cudalint: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.cu", "b.cu", "c.cu"):
        (project / name).write_text(TILE_SOURCE)
    run_jobs = driver.run_jobs

    def until_somebody_has_enough(*arguments: Any) -> Iterator[Any]:
        yield next(run_jobs(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(driver, "run_jobs", until_somebody_has_enough)
    result = cudalint(".", "--no-cache", "-j", "1")
    assert result.status == 130
    assert "warning[CL201]" in result.out
    assert "2 paths could not be linted" in result.out
    assert without_edit_note(result.err) == "cudalint: error: interrupted: 2 of 3 files not linted\n"
    document = json.loads(cudalint(".", "--no-cache", "-j", "1", "--format", "json").out)
    assert [failure["path"] for failure in document["failures"]] == ["b.cu", "c.cu"]
    # Half a baseline would let new findings pass for known ones.
    assert cudalint(".", "--no-cache", "--write-baseline", "known.json").status == 130
    assert not (project / "known.json").exists()
