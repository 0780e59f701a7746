"""Reading cubin files: ELF files in which the compiler notes what each kernel takes.

The format is ELF-64 (System V ABI, chapter 4). What NVIDIA puts into it is not documented; the attribute of the
register count was checked against `ptxas -v` of CUDA 13.0 for sm_75 to sm_120.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from cudalint.system.disk.regular import read_regular
from cudalint.toolchain.toolkit.usage import Usage, UsageError

_MAGIC = b"\x7fELF"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL_BYTES = 24
_ELF_64_LITTLE = b"\x02\x01"
_MACHINE_CUDA = 190
_ATTRIBUTE_REGISTERS = 0x2F
"""EIATTR_REGCOUNT: a symbol's index and a number."""
_FORMAT_SIZED = 4
"""EIFMT_SVAL: a size and as many bytes; the other formats have their value in the two bytes of the size."""
_FIRST_WITH_RESERVED_SHARED = 90
"""From here on the section of shared memory counts what the system reserves."""


class _Section(NamedTuple):
    name: str
    type: int
    offset: int
    size: int
    link: int


def read_cubin(path: str) -> dict[str, Usage]:
    """The usage of every kernel in a cubin file, by the name that it has there. Raises UsageError."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror or error}") from error
    if not data:
        raise UsageError("it is empty")
    if not data.startswith(_MAGIC):
        raise UsageError("it is no cubin (not an ELF file); `nvcc -cubin` makes one")
    try:
        return _Cubin.of(data).usage()
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise UsageError("it is a broken cubin: its tables lead out of the file") from error


class _Cubin(Struct, frozen=True):
    data: bytes
    sections: tuple[_Section, ...]
    architecture: int

    @classmethod
    def of(cls, data: bytes) -> _Cubin:
        fields = _HEADER.unpack_from(data)
        identity, machine, start, flags = fields[0], fields[2], fields[6], fields[7]
        entry_size, count, names_index = fields[11:14]
        if identity[4:6] != _ELF_64_LITTLE or machine != _MACHINE_CUDA:
            raise UsageError("it is no cubin but an ELF file for another machine; `nvcc -cubin` makes one")
        raw = [_SECTION.unpack_from(data, start + index * entry_size) for index in range(count)]
        names = raw[names_index][4]
        sections = tuple(_Section(_text(data, names + s[0]), s[1], s[4], s[5], s[6]) for s in raw)
        # The architecture moved within the flags with version 8 of NVIDIA's ABI.
        architecture = (flags >> 8 if identity[8] >= 8 else flags) & 0xFF
        return cls(data, sections, architecture)

    def usage(self) -> dict[str, Usage]:
        symbols = self._section(".symtab")
        info = self._section(".nv.info")
        if symbols is None or info is None:
            return {}
        names = self.sections[symbols.link]
        kernels = {s.name.removeprefix(".nv.info.") for s in self.sections if s.name.startswith(".nv.info.")}
        found = {}
        for index, registers in self._register_counts(info):
            (name_offset,) = struct.unpack_from("<I", self.data, symbols.offset + _SYMBOL_BYTES * index)
            name = _text(self.data, names.offset + name_offset)
            if name in kernels:
                found[name] = Usage(registers, self._shared(name), "cubin")
        return found

    def _register_counts(self, info: _Section) -> Iterator[tuple[int, int]]:
        """Pairs of a symbol's index and its registers."""
        position, end = info.offset, info.offset + info.size
        while position + 4 <= end:
            format_, attribute, size = struct.unpack_from("<BBH", self.data, position)
            position += 4
            if format_ != _FORMAT_SIZED:
                continue
            if attribute == _ATTRIBUTE_REGISTERS:
                yield struct.unpack_from("<II", self.data, position)
            position += size

    def _shared(self, kernel: str) -> int | None:
        if self.architecture >= _FIRST_WITH_RESERVED_SHARED:
            return None
        section = self._section(f".nv.shared.{kernel}")
        return section.size if section is not None else 0

    def _section(self, name: str) -> _Section | None:
        return next((section for section in self.sections if section.name == name), None)


def _text(data: bytes, start: int) -> str:
    if not 0 <= start < len(data):
        raise ValueError("a name lies outside of the file")
    return data[start : data.index(b"\0", start)].decode("utf-8", "replace")
