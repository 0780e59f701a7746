"""Which findings of a run are reported: those that a baseline lacks, those on lines that changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.numerals import count
from cudalint.report.findings.causes import merged_by_cause
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines

if TYPE_CHECKING:
    from cudalint.launches.program.changed import Reach
    from cudalint.project.changes import Changes
    from cudalint.report.findings.baseline import Entry
    from cudalint.run.runs import Configured


class Sieve:
    """Reads what it needs before any file is linted, so that a mistake shows at once."""

    def __init__(
        self,
        baseline: str | None,
        write_baseline: str | None,
        diff: str | None,
        paths: Iterable[str],
        takes_errors: bool = False,
    ) -> None:
        """`paths` are the files to be linted; `takes_errors` puts errors into a baseline that is written, too."""
        if write_baseline is not None and diff is not None:
            raise click.UsageError("--write-baseline takes all findings; it can't be had with --diff")
        if write_baseline is not None and not os.path.isdir(os.path.dirname(os.path.abspath(write_baseline))):
            raise click.ClickException(f"{write_baseline}: cannot be written: the folder does not exist")
        self._path, self._target, self._takes_errors = baseline, write_baseline, takes_errors
        # A baseline that is only about to be made may be named for both.
        self._baseline = _load(baseline) if baseline is not None and write_baseline is None else None
        self._changes = _changes_since(diff, paths) if diff is not None else None
        self._unreached = 0

    def reached(self, configured: Sequence[Configured]) -> list[Configured]:
        """The files that can have a finding on a line that changed; all where nobody asks for that. How many others
        there are is said in the result."""
        if self._changes is None:
            return list(configured)
        from cudalint.launches.program.changed import Reach
        from cudalint.system.disk import recorder as disk

        reach = Reach(self._changes.paths())
        kept = [each for each in configured if _is_reached(each, reach)]
        # What was seen here is not noted for results that are kept.
        disk.forget()
        self._unreached = len(configured) - len(kept)
        return kept

    def follow(self, edits: Sequence[Edit]) -> None:
        """Has the lines that changed follow edits that are made."""
        if self._changes is not None:
            self._changes = self._changes.after(edits)

    def applied_to(self, result: CheckResult, sources: SourceLines) -> CheckResult:
        if self._target is not None:
            return _written(self._target, result, sources, self._takes_errors)
        if self._changes is not None:
            touched: dict[bool, list[Diagnostic]] = {True: [], False: []}
            for each in result.diagnostics:
                touched[self._changes.touch(each, sources.text)].append(each)
            result = _with_aside(result, amount(touched[False], sources), "on unchanged lines")
            plural = "file" if self._unreached == 1 else "files"
            result = _with_aside(result, str(self._unreached or ""), f"{plural} that no change reaches not linted")
            result = replace(result, diagnostics=tuple(touched[True]))
        if self._baseline is not None and self._path is not None:
            from cudalint.report.findings.baseline import compare

            new, known, gone = compare(
                self._baseline, result.diagnostics, sources, self._path, result.paths, result.minor
            )
            result = replace(result, diagnostics=new, known=known)
            result = _with_aside(result, amount(known, sources), "known from the baseline")
            if self._changes is None:
                result = _with_aside(result, count(gone, "place") if gone else "", "of the baseline no longer there")
        return result


def _is_reached(each: Configured, reach: Reach) -> bool:
    from cudalint.frontend.parse_options import parse_options
    from cudalint.frontend.reading import SourceError

    if each.file.text is not None or each.file.path.endswith(".py"):
        return True
    try:
        options = parse_options(each.file.path, each.options)
    except SourceError:
        return True  # Whoever parses the file tells of it.
    # Further options may include files that no directive names.
    return bool(options.extra) or reach.reaches(each.file.path, options.include_dirs)


def amount(diagnostics: Sequence[Diagnostic], sources: SourceLines, noun: str = "finding") -> str:
    """`16 findings in 34 places`: as many as a report of them shows, and the places that it names for these, each of
    which is an entry of a baseline; empty for none."""
    if not diagnostics:
        return ""
    found = count(len(merged_by_cause(diagnostics, sources)), noun)
    return found if found == count(len(diagnostics), noun) else f"{found} in {len(diagnostics)} places"


def _with_aside(result: CheckResult, number: str, what: str) -> CheckResult:
    return replace(result, asides=(*result.asides, f"{number} {what}")) if number else result


def _load(path: str) -> tuple[Entry, ...]:
    from cudalint.report.findings.baseline import BaselineError, load_baseline

    try:
        return load_baseline(path)
    except BaselineError as error:
        raise click.ClickException(str(error)) from None


def _changes_since(base: str, paths: Iterable[str]) -> Changes:
    from cudalint.project.changes import ChangesError, changes_since

    try:
        return changes_since(base, paths)
    except ChangesError as error:
        raise click.ClickException(f"--diff {base}: {error}") from None


def _written(path: str, result: CheckResult, sources: SourceLines, takes_errors: bool) -> CheckResult:
    """What stays to be reported: errors, but for those that are to be put up with as well. Who begins with a linter can
    live with waste for a while, and not with what reads another array's memory."""
    from cudalint.report.findings.baseline import BaselineError, write_baseline

    # What is too small to be reported becomes worth it once its edit has been tried, and is known, then.
    small = [d for d in result.minor if d.held_back in ("small", "unknown") and (takes_errors or d.severity != "error")]
    known = tuple(d for d in result.diagnostics if takes_errors or d.severity != "error")
    stays = tuple(d for d in result.diagnostics if not takes_errors and d.severity == "error")
    try:
        write_baseline(path, (*known, *small), sources)
    except BaselineError as error:
        raise click.ClickException(str(error)) from None
    more = f", and {len(small)} that {'is' if len(small) == 1 else 'are'} only counted" if small else ""
    closing = [f"Written to {path}: {amount(known, sources) or 'no finding'}{more}"]
    closing += [f"  {rules}" for rules in [_by_rule(merged_by_cause(known, sources))] if rules]
    if stays:
        left_out = amount(stays, sources, "error")
        them = "it" if len(stays) == 1 else "them"
        closing.append(f"Left out of it: {left_out}; --include-errors takes {them} in")
    return replace(result, diagnostics=stays, known=known, closing=tuple(closing))


def _by_rule(diagnostics: Iterable[Diagnostic]) -> str:
    """`12 of CL101, 3 of CL201`, the most frequent first."""
    numbers = Counter(diagnostic.code for diagnostic in diagnostics)
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number} of {code}" for code, number in ordered)
