"""`cudalint diff` of folders: which files are evaluated, and what a revision is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

Run = Callable[..., Any]

_KERNEL = """#include "stride.h"
__global__ void NAME(float* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i * STRIDE] = 0;
}
"""
_FILES = {
    "stride.h": "#define STRIDE 1\n",
    "a.cu": _KERNEL.replace("NAME", "a") + "void run(float* p) { a<<<8, 128>>>(p, 1024); }\n",
    # Another file launches its kernel.
    "b.cu": _KERNEL.replace("NAME", "b").replace('#include "stride.h"\n', "#define STRIDE 1\n"),
    "main.cpp": "int main() { float* p; cudaMalloc(&p, 4096); b<<<8, 128>>>(p, 1024); }\n",
    # A kernel that is in sight of two files.
    "shared.cuh": "template <int N> __global__ void s(float* p) { p[threadIdx.x * N] = 0; }\n",
    "c.cu": '#include "shared.cuh"\nvoid run_c(float* p) { s<1><<<1, 32>>>(p); }\n',
    "d.cu": '#include "shared.cuh"\nvoid run_d(float* p) { s<1><<<1, 32>>>(p); s<2><<<1, 32>>>(p); }\n',
    "cudalint.toml": 'target = "a100"\n',
    "notes.txt": "nothing\n",
}


def _git(folder: Path, *arguments: str) -> str:
    named = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", folder, *named, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text)
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit(tmp_path, "one")
    return tmp_path


def _commit(folder: Path, message: str) -> None:
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", message)


def _document(result: Any) -> Any:
    document = json.loads(result.out)
    text = resources.files("cudalint").joinpath("schemas", "diff.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    return document


def _compared(document: Any) -> set[str]:
    return {side["path"] for each in document["kernels"] for side in (each["base"], each["head"]) if side}


@pytest.mark.parametrize(
    ("name", "old", "new", "differing", "same"),
    [
        ("notes.txt", "nothing", "something", set(), {"a.cu", "b.cu", "c.cu", "d.cu", "shared.cuh"}),
        ("a.cu", "= 0", "= 1", {"a.cu"}, {"b.cu", "c.cu", "d.cu", "shared.cuh"}),
        # A header of one of them.
        ("stride.h", "1", "2", {"a.cu"}, {"b.cu", "c.cu", "d.cu", "shared.cuh"}),
        # Host code beside it.
        ("main.cpp", "<<<8, 128>>>", "<<<4, 256>>>", {"b.cu"}, {"a.cu", "c.cu", "d.cu", "shared.cuh"}),
        # What c.cu no longer launches, d.cu launches still.
        ("c.cu", "s<1><<<", "s<4><<<", {"shared.cuh"}, {"a.cu", "b.cu"}),
        ("cudalint.toml", 'target = "a100"', "min-share = 0.5", {"a.cu", "b.cu", "shared.cuh"}, set()),
    ],
)
def test_files_are_evaluated_that_anything_tells_apart(
    real_cudalint: Run, project: Path, name: str, old: str, new: str, differing: set[str], same: set[str]
) -> None:
    text = _FILES[name].replace(old, new)
    assert text != _FILES[name]
    (project / name).write_text(text)
    document = _document(real_cudalint("diff", "--base", "HEAD", "--format", "json"))
    assert (_compared(document), set(document["same_files"])) == (differing, same)
    kernels = {each["kernel"]: each for each in document["kernels"]}
    if name == "c.cu":
        assert kernels["s<4>"]["base"] is None
        assert kernels["s<1>"]["head"] is not None
        assert not kernels["s<1>"]["differs"]


def test_what_is_the_same_is_said_in_a_line(real_cudalint: Run, project: Path) -> None:
    assert real_cudalint("diff", "--base", "HEAD").out == "5 files are the same, with all that counts for them\n"


def test_folders_without_git(real_cudalint: Run, project: Path) -> None:
    for side in ("old", "new"):
        (project / side).mkdir()
        for name, text in _FILES.items():
            (project / side / name).write_text(text)
    (project / "new" / "stride.h").write_text("#define STRIDE 2\n")
    document = _document(real_cudalint("diff", "old", "new", "--format", "json"))
    assert _compared(document) == {"old/a.cu", "new/a.cu"}
    assert document["same_files"] == ["new/b.cu", "new/c.cu", "new/d.cu", "new/shared.cuh"]
    assert document["base_revision"] is None


@pytest.mark.parametrize(
    ("gate", "status", "is_all"),
    [
        ("time <= 1.05", 0, False),
        ("new_findings == 0", 0, False),
        ("sectors_per_request <= base + 8", 0, False),
        # A plain number is for all kernels; so is an improvement that is asked for.
        ("occupancy >= 0.9", 1, True),
        ("b: time <= 1.05", 0, True),
        ("time <= 0.9", 1, True),
        ("nobody: time <= 1.05", 2, True),
    ],
)
def test_gates_about_kernels_of_files_that_are_the_same(
    real_cudalint: Run, project: Path, gate: str, status: int, is_all: bool
) -> None:
    (project / "a.cu").write_text(_FILES["a.cu"].replace("= 0", "= 1"))
    result = real_cudalint("diff", "--base", "HEAD", "--format", "json", "--gate", gate)
    assert result.status == status
    if status != 2:
        assert (set(_document(result)["same_files"]) == set()) is is_all
    else:
        assert "no kernel is called `nobody`" in result.err


def test_a_revision_is_where_the_branch_left_it(real_cudalint: Run, project: Path) -> None:
    """What others have done since is no change of the branch, in the whole document as in lines."""
    left = _git(project, "rev-parse", "HEAD")
    _git(project, "checkout", "-q", "-b", "branch")
    _git(project, "checkout", "-q", "main")
    (project / "b.cu").write_text(_FILES["b.cu"].replace("STRIDE 1", "STRIDE 2"))
    _commit(project, "of others")
    _git(project, "checkout", "-q", "branch")
    (project / "a.cu").write_text(_FILES["a.cu"].replace("i * STRIDE", "i * 2"))
    document = _document(real_cudalint("diff", "--base", "main", "--format", "json"))
    assert (document["base_revision"], _compared(document)) == (left, {"a.cu"})
    checked = real_cudalint("check", "--diff", "main", "--select", "CL101", "--format", "concise", ".")
    assert {line.split(":")[0] for line in checked.out.splitlines() if ".cu:" in line} == {"a.cu"}


def test_a_work_tree_beside_another_one(real_cudalint: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `.git` is a file."""
    _git(project, "worktree", "add", "-q", "--detach", "beside")
    monkeypatch.chdir(project / "beside")
    assert real_cudalint("diff", "--base", "HEAD").out == "5 files are the same, with all that counts for them\n"


def test_headers_of_an_include_folder_are_those_of_the_revision(real_cudalint: Run, project: Path) -> None:
    (project / "include").mkdir()
    (project / "include" / "width.h").write_text("#define WIDTH 1\n")
    kernel = "#include <width.h>\n__global__ void w(float* p) { p[threadIdx.x * WIDTH] = 0; }\n"
    (project / "w.cu").write_text(kernel)
    _commit(project, "two")
    (project / "include" / "width.h").write_text("#define WIDTH 2\n")
    out = real_cudalint("diff", "--base", "HEAD", "w.cu", "-I", "include").out
    assert "store of `p`, line 2: 4 sectors per request -> 8 sectors per request" in out


def test_a_file_that_cannot_be_evaluated_has_no_kernels_that_are_gone(real_cudalint: Run, project: Path) -> None:
    (project / "a.cu").write_text("int long_line[] = {" + "1," * 600_000 + "1};\n")
    result = real_cudalint("diff", "--base", "HEAD", "--format", "json")
    document = _document(result)
    assert (result.status, document["kernels"], document["not_compared"]) == (2, [], ["a.cu"])
    assert [each["path"] for each in document["failures"]] == ["a.cu"]
    text = real_cudalint("diff", "--base", "HEAD").out
    assert "not compared: a.cu, not evaluated in one of the versions\n" in text
    markdown = real_cudalint("diff", "--base", "HEAD", "--format", "markdown").out
    assert "Not compared: a.cu, not evaluated in one of the versions." in markdown
