"""What is ignored, compared with git itself."""

from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path

import pytest

from cudalint.project.path_patterns import GitIgnored, PathPatterns, bad_pattern
from cudalint.project.settings import FileIgnores

_FILES = (
    "a.cu", "b.gen.cu", "keep.gen.cu", "build/x.cu", "sub/a.cu", "sub/build/y.cu", "sub/deep/b.gen.cu",
    "sub/deep/local.cu", "other/local.cu", "top.cu", "sub/top.cu", "private/z.cu",
)  # fmt: skip


@pytest.fixture
def work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q"], check=True)
    for path in _FILES:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("")
    return tmp_path


def _ignored_by_git() -> set[str]:
    """Of the files, those that git leaves out of `git status`."""
    command = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--ignored", "--exclude-standard"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {path for path in found.split("\0") if path in _FILES}


def _ignored_by_us() -> set[str]:
    ignored = GitIgnored()
    found = set()
    for path in _FILES:
        parts = path.split("/")
        folders = ["/".join(parts[:count]) for count in range(1, len(parts))]
        if any(ignored(folder, True) for folder in folders) or ignored(path, False):
            found.add(path)
    return found


def test_as_git_does(work_tree: Path) -> None:
    (work_tree / ".gitignore").write_text("# generated\n*.gen.cu\n!keep.gen.cu\nbuild/\n/top.cu\n\n!\n")
    (work_tree / "sub" / ".gitignore").write_text("local.cu\n!build/\n")
    (work_tree / ".git" / "info").mkdir(exist_ok=True)
    (work_tree / ".git" / "info" / "exclude").write_text("private\n")
    assert _ignored_by_us() == _ignored_by_git()
    assert _ignored_by_us() == {
        "b.gen.cu", "build/x.cu", "sub/deep/b.gen.cu", "sub/deep/local.cu", "top.cu", "private/z.cu"
    }  # fmt: skip


def test_outside_of_work_trees_nothing_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.cu\n")
    assert not GitIgnored()(str(tmp_path / "a.cu"), False)


def test_a_work_tree_inside_of_another_has_its_own_patterns(work_tree: Path) -> None:
    (work_tree / ".gitignore").write_text("*.cu\n")
    (work_tree / "sub" / ".git").write_text("gitdir: elsewhere\n")
    assert not GitIgnored()("sub/a.cu", False)
    assert GitIgnored()("a.cu", False)


def test_patterns_count_from_their_folder_on(tmp_path: Path) -> None:
    patterns = PathPatterns(str(tmp_path), ("/a.cu", "gen/", "!gen/keep.cu"))
    assert patterns.says(str(tmp_path / "a.cu"))
    assert patterns.says(str(tmp_path / "b" / "a.cu")) is None
    assert patterns.says(str(tmp_path / "b" / "gen"), is_folder=True)
    assert patterns.says(str(tmp_path / "b" / "gen" / "x.cu"))
    assert patterns.says(str(tmp_path / "gen" / "keep.cu")) is False
    assert patterns.says(str(tmp_path.parent / "a.cu")) is None
    assert patterns.says(str(tmp_path)) is None
    assert pickle.loads(pickle.dumps(patterns)).says(str(tmp_path / "a.cu"))


def test_bad_patterns_are_named() -> None:
    assert bad_pattern(("a.cu", "!")) == "!"
    assert bad_pattern((os.curdir, "**/*.cu")) is None


@pytest.mark.parametrize(
    "pattern",
    ["a.cu", "/a.cu", "dir/", "dir/a.cu", "dir/*.cu", "*.cu", "**/a.cu", "dir/**/a.cu", "dir/**", "-a", "..", ".", "*",
     "a*b", "/dir/", "dir", "other/*", "!a.cu", "[a].cu", "\\a.cu", "A.cu", "x"],
)  # fmt: skip
def test_a_pattern_that_is_looked_at_alone_says_what_pathspec_does(pattern: str) -> None:
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines([pattern])
    assert bad_pattern((pattern,)) is None
    patterns = PathPatterns(os.path.abspath("."), (pattern,))
    for path in ("a.cu", "dir/a.cu", "dir/sub/a.cu", "other/dir/b.cu", "-a/x.cu", "ab/b.cu"):
        assert patterns.says(path) == spec.check_file(path).include


def test_many_patterns_for_single_files_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("pathspec.GitIgnoreSpec.from_lines", asked.append)
    entries = tuple((PathPatterns(os.path.abspath("."), (f"dir{n}/*.cu",)), ("CL101",)) for n in range(20_000))
    assert bad_pattern([patterns.patterns[0] for patterns, _ in entries]) is None
    assert not FileIgnores(entries).ignores("src/a.cu", "CL101", "uncoalesced-access")
    assert asked == []
