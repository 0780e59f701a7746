"""The call that raises a kernel's limit of dynamic shared memory, before a launch that needs it."""

from __future__ import annotations

from collections.abc import Callable

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.launch_texts import launch_text
from cudalint.fixes.obstacles import Obstacle
from cudalint.regexes import regex
from cudalint.source.code import code_text
from cudalint.source.insertions import insertions

_PLAIN = regex(r"[\w\s:+\-*/.()]+")
_CALL = regex(r"\b(?!sizeof\b)[A-Za-z_]\w*\s*\(")
"""What may not be computed twice."""


def raised_limit(launch: Place, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edits that put the call in front of `kernel<<<grid, block, bytes>>>(...)`, with the bytes as the launch
    spells them. Raises an `Obstacle` where it isn't spelled so."""
    text = text_of(launch.path)
    source = code_text(text)
    launched = launch_text(launch, source)
    if len(launched.configuration) < 3:
        raise Obstacle(f"the launch at line {launch.line} does not say how many bytes it asks for")
    begin, end = launched.configuration[2]
    amount = source.text[begin:end]
    if not _PLAIN.fullmatch(amount) or _CALL.search(amount):
        raise Obstacle(f"`{amount}` in the launch at line {launch.line} may not be computed twice")
    attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize"
    statement = f"cudaFuncSetAttribute({launched.name}, {attribute}, {amount});"
    put = insertions(text, launch, "before", statement)
    if not put:
        raise Obstacle(f"the launch at line {launch.line} is not a statement that another one could stand before")
    return tuple(Edit(each.place, each.text) for each in put)
