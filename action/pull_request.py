"""A comment on a pull request with the figures of the kernels that it changes, before and after.

The figures of the revision before come from a work tree of its own. Whatever stands in the way is one line in the log,
and never a failure of the run: the same table is in the run's summary.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kernel_figures import KINDS, Kernels, body, failed, kernels, table, without

_ELSEWHERE = "; the table is in the run's summary"
_PATIENCE = 30
_MOST_PAGES = 20
_ACTIONS_OWN = "github-actions[bot]"
"""Who writes with the token that a job has of itself."""
_SHA = re.compile(r"[0-9a-f]{40,64}")
_NOT_RUN = ("core.hooksPath=/dev/null", "filter.lfs.smudge=", "filter.lfs.process=", "filter.lfs.required=false")
"""What a checkout may run of the configuration, made to run nothing."""


class NoComment(Exception):
    """Why there is none, in a line."""


class Request(NamedTuple):
    """The pull request that a run is about."""

    number: int
    base: str
    head: str


def comment(environment: Mapping[str, str], paths: Sequence[str], options: Sequence[str]) -> None:
    """Compares, and tells the pull request and the run's summary. Raises NoComment."""
    request = request_of(environment)
    # Whatever is started from here on needs no right to write.
    kept = {name: value for name, value in environment.items() if name != "CUDALINT_TOKEN"}
    revision = revision_before(request, kept)
    with work_tree(revision, kept) as folder:
        before = _facts(paths, options, folder, kept)
    after = _facts(paths, options, Path.cwd(), kept)
    unknown = before.unknown | after.unknown
    rows = table(without(before.kernels, unknown), without(after.kernels, unknown))
    marker = marker_of(paths, _prefix(kept))
    text = body(marker, f"`{revision[:10]}`", rows, len(unknown))
    if rows and (summary := environment.get("GITHUB_STEP_SUMMARY")):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(f"\n{text}")
    sys.stdout.write(f"cudalint: {_Service(environment).tell(request.number, marker, text, bool(rows))}\n")


def request_of(environment: Mapping[str, str]) -> Request:
    try:
        event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        found = event["pull_request"]
        request = Request(int(found["number"]), str(found["base"]["sha"]), str(found["head"]["sha"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise NoComment("this run is not about a pull request") from None
    if not (_SHA.fullmatch(request.base) and _SHA.fullmatch(request.head)):
        raise NoComment("the event names no revisions")
    return request


def marker_of(paths: Sequence[str], prefix: str) -> str:
    """By which a comment is found again. Another use of the action in the same workflow has another one."""
    key = hashlib.sha256("\0".join([prefix, *paths]).encode()).hexdigest()[:12]
    return f"<!-- cudalint: figures of {key} -->"


# --- revisions ----------------------------------------------------------------------------------------


def revision_before(request: Request, environment: Mapping[str, str]) -> str:
    """What the checked out revision is compared with: GitHub's merge of a pull request has it as its first parent."""
    parents = _git(environment, "rev-list", "--parents", "-n", "1", "HEAD").split()[1:]
    if len(parents) == 2 and parents[1] == request.head and _is_there(environment, parents[0]):
        return parents[0]
    found = _git(environment, "merge-base", request.base, "HEAD")
    if not found:
        raise NoComment("the revision before is not in the checkout, which needs `fetch-depth: 0`")
    return found


@contextmanager
def work_tree(revision: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """The current folder as it was then."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "before")
        harmless = [word for setting in _NOT_RUN for word in ("-c", setting)]
        done = _run(environment, "git", *harmless, "worktree", "add", "--quiet", "--detach", str(folder), revision)
        if done.returncode:
            raise NoComment(f"git makes no work tree of {revision[:10]}")
        try:
            here = folder / _prefix(environment)
            here.mkdir(parents=True, exist_ok=True)
            yield here
        finally:
            _run(environment, "git", "worktree", "remove", "--force", str(folder))


def _prefix(environment: Mapping[str, str]) -> str:
    """The current folder as seen from the root of the repository."""
    return _git(environment, "rev-parse", "--show-prefix")


def _is_there(environment: Mapping[str, str], revision: str) -> bool:
    return _run(environment, "git", "cat-file", "-e", f"{revision}^{{tree}}").returncode == 0


def _git(environment: Mapping[str, str], *arguments: str) -> str:
    """What it prints; nothing where it fails."""
    done = _run(environment, "git", *arguments)
    return done.stdout.strip() if done.returncode == 0 else ""


def _run(environment: Mapping[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )


# --- figures ------------------------------------------------------------------------------------------


class _Facts(NamedTuple):
    kernels: Kernels
    unknown: set[str]
    """Files that are there and of which nothing is known."""


def _facts(paths: Sequence[str], options: Sequence[str], folder: Path, environment: Mapping[str, str]) -> _Facts:
    """Paths that are in one of the revisions alone have no kernels in the other."""
    where = {"PYTHONPATH": environment["CUDALINT_FOLDER"], "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "cudalint", "facts", "--format", "json", "--only", KINDS, *options, "--", *paths]
    done = subprocess.run(
        command, cwd=folder, env={**environment, **where}, stdin=subprocess.DEVNULL, capture_output=True,
        encoding="utf-8", check=False,
    )  # fmt: skip
    try:
        document = json.loads(done.stdout)
        return _Facts(kernels(document), {path for path in failed(document) if (folder / path).is_file()})
    except (ValueError, KeyError, TypeError):
        said = next(iter(done.stderr.strip().splitlines()), f"exit status {done.returncode}")
        raise NoComment(f"`cudalint facts` gives no figures: {said}") from None


# --- the service --------------------------------------------------------------------------------------


class _Service:
    """GitHub's interface, with the token of the job."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._token = environment.get("CUDALINT_TOKEN", "")
        self._api = environment.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
        self._repository = environment.get("GITHUB_REPOSITORY", "")

    def tell(self, number: int, marker: str, text: str, is_news: bool) -> str:
        """Writes the comment, or writes the own one of an earlier run anew; says what was done. Without news only an
        earlier one is changed."""
        if not self._token:
            raise NoComment("there is no token")
        comments = f"/repos/{self._repository}/issues/{number}/comments"
        try:
            earlier = self._own(comments, marker)
            if earlier is not None:
                if earlier["body"].replace("\r\n", "\n").strip() == text.strip():
                    return "the comment is as it was"
                self._ask("PATCH", f"/repos/{self._repository}/issues/comments/{int(earlier['id'])}", {"body": text})
                return "the comment is up to date"
            if not is_news:
                return "no kernel has other figures, so there is no comment"
            self._ask("POST", comments, {"body": text})
        except urllib.error.HTTPError as error:
            if error.code in (401, 403, 404):
                raise NoComment(
                    "the token may not write one: the job needs the permission `pull-requests: write`, which runs for "
                    f"forks do not have{_ELSEWHERE}"
                ) from None
            raise NoComment(f"GitHub answers {error.code}{_ELSEWHERE}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoComment(f"GitHub can't be asked: {type(error).__name__}{_ELSEWHERE}") from None
        return "the comment is written"

    def _own(self, comments: str, marker: str) -> Any:
        """The own comment, and nobody else's that begins in the same way."""
        names = {_ACTIONS_OWN, self._name()}
        for page in range(1, _MOST_PAGES + 1):
            found = self._ask("GET", f"{comments}?per_page=100&page={page}")
            for each in found:
                if each["user"]["login"] in names and (each.get("body") or "").startswith(marker):
                    return each
            if len(found) < 100:
                return None
        return None

    def _name(self) -> str:
        """Whose token it is; that of a job has no user."""
        try:
            return str(self._ask("GET", "/user")["login"])
        except (urllib.error.HTTPError, KeyError, TypeError):
            return _ACTIONS_OWN

    def _ask(self, method: str, path: str, given: Any = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - The runner says which address it is.
            f"{self._api}{path}",
            method=method,
            data=None if given is None else json.dumps(given).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "cudalint",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:  # noqa: S310
            return json.loads(answer.read().decode())


def say(reason: str) -> None:
    """A line in the log, which GitHub shows beside the run, too."""
    text = reason.replace("%", "%25").replace("\r", " ").replace("\n", " ")
    sys.stdout.write(f"::notice title=cudalint::No comment: {text}{os.linesep}")
