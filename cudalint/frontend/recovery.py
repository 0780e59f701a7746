"""What a project says about a file that does not stand on its own.

Public code is often linted without its build: headers lie in a folder that only a Makefile names,
kernels in a fragment that another file includes, names come from headers that are not there at
all. This module finds such context on disk. It reads text and runs nothing.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct

from cudalint.folders import upwards

_FOLDER_LEVELS: Final = 4
"""A file's own folder and three above it are searched for includes that are not found."""
_FOLDER_NAMES: Final = ("", "include", "inc", "common", "Common", "src", "utils", "util", os.path.join("common", "inc"))

_BUILD_FILES: Final = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "CMakeLists.in", "Makefile.nvcc")
_BUILD_FOLDERS: Final = re.compile(r"-I\s*([^\s$()\"'\\;]+)|include_directories\(([^)$]*)\)")
_BUILD_DEFINES: Final = re.compile(r"(?<![^\s(])-D\s*([A-Za-z_]\w*(?:=[^\s$()\"'\\;]+)?)(?=[\s)]|$)")
_BUILD_COMMENT: Final = re.compile(r"^\s*#.*$", re.MULTILINE)

_SETUP_LEVELS: Final = 8
_SETUP_FOLDERS: Final = re.compile(r"include_dirs[^\[\n]*\[([^\]]*)\]|include_dirs([^\n]*)")
"""A list of folders in the setup.py of a Python extension, or what is appended to one."""
_LITERAL: Final = re.compile(r"['\"]([^'\"\n]+)['\"]")

_INCLUDER_SUFFIXES: Final = (".cu", ".cuh", ".h", ".hpp", ".hh", ".cpp", ".cc", ".cxx", ".c")
_INCLUDER_LEVELS: Final = 3
_INCLUDERS_READ: Final = 200
"""More files in a folder than this are not looked through for one that includes the file."""
_LARGEST_INCLUDER: Final = 1 << 20

_NO_CODE: Final = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*#[^\n]*""", re.DOTALL | re.MULTILINE
)
"""Comments, literals and directives."""

_FLOATING_NAME: Final = re.compile(r"real|float|double|fp|val|scalar", re.IGNORECASE)


class Context(Struct, frozen=True):
    """The part of an including file that stands before its `#include` of a fragment."""

    path: str
    text: bytes


class Guess(Struct, frozen=True):
    """A stand-in for a name that nothing declares, which keeps the statements that use the name in the tree."""

    declaration: str
    meaning: str


# --- folders of headers ------------------------------------------------------------------------------


def folder_with(path: str, name: str) -> str | None:
    """A folder near a file, or one that its build files name, in which an included name exists."""
    for folder in _candidate_folders(os.path.dirname(os.path.abspath(path))):
        if os.path.isfile(os.path.join(folder, name)):
            return folder
    return None


@lru_cache(maxsize=64)
def _candidate_folders(start: str) -> tuple[str, ...]:
    candidates: list[str] = []
    for base in itertools.islice(upwards(start), _FOLDER_LEVELS):
        candidates += [os.path.join(base, name) if name else base for name in _FOLDER_NAMES]
        candidates += _build_folders(base)
    candidates += _setup_folders(start)
    return tuple(folder for folder in dict.fromkeys(candidates) if os.path.isdir(folder))


def _build_folders(base: str) -> Iterator[str]:
    for match in _BUILD_FOLDERS.finditer(_build_text(base)):
        for name in (match[1] or match[2] or "").split():
            yield os.path.normpath(os.path.join(base, name))


def _setup_folders(start: str) -> Iterator[str]:
    """The folders that the setup.py of a Python extension names, which stands at the top of its project."""
    for base in itertools.islice(upwards(start), _SETUP_LEVELS):
        for match in _SETUP_FOLDERS.finditer(_text_of(os.path.join(base, "setup.py"))):
            for line in (match[1] or match[2] or "").splitlines():
                # `os.path.join(here, "csrc", "include")`, or `Path(here) / "csrc" / "include"`.
                parts = _LITERAL.findall(line)
                if parts:
                    yield os.path.normpath(os.path.join(base, *parts))


@lru_cache(maxsize=64)
def _build_text(folder: str) -> str:
    """The build files of a folder, one after the other."""
    texts = [_text_of(os.path.join(folder, name)) for name in _BUILD_FILES]
    return _BUILD_COMMENT.sub("", "\n".join(texts))


def _text_of(path: str) -> str:
    if not os.path.isfile(path):
        return ""  # Opening a pipe would wait for somebody to write into it.
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST_INCLUDER)
    except OSError:
        return ""


# --- the file that includes a fragment -------------------------------------------------------------------


def includer_context(path: str) -> Context | None:
    """What stands before the `#include` of this file in another one near it."""
    path = os.path.abspath(path)
    name = re.escape(os.path.basename(path).encode())
    directive = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]*\b' + name + rb')"', re.MULTILINE)
    for folder in itertools.islice(upwards(os.path.dirname(path)), _INCLUDER_LEVELS):
        for candidate in _sources(folder):
            text = _small_file(candidate) if candidate != path else b""
            for match in directive.finditer(text):
                if os.path.realpath(os.path.join(folder, os.fsdecode(match[1]))) == os.path.realpath(path):
                    return Context(candidate, _closed(text[: match.start()]))
    return None


def _closed(text: bytes) -> bytes:
    """The text with its open braces closed: a fragment inside of `extern "C" {` is to stand on its own."""
    code = _NO_CODE.sub(b"", text)
    return text + b"\n" + b"}" * max(0, code.count(b"{") - code.count(b"}"))


def _sources(folder: str) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_INCLUDER_SUFFIXES))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names[:_INCLUDERS_READ]]


def _small_file(path: str) -> bytes:
    if not os.path.isfile(path):
        return b""  # Opening a pipe would wait for somebody to write into it.
    try:
        with open(path, "rb") as file:
            text = file.read(_LARGEST_INCLUDER + 1)
    except OSError:
        return b""
    return text if len(text) <= _LARGEST_INCLUDER and b"\0" not in text else b""


# --- names that nothing declares -------------------------------------------------------------------------


def build_defines(path: str) -> tuple[str, ...]:
    """The macros that the build files of a file's own folder define with a literal value."""
    text = _build_text(os.path.dirname(os.path.abspath(path)))
    return tuple(dict.fromkeys(_BUILD_DEFINES.findall(text)))


_GROUPS: Final = (
    r"cooperative_groups|this_(thread_block|grid|multi_grid|cluster)|(thread_block|grid|coalesced|thread)_group"
    r"|thread_block(_tile)?|tiled_partition|coalesced_threads"
)
_STATEMENTS: Final = (
    r"__(assume|requires(_\w+)?|ensures|invariant|uniform_(int|bool)|distinct_(int|bool)|enabled|exclusive|implies)"
    r"|__axiom|__(no_)?(read|write)(_implies)?|__assertion|__global_(assert|invariant)|__function_wide_invariant"
)
_HEADERS: Final = (
    (_GROUPS, "cooperative_groups.h"),
    (_STATEMENTS, "_cudalint/specifications.h"),
    (r"curand\w+", "curand_kernel.h"),
    (r"nvcuda|wmma", "mma.h"),
    (r"half2?|__half2?|__(float2half|half2float|hadd|hmul|hfma)\w*", "cuda_fp16.h"),
    (r"nv_bfloat16\w*|__nv_bfloat16\w*", "cuda_bf16.h"),
    (r"cub", "cub/cub.cuh"),
    (r"u?int(8|16|32|64)_t", "stdint.h"),
    (r"FLT_\w+|DBL_\w+", "float.h"),
    (r"U?(INT|LLONG|LONG|CHAR|SHRT)_(MAX|MIN)", "limits.h"),
)
"""Names that belong to a well-known header, as patterns."""


def header_of(name: str) -> str | None:
    """The header that declares a well-known name: a fragment relies on its includer for that."""
    return next((header for pattern, header in _HEADERS if re.fullmatch(pattern, name)), None)


_LONE_MACRO: Final = re.compile(rb"\s*([A-Z_][A-Z0-9_]{2,})\s*(\([^;{}]*\))?\s*(?://.*|/\*.*)?$")
_MACRO_IN_FRONT: Final = re.compile(
    rb"\s*([A-Za-z_]\w*)\s*(\([^;{}()]*\))?\s+(?:__global__|__device__|__host__|template|static|extern|inline|void)\b"
)
_NO_MACRO: Final = re.compile(rb"_*(?:global|device|host|shared|constant|managed|forceinline|noinline)__|[a-z]+")


def macro_on(line: bytes) -> tuple[str, Guess] | None:
    """The word on a line that can only be a macro: it stands alone, without a semicolon, or before a declaration."""
    match = _LONE_MACRO.match(line) or _MACRO_IN_FRONT.match(line)
    if match is None or _NO_MACRO.fullmatch(match[1]):
        return None
    name = match[1].decode()
    return name, Guess(f"#define {name}{'(...)' if match[2] else ''}", "a macro without text")


def guess_type(name: str) -> Guess:
    """A stand-in for a type."""
    scalar = "float" if _FLOATING_NAME.search(name) else "int"
    return Guess(f"typedef {scalar} {name};", f"`{scalar}`")


def guess_name(name: str, rest: bytes) -> Guess:
    """A stand-in for a name in an expression, given the text that follows it.

    It is a function where a parenthesis follows, else a number without a value, so that nothing is ever
    computed from a guess.
    """
    if not _CALLED.match(rest):
        return Guess(f"extern __device__ const int {name};", "an unknown `int`")
    # The result is most often of the first argument's type, or what a first argument points to.
    head = "template <class T, class... A> __host__ __device__ T"
    return Guess(f"{head} {name}(T, A...); {head} {name}(T*, A...); __host__ __device__ int {name}();", "a function")


_CALLED: Final = re.compile(rb"\s*(?:<[^;{}()]*>)?\s*\(")
_WITHIN: Final = re.compile(rb"\s*::\s*(?:template\s+)?(\w+)")
_DECLARES: Final = re.compile(rb"\s*(?:const\b)?\s*[&*]*\s*(?:__restrict(?:__)?\b)?\s*(?:\w|[{>]|$)")
"""What follows the name of a type: the name of a variable, or what ends a template's arguments."""
_VARIABLE: Final = re.compile(rb"\s*(?:const\b)?\s*[&*]*\s*(?:__restrict(?:__)?\b)?\s*(\w+)")
_TEMPLATE_ARGUMENTS: Final = re.compile(rb"\s*<((?:[^<>;{}]|<[^<>;{}]*>)*)>")
_NUMBER: Final = re.compile(rb"\s*(?:\d|true\b|false\b|[A-Z][A-Z_]+[A-Z0-9_]*\s*$|sizeof\b|\w*::k[A-Z])")


def guess_within(names: tuple[str, ...], rest: bytes) -> tuple[str, Guess]:
    """A stand-in for what an unknown namespace is named for (`library::Table<float, 2> t`), with its full name; `names`
    are the namespace's."""
    match = _WITHIN.match(rest)
    while match is not None and _WITHIN.match(rest, match.end()):
        names = (*names, match[1].decode())
        match = _WITHIN.match(rest, match.end())
    if match is None:
        return "::".join(names), Guess(f"namespace {'::'.join(names)} {{}}", "a namespace")
    name, rest = match[1].decode(), rest[match.end() :]
    guess = _guess_class(name, rest) or guess_name(name, rest)
    declaration = f"namespace {'::'.join(names)} {{ {guess.declaration} }}"
    return "::".join((*names, name)), Guess(declaration, guess.meaning)


def _guess_class(name: str, rest: bytes) -> Guess | None:
    """A type of which nothing is known, if the text that follows says that it is one."""
    arguments = _TEMPLATE_ARGUMENTS.match(rest)
    if not _DECLARES.match(rest, arguments.end() if arguments else 0):
        return None
    template = ""
    if arguments is None and not _is_class(rest):
        return guess_type(name)
    if arguments is not None:
        kinds = ["auto" if _NUMBER.match(argument) else "class" for argument in _top_level(arguments[1])]
        template = f"template <{', '.join(kinds)}> "
    # Made from anything.
    return Guess(f"{template}struct {name} {{ template <class... A> {name}(A&&...); }};", "a type of its own")


def _is_class(rest: bytes) -> bool:
    """Whether something is asked of the variable, or of what it points to, that the text declares first."""
    variable = _VARIABLE.match(rest)
    return variable is None or re.search(rb"\b" + variable[1] + rb"\s*(?:\.|->|\[|\()", rest) is not None


def _top_level(arguments: bytes) -> list[bytes]:
    """A template's arguments, those of templates among them left together."""
    found, depth, start = [], 0, 0
    for match in re.finditer(rb"[<>,()]", arguments):
        depth += match[0] in b"<("
        depth -= match[0] in b">)"
        if match[0] == b"," and not depth:
            found.append(arguments[start : match.start()])
            start = match.end()
    return [*found, arguments[start:]]
