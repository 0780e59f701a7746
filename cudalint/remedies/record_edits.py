"""The edit that declares a struct with a wider alignment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.remedies.obstacles import Obstacle
from cudalint.source.code import code_text


def is_declared(name: str, sources: Iterable[str], text_of: Callable[[str], str]) -> bool:
    """Whether some texts declare a struct, so that whoever has them may declare it anew: a `std::pair` is nobody's."""
    name = re.escape(name.removeprefix("struct ").partition("<")[0].rpartition("::")[2])
    declared = re.compile(rf"\b(?:struct|class|union)\s[^;{{}}()]*\b{name}\b|\}}\s*{name}\s*;")
    return any(declared.search(text_of(path)) for path in dict.fromkeys(sources))


def aligned_record(name: str, bytes_: int, sources: Iterable[str], text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """Raises an `Obstacle` where the struct's declaration is not in sight, or says how it lies."""
    name = name.removeprefix("struct ").rpartition("::")[2]
    spelled = re.escape(name)
    named = re.compile(rf"\bstruct\b(?=\s+{spelled}\s*(?:\{{|:[^:]))")
    typedef = re.compile(rf"\btypedef\s+struct\b(?=\s*(?:\w+\s*)?\{{[^{{}}]*\}}\s*{spelled}\s*;)")
    found = []
    for path in dict.fromkeys(sources):
        source = code_text(text_of(path))
        for pattern in (named, typedef):
            found += [(path, source.position(match.end())) for match in pattern.finditer(source.code)]
    if len(found) != 1:
        raise Obstacle(
            f"the declaration of `{name}` is not in these files" if not found else f"there are several `{name}`"
        )
    [(path, at)] = found
    return (Edit(Place(path, *at, *at), f" __align__({bytes_})"),)
