"""From the paths that a user names to the files to lint."""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.frontend.python.detect import SUFFIX as _PYTHON_SUFFIX
from cudalint.frontend.python.detect import bytes_of, is_python, seems_to_hold_kernels
from cudalint.frontend.python.other_kernels import kernels_in, listed, programs_in
from cudalint.project.families import stood_for
from cudalint.regexes import regex
from cudalint.report.findings.results import Failure
from cudalint.source.comments import COMMENT_IN_BYTES
from cudalint.system.disk.border import border_around
from cudalint.system.disk.encoding import to_text
from cudalint.system.disk.regular import read_regular

STDIN = "<stdin>"
_SOURCE_SUFFIX = ".cu"
_HEADER_SUFFIX = ".cuh"
_STOOD_FOR = "further instantiating file"
_PIPES_OF_SHELLS = ("/dev/fd/", "/proc/self/fd/")
_INCLUDED_SOURCE = regex(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+\.cu)"', re.MULTILINE)


class SourceFile(Struct, frozen=True):
    path: str
    """As the user gave it, or below the folder that the user gave."""
    text: str | None = None
    """The text where it is no file: standard input."""
    is_optional: bool = False
    """A header that only a folder brought in, or a source that another one of the folder seems to include: it is linted
    through the files that include it, if there are any."""


class Discovery(Struct, frozen=True):
    files: tuple[SourceFile, ...]
    failures: tuple[Failure, ...]
    not_linted: tuple[tuple[str, int], ...] = ()
    """Languages of kernels in Python files that are no CUDA C++, as `Triton kernel`, and how many there are; and files
    for which others stand."""


Excludes = Callable[[str, bool], bool]
"""Whether a path is to be left out; the second argument says whether it is a folder."""


def discover(
    arguments: Sequence[str],
    excludes: Excludes = lambda path, is_folder: False,
    force_exclude: bool = False,
    stdin: str = STDIN,
    by_samples: bool = False,
) -> Discovery:
    """Expands folders, patterns that the shell left alone and `-`; every file comes once, in the order given.

    A file that the user names is linted even if it is excluded, unless `force_exclude` says otherwise. `stdin` is the
    path by which the text of standard input goes. Of files of a folder that instantiate the same templates a sample is
    enough `by_samples` (`families.py`).
    """
    files: dict[str, SourceFile] = {}
    failures: list[Failure] = []
    others: dict[str, Counter[str]] = {}
    for argument in arguments:
        if force_exclude and argument != "-" and is_excluded(argument, excludes):
            continue
        for found in _expand(argument, excludes, stdin, others, by_samples):
            if isinstance(found, Failure):
                failures.append(found)
                continue
            key = os.path.realpath(found.path) if found.text is None or found.path == stdin else found.path
            known = files.get(key)
            if known is None or (known.is_optional and not found.is_optional):
                files[key] = found
    not_linted = sum(others.values(), Counter())
    return Discovery(tuple(files.values()), tuple(failures), tuple(not_linted.most_common()))


def is_excluded(path: str, excludes: Excludes) -> bool:
    """Whether a path or one of the folders that it is in is excluded."""
    absolute = os.path.abspath(path)
    is_folder = os.path.isdir(absolute)
    while not excludes(absolute, is_folder):
        parent = os.path.dirname(absolute)
        if parent == absolute:
            return False
        absolute, is_folder = parent, True
    return True


Others = dict[str, Counter[str]]
"""By resolved path, what a Python file has of kernels that are no CUDA C++."""


def _expand(
    argument: str, excludes: Excludes, stdin: str, others: Others, by_samples: bool
) -> Iterator[SourceFile | Failure]:
    if argument == "-":
        yield _from_stdin(stdin)
    elif os.path.isdir(argument):
        yield from _in_folder(argument, excludes, others, by_samples)
    elif os.path.exists(argument):
        yield _named(argument, others)
    elif glob.has_magic(argument):
        yield from _matching(argument, excludes, others)
    elif os.path.islink(argument):
        yield Failure(argument, "the link leads nowhere")
    else:
        yield Failure(argument, "no such file or folder")


def _other_kernels(path: str, data: bytes) -> Counter[str]:
    """What a file has of kernels that are no CUDA C++, or are in no source."""
    if is_python(path):
        return kernels_in(data)
    is_compiling = b"nvrtcCreateProgram" in data
    return programs_in(COMMENT_IN_BYTES.sub(b" ", data).decode("utf-8", "replace")) if is_compiling else Counter()


def _from_stdin(name: str) -> SourceFile | Failure:
    try:
        return _unsaved(name, sys.stdin.buffer.read())
    except OSError as error:
        return Failure(name, f"cannot read it: {error.strerror}")


def _named(path: str, others: Others) -> SourceFile | Failure:
    """What a user names: a file, or what a shell passes for `<(command)`. Other pipes and devices may have no end."""
    if os.path.isfile(path):
        others[os.path.realpath(path)] = _other_kernels(path, bytes_of(path))
        return SourceFile(path)
    if not os.path.exists(path):
        return Failure(path, "the link leads nowhere")
    if not path.startswith(_PIPES_OF_SHELLS):
        return Failure(path, "no regular file (a pipe or device); `-` reads standard input")
    try:
        with open(path, "rb") as file:
            return _unsaved(path, file.read())
    except OSError as error:
        return Failure(path, f"cannot read it: {error.strerror or error}")


def _unsaved(path: str, data: bytes) -> SourceFile | Failure:
    """A text that can be read only once."""
    try:
        return SourceFile(path, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        if b"\0" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return Failure(path, f"not UTF-8 text (byte {error.start})")
        # As files are: what is no UTF-8 stands in comments and strings only.
        return SourceFile(path, to_text(data))


def _matching(pattern: str, excludes: Excludes, others: Others) -> Iterator[SourceFile | Failure]:
    matches = sorted(glob.glob(pattern, recursive=True))
    if not matches:
        yield Failure(pattern, "no file matches this pattern")
    start = os.path.join(*_named_part(pattern), os.curdir)
    border = border_around(start)
    for match in matches:
        problem = border.problem_of(match)
        if problem is not None:
            # What a pattern comes to is up to the links in a repository; a path that the user names is the user's wish.
            yield Failure(match, f"cannot read it: it {problem}")
        elif os.path.isdir(match):
            yield from _in_folder(match, excludes, others, must_hold_files=False)
        else:
            yield _named(match, others)


def _named_part(pattern: str) -> Iterator[str]:
    """The folders that a pattern begins with, up to the first that it leaves open."""
    yield os.sep if os.path.isabs(pattern) else os.curdir
    yield from itertools.takewhile(lambda part: not glob.has_magic(part), pattern.split(os.sep)[:-1])


def _in_folder(
    folder: str, excludes: Excludes, others: Others, by_samples: bool = False, must_hold_files: bool = True
) -> Iterator[SourceFile | Failure]:
    """All CUDA files below a folder, and Python files with kernels in them. Hidden folders hold other programs' data
    and are left out."""
    errors: list[OSError] = []
    files: list[SourceFile] = []
    excluded = False
    own: Others = {}
    texts: dict[str, bytes] = {}
    for parent, folders, names in os.walk(folder, onerror=errors.append):
        visible = sorted(name for name in folders if not name.startswith("."))
        folders[:] = [name for name in visible if not excludes(os.path.join(parent, name), True)]
        excluded = excluded or len(folders) < len(visible)
        for found in _cuda_files(parent, names):
            if excludes(found.path, False):
                excluded = True
            else:
                data = bytes_of(found.path)
                own[os.path.realpath(found.path)] = _other_kernels(found.path, data)
                if not is_python(found.path) or seems_to_hold_kernels(data):
                    files.append(found)
                    if by_samples and not found.is_optional:
                        texts[found.path] = data
    stood = stood_for(texts)
    for path in stood:
        own[os.path.realpath(path)] = Counter({_STOOD_FOR: 1})
    others |= own
    yield from _with_included_optional([file for file in files if file.path not in stood])
    for error in errors:
        yield Failure(str(error.filename), f"cannot look into this folder: {error.strerror}")
    if not files and must_hold_files and not errors:
        which = " that are not excluded" if excluded else ""
        there = sum(own.values(), Counter()).most_common()
        also = f"; not linted: {listed(there)}" if there else ""
        kinds = f"*{_SOURCE_SUFFIX}, *{_HEADER_SUFFIX}, or *{_PYTHON_SUFFIX} with kernels"
        yield Failure(folder, f"no CUDA files ({kinds}) in this folder{which}{also}")


def _with_included_optional(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """Files of which some include others: `main.cu` has the kernels of its `kernels.cu`, and to analyse them once more
    takes as long again."""
    included = {path for file in files for path in _included_sources(file.path)}
    for file in files:
        yield replace(file, is_optional=file.is_optional or os.path.realpath(file.path) in included)


def _included_sources(path: str) -> Iterator[str]:
    """The sources that a file names in include directives, compiled or not."""
    own = os.path.realpath(path)
    with contextlib.suppress(OSError):
        for name in _INCLUDED_SOURCE.findall(read_regular(path)):
            included = os.path.realpath(os.path.join(os.path.dirname(path), os.fsdecode(name)))
            if included != own:
                yield included


def _cuda_files(parent: str, names: Iterable[str]) -> Iterator[SourceFile]:
    for name in sorted(names):
        suffix = os.path.splitext(name)[1]
        if suffix in (_SOURCE_SUFFIX, _HEADER_SUFFIX, _PYTHON_SUFFIX):
            # Below the current folder, paths are shown without it, as users would write them.
            path = os.path.join(parent, name).removeprefix(os.path.join(os.curdir, ""))
            if os.path.exists(path) and not os.path.isfile(path):
                continue  # A pipe or a device.
            yield SourceFile(path, is_optional=suffix == _HEADER_SUFFIX)
