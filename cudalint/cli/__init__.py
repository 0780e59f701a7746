"""The command line. Nothing heavier than click is imported before a command runs."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from cudalint.cli.streams import Terminated, end_in_order, open_streams

NOTHING_FOUND = 0
FINDINGS = 1
FAILED = 2
INTERRUPTED = 130
_READER_LEFT = 141
"""As of a program that SIGPIPE ends: neither that nothing was found nor that something was."""
_CANNOT_WRITE = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF)
_OBJECTS_BEFORE_COLLECTION = 100_000


def main() -> NoReturn:
    """The console script."""
    # What start-up makes is there to stay: looking for cycles among it, then and at the end, takes a tenth of the time
    # of a small file.
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    open_streams()
    try:
        end_in_order()
        status = _flushed(run(sys.argv[1:]))
    except Terminated as signal:
        _give_output_up()
        _fail(f"ended by {signal.name} before it was done; no file is left half written")
        status = 128 + signal.number
    gc.freeze()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns the exit status. Whatever goes wrong is one line on stderr."""
    import click

    from cudalint.cli.group import cli

    _make_output_robust()
    stdout, stderr = sys.stdout, sys.stderr
    try:
        status = cli.main(list(arguments), prog_name="cudalint", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return interrupted()
    except BrokenPipeError:
        return _reader_left()
    except SystemExit:
        # What click makes of it, after it has put something in the place of the streams.
        if sys.stdout is stdout:
            raise
        sys.stdout, sys.stderr = stdout, stderr
        return _reader_left()
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            return _internal_error(error)
        _give_output_up()
        return _fail(f"cannot write the output: {error.strerror}")
    except Exception as error:
        return _fail(str(error)) if _is_users(error) else _internal_error(error)
    return status if isinstance(status, int) else NOTHING_FOUND


def interrupted(what_is_missing: str = "") -> int:
    """The exit status where the user has had enough."""
    _fail(f"interrupted: {what_is_missing}" if what_is_missing else "interrupted")
    return INTERRUPTED


def _fail(message: str) -> int:
    from cudalint.report.formats.plain import line

    print(line(f"cudalint: error: {' '.join(message.split())}"), file=sys.stderr)  # noqa: T201
    return FAILED


def _is_users(error: Exception) -> bool:
    """Whether a file of the user's is what is wrong."""
    from cudalint.project.config import ConfigError

    return isinstance(error, ConfigError)


def _internal_error(error: Exception) -> int:
    if os.environ.get("CUDALINT_DEBUG"):
        raise error
    detail = " ".join(f"{type(error).__name__}: {error}".split())
    return _fail(f"internal error: {detail} (CUDALINT_DEBUG=1 shows where)")


def _reader_left() -> int:
    """`cudalint | head` has read enough."""
    _give_output_up()
    return _READER_LEFT


def _flushed(status: int) -> int:
    """The exit status, once all of the output is where it belongs."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _give_output_up()
        return status if error.errno == errno.EPIPE else _fail(f"cannot write the output: {error.strerror}")
    return status


def _give_output_up() -> None:
    """The interpreter must not try to flush at exit what nobody reads or nothing can hold."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _make_output_robust() -> None:
    """A path or a source line that the terminal's encoding lacks is shown escaped, never a reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
