"""Arguments as the file spells them, and as bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cudalint.launches.recorded.records import POINTER_BYTES, Argument, ArgumentBytes, RecordedPointer
from cudalint.regexes import regex

_POINTER: Final = regex(r"(?:(\d{1,9})\+(\d{1,20})/(\d{1,20})|\?)", re.ASCII)
_PART: Final = regex(r"\{([^{}]*)\}|((?:[0-9a-f]{2})+)")
_NUMBER_BYTES: Final = 8


def bytes_of(argument: Argument, size: int) -> ArgumentBytes:
    """The bytes of an argument that takes `size` of them. Raises ValueError for what is no argument of that size."""
    if isinstance(argument, int):
        if size > _NUMBER_BYTES or argument >> (8 * size):
            raise ValueError(f"{argument} is no number of {size} bytes")
        return ArgumentBytes(argument.to_bytes(size, "little"), {})
    if argument.startswith("p"):
        if size != POINTER_BYTES:
            raise ValueError(f"a pointer has no {size} bytes")
        return ArgumentBytes(bytes(POINTER_BYTES), {0: _pointer(argument[1:])})
    if not argument.startswith("x"):
        raise ValueError(f"{argument[:40]!r} is neither a pointer nor bytes")
    data, pointers = bytearray(), dict[int, RecordedPointer]()
    at = 1
    while at < len(argument):
        part = _PART.match(argument, at)
        if part is None:
            raise ValueError(f"{argument[at : at + 20]!r} are no bytes")
        if part[1] is not None:
            pointers[len(data)] = _pointer(part[1])
            data += bytes(POINTER_BYTES)
        else:
            data += bytes.fromhex(part[2])
        at = part.end()
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes are given where {size} are taken")
    return ArgumentBytes(bytes(data), pointers)


def argument_of(data: bytes, pointers: Mapping[int, RecordedPointer]) -> Argument:
    """How the file spells an argument: the other way round."""
    if 0 in pointers and len(data) == POINTER_BYTES:
        return f"p{pointers[0]}"
    if len(data) <= _NUMBER_BYTES:
        return int.from_bytes(data, "little")
    text, at = "x", 0
    for start in sorted(pointers):
        text += f"{data[at:start].hex()}{{{pointers[start]}}}"
        at = start + POINTER_BYTES
    return text + data[at:].hex()


def _pointer(text: str) -> RecordedPointer:
    found = _POINTER.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is no pointer")
    if found[1] is None:
        return RecordedPointer(None)
    return RecordedPointer(int(found[1]), int(found[2]), int(found[3]))
