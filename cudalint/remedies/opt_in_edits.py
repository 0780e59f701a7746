"""The call that raises a kernel's limit of dynamic shared memory, before a launch that needs it."""

from __future__ import annotations

import re
from collections.abc import Callable

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.remedies.insertions import insertions
from cudalint.source.code import code_text

_LAUNCHED = re.compile(r"([A-Za-z_][\w:]*(?:\s*<[\w\s,:*]+>)?)\s*<<<")
_PLAIN = re.compile(r"[\w\s:+\-*/.()]+")
_CALL = re.compile(r"\b(?!sizeof\b)[A-Za-z_]\w*\s*\(")
"""What may not be computed twice."""


def raised_limit(launch: Place, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edits that put the call in front of `kernel<<<grid, block, bytes>>>(...)`, with the bytes as the launch
    spells them; none where it isn't spelled so."""
    text = text_of(launch.path)
    source = code_text(text)
    begin, end = source.extent(launch)
    launched = _LAUNCHED.match(source.code, begin, end)
    closing = source.code.find(">>>", begin, end)
    if launched is None or closing < 0:
        return ()
    commas = source.find(",", launched.end(), closing)
    if len(commas) not in (2, 3):
        return ()
    amount = source.text[commas[1] + 1 : (*commas, closing)[2]].strip()
    if not _PLAIN.fullmatch(amount) or _CALL.search(amount):
        return ()
    attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize"
    statement = f"cudaFuncSetAttribute({launched[1]}, {attribute}, {amount});"
    return tuple(Edit(each.place, each.text) for each in insertions(text, launch, "before", statement))
