"""`python -m cudalint` is the same as `cudalint`."""

import os
import sys

_NEEDED = ("click", "msgspec")
"""What an installation brings along and a mere clone does not."""


def _leave_out_current_folder() -> None:
    """`python -m` looks for modules in the current folder first, which may be a repository with a `click.py` of its
    own, or with rules that nobody has installed."""
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not sys.flags.safe_path and sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(os.curdir) != own:
        del sys.path[0]


def _check_for_packages() -> None:
    """Ends the program with one line where it can't run."""
    from importlib.util import find_spec

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(f"cudalint: error: {missing[0]} is not installed; `pip install .` in the clone installs all")


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036  # An installation sees to it; a clone doesn't.
        sys.exit("cudalint: error: Python 3.11 or newer is needed")
    _leave_out_current_folder()
    _check_for_packages()

    from cudalint.cli import main

    main()
