"""Which files of a folder mention a word: an index of all words of their texts, made once a process.

Each file of a project asks for the names of its own functions and kernels in all files beside it. To read all of these
for each would take the square of their number.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.source.comments import COMMENT_IN_BYTES
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.folders import small_file

CALLING: Final = (".cu", ".cpp", ".cc", ".cxx", ".c")
HEADERS: Final = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl")
_WORD: Final = regex(rb"\w+")


class _Index(Struct, frozen=True):
    """Of the files of one folder that end in some way."""

    names: tuple[str, ...]
    files: dict[bytes, int | list[int]]
    """For each word the positions of the files that have it: most stand in one."""

    def having(self, words: Collection[bytes]) -> set[int]:
        """The positions of the files that have all of some words."""
        found: set[int] | None = None
        for word in words:
            files = self.files.get(word, ())
            own = {files} if isinstance(files, int) else set(files)
            found = own if found is None else found & own
        return set(range(len(self.names))) if found is None else found


def mentioning(folder: str, suffixes: tuple[str, ...], most: int, asked: Sequence[Collection[bytes]]) -> list[str]:
    """The files of a folder that end so and may have one of some texts, of each of which all words are given, in order.
    None of a folder that has more than `most` of them."""
    if len(_names(folder, suffixes)) > most:
        return []
    found: set[str] = set()
    for group in (CALLING, HEADERS):
        if not set(group).isdisjoint(suffixes):
            index = _index(folder, group)
            found.update(index.names[position] for words in asked for position in index.having(words))
    return [os.path.join(folder, name) for name in sorted(found) if name.endswith(suffixes)]


def words_in(text: bytes) -> tuple[bytes, ...]:
    """The words of which an index tells where they are, of a text that is asked for as it stands between what is no
    part of a word."""
    return tuple(_WORD.findall(text))


@disk.remembered(64)
def without_comments(path: str) -> bytes:
    """The text of a file, with a blank for each of its comments."""
    return COMMENT_IN_BYTES.sub(b" ", small_file(path))


@disk.remembered(64)
def _names(folder: str, suffixes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(disk.names_in(folder, suffixes))


@disk.remembered(8)
def _index(folder: str, suffixes: tuple[str, ...]) -> _Index:
    files: dict[bytes, int | list[int]] = {}
    with disk.by_stamps(folder, suffixes, disk.ALONE):
        names = tuple(disk.names_in(folder, suffixes))
        for position, name in enumerate(names):
            for word in set(_WORD.findall(small_file(os.path.join(folder, name)))):
                known = files.setdefault(word, position)
                if isinstance(known, list):
                    known.append(position)
                elif known != position:
                    files[word] = [known, position]
    return _Index(names, files)
