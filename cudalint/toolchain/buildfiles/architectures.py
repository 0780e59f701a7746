"""The least GPU that a project's build files compile a file for: no other one ever runs it.

They are read as text. What only make or CMake could find out stays unknown, and then nothing is said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from cudalint.system.disk import recorder as disk
from cudalint.system.disk.folders import small_text
from cudalint.toolchain.buildfiles.macros import commands_for

_OPTION: Final = re.compile(r"--?(?:gencode|generate-code|arch|gpu-architecture)(?:=(.*))?\Z")
_NUMBER: Final = re.compile(r"\b(?:sm|compute|lto)_(\d{2,3})[af]?\b")
_SET: Final = re.compile(
    r"\bset\s*\(\s*CMAKE_CUDA_ARCHITECTURES\s+([^()]*)\)|\bCUDA_ARCHITECTURES\s+((?:[^()\sA-Z]+\s*)+)", re.IGNORECASE
)
_LISTED: Final = re.compile(r"(\d{2,3})[af]?(?:-real|-virtual)?")
_COMMENT: Final = re.compile(r"#.*")
_WORDS_OF_CACHE: Final = re.compile(r"\bCACHE\b.*|\bPARENT_SCOPE\b|\bFORCE\b", re.DOTALL)


def least_architecture(path: str) -> int | None:
    """The compute capability, 90 for 9.0, that the least of the GPUs has for which a file is compiled: as the Makefile
    in its folder says, or the CMakeLists.txt there; None where neither says so."""
    commands = commands_for(path)
    found = [_of_command(words) for words in commands]
    numbers = [min(each) for each in found if each]
    if numbers:
        return min(numbers) if len(numbers) == len(found) else None
    return _of_cmake(os.path.join(os.path.dirname(path), "CMakeLists.txt"))


def _of_command(words: Sequence[str]) -> list[int]:
    found: list[int] = []
    for position, word in enumerate(words):
        option = _OPTION.match(word)
        if option is not None:
            following = words[position + 1] if position + 1 < len(words) else ""
            value = option[1] if option[1] is not None else following
            found += map(int, _NUMBER.findall(value.partition("code=")[0] if "arch=" in value else value))
    return found


@disk.remembered(64)
def _of_cmake(path: str) -> int | None:
    found: list[int] = []
    for numbers in _lists_of(_COMMENT.sub("", small_text(path))):
        if numbers is None:
            return None
        found += numbers
    return min(found, default=None)


def _lists_of(text: str) -> Iterator[list[int] | None]:
    """Each list of architectures; None for one with something else in it (`native`, a variable)."""
    for match in _SET.finditer(text):
        words = re.split(r"[\s;]+", _WORDS_OF_CACHE.sub("", match[1] or match[2] or "").replace('"', " ").strip())
        matches = [_LISTED.fullmatch(word) for word in words]
        yield [int(number[1]) for number in matches if number] if all(matches) else None
