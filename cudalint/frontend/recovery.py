"""What a project says about a file that does not stand on its own.

Public code is often linted without its build: headers lie in a folder that only a Makefile names,
kernels in a fragment that another file includes, names come from headers that are not there at
all. This module finds such context on disk. It reads text and runs nothing.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.source.comments import COMMENT_IN_BYTES
from cudalint.source.lexing import blanked
from cudalint.source.lines import Lines
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import surroundings, upwards
from cudalint.system.disk.folders import small_file, small_text, top_of_project
from cudalint.toolchain.buildfiles.pyproject import pyproject_build
from cudalint.toolchain.buildfiles.python_files import setup_build
from cudalint.toolchain.buildfiles.reading import build_of

_FOLDER_LEVELS: Final = 4
"""A file's own folder and three above it are searched for includes that are not found."""
_FOLDER_NAMES: Final = ("", "include", "inc", "common", "Common", "src", "utils", "util", os.path.join("common", "inc"))

_MOST_SUBFOLDERS: Final = 64
_MOST_FOLDERS: Final = 4_000
"""A project with more of them is not looked through for a header."""
_HEADER_SUFFIXES: Final = (".h", ".cuh", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".cu")

_BUILD_FILES: Final = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "CMakeLists.in", "Makefile.nvcc")
_BUILD_FOLDERS: Final = regex(r"-I\s*([^\s$()\"'\\;]+)|include_directories\(([^)$]*)\)")
_BUILD_DEFINES: Final = regex(r"(?<![^\s(])-D\s*([A-Za-z_]\w*(?:=[^\s$()\"'\\;]+)?)(?=[\s)]|$)")
_BUILD_COMMENT: Final = regex(r"^\s*#.*$", re.MULTILINE)

CONTEXT_SUFFIX: Final = ".context"
_INCLUDER_SUFFIXES: Final = (".cu", ".cuh", ".h", ".hpp", ".hh", ".cpp", ".cc", ".cxx", ".c")
_INCLUDER_LEVELS: Final = 3
_INCLUDERS_READ: Final = 200
"""More files in a folder than this are not looked through for one that includes the file."""

_KERNEL: Final = regex(rb"\b__global__\b")
_SWITCH: Final = regex(rb"[ \t]*#[ \t]*(?:ifdef|if[ \t]+defined[ \t]*\(?|if)[ \t]*([A-Za-z]\w*)[ \t]*\)?[ \t\r]*")
_OF_OTHER_COMPILERS: Final = regex(rb"HIP|ROCM|SYCL|OPENCL|METAL|MUSA", re.IGNORECASE)


class Context(Struct, frozen=True):
    """The part of an including file that stands before its `#include` of a fragment."""

    path: str
    text: bytes

    @property
    def name(self) -> str:
        """A name beside the includer, so that its relative includes are found, but not its own: it is cut."""
        return self.path + CONTEXT_SUFFIX


# --- folders of headers ------------------------------------------------------------------------------


def folder_with(path: str, name: str) -> str | None:
    """A folder near a file, or one that its build files name, in which an included name exists, as the file is given:
    from where the user is, or from the root."""
    start = os.path.dirname(os.path.abspath(path))
    candidates = (*_candidate_folders(start), *build_of(path).folders)
    named = (folder for folder in candidates if disk.is_file(os.path.join(folder, name)))
    found = next(named, None) or _folder_around(start, name) or _only_folder_with(start, name)
    found = found or _folder_in_project(start, name)
    return found if found is None or os.path.isabs(path) else os.path.relpath(found)


def _folder_around(start: str, name: str) -> str | None:
    """The folder that a project's includes are counted from, however far up it is: `library/core/types.h` in
    `library/core/kernels/fused/add.cu` begins with a folder that the file is in."""
    first, slash, _ = name.partition("/")
    around = (os.path.dirname(base) for base in upwards(start) if slash and os.path.basename(base) == first)
    return next((folder for folder in around if disk.is_file(os.path.join(folder, name))), None)


def _only_folder_with(start: str, name: str) -> str | None:
    """A folder beside the file, or beside one that it is in, whatever it is called, or the `include` of such a one, if
    no other one there has a header of that name. What lies around a project is none of its folders."""
    for base in surroundings(start, _FOLDER_LEVELS):
        for within in ("", "include"):
            found = _folders_with(base, within, name)
            if found:
                return found[0] if len(found) == 1 else None
    return None


@disk.question
def _folders_with(base: str, within: str, name: str) -> tuple[str, ...]:
    """The folders within one, or what is called `within` in them, that have a file of a name."""
    folders = (os.path.join(folder, within) if within else folder for folder in _subfolders(base))
    return tuple(folder for folder in folders if disk.is_file(os.path.join(folder, name)))


def _folder_in_project(start: str, name: str) -> str | None:
    """The folder of the project, wherever in it, in which an included path exists: of several, the one that is nearest
    to the file. A mere name that two are equally near to may mean either, and counts for none."""
    top = top_of_project(start)
    if top is None or os.path.isabs(name) or os.pardir in name.split("/"):
        return None
    here = os.path.relpath(start, top).split(os.sep)
    found = []
    for header in _headers_called(top, os.path.basename(name)):
        if header == name or header.endswith("/" + name):
            folder = header[: -len(name)].rstrip("/")
            parts = folder.split("/")
            shared = sum(itertools.takewhile(bool, map(str.__eq__, here, parts)))
            found.append((-shared, len(parts), folder))
    found.sort()
    if not found or ("/" not in name and len(found) > 1 and found[0][:2] == found[1][:2]):
        return None
    return os.path.normpath(os.path.join(top, found[0][2]))


@disk.question
def _headers_called(top: str, last_name: str) -> tuple[str, ...]:
    return _headers_below(top).get(last_name, ())


@disk.remembered(8)
def _headers_below(top: str) -> dict[str, tuple[str, ...]]:
    """The headers of a project by their last names, as paths from its top."""
    found: dict[str, list[str]] = {}
    for path in disk.names_below(top, _HEADER_SUFFIXES, _MOST_FOLDERS):
        path = path.replace(os.sep, "/")
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return {name: tuple(paths) for name, paths in found.items()}


@disk.remembered(64)
def _subfolders(base: str) -> tuple[str, ...]:
    """None of a folder with very many, such as one of other projects, nor of the root of all: `/usr/include` is the
    system's, whose headers don't go with those that are bundled."""
    if os.path.dirname(base) == base:
        return ()
    return tuple(os.path.join(base, name) for name in disk.folders_in(base, _MOST_SUBFOLDERS))


@disk.question
@disk.remembered(64)
def _candidate_folders(start: str) -> tuple[str, ...]:
    candidates: list[str] = []
    for base in surroundings(start, _FOLDER_LEVELS):
        candidates += [os.path.join(base, name) if name else base for name in _FOLDER_NAMES]
        candidates += _build_folders(base)
    return tuple(folder for folder in dict.fromkeys(candidates) if disk.is_folder(folder))


def _build_folders(base: str) -> Iterator[str]:
    for match in _BUILD_FOLDERS.finditer(_build_text(base)):
        for name in (match[1] or match[2] or "").split():
            yield os.path.normpath(os.path.join(base, name))


@disk.remembered(64)
def _build_text(folder: str) -> str:
    """The build files of a folder, one after the other."""
    texts = [small_text(os.path.join(folder, name)) for name in _BUILD_FILES]
    return _BUILD_COMMENT.sub("", "\n".join(texts))


def build_defines(path: str) -> tuple[str, ...]:
    """The macros that the build files of a file's own folder define with a literal value, or the setup.py above it."""
    return _defines_around(os.path.abspath(path))


@disk.question
def _defines_around(path: str) -> tuple[str, ...]:
    possible = (*setup_build(path).possible, *pyproject_build(path).possible)
    defined = (macro.definition for macro in possible)
    return tuple(dict.fromkeys((*_BUILD_DEFINES.findall(_build_text(os.path.dirname(path))), *defined)))


# --- the file that includes a fragment -------------------------------------------------------------------


def includer_context(path: str) -> Context | None:
    """What stands before the `#include` of this file in another one near it."""
    return _context_around(os.path.abspath(path))


@disk.question
def _context_around(path: str) -> Context | None:
    name = re.escape(os.path.basename(path).encode())
    directive = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]*\b' + name + rb')"', re.MULTILINE)
    for folder in surroundings(os.path.dirname(path), _INCLUDER_LEVELS):
        for candidate in _sources(folder):
            text = small_file(candidate) if candidate != path else b""
            for match in directive.finditer(text) if b"\0" not in text else ():
                if disk.resolved(os.path.join(folder, os.fsdecode(match[1]))) == disk.resolved(path):
                    return Context(candidate, _closed(text[: match.start()]))
    return None


def _closed(text: bytes) -> bytes:
    """The text with its open braces closed: a fragment inside of `extern "C" {` is to stand on its own."""
    code = blanked(text.decode("latin-1"))
    return text + b"\n" + b"}" * max(0, code.count("{") - code.count("}"))


def _sources(folder: str) -> list[str]:
    names = disk.names_in(folder, _INCLUDER_SUFFIXES)
    return [os.path.join(folder, name) for name in names[:_INCLUDERS_READ]]


# --- what the build defines ------------------------------------------------------------------------------


def switches(text: bytes, left_out: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The macros that a file's kernels wait for: those of `#ifdef USE_CUDA` around them, if without these it has none.
    `left_out` has the lines of the directives that begin and end what is left out."""
    if not left_out or not _KERNEL.search(text):
        return ()
    lines = Lines(COMMENT_IN_BYTES.sub(lambda match: b"\n" * match[0].count(b"\n"), text))
    names: dict[str, None] = {}
    for number in (number for number, line in enumerate(lines, 1) if _KERNEL.search(line)):
        around = [first for first, last in left_out if first < number < last]
        if not around:
            return ()
        match = _SWITCH.fullmatch(lines.line(around[0]))
        if match and not _OF_OTHER_COMPILERS.search(match[1]):
            names[match[1].decode()] = None
    return tuple(names)
