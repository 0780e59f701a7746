"""Paths and options on the command lines of other programs: clang, nvcc, git.

What a repository holds, files and folders with any name, build files with any option, must come to nothing but the
name of a file, a folder of headers, a macro or a standard. So options are never passed on: each is parsed, and
those that are known to do no more are put together again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from cudalint.regexes import regex

_PLAIN: Final = regex(r"[A-Za-z0-9_./\\<]")
"""How a path may begin that no program takes for anything else; `<stdin>` is one too."""
_WITH_PATH: Final = ("-include", "-isystem", "-iquote", "-idirafter", "-I")
_WITH_MACRO: Final = ("-D", "-U")
_MACRO: Final = regex(r"[A-Za-z_]\w*(?:\([\w\s,.]*\))?(?:=.*)?", re.DOTALL)


def as_path(path: str) -> str:
    """A path that is an argument by itself, whatever it begins with: `--config=.` and `@names` are files too."""
    return path if _PLAIN.match(path) else os.path.join(os.curdir, path)


def paths_in(arguments: Iterable[str]) -> Iterator[str]:
    """The folders and files that such arguments name."""
    rest = iter(tuple(harmless(arguments)))
    return (next(rest) for argument in rest if argument in _WITH_PATH)


def harmless(arguments: Iterable[str]) -> Iterator[str]:
    """Those of the arguments of a compiler that add a folder of headers, include a file, or define a macro or take it
    back. All others are left out: they may name plug-ins, files to write, or further arguments."""
    rest = iter(arguments)
    for argument in rest:
        name = next((name for name in (*_WITH_PATH, *_WITH_MACRO) if argument.startswith(name)), None)
        if name is None:
            continue
        value = argument.removeprefix(name)
        if not value:
            value = next(rest, "")
        elif name not in ("-I", "-isystem", *_WITH_MACRO):
            continue  # `-include-pch`, `-iquotefolder`: what stands behind such a name may be another option's.
        if not value:
            continue
        if name in _WITH_PATH:
            yield from (name, as_path(value))
        elif _MACRO.fullmatch(value):
            yield f"{name}{value}"
