"""Whether a copy of a folder answers in the same way all that was asked of the folder."""

from __future__ import annotations

import os
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from cudalint.system.disk import recorder as disk
from cudalint.system.disk.present import Present
from cudalint.system.disk.recorder import Seen


class Move(Struct, frozen=True):
    """From one folder to another; both are resolved."""

    old: str
    new: str

    def text(self, text: str) -> str:
        """A path below the folder as one below the other; any other text as it is."""
        if text == self.old:
            return self.new
        return self.new + text.removeprefix(self.old) if text.startswith(self.old + os.sep) else text

    def value(self, value: Any) -> Any:
        """The same for all texts in lists, tuples and mappings."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bytes):
            return os.fsencode(self.text(os.fsdecode(value)))
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self.value(key): self.value(each) for key, each in value.items()}
        return value


def is_same_after(seen: Seen, move: Move) -> bool:
    """Whether each question that was noted has the same answer where it is about the folder that is moved to. What lies
    outside of both is the same."""
    if not seen.is_repeatable or seen.is_timed:
        return False
    elsewhere = Seen(
        kinds={moved: kind for path, kind in seen.kinds.items() if (moved := move.text(path)) != path},
        texts={
            moved: replace(text, stamp=None)
            for path, text in seen.texts.items()
            if (moved := move.text(path)) != path
        },
        names={moved: names for key, names in seen.names.items() if (moved := _moved_key(key, move)) != key},
        resolved={moved: move.text(to) for path, to in seen.resolved.items() if (moved := move.text(path)) != path},
    )
    # Times tell nothing of a copy.
    by_stamps = [key for key in seen.names if key.split("\0")[1].startswith(disk.STAMPS)]
    for key in by_stamps:
        if elsewhere.names.pop(_moved_key(key, move), None) is not None and not _have_same_texts(key, move):
            return False
    return Present().agrees_with(elsewhere) and all(_has_same_answer(asked, move) for asked in seen.answers)


def _moved_key(key: str, move: Move) -> str:
    folder, _, asked = key.partition("\0")
    return f"{move.text(folder)}\0{asked}"


def _have_same_texts(key: str, move: Move) -> bool:
    """Whether the files that were looked at by their times hold the same in both folders."""
    folder, most, *suffixes = key.split("\0")
    number = int(most.removeprefix(disk.STAMPS))
    one, other = (
        disk.listed(each, tuple(suffixes))
        if number == disk.ALONE
        else disk.listed_below(each, tuple(suffixes), number)
        for each in (folder, move.text(folder))
    )
    if one is None or one != other:
        return False
    return all(_has_same_text(os.path.join(folder, name), os.path.join(move.text(folder), name)) for name in one)


def _has_same_text(one: str, other: str) -> bool:
    present = Present()
    return present.digest_of(one) == present.digest_of(other)


def _has_same_answer(asked: bytes, move: Move) -> bool:
    question = disk.asked_by(asked)
    if question is None:
        return False
    function, args = question
    try:
        here, there = function(*args), function(*map(disk.as_asked, move.value(args)))
    except (TypeError, ValueError, OSError):
        return False
    return bool(_plain(here, move) == _plain(there, move))


def _plain(answer: object, move: Move) -> Any:
    return move.value(to_builtins(answer, order="deterministic"))
