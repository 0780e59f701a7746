"""How much of a file was evaluated, in one line, with what would bring most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cudalint.facts import Access, FileFacts, KernelFacts, LaunchFacts
from cudalint.numerals import count
from cudalint.report.findings.missing_includes import headers_not_found, may_miss_headers
from cudalint.report.findings.results import is_seen_into
from cudalint.rulekit import is_repeat

_LONGEST = 120
"""Characters of a reason."""
_TIME = "a longer --time-limit"
_STATED = "`// cudalint: launch(block = ...)` above the kernel, or --block"


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
            if result.status == "unknown" and not is_repeat(result):
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
    text = " ".join(reason.split())
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4].rstrip()} ..."
    return GapLine(f"most in the way: {short} ({count(number, 'kernel')})", False)


def _not_found(file: FileFacts) -> list[str]:
    """What is said of headers, if any were not found."""
    names = headers_not_found(file)
    if len(names) > 1:
        return [f"`{names[0]}` and {count(len(names) - 1, 'more header')} were not found"]
    return [f"`{name}` was not found" for name in names]
