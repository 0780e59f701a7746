"""The macros that the headers of this package may define."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from cudalint.frontend.flags import HEADERS_ROOT

_DEFINES: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)


def macros_in(text: bytes) -> frozenset[str]:
    """All that a text may define, whatever its conditions are."""
    return frozenset(name.decode() for name in _DEFINES.findall(text))


@cache
def bundled_macros() -> frozenset[str]:
    headers = (path for path in Path(HEADERS_ROOT).rglob("*") if path.is_file())
    return frozenset[str]().union(*(macros_in(path.read_bytes()) for path in headers))
