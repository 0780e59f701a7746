"""The command with which a project runs a program: what a Makefile beside its `main` says under `run`.

It says which sizes the program is run with, where the program takes them from its command line. The file is read as
text and nothing of it is executed: what only `make` could find out leaves a command unknown.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import Final

from msgspec import Struct

from cudalint.heuristics import heuristic
from cudalint.system.disk import recorder as disk
from cudalint.toolchain.buildfiles.makefile import expanded, lines_of, makefile_beside, recipes_of, variables_of

_TARGET: Final = "run"
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


@disk.question
@heuristic("run-commands", "the `run` targets of Makefiles").otherwise(None)
def run_command(path: str) -> RunCommand | None:
    """How the program is run whose `main` stands in a file; None where no Makefile beside it says so, or says it of
    another program, or runs it without arguments, which says nothing of what they might be."""
    makefile = makefile_beside(path) if disk.is_file(path) else None
    return None if makefile is None else _of_program(makefile, os.path.splitext(os.path.basename(path))[0])


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
    return any(named.search(line.text) for line in lines_of(makefile))


@disk.remembered(8)
def _commands(makefile: str) -> tuple[RunCommand, ...]:
    """All that `make run` would run, of which nothing is left open."""
    variables = variables_of(makefile)
    found = []
    for line, targets, automatic in recipes_of(makefile):
        if _TARGET in targets:
            words = _program_words(expanded(line.text.lstrip("\t @+-"), {**variables, **automatic}))
            if words:
                found.append(RunCommand(words, makefile, line.number))
    return tuple(found)


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
