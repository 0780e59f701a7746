"""`python -m cudalint` is the same as `cudalint`."""

import os
import sys


def _leave_out_current_folder() -> None:
    """`python -m` looks for modules in the current folder first, which may be a repository with a `click.py` of its
    own, or with rules that nobody has installed."""
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not sys.flags.safe_path and sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(os.curdir) != own:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_current_folder()

    from cudalint.cli import main

    main()
