"""The headers of a program within its source, so that a report needs one file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from cudalint.regexes import regex
from cudalint.system.disk.regular import read_regular

_INCLUDE = regex(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)
_ONCE = regex(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)
_MOST_BYTES = 4_000_000


def with_headers(data: str, path: str, folders: Sequence[str]) -> str:
    """A text (each character a byte) with the headers that it includes in quotes in their places, each once, as far as
    they are found beside the file or in folders."""
    return _with_headers(data, os.path.dirname(os.path.abspath(path)), folders, {os.path.realpath(path)})


def _with_headers(data: str, folder: str, folders: Sequence[str], seen: set[str]) -> str:
    def text_of(match: re.Match[str]) -> str:
        for candidate in (os.path.join(each, match[1]) for each in (folder, *folders)):
            if not os.path.isfile(candidate):
                continue
            resolved = os.path.realpath(candidate)
            if resolved in seen:
                return ""
            seen.add(resolved)
            try:
                header = read_regular(candidate, _MOST_BYTES).decode("latin-1")
            except (OSError, ValueError):
                break
            return _with_headers(_ONCE.sub("", header), os.path.dirname(resolved), folders, seen)
        return match[0]

    return _INCLUDE.sub(text_of, data)
