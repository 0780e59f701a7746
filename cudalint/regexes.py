"""Regular expressions that stand in modules and are compiled when they are first used.

There are hundreds, a file needs a few dozen of them, and to compile all takes longer than to parse a small file.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for a name of a module."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))


class _Later(Generic[AnyStr]):
    """Becomes what it stands for attribute by attribute."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)
        return value
