"""The lines that changed since a revision, in real work trees."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from handmade import column_read, place
from msgspec.structs import replace

from cudalint.diagnostics import Related
from cudalint.project.changes import Changed, ChangesError, changes_since

_STRANGE = 'str "ange\té.cu'
_LINES = [f"line {number}" for number in range(1, 11)]


def _git(*arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    _git("init", "-q", "-b", "main")
    (tmp_path / "with space").mkdir()
    for path in ("a.cu", "b.cu", "with space/c.cu", _STRANGE):
        (tmp_path / path).write_text("\n".join(_LINES))
    _git("add", ".")
    _git("commit", "-qm", "first")
    return tmp_path


def _text(path: str) -> str:
    return Path(path).read_text()


def _changed(path: str, base: str = "HEAD", count: int = 12) -> list[int]:
    changes = changes_since(base, ["a.cu"])
    finding = replace(column_read(path), related=())
    return [n for n in range(1, count) if changes.touch(replace(finding, place=place(n, 1, 2, path)), _text)]


def _edit(path: str, *lines: str) -> None:
    Path(path).write_text("\n".join(lines))


def test_nothing_changed(work_tree: Path) -> None:
    assert changes_since("HEAD", ["a.cu"]).ranges == {}


@pytest.mark.parametrize("path", ["a.cu", "with space/c.cu", _STRANGE])
def test_changed_and_added_lines(work_tree: Path, path: str) -> None:
    _edit(path, "line 1", "new", *_LINES[1:6], "other", *_LINES[7:9], "++ b.cu", "++ more")
    assert _changed(path) == [2, 8, 11]
    assert _changed("b.cu") == []


def test_removed_lines_change_their_neighbours(work_tree: Path) -> None:
    _edit("a.cu", *_LINES[2:])
    assert _changed("a.cu") == [1]
    _edit("a.cu", *_LINES[:4], *_LINES[5:])
    assert _changed("a.cu") == [4, 5]
    Path("b.cu").unlink()
    assert set(changes_since("HEAD", ["a.cu"]).ranges) == {str(work_tree / "a.cu")}


_FUNCTIONS = """namespace n {
__device__ float one(float *t) {
    t[0] = 1;
    __syncthreads();
    return t[1];
}

template <class T> struct S {
    __device__ void two(T *t) {
        t[0] = 2;
    }
};
}
__global__ void k(float *p) {
    p[0] = n::one(p);
    __syncthreads();
}
"""


@pytest.mark.parametrize(
    ("gone", "seen"),
    [
        # Of `one`: its own lines; those of `k`, whose text is another one, only for a line beside it.
        (4, {2, 3, 4, 5}),
        # Between functions, and so in neither of them.
        (7, set()),
        (10, {9, 10}),
        # Of the kernel, and so of all errors in it, in whatever function.
        (16, set(range(1, 17))),
    ],
)
def test_an_error_counts_where_its_function_or_kernel_has_changed(work_tree: Path, gone: int, seen: set[int]) -> None:
    lines = _FUNCTIONS.splitlines()
    _edit("a.cu", *lines)
    _git("commit", "-qam", "functions")
    left = [line for number, line in enumerate(lines, 1) if number != gone]
    _edit("a.cu", *left)
    first = left.index("__global__ void k(float *p) {") + 1
    body = place(first, 1, 2, "a.cu")._replace(end_line=len(left), end_column=2)
    changes = changes_since("HEAD", ["a.cu"])
    finding = replace(column_read("a.cu"), related=(), kernel_place=body)
    found = {
        severity: {
            n
            for n in range(1, len(left) + 1)
            if changes.touch(replace(finding, severity=severity, place=place(n, 1, 2, "a.cu")), _text)
        }
        for severity in ("error", "warning")
    }
    beside = {gone - 1, gone}
    assert found == {"error": seen | beside, "warning": beside}


def test_what_looks_like_a_header_in_a_hunk_is_none(work_tree: Path) -> None:
    _edit("a.cu", "++ b/elsewhere", "@@ -1 +1 @@", "-- a", *_LINES[3:9], "last")
    assert _changed("a.cu") == [1, 2, 3, 10]


def test_staged_committed_and_untracked(work_tree: Path) -> None:
    _edit("a.cu", "staged", *_LINES[1:])
    _git("add", "a.cu")
    assert _changed("a.cu") == [1]
    _git("commit", "-qm", "second")
    assert _changed("a.cu") == []
    assert _changed("a.cu", "HEAD~1") == [1]
    _edit("new.cu", "x")
    assert _changed("new.cu", count=4) == [1, 2, 3]


def test_a_branch_is_compared_with_where_it_was_left(work_tree: Path) -> None:
    _git("checkout", "-qb", "topic")
    _edit("a.cu", *_LINES[:9], "topic")
    _git("commit", "-qam", "topic")
    _git("checkout", "-q", "main")
    _edit("a.cu", "main", *_LINES[1:])
    _git("commit", "-qam", "main")
    _git("checkout", "-q", "topic")
    assert _changed("a.cu", "main") == [10]


def test_from_a_folder_below_and_after_a_rename(work_tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("with space")
    _git("mv", "c.cu", "d.cu")
    assert _changed("d.cu") == []
    _edit("d.cu", *_LINES[:9], "changed")
    assert _changed("d.cu") == [10]


def test_related_lines_count(work_tree: Path) -> None:
    _edit("a.cu", "line 1", "changed", *_LINES[2:])
    finding = replace(column_read("a.cu"), related=(Related(place(2, 1, 2, "a.cu"), "a row is 32 words"),))
    assert changes_since("HEAD", ["a.cu"]).touch(finding, _text)
    assert not changes_since("HEAD", ["a.cu"]).touch(replace(finding, related=()), _text)


def test_errors(work_tree: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for base in ("nowhere", "--output=x", "HEAD:a.cu"):
        with pytest.raises(ChangesError, match=f"git knows no revision `{base}`"):
            changes_since(base, ["a.cu"])
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(ChangesError, match=f"git in {Path.cwd()}: not a git repository"):
        changes_since("HEAD", ["a.cu"])
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ChangesError, match="git is not in PATH"):
        changes_since("HEAD", ["a.cu"])


def test_the_work_tree_of_each_file_counts(
    work_tree: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever folder the command was started in, and several at once."""
    other = tmp_path_factory.mktemp("other")
    monkeypatch.chdir(other)
    _git("init", "-q", "-b", "main")
    Path("b.cu").write_text("1\n2\n")
    _git("add", ".")
    _git("commit", "-qm", "first")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    paths = [str(work_tree / "a.cu"), str(other / "b.cu")]
    _edit(paths[0], "changed", *_LINES[1:])
    _edit(paths[1], "1", "changed", "")
    found = changes_since("HEAD", paths).ranges
    assert found == {str(work_tree / "a.cu"): [Changed(1, 1)], str(other / "b.cu"): [Changed(2, 2)]}
    with pytest.raises(ChangesError, match=f"no revision `HEAD~7` in {work_tree}"):
        changes_since("HEAD~7", paths)
