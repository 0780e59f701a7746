"""`cudalint check --fix`: what is written, what is left, and what is let alone."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from cudalint.cli import run
from cudalint.run.fixing import session, writing

# A row of 32 words begins in the bank of the one above: 32 lanes that read a column meet in one bank. With 33 words
# each lane has a bank of its own. Two loads have the conflict, and one edit mends both.
_TILE = """__global__ void tile(const float *in, float *out) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    float sum = t[threadIdx.x][threadIdx.y];
    out[threadIdx.y * 32 + threadIdx.x] = sum + t[threadIdx.x][threadIdx.y ^ 1];
}
void launch(const float *in, float *out) { tile<<<64, dim3(32, 32)>>>(in, out); }
"""
_FIXED = _TILE.replace("t[32][32]", "t[32][32 + 1]")
_OPTIONS = ("--no-cache", "--no-config", "--select", "CL201,CL303")


class _Result(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., _Result]


@pytest.fixture
def cudalint(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def call(*arguments: str) -> _Result:
        status = run((*arguments, *_OPTIONS))
        captured = capfdbinary.readouterr()
        return _Result(status, captured.out.decode("utf-8", "surrogateescape"), captured.err.decode())

    return call


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    (place / ".git").mkdir(parents=True)
    monkeypatch.chdir(place)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    return place


def _written(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize("options", [("--fix",), ("--show-fixes",), ("--fix", "--dry-run")])
def test_a_file_with_a_syntax_error_is_left_as_it_is(options: tuple[str, ...], cudalint: Run) -> None:
    broken = _TILE.replace("    float sum", "    int i = threadIdx.x\n    float sum")
    file = _written("a.cu", broken)
    done = cudalint("a.cu", *options)
    assert file.read_text() == broken and "[32 + 1]" not in done.out
    note = "note: a.cu: nothing is fixed in it: the file has a syntax error, and is not changed before that is mended"
    assert note in done.err


def test_edits_are_made_once_and_a_second_run_has_nothing_to_do(cudalint: Run) -> None:
    file = _written("a.cu", _TILE)
    os.chmod(file, 0o640)
    first = cudalint("a.cu", "--fix")
    assert (first.status, first.err) == (0, "")
    assert first.out.startswith("fixed a.cu:5:17: CL201 and 1 more finding: pad the rows to 33 elements")
    assert first.out.endswith("; 2 findings fixed\n")
    assert file.read_text() == _FIXED
    assert file.stat().st_mode & 0o777 == 0o640
    second = cudalint("a.cu", "--fix")
    assert (second.status, file.read_text()) == (0, _FIXED)
    assert "fixed" not in second.out
    assert sorted(os.listdir()) == [".git", "a.cu"]


def test_only_what_is_safe_unless_somebody_says_so(cudalint: Run) -> None:
    """A file of which a part is not there may use the array in ways that nobody sees."""
    source = f'#include "missing.h"\n{_TILE}'
    file = _written("a.cu", source)
    result = cudalint("a.cu", "--fix", "--dry-run", "-q")
    assert (result.status, file.read_text()) == (1, source)
    assert "@@" not in result.out
    # A diff that is there to be read has them, and says so.
    shown = cudalint("a.cu", "--show-fixes")
    assert (shown.status, file.read_text()) == (1, source)
    mark = "# Look before you apply it (--fix --unsafe-fixes does) to what is for:\n#   a.cu:6: CL201: "
    assert shown.out.startswith(f"{mark}pad the rows to 33 elements")
    assert "+    __shared__ float t[32][32 + 1];\n" in shown.out
    assert "note: --fix has nothing to fix; --fix --unsafe-fixes 2 more findings\n" in shown.err
    assert cudalint("a.cu", "--fix", "--unsafe-fixes").status == 0
    assert file.read_text() == source.replace("[32][32]", "[32][32 + 1]")


@pytest.mark.parametrize("includes", ['#include "tile.cuh"', '#include "../project/tile.cuh"'])
def test_headers_that_are_linted_with_what_includes_them(cudalint: Run, includes: str) -> None:
    """The header is known by the name that the file has for it, whatever its text is taken from."""
    kernel, _, launch = _TILE.partition("void launch")
    header = _written("tile.cuh", kernel)
    other = kernel.replace("[32][32]", "[32][33]").replace("tile", "other")
    _written("a.cu", f"{includes}\n{other}void launch{launch}")
    result = cudalint(".", "--fix")
    assert (result.status, header.read_text()) == (0, kernel.replace("t[32][32]", "t[32][32 + 1]"))
    assert cudalint(".", "--fix").out.count("fixed") == 0


def test_line_ends_and_bytes_stay_as_they_are(cudalint: Run) -> None:
    """A mark of the byte order, carriage returns, a letter in Latin-1, no end of the last line."""
    data = b"\xef\xbb\xbf// caf\xe9\r\n" + _TILE.rstrip().replace("\n", "\r\n").encode()
    Path("a.cu").write_bytes(data)
    assert cudalint("a.cu", "--fix").status == 0
    assert Path("a.cu").read_bytes() == data.replace(b"t[32][32]", b"t[32][32 + 1]")


def test_a_dry_run_prints_a_patch_and_writes_nothing(cudalint: Run) -> None:
    file = _written("sub dir/a.cu", _TILE.rstrip())
    result = cudalint("sub dir/a.cu", "--fix", "--dry-run", "--output", "patch=fix.patch")
    assert result.status == 1
    assert file.read_text() == _TILE.rstrip()
    assert result.err == "cudalint: note: --fix fixes 2 findings in 1 file\n"
    assert result.out.splitlines()[3:6] == [
        " __global__ void tile(const float *in, float *out) {",
        "-    __shared__ float t[32][32];",
        "+    __shared__ float t[32][32 + 1];",
    ]
    assert Path("fix.patch").read_text() == result.out
    subprocess.run(["git", "apply", "--unsafe-paths", "fix.patch"], check=True)
    assert file.read_text() == _FIXED.rstrip()


def test_a_diff_beside_the_report(cudalint: Run) -> None:
    _written("a.cu", _TILE)
    result = cudalint("a.cu", "--show-fixes", "--format", "concise")
    assert result.status == 1
    assert "+    __shared__ float t[32][32 + 1];\n" in result.out
    assert result.out.count(" CL201 ") == 1
    assert Path("a.cu").read_text() == _TILE


def test_standard_input(cudalint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for source, expected in ((_TILE, _FIXED), ("int x;\r\n", "int x;\r\n")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source.encode())))
        result = cudalint("-", "--fix", "--stdin-filename", "sub/a.cu")
        assert (result.status, result.out) == (0, expected)
    assert "No findings" in result.err
    assert os.listdir() == [".git"]


def test_json_has_each_set_of_edits_once(cudalint: Run) -> None:
    _written("a.cu", _TILE)
    before = json.loads(cudalint("a.cu", "--format", "json").out)
    assert [(fix["applicability"], fix["diagnostics"]) for fix in before["fixes"]] == [("safe", [0])]
    after = json.loads(cudalint("a.cu", "--format", "json", "--fix").out)
    assert (after["diagnostics"], after["fixes"]) == ([], [])
    assert [d["code"] for d in after["fixed"]] == ["CL201", "CL201"]


def test_links_and_what_lies_elsewhere_are_let_alone(cudalint: Run, folder: Path) -> None:
    outside = _written(str(folder.parent / "elsewhere" / "a.cuh"), _TILE[: _TILE.index("void launch")])
    launch = _TILE[_TILE.index("void launch") :]
    _written("a.cu", f'#include "../elsewhere/a.cuh"\n{launch}')
    os.symlink(_written("sub/b.cu", _TILE), "b.cu")
    os.chmod(_written("c.cu", _TILE), 0o444)
    result = cudalint("a.cu", "b.cu", "c.cu", "--fix", "-I", os.path.dirname(outside))
    assert result.status == 1
    assert "note: b.cu: a symbolic link is not written to" in result.err
    assert "note: c.cu: read-only, so it is not written to" in result.err
    assert "a.cuh: outside of the given paths and of their repository, so it is not written to" in result.err
    assert "32 + 1" not in outside.read_text() + Path("sub/b.cu").read_text() + Path("c.cu").read_text()


def test_a_file_that_changes_meanwhile_is_let_alone(cudalint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _written("a.cu", _TILE)
    _written("b.cu", _TILE)

    def write_together(changes: dict[str, writing.Change]) -> tuple[str, str] | None:
        if "a.cu" in changes:
            Path("a.cu").write_text("// by somebody else\n")
        return writing.write_together(changes)

    monkeypatch.setattr(session, "write_together", write_together)
    result = cudalint("a.cu", "b.cu", "--fix")
    assert result.status == 2
    assert result.err == "cudalint: error: a.cu: changed while it was being linted, so it is left as it is\n"
    assert "a.cu:5:17" in result.out
    assert Path("a.cu").read_text() == "// by somebody else\n"
    assert Path("b.cu").read_text() == _FIXED


def test_a_baseline_keeps_edits_from_being_made(cudalint: Run) -> None:
    file = _written("a.cu", _TILE)
    assert cudalint("a.cu", "--write-baseline", "known.json").status == 0
    assert cudalint("a.cu", "--baseline", "known.json", "--fix").status == 0
    assert file.read_text() == _TILE


def test_edits_that_do_not_hold_together(cudalint: Run) -> None:
    """A block has 48 KiB. Two tiles of 4 KiB and 10208 words are 128 bytes less, which is what one padded tile takes:
    either may be padded, and not both; what the other one gets in the next pass takes no memory."""
    source = _TILE.replace("    t[threadIdx.y]", "    __shared__ float u[32][32], more[10208];\n    t[threadIdx.y]", 1)
    source = source.replace("    __sync", "    u[threadIdx.y][threadIdx.x] = more[0] = 1;\n    __sync", 1)
    file = _written("a.cu", source.replace("= sum", "= u[threadIdx.x][threadIdx.y] + sum"))
    cudalint("a.cu", "--fix", "--select", "CL202")
    assert file.read_text().count("[32 + 1]") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dry-run",), "needs --fix"),
        (("--unsafe-fixes",), "needs --fix, --show-fixes or"),
        (("--fix", "--write-baseline", "b.json"), "can't be had with fixes"),
        (("--show-fixes", "--format", "json"), "--output patch=FILE"),
    ],
)
def test_wishes_that_come_to_nothing(cudalint: Run, arguments: tuple[str, ...], message: str) -> None:
    _written("a.cu", _TILE)
    result = cudalint("a.cu", *arguments)
    assert result.status == 2
    assert message in result.err
