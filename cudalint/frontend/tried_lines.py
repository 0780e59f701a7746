"""Lines tried behind a text that clang has parsed, without parsing that again.

What clang has made of the text is written down in a temporary file and taken as something precompiled, so that of the
text nothing is parsed or instantiated again: that takes a tenth of the time.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from clang.cindex import TranslationUnit, TranslationUnitLoadError, TranslationUnitSaveError

from cudalint.frontend import clang
from cudalint.frontend.attempts import PARSE_OPTIONS, Attempt, Source
from cudalint.frontend.diagnoses import Problem, problems_of
from cudalint.frontend.flags import BUNDLED_ROOT, PRECOMPILED, is_bundled
from cudalint.frontend.overlay import readable

_LINES: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "tried.cu")
"""A file that exists in memory only."""
_FIRST: Final = 2
_NAME: Final = "text.pch"
_LEAST_ROOM: Final = 512 << 20
"""libclang ends its process where a disk is full, or a file may grow no more."""

Tried = Callable[[Sequence[str]], frozenset[int] | None]
"""Which of some lines have errors, or what clang makes for them, by their positions; None where only a parse of the
whole can tell."""


def unknown(lines: Sequence[str]) -> None:
    """Tells nothing of any lines."""
    return


@contextmanager
def lines_behind(source: Source, attempt: Attempt) -> Iterator[Tried]:
    """What tries lines behind an attempt's text, for as long as the block goes on."""
    with tempfile.TemporaryDirectory(prefix="cudalint-") as folder:
        path = os.path.join(folder, _NAME)
        try:
            if source.learned.crashes or not _has_room(folder):
                raise OSError
            attempt.unit.save(path)
        except (OSError, TranslationUnitSaveError):
            yield unknown
            return
        yield lambda lines: _failed(source, attempt, path, lines)


def _failed(source: Source, attempt: Attempt, path: str, lines: Sequence[str]) -> frozenset[int] | None:
    arguments = [*_without_included(source.arguments(attempt.setting)[0]), PRECOMPILED, path]
    source.learned.allowed[path] = path
    # What clang has no place for stands in the first line.
    text = "\n" + "\n".join(lines) + "\n"
    try:
        with readable(source.overlay()) as overlay:
            arguments += ["-ivfsoverlay", overlay]
            unsaved = [(_LINES, text.encode())]
            unit = TranslationUnit.from_source(_LINES, arguments, unsaved, PARSE_OPTIONS, clang.index())
    except (OSError, TranslationUnitLoadError):
        return None
    finally:
        del source.learned.allowed[path]
    if any(map(_may_be_spelled_otherwise, problems_of(unit))):
        return None
    return frozenset(line - _FIRST for line in clang.lines_with_errors(unit, _LINES) if line >= _FIRST)


def _may_be_spelled_otherwise(problem: Problem) -> bool:
    """Whether a parse of the whole might give clang other words for what it doesn't take."""
    if problem.error in ("constructed-shared", "no-template-word"):
        return not is_bundled(problem.path)
    return problem.is_syntax


def _without_included(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments but for what is included in front of the text."""
    waiting = iter(arguments)
    for argument in waiting:
        if argument in ("-include", PRECOMPILED):
            next(waiting)
        else:
            yield argument


def _has_room(folder: str) -> bool:
    if sys.platform != "win32":
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if most != resource.RLIM_INFINITY and most < _LEAST_ROOM:
            return False
    return shutil.disk_usage(folder).free > _LEAST_ROOM
