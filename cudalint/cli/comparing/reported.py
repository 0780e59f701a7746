"""What is told of a comparison, whatever the format: kernels with their launches, those together that differ alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from cudalint.cli.comparing.figures import KINDS, SHOWN, change, differ
from cudalint.cli.comparing.gates import Gate, Verdict
from cudalint.cli.comparing.pairing import Compared, Comparison, Pair
from cudalint.cli.comparing.versions import Version
from cudalint.numerals import count, enumeration, figure
from cudalint.report.formats.wording import block_and_grid
from cudalint.shortfalls import named

UNKNOWN = "-"
_MOST_FILES = 10
"""In a line; a document of JSON has all."""

Status = Literal["both", "new", "gone", "unknown"]


class Report(Struct, frozen=True, eq=False):
    """All that there is to tell."""

    comparison: Comparison
    old: Version
    new: Version
    same: Sequence[str]
    """Files of which nobody evaluated the kernels, as nothing tells them apart."""
    gates: Sequence[Gate]
    verdicts: Sequence[Verdict]
    revision: str | None = None
    """The commit that the old version is."""

    @property
    def differs(self) -> bool:
        comparison = self.comparison
        is_different = any(each.differs for each in comparison.launches)
        return is_different or bool(comparison.appeared or comparison.vanished)

    def not_compared(self) -> str:
        """The files that could not be evaluated in one of the versions; empty where there are none."""
        files = [self.new.shown_key(key) for key in self.comparison.unknown]
        left = len(files) - _MOST_FILES
        shown = [*files[:_MOST_FILES], *([f"{left} more"] if left > 0 else [])]
        return f"{enumeration(shown)}, not evaluated in one of the versions" if files else ""

    @property
    def failed(self) -> list[Verdict]:
        return [each for each in self.verdicts if each.is_checked]

    def unchecked(self) -> dict[tuple[str, str], str]:
        """For each gate that can't be checked and each reason, that in words, of all kernels of which it is so."""
        found: dict[tuple[str, str], list[str]] = {}
        for each in self.verdicts:
            if not each.is_checked:
                found.setdefault((each.gate.text, each.reason), []).append(each.pair.either.facts.instantiation)
        return {key: key[1].replace("{}", named(list(dict.fromkeys(names))), 1) for key, names in found.items()}

    def passed(self) -> str:
        """That all gates passed; empty where that is not so."""
        if not self.gates or self.verdicts:
            return ""
        but = ", but for what was not compared" if self.comparison.unknown else ""
        return f"{count(len(self.gates), 'gate')} passed{but}"

    def cut(self) -> str:
        """The kernels that were not evaluated in full; empty where there are none."""
        names = dict.fromkeys(pair.either.facts.instantiation for pair in self.comparison.cut)
        return f"{named(list(names))}, whose evaluation the time limit cut short" if names else ""

    def where(self, pair: Pair) -> str:
        """The place of a kernel, or both where they differ."""
        places = [
            version.place_text(kernel.facts.place)
            for version, kernel in ((self.old, pair.old), (self.new, pair.new))
            if kernel is not None
        ]
        return " -> ".join(dict.fromkeys(places))


def and_more(verdict: Verdict) -> str:
    return f", and {count(verdict.more, 'more launch', 'more launches')}" if verdict.more else ""


class Row(NamedTuple):
    """A figure that differs, or one of a kernel that only one version has."""

    name: str
    old: float | None
    new: float | None
    is_one_sided: bool = False

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Its title, the old and the new value, and what becomes of one to get the other."""
        title = KINDS[self.name].title
        if self.is_one_sided:
            return title, "", shown(self.name, self.new), ""
        return title, shown(self.name, self.old), f"-> {shown(self.name, self.new)}", self.change

    @property
    def change(self) -> str:
        return "" if self.is_one_sided else change(self.name, self.old, self.new)


def shown(name: str, value: float | None) -> str:
    return UNKNOWN if value is None else KINDS[name].shown(value)


def rows_of(each: Compared) -> dict[str, Row]:
    """What differs; all that is known of a launch that only one version has."""
    return {row.name: row for row in _rows(each)}


def _rows(each: Compared) -> Iterator[Row]:
    if not each.is_known:
        return
    old, new = each.old or {}, each.new or {}
    for name in SHOWN:
        before, after = old.get(name), new.get(name)
        if each.old is None or each.new is None:
            if after:
                yield Row(name, None, after, is_one_sided=True)
        elif differ(before, after):
            yield Row(name, before, after)


def status_of(each: Compared) -> Status:
    if not each.is_known:
        return "unknown"
    if each.old_launch is None:
        return "new"
    return "gone" if each.new_launch is None else "both"


class Kernel(NamedTuple):
    """The launches of a kernel that differ, all in one way: they are in both versions, or in the same one."""

    pair: Pair
    status: Status
    launches: tuple[Compared, ...]
    same: int
    """How many others are the same."""

    def common_rows(self) -> dict[str, tuple[str, str, str, str]]:
        """What all of them tell alike: the same values, or values that changed alike."""
        of_launches = [rows_of(each) for each in self.launches]
        names = [name for name in SHOWN if all(name in rows for rows in of_launches)]
        found: dict[str, tuple[str, str, str, str]] = {}
        for name in names:
            rows = [each[name] for each in of_launches]
            if len({row.cells for row in rows}) == 1:
                found[name] = rows[0].cells
            elif rows[0].change and len({row.change for row in rows}) == 1:
                old, new = (_range(name, values) for values in zip(*((row.old, row.new) for row in rows), strict=True))
                found[name] = (KINDS[name].title, old, f"-> {new}", rows[0].change)
        return found

    def speed(self) -> str:
        """`0.9x`, `0.87x to 0.9x`: what becomes of the time; empty where it is not known or the same."""
        ratios = [
            row.new / row.old for each in self.launches if (row := rows_of(each).get("time")) and row.old and row.new
        ]
        texts = dict.fromkeys((f"{figure(min(ratios))}x", f"{figure(max(ratios))}x")) if ratios else {}
        return " to ".join(texts)


def _range(name: str, values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return " to ".join(dict.fromkeys((shown(name, min(known)), shown(name, max(known)))))


def launch_name(each: Compared) -> str:
    """`block 32, grid 8192`, with what it was before where that is not the same."""
    old, new = (block_and_grid(launch) if launch else "" for launch in (each.old_launch, each.new_launch))
    return (new or old) if not old or not new or old == new else f"{new} (before {old})"


def launch_names(launches: Sequence[Compared], all_: Sequence[Compared]) -> list[str]:
    """Some of a kernel's launches, those of one block and grid together: with their number, or, where others of the
    same block and grid are not among them, with the lines that make these."""
    own, among = Counter(map(launch_name, launches)), Counter(map(launch_name, all_))
    found: list[str] = []
    for text, number in own.items():
        lines = dict.fromkeys(str(_line(each)) for each in launches if launch_name(each) == text)
        if number < among[text]:
            text = f"{text} at {'line' if len(lines) == 1 else 'lines'} {enumeration(list(lines))}"
        found.append(text if number == 1 or number < among[text] else f"{text} ({number} launches)")
    return found


def _line(each: Compared) -> int | None:
    launch = each.new_launch or each.old_launch
    return launch.line if launch is not None else None


def kernels_of(comparison: Comparison) -> Iterator[Kernel]:
    """Those that differ, in the order of the comparison."""
    by_kernel: dict[int, list[Compared]] = {}
    for each in comparison.launches:
        by_kernel.setdefault(id(each.pair), []).append(each)
    for launches in by_kernel.values():
        by_status: dict[Status, list[Compared]] = {}
        for each in launches:
            if each.differs:
                by_status.setdefault(status_of(each), []).append(each)
        same = sum(not each.differs for each in launches)
        for status, own in by_status.items():
            yield Kernel(own[0].pair, status, tuple(own), same)
