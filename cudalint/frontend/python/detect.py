"""Whether a Python file seems to hold kernels, at the cost of reading it."""

from __future__ import annotations

from typing import Final

from cudalint.regexes import regex
from cudalint.system.disk.regular import read_regular

SUFFIX: Final = ".py"
LARGEST: Final = 10_000_000
"""Larger files are data in Python's clothes."""

_SIGNS: Final = regex(
    rb"\b(?:RawKernel|RawModule|ElementwiseKernel|ReductionKernel|SourceModule|load_inline)\s*\("
    rb"|\bcuda\.core\b|\bfrom\s+cuda\s+import\s[^\n]*\bcore\b"
)


def is_python(path: str) -> bool:
    return path.endswith(SUFFIX)


def seems_to_hold_kernels(data: bytes) -> bool:
    """Whether something in the text looks like the call of a library that compiles CUDA."""
    return _SIGNS.search(data) is not None


def bytes_of(path: str) -> bytes:
    """What is in a file; nothing of one that can't be read or is no text: that holds none that anybody could lint."""
    try:
        data = read_regular(path, LARGEST + 1)
    except OSError:
        return b""
    return data if len(data) <= LARGEST and b"\0" not in data else b""
