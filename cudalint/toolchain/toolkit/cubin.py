"""Reading cubin files: ELF files in which the compiler notes what each kernel takes.

What NVIDIA puts into its sections is not documented; the attribute of the register count was checked against
`ptxas -v` of CUDA 13.0 for sm_75 to sm_120, that of the stack frame for sm_80 and sm_90.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

from cudalint.system.disk.regular import read_regular
from cudalint.toolchain.toolkit.usage import Usage, UsageError

_MAGIC = b"\x7fELF"
_MACHINE_CUDA = "EM_CUDA"
_ATTRIBUTE_REGISTERS = 0x2F
"""EIATTR_REGCOUNT: a symbol's index and a number."""
_ATTRIBUTE_FRAME = 0x11
"""EIATTR_FRAME_SIZE: a symbol's index and bytes."""
_FORMAT_SIZED = 4
"""EIFMT_SVAL: a size and as many bytes; the other formats have their value in the two bytes of the size."""
_FIRST_WITH_RESERVED_SHARED = 90
"""From here on the section of shared memory counts what the system reserves."""
_OF_KERNEL = ".nv.info."


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
        return dict(_usage(data))
    except UsageError:
        raise
    except Exception as error:  # Of a broken file the library may say so with any.
        raise UsageError("it is a broken cubin: its tables lead out of the file") from error


def _usage(data: bytes) -> Iterator[tuple[str, Usage]]:
    # Few runs read a cubin.
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    file = ELFFile(io.BytesIO(data))
    if file["e_machine"] != _MACHINE_CUDA or file.elfclass != 64 or not file.little_endian:
        raise UsageError("it is no cubin but an ELF file for another machine; `nvcc -cubin` makes one")
    sections = {section.name: section for section in file.iter_sections()}
    symbols, info = sections.get(".symtab"), sections.get(".nv.info")
    if not isinstance(symbols, SymbolTableSection) or info is None:
        return
    # The architecture moved within the flags with version 8 of NVIDIA's ABI.
    flags = file["e_flags"] >> 8 if file["e_ident"]["EI_ABIVERSION"] >= 8 else file["e_flags"]
    reserves_shared = flags & 0xFF >= _FIRST_WITH_RESERVED_SHARED
    frames = dict(_numbers(info.data(), _ATTRIBUTE_FRAME))
    for index, registers in _numbers(info.data(), _ATTRIBUTE_REGISTERS):
        name = symbols.get_symbol(index).name
        if f"{_OF_KERNEL}{name}" in sections:
            shared = sections.get(f".nv.shared.{name}")
            bytes_ = None if reserves_shared else shared["sh_size"] if shared is not None else 0
            yield name, Usage(registers, bytes_, "cubin", frames.get(index))


def _numbers(info: bytes, wanted: int) -> Iterator[tuple[int, int]]:
    """Pairs of a symbol's index and what an attribute says of it."""
    position = 0
    while position + 4 <= len(info):
        format_, attribute, size = struct.unpack_from("<BBH", info, position)
        position += 4
        if format_ == _FORMAT_SIZED:
            if attribute == wanted:
                yield struct.unpack_from("<II", info, position)
            position += size
