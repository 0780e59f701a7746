"""The edits that pin memory which asynchronous copies read or write: where it is allocated, and where it is released.

A copy of pageable memory returns when the driver has taken it over, and one of pinned memory at once. Whatever the host
does with the memory afterwards has to wait, so that there is an edit only where the text waits between the copies and
all that follows. That it waits for the right stream is for its author to see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cudalint.diagnostics import Edit
from cudalint.facts import HostCopy
from cudalint.remedies.float_edits import function_around
from cudalint.remedies.obstacles import Obstacle
from cudalint.remedies.spelling import replaced
from cudalint.remedies.statements import block_around, head_of_block
from cudalint.source.code import CodeText, code_text

_NUMBERS = r"(?:(?:unsigned|signed|long|short)\s+)*(?:char|short|int|long|float|double|size_t|u?int(?:8|16|32|64)_t|half)"
_NEW = re.compile(rf"=\s*new\s+({_NUMBERS})\s*\[")
_PLAIN = re.compile(r"[\w.]+")
_CAST = r"(?:\([\w\s:]+\*+\s*\)|(?:static|reinterpret)_cast<[\w\s:]+\*+\s*>\s*\()"
_MALLOC = re.compile(rf"=\s*{_CAST}?\s*(?:std::)?malloc\s*\(")
_POINTER = re.compile(r"(?:\A|[;{}])\s*(?:[\w:]+\s+)*[\w:]+\s*\*\s*\Z")
_RELEASED = re.compile(r"(?:(?:std::)?free\s*\(\s*|delete\s*\[\s*\]\s*)\Z")
_COPIED = re.compile(r"\bcudaMemcpyAsync\s*\(")
_WAITS = re.compile(r"\bcuda(?:Stream|Device|Event)Synchronize\s*\(")
_HANDED_ON = re.compile(r"(?:(?<![=!<>])=|\breturn|(?<!&)&)\s*\Z")
_CHANGED = re.compile(r"\s*(?:(?:[-+]?=)(?!=)|\+\+|--)")
_LOOPS = ("for", "while", "do")


def pinned_edits(copy: HostCopy, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edits for all copies of its memory. Raises an `Obstacle` where the memory is more than a variable of one
    function, or the host uses it without a wait in sight."""
    name, path = copy.buffer.name, copy.place.path
    if not name.isidentifier() or copy.buffer.place.path != path:
        raise Obstacle(f"`{name}` is no variable of the function that copies it")
    source = code_text(text_of(path))
    _, opening = function_around(copy.place, text_of)
    closed = source.close(opening) if opening >= 0 else None
    if closed is None or not opening <= source.extent(copy.buffer.place)[0] < closed:
        raise Obstacle(f"`{name}` is allocated in another function than it is copied in")
    edits: list[Edit] = []
    copies: list[int] = []
    others: list[int] = []
    for use in re.compile(rf"\b{name}\b").finditer(source.code, opening, closed):
        before = source.code[source.statement_start(use.start()) - 1 : use.start()]
        at = use.start()
        if _is_copied(source, at, opening):
            copies.append(at)
        elif (released := _RELEASED.search(source.code[opening:at])) is not None:
            others.append(at)
            edits.append(_released(source, path, opening + released.start(), use.end()))
        elif (allocated := _allocated(source, path, use, before)) is not None:
            edits.append(allocated)
        elif not (_POINTER.search(before) and source.code[source.skip(use.end())] == ";"):
            if _HANDED_ON.search(before) or _CHANGED.match(source.code, use.end()):
                line = source.position(at)[0]
                raise Obstacle(f"line {line} hands `{name}` on, or changes it")
            others.append(at)
    if sum("cudaMallocHost" in edit.text for edit in edits) != 1:
        raise Obstacle(f"`{name}` is not allocated by one plain `malloc` or `new` of numbers")
    _require_waits(source, name, copies, others, opening)
    return tuple(edits)


def _is_copied(source: CodeText, at: int, opening: int) -> bool:
    return any(
        call.start() < at < (source.close(call.end() - 1) or 0)
        for call in _COPIED.finditer(source.code, max(opening, source.statement_start(at)), at)
    )


def _released(source: CodeText, path: str, begin: int, end: int) -> Edit:
    closing = source.skip(end)
    is_call = source.code[closing : closing + 1] == ")"
    name = source.code[:end].rpartition("(")[2] if is_call else source.code[:end].rpartition("]")[2]
    return replaced(source, path, begin, closing + 1 if is_call else end, f"cudaFreeHost({name.strip()})")


def _allocated(source: CodeText, path: str, use: re.Match[str], before: str) -> Edit | None:
    """The edit of the statement that puts new memory into the variable; None where it is none."""
    begin, end = use.span()
    equals = source.skip(end)
    semicolon = source.semicolon(equals)
    made = _NEW.match(source.code, equals) or _MALLOC.match(source.code, equals)
    if made is None or semicolon is None or source.find(",", equals, semicolon):
        return None
    closed = source.close(made.end() - 1)
    rest = source.code[closed:semicolon].strip() if closed is not None else "?"
    if closed is None or rest not in ("", ")"):
        return None
    asked = source.text[made.end() : closed - 1].strip()
    if made.re is _NEW:
        count = asked if _PLAIN.fullmatch(asked) else f"({asked})"
        asked = f"{count} * sizeof({made[1]})"
    call = f"cudaMallocHost(&{use[0]}, {asked})"
    if not before[1:].strip():
        return replaced(source, path, begin, semicolon, call)
    if not _POINTER.search(before):
        return None
    margin = source.margin(source.skip(source.statement_start(begin)))
    return replaced(source, path, end, semicolon, f";{' ' if margin is None else source.line_end + margin}{call}")


def _require_waits(source: CodeText, name: str, copies: list[int], others: list[int], opening: int) -> None:
    """All that the host does with the memory after a copy comes behind a wait, in the next turn of a loop as well."""
    for at in others:
        ahead = [copy for copy in copies if copy < at]
        if ahead and not _WAITS.search(source.code, ahead[-1], at):
            raise Obstacle(f"line {source.position(at)[0]} uses `{name}` while it may still be copied")
        for first, last in _loops_around(source, at, opening):
            behind = [copy for copy in copies if at < copy < last]
            if behind and not (_WAITS.search(source.code, behind[-1], last) or _WAITS.search(source.code, first, at)):
                raise Obstacle(f"line {source.position(at)[0]} uses `{name}` while it may still be copied")


def _loops_around(source: CodeText, at: int, opening: int) -> Iterator[tuple[int, int]]:
    while (block := block_around(source, at)) is not None and block[0] > opening:
        head = head_of_block(source, block[0])
        if head is not None and head.kind in _LOOPS:
            yield block
        at = block[0]
