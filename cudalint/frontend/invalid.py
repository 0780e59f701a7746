"""Which problems of a file are mistakes that every compiler of CUDA rejects, and not a matter of what was not in sight.

Everything that may stand elsewhere makes a problem doubtful: a macro that the build may define, another branch of a
preprocessor condition, a family of names that CUDA's own headers use. Where an include was not found, or only a
stand-in for a library's header was, a name that nothing declares is no mistake, and of syntax errors those are that
`half_seen.py` is sure of. clang's grammar is not that of nvcc either, so that only plain messages about plain
lines count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from cudalint.frontend.diagnoses import Problem
from cudalint.frontend.flags import BUNDLED_ROOT, HEADERS_ROOT, LIBRARIES_ROOT
from cudalint.frontend.half_seen import sure_errors
from cudalint.regexes import regex
from cudalint.source.lexing import DIRECTIVE, blanked
from cudalint.source.lines import Lines
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.encoding import to_bytes, to_text
from cudalint.system.disk.folders import small_file

_FAMILIES: Final = regex(
    r"_\w*|\w*_|cu[A-Z]\w*|CU\w*|cuda\w*|cu(rand|blas|fft|sparse|solver|b|te|tlass)\w*|nv\w*|Nv\w*|[Nn]pp\w*"
    r"|(tex|surf)(ture|ace)?\d?\w*|atomic\w*|make_\w+|[Hh]alf\w*|[fb]p?\d+\w*|clock\w*"
    r"|u?mul(24|hi|64hi)|\w+_as_\w+|\w+2\w+|is[a-z]+|pow10f?|significand|drem|gamma|nexttoward|rnormf"
    r"|\w+[1234]|\w+_t|threadfence\w*|sync\w*|simd\w*|wmma\w*|mma\w*"
)
"""Names that CUDA's headers and C's may have beyond those that the bundled headers declare (CUDA C++ Programming Guide,
CUDA Math API): intrinsics, vector types and conversions, textures, half precision, deprecated functions of devices."""
_IN_FULL: Final = regex(
    r"_cudalint/|cuda_runtime|cuda\.h|device_launch_parameters|vector_types|vector_functions|driver_types|host_defines"
    r"|builtin_types|channel_descriptor|library_types|math|c?stdio|c?stdlib|c?string|c?time|c?float|c?limits|c?assert"
    r"|c?std(int|def|bool|arg)|c?ctype|c?errno|unistd|sys/|iostream|fstream|sstream|iomanip|ostream|istream|ios|string"
    r"|vector|algorithm|chrono|random|memory|utility|functional|map|set|array|numeric|limits|cmath|iterator|tuple"
    r"|initializer_list|type_traits|typeinfo|new|exception|stdexcept|list|queue|stack|deque|unordered_|bits/|features"
    r"|curand\.h|cublas|cufft|cusparse|omp|getopt|cuda_profiler_api|ratio|thread|mutex|atomic|condition_variable"
)
"""Headers that declare all that a kernel can use of what they have. Others may have more than their stand-ins."""
_SYNTAX: Final = frozenset(
    {
        "expected-bracket", "expected-token", "expected-expression", "extra-brace", "open-class", "open-string",
        "taken-as-closed",
    }
)  # fmt: skip
"""Errors that mean the same for every compiler."""
_ODD: Final = regex(
    r"\b(asm|requires|concept|consteval|constinit|co_\w+|typeof|decltype|template|typename|operator|goto|register)\b"
    r"|\b_[A-Z]\w*|<=>|\[\[|<<\s*<|>>\s*>|#|\\$|\[[^\]]*\]\s*__"
    r"|\b__(?!(global|device|shared|restrict)__|restrict\b|syncthreads\b)"
)
"""What compilers differ about, on the line of an error."""
_MACRO: Final = regex(r"#\s*define\s+(\w+)")
_FUNCTION: Final = regex(r"\b([A-Za-z_]\w*)\s*\(")
_CALL: Final = regex(r"\s*\(")
_TYPE_OR_VARIABLE: Final = regex(
    r"\b(?:struct|class|union|enum|namespace|using)\s+([A-Za-z_]\w*)"
    r"|^\s*(?:typedef|extern|__device__)\b[^;{}]*?\b([A-Za-z_]\w*)\s*;",
    re.MULTILINE,
)
_OF_SURROUNDINGS: Final = ("missing-include", "supplied", "defined")
"""Kinds of problems with which not all was seen that the file's compiler sees."""
_SAYS_NOTHING: Final = regex(rb"\s*(#\s*include\b.*)?")
"""Lines that nothing behind them is about."""
_CLOSED_LAUNCH: Final = regex(r">\s*>\s*>")
_WORDS: Final = regex(r"[A-Za-z_]\w*")
_USING: Final = regex(r"\busing\s+namespace\s+([\w:]+)")
_USING_NAME: Final = regex(r"\busing\s+[\w:]+::\w+\s*;")


class Sight(Struct, frozen=True):
    """What of a file's surroundings was seen."""

    path: str
    text: str
    skipped: Sequence[tuple[int, int]]
    """First and last line of what preprocessor conditions leave out."""
    included: Collection[str]
    """The paths of the headers that were read."""
    text_of: Callable[[str], bytes]
    """What was read of one of them, which is nothing where it may not be opened."""
    declared: Callable[[], frozenset[str]]
    """The names that the file and the headers of its project declare, and the macros that there are."""
    is_whole: bool
    """It is no fragment of another file, and stands as its author builds it."""
    is_written: Callable[[int], bool] | None = None
    """For a text in a file of another language: whether a line of it stands there as it is."""


def with_certainty(problems: Iterable[Problem], sight: Sight) -> tuple[Problem, ...]:
    """The problems, each of which tells whether it is certainly a mistake."""
    listed = tuple(problems)
    if not sight.is_whole or not (sight.path.endswith(".cu") or sight.is_written is not None):
        return listed
    if not any(problem.path == sight.path for problem in listed):
        return listed
    is_all_seen = not _has_libraries(sight) and all(problem.kind not in _OF_SURROUNDINGS for problem in listed)
    if not is_all_seen and not any(problem.is_syntax for problem in listed):
        return listed  # Names that nothing declares: they may come from what was not seen.
    judge = _Judge(sight)
    sure = judge.sure_ones([problem for problem in listed if problem.path == sight.path and problem.is_error])
    return tuple(
        replace(problem, is_certain=True, stands_alone=True)
        if problem in sure
        else replace(problem, is_certain=is_all_seen and judge.is_certain(problem))
        for problem in listed
    )


def _has_libraries(sight: Sight) -> bool:
    return any(path.startswith(LIBRARIES_ROOT) for path in sight.included)


class _Judge:
    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._path = sight.path
        self._is_written = sight.is_written
        self._lines = Lines(to_bytes(sight.text))
        own = [path for path in sight.included if not path.startswith(BUNDLED_ROOT)]
        bundled = [path.removeprefix(BUNDLED_ROOT).lstrip("/\\") for path in sight.included if path not in own]
        self._others_in_part = not all(_IN_FULL.match(path) for path in bundled)
        headers = "\n".join(sight.text_of(path).decode(errors="replace") for path in own)
        self._texts = f"{sight.text}\n{headers}"
        self._left_out = "\n".join([to_text(self._lines.between(first, last)) for first, last in sight.skipped])
        directives = (match[0] for match in DIRECTIVE.finditer(sight.text))
        self._elsewhere = set(_WORDS.findall("\n".join((headers, self._left_out, *directives))))
        self._opens_namespaces = any(self._opens())

    def _opens(self) -> Iterator[bool]:
        """Whether names of a namespace that is not the user's own stand without it."""
        for match in _USING.finditer(self._texts):
            yield match[1] != "std" and re.search(rf"\bnamespace\s+{match[1]}\b\s*\{{", self._texts) is None
        yield _USING_NAME.search(self._texts) is not None and self._others_in_part

    def is_certain(self, problem: Problem) -> bool:
        if problem.path != self._path or problem.line > len(self._lines):
            return False
        if problem.kind in ("guessed", "undeclared", "undeclared-type"):
            # What compiles a text in another file may define more for it.
            return self._is_written is None and self._is_no_name(problem, problem.name)
        return self._is_plain_syntax(problem)

    def _is_plain_syntax(self, problem: Problem) -> bool:
        return problem.is_syntax and problem.error in _SYNTAX and self._is_plain(problem)

    def sure_ones(self, errors: Iterable[Problem]) -> Collection[Problem]:
        """Those of the file's errors that are certain although not all was seen."""
        on_lines = (problem for problem in errors if problem.line <= len(self._lines))
        # What encloses lines is about more than its own.
        listed = [p if p.last_line or self._is_plain_syntax(p) else replace(p, is_syntax=False) for p in on_lines]
        if not any(problem.is_syntax for problem in listed):
            return ()
        bundled = _bundled_code(self._sight.included)
        macros, functions = set(_MACRO.findall(bundled)), set(_FUNCTION.findall(bundled))
        types = {name for names in _TYPE_OR_VARIABLE.findall(bundled) for name in names}
        known = (self._sight.declared() | macros | types) - set(_MACRO.findall(self._left_out))

        def is_declared(word: re.Match[str]) -> bool:
            name = word[0]
            is_function = name in functions and _CALL.match(word.string, word.end()) is not None
            is_usual = len(name) == 1 or name.upper() != name or name in macros or self._declares(name)
            return (name in known or is_function) and is_usual

        return sure_errors(self._sight.text, self._sight.skipped, listed, is_declared)

    def _is_no_name(self, problem: Problem, name: str) -> bool:
        """Whether nothing that may be elsewhere can declare a name."""
        rest = self._lines.behind(problem.line, problem.column).decode(errors="replace")
        if not re.match(rf"{re.escape(name)}\b", rest) or b"#" in self._lines.line(problem.line):
            return False  # It comes out of a macro.
        # What has no small letter is a macro, which the build may define.
        if name.upper() == name or _FAMILIES.fullmatch(name) or name in self._elsewhere:
            return False
        behind = rest[len(name) :].lstrip()
        if behind.startswith(("::", "<")) or self._opens_namespaces:
            return False
        is_type = re.match(r"[*&\s]*[A-Za-z_]", behind) is not None and not behind.startswith(("and ", "or "))
        if is_type:
            # Names of scalar types are often the build's (`-Dreal=double`).
            return name[0].isupper() and not self._others_in_part
        if behind.startswith("(") and (self._others_in_part or _USING.search(self._texts) is not None):
            return False
        return len(name) > 1 or not self._others_in_part

    def _is_plain(self, problem: Problem) -> bool:
        """Whether all that stands on the line of a syntax error and before it means the same to every compiler."""
        above = (n for n in range(problem.line - 1, 0, -1) if not _SAYS_NOTHING.fullmatch(self._lines.line(n)))
        before = next(above, problem.line)
        near = {n: self._lines.line(n) for n in (before, problem.line)}
        if self._is_written is not None and not all(map(self._is_written, near)):
            return False
        code = blanked(to_text(b"\n".join(near.values())), directives=False)
        if problem.name == ">>>" and not _CLOSED_LAUNCH.search(code):
            code = code.replace("<<<", " ")
        if _ODD.search(code):
            return False
        capitals = (word for word in _WORDS.findall(code) if len(word) > 1 and word.upper() == word)
        return all(self._declares(word) for word in capitals)

    def _declares(self, word: str) -> bool:
        """Whether the user's own text defines a macro, or declares a name, that could be anything otherwise."""
        declared = rf"#\s*define\s+{word}\b|\b(?:int|unsigned|size_t|typename|class|float|double|auto)[\s*&]+{word}\b"
        return re.search(declared, self._texts) is not None


def _bundled_code(included: Collection[str]) -> str:
    """The code of the bundled headers that a file was parsed with. Those that come with every file include others,
    precompiled, which nothing tells of; they stand in one folder."""
    folder = os.path.join(BUNDLED_ROOT, "_cudalint")
    always = (os.path.join(folder, name) for name in sorted(disk.names_in(folder, (".h",))))
    paths = dict.fromkeys((*always, *(path for path in sorted(included) if path.startswith(HEADERS_ROOT))))
    return blanked("\n".join([to_text(small_file(path)) for path in paths]), directives=False)
