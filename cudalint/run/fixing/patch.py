"""Changes of files as a unified diff that `patch -p1` and `git apply` take."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from cudalint.run.fixing.writing import Change

_ESCAPED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_NO_END = b"\n\\ No newline at end of file\n"


def unified_diff(changes: Mapping[str, Change]) -> bytes:
    """The diffs of all files, in the order of their paths; nothing where nothing changes."""
    return b"".join(b"".join(_diff(path, changes[path])) for path in sorted(changes))


def _diff(path: str, change: Change) -> Iterator[bytes]:
    before, after = _lines(change.before), _lines(change.after)
    old, new = _name("a", path), _name("b", path)
    for line in difflib.diff_bytes(difflib.unified_diff, before, after, old, new):
        yield line if line.endswith(b"\n") else line + _NO_END


def _lines(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def _name(side: str, path: str) -> bytes:
    shown = Path(path).as_posix()
    if os.path.isabs(path):
        inside = os.path.relpath(path)
        shown = shown.lstrip("/") if inside.startswith(os.pardir) else Path(inside).as_posix()
    name = os.path.join(side, shown)
    if any(letter in _ESCAPED for letter in name):
        name = f'"{"".join(_ESCAPED.get(letter, letter) for letter in name)}"'
    return os.fsencode(name + ("\t" if " " in name else ""))
