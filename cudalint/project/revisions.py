"""The files of a revision of git in a folder of their own.

A repository may come from anybody, with its `.git`. The files are written as git keeps them: no filter, hook or other
program that a repository names is run, and links are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from cudalint.project.changes import ChangesError, departure, git_bytes, top_with

_LARGEST: Final = 1 << 20
"""Bytes of a file that may be source or says how source is built; data are larger."""
_MOST_BYTES: Final = 1 << 29
_REGULAR: Final = ("100644", "100755")


class Revision(NamedTuple):
    """Where the files of a revision are, and the top of the work tree that it is a revision of."""

    folder: str
    top: str
    name: str
    """The commit."""

    def place_of(self, path: str) -> str:
        """Where a path of the work tree is in the revision, be it that it isn't there."""
        return os.path.normpath(os.path.join(self.folder, os.path.relpath(os.path.realpath(path), self.top)))

    def holds(self, path: str) -> bool:
        """Whether a path is one of the work tree."""
        return os.path.commonpath((os.path.realpath(path), self.top)) == self.top


@contextmanager
def revision_files(name: str, path: str) -> Iterator[Revision]:
    """The files of the work tree that a path is in as they were where its branch left a revision (`departure`), for as
    long as they are needed. Raises ChangesError."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    top = top_with(name, folder or os.curdir)
    with TemporaryDirectory(prefix="cudalint-", ignore_cleanup_errors=True) as made:
        # What lies below is one project, and looks like the other one.
        mark = os.path.join(made, ".git")
        if os.path.isdir(os.path.join(top, ".git")):
            os.mkdir(mark)
        else:
            open(mark, "wb").close()
        commit = departure(name, top)
        _write(made, commit, top)
        yield Revision(os.path.realpath(made), os.path.realpath(top), commit)


def _write(folder: str, name: str, top: str) -> None:
    wanted = list(_listed(git_bytes(top, "ls-tree", "-r", "-l", "-z", "--full-tree", f"{name}^{{commit}}")))
    if sum(size for _, _, size in wanted) > _MOST_BYTES:
        raise ChangesError(f"`{name}` has more than {_MOST_BYTES >> 20} MiB of files that may be source")
    asked = b"".join(digest + b"\n" for digest, _, _ in wanted)
    answer = git_bytes(top, "cat-file", "--batch", given=asked)
    position = 0
    for _, path, size in wanted:
        start = answer.index(b"\n", position) + 1
        place = os.path.join(os.fsencode(folder), path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(answer[start : start + size])
        position = start + size + 1


def _listed(listing: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """The digest, path and size of each file."""
    for entry in filter(None, listing.split(b"\0")):
        head, _, path = entry.partition(b"\t")
        mode, _, digest, size = head.split()
        parts = path.split(b"/")
        is_plain = not {b"", b".", b".."} & set(parts) and b".git" not in (part.lower() for part in parts)
        if mode.decode() in _REGULAR and is_plain and int(size) <= _LARGEST:
            yield digest, path, int(size)


def head_of(path: str) -> str | None:
    """The revision that the work tree around a path is at; None where git knows none."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    try:
        return git_bytes(folder or os.curdir, "rev-parse", "--verify", "--quiet", "HEAD").decode().strip() or None
    except ChangesError:
        return None
