"""Delta debugging: parts of a text are taken out as long as what is left still shows the fault.

A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input" (IEEE Transactions on Software
Engineering 28, 2002), here on pieces of the program that are nested (G. Misherghi and Z. Su, "HDD", ICSE 2006).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from cudalint.cli.reducing.pieces import Piece, names_in, pieces_of, renamed, without, without_blanks, without_comments
from cudalint.regexes import regex

Shows = Callable[[str], bool]
"""Whether a text shows the fault."""
ShowsRenamed = Callable[[str, dict[str, str]], bool]
"""The same for a text in which names were changed."""

_RESERVED = regex(
    r"__.*|cuda.*|atomic.*|std|main|threadIdx|blockIdx|blockDim|gridDim|warpSize|dim3|"
    r"alignas|auto|bool|break|case|char|class|const|constexpr|continue|decltype|default|define|defined|delete|do|double|"
    r"elif|else|endif|enum|error|explicit|extern|false|float|for|goto|if|ifdef|ifndef|include|inline|int|long|mutable|"
    r"namespace|new|noexcept|nullptr|once|operator|pragma|private|protected|public|register|return|short|signed|sizeof|"
    r"static|static_assert|struct|switch|template|this|true|typedef|typename|undef|union|unroll|unsigned|using|virtual|"
    r"void|volatile|while|[xyzw]"
)
"""Names that are the language's, and those that change what code means to the linter."""


class Budget:
    """How long is tried."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def is_over(self) -> bool:
        return time.monotonic() >= self._end


def reduced(data: str, shows: Shows, budget: Budget) -> str:
    """A text without all that can be taken out of it, one piece or several at once, as far as there is time."""
    for change in (without_comments, without_blanks):
        changed = change(data)
        if changed != data and shows(changed):
            data = changed
    while not budget.is_over():
        before = data
        depth = 0
        while not budget.is_over():
            pieces = [piece for piece in pieces_of(data) if piece.depth == depth]
            if not pieces and all(piece.depth < depth for piece in pieces_of(data)):
                break
            data = _without_most(data, pieces, shows, budget)
            depth += 1
        if len(data) >= len(before):
            break
    return data


def _without_most(data: str, pieces: Sequence[Piece], shows: Shows, budget: Budget) -> str:
    """A text without as many of its pieces as halves, quarters and so on show to be of no matter."""
    gone: list[Piece] = []
    waiting = [list(pieces)]
    while waiting and not budget.is_over():
        part = waiting.pop()
        if not part:
            continue
        changed = without(data, [*gone, *part])
        if len(changed) < len(without(data, gone)) and shows(changed):
            gone += part
        elif len(part) > 1:
            half = len(part) // 2
            waiting += [part[:half], part[half:]]
    return without_blanks(without(data, gone)) if gone else data


def stripped(data: str, shows: ShowsRenamed, budget: Budget) -> str:
    """A text whose names tell nothing: those that can be others without a change to the fault."""
    names = [name for name in names_in(data) if not _RESERVED.fullmatch(name)]
    fresh = {name: _fresh(name, number, data) for number, name in enumerate(names, 1)}
    taken: dict[str, str] = {}
    waiting = [names]
    while waiting and not budget.is_over():
        part = waiting.pop()
        if not part:
            continue
        changed = taken | {name: fresh[name] for name in part}
        if shows(renamed(data, changed), changed):
            taken = changed
        elif len(part) > 1:
            half = len(part) // 2
            waiting += [part[half:], part[:half]]
    return renamed(data, taken)


def _fresh(name: str, number: int, data: str) -> str:
    """One for each kind, so that the text can still be read."""
    if name.isupper():
        return f"M{number}"
    if re.search(rf"(?:struct|class|typename|union)\s+{name}\b", data):
        return f"T{number}"
    return f"f{number}" if re.search(rf"\b{name}\s*(?:\(|<<<)", data) else f"v{number}"
