"""The command with which a project runs a program: what a Makefile beside its `main` says under `run`.

It says which sizes the program is run with, where the program takes them from its command line. The file is read as
text and nothing of it is executed: what only `make` could find out leaves a command unknown.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from cudalint.program.folders import small_text

_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which `make` looks for them (GNU Make Manual, section 3.2)."""
_LARGEST: Final = 1 << 18
_TARGET: Final = "run"
_ASSIGNMENT: Final = re.compile(r"^\s*(?:export\s+)?([\w.-]+)\s*(\+|\?|::?:?)?=\s*(.*?)\s*$")
_RULE: Final = re.compile(r"^([^\s#:=][^#:=]*?)\s*::?(?!=)\s*([^#;]*)")
_REFERENCE: Final = re.compile(r"\$(?:\((?P<round>[\w.-]+)\)|\{(?P<curly>[\w.-]+)\}|(?P<letter>[\w<^@]))")
_CONDITIONAL: Final = re.compile(r"^\s*(ifn?eq|ifn?def|endif)\b")
_MOST_NESTED: Final = 8
"""Variables that name variables are followed so far."""
_SHELL: Final = frozenset("$`*?[(")
"""Letters with which a word is not what it says."""
_ENDS: Final = frozenset({";", "&&", "||", "|", "&", "<", ">", ">>", ">&", "&>", "|&"})


class RunCommand(Struct, frozen=True):
    """How a program is run."""

    words: tuple[str, ...]
    """The program as it is called, and its arguments."""
    path: str
    """Of the file that says so."""
    line: int

    @property
    def place(self) -> str:
        return f"{os.path.basename(self.path)}:{self.line}"


class _Line(Struct, frozen=True):
    """One line of a Makefile, with those that continue it."""

    text: str
    number: int


def run_command(path: str) -> RunCommand | None:
    """How the program is run whose `main` stands in a file; None where no Makefile beside it says so, or says it of
    another program, or runs it without arguments, which says nothing of what they might be."""
    if not os.path.isfile(path):
        return None
    for name in _MAKEFILES:
        makefile = os.path.join(os.path.dirname(path), name)
        if os.path.isfile(makefile):
            return _of_program(makefile, os.path.splitext(os.path.basename(path))[0])
    return None


def _of_program(makefile: str, stem: str) -> RunCommand | None:
    """The last command, if there are several: the small cases come first. Of several programs it is the one that is
    called as the file is; a single one may have any name, if the file is built here."""
    commands = _commands(makefile)
    called = [command for command in commands if os.path.basename(command.words[0]) == stem]
    if not called and len({command.words[0] for command in commands}) == 1 and _is_built(makefile, stem):
        called = list(commands)
    return called[-1] if called and len(called[-1].words) > 1 else None


def _is_built(makefile: str, stem: str) -> bool:
    named = re.compile(rf"(?<![\w/.-]){re.escape(stem)}\.(?:cu|cpp|cc|cxx|c|o)\b|\*\.cu\b")
    return any(named.search(line.text) for line in _lines(makefile))


@lru_cache(maxsize=8)
def _commands(makefile: str) -> tuple[RunCommand, ...]:
    """All that `make run` would run, of which nothing is left open."""
    lines = _lines(makefile)
    variables = dict(_variables(lines))
    found = []
    for line, prerequisites in _recipe(lines):
        words = _program_words(_expanded(line.text.lstrip("\t @+-"), {**variables, **prerequisites}))
        if words:
            found.append(RunCommand(words, makefile, line.number))
    return tuple(found)


@lru_cache(maxsize=8)
def _lines(makefile: str) -> Sequence[_Line]:
    found: list[_Line] = []
    begun, number = "", 0
    for position, line in enumerate(small_text(makefile)[:_LARGEST].splitlines(), 1):
        number = number or position
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        found.append(_Line(begun + line, number))
        begun, number = "", 0
    return found


def _variables(lines: Sequence[_Line]) -> Iterator[tuple[str, str]]:
    """What stands outside of conditionals: which of these hold only `make` knows."""
    known: dict[str, str] = {}
    depth = 0
    for line in lines:
        conditional = _CONDITIONAL.match(line.text)
        if conditional is not None:
            depth += -1 if conditional[1] == "endif" else 1
        assigned = None if line.text.startswith("\t") or depth else _ASSIGNMENT.match(line.text.partition("#")[0])
        if assigned is None:
            continue
        name, how, value = assigned[1], assigned[2], assigned[3]
        if how == "+":
            value = f"{known.get(name, '')} {value}".strip()
        elif how == "?" and name in known:
            continue
        known[name] = value
    yield from known.items()


def _recipe(lines: Sequence[_Line]) -> Iterator[tuple[_Line, dict[str, str]]]:
    """The lines of the target's recipe, with the automatic variables that it may use."""
    automatic: dict[str, str] | None = None
    for line in lines:
        if line.text.startswith("\t"):
            if automatic is not None:
                yield line, automatic
            continue
        rule = _RULE.match(line.text)
        if rule is not None:
            needed = rule[2].split()
            is_target = _TARGET in rule[1].split()
            automatic = {"@": _TARGET, "<": needed[0] if needed else "", "^": " ".join(needed)} if is_target else None


def _expanded(text: str, variables: dict[str, str]) -> str:
    """With references to variables replaced; one that nothing sets is empty, as for `make`. A `$` that is meant for the
    shell becomes another letter of those that make a word unknown."""

    def value(reference: re.Match[str]) -> str:
        return variables.get(reference["round"] or reference["curly"] or reference["letter"], "")

    for _ in range(_MOST_NESTED):
        text = _REFERENCE.sub(value, text.replace("$$", "`"))
    return text


def _program_words(command: str) -> tuple[str, ...]:
    """The words from the program on, which is called by its path (`./main`), whatever starts it; up to where the shell
    would send its output, or go on to something else. No words where the shell would make others of them."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return ()
    start = next((position for position, word in enumerate(words) if word.startswith("./")), None)
    if start is None:
        return ()
    end = next((position for position in range(start, len(words)) if words[position] in _ENDS), len(words))
    chosen = words[start:end]
    return () if any(_SHELL.intersection(word) for word in chosen) else tuple(chosen)
