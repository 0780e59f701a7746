"""Which files of a folder and of a copy of it are the same in all that findings and figures of them rest on, so that
nobody has to evaluate their kernels to say so."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from cudalint.run.job import CheckJob
from cudalint.run.limits import Limits, Lost
from cudalint.run.runs import run_all
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.moved import Move, is_same_after
from cudalint.system.disk.recorder import Seen, noting
from cudalint.system.disk.regular import read_regular


class _Look(Struct, frozen=True):
    """A file in both folders, or in one of them; travels to a worker."""

    new: CheckJob | None
    old: CheckJob | None
    move: Move


class _Looked(Struct, frozen=True):
    is_same: bool = False
    is_whole: bool = False
    """Whether all was looked through, on both sides."""
    defining: frozenset[str] = frozenset()
    """Where kernels of the file stand, as paths from the folder on, in one folder or the other."""
    read: frozenset[str] = frozenset()
    """Which files were read for it, as such paths."""


_LOST = _Looked()


class Counterpart(NamedTuple):
    """A file in both folders, or in one of them."""

    new: CheckJob | None
    old: CheckJob | None
    is_optional: bool
    """It is linted only if no other file includes it."""


def same_files(files: Mapping[str, Counterpart], move: Move, limits: Limits) -> set[str]:
    """Those, by their paths from the folder on, of which the same would be found in both folders, or which other files
    include that are linted in their place.

    `move` leads from the new folder to the old one. A file that has kernels in common with one that differs counts as
    different: a kernel of a header that one of them no longer launches may be launched by the other one."""
    sources = {key: each for key, each in files.items() if not each.is_optional}
    looked = _all_looked_at(sources, move, limits)
    read = {path for each in looked.values() for path in each.read}
    looked |= _all_looked_at({k: each for k, each in files.items() if k not in sources and k not in read}, move, limits)
    differing = {key for key, each in looked.items() if not each.is_same}
    if not all(looked[key].is_whole for key in differing):
        # It may have kernels of any other file.
        differing |= {key for key, each in looked.items() if not each.defining <= {key}}
    while beside := _beside(looked, differing):
        differing |= beside
    # What a file includes that differs may have to be linted by itself.
    differing |= {path for key in differing for path in looked[key].read if path not in looked}
    return files.keys() - differing


def _all_looked_at(files: Mapping[str, Counterpart], move: Move, limits: Limits) -> dict[str, _Looked]:
    keys = list(files)
    looks = [_Look(each.new, each.old, move) for each in files.values()]
    answers = {keys[index]: answer for index, answer in run_all(_look, looks, limits)}
    return {key: _LOST if isinstance(answer, Lost) else answer for key, answer in answers.items()}


def _beside(looked: Mapping[str, _Looked], differing: Collection[str]) -> set[str]:
    """Further files with a kernel in a file that one of those has kernels in."""
    touched = {path for key in differing for path in looked[key].defining}
    return {key for key, each in looked.items() if key not in differing and touched & each.defining}


def _look(look: _Look) -> _Looked:
    from cudalint.frontend.reading import SourceError
    from cudalint.system.processes.time_limit import OutOfTime

    move = look.move
    old, new = (_absolute(job) for job in (look.old, look.new))
    found = _Looked(is_whole=True)
    try:
        if new is not None:
            found, seen = _looked_through(new, move.old)
            if old is not None and _are_asked_the_same(new, old, move) and is_same_after(seen, move):
                return replace(found, is_same=True)
        if old is not None:
            other, _ = _looked_through(old, move.new)
            found = replace(found, defining=found.defining | other.defining, read=found.read | other.read)
    except (SourceError, OutOfTime):
        return _LOST
    return found


def _looked_through(job: CheckJob, folder: str) -> tuple[_Looked, Seen]:
    from cudalint.run.analysis import looked_through

    def key(path: str) -> str:
        return os.path.relpath(disk.resolved(path), folder)

    with noting() as seen:
        defining = looked_through(job.path, job.options)
    return _Looked(False, True, frozenset(map(key, defining)), frozenset(map(key, seen.texts))), seen


def _absolute(job: CheckJob | None) -> CheckJob | None:
    """All of its paths that depend on where the folder is as they are from everywhere."""
    if job is None:
        return None
    folders = tuple(map(disk.resolved, job.options.include_dirs))
    return replace(job, path=disk.resolved(job.path), options=replace(job.options, include_dirs=folders))


def _are_asked_the_same(new: CheckJob, old: CheckJob, move: Move) -> bool:
    """Whether the files have the same text, and the same options and configuration count for them."""
    if move.text(new.path) != old.path or read_regular(new.path) != read_regular(old.path):
        return False
    here, there = (to_builtins(job, order="deterministic") for job in (new, old))
    return bool(move.value(here) == move.value(there))
