"""What is found out about functions of a file, and kept while it is analysed: functions know their file, which would
stay in memory as long as any of them is kept."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])
_KEPT: list[Any] = []


def kept(most: int) -> Callable[[_F], _F]:
    """Decorates a function of hashable arguments: its latest results are kept, so many of them, until the analysis of a
    file ends."""

    def decorated(function: _F) -> _F:
        cached = functools.lru_cache(maxsize=most)(function)
        _KEPT.append(cached)
        return cast(_F, cached)

    return decorated


def forget() -> None:
    """Lets the file go."""
    for each in _KEPT:
        each.cache_clear()
