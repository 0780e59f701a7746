"""The edit that deals the turns of a loop out to neighbouring threads, where each thread has a run of them.

    for (int n = N * pos / size; n < N * (pos + 1) / size; ++n)    becomes    for (int n = pos; n < N; n += size)

Either way each turn is made once, by one of the threads `0 <= pos < size`. What a thread takes from turn to turn
would be another: turns may share nothing but memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cudalint.diagnostics import Edit
from cudalint.facts import Access
from cudalint.fixes.counted_loops import end_of_body
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import FOR, replaced
from cudalint.source.code import CodeText, code_text

_HEAD = re.compile(
    r"\((?P<kind>(?:[A-Za-z_][\w:]*\s+)+)(?P<name>\w+)\s*=\s*(?P<all>\w+)\s*\*\s*(?P<own>\w+)\s*/\s*(?P<of>\w+)\s*;"
    r"\s*(?P=name)\s*<\s*(?P=all)\s*\*\s*\(\s*(?P=own)\s*\+\s*1\s*\)\s*/\s*(?P=of)\s*;"
    r"\s*(?:(?P=name)\s*\+\+|\+\+\s*(?P=name)|(?P=name)\s*\+=\s*1)\s*\)\Z"
)
_ASSIGNED = re.compile(
    r"(?<![\w.>\]])([A-Za-z_]\w*)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)
_LEAVES = re.compile(r"\b(?:break|goto|return)\b|__sync\w*|__shfl\w*")


def turn_edits(access: Access, text_of: Callable[[str], str]) -> tuple[str, tuple[Edit, ...]]:
    """How the loop begins then, and the edit. Raises an `Obstacle` where no loop around the access is so, or a thread
    hands something on from turn to turn."""
    path, line = access.place.path, access.place.line
    source = code_text(text_of(path))
    begin, _ = source.extent(access.place)
    for loop in FOR.finditer(source.code, 0, begin):
        closed = source.close(loop.end())
        head = _HEAD.match(source.code[loop.end() : closed]) if closed is not None and closed <= begin else None
        if head is None or closed is None:
            continue
        body = source.skip(closed)
        end = end_of_body(source, body)
        if end is None or not body <= begin < end:
            continue
        _require_apart(source, body, end, head["name"])
        name, own, of = head["name"], head["own"], head["of"]
        turned = f"for ({' '.join(head['kind'].split())} {name} = {own}; {name} < {head['all']}; {name} += {of})"
        return turned, (replaced(source, path, loop.start(), closed, turned),)
    raise Obstacle(f"no loop around line {line} gives each thread a run of its turns")


_STORED = re.compile(r"\b(\w+)\s*\[[^;]*?\]\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)")


def _require_apart(source: CodeText, body: int, end: int, name: str) -> None:
    text = source.code[body:end]
    for stored in _STORED.findall(text):
        indices = [" ".join(index.split()) for index in re.findall(rf"\b{stored}\s*\[([^;\[\]]*)\]", text)]
        if len({*indices}) != 1 or len(indices) != len(re.findall(rf"\b{stored}\b", text)):
            raise Obstacle(f"a turn may read what another one has stored to `{stored}`")
    leaves = _LEAVES.search(text)
    if leaves is not None:
        raise Obstacle(
            f"`{leaves[0]}` at line {source.position(body + leaves.start())[0]} is about the turns of a thread"
        )
    for found in _ASSIGNED.finditer(text):
        changed = found[1] or found[2]
        declared = rf"(?:^|[;{{}}(,])\s*(?:[A-Za-z_][\w:]*[\s*&]+)+(?:\w+\s*(?:=[^;,]*)?,\s*)*{changed}\s*[=;,)]"
        if changed == name or not re.search(declared, text[: found.end() + 1]):
            raise Obstacle(f"`{changed}` goes on from one turn to the next at line {source.position(body)[0]}")
