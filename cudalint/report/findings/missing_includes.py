"""What a file was linted without, or taken to have: includes that were not found, and macros of its build."""

from __future__ import annotations

from cudalint.facts import FileFacts, Gap, KernelFacts
from cudalint.numerals import count

_MOST_NAMES = 6


def headers_not_found(facts: FileFacts) -> list[str]:
    """The names of the headers, as the source has them."""
    return list(dict.fromkeys(problem.name for problem in facts.problems if problem.kind == "missing-include"))


def note_on(facts: FileFacts) -> str | None:
    """What to know of how the file was read, in one line; None where there is nothing."""
    notes = (note for note in (_note_on_macros(facts), note_on_includes(facts)) if note is not None)
    return "; ".join(notes) or None


def _note_on_macros(facts: FileFacts) -> str | None:
    """Which macros were defined for the file, as nobody else did and its kernels wait for them, or its headers ask for
    them: the first with its reason."""
    taken = {problem.name: problem.message for problem in facts.problems if problem.kind == "defined"}
    if not taken:
        return None
    first, *others = taken
    more = "".join(f" -D {name}" for name in others)
    return f"{taken[first]}; and likewise with{more}" if others else taken[first]


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
    """Whether something of the kernel was left out that a header could supply: not what takes too long."""
    return any(map(_is_for_a_name, kernel.gaps))


def _is_for_a_name(gap: Gap) -> bool:
    return gap.kind in ("unresolved", "unseen")


def _cost(facts: FileFacts) -> str:
    kernels = {kernel.name_place: False for kernel in facts.kernels}
    for kernel in facts.kernels:
        kernels[kernel.name_place] |= any(gap.kind == "unresolved" for gap in kernel.gaps)
    if not kernels:
        return "kernels that they may hold are not linted"
    partly = sum(kernels.values())
    if not partly:
        return "no kernel misses anything of them"
    return f"{partly} of {count(len(kernels), 'kernel')} could be evaluated in part only (CL902)"
