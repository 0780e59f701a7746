"""`cudalint check --add-allow REASON`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from cudalint.numerals import count
from cudalint.report.findings.results import CheckResult, Failure, FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.run.api.sieve import Sieve
from cudalint.run.runs import Configured, Lint, result_of

if TYPE_CHECKING:
    from cudalint.run.fixing.writing import Grounds


def check_for_contradiction(fixes: bool, writes_baseline: bool, reads_stdin: bool) -> None:
    """Raises a usage error where other options ask for something else."""
    if fixes:
        raise click.UsageError("--add-allow leaves code as it is; fix first what is to be fixed")
    if writes_baseline:
        raise click.UsageError("--add-allow and --write-baseline are two ways to put up with a finding; take one")
    if reads_stdin:
        raise click.UsageError("--add-allow writes into files; `-` is none")


def with_comments(
    configured: Sequence[Configured],
    lint: Lint,
    reason: str,
    grounds: Grounds,
    sieve: Sieve,
    failures: Sequence[Failure],
    target: str,
) -> CheckResult:
    """What is left when comments allow what was found. Prints on stderr where none could be written."""
    from cudalint.run.fixing.allowing import allow

    def shown(reports: Sequence[FileReport], others: Sequence[Failure]) -> CheckResult:
        return sieve.applied_to(result_of(reports, [*failures, *others], target), SourceLines({}))

    allowed = allow(configured, lint, reason, grounds, shown, sieve.follow)
    for refused in allowed.refused:
        click.echo(f"cudalint: note: {refused.path}: {refused.message}", err=True)
    written = (f"{count(allowed.lines, 'comment')} written",) if allowed.lines else ()
    return replace(allowed.result, asides=(*written, *allowed.result.asides))
