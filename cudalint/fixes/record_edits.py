"""The edit that declares a struct with a wider alignment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.obstacles import Obstacle
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text


def is_declared(name: str, sources: Iterable[str], text_of: Callable[[str], str]) -> bool:
    """Whether some texts declare a struct, so that whoever has them may declare it anew: a `std::pair` is nobody's."""
    name = re.escape(name.removeprefix("struct ").partition("<")[0].rpartition("::")[2])
    declared = re.compile(rf"\b(?:struct|class|union)\s[^;{{}}()]*\b{name}\b|\}}\s*{name}\s*;")
    return any(declared.search(text_of(path)) for path in dict.fromkeys(sources))


def aligned_record(name: str, bytes_: int, sources: Iterable[str], text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """Raises an `Obstacle` where the struct's declaration is not in sight, or says how it lies, and where something
    else rests on how it lies."""
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
    _lies_where_it_likes(name, (code_text(text_of(path)) for path in dict.fromkeys(sources)))
    return (Edit(Place(path, *at, *at), f" __align__({bytes_})"),)


_STRUCT = regex(r"\b(?:struct|class|union)\b([^;{}()]*(?:\([^()]*\)[^;{}()]*)*)\{([^{}]*)\}\s*(\w*)")
_ALIGNED = regex(r"\b(?:__align__|alignas|aligned|__builtin_align__)\b")
_ALLOCATED = r"(?!\s*(?:std\s*::\s*)?(?:malloc|calloc|realloc|aligned_alloc)\b)"


def _lies_where_it_likes(name: str, sources: Iterable[CodeText]) -> None:
    """A wider alignment moves a struct within those that it is a part of, and memory that is only looked at as such
    structs need not begin at a multiple of it. Where the same fields are declared with an alignment as well, whoever
    takes those without one wants them so."""
    bodies: dict[bool, set[str]] = {True: set(), False: set()}
    for source in sources:
        if re.search(r"#[ \t]*pragma[ \t]+pack|\bpacked\b", source.text):
            raise Obstacle("some structs here are packed")
        if re.search(rf"(?:\(|_cast\s*<)\s*(?:const\s+)?{name}\s*[*&][\s*]*[>)]{_ALLOCATED}", source.code):
            raise Obstacle(f"memory of another type is looked at as a `{name}`, and need not begin where that would")
        for head, body, behind in _STRUCT.findall(source.code):
            if re.search(rf"\b{name}\b(?!\s*[({{])[^;*&]*;", body) or re.search(rf":[^:].*\b{name}\b", head):
                raise Obstacle(f"`{name}` is a part of another struct, whose fields would move")
            is_it = re.search(rf"\b{name}\b", f"{head} {behind}") is not None
            if is_it or _ALIGNED.search(head):
                bodies[is_it].add(" ".join(body.split()))
    if bodies[True] & bodies[False]:
        raise Obstacle(f"there is an aligned struct with the fields of `{name}`, to be had in its place")
