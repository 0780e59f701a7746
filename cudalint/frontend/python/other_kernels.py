"""Kernels that Python files hold in other languages than CUDA C++, which are named as not linted.

They are counted in the text, as Python files without CUDA are not parsed: by decorators whose names the file's imports
lead to a library that compiles functions, and by calls that compile what only a run would know.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from cudalint.numerals import count
from cudalint.regexes import regex

_LANGUAGES: Final = {
    "triton.jit": "Triton kernel",
    "triton.experimental.gluon.jit": "Gluon kernel",
    "numba.cuda.jit": "Numba kernel",
    "cupyx.jit.rawkernel": "CuPy JIT kernel",
    "warp.kernel": "Warp kernel",
    "cutlass.cute.kernel": "CuTe DSL kernel",
}
_NVRTC: Final = "NVRTC program"
_SIGNS: Final = regex(rb"\bjit\b|\brawkernel\b|\.kernel\b|\bnvrtcCreateProgram\b")
_STRINGS: Final = regex(r'"""[^"]*(?:"(?!"")[^"]*)*"""' + r"|'''[^']*(?:'(?!'')[^']*)*'''")
_IMPORT: Final = regex(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_FROM: Final = regex(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*(?:\(([^()]*)\)|([\w., \t*]+))", re.MULTILINE)
_DECORATOR: Final = regex(r"[ \t]*@[ \t]*([\w.]+)")
_FUNCTION: Final = regex(r"[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_CALLED: Final = regex(r"\bdef[ \t]+\w+|(?<![\w.])(\w+)[ \t]*\(")
_COMPILED: Final = regex(r"\bnvrtcCreateProgram[ \t]*\(")


def kernels_in(data: bytes) -> Counter[str]:
    """How many kernels of each language the text of a file holds. Functions that others call by their plain name are
    helpers of kernels: kernels are called with a grid."""
    if _SIGNS.search(data) is None:
        return Counter()
    text = _STRINGS.sub("", data.decode("utf-8", "replace"))
    names, called = dict(_imported(text)), {match[1] for match in _CALLED.finditer(text)}
    found = Counter(
        language
        for function, decorators in _decorated(text)
        for name, arguments in decorators
        if (language := _LANGUAGES.get(_full(name, names))) is not None
        and function not in called
        and "device=True" not in "".join(arguments.split())
    )
    return found + programs_in(text)


def programs_in(text: str) -> Counter[str]:
    """How many kernels' sources a text of any language, without its comments, has compiled when it runs."""
    return +Counter({_NVRTC: len(_COMPILED.findall(text))})


def _decorated(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The functions with decorators, each of these with what stands between its name and the next thing."""
    decorators: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if (decorator := _DECORATOR.match(line)) is not None:
            decorators.append((decorator[1], [line[decorator.end() :]]))
        elif (function := _FUNCTION.match(line)) is not None:
            if decorators:
                yield function[1], [(name, "".join(arguments)) for name, arguments in decorators]
            decorators = []
        elif decorators:
            decorators[-1][1].append(line)


def _imported(text: str) -> Iterator[tuple[str, str]]:
    """The names that imports bind, with what they stand for."""
    for match in _IMPORT.finditer(text):
        for name, as_name in _parts(match[1]):
            first = name.partition(".")[0]
            yield (as_name, name) if as_name else (first, first)
    for match in _FROM.finditer(text):
        for name, as_name in _parts(match[2] or match[3]):
            yield as_name or name, f"{match[1]}.{name}"


def _parts(listed: str) -> Iterator[tuple[str, str]]:
    for part in listed.split(","):
        words = part.split()
        if words:
            yield words[0], words[2] if len(words) == 3 and words[1] == "as" else ""


def _full(name: str, names: Mapping[str, str]) -> str:
    first, dot, rest = name.partition(".")
    return f"{names.get(first, first)}{dot}{rest}"


def listed(kernels: Iterable[tuple[str, int]]) -> str:
    """`3 Triton kernels and 1 Numba kernel`."""
    parts = [count(number, language) for language, number in kernels]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
