"""Which files changes can reach: those that changed, those that include one that did, and those whose program it is a
part of."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence

from cudalint.frontend.flags import BUNDLED_ROOT
from cudalint.launches.program.mentions import CALLING
from cudalint.launches.program.neighbours import sources_near
from cudalint.regexes import regex
from cudalint.system.disk.regular import read_regular

_INCLUDE = regex(rb'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(\w))', re.MULTILINE)
_SOURCES = (".cu", *CALLING)


class Reach:
    """Looks through files as text: a directive counts, compiled or not. Where it is unknown what one means, it means
    what has changed."""

    def __init__(self, changed: Collection[str]) -> None:
        """`changed` are resolved paths."""
        self._changed = frozenset(changed)
        self._names = {os.path.basename(path) for path in changed}
        self._has_headers = any(not path.endswith(_SOURCES) for path in changed)
        self._included: dict[str, list[tuple[str, bool]] | None] = {}

    def reaches(self, path: str, folders: Sequence[str]) -> bool:
        """Whether a finding of a file may be on a line that changed: of the file, of what it includes, or of the host
        code that launches its kernels. `folders` are searched for headers."""
        if not self._changed:
            return False
        waiting = [os.path.realpath(each) for each in (path, *sources_near(path, CALLING))]
        seen: set[str] = set()
        while waiting:
            current = waiting.pop()
            if current in self._changed:
                return True
            if current in seen:
                continue
            seen.add(current)
            names = self._names_in(current)
            if names is None:
                return True
            for name, is_quoted in names:
                found = list(_found(name, os.path.dirname(current), folders))
                if os.path.basename(name) in self._names or (not found and self._may_be_ours(name, is_quoted)):
                    return True
                waiting += found
        return False

    def _may_be_ours(self, name: str, is_quoted: bool) -> bool:
        """Whether a header that isn't found may be one of the project, which the front end finds in other ways."""
        if not self._has_headers:
            return False
        is_known = os.path.isfile(os.path.join(BUNDLED_ROOT, name)) or not os.path.splitext(name)[1]
        return is_quoted or not is_known

    def _names_in(self, path: str) -> list[tuple[str, bool]] | None:
        """What a file includes, and whether in quotes; None where a macro says so."""
        if path not in self._included:
            try:
                found = _INCLUDE.findall(read_regular(path))
            except (OSError, ValueError):
                found = []
            names = [(os.fsdecode(quoted or angled), bool(quoted)) for quoted, angled, _ in found]
            self._included[path] = None if any(macro for *_, macro in found) else names
        return self._included[path]


def _found(name: str, folder: str, folders: Sequence[str]) -> Iterable[str]:
    """All files that the name may mean."""
    candidates = (os.path.join(each, name) for each in (folder, *folders))
    return (os.path.realpath(path) for path in candidates if os.path.isfile(path))
