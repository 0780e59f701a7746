"""The process that precompiles a header: libclang ends it where it can't write, and nothing else is lost by that.

It is a program of its own, `python -I -S precompiling.py`, that imports nothing of this package; what it is to do
comes as JSON on its standard input.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple


class Order(NamedTuple):
    modules: list[str]
    """Where the process that asks for it looks for modules."""
    header: str
    arguments: tuple[str, ...]
    options: int
    path: str
    """What is to be written."""


def _main() -> int:
    order = Order(*json.load(sys.stdin))
    sys.path[:] = order.modules
    _without_core()
    from clang.cindex import Diagnostic, TranslationUnit

    unit = TranslationUnit.from_source(order.header, list(order.arguments), None, order.options)
    if any(diagnostic.severity >= Diagnostic.Error for diagnostic in unit.diagnostics):
        return 1
    unit.save(order.path)
    return 0


def _without_core() -> None:
    """Nobody wants a picture of the process that was ended, least of all on a full disk."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(_main())
