"""Phrases that several reporters share: launches, dimensions, figures, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import LaunchFacts, Place, RecordedFacts
from cudalint.numerals import count, dimensions, enumeration, figure
from cudalint.regexes import regex
from cudalint.report.findings.requirements import says_what_is_needed
from cudalint.report.findings.results import CheckResult
from cudalint.report.formats import costs

_MOST_LAUNCHES = 3
_MOST_OTHERS = 2
_MOST_VARIANTS = 2
_MOST_LINES = 6
_MOST_FAR = 3
_MOST_KERNELS = 3
_MOST_FAULTS = 3
_MOST_ARRAYS = 3


def launch_phrase(launch: LaunchFacts) -> str:
    """`block 32x32, grid 8x8 (launch at tile.cu:40)`."""
    text = block_and_grid(launch)
    if launch.site is not None and launch.site.dynamic_shared_bytes is None:
        # What sizes that were made up come to is more than any block may have.
        text += ", an unknown number of bytes of dynamic shared memory"
    elif launch.dynamic_shared_bytes:
        text += f", {launch.dynamic_shared_bytes} bytes of dynamic shared memory"
    return f"{text} ({_origin(launch)})"


def block_and_grid(launch: LaunchFacts) -> str:
    """`block 32x32, grid 8x8`; a grid that was made up, say of sizes from the command line, is said to be assumed."""
    grid = "an assumed grid of" if launch.grid_is_assumed else "grid"
    return f"block {dimensions(launch.block)}, {grid} {dimensions(launch.grid)}"


def _origin(launch: LaunchFacts) -> str:
    place = f" at {launch.path}:{launch.line}" if launch.path else ""
    match launch.source:
        case "recorded":
            return recorded_phrase(launch.recorded) if launch.recorded is not None else "recorded"
        case "launch-site":
            called = launch.called_from
            is_elsewhere = called is not None and called.path != launch.path
            return f"launch{place}" + (f", called at {called.path}:{called.line}" if called and is_elsewhere else "")
        case "annotation":
            return f"annotation{place}"
        case "config":
            return f"configuration{place}"
        case "command-line":
            return "given for the run"
        case "launch-bounds":
            return "from __launch_bounds__"
        case "inferred":
            return "from the kernel's own extents"
        case "default" if launch.path:
            return f"the launch{place} leaves the block open"
        case "default":
            return "no launch in sight"


def recorded_phrase(recorded: RecordedFacts) -> str:
    """`the 3 launches of it that were recorded, 31% of the program's time`."""
    are = "was" if recorded.count == 1 else "were"
    made = f"the {count(recorded.count, 'launch', 'launches')} of it that {are} recorded"
    kinds = f", {recorded.different} different ones" if recorded.different > 1 else ""
    share = f", {costs.share(recorded.share)} of the program's time" if recorded.share is not None else ""
    which = "; the sizes are of the one that takes most" if recorded.different > 1 else ""
    return f"{made}{kinds}{share}{which}"


def launch_phrases(launches: Sequence[LaunchFacts]) -> list[str]:
    """The first launches in full, then how many more there are; those that differ by their arguments only are reported
    once."""
    phrases = list(dict.fromkeys(map(launch_phrase, launches)))
    more = len(phrases) - _MOST_LAUNCHES
    if more > 0:
        phrases[_MOST_LAUNCHES:] = [count(more, "more launch", "more launches")]
    return phrases


def variant_phrases(diagnostic: Diagnostic) -> list[str]:
    """Where else a finding is there, under other launches and template arguments, with what it says there unless its
    own message has the figures of all; then how many more such there are."""
    phrases = list(dict.fromkeys(_variant(variant, diagnostic) for variant in diagnostic.variants))
    more = len(phrases) - _MOST_VARIANTS
    if more > 0:
        phrases[_MOST_VARIANTS:] = [f"{count(more, 'more case')} of other launches or template arguments"]
    return phrases


def _variant(variant: Diagnostic, diagnostic: Diagnostic) -> str:
    """`tile<8>, block 32x32, grid 8x8 (launch at tile.cu:15): 8-way bank conflict on `t``."""
    where = [variant.instantiation] if variant.instantiation != diagnostic.instantiation else []
    launches = list(dict.fromkeys(map(launch_phrase, variant.launches)))
    more = len(launches) - 1
    where += [launches[0] + (f" and {count(more, 'more launch', 'more launches')}" if more else "")] if launches else []
    text = ", ".join(where)
    if not variant.worded and variant.message != diagnostic.message:
        return f"{text}: {variant.message}"
    assumptions = assumptions_of(variant.assumptions, variant.launches)
    own = assumptions != assumptions_of(diagnostic.assumptions, diagnostic.launches)
    return f"{text}, with {', '.join(assumptions)} assumed" if own and assumptions else text


def notes(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """What is to be said beside the message, each with its label: places and kernels that it is about too, launches,
    variants, assumptions."""
    yield from (("also", phrase) for phrase in _elsewhere(diagnostic))
    first, *others = launch_phrases(diagnostic.launches) or [""]
    if diagnostic.instantiation:
        yield "kernel", f"{diagnostic.instantiation}, for {first}" if first else diagnostic.instantiation
    yield from (("also for", phrase) for phrase in others)
    if diagnostic.separated_by:
        label = "unless" if says_what_is_needed(diagnostic) else "where"
        yield label, f"`{diagnostic.separated_by}`, which is so in some of the launches that were recorded"
    yield from (("also for", phrase) for phrase in variant_phrases(diagnostic))
    if diagnostic.not_in:
        named, more = diagnostic.not_in[:_MOST_OTHERS], len(diagnostic.not_in) - _MOST_OTHERS
        names = [*named, count(more, "other instantiation")] if more > 0 else [*named]
        yield "not in", enumeration(names)
    assumptions = assumptions_of(diagnostic.assumptions, diagnostic.launches)
    if assumptions:
        yield "assumed", ", ".join(assumptions)
    cost = costs.of(diagnostic)
    if cost is not None:
        yield "cost", costs.phrase(cost)


def _elsewhere(diagnostic: Diagnostic) -> Iterator[str]:
    """`the same at 3 more places, up to line 10`, `the same in second<1>, third and 4 more kernels`."""
    if diagnostic.is_headline:
        return
    of_its_own = _other_faults(diagnostic)
    yield from (f"{other.message} ({other.place.path}:{other.place.line})" for other in of_its_own[:_MOST_FAULTS])
    known = {diagnostic.place, *(other.place for other in of_its_own[:_MOST_FAULTS])}
    places = list(dict.fromkeys(other.place for other in diagnostic.also if other.place not in known))
    if places:
        yield f"the same at {count(len(places), 'more place')}{_of_arrays(diagnostic)}{_at(diagnostic.place, places)}"
    own = diagnostic.instantiation or diagnostic.kernel
    names = dict.fromkeys(other.instantiation or other.kernel for other in diagnostic.also)
    kernels = [name for name in names if name and name != own]
    if kernels:
        more = len(kernels) - _MOST_KERNELS
        named = ", ".join(kernels[:_MOST_KERNELS])
        yield f"the same in {named}" + (f" and {count(more, 'more kernel')}" if more > 0 else "")


def _other_faults(diagnostic: Diagnostic) -> list[Diagnostic]:
    """Of the errors that are reported with one, those that are about something else: each array by its worst."""
    if diagnostic.severity != "error":
        return []
    found: dict[str, Diagnostic] = {}
    for other in diagnostic.also:
        subject = _QUOTED.search(other.message)
        found.setdefault(subject[1] if subject else other.message, other)
    own = _QUOTED.search(diagnostic.message)
    found.pop(own[1] if own else diagnostic.message, None)
    return list(found.values())


_QUOTED = regex(r"`(\w+)")
"""The array or the kernel that a message is about."""


def more_places(diagnostic: Diagnostic) -> str:
    """How often else there is a finding, for formats that have one line for each."""
    others = {other.place for other in diagnostic.also} - {diagnostic.place}
    return f" (and at {count(len(others), 'more place')})" if others and not diagnostic.is_headline else ""


def _of_arrays(diagnostic: Diagnostic) -> str:
    names = dict.fromkeys(other.about for other in diagnostic.also)
    arrays = [f"`{name}`" for name in names if name and name != diagnostic.about]
    if not arrays:
        return ""
    more = len(arrays) - _MOST_ARRAYS
    return f", also of {', '.join(arrays[:_MOST_ARRAYS])}" + (f" and {count(more, 'more array')}" if more > 0 else "")


def _at(place: Place, others: Sequence[Place]) -> str:
    """Where the others are: lines of the same file, and of which others how many."""
    here = [other for other in others if other.path == place.path]
    if len(here) == len(others) and all(a.line <= b.line <= a.end_line + 1 for a, b in pairwise([place, *others])):
        last = others[-1].line
        return f", up to line {last}" if last != place.line else " on this line"
    phrases = []
    if here:
        lines = list(dict.fromkeys(str(other.line) for other in here))
        listed = ", ".join(lines[:_MOST_LINES]) + (", ..." if len(lines) > _MOST_LINES else "")
        phrases.append(f"at {'lines' if len(lines) > 1 else 'line'} {listed}")
    far = [f"{other.path}:{other.line}" for other in others if other.path != place.path]
    if far:
        more = len(far) - _MOST_FAR
        phrases.append(f"at {', '.join(far[:_MOST_FAR])}" + (f" and {more} more" if more > 0 else ""))
    return f", {enumeration(phrases)}"


def advice(suggestion: Suggestion) -> str:
    figures = comparison(suggestion.before, suggestion.after)
    return f"{suggestion.message} ({figures})" if figures else suggestion.message


def explanation(diagnostic: Diagnostic) -> Iterator[str]:
    """The notes and the advice as lines of plain text."""
    yield from (f"{label}: {text}" for label, text in notes(diagnostic))
    if diagnostic.suggestion:
        yield f"help: {advice(diagnostic.suggestion)}"


def assumptions_of(assumptions: Sequence[str], launches: Sequence[LaunchFacts]) -> tuple[str, ...]:
    """A finding's own assumptions and those of its launches, each once; of these none if there is one without."""
    own = dict.fromkeys(assumptions)
    for launch in launches if all(launch.assumptions for launch in launches) else ():
        own.update(dict.fromkeys(launch.assumptions))
    return tuple(own)


def comparison(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """`wavefronts 33 -> 2, sectors 8 -> 8` for the figures that both have."""
    return ", ".join(
        f"{name.replace('_', ' ')} {figure(before[name])} -> {figure(after[name])}" for name in before if name in after
    )


def last_line(result: CheckResult) -> str:
    """The summary, and where to read about what was found most."""
    found = Counter(diagnostic.code for diagnostic in result.diagnostics)
    if not found:
        return summary(result)
    ((code, _),) = found.most_common(1)
    return f"{summary(result)}; {'see' if len(found) == 1 else f'{code} most often,'} `cudalint explain {code}`"


def summary(result: CheckResult) -> str:
    """`Found 3 warnings in 12 kernels for a100 (45 of 47 accesses evaluated)`."""
    found = [
        count(amount, severity)
        for severity, amount in (
            ("error", result.count("error")),
            ("warning", result.count("warning")),
            ("info", result.count("info")),
        )
        if amount
    ]
    coverage = result.coverage
    unknown = coverage.unknown_kernels if coverage.is_of_accesses else 0
    is_blank = not found and 0 < unknown == len(coverage.kernels)
    nothing = "Nothing to report" if result.asides or result.closing or result.minor else "No findings"
    nothing = "Nothing could be evaluated" if is_blank else nothing
    text = f"Found {enumeration(found)}" if found else nothing
    if coverage.kernels or result.diagnostics or not result.not_linted:
        text += f" in {count(len(coverage.kernels), 'kernel')} for {result.target}"
    else:
        text = "No kernel in CUDA C++"
    if coverage.is_of_accesses and (coverage.kernels or not result.not_linted):
        text += f" ({coverage.evaluated} of {count(len(coverage.accesses), 'access', 'accesses')} evaluated)"
    if unknown and not is_blank:
        text += f"; nothing could be evaluated of {count(unknown, 'kernel')}"
    left_out = [count(coverage.launches_left_out, "launch", "launches")] if coverage.launches_left_out else []
    left_out += [f"instances of {count(len(coverage.sampled), 'template')}"] if coverage.sampled else []
    if left_out:
        text += f"; {enumeration(left_out)} left out (`cudalint facts`)"
    if result.not_linted:
        text += f"; not linted: {enumeration([count(number, language) for language, number in result.not_linted])}"
    text += "".join(_not_done(result))
    return "; ".join((text, *result.asides))


def _not_done(result: CheckResult) -> Iterator[str]:
    """How many files could not be linted, or not in full; each is counted once."""
    lost = {failure.path for failure in result.failures if failure.severity == "error"}
    if lost:
        yield f"; {count(len(lost), 'path')} could not be linted"
    partly = {failure.path for failure in result.failures} - lost
    if partly:
        yield f"; {count(len(partly), 'path')} could be linted in part only"
