"""`cudalint init`: a configuration to begin with."""

from __future__ import annotations

import os
import shlex

import click

from cudalint.cli import FINDINGS, NOTHING_FOUND
from cudalint.numerals import count
from cudalint.project.config import OWN_FILE, SHARED_FILE, ConfigError, find_config
from cudalint.system.disk.replacing import write_whole

BASELINE = "cudalint-baseline.json"


@click.command("init")
@click.argument("folder", default=os.curdir, type=click.Path(exists=True, file_okay=False))
@click.option("--no-baseline", is_flag=True, help="Write the configuration only, and lint nothing.")
@click.option("--include-errors", is_flag=True, help="Put errors into the baseline, too.")
@click.option("--dry-run", is_flag=True, help="Print the configuration, and write no file.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes.  [default: one per CPU]")
def command(folder: str, no_baseline: bool, include_errors: bool, dry_run: bool, jobs: int | None) -> int:
    """Write a cudalint.toml and a baseline for a repository.

    Looks for the folders that includes count from, for code of others, and for the GPUs that the build files name.
    Then lints, and keeps what it finds as what was there before: from the next run on, only what is new or worse is
    reported. Errors are listed, and stay findings unless --include-errors says otherwise.

    Exit status: 0, 1 where errors stay findings, 2 where something could not be done.

    \b
    Examples:
      cudalint init
      cudalint init --dry-run
      cudalint init kernels --no-baseline
    """
    from cudalint.cli.authoring.first_look import configuration, look_at

    found = look_at(folder)
    if dry_run:
        click.echo(configuration(found, None if no_baseline else BASELINE), nl=False)
        return NOTHING_FOUND
    path, baseline = os.path.join(folder, OWN_FILE), os.path.join(folder, BASELINE)
    _check_for_others(folder, [path] if no_baseline else [path, baseline])
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(configuration(found, None))
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from None
    click.echo(f"{path}: for {count(len(found.sources), 'CUDA file')}; change it as you like")
    if no_baseline or not found.sources:
        return NOTHING_FOUND
    from cudalint.cli.check import command as check

    # This may take minutes.
    note = f"linting them for {baseline}; Ctrl-C leaves {path} as it is, without a baseline, as --no-baseline does"
    click.echo(note, err=True)
    arguments = [folder, "--write-baseline", baseline, *(["--jobs", str(jobs)] if jobs else [])]
    arguments += ["--include-errors"] if include_errors else []
    status = check.main(arguments, prog_name="cudalint check", standalone_mode=False)
    # Named when it is there: whoever ends this early has a configuration that works.
    if os.path.exists(baseline):
        write_whole(path, configuration(found, BASELINE).encode())
        click.echo(f"{path} names it: from now on `cudalint check` fails for what is new or worse than that")
        if status == FINDINGS:
            command_line = shlex.join(["cudalint", "check", folder, "--write-baseline", baseline, "--include-errors"])
            click.echo("It fails for the errors above, too, until they are mended, or taken into the baseline:")
            click.echo(f"  {command_line}")
    return status if isinstance(status, int) else NOTHING_FOUND


def _check_for_others(folder: str, paths: list[str]) -> None:
    """Raises an error where there is a configuration already: nothing is written over."""
    for path in paths:
        if os.path.lexists(path):
            raise click.ClickException(f"{path} is there already")
    shared = os.path.join(folder, SHARED_FILE)
    try:
        known = find_config(folder)
        configured = known.path if known is not None else None
    except ConfigError as error:
        configured = error.path
    if configured is not None and os.path.realpath(configured) == os.path.realpath(shared):
        raise click.ClickException(f"{shared} has the settings already")
