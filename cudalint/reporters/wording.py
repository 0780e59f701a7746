"""Phrases that several reporters share: launches, dimensions, figures, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import LaunchFacts
from cudalint.numerals import count
from cudalint.results import CheckResult

_MOST_LAUNCHES = 3
_MOST_OTHERS = 2
_MOST_VARIANTS = 2


def dimensions(sizes: tuple[int, int, int]) -> str:
    """`32x8` for (32, 8, 1)."""
    x, y, z = sizes
    if z != 1:
        return f"{x}x{y}x{z}"
    return f"{x}x{y}" if y != 1 else str(x)


def launch_phrase(launch: LaunchFacts) -> str:
    """`block 32x32, grid 8x8 (launch at tile.cu:40)`; a grid that was made up, say of sizes from the command line, is
    said to be assumed."""
    grid = "an assumed grid of" if launch.grid_is_assumed else "grid"
    text = f"block {dimensions(launch.block)}, {grid} {dimensions(launch.grid)}"
    if launch.site is not None and launch.site.dynamic_shared_bytes is None:
        # What sizes that were made up come to is more than any block may have.
        text += ", an unknown number of bytes of dynamic shared memory"
    elif launch.dynamic_shared_bytes:
        text += f", {launch.dynamic_shared_bytes} bytes of dynamic shared memory"
    return f"{text} ({_origin(launch)})"


def _origin(launch: LaunchFacts) -> str:
    place = f" at {launch.path}:{launch.line}" if launch.path else ""
    match launch.source:
        case "launch-site":
            return f"launch{place}"
        case "annotation":
            return f"annotation{place}"
        case "config":
            return f"configuration{place}"
        case "command-line":
            return "from the command line"
        case "launch-bounds":
            return "from __launch_bounds__"
        case "inferred":
            return "from the kernel's own extents"
        case "default" if launch.path:
            return f"the launch{place} leaves the block open"
        case "default":
            return "no launch in sight"


def launch_phrases(launches: Sequence[LaunchFacts]) -> list[str]:
    """The first launches in full, then how many more there are; those that differ by their arguments only are told
    once."""
    phrases = list(dict.fromkeys(map(launch_phrase, launches)))
    more = len(phrases) - _MOST_LAUNCHES
    if more > 0:
        phrases[_MOST_LAUNCHES:] = [count(more, "more launch", "more launches")]
    return phrases


def variant_phrases(variants: Sequence[Diagnostic], message: str = "") -> list[str]:
    """The worst of the variants of a finding with that message, then how many more there are."""
    phrases = [f"{_what(variant, message)}, {_where(variant)}" for variant in variants[:_MOST_VARIANTS]]
    more = len(variants) - _MOST_VARIANTS
    if more > 0:
        phrases.append(f"{count(more, 'milder variant')} under other launches or template arguments")
    return phrases


def _what(variant: Diagnostic, message: str) -> str:
    """What a variant says, or what it takes for granted where it says the same."""
    assumptions = assumptions_of(variant.assumptions, variant.launches)
    return f"where {', '.join(assumptions)}" if variant.message == message and assumptions else variant.message


def _where(variant: Diagnostic) -> str:
    blocks = dict.fromkeys(dimensions(launch.block) for launch in variant.launches)
    return f"in {variant.instantiation}" + (f" with block {enumeration(list(blocks))}" if blocks else "")


def notes(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """What is to be said beside the message, each with its label: launches, variants, assumptions."""
    first, *others = launch_phrases(diagnostic.launches) or [""]
    if diagnostic.instantiation:
        yield "kernel", f"{diagnostic.instantiation}, for {first}" if first else diagnostic.instantiation
    yield from (("also for", phrase) for phrase in others)
    yield from (("also", phrase) for phrase in variant_phrases(diagnostic.variants, diagnostic.message))
    if diagnostic.not_in:
        named, more = diagnostic.not_in[:_MOST_OTHERS], len(diagnostic.not_in) - _MOST_OTHERS
        names = [*named, count(more, "other instantiation")] if more > 0 else [*named]
        yield "not in", enumeration(names)
    assumptions = assumptions_of(diagnostic.assumptions, diagnostic.launches)
    if assumptions:
        yield "assumed", ", ".join(assumptions)


def advice(suggestion: Suggestion) -> str:
    figures = comparison(suggestion.before, suggestion.after)
    return f"{suggestion.message} ({figures})" if figures else suggestion.message


def explanation(diagnostic: Diagnostic) -> Iterator[str]:
    """The notes and the advice as lines of plain text."""
    yield from (f"{label}: {text}" for label, text in notes(diagnostic))
    if diagnostic.suggestion:
        yield f"help: {advice(diagnostic.suggestion)}"


def assumptions_of(assumptions: Sequence[str], launches: Sequence[LaunchFacts]) -> tuple[str, ...]:
    """A finding's own assumptions and those of its launches, each once."""
    own = dict.fromkeys(assumptions)
    for launch in launches:
        own.update(dict.fromkeys(launch.assumptions))
    return tuple(own)


def number(value: float) -> str:
    """A figure as short as it is exact to two decimals: 32, 4.5, 0.33."""
    return f"{round(value, 2):g}" if abs(value) < 1e6 else f"{value:.0f}"


def comparison(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """`wavefronts 33 -> 2, sectors 8 -> 8` for the figures that both have."""
    return ", ".join(
        f"{name.replace('_', ' ')} {number(before[name])} -> {number(after[name])}" for name in before if name in after
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
    nothing = "Nothing to report" if result.asides else "No findings"
    text = f"Found {enumeration(found)}" if found else nothing
    text += f" in {count(len(coverage.kernels), 'kernel')} for {result.target}"
    if coverage.is_of_accesses:
        text += f" ({coverage.evaluated} of {count(len(coverage.accesses), 'access', 'accesses')} evaluated)"
    if coverage.is_of_accesses and coverage.unknown_kernels:
        text += f"; nothing could be evaluated of {count(coverage.unknown_kernels, 'kernel')}"
    if coverage.launches_left_out:
        more = count(coverage.launches_left_out, "more launch", "more launches")
        text += f"; {more} of other grids or arguments not (`cudalint facts` says where)"
    if result.failures:
        text += f"; {count(len(result.failures), 'path')} could not be linted"
    return "; ".join((text, *result.asides))


def enumeration(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
