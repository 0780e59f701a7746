"""`cudalint cache`: where results of earlier runs are, how many, and away with them."""

from __future__ import annotations

import click

from cudalint.cli import NOTHING_FOUND
from cudalint.cli.terminal import write_text
from cudalint.numerals import count
from cudalint.system.disk.cache_folder import results_folder

_MEGABYTE = 1_000_000


@click.group("cache")
def command() -> None:
    """Results of earlier runs: see where they are, or remove them.

    \b
    Examples:
      cudalint cache info
      cudalint cache clear
    """


_folder = click.option(
    "--cache-dir", type=click.Path(file_okay=False), metavar="DIR",
    help="The folder, if it is not the default.",
)  # fmt: skip


@command.command("info")
@_folder
def info(cache_dir: str | None) -> int:
    """Print where results are kept, and how many there are."""
    from cudalint.run.cache.entries import size_of

    folder = results_folder(cache_dir)
    if folder is None:
        write_text(["no results are kept: there is no cache folder"])
        return NOTHING_FOUND
    entries, size = size_of(folder)
    write_text([f"{folder}: {count(entries, 'result')}, {size / _MEGABYTE:.1f} MB"])
    return NOTHING_FOUND


@command.command("clear")
@_folder
def clear(cache_dir: str | None) -> int:
    """Remove all results that are kept."""
    from cudalint.run.cache.entries import clear

    folder = results_folder(cache_dir)
    entries, size = clear(folder) if folder is not None else (0, 0)
    write_text([f"removed {count(entries, 'result')}, {size / _MEGABYTE:.1f} MB"])
    return NOTHING_FOUND
