"""The lines that changed since a revision of git, and the findings that a change may have made, for `--diff`.

A repository may come from anybody, with its `.git`: its configuration names programs that git runs for a mere diff, to
watch the files, to convert or to compare them, or to fetch what is missing. None of them is.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.facts import Place
from cudalint.regexes import regex
from cudalint.source.bodies import function_lines
from cudalint.system.disk.arguments import as_path
from cudalint.system.disk.folders import work_tree
from cudalint.system.disk.tools import safe_environment, tool

_HUNK = regex(r"@@ -\d+(?:,(?P<removed>\d+))? \+(?P<start>\d+)(?:,(?P<added>\d+))? @@")
_ESCAPE = regex(r"\\([0-7]{3}|.)")
_OVERRIDES = {
    "core.fsmonitor": "",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "diff.external": "",
    "diff.orderFile": os.devnull,
    "protocol.allow": "never",
    "core.quotePath": "false",
}
"""Each wins over what the repository says."""
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # A partial clone fetches objects that it lacks, by any program that it names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",  # The index is left as it is, or a hook would run.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
}
_FILTER_KEYS = ("clean", "smudge", "process")
_GONE = "/dev/null"
"""What git calls the new version of a file that is there no more."""
_SECONDS = 120.0
"""A pipe in the place of a file that git reads would keep it waiting for good."""
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class ChangesError(RuntimeError):
    """Git is missing, this is no work tree, or there is no such revision."""


class Changed(NamedTuple):
    """Lines that changed, both ends inclusive; or those before and behind lines that are gone."""

    first: int
    last: int
    is_gap: bool = False

    def is_in(self, place: Place) -> bool:
        """Whether something changed in a piece of source: lines that are gone were in it if it has both neighbours."""
        if self.is_gap:
            return place.line <= self.first and self.last <= place.end_line
        return self.meets(place)

    def meets(self, place: Place) -> bool:
        return self.first <= place.end_line and place.line <= self.last


class Changes(Struct, frozen=True):
    """By resolved path, the lines that changed; None for a file that is all new."""

    ranges: dict[str, list[Changed] | None] = field(default_factory=dict)

    def touch(self, diagnostic: Diagnostic, text_of: Callable[[str], str]) -> bool:
        """Whether a line changed that the finding is on, or that it names, as the declaration of an array; for an error
        also, whether one did in its kernel, or in a function that one of these places is in: what makes a race may
        stand in neither, as a barrier that is gone."""
        places = [diagnostic.place, *(related.place for related in diagnostic.related)]
        if any(map(self._touches, places)):
            return True
        if diagnostic.severity != "error":
            return False
        kernel = [] if diagnostic.kernel_place is None else [diagnostic.kernel_place]
        functions = (function for place in places for function in self._functions_at(place, text_of))
        return any(change.is_in(each) for each in (*kernel, *functions) for change in self._of(each.path) or ())

    def _functions_at(self, place: Place, text_of: Callable[[str], str]) -> Iterator[Place]:
        """The function of C++ around a place, if its file has changed at all."""
        if not self._of(place.path) or place.path.endswith(".py"):
            return
        for first, last in function_lines(text_of(place.path)):
            if first <= place.line <= last:
                yield Place(place.path, first, 1, last, 1)

    def paths(self) -> list[str]:
        """The files with a line that changed; resolved."""
        return list(self.ranges)

    def after(self, edits: Sequence[Edit]) -> Changes:
        """The same once edits are made, whose lines have changed, too."""
        by_path: dict[str, list[Edit]] = {}
        for edit in edits:
            by_path.setdefault(os.path.realpath(edit.place.path), []).append(edit)
        ranges = dict(self.ranges)
        for path, own in by_path.items():
            old = self.ranges.get(path, [])
            if old is not None:
                edited = (Changed(edit.place.line, edit.place.end_line) for edit in own)
                ranges[path] = [_moved(each, own) for each in (*old, *edited)]
        return Changes(ranges)

    def _touches(self, place: Place) -> bool:
        changed = self._of(place.path)
        return changed is None or any(change.meets(place) for change in changed)

    def _of(self, path: str) -> list[Changed] | None:
        return self.ranges.get(os.path.realpath(path), [])


def _moved(lines: Changed, edits: Iterable[Edit]) -> Changed:
    """Where a range of lines is after edits; it grows by what is put into its first and last line."""
    first, last, _ = lines
    begin, end = first, last
    for edit in edits:
        more = edit.text.count("\n") - (edit.place.end_line - edit.place.line)
        begin += more if edit.place.end_line < first else 0
        end += more if edit.place.line <= last else 0
    return lines._replace(first=begin, last=max(begin, end))


def changes_since(base: str, paths: Iterable[str]) -> Changes:
    """What the work trees that these files are in have and the revision, or where this branch left it, had not;
    untracked files are new."""
    found = Changes()
    for folder in _work_trees(paths):
        found.ranges.update(_changes_in(folder, base).ranges)
    return found


def _work_trees(paths: Iterable[str]) -> Iterator[str]:
    """A folder for each work tree: its top, or, where its environment tells git, any folder."""
    folders = dict.fromkeys(os.path.dirname(os.path.realpath(path)) for path in paths)
    tops = dict.fromkeys(map(work_tree, folders))
    yield from tops or {os.curdir: None}


def top_with(base: str, folder: str) -> str:
    """The top of the work tree that a folder is in, which has this revision. Raises ChangesError."""
    top = _git(folder, "rev-parse", "--show-toplevel").rstrip("\n")
    if base.startswith("-") or _run(folder, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}").returncode:
        raise ChangesError(f"git knows no revision `{base}` in {top}; a shallow clone has to be deepened first")
    return top


def departure(base: str, top: str) -> str:
    """Where the branch that is checked out left a revision: the merge base of both, as of `git diff BASE...`; the
    revision itself where they have none. `top_with` has seen that it is there."""
    common = _run(top, "merge-base", base, "HEAD")
    return (common.stdout if common.returncode == 0 else _git(top, "rev-parse", f"{base}^{{commit}}")).strip()


def git_bytes(folder: str, *arguments: str, given: bytes = b"") -> bytes:
    """What git prints, as it prints it. Raises ChangesError."""
    done = _run_raw(folder, *arguments, given=given)
    if done.returncode:
        raise _refused(folder, done.stderr.decode("utf-8", "replace"))
    return done.stdout


def _changes_in(folder: str, base: str) -> Changes:
    git = partial(_git, folder)
    top = top_with(base, folder)
    start = departure(base, top)
    options = ("--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--no-prefix")
    # A work tree within this one has a configuration of its own.
    text = git(*_without_filters(folder), "diff", *options, "--ignore-submodules=all", start, "--")
    found = Changes()
    for path, change in _changed_lines(text.split("\n")):
        ranges = found.ranges.setdefault(_resolved(top, path), [])
        assert ranges is not None
        ranges.append(change)
    for path in _git(top, "ls-files", "-z", "--others", "--exclude-standard").split("\0"):
        if path:
            found.ranges[_resolved(top, path)] = None
    return found


def _without_filters(folder: str) -> Iterator[str]:
    """The options that take their programs from all filters that the configuration knows. Raises ChangesError."""
    listed = _run(folder, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    if listed.returncode > 1:
        raise ChangesError(f"git in {folder}: its configuration can't be read")
    names = {key.rpartition(".")[0] for key in listed.stdout.split("\0") if key}
    for name in sorted(names):
        if "=" in name:
            raise ChangesError(f"the configuration of {folder} has a filter with a strange name, `{name}`")
        for key in _FILTER_KEYS:
            yield from ("-c", f"{name}.{key}=")
        yield from ("-c", f"{name}.required=false")


def _resolved(top: str, path: str) -> str:
    return os.path.realpath(os.path.join(top, path))


def _changed_lines(lines: Sequence[str]) -> Iterator[tuple[str, Changed]]:
    """Path, first and last line of each hunk in the new file: what it adds, or, where it only takes lines away, what
    they stood between. What is in a hunk is skipped, whatever it looks like.

    unidiff 1.0.1 is no help: of git's output it refuses all for one path with a space (`--no-prefix`) or with ` b/` in
    it, and leaves paths in quotes as they are."""
    path = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        hunk = _HUNK.match(line)
        if line.startswith("+++ "):
            path = _unquoted(line[4:])
        elif hunk:
            added, start = int(hunk["added"] or 1), int(hunk["start"])
            if path != _GONE:
                # Of lines that are gone, git names the one before them, which is 0 before the first.
                yield path, Changed(start, start + added - 1) if added else Changed(start, start + 1, is_gap=True)
            number += added + int(hunk["removed"] or 1)


def _unquoted(path: str) -> str:
    """Git quotes paths with strange characters, and ends those with spaces with a tab."""
    if not path.startswith('"'):
        return path.rstrip("\t")

    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 8)) if len(code) == 3 else _LETTERS.get(code, code)

    return _ESCAPE.sub(character, path.rstrip("\t")[1:-1])


def _git(folder: str, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode:
        raise _refused(folder, done.stderr)
    return done.stdout


def _refused(folder: str, complaint: str) -> ChangesError:
    reason = complaint.strip().splitlines()
    return ChangesError(f"git in {folder}: {reason[0].removeprefix('fatal: ') if reason else 'failed'}")


def _run(folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = _run_raw(folder, *arguments)
    # As Python reads the output of a program: lines end in one way.
    stdout, stderr = (
        text.decode("utf-8", "surrogateescape").replace("\r\n", "\n") for text in (done.stdout, done.stderr)
    )
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr)


def _run_raw(folder: str, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    overrides = [word for key, value in _OVERRIDES.items() for word in ("-c", f"{key}={value}")]
    git = tool("git")
    if git is None:
        raise ChangesError("git is not in PATH")
    command = [git, "--no-pager", "-C", as_path(folder), *overrides, *arguments]
    try:
        return subprocess.run(  # noqa: S603  # The arguments are ours, but for a revision that git has checked.
            command, input=given, capture_output=True, check=False,
            env={**safe_environment(), **_ENVIRONMENT}, timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ChangesError(f"git in {folder} takes longer than {_SECONDS:g} seconds") from None
    except OSError as error:
        raise ChangesError(f"git cannot be run: {error.strerror}") from None
