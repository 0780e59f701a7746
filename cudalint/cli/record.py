"""`cudalint record`: the launches that a program makes, in a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from cudalint.cli import FAILED, NOTHING_FOUND
from cudalint.cli.headed import HeadedCommand, under
from cudalint.cli.terminal import print_line
from cudalint.numerals import count

if TYPE_CHECKING:
    from cudalint.confirm.recorder.raw import Run
    from cudalint.launches.recorded.records import Recording

_DEFAULT_OUTPUT: Final = "cudalint-launches.json"
_DEFAULT_LIMIT: Final = 10_000
_DEFAULT_OF_EACH: Final = 100
_MOST_KEPT: Final = 1_000_000
_INSTEAD: Final = "`cudalint record --from FILE` takes what Nsight Systems or PyTorch's profiler has exported instead"
_recording = under("The command")
_files = under("Files of launches")
_FILE = click.Path(dir_okay=False)


@click.command("record", cls=HeadedCommand, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[--] COMMAND...")
@click.option(
    "-o", "--output", type=_FILE, default=_DEFAULT_OUTPUT, show_default=True, metavar="FILE",
    help="Where the launches are written; without --append they take the place of what is there.",
)  # fmt: skip
@_recording(
    "--limit", type=click.IntRange(1, _MOST_KEPT), default=_DEFAULT_LIMIT, show_default=True, metavar="N",
    help="Keep so many different launches: one of each kernel, then those that take most.",
)  # fmt: skip
@_recording(
    "--limit-each", type=click.IntRange(1, _MOST_KEPT), default=_DEFAULT_OF_EACH, show_default=True, metavar="N",
    help="Of these keep so many of each kernel, those that take most; one with large structs counts as several.",
)  # fmt: skip
@_recording(
    "--time", "is_timed", is_flag=True,
    help="Measure what each launch takes, in the mean; otherwise threads say which of them take most.",
)  # fmt: skip
@_files("--append", is_flag=True, help="Add to the launches that the output holds already.")
@_files(
    "--from", "exports", type=_FILE, multiple=True, metavar="FILE",
    help="Take launches from what a profiler has exported (Nsight Systems, Nsight Compute, PyTorch); may be repeated.",
)  # fmt: skip
@_files(
    "--merge", "parts", type=_FILE, multiple=True, metavar="FILE...",
    help="Put recordings together, this one and those that follow as arguments, in the output.",
)  # fmt: skip
@_files(
    "--prune", type=click.IntRange(1, _MOST_KEPT), metavar="N",
    help="Keep only the N launches that take most, one of each kernel first; alone, in the file that is there.",
)  # fmt: skip
@_files(
    "--prune-each", type=click.IntRange(1, _MOST_KEPT), metavar="N",
    help="Keep only the N launches of each kernel that take most, as --limit-each does; alone, as --prune.",
)  # fmt: skip
@_files("--strip-names", is_flag=True, help="Hide names of kernels from whoever lacks the source; alone, as --prune.")
def command(
    command: Sequence[str],
    output: str,
    limit: int,
    limit_each: int,
    is_timed: bool,
    append: bool,
    exports: Sequence[str],
    parts: Sequence[str],
    prune: int | None,
    prune_each: int | None,
    strip_names: bool,
) -> int:
    """Run a command and write down how it launches CUDA kernels: grids, blocks, arguments, how often.

    `cudalint check` finds a cudalint-launches.json in the folder of a source or above it, and lints kernels as they are
    really launched; --launches FILE names other files. Nothing is run but the command. Its output, its exit status and
    the signals that it is sent are as if it were run alone, and a launch that was seen before takes less than a
    microsecond more.

    No address and no data of the program is kept: where a pointer leads is an allocation, its size and an offset.
    Numbers that are arguments are kept as they are.

    The library that records is built at the first use, which takes Linux, a C++ compiler and CUPTI, a part of the
    toolkit. Kernels of CUDA graphs count as often as the graph is launched; kernels that kernels launch aren't seen.

    Exit status: that of the command; 2 where nothing could be recorded.

    \b
    Examples:
      cudalint record -- ./app --size 4096
      cudalint record --time -o train.json -- python train.py --steps 20
      cudalint record --append -- ./app --size 8192        a second run into the same file
      cudalint record --from profile.sqlite                what a profiler has seen
      cudalint record -o all.json --merge a.json b.json    put recordings together
      cudalint record -o all.json --prune-each 10          make a file smaller
      cudalint record -o all.json --strip-names            to publish it
    """
    problem = _problem(command, exports, parts, append, bool(prune or prune_each or strip_names))
    if problem is not None:
        raise click.UsageError(problem)
    folder = os.path.dirname(os.path.abspath(output))
    if not os.path.isdir(folder):
        raise click.ClickException(f"{output} can't be written: there is no folder {folder}")
    is_changed = append or not (command or exports or parts)
    # What can't be read is to be said before the command has run for an hour.
    known = [_read(output)] if is_changed and (os.path.exists(output) or not append) else []
    status, run = NOTHING_FOUND, None
    if parts:
        known += map(_read, (*parts, *command))
    elif exports:
        known += map(_exported, exports)
    elif command:
        status, run = _recorded(command, limit, limit_each, is_timed)
        if run is None:
            return status
        known.append(run.recording)
    wanted = _Kept(
        most=prune or (limit if run is not None else _MOST_KEPT),
        of_each=prune_each or (limit_each if run is not None else None),
        strips_names=strip_names,
        limit=limit if prune is None and prune_each is None else None,
    )
    _write(output, known, wanted, run)
    return status


class _Kept(Struct, frozen=True):
    """How much is kept, and whether by its name."""

    most: int
    of_each: int | None
    strips_names: bool
    limit: int | None
    """Of different launches, where no more than limits cuts them down."""


def _problem(
    command: Sequence[str], exports: Sequence[str], parts: Sequence[str], append: bool, is_changed: bool
) -> str | None:
    """What is wrong with the options as they are together."""
    if exports and (command or parts):
        return "--from takes the place of a command, and doesn't go with --merge"
    if not (command or exports or parts):
        if append:
            return "--append adds what a command does, or --from or --merge names; none of them is there"
        if not is_changed:
            return "the command to record is missing: cudalint record -- COMMAND..."
    if command and not parts and sys.platform != "linux":
        return f"a command can be recorded on Linux only; {_INSTEAD}"
    return None


def _recorded(command: Sequence[str], limit: int, limit_each: int, is_timed: bool) -> tuple[int, Run | None]:
    from cudalint.confirm.recorder.building import BuildError
    from cudalint.confirm.recorder.running import INJECTION, CommandError, record
    from cudalint.launches.recorded.texts import RecordingError

    if os.environ.get(INJECTION):
        print_line(f"warning: {INJECTION} is set, and is not for this command: another profiler can't see it")
    try:
        done = record(command, limit, limit_each, is_timed)
    except BuildError as error:
        raise click.ClickException(f"{error}; {_INSTEAD}") from error
    except (CommandError, RecordingError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"the recording can't be read: {error.strerror or error}") from error
    run = done.run
    for problem in run.problems:
        print_line(f"warning: recording failed: {problem}")
    if not run.processes:
        print_line(
            "error: nothing was recorded: no process of the command has used CUDA. Is there a GPU with its driver, and "
            f"does the command launch kernels? {_INSTEAD}"
        )
    elif not run.launches:
        print_line(f"error: nothing was recorded: no kernel was launched. {_INSTEAD}")
    if not run.launches:
        return done.status or FAILED, None
    return done.status, run


def _read(path: str) -> Recording:
    from cudalint.launches.recorded.files import read_recording
    from cudalint.launches.recorded.texts import RecordingError

    try:
        return read_recording(path)
    except (OSError, RecordingError) as error:
        raise click.ClickException(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _exported(path: str) -> Recording:
    from cudalint.launches.recorded.importing import read_export
    from cudalint.launches.recorded.texts import RecordingError

    try:
        return read_export(path)
    except (OSError, RecordingError) as error:
        raise click.ClickException(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _write(output: str, known: Sequence[Recording], wanted: _Kept, run: Run | None) -> None:
    from cudalint.launches.recorded.files import LARGEST
    from cudalint.launches.recorded.merging import merged, pruned, without_names
    from cudalint.launches.recorded.texts import text_of
    from cudalint.system.disk.replacing import write_whole

    found = merged(known)
    if wanted.strips_names:
        found = without_names(found)
    found = pruned(found, wanted.most, wanted.of_each)
    data = text_of(found).encode()
    is_cut = False
    while len(data) > LARGEST and found.launches > 1:
        # Large arguments: a file that can't be read again is of no use.
        found = pruned(found, found.launches // 2)
        data = text_of(found).encode()
        is_cut = True
    try:
        write_whole(output, data)
    except OSError as error:
        raise click.ClickException(f"{output} can't be written: {error.strerror or error}") from error
    before = sum(each.left_out for each in known if run is None or each is not run.recording)
    if is_cut:
        more = f" (no file of more than {LARGEST >> 20} MiB is read)"
    elif run is not None and wanted.limit is not None and found.left_out > before:
        more = f" ({'--limit' if found.launches >= wanted.limit else '--limit-each'} keeps more)"
    else:
        more = ""
    _say(output, found, run, more)


def _say(output: str, found: Recording, run: Run | None, more: str) -> None:
    kernels = count(len(found.kernels), "kernel")
    kept = f"{count(found.launches, 'different launch', 'different launches')} of {kernels} in {output}"
    if run is None:
        print_line(kept)
    else:
        processes = f" of {count(run.processes, 'process', 'processes')}" if run.processes > 1 else ""
        print_line(f"recorded {count(run.launches, 'launch', 'launches')}{processes}: {kept}")
    if found.left_out:
        left = count(found.left_out, "different launch is", "different launches are")
        print_line(f"note: {left} left out, those that take least{more}")
    if run is not None and run.lost:
        lost = count(run.lost, "launch", "launches")
        print_line(f"note: {lost} aren't kept: the recorder had no room for them, or their kernels have no names")
