"""Names that a file uses and nothing declares: headers that are known to declare them are included, and the others are
declared by stand-ins, where that helps. Each is noted as a problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.frontend.attempts import Attempt, Setting, Source
from cudalint.frontend.diagnoses import Problem
from cudalint.frontend.dispatches import is_dispatch
from cudalint.frontend.flags import is_bundled
from cudalint.frontend.guesses import Guess, header_of
from cudalint.frontend.preparing import is_of_libraries
from cudalint.frontend.problems import missing_names, numbers_needed

_ROUNDS: Final = 6
"""A declared name may uncover the next one of the same statement."""
_LEAST_PROGRESS: Final = 20
"""A round that takes away less than this part of a file's errors is the last one."""
_NOT_DECLARED: Final = frozenset({"undeclared", "unknown-type", "no-type", "not-in-namespace"})


def misses_names(attempt: Attempt) -> bool:
    return any(_missing(attempt))


def misses_names_in_headers(attempt: Attempt) -> bool:
    return any(_missing_in_headers(attempt))


def with_names(source: Source, attempt: Attempt) -> Attempt:
    """An attempt with the names that it misses."""
    naming = _Naming(source, attempt, attempt)
    naming.include_headers()
    for _ in range(_ROUNDS):
        if source.is_over() or not naming.declare():
            break
    return naming.result()


class _Naming(Struct):
    source: Source
    best: Attempt
    plain: Attempt
    """The best one as long as nothing ran the code that dispatches are given: what that misses shows only then."""
    has_dispatches: bool = False
    headers: dict[str, Problem] = field(default_factory=dict)
    """Those that were included, with the first use of a name of each."""
    names: dict[str, Problem] = field(default_factory=dict)
    """Those that were declared, with their first uses."""
    useless: set[str] = field(default_factory=set)
    """Those that it doesn't help to declare."""

    def include_headers(self) -> None:
        """Includes the headers that well-known names belong to; at once with the first stand-ins for other names,
        unless these turn out to be declared in one of the headers."""
        attempt = self.best
        named = ((name, problem) for name, (problem, _) in _missing(attempt))
        problems = {header_of(name): problem for name, problem in (*_missing_in_headers(attempt), *named)}
        headers = {header: problem for header, problem in problems.items() if header is not None}
        if not headers:
            return
        setting = _with_headers(attempt.setting, tuple(headers))
        found = {name: each for name, each in _next(dict(_missing(attempt))).items() if header_of(name) is None}
        if any(is_dispatch(guess) for _, guess in found.values()):
            found = {}
        if found:
            other = self._numbered(self.source.parse(_with_guesses(setting, found)))
            if other.errors < attempt.errors and _errors_of_ours(other) <= _errors_of_ours(attempt):
                self.headers, self.names = headers, {name: problem for name, (problem, _) in found.items()}
                self.best = self.plain = other
                return
            if other.counted < attempt.counted:
                found = {}
        other = self.source.parse(setting)
        if other.counted < attempt.counted:
            self.headers = headers
            self.best = self.plain = other
        elif other.counted == attempt.counted:
            # The headers are neither here nor there, so that what was declared with them in vain is of no use either.
            self.useless |= {name for name, (_, guess) in found.items() if not guess.is_known}

    def declare(self) -> bool:
        """Declares the names that are still missing. Whether there may be more to declare."""
        known = self.best.setting.guesses
        every = {name: each for name, each in _missing(self.best) if name not in self.useless}
        every = {name: each for name, each in every.items() if known.get(name) != each[1]}
        if not every:
            return False
        found = _next(every)
        guesses = [guess for _, guess in found.values()]
        is_opening = any(map(is_dispatch, guesses))
        other = self._numbered(self.source.parse(_with_guesses(self.best.setting, found)))
        # Where clang knows more it may find as much that is wrong.
        is_worth_it = other.counted < self.best.counted or (
            other.counted == self.best.counted and any(guess.is_known for guess in guesses)
        )
        if not is_opening and not is_worth_it:
            self.useless |= found.keys()
            return len(found) < len(every)
        self.has_dispatches = self.has_dispatches or is_opening
        if not self.has_dispatches:
            self.plain = other
        # What is left of a text that is all of a library that isn't there is not worth a parse each.
        goes_on = is_opening or (self.best.errors - other.errors) * _LEAST_PROGRESS >= self.best.errors
        self.best = other
        self.names |= {name: problem for name, (problem, _) in found.items()}
        return goes_on or any(guess.is_known for guess in guesses)

    def result(self) -> Attempt:
        best = self.plain if self.best.errors > self.plain.errors else self.best
        guesses = best.setting.guesses
        supplied = [
            replace(problem, message=f"`{header}` is not included; taken as if it were", kind="supplied", name=header)
            for header, problem in self.headers.items()
            if not header.startswith("_cudalint")
        ]
        guessed = [
            replace(problem, message=guesses[name].note(name), kind="guessed", is_syntax=False, name=name)
            for name, problem in self.names.items()
            if name in guesses
        ]
        return replace(best, problems=(*best.problems, *supplied, *guessed))

    def _numbered(self, attempt: Attempt) -> Attempt:
        """With numbers for the declared names that need them."""
        guesses = attempt.setting.guesses
        needed = dict(numbers_needed(attempt.path, attempt.text, attempt.problems, guesses))
        if not needed:
            return attempt
        return attempt.better_of(self.source.parse(replace(attempt.setting, guesses={**guesses, **needed})))


def _next(names: dict[str, tuple[Problem, Guess]]) -> dict[str, tuple[Problem, Guess]]:
    """Those of missing names that are to be declared first: what follows from an unknown namespace comes out right when
    that is known, and so does what stands in the code that a dispatch is given."""
    found = {name: each for name, each in names.items() if "::" in name} or names
    return {name: each for name, each in found.items() if is_dispatch(each[1])} or found


def _with_headers(setting: Setting, headers: tuple[str, ...]) -> Setting:
    libraries = setting.libraries or any(map(is_of_libraries, headers))
    return replace(setting, headers=headers, libraries=libraries)


def _with_guesses(setting: Setting, found: dict[str, tuple[Problem, Guess]]) -> Setting:
    guesses = {name: guess for name, (_, guess) in found.items()}
    return replace(setting, guesses={**setting.guesses, **guesses})


def _errors_of_ours(attempt: Attempt) -> int:
    """How many errors are in headers of this package: of what is declared twice, for one."""
    return sum(problem.is_error and is_bundled(problem.path) for problem in attempt.problems)


def _missing(attempt: Attempt) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
    return missing_names(attempt.path, attempt.text, attempt.problems, attempt.setting.guesses)


def _missing_in_headers(attempt: Attempt) -> Iterator[tuple[str, Problem]]:
    """The well-known names that the project's headers use and nothing declares: another header would have included
    theirs."""
    own = set(attempt.own_files()) - {attempt.path}
    for problem in attempt.problems:
        name = f"{problem.scope}::{problem.name}" if problem.scope else problem.name
        if problem.path in own and problem.error in _NOT_DECLARED and header_of(name) is not None:
            yield name, problem
