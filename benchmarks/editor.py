"""Replays edits of files in the language server, as an editor sends them: how long findings take to come, whether they
are those of a fresh run, and whether the server grows.

usage: python benchmarks/editor.py FILES... [--edits N] [--seed N] [--compare EVERY]

For each file the server is started anew. An edit types a comment, a statement, another number or half of a line
somewhere, takes a line away, or takes the last edit back. The time counts from the message that tells of the edit to
the one with its findings, the server's own wait of 0.1 s included; the edits come one after the other. Which of the
suggested edits hold is told later: that is waited for where findings are compared. Beside it stands the time that
`cudalint check --no-cache` takes for the file, best of three, on the same machine. On a machine that has other things
to do only the time on the processor says something: that of the server and its worker, and of the run.

The findings after every edit (or every so many, `--compare`) are compared in all that an editor shows with those of an
analysis from scratch, once it is known which edits hold. Memory is what the server and its worker hold, after a tenth
of the edits and in the end.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol.converters import get_converter

from cudalint.editor.findings import everywhere, shown
from cudalint.editor.positions import Positions
from cudalint.project.discovery import SourceFile
from cudalint.project.settings import CommandLine, Settings
from cudalint.report.findings.causes import with_causes_merged
from cudalint.report.findings.results import FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.run.file_findings import check_file
from cudalint.run.limits import Limits
from cudalint.run.runs import Configured, Lint, result_of
from cudalint.system.disk import recorder as disk

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from editor_client import Editor  # It is shared with the tests.

_MEGABYTE = 1 << 20
_FRESH_RUNS = 3
_PATIENCE = 300.0
"""Seconds after which the server is taken to be stuck."""


class Seconds(NamedTuple):
    """On the clock, and on the processor."""

    passed: float
    computed: float


class Replayed(NamedTuple):
    path: str
    latencies: list[float]
    computed: list[float]
    """Seconds on the processor, for each edit."""
    fresh: Seconds
    """A run of the program."""
    settled: list[float]
    """Seconds until the edits were tried as well, where that was waited for."""
    compared: int
    different: list[str]
    """The edits after which the findings were others than those of a fresh run."""
    megabytes: tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", type=int, default=1, help="compare after every so many edits; 0 for never")
    arguments = parser.parse_args()
    for path in arguments.files:
        print(_told(replayed(path.resolve(), arguments.edits, arguments.seed, arguments.compare)), flush=True)


def _told(run: Replayed) -> str:
    fresh = run.fresh
    before, after = run.megabytes
    lines = [
        f"{run.path}: {len(run.latencies)} edits",
        f"  latency: {_distribution(run.latencies, fresh.passed)}",
        f"  computed: {_distribution(run.computed, fresh.computed)}",
        *([f"  until edits are tried: {_distribution(run.settled, fresh.passed)}"] if run.settled else []),
        f"  findings equal to a fresh run's: {run.compared - len(run.different)} of {run.compared}",
        *(f"    other after: {edit}" for edit in run.different[:10]),
        f"  memory: {before:.0f} MB after a tenth of the edits, {after:.0f} MB in the end",
    ]
    return "\n".join(lines)


def _distribution(values: Sequence[float], fresh: float) -> str:
    half, most = _quantile(values, 0.5), _quantile(values, 0.95)
    told = f"median {half:.2f} s, 95th percentile {most:.2f} s, most {max(values):.2f} s"
    return f"{told}; a fresh run {fresh:.2f} s, of which the 95th percentile is {most / fresh:.0%}"


def _quantile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def replayed(path: Path, edits: int, seed: int, every: int) -> Replayed:
    text = path.read_text()
    latencies: list[float] = []
    computed: list[float] = []
    settled: list[float] = []
    different: list[str] = []
    compared = 0
    megabytes = 0.0
    with Editor(patience=_PATIENCE) as editor:
        uri = editor.open(path)
        editor.diagnostics(uri)
        for number, (what, edited) in enumerate(_edits(text, edits, random.Random(seed)), start=1):
            start, before = time.monotonic(), _held(editor.process.pid).seconds
            editor.change(uri, edited)
            editor.diagnostics(uri)
            latencies.append(time.monotonic() - start)
            computed.append(_held(editor.process.pid).seconds - before)
            if every and number % every == 0:
                compared += 1
                told = editor.settled(uri)
                settled.append(time.monotonic() - start)
                if _sorted(told) != _sorted(_of_fresh_run(str(path), edited)):
                    different.append(what)
            if number == max(1, edits // 10):
                megabytes = _held(editor.process.pid).megabytes
        grown = _held(editor.process.pid).megabytes
    fresh = min(_seconds_of_run(path) for _ in range(_FRESH_RUNS))
    return Replayed(str(path), latencies, computed, fresh, settled, compared, different, (megabytes, grown))


# --- edits ---------------------------------------------------------------------------------------------------


def _edits(text: str, number: int, chosen: random.Random) -> Iterator[tuple[str, str]]:
    """Edits, each with what it does; no more than three of them stand at any time."""
    states = [text]
    for _ in range(number):
        if len(states) > 3 or (len(states) > 1 and chosen.random() < 0.35):
            states.pop()
            yield "the last edit taken back", states[-1]
            continue
        what, edited = _edited(states[-1], chosen)
        states.append(edited)
        yield what, edited


def _edited(text: str, chosen: random.Random) -> tuple[str, str]:
    lines = text.split("\n")
    statements = [n for n, line in enumerate(lines) if line.rstrip().endswith(";") and line.startswith((" ", "\t"))]
    at = chosen.choice(statements or range(len(lines)))
    line = lines[at]
    indent = line[: len(line) - len(line.lstrip())]
    kind = chosen.choice(("blank", "comment", "statement", "number", "half", "gone", "name"))
    digits = [n for n, character in enumerate(line) if character.isdigit()]
    if kind == "number" and digits:
        where = chosen.choice(digits)
        lines[at] = line[:where] + str((int(line[where]) + 1) % 10) + line[where + 1 :]
    elif kind == "half":
        lines[at] = line[: chosen.randrange(len(indent), len(line))]
    elif kind == "gone":
        del lines[at]
    elif kind == "statement":
        lines.insert(at, f"{indent}int added_{at} = {at};")
    elif kind == "name":
        lines[at] = line.replace(";", " + not_declared;", 1)
    elif kind == "comment":
        lines.insert(at, f"{indent}// said at {at}")
    else:
        kind = "blank"
        lines.insert(at, "")
    return f"{kind} at line {at + 1}", "\n".join(lines)


# --- what it is compared with --------------------------------------------------------------------------------


def _of_fresh_run(path: str, text: str) -> list[dict[str, Any]]:
    """As an editor is told it, of an analysis that begins with nothing."""
    disk.forget()
    settings = Settings(CommandLine())
    known = settings.of(path)
    lint = Lint(Limits(1, 20.0), most_findings=1000)
    report = check_file(lint.job(Configured(SourceFile(path, text), known)))
    if not isinstance(report, FileReport):
        return []
    report = known.severities.applied_to(report).with_least(known.min_share)
    sources = SourceLines({path: text})
    told = with_causes_merged(result_of([report], [], known.options.target), sources)
    positions, converter = Positions(sources, "utf-16"), get_converter()
    return [converter.unstructure(shown(finding, positions)) for finding in everywhere(told.diagnostics)]


def _sorted(diagnostics: list[dict[str, Any]]) -> list[str]:
    return sorted(str(sorted(each.items())) for each in diagnostics if "code" in each)


def _seconds_of_run(path: Path) -> Seconds:
    start, before = time.monotonic(), os.times()
    command = [sys.executable, "-P", "-m", "cudalint", "check", "--no-cache", "-q", "--exit-zero", str(path)]
    subprocess.run(command, capture_output=True, check=False)
    after = os.times()
    computed = after.children_user + after.children_system - before.children_user - before.children_system
    return Seconds(time.monotonic() - start, computed)


class Held(NamedTuple):
    """What a process and its descendants have: memory that is resident, and seconds on the processor."""

    megabytes: float
    seconds: float


def _held(process: int) -> Held:
    own = {process}
    megabytes = seconds = 0.0
    for status in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda each: int(each.parent.name)):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            resident = int((status.parent / "statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
        if int(status.parent.name) in own or int(fields[1]) in own:
            own.add(int(status.parent.name))
            megabytes += resident * 4096 / _MEGABYTE
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return Held(megabytes, seconds)


if __name__ == "__main__":
    main()
