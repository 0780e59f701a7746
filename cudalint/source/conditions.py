"""The branches of `#if` in a text, where one that the preprocessor leaves out is of interest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.source.comments import COMMENT

_DIRECTIVE: Final = regex(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b[ \t]*(.*)")
_NEVER: Final = regex(r"(?:0|false)\b[^|&]*\Z")
_LAUNCH: Final = regex(r"<<<|\b(?:cuda|hip)Launch\w*\s*\(")


class Branch(Struct):
    """A directive and what stands behind it, up to the one that ends that."""

    word: str
    condition: str
    """Without comments."""
    first: int
    """The line of the directive, from 1 on."""
    last: int
    """That of the one that ends it."""

    @property
    def is_for_nobody(self) -> bool:
        """Whether it stands under `#if 0`."""
        return self.word in ("if", "elif") and _NEVER.match(self.condition) is not None


Chain = list[Branch]
"""From `#if` to `#endif`."""


def with_launches_left_out(lines: Sequence[str], left_out: Sequence[tuple[int, int]]) -> list[str] | None:
    """The lines of a text with a branch that makes launches in place of one that makes none, in each chain where what
    is left out does so; None where there is no such chain. `left_out` has the lines of the directives that begin and
    end what is left out. What stands under `#if 0` is for nobody."""
    if not any(_LAUNCH.search("\n".join(lines[first - 1 : last])) for first, last in left_out):
        return None
    blank: set[int] = set()
    restored: set[int] = set()
    for chain in chains(lines):
        if chain[0].first in blank:
            continue
        chosen = _chosen(chain, lines, left_out, restored)
        for branch in chain:
            inside = range(branch.first, branch.last + 1)
            if branch is not chosen:
                blank.update(inside)
            elif _is_left_out(branch, left_out):
                restored.update(inside)
    return ["" if number in blank else line for number, line in enumerate(lines, start=1)] if restored else None


def other_branches(text: str, line: int) -> str:
    """What stands in the branches beside those that a line, counted from 1, is in: for `#if A`, x, `#else`, y, `#endif`
    and the line of y, that is x. Of groups in one another, all around the line count, the innermost first. Directives
    that don't pair up end with the text."""
    lines = text.splitlines()
    found: list[str] = []
    for chain in reversed(chains(lines)):
        inside = [branch.first < line < branch.last for branch in chain]
        if any(inside):
            others = (each for each, is_around in zip(chain, inside, strict=True) if not is_around)
            found += ["\n".join(lines[branch.first : branch.last - 1]) for branch in others]
    return "\n".join(found)


def _chosen(
    chain: Chain, lines: Sequence[str], left_out: Sequence[tuple[int, int]], restored: set[int]
) -> Branch | None:
    """The branch of a chain that is to stand: the compiled one, if another one has no launch to offer."""
    useful = [branch for branch in chain if not branch.is_for_nobody]
    if chain[0].first in restored:
        # What nobody has compiled is as it would be with its first conditions.
        return useful[0] if useful else None
    compiled = next((branch for branch in chain if not _is_left_out(branch, left_out)), None)
    if compiled is not None and _launches(compiled, lines):
        return compiled
    return next((branch for branch in useful if _launches(branch, lines)), compiled)


def _launches(branch: Branch, lines: Sequence[str]) -> bool:
    return _LAUNCH.search("\n".join(lines[branch.first : branch.last - 1])) is not None


def _is_left_out(branch: Branch, left_out: Sequence[tuple[int, int]]) -> bool:
    return any(first <= branch.first and branch.last <= last for first, last in left_out)


def chains(lines: Sequence[str]) -> list[Chain]:
    """The chains of a text, those around others first."""
    found: list[Chain] = []
    open_: list[Chain] = []
    for number, line in enumerate(lines, start=1):
        directive = _DIRECTIVE.match(line) if "#" in line else None
        if directive is None:
            continue
        word = directive[1]
        if word.startswith("if"):
            open_.append([])
            found.append(open_[-1])
        elif not open_:
            continue
        else:
            open_[-1][-1].last = number
        if word == "endif":
            open_.pop()
        else:
            open_[-1].append(Branch(word, COMMENT.sub(" ", directive[2]).strip(), number, number))
    for chain in open_:
        chain[-1].last = len(lines) + 1
    return found
