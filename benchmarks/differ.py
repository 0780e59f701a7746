"""What two versions of cudalint say of the same files, row by row, and the CPU time that they take.

    python benchmarks/differ.py dump OUT.json.gz FILE... [--root FOLDER] [--jobs N] [--target GPU]
    python benchmarks/differ.py dump OUT.json.gz [FILE...] --like OLD.json.gz
    python benchmarks/differ.py compare OLD NEW [--kind accesses,races] [--notes N] [--file TEXT]

`dump` keeps the facts and findings of the cudalint that the interpreter has installed, from one analysis of each file;
no edits are tried. Paths are relative to `--root`, so that dumps of two machines can be compared. `--like` takes files
and options from another dump, or from a document of the same form, in which each of `files` has a `path` and may have
`options` (fields of `cudalint.Configuration`).

`compare` matches rows by place and reports those that are equal, those whose figures or status differ, and those of one
dump alone. What benchmarks/differences.toml explains is counted as known.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from dumping import Dump, FileDump, Job, JsonObject, dump, read
from msgspec import Struct, convert, field

_KNOWN = Path(__file__).with_name("differences.toml")
_SLOWEST = 10
"""Files that are listed with the CPU time that they take."""


# Rows


class Kind(NamedTuple):
    """Which fields of a record say which one it is, and which are compared."""

    key: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    figures: Mapping[str, float] = {}
    """With the part by which they may differ; what is no number has to be equal."""


_WITHIN = 0.02
_SITE = ("path", "line", "frames")
KINDS: Final[Mapping[str, Kind]] = {
    "launches": Kind(
        ("name",), ("source",), {"block": 0, "grid": 0, "dynamic_shared_bytes": 0}
    ),
    "accesses": Kind(
        (*_SITE, "operation", "space", "bytes"), ("status",),
        dict.fromkeys(("figure", "ideal", "low", "high", "requests", "active_lanes"), _WITHIN),
    ),
    "branches": Kind((*_SITE, "kind"), ("verdict",), {"divergent_warps": _WITHIN}),
    "barriers": Kind((*_SITE, "kind"), ("verdict",)),
    "races": Kind(("ends", "space", "array"), ("certainty", "benign")),
    "bounds": Kind((*_SITE, "operation", "array"), ("kind",)),
    "misalignments": Kind((*_SITE, "operation", "array", "bytes"), ("certainty",)),
    "costs": Kind((), ("status",), {"instructions": 0.05, "time_us": 0.25}),
    "occupancy": Kind((), (), {"blocks_per_sm": 0, "warps_per_sm": 0}),
    "gaps": Kind(_SITE),
    "uninitialised": Kind((*_SITE, "array")),
    "waits": Kind((*_SITE, "array"), ("whom",), {"blocks": 0, "resident": 0}),
    "spins": Kind((*_SITE, "array")),
    "signals": Kind((*_SITE, "flag", "array"), ("lacks",)),
    "publications": Kind((*_SITE, "flag", "array"), ("lacks",)),
    "early_reads": Kind((*_SITE, "array", "copied_at")),
    "cluster_races": Kind((*_SITE, "array", "kind")),
    "pitches": Kind((*_SITE, "array"), (), {"pitch": 0, "length": 0}),
    "collectives": Kind((*_SITE, "name"), (), {"threads": 0, "made_for": 0}),
    "constants": Kind((*_SITE, "array"), (), {"addresses": _WITHIN, "requests": _WITHIN}),
    "neighbours": Kind((*_SITE, "operation", "array"), (), {"count": 0, "executions": _WITHIN}),
    "reuse": Kind((*_SITE, "array"), (), dict.fromkeys(("threads", "elements", "iterations"), _WITHIN)),
    "arithmetic": Kind((*_SITE, "kind", "expression"), (), {"executions": _WITHIN, "saved": _WITHIN}),
    "products": Kind((*_SITE, "left", "right"), (), dict.fromkeys(("rows", "columns", "terms"), _WITHIN)),
    "axes": Kind(("path", "line", "axis", "of_block", "array"), (), {"extent": 0}),
    "unmasked_calls": Kind((*_SITE, "name")),
    "absent_lanes": Kind((*_SITE, "source")),
    "launch_faults": Kind(("path", "line", "kind", "axis", "of_block"), (), {"amount": 0}),
    "uncovered": Kind(("path", "line", "axis", "kind"), (), {"blocks": 0, "needed": 0}),
    "findings": Kind(("code", "path", "line"), ("shown",)),
}  # fmt: skip
_FIELDS: Final = {"bounds": "out_of_bounds"}
"""Kinds whose records have another name in the facts."""


class Row(NamedTuple):
    """One thing that a program says."""

    status: tuple[object, ...]
    figures: tuple[object, ...]

    def __str__(self) -> str:
        shown = [f"{each:.4g}" if isinstance(each, float) else str(each) for each in self.figures if each is not None]
        return " ".join([*(str(each) for each in self.status if each), *shown]) or "there"


Key = tuple[object, ...]
Rows = dict[str, dict[Key, list[Row]]]


def rows_of(file: FileDump, kinds: Iterable[str]) -> Rows:
    """All that is said of a file, by kind and place."""
    rows: Rows = {kind: defaultdict(list) for kind in kinds}
    for kind, found in rows.items():
        spec = KINDS[kind]
        for kernel, item in _items(file, kind):
            derived = item | _derived(kind, item)
            key = (kernel, *(_hashable(derived.get(name)) for name in spec.key))
            row = Row(
                tuple(derived.get(name) for name in spec.status), tuple(derived.get(name) for name in spec.figures)
            )
            found[key].append(row)
    return rows


def _items(file: FileDump, kind: str) -> Iterator[tuple[str, JsonObject]]:
    """The records of a kind, those with several results once for each; before each its kernel and launch."""
    if kind == "findings":
        yield from (("", item) for item in file.findings)
        return
    for kernel in file.kernels:
        launches = kernel["launches"]
        labels = [f"#{index} {'x'.join(map(str, launch['block']))}" for index, launch in enumerate(launches)]
        for number, item in enumerate(kernel.get(_FIELDS.get(kind, kind)) or ()):
            each: Iterable[JsonObject] = item.get("results", ({},))
            for result in each:
                merged = item | result
                launch = number if kind == "launches" else merged.get("launch")
                label = f"#{launch}" if kind == "launches" else "" if launch is None else labels[launch]
                yield f"{kernel['instantiation']} {label}".rstrip(), merged


def _derived(kind: str, item: JsonObject) -> JsonObject:
    """What is compared of a record and is no field of it."""
    found: JsonObject = {"frames": [frame["line"] for frame in item.get("inlined_from") or ()]}
    if kind == "accesses":
        unit = "wavefronts" if item["space"] == "shared" else "sectors"
        found["figure"], found["ideal"] = item[f"{unit}_per_request"], item[f"ideal_{unit}"]
        if found["figure"] is None and item[f"{unit}_range"] is not None:
            found["low"], found["high"] = item[f"{unit}_range"]
    elif kind == "races":
        ends = (item["first"], item["second"])
        found["ends"] = sorted([end["path"], end["line"], end["operation"]] for end in ends)
    elif kind == "misalignments":
        found["certainty"] = "certain" if item["condition"] is None else "conditional"
    elif kind == "findings":
        found["shown"] = f"held back ({item['held_back']})" if item["held_back"] else "shown"
    return found


def _hashable(value: object) -> object:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


# Comparison


class Known(Struct, frozen=True, forbid_unknown_fields=True):
    """A difference that is known, and on which evidence the new program is right."""

    what: str
    evidence: str
    file: str = "*"
    kernel: str = "*"
    kind: str = "*"
    line: int | None = None

    def explains(self, place: Place) -> bool:
        return (
            fnmatchcase(place.file, self.file)
            and fnmatchcase(place.kernel, self.kernel)
            and fnmatchcase(place.kind, self.kind)
            and self.line in (None, place.line)
        )


class _Table(Struct, forbid_unknown_fields=True):
    difference: list[Known] = field(default_factory=list)


def known_differences(path: Path = _KNOWN) -> list[Known]:
    """The table of known differences."""
    return convert(tomllib.loads(path.read_text(encoding="utf-8")), _Table).difference


class Place(NamedTuple):
    """What a row is about."""

    file: str
    kind: str
    kernel: str
    """Its instantiation, launch and block."""
    line: int | None
    key: Key

    def __str__(self) -> str:
        path, _, _ = self.file.partition(" ")
        told = (str(each) for each in self.key[1:] if each not in ((), None, path))
        return " ".join([self.file, self.kernel, *told])


OUTCOMES: Final = ("equal", "differs", "status differs", "only old", "only new", "known")


class Comparison(Struct):
    """What comes of two dumps."""

    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By kind."""
    notes: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    """By kind and outcome."""
    explained: Counter[Known] = field(default_factory=Counter)


def compare(old: Dump, new: Dump, kinds: Sequence[str], text: str = "", known: Sequence[Known] = ()) -> Comparison:
    """Row by row, the files that both dumps have."""
    result = Comparison()
    others = {file.name: file for file in new.files}
    for file in old.files:
        if text in file.name and file.name in others:
            mine, theirs = rows_of(file, kinds), rows_of(others[file.name], kinds)
            for kind in kinds:
                for key in dict.fromkeys((*mine[kind], *theirs[kind])):
                    place = _place(file.name, kind, key)
                    for before, after in _pairs(mine[kind].get(key, []), theirs[kind].get(key, []), kind):
                        _note(result, place, before, after, known)
    return result


def _place(file: str, kind: str, key: Key) -> Place:
    named = dict(zip(KINDS[kind].key, key[1:], strict=True))
    line = named.get("line")
    return Place(file, kind, str(key[0]), line if isinstance(line, int) else None, key)


def _pairs(old: Sequence[Row], new: Sequence[Row], kind: str) -> Iterator[tuple[Row | None, Row | None]]:
    """Rows of one place: those that are equal together, then those with the same status, then the others in turn."""
    left, others = list(old), list(new)
    for is_match in (
        lambda a, b: outcome(a, b, kind) == "equal",
        lambda a, b: outcome(a, b, kind) == "status differs",
        lambda a, b: a.status == b.status,
        lambda a, b: True,
    ):
        for row in list(left):
            match = next((each for each in others if is_match(row, each)), None)
            if match is not None:
                left.remove(row)
                others.remove(match)
                yield row, match
    yield from ((row, None) for row in left)
    yield from ((None, row) for row in others)


def outcome(old: Row | None, new: Row | None, kind: str) -> str:
    """How two rows of one place compare. Where a figure is not known to one of them, the status says so."""
    if old is None or new is None:
        return "only new" if old is None else "only old"
    pairs = zip(old.figures, new.figures, KINDS[kind].figures.values(), strict=True)
    off = [(before, after) for before, after, within in pairs if not _is_close(before, after, within)]
    if old.status != new.status and all(None in pair for pair in off):
        return "status differs"
    return "differs" if off else "equal"


def _is_close(old: object, new: object, within: float) -> bool:
    if isinstance(old, int | float) and isinstance(new, int | float):
        return abs(old - new) <= within * max(abs(old), abs(new))
    return old == new


def _note(result: Comparison, place: Place, old: Row | None, new: Row | None, known: Sequence[Known]) -> None:
    kind, what = place.kind, outcome(old, new, place.kind)
    if kind == "findings":
        is_shown = any(row is not None and row.status == ("shown",) for row in (old, new))
        kind = "findings" if is_shown else "held back"
    reason = None if what == "equal" else next((each for each in known if each.explains(place)), None)
    if reason is not None:
        what = "known"
        result.explained[reason] += 1
    result.outcomes[kind][what] += 1
    if what != "equal":
        result.notes[kind, what].append(f"{place}: {old or '-'} -> {new or '-'}")


# Output


def _lines(result: Comparison, notes: int) -> Iterator[str]:
    yield f"{'':15}" + "".join(f"{name:>15}" for name in OUTCOMES)
    total = Counter[str]()
    for kind, counts in result.outcomes.items():
        total.update(counts)
        yield f"{kind:15}" + "".join(f"{counts[name]:15}" for name in OUTCOMES)
    rows = sum(total.values())
    yield f"{'all':15}" + "".join(f"{total[name]:15}" for name in OUTCOMES)
    yield f"{rows} rows" + "".join(f", {total[name] / rows:.2%} {name}" for name in OUTCOMES if total[name])
    for (kind, what), lines in result.notes.items():
        if notes and what != "known":
            yield f"{kind}, {what}: {len(lines)}"
            yield from (f"  {line}" for line in lines[:notes])
    if result.explained:
        yield "Known differences:"
        for known, number in result.explained.items():
            yield f"{number:8} {known.kind} of {known.file}: {known.what} ({known.evidence})"


def _lines_of_files(old: Dump, new: Dump, text: str) -> Iterator[str]:
    """Which files are in one dump alone or were given up, and the CPU time of the others."""
    before, after = ({f.name: f for f in each.files if text in f.name} for each in (old, new))
    both = [path for path in before if path in after]
    yield f"old: {old.program}, {old.machine}"
    yield f"new: {new.program}, {new.machine}"
    yield f"{len(both)} files; {len(before) - len(both)} only old, {len(after) - len(both)} only new"
    for name, files in (("old", before), ("new", after)):
        failed = [path for path in both if files[path].status == "failed"]
        cut = [path for path in both if files[path].failures and files[path].status != "failed"]
        yield f"{name}: no facts of {len(failed)}, something left out of {len(cut)}: " + ", ".join((failed + cut)[:8])
    for path in both:
        if before[path].options != after[path].options:
            yield f"{path} has other limits: {before[path].options}, {after[path].options}"
    pairs = sorted(((before[path], after[path]) for path in both), key=lambda pair: pair[0].seconds - pair[1].seconds)
    for name in ("seconds", "seconds_of_rules"):
        spent = [sum(getattr(pair[side], name) for pair in pairs) for side in (0, 1)]
        ratio = f", {spent[1] / spent[0]:.2f} times" if spent[0] else ""
        yield f"{name.replace('_', ' ')}: {spent[0]:.1f} old, {spent[1]:.1f} new{ratio}"
    for mine, theirs in pairs[:_SLOWEST]:
        if theirs.seconds > mine.seconds:
            yield f"  {mine.seconds:8.2f} {theirs.seconds:8.2f}  {mine.name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("dump")
    making.add_argument("out", type=Path)
    making.add_argument("files", nargs="*")
    making.add_argument("--like", type=Path)
    making.add_argument("--root", type=Path, default=Path())
    making.add_argument("--jobs", type=int, default=os.cpu_count())
    making.add_argument("--time-limit", type=float)
    making.add_argument("--memory-limit", type=int)
    making.add_argument("--target")
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--kind", default=",".join(KINDS))
    comparing.add_argument("--notes", type=int, default=0)
    comparing.add_argument("--file", default="")
    given = parser.parse_args()
    if given.command == "dump":
        told = {name: getattr(given, name) for name in ("time_limit", "memory_limit", "target")}
        options = {name: value for name, value in told.items() if value is not None}
        entries = [FileDump(path) for path in given.files]
        if given.like is not None:
            entries = [f for f in read(given.like).files if not given.files or f.path in given.files]
        out = given.out.absolute()
        os.chdir(given.root)
        dump(out, [Job(entry.path, entry.options | options) for entry in entries], given.jobs or 1)
        return
    old, new = read(given.old), read(given.new)
    result = compare(old, new, given.kind.split(","), given.file, known_differences())
    for line in (*_lines_of_files(old, new, given.file), *_lines(result, given.notes)):
        print(line)


if __name__ == "__main__":
    main()
