"""Whether all that a result rests on is still as it was."""

from __future__ import annotations

import os
import stat
import sys
from typing import Final

from cudalint.system.disk import recorder as disk
from cudalint.system.disk.recorder import Kind, Seen, Text
from cudalint.system.disk.regular import read_regular

_LISTS_TELL: Final = sys.platform == "linux"
"""Elsewhere a file may be there under a name that differs from the listed one in the case of letters."""
_TOO_MANY: Final = 2_000
"""Names that a folder may have for its list to be read in place of questions for each."""


class Present:
    """What is on disk now. Each question is answered once: a run has many files that rest on the same."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._entries: dict[str, frozenset[str] | None] = {}
        self._asked: dict[str, int] = {}
        self._texts: dict[tuple[str, int], bytes] = {}
        self._names: dict[str, bytes] = {}
        self._folders: dict[str, str] = {}
        self._answers: dict[bytes, bytes | None] = {}

    def agrees_with(self, seen: Seen) -> bool:
        """Whether each question that was noted would be answered in the same way. The cheap ones come first."""
        return (
            all(self._has_text(path, text) for path, text in seen.texts.items())
            and all(self._kind(path) == kind for path, kind in seen.kinds.items())
            and all(self._digest_of_names(key) == names for key, names in seen.names.items())
            and all(self._resolved(path) == found for path, found in seen.resolved.items())
            and (
                (seen.behind is not None and self.agrees_with(seen.behind))
                or all(self._answer(asked) == answer for asked, answer in seen.answers.items())
            )
        )

    def _answer(self, asked: bytes) -> bytes | None:
        if asked not in self._answers:
            if not self._answers:
                # What this process remembers may be of an earlier run.
                disk.forget()
            self._answers[asked] = disk.answer_now(asked)
        return self._answers[asked]

    def _has_text(self, path: str, text: Text) -> bool:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return text.digest == disk.UNREADABLE
        if text.stamp is not None and stat.S_ISREG(status.st_mode) and disk.stamp_of(status) == text.stamp:
            return True
        return self.digest_of(path, text.most) == text.digest

    def digest_of(self, path: str, most: int = -1) -> bytes:
        """Of what a file holds, or of so many bytes of it."""
        key = path, most
        if key not in self._texts:
            self._texts[key] = _digest(path, most)
        return self._texts[key]

    def _kind(self, path: str) -> Kind:
        if path not in self._kinds:
            self._kinds[path] = "none" if self._is_not_listed(path) else disk.kind_of(path)
        return self._kinds[path]

    def _is_not_listed(self, path: str) -> bool:
        """Whether the folder's list tells that nothing is there."""
        folder, _, name = path.rpartition("/")
        if not _LISTS_TELL or not folder or name in ("", os.curdir, os.pardir):
            return False
        if folder not in self._entries:
            try:
                self._entries[folder] = frozenset(os.listdir(folder))
            except (FileNotFoundError, NotADirectoryError):
                self._entries[folder] = frozenset()
            except (OSError, ValueError):
                self._entries[folder] = None
        entries = self._entries[folder]
        return entries is not None and name not in entries

    def _digest_of_names(self, key: str) -> bytes:
        if key not in self._names:
            self._names[key] = _listed(key)
        return self._names[key]

    def _resolved(self, path: str) -> str:
        head, tail = os.path.split(path)
        if sys.platform == "win32" or tail in ("", os.curdir, os.pardir):
            return os.path.realpath(path)
        if head not in self._folders:
            self._folders[head] = os.path.realpath(head)
        plain = os.path.join(self._folders[head], tail)
        return os.path.realpath(path) if os.path.islink(plain) else plain


def _digest(path: str, most: int) -> bytes:
    try:
        data = read_regular(path, most)
    except (OSError, ValueError):
        return disk.UNREADABLE
    return disk.digest(data)


def _listed(key: str) -> bytes:
    folder, *asked = key.split("\0")
    if len(asked) == 1 and asked[0].isdecimal():
        names = disk.listed_folders(folder)
        is_too_much = names is not None and len(names) > int(asked[0])
        return disk.MANY if is_too_much else disk.digest_of_names(names)
    if asked and asked[0].startswith(disk.BELOW):
        most = int(asked[0].removeprefix(disk.BELOW))
        return disk.digest_of_names(disk.listed_below(folder, tuple(asked[1:]), most))
    if asked and asked[0].startswith(disk.STAMPS):
        return disk.stamps_below(folder, tuple(asked[1:]), int(asked[0].removeprefix(disk.STAMPS)))
    return disk.digest_of_names(disk.listed(folder, tuple(asked)))
