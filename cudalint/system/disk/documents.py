"""TOML and JSON that a repository brings along: bounded before they are parsed, since what a parser makes of a small
text may take any time and memory, in a process that nothing limits.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from cudalint.regexes import regex

_MOST_LETTERS: Final = 1 << 20
"""Of a document of TOML, which people write themselves."""
_MOST_PARTS: Final = 32
"""Of a dotted key: the standard parser takes time by the square of them."""
_MOST_VALUES: Final = 2_000_000
"""Of a document of JSON: each takes some hundred bytes, be it a letter long."""
_MOST_BITS: Final = 64
"""Of whole numbers, which is what TOML and most readers of JSON have."""
_SHOWN: Final = 20
"""Letters of a number in a message."""
_BESIDE_KEYS: Final = regex(
    r"""#[^\n]*+|"{3}(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5})?|'{3}(?:[^']|'(?!''))*+(?:'{3,5})?"""
    r"""|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?""",
    re.DOTALL,
)
"""Comments and strings. One that is not closed goes as far as it can: nothing is looked through twice."""
_LONG_KEY: Final = regex(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}")


class DocumentError(ValueError):
    """A document that is not valid, or more than one may be; `line` where a single one is to blame."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def toml_of(text: str) -> dict[str, Any]:
    """Raises DocumentError."""
    import tomllib  # Most runs have no configuration.

    if len(text) > _MOST_LETTERS:
        raise DocumentError(f"larger than {_MOST_LETTERS >> 20} MB")
    bare = _BESIDE_KEYS.sub(_as_word, text)
    long = _LONG_KEY.search(bare)
    if long is not None:
        raise DocumentError(f"a key has more than {_MOST_PARTS} parts", bare.count("\n", 0, long.start()) + 1)
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise DocumentError("nested too deeply") from None
    except ValueError as error:  # A number of some thousand digits is no `TOMLDecodeError`.
        raise DocumentError(str(error)) from None
    _check_numbers(found)
    return found


def json_of(data: bytes, errors: str = "strict") -> Any:
    """Raises DocumentError."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > _MOST_VALUES:
        raise DocumentError(f"more than {_MOST_VALUES} values")
    try:
        found = json.loads(data.decode("utf-8", errors), parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise DocumentError("nested too deeply") from None
    except ValueError as error:
        raise DocumentError(str(error)) from None
    _check_numbers(found)
    return found


def _as_word(match: re.Match[str]) -> str:
    """A quoted part of a key is as good as a bare one; lines are kept."""
    text = match[0]
    return "" if text.startswith("#") else "q" + "\n" * text.count("\n")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:_SHOWN]} is no finite number")
    return number


def _check_numbers(document: Any) -> None:
    for value in _values(document):
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise DocumentError(f"a whole number has more than {_MOST_BITS} bits")


def _values(document: Any) -> Iterator[Any]:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        else:
            yield value
