"""Texts anywhere in a file's project that launch its kernels: a header of kernels is mostly included from another
folder, and kernels that are loaded by their names are launched by code of another language."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from cudalint.heuristics import heuristic
from cudalint.launches.program.mentions import CALLING
from cudalint.regexes import regex
from cudalint.source.comments import COMMENT_IN_BYTES
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import project_top
from cudalint.system.disk.folders import small_file

_SOURCES: Final = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".hxx", ".inl")
_BY_NAME: Final = (".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".hxx", ".cu", ".rs", ".py", ".pyx")
_MOST_FOLDERS: Final = 4_000
_MOST_FILES: Final = 2_500
_MOST_BYTES: Final = 24 << 20
"""Of all texts that are looked at; those that are kept are few of them."""
_MOST_FOUND: Final = 4
_LAUNCHES: Final = (b"<<<", b"cudaLaunch", b"hipLaunchKernel", b"__global__")
_GETS: Final = (
    b"ModuleGetFunction", b"LibraryGetKernel", b"get_func", b"get_or_load", b"load_func", b"RawKernel",
    b"RawModule", b"getKernel", b"GetKernel", b"get_kernel", b"createKernel",
)  # fmt: skip
"""What asks a module for a function by its name, as CUDA's driver has it, cudarc, CuPy, PyCUDA and others."""

_APPENDED: Final = regex(r"(?<=\w{4})(?:(?:_(?:b?f\d+\w*|[ui]\d+|half|float|double|u?int\w*|long))+|\d+)\Z")

Texts = tuple[tuple[str, bytes], ...]


@heuristic("launches-in-project", "headers of kernels that files of other folders launch").otherwise(())
def launching_texts(path: str, kernels: tuple[str, ...], defining: tuple[str, ...]) -> tuple[str, ...]:
    """Files of the project, wherever in it, whose text launches one of the kernels: those that include one of the files
    that define them, or any if no other file defines a kernel of that name."""
    top = project_top(os.path.dirname(os.path.abspath(path)))
    return _launching(top, kernels, defining, os.path.abspath(path)) if top is not None and kernels else ()


@heuristic("launches-by-name", "kernels that are loaded from a module by their names").otherwise(())
def texts_by_name(path: str, kernels: tuple[str, ...]) -> tuple[str, ...]:
    """Files of the project in which the name of one of the kernels is a literal, beside what loads kernels by name."""
    top = project_top(os.path.dirname(os.path.abspath(path)))
    return _naming(top, kernels) if top is not None and kernels else ()


@heuristic("launches-in-project", "headers of kernels that files of other folders launch").otherwise(())
def sources_including(path: str) -> tuple[str, ...]:
    """Sources of the project, or of the file's folder where there is none, that include the file themselves."""
    own = os.path.abspath(path)
    includes = _including([own])
    top = project_top(os.path.dirname(own)) or os.path.dirname(own)
    texts = _texts(top, CALLING, (os.fsencode(os.path.basename(own)),))
    found = (other for other, text in texts if includes.search(text) is not None)
    return tuple(other for other in found if os.path.abspath(other) != own)


def without_types(kernel: str) -> str:
    """A kernel's name without the types or the number at its end, which host code often appends to a literal."""
    return _APPENDED.sub("", kernel)


def _including(paths: Iterable[str]) -> re.Pattern[bytes]:
    """What includes one of some files, by their last names."""
    names = b"|".join(re.escape(os.fsencode(os.path.basename(path))) for path in paths)
    return re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?(?:' + names + rb')[">]', re.MULTILINE)


@disk.question
def _launching(top: str, kernels: tuple[str, ...], defining: tuple[str, ...], path: str) -> tuple[str, ...]:
    texts = _texts(top, _SOURCES, _LAUNCHES)
    includes = _including(sorted(defining))
    near = os.path.dirname(path)
    found: dict[str, tuple[bool, bool, int]] = {}
    for kernel in kernels:
        word = kernel.encode()
        launched = re.compile(
            rb"\b" + re.escape(word) + rb"\s*(?:<(?!<)[^;{}]*?)?<<<"
            rb"|\b(?:cuda|hip)Launch\w*\s*\((?:[^;()]|\([^;()]*\))*\b" + re.escape(word) + rb"\b"
            rb"|=\s*&?\s*(?:\w+::)*" + re.escape(word) + rb"\s*[<;]"
        )
        defined = re.compile(rb"__global__[^;{}]*\b" + re.escape(word) + rb"\s*\([^;{}]*\)[^;{}()]*\{")
        mentioning = [(other, text) for other, text in texts if word in text]
        is_one = sum(defined.search(text) is not None for _, text in mentioning) < 2
        for other, text in mentioning:
            if launched.search(text) is None:
                continue
            is_including = includes.search(text) is not None
            if is_one or is_including:
                shared = len(os.path.commonpath([near, other]))
                found[other] = (not is_including, not other.endswith(".cu"), -shared)
    return tuple(sorted((each for each in found if each != path), key=lambda each: (found[each], each)))[:_MOST_FOUND]


@disk.question
def _naming(top: str, kernels: tuple[str, ...]) -> tuple[str, ...]:
    texts = _texts(top, _BY_NAME, _GETS)
    names = {name.encode() for kernel in kernels for name in (kernel, without_types(kernel))}
    words = [re.compile(rb"[\"']" + re.escape(name) + rb"[\"']") for name in sorted(names)]
    return tuple(path for path, text in texts if any(word.search(text) for word in words))[:_MOST_FOUND]


@disk.remembered(4)
def _texts(top: str, suffixes: tuple[str, ...], having: tuple[bytes, ...]) -> Texts:
    """The texts of a project that have one of some words, without their comments."""
    with disk.by_stamps(top, suffixes, _MOST_FOLDERS):
        return tuple(_read(top, suffixes, having))


def _read(top: str, suffixes: tuple[str, ...], having: tuple[bytes, ...]) -> Iterator[tuple[str, bytes]]:
    names = disk.names_below(top, suffixes, _MOST_FOLDERS)
    left = _MOST_BYTES
    # What is most likely to have it comes first.
    for name in sorted(names, key=lambda name: (not name.endswith((".cu", ".cuh", ".rs", ".py")), name))[:_MOST_FILES]:
        path = os.path.join(top, name)
        text = small_file(path)
        left -= len(text)
        if left < 0:
            return
        if any(each in text for each in having):
            yield path, text if name.endswith((".py", ".pyx")) else COMMENT_IN_BYTES.sub(b" ", text)
