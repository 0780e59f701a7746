"""The kernels of a pull request beside those before it: figures and gates from `cudalint diff`, told in the run's
summary and, where that is wanted, in a comment.

A gate that fails fails the step. Without gates, whatever stands in the way is one line in the log, and never a failure
of the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_ELSEWHERE = "; the table is in the run's summary"
_PATIENCE = 30
_MOST_PAGES = 20
_ACTIONS_OWN = "github-actions[bot]"
"""Who writes with the token that a job has of itself."""
_SHA = re.compile(r"[0-9a-f]{40,64}")
_GATES_FAIL = 1
"""An exit status of `cudalint diff`."""


class NoComparison(Exception):
    """Why there is none, or no comment on it, in a line."""


class NoPullRequest(NoComparison):
    """Nothing that could be compared."""


class Request(NamedTuple):
    """The pull request that a run is about."""

    number: int
    base: str
    head: str


class Comparison(NamedTuple):
    text: str
    """A table in Markdown, and what else there is to say."""
    is_news: bool
    """Whether any kernel differs, or a gate fails."""
    status: int


def compared(
    environment: Mapping[str, str], paths: Sequence[str], options: Sequence[str], gates: Sequence[str]
) -> tuple[Request, Comparison]:
    """What `cudalint diff` says of the pull request; it is in the run's summary then. Raises NoComparison."""
    request = request_of(environment)
    # Whatever is started from here on needs no right to write.
    kept = {name: value for name, value in environment.items() if name != "CUDALINT_TOKEN"}
    found = _diff(revision_before(request, kept), paths, [*options, *(f"--gate={gate}" for gate in gates)], kept)
    if found.is_news and (summary := environment.get("GITHUB_STEP_SUMMARY")):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(f"\n{found.text}")
    return request, found


def comment(environment: Mapping[str, str], paths: Sequence[str], request: Request, comparison: Comparison) -> str:
    """Tells the pull request, and says what was done. Raises NoComparison."""
    kept = {name: value for name, value in environment.items() if name != "CUDALINT_TOKEN"}
    marker = marker_of(paths, _git(kept, "rev-parse", "--show-prefix"))
    service = _Service(environment)
    return service.tell(request.number, marker, f"{marker}\n{comparison.text}", comparison.is_news)


def request_of(environment: Mapping[str, str]) -> Request:
    try:
        event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        found = event["pull_request"]
        request = Request(int(found["number"]), str(found["base"]["sha"]), str(found["head"]["sha"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise NoPullRequest("this run is not about a pull request") from None
    if not (_SHA.fullmatch(request.base) and _SHA.fullmatch(request.head)):
        raise NoPullRequest("the event names no revisions")
    return request


def marker_of(paths: Sequence[str], prefix: str) -> str:
    """By which a comment is found again. Another use of the action in the same workflow has another one."""
    key = hashlib.sha256("\0".join([prefix, *paths]).encode()).hexdigest()[:12]
    return f"<!-- cudalint: figures of {key} -->"


def revision_before(request: Request, environment: Mapping[str, str]) -> str:
    """What `cudalint diff --base` is given: GitHub's merge of a pull request has what it was merged with as its first
    parent, which may be newer than the event's base."""
    parents = _git(environment, "rev-list", "--parents", "-n", "1", "HEAD").split()[1:]
    found = parents[0] if len(parents) == 2 and parents[1] == request.head else request.base
    if not _git(environment, "rev-parse", "--verify", "--quiet", f"{found}^{{tree}}"):
        raise NoComparison("the revision before is not in the checkout, which needs `fetch-depth: 0`")
    return found


def _git(environment: Mapping[str, str], *arguments: str) -> str:
    """What it prints; nothing where it fails."""
    done = _run(["git", *arguments], environment)
    return done.stdout.strip() if done.returncode == 0 else ""


def _run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )


def _diff(revision: str, paths: Sequence[str], options: Sequence[str], environment: Mapping[str, str]) -> Comparison:
    """What is compared of the checked out files, and of those where they left a revision."""
    folder = Path(environment["CUDALINT_REPORTS"])
    folder.mkdir(parents=True, exist_ok=True)
    table, document = folder / "diff.md", folder / "diff.json"
    for old in (table, document):
        old.unlink(missing_ok=True)
    where = {"PYTHONPATH": environment["CUDALINT_FOLDER"], "PYTHONSAFEPATH": "1"}
    command = [
        sys.executable, "-m", "cudalint", "diff", f"--base={revision}", f"--output=markdown={table}",
        f"--output=json={document}", *options, "--", *paths,
    ]  # fmt: skip
    done = _run(command, {**environment, **where})
    try:
        found = json.loads(document.read_text(encoding="utf-8"))
        fails = not all(gate["passes"] for gate in found["gates"])
        is_news = bool(found["differs"]) or fails
        text = table.read_text(encoding="utf-8")
    except (OSError, ValueError, KeyError, TypeError):
        said = next(iter(done.stderr.strip().splitlines()), f"exit status {done.returncode}")
        raise NoComparison(f"`cudalint diff` gives no figures: {said}") from None
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    # Of a file that could not be evaluated nobody knows whether it keeps them.
    return Comparison(text, is_news, done.returncode if done.returncode else _GATES_FAIL * fails)


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
            raise NoComparison("there is no token")
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
                raise NoComparison(
                    "the token may not write one: the job needs the permission `pull-requests: write`, which runs for "
                    f"forks do not have{_ELSEWHERE}"
                ) from None
            raise NoComparison(f"GitHub answers {error.code}{_ELSEWHERE}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoComparison(f"GitHub can't be asked: {type(error).__name__}{_ELSEWHERE}") from None
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


def say(reason: str, is_failure: bool = False) -> None:
    """A line in the log, which GitHub shows beside the run, too."""
    text = reason.replace("%", "%25").replace("\r", " ").replace("\n", " ")
    gates, told = "error title=cudalint::Gates can't be checked", "notice title=cudalint::No comparison is told"
    what = gates if is_failure else told
    sys.stdout.write(f"::{what}: {text}{os.linesep}")
