"""CL902: what of a kernel could not be evaluated."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from cudalint.diagnostics import Diagnostic, Severity, Suggestion
from cudalint.facts import (
    Access,
    BarrierResult,
    FileFacts,
    KernelFacts,
    Place,
    Problem,
    Status,
)
from cudalint.regexes import regex
from cudalint.report.findings.gaps import GapLine, gap_line, headers_not_found, invalid_lines, is_assumed
from cudalint.report.findings.results import is_seen_into
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import count, is_repeat
from cudalint.source.code import code_text

_MOST_REASONS = 3
_MOST_ERRORS = 20
"""Lines with a syntax error that are listed: a text that is no source at all has hundreds."""
_OF_CODE = regex(r"\.(cuh?|py|[ch](c|pp|xx|\+\+)?|in[cl]|ipp|tpp|txx|impl|cl|hip)(\.\w+)?")
"""Ends of names of files with C++, in whole or in part."""
_KERNEL = regex(r"\b__global__\b")
_MEMORY = ("global", "shared", "generic")


class IncompleteAnalysis(Rule):
    """What of a file could not be evaluated: one line with the numbers, and what stands most in the way.

    What it does
        Counts the loads and stores that have no figures although nothing in the program makes them depend on data,
        and lists the reasons, the most frequent first; says what of the kernel's body was left out (a name that
        nothing declares, a construct that is not understood), what the search for races and missed barriers had to
        leave out, and that a launch had to be assumed. Each line that is no C++ is a finding of its own, in a
        kernel or outside: what stands there is left out, and the rest is evaluated. It is a warning where all includes
        were found, and so nothing can make C++ of it. Accesses whose address depends on loaded data are mentioned and
        are no gap: no tool can tell their figure.

        A kernel counts as not evaluated, too, where not one access was found and it calls what could not be read: a
        method of a class that is not in sight, a function that only an instance of its template would tell. One that
        touches no memory by its own text is complete.

        All that is one line for a file: how many kernels were evaluated in full, in part and not at all, and what
        stands most in the way. A file without kernels has none. `--show-gaps` prints each kernel's reasons; JSON and
        SARIF have them anyway. Where nobody can do anything about what is missing, and every kernel was evaluated at
        least in part, the line is only counted, but for `--show-gaps` and `--all`.

    Why is this bad
        Where nothing was evaluated, nothing is reported, and silence looks like a clean kernel.

    Example
        #include "sizes.h"                       // not found
        __global__ void scale(float *a) { a[threadIdx.x * PITCH] *= 2; }

    Use instead
        cudalint -I include scale.cu
        // cudalint: launch(block = 256)         above a kernel that nobody launches in sight
        // cudalint: assume(N % 32 == 0)         for sizes that are only known at run time
    """

    code = "CL902"
    name = "incomplete-analysis"
    severity = "info"
    summary = "what of a kernel could not be evaluated, and why"
    by_hand = "what could not be evaluated has to be known, not edited"
    reads = frozenset({"accesses", "barriers", "races"})

    _last: tuple[FileFacts, GapLine] | None = None

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        """Each line that is no C++, once: what follows from one error often stands on its line. A file without kernels
        has nothing that could have been evaluated."""
        if _is_no_source(context.file):
            first = min(context.file.problems, key=lambda problem: (problem.line, problem.column))
            message = f"neither its name nor its text is of C++: {first.message}"
            place = Place(context.file.path, first.line, first.column, first.line, first.column)
            yield self.finding(None, severity="warning", place=place, message=message)
            return
        if not _may_have_kernels(context):
            return
        lines: dict[tuple[str, int], Problem] = {}
        invalid = _invalid_lines(context.file)
        for problem in context.file.problems:
            if problem.is_syntax and (problem.path, problem.line) not in invalid:
                lines.setdefault((problem.path, problem.line), problem)
        errors = [lines[key] for key in sorted(lines)]
        # What a header that is missing would have defined may make C++ of such a line.
        severity: Severity = "info" if headers_not_found(context.file) else "warning"
        for problem in errors[:_MOST_ERRORS]:
            yield self._about_an_error(context.file, problem, problem.message, severity)
        if len(errors) > _MOST_ERRORS:
            more = count(len(errors) - _MOST_ERRORS, "more line has one", "more lines have one")
            yield self._about_an_error(context.file, errors[_MOST_ERRORS], more, severity)

    def _about_an_error(
        self, file: FileFacts, problem: Problem, message: str, severity: Severity
    ) -> Diagnostic:
        line = self._line(file)
        return self.finding(
            None,
            severity=severity,
            place=Place(problem.path, problem.line, problem.column, problem.line, problem.column),
            message=f"syntax error: {message}",
            # Without the headers, nobody can do anything about them one by one.
            causes=(_of_file(file),) if severity == "info" else (),
            headline=line.text if severity == "info" else "",
            # What compiles elsewhere, with macros of its build, and costs no kernel is nobody's concern.
            held_back="no-action" if file.kernels and (severity == "warning" or not line.matters) else None,
        )

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        if kernel.is_unasked:
            return
        accesses = [access for access in kernel.accesses if access.space in _MEMORY]
        unknown = [access for access in accesses if _reasons(access, "unknown")]
        known = (access for access in accesses if not _reasons(access, "unknown"))
        dependent = [access for access in known if _reasons(access, "data-dependent")]
        unsaid = [] if _have_findings(unknown, kernel, context.file) else unknown
        parts = [
            *_about_accesses(unsaid, dependent, len(accesses)),
            *_about_the_barriers(kernel),
            *_about_the_body(kernel, context.file),
            *_about_the_launch(kernel, context.file),
        ]
        if not parts:
            return
        line = self._line(context.file)
        yield self.finding(
            kernel,
            place=kernel.name_place,
            message="; ".join(parts),
            launches=kernel.launches,
            figures={
                "accesses": float(len(accesses)),
                "not_evaluated": float(len(unknown)),
                "data_dependent": float(len(dependent)),
                **({} if is_seen_into(kernel) else {"nothing_evaluated": 1.0}),
            },
            suggestion=_way_out(kernel),
            causes=(_of_file(context.file), *([f"asks for {line.asks}"] if line.asks else [])),
            headline=line.text,
            held_back=None if line.matters else "no-action",
        )

    def _line(self, file: FileFacts) -> GapLine:
        """The same for all kernels of a file."""
        if self._last is None or self._last[0] is not file:
            self._last = file, gap_line(file)
        return self._last[1]


def _is_no_source(file: FileFacts) -> bool:
    """Whether a file that only its path brought in has no kernel, and no sense for a compiler."""
    suffix = os.path.splitext(file.path)[1].lower()
    own = [problem for problem in file.problems if problem.path == file.path]
    return bool(own) and not file.kernels and bool(suffix) and not _OF_CODE.fullmatch(suffix)


def _may_have_kernels(context: RuleContext) -> bool:
    """Whether there are kernels, or were meant to be: an error may have cost the declaration of one."""
    if context.file.kernels:
        return True
    paths = {context.file.path, *(problem.path for problem in context.file.problems)}
    return any(_KERNEL.search(code_text(context.text_of(path)).code) for path in sorted(paths))


def _of_file(file: FileFacts) -> str:
    return f"gaps of {file.path}"


def _reasons(access: Access, status: Status) -> list[str]:
    """Why the access has no figures, once for all launches."""
    found = (r.reason or "no reason known" for r in access.results if r.status == status and not is_repeat(r))
    return list(dict.fromkeys(found))


def _about_accesses(unknown: Sequence[Access], dependent: Sequence[Access], total: int) -> Iterator[str]:
    if unknown:
        text = f"{len(unknown)} of {count(total, 'access', 'accesses')} could not be evaluated"
        if dependent:
            text += f" ({len(dependent)} more depend on loaded data)"
        yield f"{text}: {_enumerated(Counter(r for access in unknown for r in _reasons(access, 'unknown')))}"


def _have_findings(unknown: Sequence[Access], kernel: KernelFacts, file: FileFacts) -> bool:
    """Whether errors that have lines of their own are all that is in the way of some accesses: names that nothing
    declares."""
    own = _own_problems(kernel, file)
    results = [result for access in unknown for result in access.results if result.status == "unknown"]
    names = (gap.problem for gap in kernel.gaps if gap.problem is not None and gap.problem.kind == "guessed")
    return all(problem in own for problem in names) and all(r.reason_kind == "unresolved" for r in results)


def _about_the_barriers(kernel: KernelFacts) -> Iterator[str]:
    """Barriers of which it is not known whether all threads come, and not because loaded data decides."""
    results = [result for barrier in kernel.barriers or () for result in barrier.results]
    reasons = [r.reason or "no reason known" for r in results if r.verdict == "unknown" and not _is_by_data(r)]
    if reasons:
        number = count(len(reasons), "barrier", "barriers")
        yield f"whether all threads come to {number} is not known: {_enumerated(Counter(reasons))}"


def _is_by_data(result: BarrierResult) -> bool:
    return result.reason_kind == "data"


def _about_the_body(kernel: KernelFacts, file: FileFacts) -> Iterator[str]:
    """What was left out; errors that have a line of their own need no second one."""
    own = _own_problems(kernel, file)
    # Of many instances a sample is evaluated, of which the report's last line tells.
    gaps = [gap for gap in kernel.gaps if gap.problem not in own and gap.kind != "instantiations"]
    if gaps:
        # From what nothing declares, other errors follow.
        first = {gap.own_reason for gap in gaps if gap.problem is not None and gap.problem.kind == "guessed"}
        yield f"left out: {_enumerated(Counter(gap.own_reason for gap in gaps), first)}"


def _own_problems(kernel: KernelFacts, file: FileFacts) -> set[Problem]:
    """Those of a kernel's file that have lines of their own."""
    invalid = _invalid_lines(file)
    here = (problem for problem in file.problems if problem.path == kernel.place.path)
    return {problem for problem in here if problem.is_syntax or (problem.path, problem.line) in invalid}


@lru_cache(maxsize=1)
def _invalid_lines(file: FileFacts) -> set[tuple[str, int]]:
    """Those that are errors of their own (CL904)."""
    return {(problem.path, problem.line) for _, problem in invalid_lines(file)}


def _about_the_launch(kernel: KernelFacts, file: FileFacts) -> Iterator[str]:
    """A file of kernels that are launched from elsewhere is reported once, at the first of them."""
    if not any(is_assumed(launch) for launch in kernel.launches):
        return
    same = _with_assumed_launch(file)
    first = same[0].name_place if same else kernel.name_place
    if kernel.name_place != first:
        return
    others = len({k.name_place for k in same} - {first})
    of = f" of this and {count(others, 'more kernel', 'more kernels')}" if others else ""
    yield f"no launch in sight{of}: {_blocks([kernel, *same])} assumed"


@lru_cache(maxsize=1)
def _with_assumed_launch(file: FileFacts) -> Sequence[KernelFacts]:
    return [k for k in file.kernels if any(is_assumed(launch) for launch in k.launches)]


def _blocks(kernels: Sequence[KernelFacts]) -> str:
    """The blocks that are assumed of some kernels: `__launch_bounds__` say them of some."""
    sizes = {math.prod(launch.block) for k in kernels for launch in k.launches if is_assumed(launch)}
    if len(sizes) > 1:
        return f"blocks of {min(sizes)} to {max(sizes)} threads are"
    threads = " x ".join(str(n) for n in kernels[0].launches[0].block if n > 1) or "1"
    return f"a block of {threads} threads is"


def _enumerated(reasons: Counter[str], first: Collection[str] = ()) -> str:
    """The most frequent reasons, with the number of times of each, behind those that others follow from."""
    short: Counter[str] = Counter()
    for reason, number in reasons.items():
        short[_brief(reason)] += number
    leading = set(map(_brief, first))
    most = sorted(short.items(), key=lambda item: (item[0] not in leading, -item[1]))[:_MOST_REASONS]
    listed = [f"{reason} ({number} times)" if number > 1 else reason for reason, number in most]
    more = len(short) - len(most)
    if more:
        listed.append(f"{more} more {'reason' if more == 1 else 'reasons'}")
    return ", ".join(listed)


def _brief(reason: str) -> str:
    """A reason on one line, without the numbers that distinguish instances."""
    return re.sub(r"\s*\[\d+\]", "", " ".join(reason.split()))


def _way_out(kernel: KernelFacts) -> Suggestion | None:
    """What the user can say to close the gaps, as far as that is known."""
    ways = list(dict.fromkeys(gap.remedy for gap in kernel.gaps if gap.remedy))
    if any(is_assumed(launch) for launch in kernel.launches):
        ways.append("say `// cudalint: launch(block = ...)` above the kernel, or give --block")
    return Suggestion("; ".join(ways)) if ways else None
