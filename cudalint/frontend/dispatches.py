"""Stand-ins for macros that dispatch, where nothing declares them: `SWITCH_TYPES(dtype, T, { launch<T>(); })`.

Such a macro takes code as its last argument, as a block or as a lambda without parameters, and runs it for one of
several types or sizes, whose names it declares itself. What it is shows in its shape alone: the stand-in runs the code
once, and names that are unknown in there are bound by it. For these something is assumed, and that is said.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from cudalint.frontend.diagnoses import Problem
from cudalint.frontend.guesses import Guess, type_named, with_value
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_MOST_USES: Final = 50
_MEANING: Final = "a macro that runs the code that it is given"
_LAMBDA: Final = regex(
    r"\[[^\[\]]*\]\s*(?:\(\s*(?:void)?\s*\)\s*)?(?:mutable\b\s*)?(?:->\s*[\w:<>]+\s*)?(?=\{)"
)
_MACRO_LETTERS: Final = regex(r"[A-Z]\w*_\w*|[A-Z][A-Z0-9]{3,}")
_CALLED_MACRO: Final = regex(r"\b([A-Z][A-Z0-9_]{3,})[ \t]*\(")
_NAME_OF_TYPE: Final = regex(
    r"\w*_t|\w*[Tt]ypes?\d?|\w*_TYPE|\w*[Ss]calar\w*|[A-Za-z]?[Dd][Tt]ype\w*|T\d?|\w+[a-z]T|[A-Z]"
)
_OF_INDICES: Final = regex(r"(?i)\w*(?:int|idx|index|indices|indptr|id|offset)_?(?:t|type)?")
_OF_CHOICES: Final = regex(
    r"k?(?:Is|Has|Use|Do|Enable|With)(?=[A-Z_])\w*|(?:is|has|use|do|enable|with)_\w*|(?:IS|HAS|USE|ENABLE|WITH)_\w*"
)


class Use(Struct, frozen=True):
    """One use of a macro that takes code."""

    line: int
    column: int
    end: tuple[int, int]
    """Line and column of what closes it."""
    others: int
    """Arguments in front of the code."""
    is_block: bool
    code: str
    """Blank where the text has comments and literals."""


class Dispatches(Struct, frozen=True):
    """The uses of the dispatches of a text, by their lines and columns."""

    uses: dict[tuple[int, int], Use]

    def bound(self, problem: Problem) -> Guess | None:
        """A stand-in for a name that is unknown in the code that a dispatch is given: a type, or a number. Clang places
        what is wrong in there where the macro stands."""
        use = self.uses.get((problem.line, problem.column))
        if use is None or problem.name not in use.code:
            return None
        name = problem.name
        if _is_type(name, use.code):
            return type_named(name, "int" if _OF_INDICES.fullmatch(name) else "float")
        return with_value(name, "bool", 0) if _OF_CHOICES.fullmatch(name) else with_value(name)


def dispatched(guesses: Mapping[str, Guess], text: bytes) -> Dispatches:
    """Those of the macros that were taken as dispatches."""
    names = [name for name, guess in guesses.items() if is_dispatch(guess)]
    return Dispatches({(use.line, use.column): use for name in names for use in _uses_of(name, text)})


def is_dispatch(guess: Guess) -> bool:
    return guess.meaning == _MEANING


def dispatches_around(
    problems: Sequence[Problem], path: str, text: bytes, known: Collection[str]
) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
    """What is given code in which something is wrong, and can only be a macro that nothing declares: were it declared,
    clang would place what is wrong where the macro stands."""
    places = {(p.line, p.column): p for p in problems if p.path == path and p.is_error}
    if not places or b"{" not in text:
        return
    code = code_text(text.decode("latin-1"))
    for name in dict.fromkeys(_CALLED_MACRO.findall(code.code)):
        uses = [] if name in known else list(_uses(name, code))
        inside = (p for at, p in places.items() for use in uses if (use.line, use.column) < at < use.end)
        problem = next(inside, None)
        if problem is not None and not re.search(rf"#[ \t]*define[ \t]+{name}\b", code.text):
            yield name, (problem, _running(name, uses[0]))


def dispatch(name: str, text: bytes) -> Guess | None:
    """A macro that runs the code that it is given, once; None for a name that is given none."""
    uses = _uses_of(name, text)
    return _running(name, uses[0]) if uses else None


def _running(name: str, use: Use) -> Guess:
    parameters = "".join(f"A{number}, " for number in range(use.others))
    body = "{ __VA_ARGS__ }" if use.is_block else "(__VA_ARGS__)()"
    return Guess(f"#define {name}({parameters}...) {body}", _MEANING)


def _uses_of(name: str, text: bytes) -> list[Use]:
    """Where a text hands code to a name as the last argument."""
    if not _MACRO_LETTERS.fullmatch(name) or name.encode() not in text:
        return []
    return list(_uses(name, code_text(text.decode("latin-1"))))


def _uses(name: str, text: CodeText) -> Iterator[Use]:
    for match in itertools.islice(re.finditer(rf"\b{re.escape(name)}[ \t]*\(", text.code), _MOST_USES):
        begin, end = match.end(), text.close(match.end() - 1)
        if end is None:
            continue
        starts = [begin, *(comma + 1 for comma in text.find(",", begin, end - 1))]
        for position, at in enumerate(map(text.skip, starts)):
            lambda_ = _LAMBDA.match(text.code, at)
            open_ = lambda_.end() if lambda_ is not None else at
            closed = text.close(open_) if text.code[open_ : open_ + 1] == "{" else None
            if closed is not None and text.skip(closed) == end - 1:
                ends = text.position(end - 1)
                yield Use(*text.position(match.start()), ends, position, lambda_ is None, text.code[open_:closed])
                break


def _is_type(name: str, code: str) -> bool:
    """Whether a name is one of a type: as the code uses it, else as it is spelled."""
    word = rf"(?<![\w.>]){re.escape(name)}\b"
    uses = (
        rf"{word}\s*(?:const\s*)?[*&]+\s*(?:__restrict__\s*)?[>),\w]",
        rf"{word}\s+(?:const\s+)?[A-Za-z_]\w*\s*[=;({{\[,)]",
        rf"{word}\s*(?:::|\{{)",
        rf"\b(?:sizeof|alignof)\s*\(\s*{word}\s*\)",
        rf"_cast\s*<[^<>;]*{word}[^<>;]*>",
        rf"<\s*const\s+{word}",
    )
    return any(re.search(use, code) for use in uses) or _NAME_OF_TYPE.fullmatch(name) is not None
