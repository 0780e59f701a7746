"""Heuristics by name: parts of the analysis that rest on experience, each of which can be switched off.

What a compiler does, what a size is taken for and when a race is doubted follow from no standard: they were read from
compiled code, from counters, or from programs. Such a part declares itself where it stands,

    @heuristic("doubt-grid", "grids that nobody gave").otherwise(None)
    def grid(conflict: Conflict, execution: Execution) -> Doubt | None:

and is left out of a run whose environment names it: `CUDALINT_WITHOUT=doubt-grid,own-lists cudalint facts ...`.
This is for whoever works on the program; `benchmarks/ablation.py` shows with it what each of them brings. Switches are
read once, when the program starts, and cost nothing afterwards.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, TypeVar, cast

from msgspec import Struct

VARIABLE = "CUDALINT_WITHOUT"
"""The environment variable that names what is switched off, separated by commas."""

_F = TypeVar("_F", bound=Callable[..., Any])


class Heuristic(Struct, frozen=True):
    """A part of the analysis that can be switched off."""

    name: str
    evidence: str
    """What it was read from."""
    module: str
    is_on: bool

    def otherwise(self, value: Any) -> Callable[[_F], _F]:
        """Decorates a function that returns `value` for everything where the heuristic is off. Where it is on, the
        function stays what it is."""

        def decorate(function: _F) -> _F:
            if self.is_on:
                return function

            @wraps(function)
            def off(*_args: object, **_kwargs: object) -> Any:
                return value

            return cast(_F, off)

        return decorate


_off = frozenset(filter(None, os.environ.get(VARIABLE, "").split(",")))
_declared: dict[str, Heuristic] = {}


def heuristic(name: str, evidence: str) -> Heuristic:
    """Declares a heuristic of the calling module. Raises ValueError where another one bears the name."""
    module = str(sys._getframe(1).f_globals["__name__"])
    if name in _declared and _declared[name].module != module:
        raise ValueError(f"{name} is a heuristic of {_declared[name].module}")
    _declared[name] = Heuristic(name, evidence, module, name not in _off)
    return _declared[name]


def all_heuristics() -> Mapping[str, Heuristic]:
    """All heuristics by name, of all modules of the program, which this imports: but for those that need an extra
    that isn't installed."""
    package = import_module("cudalint")
    # The first of its folders: in a clone, the second one is the clone itself.
    for found in walk_packages(package.__path__[:1], "cudalint."):
        if found.name.endswith("__main__"):
            continue
        try:
            import_module(found.name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] == "cudalint":
                raise
    return dict(sorted(_declared.items()))
