"""`cudalint bug-report`: a file reduced to what shows a fault, as the text of an issue."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import click
from msgspec.structs import replace

from cudalint import __version__
from cudalint.cli import NOTHING_FOUND, completion
from cudalint.cli.analysis_options import analysis_options, limits_from, rule_options, settings_from
from cudalint.cli.headed import HeadedCommand
from cudalint.cli.reducing.faults import Fault, fault_in
from cudalint.cli.reducing.headers import with_headers
from cudalint.cli.reducing.reduction import Budget, reduced, stripped
from cudalint.cli.terminal import print_lines, write_text
from cudalint.numerals import count
from cudalint.project.discovery import SourceFile
from cudalint.regexes import regex
from cudalint.report.findings.results import Failure, FileReport
from cudalint.run.pool import preload
from cudalint.run.runs import Configured, Lint, configure
from cudalint.system.disk.encoding import to_text
from cudalint.system.disk.regular import read_regular
from cudalint.system.disk.replacing import write_whole

_SECONDS = 120.0
_TICKS = regex("`+")


@click.command("bug-report", cls=HeadedCommand)
@click.argument("place", metavar="FILE[:LINE]", shell_complete=completion.files)
@click.option("--rule", metavar="RULE", shell_complete=completion.rules, help="The finding is this rule's.")
@click.option("--strip-names", is_flag=True, help="Rename what the file names, as far as the fault stays.")
@click.option(
    "--seconds", type=click.FloatRange(min=1), default=_SECONDS, show_default=True, help="How long to go on reducing."
)
@click.option(
    "-o", "--output", shell_complete=completion.files, metavar="FILE", help="Write the reduced source into this file."
)
@analysis_options
@rule_options
def command(
    place: str, rule: str | None, strip_names: bool, seconds: float, output: str | None, **values: Any
) -> int:
    """Reduce a file to what shows a fault of cudalint, and print the text of an issue.

    The fault is that the file can't be linted; where it can, a finding that is wrong: the first one on the line, of
    the rule, or of the file. Declarations, statements, directives and comments are taken out as long as that stays
    as it is. Nothing leaves this machine.

    Exit status: 0, or 2 where nothing is wrong with the file or nothing could be read.

    \b
    Examples:
      cudalint bug-report kernels/tile.cu
      cudalint bug-report kernels/tile.cu:42 --rule CL201 --strip-names
    """
    path, line = _parsed(place)
    if path.endswith(".py"):
        raise click.UsageError("a file of Python can't be reduced; put the kernel's text into a .cu file")
    if output is not None and os.path.realpath(output) == os.path.realpath(path):
        raise click.UsageError(f"{output} is what is reduced; name another file")
    try:
        data = read_regular(path).decode("latin-1")
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be read: {error.strerror}") from None
    preload(("cudalint.run.analysis", "cudalint.rules"))
    attempts = _Attempts(path, values)
    found = _found(attempts, data, line, rule)
    if found is None:
        where = f" on line {line}" if line is not None else ""
        of = f" of {rule}" if rule is not None else ""
        raise click.ClickException(f"{path}: it can be linted, and there is no finding{of}{where} to report")
    fault, data = found
    print_lines([f"cudalint: reducing {count(data.count(chr(10)), 'line')} for {seconds:g} s at most"])
    budget = Budget(seconds)
    data = reduced(data, lambda text: attempts.show(fault, text), budget)
    if strip_names:
        data = stripped(data, lambda text, names: attempts.show(fault, text, names), Budget(seconds / 2))
    print_lines([f"cudalint: {count(data.count(chr(10)), 'line')} left after {count(attempts.number, 'trial')}"])
    source = to_text(data.encode("latin-1"))
    message = _last_message(attempts, data, fault)
    if output is not None:
        _write(output, source)
    write_text(_issue(message, sys.argv[1:], path, source))
    return NOTHING_FOUND


def _parsed(place: str) -> tuple[str, int | None]:
    path, colon, line = place.rpartition(":")
    if colon and line.isdecimal() and not os.path.exists(place):
        return path, int(line)
    return place, None


class _Attempts:
    """Lints texts in the place of a file."""

    def __init__(self, path: str, values: dict[str, Any]) -> None:
        self.path = path
        configured, failures = configure([SourceFile(path)], settings_from(values))
        if not configured:
            raise click.ClickException(f"{failures[0].path}: {failures[0].message}")
        self._configured = configured[0]
        self._lint = Lint(replace(limits_from(values), workers=1))
        self.number = 0

    @property
    def folders(self) -> Sequence[str]:
        return self._configured.options.include_dirs

    def lint(self, data: str) -> FileReport | Failure:
        self.number += 1
        file = SourceFile(self.path, to_text(data.encode("latin-1")))
        (answer,) = self._lint.answers([Configured(file, self._configured.settings)])
        return answer

    def show(self, fault: Fault, data: str, names: dict[str, str] | None = None) -> bool:
        """Whether a text shows the fault, whose line may have other names."""
        return fault.is_shown_by(self.lint(data), data, names)


def _found(attempts: _Attempts, data: str, line: int | None, rule: str | None) -> tuple[Fault, str] | None:
    """The fault and the text that shows it: with the headers in their places, if it does so then."""
    fault = fault_in(attempts.lint(data), data, line, rule)
    whole = with_headers(data, attempts.path, attempts.folders)
    if whole == data:
        return (fault, data) if fault is not None else None
    answer = attempts.lint(whole)
    if fault is not None:
        return fault, whole if fault.is_shown_by(answer, whole) else data
    # The finding is in a header.
    fault = fault_in(answer, whole, None, rule) if line is None else None
    return (fault, whole) if fault is not None else None


def _last_message(attempts: _Attempts, data: str, fault: Fault) -> str:
    """What is said of the text that is left."""
    left = fault_in(attempts.lint(data), data, None, fault.code or None)
    return left.message if left is not None else fault.message


def _write(path: str, source: str) -> None:
    try:
        write_whole(path, source.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from None


def _issue(message: str, arguments: Sequence[str], path: str, source: str) -> Iterator[str]:
    """Markdown, with neither the file's path nor the user's name in it. The source is one block of code, whatever is in
    it; what has no shape of its own is written as an escape sequence, and `--output` has it as it is."""
    name = os.path.basename(path)
    yield message.replace(path, name).replace(os.path.abspath(path), name)
    yield ""
    options = [os.path.basename(argument) for argument in arguments[1:] if not argument.startswith(path)]
    yield f"- options: {' '.join(options) or 'none'}"
    yield f"- cudalint {__version__}, libclang {version('libclang')}, numpy {version('numpy')}"
    yield f"- Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield ""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(source)), default=0))
    yield f"{fence}cuda"
    yield source.rstrip("\n")
    yield fence
