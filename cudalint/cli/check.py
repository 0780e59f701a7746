"""`cudalint check`: lint files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from cudalint.cli import FAILED, FINDINGS, NOTHING_FOUND, completion, interrupted, parameters
from cudalint.cli.allowing import check_for_contradiction, with_comments
from cudalint.cli.analysis_options import analysis_options, limits_from, rule_options, settings_from
from cudalint.cli.fixing import FixWishes, tell_how_to_fix
from cudalint.cli.headed import HeadedCommand, together, under
from cudalint.cli.progress import ProgressBar
from cudalint.cli.terminal import (
    is_wide,
    output_style,
    print_failures,
    print_line,
    print_lines,
    print_notes,
    write_lines,
)
from cudalint.cli.warnings import warn_of_options, warn_of_settings
from cudalint.diagnostics import Severity
from cudalint.numerals import count, enumeration
from cudalint.project.discovery import STDIN, discover
from cudalint.project.formats import FORMATS, PATCH, SHOWING_KERNELS
from cudalint.report.findings.causes import with_causes_merged
from cudalint.report.findings.results import (
    SEVERITIES,
    CheckResult,
    UnknownKernel,
    are_errors,
    unknown_and_not_put_up_with,
)
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import pictures, plain, wording
from cudalint.report.formats.presentation import ORDERS, Order, Presentation
from cudalint.run.api.rendering import (
    Output,
    append_step_summary,
    outputs_of,
    rendered,
    spare_sources,
    write_outputs,
)
from cudalint.run.api.run_settings import DEFAULT_FAIL_ON, Given, run_settings
from cudalint.run.api.sieve import Sieve
from cudalint.run.fixing.writing import Grounds
from cudalint.run.runs import UNFINISHED, Lint, Run, configure, target_of
from cudalint.system.disk.cache_folder import results_folder
from cudalint.system.processes.timings import Timings

if TYPE_CHECKING:
    from cudalint.cli.watching import Watched
    from cudalint.run.api.history import Entry

_NOT_AGAIN = ("fix", "add_allow", "write_baseline", "history")
_report = under("Report")

_report_options = together(
    _report(
        "--fail-on", type=click.Choice(SEVERITIES),
        help=f"Exit with 1 for findings at least as bad as this.  [default: {DEFAULT_FAIL_ON}]",
    ),
    _report("--exit-zero", is_flag=True, help="Exit with 0 for findings, whatever they are."),
    _report(
        "--fail-on-incomplete", is_flag=True,
        help="Exit with 1 for kernels of which nothing could be evaluated, too.",
    ),
    _report(
        "--format", "format_", type=click.Choice(FORMATS),
        help="How to print findings.  [default: text; github on GitHub's runners]",
    ),
    _report(
        "--output", "outputs", callback=outputs_of((*FORMATS, PATCH)), shell_complete=completion.formats_to_write,
        multiple=True, metavar="FORMAT=FILE",
        help="Write a report into a file too; may be repeated.",
    ),
    _report(
        "--baseline", shell_complete=completion.files, metavar="FILE",
        help="Report only what is new or worse than in this file.",
    ),
    _report("--no-baseline", is_flag=True, help="Report what the configuration's baseline knows of, too."),
    _report(
        "--write-baseline", shell_complete=completion.files, metavar="FILE",
        help="Write all findings but errors into this file, for --baseline, and report errors only.",
    ),
    _report("--include-errors", is_flag=True, help="Write errors into a baseline, too."),
    _report(
        "--diff", metavar="BASE",
        help="Report only on lines that changed since the branch left this revision of git (their merge base), with "
        "those beside deleted ones, and errors of which anything in the kernel or function has changed.",
    ),
    _report(
        "--max-findings", type=click.IntRange(min=1), default=1000, show_default=True, metavar="N",
        help="Tell the worst so many findings of a file, and how many there are besides.",
    ),
    _report("--statistics", is_flag=True, help="Print how often each rule found something, not the findings."),
    _report(
        "--history", shell_complete=completion.files, metavar="FILE",
        help="Add a line with what the run came to to this file, and print what changed since the last one.",
    ),
    _report(
        "--conditional", "shows_conditional", is_flag=True,
        help="Print for each kernel what depends on numbers that no launch in sight gives.",
    ),
    _report(
        "--all", "shows_all", is_flag=True,
        help="Print everything: long lists to their end, and findings that are only counted (as --min-share 0).",
    ),
    _report(
        "--sort", type=click.Choice(ORDERS),
        help="Begin with what costs most, or keep to the order of the files.  [default: what the format is read for]",
    ),
    _report(
        "--show/--no-show", default=None,
        help="Draw banks and sectors.  [default: the worst three, in a wide terminal]",
    ),
    _report(
        "--show-gaps", is_flag=True,
        help="Print what of each kernel could not be evaluated, and why, in place of a line for each file (CL902).",
    ),
    _report("--color/--no-color", default=None, help="Use colours.  [default: in a terminal]"),
    _report(
        "--timings", is_flag=True,
        help="Print on stderr where the time went: steps, the slowest files and kernels, results of earlier runs.",
    ),
    _report("-q", "--quiet", is_flag=True, help="Print findings only, no summary and no progress."),
)  # fmt: skip


_fixes = under("Fixes")

_fix_options = together(
    _fixes("--fix", is_flag=True, help="Make the edits that are safe, and report what is left."),
    _fixes("--unsafe-fixes", is_flag=True, help="Make the edits that somebody has to look at, too."),
    _fixes("--show-fixes", is_flag=True, help="Print a diff of all edits; the report says why findings have none."),
    _fixes("--dry-run", is_flag=True, help="With --fix: print the diff only, and write no file."),
    _fixes(
        "--stdin-filename", metavar="PATH",
        help="What standard input is to be called; --fix prints its fixed text.",
    ),
)  # fmt: skip

_allow_options = together(
    under("Suppressions")(
        "--add-allow", callback=parameters.reason, metavar="REASON",
        help="Write a comment with this reason above each finding, which allows it from now on.",
    ),
)

_cache = under("Files and configuration")

_cache_options = together(
    _cache(
        "--no-cache", is_flag=True, envvar="CUDALINT_NO_CACHE",
        help="Neither use results of earlier runs nor keep any.",
    ),
    _cache(
        "--cache-dir", type=click.Path(file_okay=False), metavar="DIR",
        help="Where results are kept.  [default: CUDALINT_CACHE_DIR, or the user's cache folder]",
    ),
)  # fmt: skip


@click.command("check", cls=HeadedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completion.files)
@rule_options
@_report_options
@_fix_options
@_allow_options
@analysis_options
@_cache_options
@under("Files and configuration")(
    "--watch", is_flag=True, help="Lint again as often as one of the files that were read changes, until Ctrl-C."
)
def command(
    paths: Sequence[str],
    fail_on: Severity | None,
    exit_zero: bool,
    fail_on_incomplete: bool,
    format_: str | None,
    outputs: tuple[Output, ...],
    baseline: str | None,
    no_baseline: bool,
    write_baseline: str | None,
    include_errors: bool,
    diff: str | None,
    max_findings: int,
    statistics: bool,
    history: str | None,
    watch: bool,
    timings: bool,
    shows_conditional: bool,
    shows_all: bool,
    sort: Order | None,
    show: bool | None,
    show_gaps: bool,
    color: bool | None,
    quiet: bool,
    fix: bool,
    unsafe_fixes: bool,
    show_fixes: bool,
    dry_run: bool,
    stdin_filename: str | None,
    add_allow: str | None,
    no_cache: bool,
    cache_dir: str | None,
    **values: Any,
) -> int:
    """Lint CUDA files and folders; `-` reads standard input, and no path is the current folder.

    Exit status: 0 nothing at or above --fail-on, 1 findings (with --fail-on-incomplete also kernels of which
    nothing could be evaluated), 2 something could not be linted. What was left out of a file for lack of time is a
    warning, and no failure.

    What is not said here comes from the configuration: of each file the nearest one, and of the report that of
    the folder which all paths are in.

    \b
    Examples:
      cudalint check
      cudalint check kernels/*.cu
      cudalint check src --select CL2 --fail-on info
      cudalint check a.cu --block 32,8 --param N=4096 --show
      cudalint check src --output sarif=cudalint.sarif --output junit=report.xml
      cudalint check src --threshold bank-conflict.ways=4 --exclude third_party/
      cudalint check src --write-baseline known.json
      cudalint check src --baseline known.json --diff origin/main
      cudalint check src --watch
      cudalint check src --statistics --history cudalint-history.jsonl
      cudalint check src --fix
      cudalint check src --fix --unsafe-fixes --dry-run
      cudalint check src/init.cu --add-allow "runs once, when the program starts"
    """
    ctx = click.get_current_context()
    if watch:
        return _watched(ctx, paths)
    if baseline is not None and no_baseline:
        raise click.UsageError("--baseline and --no-baseline contradict each other")
    if shows_all:
        values["min_share"] = 0.0
    earlier = _earlier(history)
    if include_errors and write_baseline is None:
        raise click.UsageError("--include-errors is about what --write-baseline writes")
    paths = paths or (os.curdir,)
    settings = settings_from(values)
    is_in_part, jobs = values["force_exclude"], values["jobs"]
    run = run_settings(
        Given(fail_on, format_, outputs, baseline, not no_baseline, is_in_part, jobs), settings, paths
    )  # fmt: skip
    outputs, given_format = run.outputs, format_
    format_ = "text" if statistics and given_format is None else run.format
    if statistics and format_ not in ("text", "concise"):
        raise click.UsageError(f"--statistics prints a table; it can't be had as {format_}")
    patches = [output.path for output in outputs if output.format == PATCH]
    wishes = FixWishes.of(fix, unsafe_fixes, show_fixes, dry_run, patches, "-" in paths)
    if dry_run and given_format is None:
        format_ = "text"
    if wishes is not None:
        wishes.agree_with(format_, write_baseline, statistics)
    if add_allow is not None:
        check_for_contradiction(wishes is not None, write_baseline is not None, "-" in paths)
    left: Sequence[str] = ()
    drawn = _drawn(show) if format_ == "text" and not statistics else 0
    shown = Presentation(
        output_style(color), drawn, quiet, run.fail_on, statistics, sort, shows_all, shows_conditional, show_fixes
    )
    stdin = stdin_filename or STDIN
    found = discover(paths, settings.excludes, values["force_exclude"], stdin, by_samples=True)
    spare_sources([write_baseline, *(output.path for output in outputs)], (file.path for file in found.files))
    watched: Watched | None = ctx.obj
    if watched is not None:
        watched.begin((file.path for file in found.files), paths)
    sieve = Sieve(run.baseline, write_baseline, diff, [file.path for file in found.files], include_errors)
    texts = {file.path: file.text for file in found.files if file.text is not None}
    configured, failures = configure(found.files, settings)
    if run.failure is not None and run.failure not in failures:
        failures.append(run.failure)
    target = target_of(configured, settings)
    configured = sieve.reached(configured)
    shows_kernels = not SHOWING_KERNELS.isdisjoint((format_, *(output.format for output in outputs)))
    measured = Timings() if timings else None
    with ProgressBar(len(configured), quiet) as progress:
        lint = Lint(
            limits_from({**values, "jobs": run.jobs}),
            pictures=drawn != 0 or shows_kernels,
            shows_kernels=shows_kernels,
            counts_accesses=fail_on_incomplete,
            cache=None if no_cache else results_folder(cache_dir),
            watcher=progress if progress.is_watched else None,
            preloads=True,
            timings=measured,
            most_findings=max_findings,
            files=watched.files if watched is not None else None,
        )
        grounds = Grounds.of(paths, (file.path for file in found.files if file.text is None), settings.excludes)
        fixed = None
        if add_allow is not None:
            result = with_comments(configured, lint, add_allow, grounds, sieve, failures, target)
        elif wishes is None:
            linting = Run(lint, configured, failures, target)
            try:
                linting.finish()
            except KeyboardInterrupt:
                if write_baseline is not None:
                    return interrupted(f"{len(linting.left())} of {count(len(found.files), 'file')} not linted")
            result = sieve.applied_to(linting.result(), SourceLines(texts))
            left = linting.left()
        else:
            from cudalint.run.fixing.session import Session

            session = Session(
                configured, lint, target, failures,
                lambda result, changed: sieve.applied_to(result, SourceLines({**texts, **changed})), stdin,
            )  # fmt: skip
            fixed = session.fix(wishes.takes_unsafe, grounds, sieve.follow)
            if wishes.writes:
                fixed = session.write(fixed)
            result = wishes.result_of(fixed)
            if wishes.writes:
                # All others are on disk.
                texts |= {path: text for path, text in fixed.texts.items() if path in texts}
    sources = SourceLines(texts)
    if watched is not None:
        watched.found = "" if format_ == "text" and not quiet else wording.summary(result)
    result = replace(result, failures=(*found.failures, *result.failures), not_linted=found.not_linted)
    incomplete = unknown_and_not_put_up_with(result) if fail_on_incomplete else []
    result = with_causes_merged(result, sources, show_gaps)
    unwritten = list(write_outputs([o for o in outputs if o.format != PATCH], result, sources, shown))
    summary = append_step_summary(result) if format_ == "github" else None
    unwritten += [summary] if summary else []
    lines, faults = rendered(format_, result, sources, shown)
    if wishes is None or fixed is None:
        write_lines(lines)
        if format_ == "text" and not (quiet or statistics or add_allow):
            tell_how_to_fix(result.diagnostics)
    else:
        unwritten += wishes.report(fixed, lines, shown, format_, texts.get(stdin), stdin)
    if format_ in ("text", "concise") and not quiet:
        write_lines(map(plain.line, result.closing))
    if history is not None and left:
        print_line(f"note: no line for {history}: not all files were linted")
    elif history is not None:
        from cudalint.run.api.history import append, change_lines, entry_of

        entry = entry_of(result, paths, list(_narrowed(diff, values)))
        tell = write_lines if format_ in ("text", "concise") and not quiet else print_lines
        tell(change_lines(entry, earlier))
        unwritten += filter(None, [append(history, entry)])
    # The same finding may be missing in several reports.
    unwritten += [fault for fault in faults if fault not in unwritten]
    result = replace(result, failures=(*result.failures, *unwritten))
    print_notes(() if quiet else result.notes)
    warn_of_options(values, result.parameters)
    warn_of_settings(result.paths, settings)
    if measured is not None:
        print_lines(measured.lines(run.jobs))
    print_failures(failure for failure in result.failures if failure.message != UNFINISHED)
    if left:
        return interrupted(f"{len(left)} of {count(len(found.files), 'file')} not linted")
    status = _status(result, shown.fail_on, bool(incomplete))
    if exit_zero and status == FINDINGS:
        return NOTHING_FOUND
    if incomplete and status == FINDINGS:
        print_line(_about_incomplete(incomplete))
    return status


def _watched(ctx: click.Context, paths: Sequence[str]) -> int:
    """The same command line again and again."""
    for option in _NOT_AGAIN:
        if ctx.params[option]:
            raise click.UsageError(f"--watch lints again and again; leave --{option.replace('_', '-')} out")
    if "-" in paths:
        raise click.UsageError("--watch waits for files to change; `-` is none")
    from cudalint.cli.watching import Watched, watch

    ctx.obj = watched = Watched()
    return watch(lambda: ctx.invoke(command, **{**ctx.params, "watch": False}), watched)


def _earlier(history: str | None) -> list[Entry]:
    """The runs that a history tells of."""
    if history is None:
        return []
    from cudalint.run.api.history import HistoryError, check_place, read_history

    try:
        check_place(history)
        return read_history(history)
    except HistoryError as error:
        raise click.UsageError(f"--history {error}") from None


def _narrowed(diff: str | None, values: Mapping[str, Any]) -> Iterator[str]:
    """The options of a command line that leave out what other runs of the same paths look at."""
    if diff is not None:
        yield f"--diff {diff}"
    for name in ("select", "extend_select", "ignore", "exclude"):
        yield from (f"--{name.replace('_', '-')} {value}" for value in values[name] or ())


def _drawn(show: bool | None) -> int | None:
    """For how many findings a picture is drawn; None for all."""
    if show is False:
        return 0
    if show:
        return None
    from cudalint.report.formats.text import WORST

    return WORST if is_wide(pictures.NEEDED_WIDTH) else 0


def _status(result: CheckResult, fail_on: Severity, is_incomplete: bool) -> int:
    if are_errors(result.failures):
        return FAILED
    return FINDINGS if is_incomplete or result.reaches(fail_on) else NOTHING_FOUND


def _about_incomplete(kernels: Sequence[UnknownKernel]) -> str:
    """Why a run fails that may have printed nothing; all are named, as nothing else may name them."""
    named = enumeration([f"{each.name} ({each.named_at.path}:{each.named_at.line})" for each in kernels])
    ways = "a baseline, or `// cudalint: allow(CL902) -- reason` above the kernel, puts up with that"
    return f"--fail-on-incomplete: nothing could be evaluated of {named}; {ways}"
