"""Branches of the preprocessor in a source text."""

from __future__ import annotations

import itertools
import re

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b")


def other_branches(text: str, line: int) -> str:
    """What stands in the branches beside those that a line, counted from 1, is in: for `#if A`, x, `#else`, y, `#endif`
    and the line of y, that is x. Of groups in one another, all around the line count. Directives that don't pair up end
    with the text."""
    lines = text.splitlines()
    found: list[str] = []
    groups: list[list[int]] = []
    for number, content in enumerate([*lines, "#endif"], 1):
        match = _DIRECTIVE.match(content)
        if match is None:
            continue
        if match[1].startswith("if"):
            groups.append([number])
        elif groups and match[1] != "endif":
            groups[-1].append(number)
        elif groups:
            borders = [*groups.pop(), number]
            branches = list(itertools.pairwise(borders))
            if any(begin < line < end for begin, end in branches):
                found += ["\n".join(lines[b : e - 1]) for b, e in branches if not b < line < e]
    return "\n".join(found)
