"""A static linter for CUDA kernels that predicts what a profiler would measure.

As a library: `cudalint.check(paths)` lints files, `cudalint.facts(paths)` has the figures of every memory access (see
docs/python-api.md). What stands behind these names is imported when it is used.
"""

from __future__ import annotations

import os as _os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudalint.run.api.checking import Check, check
    from cudalint.run.api.configuration import Configuration, ConfigurationError
    from cudalint.run.api.figures import Facts, facts
    from cudalint.run.api.report import Report

__version__ = "0.1.0"

# In a clone the rules stand beside this package and not in it: `python -m cudalint` finds them there.
_clone = _os.path.dirname(__path__[0])
if _os.path.isfile(_os.path.join(_clone, "pyproject.toml")) and not _os.path.isdir(_os.path.join(__path__[0], "rules")):
    __path__.append(_clone)

__all__ = ["Check", "Configuration", "ConfigurationError", "Facts", "Report", "__version__", "check", "facts"]

_HOMES = {
    "Check": "checking",
    "check": "checking",
    "Configuration": "configuration",
    "ConfigurationError": "configuration",
    "Facts": "figures",
    "facts": "figures",
    "Report": "report",
}
"""The module of `cudalint.run.api` in which each name is."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"cudalint.run.api.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
