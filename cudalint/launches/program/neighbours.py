"""Other files, of the same folder and of the one above, that may launch a file's kernels, call what launches them, or
define what the host code calls.

A kernel is often defined in one file and launched in another. Without the launch its block is a guess, so the files
beside it that mention its name are looked at as well, wherever the user points. And where the file has a function that
launches it, the sizes often come from a `main` beside it, or from one above a folder of kernels.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable
from itertools import chain

from cudalint.heuristics import heuristic
from cudalint.launches.program.mentions import CALLING, HEADERS, mentioning, without_comments, words_in
from cudalint.source.comments import code_of
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.disk.folders import small_file
from cudalint.system.disk.regular import read_regular_text

_MAX_FILES = 8
_MAX_CALLERS = 3
_MAX_DEFINERS = 2
_ANY_NUMBER = sys.maxsize
_MAX_ABOVE = 64
"""Files of the folder above: one with more of them is a collection, and not the rest of this program."""
_LAUNCHING = (".cu",)
_LAUNCH = rb"<<<|cudaLaunch"
_LAUNCH_ITSELF = rb"<<<"
_MAIN = rb"\bmain\s*\("
_CALL = rb"\("


def launchers(path: str, kernels: Collection[str]) -> list[str]:
    """Files near `path` whose text mentions a launch and one of the kernels."""
    return _near(path, _LAUNCHING, (_LAUNCH,), (), kernels)[:_MAX_FILES]


def launching_texts(path: str, kernels: Collection[str], defining: Collection[str]) -> list[str]:
    """Files near `path`, headers among them, whose text launches one of the kernels as CUDA spells that, and includes
    one of the files that define them."""
    names = "|".join([re.escape(os.path.basename(each)) for each in sorted(defining)])
    includes = re.compile(rf'^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?(?:{names})[">]'.encode(), re.MULTILINE)
    found = _near(path, (*CALLING, *HEADERS), (_LAUNCH_ITSELF,), (), kernels)
    return [other for other in found if includes.search(code_in(other) or b"")][:_MAX_FILES]


def callers(path: str, functions: Collection[str]) -> list[str]:
    """Files near `path` whose text mentions a `main` and one of the functions; of `Blur::run` both words."""
    return _near(path, CALLING, (_MAIN,), (), functions)[:_MAX_CALLERS]


def wrappers(path: str, functions: Collection[str]) -> list[str]:
    """Files near `path` without a `main` whose text mentions one of the functions; of `Blur::run` both words."""
    return _near(path, CALLING, (_CALL,), (_MAIN,), functions)[:_MAX_CALLERS]


def definers(path: str, function: str) -> list[str]:
    """Files near `path` in whose text a body follows the function's name and its parameters."""
    return _with(path, function, rb"\s*\([^;{}]*\)[^;{}()]*\{")


def setters(path: str, constant: str) -> list[str]:
    """Files near `path` in whose text a constant is given a value where it is declared."""
    return _with(path, constant, rb"\s*(?:\[[^\[\];]*\]\s*)*(?:=(?!=)|\{)")


@disk.question
def code_in(path: str) -> bytes | None:
    """What clang is to see of a file near another one: what its comments say is nothing that the other one rests on.
    None for one that can't be read."""
    try:
        return to_bytes(code_of(read_regular_text(path)))
    except OSError:
        return None


def _with(path: str, name: str, behind: bytes) -> list[str]:
    """Files near `path` in whose text, without its comments, something follows a name."""
    found = (_followed(folder, CALLING, most, name, behind) for folder, most in _folders_near(path))
    return _others(path, found)[:_MAX_DEFINERS]


def _near(
    path: str, suffixes: tuple[str, ...], some: tuple[bytes, ...], none: tuple[bytes, ...], names: Collection[str]
) -> list[str]:
    if not names or not disk.is_file(path):
        return []
    asked = tuple(sorted(names))
    found = (_mentioning(folder, suffixes, most, some, none, asked) for folder, most in _folders_near(path))
    return _others(path, found)


def sources_near(path: str, suffixes: tuple[str, ...]) -> list[str]:
    """Other files of its folder, and then of the one above; what is above a work tree belongs to somebody else."""
    return _others(path, (_sources(folder, suffixes, most) for folder, most in _folders_near(path)))


def _others(path: str, found: Iterable[Iterable[str]]) -> list[str]:
    """What is found in the folder of a file, but for itself, and then in the one above."""
    beside, *above = [*found] or [()]
    own = os.path.basename(path)
    return [*(each for each in beside if os.path.basename(each) != own), *chain.from_iterable(above)]


@heuristic("files-nearby", "kernels defined in one file and launched in another").otherwise([])
def _folders_near(path: str) -> list[tuple[str, int]]:
    """The folder of a file and the one above, if that belongs to the same project, each with the most files that it may
    have."""
    folder = os.path.dirname(path)
    parent = os.path.join(folder, os.pardir) if folder in ("", os.curdir) else os.path.dirname(folder)
    if disk.exists(os.path.join(folder, ".git")) or disk.resolved(parent) == disk.resolved(folder):
        return [(folder, _ANY_NUMBER)]
    return [(folder, _ANY_NUMBER), (parent, _MAX_ABOVE)]


@disk.question
def _mentioning(
    folder: str, suffixes: tuple[str, ...], most: int, some: tuple[bytes, ...], none: tuple[bytes, ...],
    names: tuple[str, ...],
) -> tuple[str, ...]:  # fmt: skip
    """Files of a folder with all of some patterns in their texts, none of others, and one of the names."""
    asked = [[_as_a_word(word) for word in name.encode().split(b"::")] for name in names]
    # What every `main` is called is no name that only a few files have.
    further = (b"main",) if _MAIN in some else ()

    def is_asked_for(text: bytes) -> bool:
        is_named = any(all(_is_found(word, pattern, text) for word, pattern in words) for words in asked)
        return is_named and all(re.search(each, text) for each in some) and not any(re.search(n, text) for n in none)

    having = [(*further, *(part for word, _ in words for part in words_in(word))) for words in asked]
    return tuple(path for path in mentioning(folder, suffixes, most, having) if is_asked_for(small_file(path)))


def _as_a_word(word: bytes) -> tuple[bytes, re.Pattern[bytes]]:
    return word, re.compile(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)")


@disk.question
def _followed(folder: str, suffixes: tuple[str, ...], most: int, name: str, behind: bytes) -> tuple[str, ...]:
    """Files of a folder in whose texts, without their comments, a pattern follows a name that is no member."""
    word = name.encode()
    pattern = re.compile(rb"(?<![\w.>])" + re.escape(word) + behind)

    paths = mentioning(folder, suffixes, most, [words_in(word)])
    return tuple(path for path in paths if _is_found(word, pattern, without_comments(path)))


def _is_found(word: bytes, pattern: re.Pattern[bytes], text: bytes) -> bool:
    """Whether a text has a pattern that begins with a word: that is looked for in a tenth of the time."""
    at = text.find(word)
    while at >= 0 and pattern.match(text, at) is None:
        at = text.find(word, at + 1)
    return at >= 0


def _sources(folder: str, suffixes: tuple[str, ...], most: int) -> list[str]:
    """None of a folder that has more than `most`."""
    names = disk.names_in(folder, suffixes)
    return [os.path.join(folder, name) for name in names] if len(names) <= most else []
