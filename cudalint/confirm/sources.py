"""The text that a kernel is compiled from: its files with everything blanked that it does not reach.

Blanks keep every line and column, so that counters and error messages point at the user's own source, and edits that
were made for the original fit. NVRTC knows no host code and has no standard library: the few names of it that
kernels use come from a prelude.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from cudalint.frontend.slices import FileSlice, Slice
from cudalint.regexes import regex
from cudalint.source.comments import COMMENT_IN_BYTES

MAIN = "main.cu"
"""What the kernel's file is called in the folder of its build."""

_INCLUDE = regex(rb"^[ \t]*#[ \t]*include\b[^\n]*", re.MULTILINE)
_INCLUDED_NAME = regex(rb"[<\"]([^>\"]+)[>\"]")

_FOR_DEVICE = {
    r"cooperative_groups(?:/\w+)?\.h": r"cooperative_groups",
    r"cuda_fp16\.h": r"\w*half\w*|\w*_h\w*",
    r"cuda_bf16\.h": r"\w*bfloat\w*",
    r"cuda_fp8\.h": r"\w*fp8\w*",
    r"cuda_(?:pipeline|pipeline_primitives|awbarrier)\.h": r"\w*pipeline\w*|\w*barrier\w*",
    r"mma\.h": r"nvcuda|wmma",
    r"math_constants\.h": r"CUDART_\w+",
    r"cuComplex\.h": r"cu\w+",
    r"curand\w*\.h": r"curand\w*",
    r"cuda/.+": r"cuda",
    r"cub/.+": r"cub",
}
"""Headers of the toolkit that NVRTC compiles, and the words that show that a kernel needs them. What others declare
is built in, or is the host's."""

_CONSTANTS = {
    "CHAR_BIT": "8", "INT_MAX": "2147483647", "INT_MIN": "(-2147483647 - 1)", "UINT_MAX": "4294967295u",
    "LLONG_MAX": "9223372036854775807ll", "SHRT_MAX": "32767", "USHRT_MAX": "65535", "UCHAR_MAX": "255",
    "FLT_MAX": "3.402823466e+38f", "FLT_MIN": "1.175494351e-38f", "FLT_EPSILON": "1.192092896e-07f",
    "DBL_MAX": "1.7976931348623158e+308", "DBL_MIN": "2.2250738585072014e-308",
    "DBL_EPSILON": "2.2204460492503131e-16", "INFINITY": "__int_as_float(0x7f800000)",
    "NAN": "__int_as_float(0x7fffffff)", "RAND_MAX": "2147483647", "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923", "M_SQRT2": "1.41421356237309504880", "M_E": "2.7182818284590452354",
    "INT32_MAX": "2147483647", "UINT32_MAX": "4294967295u", "UINT8_MAX": "255", "UINT16_MAX": "65535",
    "NULL": "0", "EXIT_SUCCESS": "0", "EXIT_FAILURE": "1",
}  # fmt: skip

_TYPES = {
    "int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long long", "uint8_t": "unsigned char",
    "uint16_t": "unsigned short", "uint32_t": "unsigned int", "uint64_t": "unsigned long long",
    "intptr_t": "long long", "uintptr_t": "unsigned long long", "uint": "unsigned int", "uchar": "unsigned char",
    "ushort": "unsigned short", "ulong": "unsigned long", "ssize_t": "long long",
}  # fmt: skip

_STD = """namespace std {
using ::size_t;
template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __host__ __device__ void swap(T &a, T &b) { T c = a; a = b; b = c; }
using ::abs; using ::sqrt; using ::fabs; using ::exp; using ::log; using ::pow; using ::sin; using ::cos; using ::floor;
using ::ceil; using ::fmin; using ::fmax; using ::isnan; using ::isinf;
}"""

_WORD = regex(rb"\b[A-Za-z_]\w*")
_MACRO = regex(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


class Build(Struct, frozen=True):
    """All that a compiler needs for one kernel."""

    files: Mapping[str, bytes]
    """Texts by name; `MAIN` is the kernel's own file. The rest are the headers that it includes."""
    paths: Mapping[str, str]
    """The user's paths of the files, by the same names."""
    prelude: str
    """Declarations that stand before the first line of the file."""
    name_expression: str
    """The kernel as C++ names it, with its template arguments."""
    mangled_name: str
    original: str
    whole: bytes
    """The path of the file and its text, for a compiler that takes host code too."""
    options: tuple[str, ...] = ()
    """`-D`, `-I` and `-std` of the user."""


def blanked(text: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """A text with pieces overwritten by blanks. Line ends and preprocessor lines stay: conditions span pieces."""
    result = bytearray(text)
    for start, end in ranges:
        position = start
        continues = False
        for line in text[start:end].splitlines(keepends=True):
            directive = continues or (line.lstrip().startswith(b"#") and _starts_line(text, position))
            body = line.rstrip(b"\r\n")
            if not directive:
                result[position : position + len(body)] = b" " * len(body)
            continues = directive and body.endswith(b"\\")
            position += len(line)
    return bytes(result)


def _starts_line(text: bytes, position: int) -> bool:
    before = text.rfind(b"\n", 0, position) + 1
    return not text[before:position].strip()


def build_of(
    sliced: Slice,
    instantiation: str,
    read: Callable[[str], bytes],
    options: tuple[str, ...] = (),
) -> Build:
    """Puts a kernel's files together."""
    names = {file.path: MAIN if index == 0 else _header_name(index, file) for index, file in enumerate(sliced.files)}
    texts = {file.path: blanked(read(file.path), file.unneeded) for file in sliced.files}
    words = frozenset[str]().union(*map(_words, texts.values()))
    files: dict[str, bytes] = {}
    for file in sliced.files:
        files[names[file.path]] = _with_own_includes(texts[file.path], file, names, words)
    template, bracket, arguments = instantiation.partition("<")
    expression = sliced.qualified_name + (bracket + arguments if template else "")
    original = sliced.files[0].path
    return Build(
        files,
        {name: path for path, name in names.items()},
        _prelude(files.values()),
        expression,
        sliced.mangled_name,
        original,
        read(original),
        options,
    )


def _header_name(index: int, file: FileSlice) -> str:
    return f"h{index}_{os.path.basename(file.path)}"


def _with_own_includes(text: bytes, file: FileSlice, names: Mapping[str, str], words: frozenset[str]) -> bytes:
    """The text with includes of the project's headers by their new names, and without those that NVRTC lacks."""
    own = {include.line: names[include.included] for include in file.includes if include.included in names}

    def rewritten(match: re.Match[bytes]) -> bytes:
        line = text.count(b"\n", 0, match.start()) + 1
        if line in own:
            return f'#include "{own[line]}"'.encode()
        name = _INCLUDED_NAME.search(match[0])
        wanted = name[1].decode("utf-8", "replace") if name else ""
        return match[0] if _is_needed(wanted, words) else b""

    return _INCLUDE.sub(rewritten, text)


def _is_needed(header: str, words: Iterable[str]) -> bool:
    for pattern, names in _FOR_DEVICE.items():
        if re.fullmatch(pattern, header):
            return any(re.fullmatch(names, word) for word in words)
    return False


def _words(text: bytes) -> frozenset[str]:
    """The words of a text, without those of its comments and includes."""
    plain = COMMENT_IN_BYTES.sub(b" ", _INCLUDE.sub(b" ", text))
    return frozenset(word.decode() for word in _WORD.findall(plain))


def _prelude(texts: Iterable[bytes]) -> str:
    return "\n".join(_prelude_lines(b"\n".join(texts)))


def _prelude_lines(text: bytes) -> Iterator[str]:
    words = _words(text)
    macros = {word.decode() for word in _MACRO.findall(text)}
    declared = {word for word in words if re.search(rb"typedef\b[^;]*\b" + word.encode() + rb"\s*;", text)}
    for name in sorted(words & _CONSTANTS.keys() - macros):
        yield f"#ifndef {name}\n#define {name} {_CONSTANTS[name]}\n#endif"
    for name in sorted(words & _TYPES.keys() - macros - declared):
        yield f"typedef {_TYPES[name]} {name};"
    if "assert" in words - macros:
        yield "#ifndef assert\n#define assert(condition) ((void)0)\n#endif"
    if "std" in words:
        yield _STD
