"""What a file was linted without, or taken to have: includes that were not found, and macros of its build."""

from __future__ import annotations

import re

from cudalint.facts import UNRESOLVED, FileFacts, Gap, KernelFacts
from cudalint.numerals import count

_NOT_FOUND = re.compile(r"'(.+)' file not found")
_TAKEN = re.compile(r"`(\w+)` is taken as defined")
_NO_BODY = "has no body in sight"
_MOST_NAMES = 6


def headers_not_found(facts: FileFacts) -> list[str]:
    """The names of the headers, as the source has them."""
    matches = (_NOT_FOUND.search(problem.message) for problem in facts.problems)
    return list(dict.fromkeys(match[1] for match in matches if match))


def note_on(facts: FileFacts) -> str | None:
    """What to know of how the file was read, in one line; None where there is nothing."""
    notes = (note for note in (_note_on_macros(facts), note_on_includes(facts)) if note is not None)
    return "; ".join(notes) or None


def _note_on_macros(facts: FileFacts) -> str | None:
    """Which macros were defined for the file, as nobody else did and its kernels wait for them."""
    matches = (_TAKEN.match(problem.message) for problem in facts.problems)
    names = ", ".join(dict.fromkeys(match[1] for match in matches if match))
    return f"linted with -D {names}, without which it has no kernels" if names else None


def note_on_includes(facts: FileFacts) -> str | None:
    """Which headers were not found, and what depends on them, in one line; None where all were found."""
    names = headers_not_found(facts)
    if not names:
        return None
    listed = ", ".join(names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        listed += f" and {len(names) - _MOST_NAMES} more"
    return f"includes not found: {listed}; {_cost(facts)}; -I names a folder to look in"


def may_miss_headers(kernel: KernelFacts) -> bool:
    """Whether something of the kernel was left out that a header could settle: not what takes too long."""
    return any(map(_is_for_a_name, kernel.gaps))


def _is_for_a_name(gap: Gap) -> bool:
    return gap.reason.startswith(UNRESOLVED) or _NO_BODY in gap.reason


def _cost(facts: FileFacts) -> str:
    kernels = {kernel.name_place: False for kernel in facts.kernels}
    for kernel in facts.kernels:
        kernels[kernel.name_place] |= any(gap.reason.startswith(UNRESOLVED) for gap in kernel.gaps)
    if not kernels:
        return "kernels that they may hold are not linted"
    partly = sum(kernels.values())
    if not partly:
        return "no kernel misses anything of them"
    return f"{partly} of {count(len(kernels), 'kernel')} could be evaluated in part only (CL902)"
