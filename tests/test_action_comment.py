"""The action's comparison of a pull request, its gates and its comment: with the variables of a runner, and a service
that answers as GitHub does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT, git
from runner import Runner

_KERNEL = """\
__global__ void scale(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i * STRIDE];
}
void run(float *out, const float *in) { scale<<<4096, 256>>>(out, in, 1 << 20); }
"""
_BOT = {"login": "github-actions[bot]", "type": "Bot"}
_PEOPLE = {"login": "somebody", "type": "User"}


class _GitHub:
    """The comments of one pull request."""

    def __init__(self, may_write: bool = True) -> None:
        self.may_write = may_write
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.address = ""

    def answer(self, method: str, path: str, token: str, given: Any) -> tuple[int, Any]:
        self.asked.append(f"{method} {path}")
        if token != "Bearer secret":
            return 401, {"message": "Bad credentials"}
        if path == "/user":
            return 403, {"message": "Resource not accessible by integration"}
        if method == "GET":
            assert path.startswith("/repos/somebody/kernels/issues/7/comments?per_page=100&page=")
            start = 100 * (int(path.rpartition("=")[2]) - 1)
            return 200, self.comments[start : start + 100]
        if not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST":
            assert path == "/repos/somebody/kernels/issues/7/comments"
            self.comments.append({"id": len(self.comments) + 1, "user": _BOT, "body": given["body"]})
            return 201, self.comments[-1]
        (found,) = (each for each in self.comments if path == f"/repos/somebody/kernels/issues/comments/{each['id']}")
        found["body"] = given["body"]
        return 200, found


@contextmanager
def _served(github: _GitHub) -> Iterator[_GitHub]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            given = json.loads(self.rfile.read(length)) if length else None
            token = self.headers.get("Authorization", "")
            status, answer = github.answer(self.command, self.path, token, given)
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_PATCH = do_GET  # noqa: N815 - The library calls them so.

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    github.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()


class _PullRequest:
    """A repository as a runner has it: GitHub's merge of a branch is checked out."""

    def __init__(self, folder: Path, stride: int | str) -> None:
        self.workspace = folder / "workspace"
        (self.workspace / "src").mkdir(parents=True)
        git(self.workspace, "init", "-q", "-b", "main")
        self._write("src/scale.cu", _KERNEL.replace("STRIDE", "1"))
        self._write("src/other.cu", _KERNEL.replace("STRIDE", "2").replace("scale", "other"))
        self.base = self._commit("before")
        git(self.workspace, "checkout", "-q", "-b", "branch")
        self._write("src/scale.cu", _KERNEL.replace("STRIDE", str(stride)))
        self.head = self._commit("after")
        git(self.workspace, "checkout", "-q", "--detach", "main")
        git(self.workspace, "merge", "-q", "--no-ff", "--no-edit", self.head)
        self.temp = folder / "temp"
        program = self.temp / "runner" / "cudalint-"
        program.parent.mkdir(parents=True)
        program.symlink_to(ROOT)

    def change(self, stride: int) -> None:
        """A further commit on the branch, merged anew."""
        git(self.workspace, "checkout", "-q", "branch")
        self._write("src/scale.cu", _KERNEL.replace("STRIDE", str(stride)))
        self.head = self._commit("again")
        git(self.workspace, "checkout", "-q", "--detach", "main")
        git(self.workspace, "merge", "-q", "--no-ff", "--no-edit", self.head)

    def _write(self, name: str, text: str) -> None:
        (self.workspace / name).write_text(text)

    def _commit(self, message: str) -> str:
        git(self.workspace, "add", ".")
        git(self.workspace, "commit", "-q", "-m", message)
        return git(self.workspace, "rev-parse", "HEAD")

    def runs(self, github: _GitHub, event: Any = None, status: int = 0, **inputs: str) -> tuple[str, str]:
        """What the step prints once `cudalint diff` has, and what it writes into the summary. It leaves nothing."""
        request = {"number": 7, "base": {"sha": self.base}, "head": {"sha": self.head}}
        file = self.temp / "event.json"
        file.write_text(json.dumps({"pull_request": request} if event is None else event))
        given = {"comment": "true", "paths": "src", "token": "secret", **inputs}
        runner = Runner(self.workspace, self.temp, ROOT, **given)
        runner.values["steps.program.outputs.key"] = ""
        runner.environment |= {
            "GITHUB_EVENT_PATH": str(file), "GITHUB_EVENT_NAME": "pull_request", "GITHUB_BASE_REF": "main",
            "GITHUB_API_URL": github.address, "GITHUB_REPOSITORY": "somebody/kernels",
            "GITHUB_REF": "refs/pull/7/merge", "GITHUB_SHA": git(self.workspace, "rev-parse", "HEAD"),
            "RUNNER_TEMP": str(self.temp / "runner"), "no_proxy": "127.0.0.1",
        }  # fmt: skip
        done = runner.run("Compare with what was before")
        assert done.returncode == status, done.stderr
        assert git(self.workspace, "worktree", "list").count("\n") == 0
        assert git(self.workspace, "status", "--porcelain") == ""
        return done.stdout, runner.summary.read_text()


def _last(said: tuple[str, str]) -> str:
    return said[0].splitlines()[-1]


def test_a_comment_is_written_and_kept_up_to_date(tmp_path: Path) -> None:
    request = _PullRequest(tmp_path, stride=32)
    with _served(_GitHub()) as github:
        # Somebody else's, which begins as if it were the action's own, on an earlier page.
        foreign = {"id": 900, "user": _PEOPLE, "body": "<!-- cudalint: figures of"}
        github.comments += [{**foreign, "id": 900 + number} for number in range(100)]
        said, summary = request.runs(github)
        # The log has the whole comparison.
        assert said.startswith("scale (src/scale.cu:1), block 256, grid 4096\n")
        assert said.endswith("cudalint: the comment is written\n")
        (own,) = github.comments[100:]
        (row,) = (line for line in own["body"].splitlines() if line.startswith("| `scale`"))
        assert row.startswith("| `scale`<br>`src/scale.cu` | 256, grid 4096 | ")
        # Each warp loads 32 sectors in the place of 4, and stores 4: (32 + 4) / (4 + 4) times as many, of 8 x 32768.
        assert "| 262144 → **1179648** (worse) |" in row
        assert request.base[:10] in own["body"]
        assert row in summary

        # The documentation shows it.
        page = (ROOT / "docs" / "continuous-integration.md").read_text(encoding="utf-8")
        assert own["body"].replace(request.base[:10], "5f0a3c1d2e").partition("\n")[2].strip() in page

        # Another run of the same revision.
        assert _last(request.runs(github)) == "cudalint: the comment is as it was"
        request.change(stride=2)
        assert _last(request.runs(github)) == "cudalint: the comment is up to date"
        assert len(github.comments) == 101
        assert "262144 → **393216**" in github.comments[100]["body"]
        request.change(stride=1)
        said, summary = request.runs(github)
        assert (said.splitlines()[-1], summary) == ("cudalint: the comment is up to date", "")
        assert f"No kernel has other figures than in `{request.base[:10]}`." in github.comments[100]["body"]


def test_nothing_has_changed(tmp_path: Path) -> None:
    request = _PullRequest(tmp_path, stride="1 /* as it was */")
    with _served(_GitHub()) as github:
        said, summary = request.runs(github)
    assert (said.splitlines()[-1], summary) == ("cudalint: no kernel has other figures, so there is no comment", "")
    assert github.comments == []


def test_without_a_right_to_write(tmp_path: Path) -> None:
    """One line says so, and the summary has the table."""
    request = _PullRequest(tmp_path, stride=32)
    with _served(_GitHub(may_write=False)) as github:
        said, summary = request.runs(github)
        told = "::notice title=cudalint::No comparison is told: the token may not write one: the job needs the "
        assert said.count("::notice") == 1 and said.splitlines()[-1].startswith(told)
        assert "`scale`<br>`src/scale.cu`" in summary
        assert github.comments == []
        said, _ = request.runs(github, token="")
        assert said.endswith("::notice title=cudalint::No comparison is told: there is no token\n")
    said, summary = request.runs(github)
    assert said.splitlines()[-1].startswith("::notice title=cudalint::No comparison is told: GitHub can't be asked: ")
    assert "`scale`" in summary


def test_it_is_off_unless_asked_for(tmp_path: Path) -> None:
    request = _PullRequest(tmp_path, stride=32)
    with _served(_GitHub()) as github:
        assert request.runs(github, comment="false") == ("", "")
        assert github.asked == []


@pytest.mark.parametrize(("depth", "said"), [(1, "needs `fetch-depth: 0`"), (2, "the comment is written")])
def test_how_much_of_the_history_it_takes(tmp_path: Path, depth: int, said: str) -> None:
    """GitHub's merge of a branch has the revision before as its first parent."""
    request = _PullRequest(tmp_path, stride=32)
    git(request.workspace, "branch", "merged", "HEAD")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", f"--depth={depth}", "--branch=merged", request.workspace.as_uri(), str(shallow))
    request.workspace = shallow
    with _served(_GitHub()) as github:
        assert said in request.runs(github)[0]


def test_files_that_come_and_files_that_nobody_can_evaluate(tmp_path: Path) -> None:
    """A file that is there and can't be read is no kernel that is gone."""
    request = _PullRequest(tmp_path, stride=32)
    git(request.workspace, "checkout", "-q", "branch")
    (request.workspace / "src" / "fresh.cu").write_text(_KERNEL.replace("STRIDE", "1").replace("scale", "fresh"))
    (request.workspace / "src" / "other.cu").write_text("int long_line[] = {" + "1," * 600_000 + "1};\n")
    git(request.workspace, "mv", "src/scale.cu", "src/moved.cu")
    request.head = request._commit("more")
    git(request.workspace, "checkout", "-q", "--detach", "main")
    git(request.workspace, "merge", "-q", "--no-ff", "--no-edit", request.head)
    with _served(_GitHub()) as github:
        assert _last(request.runs(github)) == "cudalint: the comment is written"
    text = github.comments[0]["body"]
    assert "| `fresh`<br>`src/fresh.cu` | new: 256" in text
    # A kernel that went to another file is the same one.
    assert "| `scale`<br>`src/moved.cu` | 256, grid 4096 |" in text
    assert "`other`" not in text
    assert "Not compared: src/other.cu, not evaluated in one of the versions." in text


def test_gates_fail_the_step_and_are_told(tmp_path: Path) -> None:
    request = _PullRequest(tmp_path, stride=32)
    gates = "sectors_per_request <= 20\n\n  scale: time <= 1.05\n"
    with _served(_GitHub()) as github:
        said, summary = request.runs(github, status=1, gates=gates)
        assert "gate failed: `scale: time <= 1.05`: scale, block 256, grid 4096: time is " in said
        assert said.count("gate failed") == 1
        (comment,) = github.comments
        assert "**Gate failed**: `scale: time <= 1.05`: `scale`, 256, grid 4096: " in (
            comment["body"]
        )
        assert "**Gate failed**" in summary
        # Nobody needs to be told by a comment, and whoever may write none is not let off.
        assert "gate failed" in request.runs(github, status=1, gates=gates, comment="false")[0]
        assert "gate failed" in request.runs(github, status=1, gates=gates, token="")[0]
        passing = request.runs(github, gates="time <= 100", comment="false")
        assert "1 gate passed" in passing[0]
        # A gate that can't be checked is none that passes.
        absent = {"number": 7, "base": {"sha": "0" * 40}, "head": {"sha": "1" * 40}}
        said, _ = request.runs(github, {"pull_request": absent}, status=2, gates=gates)
        assert said.startswith("::error title=cudalint::Gates can't be checked: the revision before is not in the ")
        said, _ = request.runs(github, status=2, gates="tme <= 1")
        assert "no figure is called `tme`" in said
        # Where nothing is changed there is nothing to keep.
        assert "not about a pull request" in request.runs(github, {"ref": "refs/heads/main"}, gates=gates)[0]


def test_what_is_no_pull_request_or_not_there(tmp_path: Path) -> None:
    request = _PullRequest(tmp_path, stride=32)
    with _served(_GitHub()) as github:
        for event in ({"ref": "refs/heads/main"}, {"pull_request": None}, {"pull_request": {"number": "x"}}):
            assert "not about a pull request" in request.runs(github, event)[0]
        absent = {"number": 7, "base": {"sha": "0" * 40}, "head": {"sha": "1" * 40}}
        assert "needs `fetch-depth: 0`" in request.runs(github, {"pull_request": absent})[0]
        hostile = {"number": 7, "base": {"sha": "--output=x"}, "head": {"sha": request.head}}
        assert "names no revisions" in request.runs(github, {"pull_request": hostile})[0]
        assert "gives no figures" in request.runs(github, comment_args="--target nonsense")[0]
        assert github.asked == []


def test_options_and_folders(tmp_path: Path) -> None:
    """`working-directory`, and options that `cudalint diff` takes; a hook of the repository is not run."""
    request = _PullRequest(tmp_path, stride=32)
    hook = request.workspace / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hacked\n")
    hook.chmod(0o755)
    with _served(_GitHub()) as github:
        inputs = {"paths": "scale.cu", "working_directory": "src", "comment_args": "--target h100"}
        assert _last(request.runs(github, **inputs)) == "cudalint: the comment is written"
        assert "| `scale`<br>`scale.cu` |" in github.comments[0]["body"]
        assert "for h100" in github.comments[0]["body"]
    assert not (tmp_path / "hacked").exists()


def test_its_modules_need_python_alone() -> None:
    """cudalint is in a folder of its own, and nothing else is installed."""
    for file in (ROOT / "action").glob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert "import cudalint" not in text and "from cudalint" not in text
