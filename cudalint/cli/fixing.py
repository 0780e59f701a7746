"""What a user wants done with the edits that findings suggest, and what is reported of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from cudalint.cli.terminal import print_line, write_lines, write_text
from cudalint.diagnostics import Diagnostic
from cudalint.numerals import count
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.choosing import Fix, distinct_fixes
from cudalint.report.findings.results import CheckResult, Failure
from cudalint.report.formats import plain, wording
from cudalint.report.formats.presentation import Presentation
from cudalint.report.formats.style import Style
from cudalint.run.fixing.patch import unified_diff
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.disk.replacing import write_whole

if TYPE_CHECKING:
    from cudalint.run.fixing.session import Fixed

_OF_PEOPLE = ("text", "concise")


class FixWishes(Struct, frozen=True):
    """What is to be done with edits."""

    writes: bool
    """Whether they are made, so that what is left is reported."""
    shows: bool
    is_dry: bool
    unsafe: bool
    patches: tuple[str, ...]
    """Files into which a unified diff goes."""

    @property
    def takes_unsafe(self) -> bool:
        """Whether edits that somebody has to look at are among those that are made or shown: they are where a diff is
        there to be read and for nothing else, marked."""
        return self.unsafe or (self.shows and not self.is_dry and not self.writes and not self.patches)

    @classmethod
    def of(
        cls, fix: bool, unsafe: bool, show: bool, dry_run: bool, patches: Sequence[str], reads_stdin: bool
    ) -> FixWishes | None:
        """None where edits are only suggested. Raises a usage error for wishes that come to nothing."""
        if dry_run and not fix:
            raise click.UsageError("--dry-run says what --fix would do; it needs --fix")
        if unsafe and not (fix or show or patches):
            raise click.UsageError("--unsafe-fixes needs --fix, --show-fixes or --output patch=FILE")
        if not (fix or show or patches):
            return None
        return cls(fix and not dry_run, show or dry_run, dry_run, unsafe, tuple(patches))

    def agree_with(self, format_: str, write_baseline: str | None, statistics: bool) -> None:
        """Raises a usage error where other options ask for something else."""
        if write_baseline is not None:
            raise click.UsageError("--write-baseline takes all findings as they are; it can't be had with fixes")
        if self.shows and not self.is_dry and format_ not in _OF_PEOPLE:
            raise click.UsageError(f"--show-fixes prints a diff; beside {format_} write it with --output patch=FILE")
        if self.is_dry and statistics:
            raise click.UsageError("--dry-run prints a diff and no table; leave --statistics out")

    def result_of(self, fixed: Fixed) -> CheckResult:
        """What is left, or what there is where no file is changed."""
        if not self.writes:
            return fixed.before
        number = _findings(fixed.fixes)
        asides = (f"{count(number, 'finding')} fixed",) if number else ()
        found = tuple(diagnostic for fix in fixed.fixes for diagnostic in fix.findings)
        return replace(fixed.result, asides=(*asides, *fixed.result.asides), fixed=found)

    def report(
        self,
        fixed: Fixed,
        lines: Sequence[str],
        shown: Presentation,
        format_: str,
        stdin_text: str | None,
        stdin: str,
    ) -> Iterator[Failure]:
        """Prints the diff, what was fixed, and the report, of which these are the lines; yields what could not be
        written. Where standard input is fixed, its text is all that is on stdout."""
        diff = unified_diff(fixed.changes)
        if diff and not self.unsafe:
            diff = "".join(f"# {line}\n" for line in _marks(fixed.fixes)).encode("utf-8", "surrogateescape") + diff
        for path in self.patches:
            try:
                write_whole(path, diff)
            except OSError as error:
                yield Failure(path, f"cannot be written: {error.strerror}")
        is_text = format_ in _OF_PEOPLE
        if self.writes and stdin_text is not None:
            _write_bytes(to_bytes(fixed.texts.get(stdin, stdin_text)))
            for line in (*(plain.line(each, plain.MARK) for each in self._made(fixed, shown)), *lines):
                click.echo(line, err=True)
        else:
            if self.shows and is_text and sys.stdout.isatty():
                write_text([diff.decode("utf-8", "replace").removesuffix("\n")] if diff else [])
            elif self.shows and is_text:
                _write_bytes(diff)  # For `git apply`.
            if not self.is_dry or not is_text:
                made = list(self._made(fixed, shown))
                if is_text:
                    write_text(made)
                write_lines(lines)
        sys.stdout.flush()
        if not shown.quiet:
            for failure in fixed.refused:
                print_line(f"note: {failure.path}: {failure.message}")
            for path, why in _broken_files(fixed.result.diagnostics):
                print_line(f"note: {path}: nothing is fixed in it: {why}")
            if not self.writes:
                click.echo(f"cudalint: note: {self._would(fixed)}", err=True)

    def _made(self, fixed: Fixed, shown: Presentation) -> Iterator[str]:
        if self.writes and not shown.quiet and not shown.statistics:
            yield from (_line(fix, shown.style) for fix in fixed.fixes)
            if fixed.fixes:
                yield ""

    def _would(self, fixed: Fixed) -> str:
        made = [fix for fix in fixed.fixes if fix.is_safe or self.unsafe]
        number = _findings(made)
        files = count(len({edit.place.path for fix in made for edit in fix.suggestion.edits}), "file")
        option = "--fix --unsafe-fixes" if self.unsafe else "--fix"
        text = f"{option} fixes {count(number, 'finding')} in {files}" if number else f"{option} has nothing to fix"
        left = (*fixed.fixes, *distinct_fixes(fixed.result.diagnostics))
        more = _findings(fix for fix in left if not fix.is_safe)
        return f"{text}; --fix --unsafe-fixes {count(more, 'more finding')}" if more and not self.unsafe else text


def tell_how_to_fix(diagnostics: Sequence[Diagnostic]) -> None:
    """Says behind a report which options print and make the edits that its findings suggest."""
    fixes = distinct_fixes(diagnostics)
    if fixes:
        option = "--fix" if all(fix.is_safe for fix in fixes) else "--fix --unsafe-fixes"
        number = _findings(fixes)
        have, them = ("has an edit", "it") if number == 1 else ("have edits", "them")
        sys.stdout.flush()
        print_line(
            f"note: {count(number, 'finding')} {have}: --show-fixes prints {them} as a diff, {option} makes {them}"
        )


def _broken_files(left: Iterable[Diagnostic]) -> Iterator[tuple[str, str]]:
    """Files of which no edits were looked at for a syntax error in them, and the words for that."""
    from cudalint.fixes.proof import IS_BROKEN

    paths = dict.fromkeys(each.place.path for each in everything_in(left) if each.no_edit == IS_BROKEN)
    return ((path, IS_BROKEN) for path in paths)


def _marks(fixes: Sequence[Fix]) -> Iterator[str]:
    """Which edits of a diff are to be looked at; lines that `git apply` passes over."""
    unsafe = [(fix.findings[0], wording.advice(fix.suggestion)) for fix in fixes if not fix.is_safe]
    if unsafe:
        yield "Look before you apply it (--fix --unsafe-fixes does) to what is for:"
    yield from (plain.line(f"  {d.place.path}:{d.place.line}: {d.code}: {advice}", "?") for d, advice in unsafe)


def _findings(fixes: Iterator[Fix] | Sequence[Fix]) -> int:
    return sum(len(fix.findings) for fix in fixes)


def _line(fix: Fix, style: Style) -> str:
    first, *others = fix.findings
    place = style.paint(f"{first.place.path}:{first.place.line}:{first.place.column}", "bold")
    more = f" and {count(len(others), 'more finding')}" if others else ""
    return f"{style.paint('fixed', 'green')} {place}: {first.code}{more}: {wording.advice(fix.suggestion)}"


def _write_bytes(data: bytes) -> None:
    """As they are: with the line ends and the encoding of the files."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
