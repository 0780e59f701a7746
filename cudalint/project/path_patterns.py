"""Which paths patterns mean: those of the configuration, of the command line, and of `.gitignore` files.

All are written as in `.gitignore`; pathspec knows what that means.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.system.disk.regular import read_regular_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


_MOST_STARS = 3
"""In one part of a path; the time for a name goes with its length to this power."""
BAD_PATTERN = f"means nothing, or has more than {_MOST_STARS} stars in a part; patterns are written as in .gitignore"


_PLAIN = regex(r"/?[\w.*-]+(?:/[\w.*-]+)*/?", re.ASCII)
"""Patterns that always mean something: whether others do, pathspec says."""
_WORD = regex(r"[\w.-]+", re.ASCII)


class PathPatterns(Struct, frozen=True, dict=True):
    """Patterns that count from one folder on. Picklable: workers receive some."""

    folder: str
    """Absolute."""
    patterns: tuple[str, ...]

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        from pathspec import GitIgnoreSpec  # 28 ms, and most runs need none.

        return GitIgnoreSpec.from_lines(self.patterns)

    def says(self, path: str, is_folder: bool = False) -> bool | None:
        """Whether the patterns match a path; None if none speaks of it, False if one that begins with `!` does."""
        relative = self._relative(path)
        if not self.patterns or relative is None:
            return None
        if len(self.patterns) == 1 and not _may_match(self.patterns[0], relative):
            return None
        return self._spec.check_file(relative + "/" if is_folder else relative).include

    def _relative(self, path: str) -> str | None:
        """The path from the folder on, with slashes; None outside of it."""
        try:
            relative = os.path.relpath(os.path.abspath(path), self.folder)
        except ValueError:
            return None  # On another drive.
        if relative == os.curdir or relative.split(os.sep, 1)[0] == os.pardir:
            return None
        return relative.replace(os.sep, "/")


class GitIgnored:
    """What git would ignore: the `.gitignore` files of a work tree and its `.git/info/exclude`.

    Files that git tracks although a pattern matches them count as ignored, and patterns that one user keeps for all
    repositories are not read, so that a run gives the same for everybody.
    """

    def __init__(self) -> None:
        self._chains: dict[str, tuple[PathPatterns, ...]] = {}

    def __call__(self, path: str, is_folder: bool) -> bool:
        """Whether a path is ignored, if the folder that it is in is not."""
        folder = os.path.dirname(os.path.abspath(path))
        for patterns in reversed(self._chain(folder)):
            said = patterns.says(path, is_folder)
            if said is not None:
                return said
        return False

    def _chain(self, folder: str) -> tuple[PathPatterns, ...]:
        """The patterns that count in a folder, those that yield to others first; none outside of work trees."""
        if folder not in self._chains:
            self._chains[folder] = self._read_chain(folder)
        return self._chains[folder]

    def _read_chain(self, folder: str) -> tuple[PathPatterns, ...]:
        folders = [folder]
        while not os.path.exists(os.path.join(folders[-1], ".git")):
            parent = os.path.dirname(folders[-1])
            if parent == folders[-1]:
                return ()
            folders.append(parent)
        top = folders[-1]
        files = [(top, os.path.join(top, ".git", "info", "exclude"))]
        files += ((each, os.path.join(each, ".gitignore")) for each in reversed(folders))
        chain = (PathPatterns(each, _read_patterns(path)) for each, path in files)
        return tuple(patterns for patterns in chain if patterns.patterns)


def _read_patterns(path: str) -> tuple[str, ...]:
    """The lines of a file of patterns; none where there is no such file."""
    try:
        lines = read_regular_text(path).splitlines()
    except OSError:
        return ()
    return tuple(line for line in lines if line.strip() and not line.startswith("#") and _is_usable(line))


def _may_match(pattern: str, path: str) -> bool:
    """Whether a path has all that a pattern has beside its stars. Of thousands of patterns for single files pathspec
    need not be asked then, which takes a fifth of a millisecond for each."""
    return _PLAIN.fullmatch(pattern) is None or all(word in path for word in _WORD.findall(pattern))


def _is_usable(line: str) -> bool:
    """Git passes over a pattern that means nothing; pathspec raises an error. With many stars its expressions take
    longer than anybody would wait."""
    if line.count("**") > _MOST_STARS or any(part.count("*") > _MOST_STARS for part in line.split("/")):
        return False
    if _PLAIN.fullmatch(line) is not None and "**" not in line:
        return True
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def bad_pattern(patterns: Sequence[str]) -> str | None:
    """The first of a user's patterns that means nothing."""
    return next((pattern for pattern in patterns if not _is_usable(pattern)), None)
