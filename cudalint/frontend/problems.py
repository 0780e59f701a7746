"""Which names and headers a file misses, as clang's errors tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from cudalint.frontend.diagnoses import Problem
from cudalint.frontend.dispatches import dispatch, dispatched, dispatches_around
from cudalint.frontend.guesses import (
    Guess,
    guess_name,
    guess_type,
    guess_well_known,
    guess_within,
    header_of,
    macro_on,
    with_number,
)  # fmt: skip
from cudalint.regexes import regex
from cudalint.source.lines import Lines

_END_OF_ARGUMENTS: Final = regex(rb"<<<|>\s*\(|;")
"""What follows the arguments of a template, or a constant."""
_WORD: Final = regex(rb"[A-Za-z_]\w*")
_LINES_READ: Final = 100
"""Behind the declaration of a variable of unknown type, to see what is asked of it."""


def missing_headers(problems: Sequence[Problem]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(problem.name for problem in problems if problem.kind == "missing-include"))


def missing_names(
    path: str, text: bytes, problems: Sequence[Problem], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
    """The names that a file uses and nothing declares, with their first use and a guess; `guesses` are those that there
    are already."""
    seen: set[str] = set()
    dispatches = dispatched(guesses, text)
    for macro in dispatches_around(problems, path, text, guesses):
        seen.add(macro[0])
        yield macro
    lines = Lines(text)
    for problem in problems:
        is_type = problem.error in ("unknown-type", "no-type")
        if problem.path != path:
            known = guess_well_known(problem.name) if is_type or problem.error == "undeclared" else None
            if known is not None and problem.name not in seen:
                seen.add(problem.name)
                yield problem.name, (problem, known)
            continue
        if problem.is_syntax or is_type:
            macros = dict(_macros_near(lines, problem))
            yield from [(name, macro) for name, macro in macros.items() if name not in seen]
            seen.update(macros)
            if any(place.line == problem.line for place, _ in macros.values()):
                continue
        if problem.error == "no-type-specifier":
            # A macro that a well-known header defines, in the place of a declaration.
            found = re.match(rb"\w+", lines.behind(problem.line, problem.column))
            name = found[0].decode() if found else ""
            if header_of(name) is not None:
                yield name, (problem, guess_name(name, b""))
            continue
        within = _in_namespace(problem, lines)
        if within is not None:
            if within[0] not in seen:
                yield within[0], (problem, within[1])
            seen.add(within[0])
            continue
        if not (is_type or problem.error == "undeclared") or problem.name in seen:
            continue
        seen.add(problem.name)
        behind = lines.behind(problem.line, problem.column)[len(problem.name) :]
        guess = dispatch(problem.name, text) or dispatches.bound(problem)
        guess = guess or guess_well_known(problem.name)
        if guess is None and is_type:
            guess = guess_type(problem.name, text)
        yield problem.name, (problem, guess or guess_name(problem.name, behind))


def numbers_needed(
    path: str, text: bytes, problems: Sequence[Problem], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, Guess]]:
    """The guessed names that stand where a template must have a number, with guesses that have one."""
    lines = Lines(text)
    found: set[str] = set()
    for problem in problems:
        if problem.path == path and problem.error == "needs-number":
            rest = _behind(lines, problem)
            found.update(word.decode() for word in _WORD.findall(_END_OF_ARGUMENTS.split(rest, 1)[0]))
    for name, guess in guesses.items():
        other = with_number(name, guess) if name in found else None
        if other is not None:
            yield name, other


def _behind(lines: Lines[bytes], problem: Problem) -> bytes:
    """What follows from a problem's place on, as far as it is read."""
    rest = lines.behind(problem.line, problem.column)
    return rest + b"\n" + lines.between(problem.line + 1, problem.line + _LINES_READ)


def _in_namespace(problem: Problem, lines: Lines[bytes]) -> tuple[str, Guess] | None:
    """The name that a namespace is used for and does not have, and a guess; None where the error is another one."""
    rest = _behind(lines, problem)
    if problem.scope:
        return guess_within((problem.scope,), b"::" + rest)
    if problem.error != "undeclared" or guess_well_known(problem.name) is not None:
        return None
    rest = rest.removeprefix(problem.name.encode()).lstrip()
    return guess_within((problem.name,), rest) if rest.startswith(b"::") else None


def _macros_near(lines: Lines[bytes], problem: Problem) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
    """What can only be a macro on the line of an error, or on the one before it."""
    above = range(min(problem.line - 1, len(lines)), 0, -1)
    before = next((number for number in above if lines.line(number).strip()), 0)
    for number in (before, problem.line):
        found = macro_on(lines.line(number))
        if found is not None:
            column = lines.line(number).index(found[0].encode()) + 1
            yield found[0], (replace(problem, line=number, column=column), found[1])
