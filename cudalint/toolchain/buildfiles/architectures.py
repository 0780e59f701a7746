"""The least GPU that a project's build files compile a file for: no other one ever runs it.

They are read as text. What only make or CMake could find out stays unknown, and then nothing is said.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Final

from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.toolchain.buildfiles.cmake import commands_of
from cudalint.toolchain.buildfiles.macros import commands_for

_OPTION: Final = regex(r"--?(?:gencode|generate-code|arch|gpu-architecture)(?:=(.*))?\Z")
_NUMBER: Final = regex(r"\b(?:sm|compute|lto)_(\d{2,3})[af]?\b")
_LISTED: Final = regex(r"(\d{2,3})[af]?(?:-real|-virtual)?")
_END: Final = regex(r"CACHE|PARENT_SCOPE|[A-Z]+(?:_[A-Z]+)+")
"""What ends a list of values: an option of `set`, or another property."""
_NAMES: Final = ("CMAKE_CUDA_ARCHITECTURES", "CUDA_ARCHITECTURES")


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
    for command in commands_of(path):
        name = next((name for name in _NAMES if name in command.arguments), None)
        if name is not None and command.name.startswith("set"):
            values = command.arguments[command.arguments.index(name) + 1 :]
            words = ";".join(itertools.takewhile(lambda word: not _END.fullmatch(word), values)).split(";")
            matches = [_LISTED.fullmatch(word) for word in words if word]
            if not matches or not all(matches):
                return None  # `native`, or a variable.
            found += [int(number[1]) for number in matches if number]
    return min(found, default=None)
