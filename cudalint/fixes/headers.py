"""Headers that an edit needs, included where a text begins."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cudalint.diagnostics import Edit
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText

_INCLUDE = regex(r"^[ \t]*#[ \t]*include\b[^\n]*\n", re.MULTILINE)
_CONDITIONAL = regex(r"^[ \t]*#[ \t]*(?:if|elif|else)\w*\b[^\n]*", re.MULTILINE)
_GUARD = regex(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)\s*#[ \t]*define[ \t]+\1\b", re.MULTILINE)


def included(path: str, source: CodeText, names: Iterable[str]) -> tuple[Edit, ...]:
    """The edit that includes headers which a text lacks, before all else that it includes. Raises an `Obstacle` where
    that would hang on conditions."""
    missing = [name for name in names if not re.search(rf'#[ \t]*include[ \t]*[<"]{name}[>"]', source.text)]
    if not missing:
        return ()
    first = _INCLUDE.search(source.text)
    at = first.start() if first is not None else source.lines.offset(source.position(source.skip(0))[0], 1)
    is_guarded = _GUARD.search(source.text, 0, at) is not None
    if len(_CONDITIONAL.findall(source.text, 0, at)) != is_guarded:
        raise Obstacle(f"`{missing[0]}` would have to be included, and what the file includes hangs on conditions")
    text = "".join(f"#include <{name}>{source.line_end}" for name in missing)
    return (replaced(source, path, at, at, text),)
