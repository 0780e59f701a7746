"""What of a file could not be read or evaluated: lines that no compiler takes, includes that were not found, and how
much was evaluated, in one line with what would bring most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cudalint.facts import Access, FileFacts, Gap, KernelFacts, LaunchFacts, Problem
from cudalint.numerals import count, enumeration
from cudalint.report.findings.results import is_seen_into

_LONGEST = 120
"""Characters of a reason."""
_TIME = "a longer --time-limit"
_STATED = "`// cudalint: launch(block = ...)` above the kernel, or --block"
_MOST_NAMES = 6
_MOST_UNDECLARED = 3
"""Names that nothing declares: a library's header that is only known in part may have dozens."""


def invalid_lines(file: FileFacts) -> Sequence[tuple[KernelFacts | None, Problem]]:
    """The mistakes, one for each line, with the kernel that has it, up to the first problem that may be none: what
    comes behind it may follow from it, but for syntax errors of which it is known that they do not. Outside of kernels
    only what is no C++ at all is one: names of the host's code may stand in any library."""
    found: list[tuple[KernelFacts | None, Problem]] = []
    lines: set[int] = set()
    own = sorted((p for p in file.problems if p.path == file.path), key=lambda p: (p.line, not p.is_certain, p.column))
    is_in_doubt = False
    for problem in own:
        if problem.line in lines:
            continue
        kernel = next((k for k in file.kernels if _has(k, problem)), None)
        may_be_name = kernel is not None and not _is_pattern(kernel)
        is_mistake = problem.is_certain and (problem.is_syntax or may_be_name)
        if not is_mistake or (is_in_doubt and not problem.stands_alone):
            is_in_doubt = True
            continue
        lines.add(problem.line)
        found.append((kernel, problem))
    return found


def _has(kernel: KernelFacts, problem: Problem) -> bool:
    place = kernel.place
    return place.path == problem.path and place.line <= problem.line <= place.end_line


def _is_pattern(kernel: KernelFacts) -> bool:
    """Whether a kernel is a template that nothing instantiates: compilers differ about names there."""
    return "<" in kernel.instantiation and all(launch.is_made_up for launch in kernel.launches)


# --- includes -------------------------------------------------------------------------------------------------


def headers_not_found(facts: FileFacts) -> list[str]:
    """The names of the headers, as the source has them."""
    return list(dict.fromkeys(problem.name for problem in facts.problems if problem.kind == "missing-include"))


def note_on(facts: FileFacts) -> str | None:
    """What to know of how the file was read, in one line; None where there is nothing."""
    notes = (_note_on_macros(facts), note_on_includes(facts), _note_on_stand_ins(facts))
    return "; ".join(note for note in notes if note is not None) or None


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


def _note_on_stand_ins(facts: FileFacts) -> str | None:
    """What of its kernels is not understood that a header may declare of which only a stand-in was read: what would be
    an error (CL904) otherwise. The first names, in one line; None where there is nothing."""
    if not facts.stand_ins or headers_not_found(facts):
        return None
    told = {(problem.path, problem.line) for _, problem in invalid_lines(facts)}
    open_ones = [
        (kernel, gap.problem)
        for kernel in facts.kernels
        for gap in kernel.gaps
        if gap.problem is not None and (gap.problem.path, gap.problem.line) not in told
    ]
    if not open_ones:
        return None
    open_ones.sort(key=lambda each: (each[1].path != facts.path, each[1].path, each[1].line, each[1].column))
    names: dict[str, Problem] = {}
    others: dict[str, Problem] = {}
    for _, problem in open_ones:
        is_name = problem.kind in ("guessed", "undeclared", "undeclared-type") and bool(problem.name)
        (names if is_name else others).setdefault(problem.name if is_name else _short(problem.message), problem)
    listed = [f"`{name}` ({_line(problem, facts)})" for name, problem in names.items()]
    if len(listed) > _MOST_UNDECLARED:
        listed[_MOST_UNDECLARED:] = [f"{len(listed) - _MOST_UNDECLARED} more"]
    said = [f"nothing that was read declares {enumeration(listed)}"] if listed else []
    # From a name that nothing declares, other errors follow.
    if not said:
        said = [f"{message} ({_line(problem, facts)})" for message, problem in others.items()][:1]
    headers = f"`{facts.stand_ins[0]}`" + (" and others" if len(facts.stand_ins) > 1 else "")
    places = {kernel.name_place for kernel in facts.kernels}
    partly = len({kernel.name_place for kernel, _ in open_ones})
    return (
        f"{said[0]}; of {headers} only cudalint's stand-in was read, and what is said of {partly} of "
        f"{count(len(places), 'kernel')} is incomplete (CL902); -I names the folders of the library's headers"
    )


def _line(problem: Problem, facts: FileFacts) -> str:
    return f"line {problem.line}" if problem.path == facts.path else f"{problem.path}:{problem.line}"


def _short(reason: str) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4].rstrip()} ..."


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


# --- how much was evaluated -----------------------------------------------------------------------------------


def is_assumed(launch: LaunchFacts) -> bool:
    return launch.source in ("default", "inferred", "launch-bounds") and launch.line is None


class GapLine(NamedTuple):
    text: str
    matters: bool
    """Whether a kernel was not evaluated at all, or the reader can do something about what is missing."""
    asks: str = ""
    """What the reader is asked for, the same in all files that one answer would help."""


def gap_line(file: FileFacts) -> GapLine:
    """`3 of 14 kernels evaluated in full, 10 in part, 1 not at all; most in the way: `a.h` was not found (8 kernels)`.

    What a header would bring that was looked for and is nowhere can't be tried, and so it isn't promised."""
    kernels: dict[object, list[KernelFacts]] = {}
    for kernel in file.kernels:
        if kernel.is_unasked:
            continue
        kernels.setdefault(kernel.name_place, []).append(kernel)
    open_ones = [group for group in kernels.values() if any(map(_has_gaps, group))]
    without = sum(not any(map(is_seen_into, group)) for group in open_ones)
    total, full, part = len(kernels), len(kernels) - len(open_ones), len(open_ones) - without
    assumed = [group for group in kernels.values() if any(is_assumed(launch) for k in group for launch in k.launches)]
    if not total:
        return GapLine("; ".join(["no kernel evaluated", *_not_found(file)]), True)
    if not open_ones and not assumed:
        # Lines outside of them are no C++ without the headers.
        return GapLine("; ".join([f"{count(total, 'kernel')} evaluated", *_not_found(file)]), False)
    if not open_ones:
        # The findings say so themselves.
        text = f"{count(total, 'kernel')} evaluated, {len(assumed)} of them under a launch that was assumed: {_STATED}"
        return GapLine(text, False)
    parts = [f"{full or 'none'} of {count(total, 'kernel')} evaluated in full"]
    parts += [f"{part} in part"] if part else []
    parts += [f"{without} not at all"] if without else []
    best = _ways(file, open_ones)
    return GapLine(f"{', '.join(parts)}; {best.text}", best.matters or without > 0, best.asks)


def _has_gaps(kernel: KernelFacts) -> bool:
    return bool(kernel.gaps) or any(True for _ in _unknown(kernel.accesses))


def _unknown(accesses: Sequence[Access]) -> Iterator[str]:
    """Why accesses have no figures."""
    for access in accesses:
        for result in access.results:
            if result.status == "unknown" and result.reason_kind != "repeat":
                yield result.reason or "no reason known"
                break


def _ways(file: FileFacts, open_ones: Sequence[Sequence[KernelFacts]]) -> GapLine:
    """The one action that helps most kernels, or what stands most in the way where none is known."""
    ways: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    without_headers = 0
    headers = headers_not_found(file)
    for group in open_ones:
        # Each once for a kernel; what is as frequent as others comes in the order of the source.
        own = dict.fromkeys(gap.remedy for kernel in group for gap in kernel.gaps if gap.remedy)
        ways.update(list(own))
        if any(gap.kind == "time" for kernel in group for gap in kernel.gaps):
            ways[_TIME] += 1
        without_headers += bool(headers) and any(map(may_miss_headers, group))
        why = [gap.own_reason for kernel in group for gap in kernel.gaps]
        reasons.update(list(dict.fromkeys([*why, *(r for kernel in group for r in _unknown(kernel.accesses))])))
    way, number = ways.most_common(1)[0] if ways else ("", 0)
    if without_headers and without_headers >= number:
        (missing,) = _not_found(file)
        return GapLine(f"most in the way: {missing} ({count(without_headers, 'kernel')})", True, headers[0])
    if ways:
        return GapLine(f"most would bring {way}: {count(number, 'kernel')}", True, way)
    reason, number = reasons.most_common(1)[0]
    return GapLine(f"most in the way: {_short(reason)} ({count(number, 'kernel')})", False)


def _not_found(file: FileFacts) -> list[str]:
    """What is said of headers, if any were not found."""
    names = headers_not_found(file)
    if len(names) > 1:
        return [f"`{names[0]}` and {count(len(names) - 1, 'more header')} were not found"]
    return [f"`{name}` was not found" for name in names]
