"""Makes each suggested edit in a copy of its checkout, lints the result again, and compiles both.

usage: python benchmarks/edits.py CHECKOUTS... [--under PATH...] [--nvcc nvcc] [--jobs N] [--time-limit SECONDS]
                                  [--details FILE]

All edits of all suggestions of `cudalint check` are made, one set of them at a time. Then the edited file, or whatever
`.cu` file includes it, is linted again, in a process of its own and with all of its program around it: the findings
that suggested the edit have to be gone or milder, nothing as severe may be new, and by `cudalint facts` no access of
any launch and instantiation may cost more. What has compiled before has to compile then (`nvcc -c`, for one
architecture and without optimisations; folders of headers are found as cudalint finds them). Needs nvcc and no GPU;
without nvcc (`--nvcc ""`) nothing is compiled. The exit status is 1 where an edit failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec
from msgspec import Struct, field

from cudalint.frontend.recovery import build_defines, folder_with

_ARCHITECTURES = ("sm_80", "sm_90a", "sm_100a")
"""The first one that a file compiles for is taken."""
_QUICK = ("-std=c++17", "-O0", "-Xcicc", "-O0", "-Xptxas", "-O0", "-w")
_ROUNDS = 8
"""So many folders of headers are looked for."""
_SECONDS = 600
_SOURCES = (".cu", ".cuh", ".h", ".hpp", ".hxx", ".inl", ".inc")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_NOT_FOUND = re.compile(r"fatal error: ([^:\n]+): No such file|could not open source file \"([^\"]+)\"")
_SEVERITIES = ("error", "warning", "info")
_SAME = 1e-3
_IDEALS = {"sectors_per_request": "ideal_sectors", "wavefronts_per_request": "ideal_wavefronts"}
_FIGURES = tuple(_IDEALS)
_REPEATS = ("it repeats the load", "it is one load")

Document = Mapping[str, Any]


class Edit(Struct, frozen=True):
    """One text replaced, as the JSON report has it."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


Edits = tuple[Edit, ...]


class Change(Struct, frozen=True):
    """Edits that belong together, and what of the checkout has to be linted again."""

    edits: Edits
    files: tuple[str, ...]
    place: str
    """Where the finding is that suggests them."""
    message: str


class Outcome(Struct, frozen=True):
    """What became of a change."""

    change: Change
    faults: tuple[str, ...]
    """What linting or compiling the result had to say against it."""
    compiled: bool
    """Whether the original compiles, and so was compiled again."""
    milder: tuple[str, ...] = ()
    """What is new, but milder than what is gone."""


class Linted(Struct, frozen=True):
    """What cudalint says of some files."""

    check: Document
    facts: Document


# --- edits made in texts -------------------------------------------------------------------------------------


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """A text with edits made; columns count bytes."""
    starts = [0]
    for text in data.split(b"\n"):
        starts.append(starts[-1] + len(text) + 1)
    for edit in sorted(edits, key=lambda e: (e.line, e.column), reverse=True):
        begin = starts[edit.line - 1] + edit.column - 1
        end = starts[edit.end_line - 1] + edit.end_column - 1
        if not begin <= end <= len(data):
            raise ValueError(f"line {edit.line} is not in the text")
        data = data[:begin] + edit.text.encode() + data[end:]
    return data


def moved_line(edits: Iterable[Edit], path: str, line: int, column: int = sys.maxsize) -> int:
    """Where a place of the text before stands in the text after."""
    before = [e for e in edits if e.path == path and (e.end_line, e.end_column) <= (line, column)]
    return line + sum(e.text.count("\n") - (e.end_line - e.line) for e in before)


# --- what is worse than before -------------------------------------------------------------------------------


def faults_of(change: Change, before: Linted, after: Linted) -> tuple[list[str], list[str]]:
    """What is worse than before, or not as promised; and what is new but milder."""
    faults = [f"linting fails: {failure['message']}" for failure in _new_failures(before.check, after.check)]
    faults += _uncured(change, before.check, after.check)
    new, milder = _new_findings(change, before, after.check)
    return [*faults, *new, *_worse_accesses(change.edits, before.facts, after.facts)], milder


def _new_failures(before: Document, after: Document) -> list[Document]:
    known = {failure["message"] for failure in before["failures"]}
    return [failure for failure in after["failures"] if failure["message"] not in known]


def suggested(finding: Document) -> Edits:
    """The edits that a finding suggests."""
    suggestion = finding["suggestion"] or {}
    return tuple(msgspec.convert(edit, Edit) for edit in suggestion.get("edits", ()))


def _uncured(change: Change, before: Document, after: Document) -> Iterator[str]:
    left = defaultdict(list)
    for finding in after["diagnostics"]:
        for variant in _variants(finding):
            left[_key(finding, finding["line"])].append(variant)
    for finding in before["diagnostics"]:
        if suggested(finding) != change.edits:
            continue
        line = moved_line(change.edits, finding["path"], finding["line"], finding["column"])
        for old in _variants(finding):
            for new in left[_key(finding, line)]:
                if _alike(old, new) and not _is_milder(new["figures"], old["figures"]):
                    yield f"is still there: {new['message']}"


def _variants(finding: Document) -> list[Document]:
    return [finding, *finding["variants"]]


def _key(finding: Document, line: int) -> tuple[object, ...]:
    return finding["code"], finding["kernel"], finding["path"], line


def _alike(old: Document, new: Document) -> bool:
    """Whether they are about the same instantiation and launch."""
    launches = [{(tuple(each["block"]), tuple(each["grid"])) for each in one["launches"]} for one in (old, new)]
    same = not all(launches) or bool(launches[0] & launches[1])
    return same and old["instantiation"] == new["instantiation"]


def _is_milder(new: Mapping[str, float], old: Mapping[str, float]) -> bool:
    pairs = [(new[name], old[name]) for name in old if name in new]
    return any(a < b * (1 - _SAME) for a, b in pairs) and all(a <= b * (1 + _SAME) for a, b in pairs)


def _new_findings(change: Change, before: Linted, after: Document) -> tuple[list[str], list[str]]:
    old: Counter[tuple[object, ...]] = Counter()
    costs = _costs(before.facts, partial(moved_line, change.edits))
    cured = len(_SEVERITIES) - 1
    for finding in before.check["diagnostics"]:
        line = moved_line(change.edits, finding["path"], finding["line"], finding["column"])
        old[_key(finding, line)] += 1
        if suggested(finding) == change.edits:
            cured = min(cured, _SEVERITIES.index(finding["severity"]))
    new: list[str] = []
    milder: list[str] = []
    for finding in after["diagnostics"]:
        key = _key(finding, finding["line"])
        if old[key]:
            old[key] -= 1
            continue
        words = f"is new: {finding['code']} at {finding['path']}:{finding['line']}: {finding['message']}"
        is_worse = _SEVERITIES.index(finding["severity"]) <= cured and not _cost_as_much(finding, costs)
        (new if is_worse else milder).append(words)
    return new, milder


def _cost_as_much(finding: Document, costs: Mapping[tuple[Any, ...], Cost]) -> bool:
    """Whether its line cost as much before, and only was little beside what is gone."""
    figures = {name: figure for name, figure in finding["figures"].items() if name in _FIGURES}
    lines = [cost.figures for key, cost in costs.items() if (key[2], key[3]) == (finding["path"], finding["line"])]
    return bool(figures) and any(
        all((line.get(name) or 0.0) >= figure * (1 - _SAME) for name, figure in figures.items()) for line in lines
    )


def _worse_accesses(edits: Edits, before: Document, after: Document) -> Iterator[str]:
    old = _costs(before, partial(moved_line, edits))
    new = _costs(after, lambda path, line, column=0: line)
    lower = {name for name in _FIGURES if _together(new, name) < _together(old, name)}
    for key, cost in old.items():
        if key not in new:
            yield f"is no longer there: {_spelled(key)}"
        elif not cost.is_repeat:
            for name, figure in cost.figures.items():
                now = new[key].figures.get(name, 0.0)
                if figure is None or (now is not None and now <= figure * (1 + _SAME)):
                    continue
                # One value for all lanes may become a row of them, if that pays.
                if now is None or name not in lower or now > new[key].ideals[name] * (1 + _SAME):
                    yield f"costs more: {_spelled(key)}, {figure} {name} before, {now} then"


def _together(costs: Mapping[tuple[Any, ...], Cost], name: str) -> float:
    """What all accesses cost whose figure is known."""
    return sum(figure for cost in costs.values() if (figure := cost.figures.get(name)) is not None)


class Cost(Struct):
    """What the accesses of one kind on a line cost, under one launch: the most that any of them does."""

    figures: dict[str, float | None] = field(default_factory=dict)
    """None where one of them is not known."""
    ideals: dict[str, float] = field(default_factory=dict)
    """The least that the bytes of any of them need, by the names of the figures."""
    is_repeat: bool = False
    """The compiler takes one of them for the repetition of another. It may become one of its own."""

    def note(self, result: Document) -> None:
        if (result["reason"] or "").startswith(_REPEATS):
            self.is_repeat = True
        elif result["status"] != "unreached":
            for name in _FIGURES:
                figure = result[name] if result["status"] in ("exact", "assumed") else None
                known = self.figures.get(name, 0.0)
                self.figures[name] = None if figure is None or known is None else max(known, figure)
                ideal = result[_IDEALS[name]]
                self.ideals[name] = min(self.ideals.get(name, math.inf), 0.0 if ideal is None else ideal)


def _costs(facts: Document, moved: Callable[..., int]) -> dict[tuple[Any, ...], Cost]:
    """By instantiation, launch, line, calls, operation and array. What is launched in one of the files is not judged by
    the launch that is made up for another, which holds its text alone."""
    found: dict[tuple[Any, ...], Cost] = defaultdict(Cost)
    kernels = [kernel for file in facts["files"] for kernel in file["kernels"]]
    launched = {_definition(kernel) for kernel in kernels if not all(map(_is_made_up, kernel["launches"]))}
    for kernel in kernels:
        for access in kernel["accesses"]:
            # The call that an access belongs to stands somewhere on its line.
            column = access["column"] if access["column"] > 1 else sys.maxsize
            line = moved(access["path"], access["line"], column)
            calls = tuple(moved(frame["path"], frame["line"]) for frame in access["inlined_from"])
            for result in access["results"]:
                launch = kernel["launches"][result["launch"]]
                if _is_made_up(launch) and _definition(kernel) in launched:
                    continue
                sizes = *launch["block"], *launch["grid"], *launch["parameters"].items()
                where = access["path"], line, calls
                found[kernel["instantiation"], sizes, *where, access["operation"], access["array"]].note(result)
    return found


def _is_made_up(launch: Document) -> bool:
    return launch["source"] in ("launch-bounds", "inferred", "default")


def _definition(kernel: Document) -> tuple[object, ...]:
    return kernel["path"], kernel["line"], kernel["name"]


def _spelled(key: tuple[Any, ...]) -> str:
    instantiation, launch, path, line, _, operation, array = key
    return f"{operation} of `{array}` at {path}:{line} in {instantiation}, launched with {launch}"


# --- checkouts -----------------------------------------------------------------------------------------------


class Checkout:
    """A checkout's files copied, so that edits can be made there with everything around them."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = scratch / root.name
        skipped = shutil.ignore_patterns(".git")
        shutil.copytree(root, self.root, symlinks=True, ignore=skipped, copy_function=_linked)
        # What lies around a project is none of its folders.
        (self.root / ".git").mkdir()

    @contextlib.contextmanager
    def with_edits(self, edits: Edits) -> Iterator[None]:
        originals: dict[Path, bytes] = {}
        try:
            for path in {edit.path for edit in edits}:
                file = self.root / path
                originals[file] = file.read_bytes()
                _rewrite(file, edited(originals[file], [edit for edit in edits if edit.path == path]))
            yield
        finally:
            for file, data in originals.items():
                _rewrite(file, data)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _rewrite(file: Path, data: bytes) -> None:
    """Never through a link to the original."""
    file.unlink()
    file.write_bytes(data)


class Includers:
    """Which source files of a checkout include which others, directly or not."""

    def __init__(self, root: Path) -> None:
        self._direct: dict[str, set[str]] = defaultdict(set)
        files = [path for path in root.rglob("*") if path.suffix in _SOURCES and path.is_file()]
        by_name: dict[str, list[Path]] = defaultdict(list)
        for path in files:
            by_name[path.name].append(path)
        for path in files:
            for match in _INCLUDE.finditer(path.read_bytes()):
                name = os.fsdecode(match[1])
                beside = Path(os.path.normpath(path.parent / name))
                ending = "/" + name.lstrip("./")
                others = [p for p in by_name[os.path.basename(name)] if str(p).endswith(ending)]
                for included in [beside] if beside.is_file() else others:
                    self._direct[str(included.relative_to(root))].add(str(path.relative_to(root)))

    def sources(self, path: str) -> list[str]:
        """The `.cu` files that the text of a file is in."""
        seen, queue = {path}, [path]
        while queue:
            for other in self._direct[queue.pop()] - seen:
                seen.add(other)
                queue.append(other)
        return sorted(name for name in seen if name.endswith(".cu")) or [path]


# --- cudalint and nvcc ---------------------------------------------------------------------------------------


class Tools(Struct, frozen=True):
    nvcc: str
    time_limit: float

    def check(self, root: Path, paths: Sequence[str], jobs: int = 1) -> Document:
        options = ("--jobs", str(jobs), "--time-limit", str(self.time_limit), "--fail-on", "error", "--quiet")
        return _json(root, "check", *options, *paths)

    def linted(self, root: Path, paths: Sequence[str]) -> Linted:
        limit = ("--jobs", "1", "--time-limit", str(self.time_limit))
        return Linted(self.check(root, paths), _json(root, "facts", *limit, *paths))

    def build(self, root: Path, path: str) -> tuple[str, ...] | None:
        """The command that compiles a file, None where none does."""
        folders: list[str] = []
        for architecture in _ARCHITECTURES if self.nvcc else ():
            for _ in range(_ROUNDS):
                command = self._command(root, path, folders, architecture)
                error = compiled(root, command)
                if error is None:
                    return command
                missing = next(filter(None, _NOT_FOUND.findall(error)), None)
                folder = folder_with(str(root / path), missing[0] or missing[1]) if missing else None
                if folder is None and missing is not None:
                    return None
                if folder is None or folder in folders:
                    break
                folders.append(folder)
        return None

    def _command(self, root: Path, path: str, folders: Sequence[str], architecture: str) -> tuple[str, ...]:
        defines = [f"-D{define}" for define in build_defines(str(root / path))]
        where = [f"-I{os.path.relpath(folder, root)}" for folder in folders]
        return self.nvcc, "-c", *_QUICK, f"-arch={architecture}", *defines, *where, path, "-o", os.devnull


def compiled(root: Path, command: Sequence[str]) -> str | None:
    """None where a command succeeds, or what it has to say."""
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {_SECONDS} s"
    return (done.stderr or done.stdout or "no message") if done.returncode else None


def _json(root: Path, *arguments: str) -> Document:
    command = [sys.executable, "-m", "cudalint", arguments[0], "--format", "json", "--no-config", *arguments[1:]]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    try:
        document: Document = json.loads(done.stdout, object_hook=_normal)
    except json.JSONDecodeError:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}") from None
    return document


def _normal(record: dict[str, Any]) -> dict[str, Any]:
    """A file has one path, whether it was named, found in a folder or included."""
    path = record.get("path")
    return record | {"path": os.path.normpath(path)} if isinstance(path, str) and path else record


# --- all of it -----------------------------------------------------------------------------------------------


class Originals(Struct):
    """What is known of files as they are, each looked at once."""

    linted: dict[tuple[str, ...], Linted] = field(default_factory=dict)
    builds: dict[str, tuple[str, ...] | None] = field(default_factory=dict)


def outcome(change: Change, checkout: Checkout, tools: Tools, originals: Originals) -> Outcome:
    if change.files not in originals.linted:
        originals.linted[change.files] = tools.linted(checkout.root, change.files)
    for path in change.files:
        if path.endswith(".cu") and path not in originals.builds:
            originals.builds[path] = tools.build(checkout.root, path)
    commands = [command for path in change.files if (command := originals.builds.get(path))]
    try:
        with checkout.with_edits(change.edits):
            after = tools.linted(checkout.root, change.files)
            errors = [error for command in commands if (error := compiled(checkout.root, command)) is not None]
    except ValueError as error:
        return Outcome(change, (f"can't be made: {error}",), compiled=False)
    faults, milder = faults_of(change, originals.linted[change.files], after)
    faults += [f"does not compile: {error.strip()[:300]}" for error in errors]
    return Outcome(change, tuple(dict.fromkeys(faults)), bool(commands), tuple(milder))


def changes_of(check: Document, includers: Includers) -> list[Change]:
    found: dict[Edits, Change] = {}
    for finding in check["diagnostics"]:
        edits = suggested(finding)
        if edits and edits not in found:
            files = dict.fromkeys(name for edit in edits for name in includers.sources(edit.path))
            place = f"{finding['path']}:{finding['line']}: {finding['code']}"
            found[edits] = Change(edits, tuple(files), place, finding["suggestion"]["message"])
    return list(found.values())


def tried(root: Path, under: Sequence[str], tools: Tools, jobs: int, scratch: Path) -> Iterator[Outcome]:
    """Finds and tries the edits of a checkout, or of the files that lie under some of its paths."""
    copies: SimpleQueue[tuple[Checkout, Originals]] = SimpleQueue()
    first = Checkout(root, scratch / "0")
    check = tools.check(first.root, under, jobs)
    changes = changes_of(check, Includers(first.root))
    print(f"{root}: {len(check['diagnostics'])} findings, {len(changes)} edits", flush=True)
    originals = Originals()
    for copy in [first, *(Checkout(root, scratch / str(n)) for n in range(1, min(jobs, len(changes))))]:
        copies.put((copy, originals))

    def one(change: Change) -> Outcome:
        copy, known = copies.get()
        try:
            return outcome(change, copy, tools, known)
        finally:
            copies.put((copy, known))

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, changes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="+", type=Path, metavar="CHECKOUTS")
    parser.add_argument(
        "--under", nargs="+", default=["."], metavar="PATH", help="only these files and folders of each"
    )
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--details", type=Path)
    arguments = parser.parse_args()
    tools = Tools(arguments.nvcc, arguments.time_limit)
    outcomes: list[Outcome] = []
    for root in arguments.roots:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            own = []
            for result in tried(root.resolve(), arguments.under, tools, arguments.jobs, Path(scratch)):
                own.append(result)
                verdict = ", compiled" if result.compiled else ", not compiled"
                print(f"{root}/{result.change.place} ({result.change.message}){verdict}", flush=True)
                for fault in (*result.faults, *(f"milder: {words}" for words in result.milder)):
                    print(f"    {fault}", flush=True)
        print(f"{root}: {summary(own)}, {time.monotonic() - start:.0f} s", flush=True)
        outcomes += own
    if arguments.details:
        arguments.details.write_bytes(msgspec.json.format(msgspec.json.encode(outcomes)))
    print(summary(outcomes))
    sys.exit(any(result.faults for result in outcomes))


def summary(outcomes: Sequence[Outcome]) -> str:
    well = sum(not result.faults for result in outcomes)
    compiled_too = sum(result.compiled for result in outcomes)
    milder = sum(bool(result.milder) for result in outcomes)
    return f"{len(outcomes)} edits, {well} well ({compiled_too} compiled), {milder} with something milder that is new"


if __name__ == "__main__":
    main()
