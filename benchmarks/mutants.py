"""Lints spoiled copies of real files and counts what must never happen, whatever the text is.

usage: python benchmarks/mutants.py PATHS... [--mutants N] [--files N] [--seed N] [--jobs N] [--keep FOLDER] [--facts]

Files are drawn at random, and each is spoiled in several ways: tokens deleted, doubled, exchanged, replaced or changed
to numbers at the edges of types, text cut off, pieces of another file spliced in, bytes that are no UTF-8. The same
seed draws the same mutants. All of a file are linted by one command, which writes all reports, and with `--facts` their
facts are printed by another one. What counts:

- internal errors and crashes: what a failure of a file says;
- lost runs: an exit status that none should have, a traceback, no document, or one without all files;
- invalid documents: against the schemas, and places that are not in their file;
- time: files that were given up. These are listed, and a mutant may well make an analysis long.

The exit status is 1 if there are any but the last. `--keep` has the mutants that something was wrong with.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jsonschema

from cudalint.discovery import discover

Kind = Literal["internal error", "crash", "lost run", "invalid document", "given up"]
_FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")
_TOKEN = re.compile(rb'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|\s+|.', re.DOTALL)
_NUMBERS = (
    b"0", b"1", b"-1", b"2147483647", b"2147483648", b"4294967295", b"4294967296", b"9223372036854775807",
    b"9223372036854775808", b"18446744073709551615", b"1e30", b"1e-320", b"0x7fffffff", b"(__int128)1e30", b"'a'",
)  # fmt: skip
_WORDS = (
    b"__shared__", b"__global__", b"__syncthreads();", b"threadIdx.x", b"blockIdx.y", b"template <", b"struct", b"if",
    b"for (;;)", b"while (1)", b"return;", b"const", b"double", b"char", b"__int128", b"foo::bar x;", b"{", b"}", b"(",
    b")", b"<", b">", b";", b"*", b"/", b"%", b"<<", b"#if 1\n", b"\n#define A(x) x\n", b"\\\n", b"/*", b'"', b"'",
    b"\xff\xfe", b"\r", b"\t", b"\f", b"\xe2\x80\xa8", b"asm volatile(\"\");", b"// cudalint: launch(block = 7)\n",
    b"// cudalint: assume(n == 0)\n", b"// cudalint: ignore[CL101]\n",
)  # fmt: skip
_MOST_BYTES = 30_000
_SECONDS = 20
"""That one file may compute."""


class Fault(NamedTuple):
    kind: Kind
    path: str
    """Of the mutant, or the folder of all."""
    text: str


def main() -> int:
    arguments = _arguments()
    draw = random.Random(arguments.seed)
    found = sorted(os.path.abspath(file.path) for file in discover(arguments.paths).files if not file.is_optional)
    small = [path for path in found if 0 < os.path.getsize(path) <= _MOST_BYTES]
    paths = draw.sample(small, min(arguments.files, len(small)))
    each = -(-arguments.mutants // max(1, len(paths)))
    seeds = [draw.getrandbits(32) for _ in paths]
    counted: Counter[Kind] = Counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = zip(paths, seeds, strict=True)
        work = pool.map(lambda job: _try(job[0], job[1], small, each, arguments.keep, arguments.facts), jobs)
        for path, faults in zip(paths, work, strict=True):
            counted.update(fault.kind for fault in faults)
            for fault in faults:
                print(f"{fault.kind}: {fault.path} (of {path}): {fault.text}", flush=True)
    print(f"{each * len(paths)} mutants of {len(paths)} files: {dict(counted) or 'nothing is wrong'}")
    return 1 if counted.total() > counted["given up"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files and folders; of folders, the CUDA files below them")
    parser.add_argument("--mutants", type=int, default=1500, help="how many in all (1500)")
    parser.add_argument("--files", type=int, default=100, help="of how many files (100)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--jobs", type=int, default=2, help="commands at a time (2)")
    parser.add_argument("--keep", type=Path, help="a folder for the mutants that something was wrong with")
    parser.add_argument("--facts", action="store_true", help="have the facts printed too")
    return parser.parse_args()


def mutants(text: bytes, others: Sequence[Path], number: int, seed: int) -> Iterator[bytes]:
    """Spoiled texts; the same ones for one seed."""
    draw = random.Random(seed)
    for _ in range(number):
        tokens = _TOKEN.findall(text)
        for _ in range(draw.choice((1, 1, 1, 2, 4, 12))):
            tokens = _spoiled(tokens, others, draw) or [b""]
        yield b"".join(tokens)


def _spoiled(tokens: list[bytes], others: Sequence[Path], draw: random.Random) -> list[bytes]:
    at = _place(tokens, draw)
    match draw.randrange(10):
        case 0:
            return tokens[:at] + tokens[at + draw.choice((1, 1, 2, 5, 40)) :]
        case 1:
            end = at + draw.choice((1, 1, 5, 40))
            return tokens[:end] + tokens[at:end] + tokens[end:]
        case 2:
            other = _place(tokens, draw)
            changed = list(tokens)
            changed[at], changed[other] = changed[other], changed[at]
            return changed
        case 3:
            return tokens[: max(1, at)]
        case 4:
            end = draw.randrange(len(tokens[at]) + 1)
            return [*tokens[:at], tokens[at][:end]]
        case 5:
            piece = _TOKEN.findall(draw.choice(others).read_bytes())
            start = draw.randrange(len(piece))
            return tokens[:at] + piece[start : start + draw.choice((3, 30, 300))] + tokens[at:]
        case 6:
            return [*tokens[:at], draw.choice(_WORDS), b" ", *tokens[at + draw.randrange(2) :]]
        case _:
            numbers = [index for index, token in enumerate(tokens) if token[:1].isdigit()]
            at = draw.choice(numbers) if numbers else at
            return [*tokens[:at], draw.choice(_NUMBERS), *tokens[at + 1 :]]


def _place(tokens: Sequence[bytes], draw: random.Random) -> int:
    """A token that is no blank; in a kernel as often as in all the rest, which is longer and matters less."""
    starts = [index for index, token in enumerate(tokens) if token == b"__global__"]
    first = draw.choice(starts) if starts and draw.randrange(4) else 0
    last = min(len(tokens), first + 600) if first else len(tokens)
    filled = [index for index in range(first, last) if tokens[index].strip()]
    return draw.choice(filled) if filled else 0


def _try(path: str, seed: int, others: Sequence[str], number: int, keep: Path | None, has_facts: bool) -> list[Fault]:
    """What is wrong with the mutants of one file."""
    with tempfile.TemporaryDirectory() as folder:
        suffix = Path(path).suffix
        for index, text in enumerate(mutants(Path(path).read_bytes(), [Path(o) for o in others], number, seed)):
            Path(folder, f"m{index:03}{suffix}").write_bytes(text)
        with tempfile.TemporaryDirectory() as reports:
            faults = list(_checked(folder, reports, os.path.dirname(path), has_facts))
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for fault in faults:
                if os.path.isfile(fault.path):
                    shutil.copy(fault.path, keep / f"{Path(path).stem}-{seed}-{Path(fault.path).name}")
        return faults


def _checked(folder: str, reports: str, include: str, has_facts: bool) -> Iterator[Fault]:
    names = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    common = ["-I", include, "--time-limit", str(_SECONDS), "--jobs", "1", "--no-config", *names]
    outputs = [part for format_ in _FORMATS for part in ("--output", f"{format_}={os.path.join(reports, format_)}")]
    check = _run("check", "--select", "ALL", *outputs, *common)
    yield from _failures(check, folder)
    for format_ in _FORMATS:
        yield from _report_faults(format_, Path(reports, format_), folder)
    if not has_facts:
        return
    facts = _run("facts", "--format", "json", *common)
    yield from _failures(facts, folder)
    yield from _facts_faults(facts.stdout, names, folder)


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cudalint", *arguments]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def _failures(done: subprocess.CompletedProcess[str], folder: str) -> Iterator[Fault]:
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
        yield Fault("lost run", folder, f"exit status {done.returncode}: {done.stderr[-400:]}")
    for line in done.stderr.splitlines():
        text = line.removeprefix("cudalint: error: ")
        path = text.split(": ", 1)[0]
        if "internal error" in line:
            yield Fault("internal error", path, text)
        elif "crashed" in line or "killed" in line:
            yield Fault("crash", path, text)
        elif "given up" in line:
            yield Fault("given up", path, text)
        elif "cannot be written" in line or "could not be written" in line:
            yield Fault("invalid document", path, text)


def _report_faults(format_: str, path: Path, folder: str) -> Iterator[Fault]:
    try:
        text = path.read_text(encoding="utf-8")
        if format_ == "junit":
            ElementTree.fromstring(text)
        if format_ in ("json", "sarif", "gitlab"):
            document = json.loads(text)
            if format_ == "json":
                jsonschema.validate(document, _schema("diagnostics"))
            for place in _regions(document, format_):
                yield from _off_the_text(format_, *place, folder)
    except (OSError, ValueError, ElementTree.ParseError, jsonschema.ValidationError) as error:
        yield Fault("invalid document", folder, f"{format_}: {type(error).__name__}: {str(error)[:300]}")


def _regions(document: Any, format_: str) -> Iterator[tuple[str, int, int]]:
    """The places of a document: path, last line and first one."""
    if format_ == "json":
        for found in document["diagnostics"]:
            yield found["path"], found.get("end_line") or found["line"], found["line"]
    elif format_ == "sarif":
        for found in document["runs"][0]["results"]:
            for location in found["locations"]:
                where = location["physicalLocation"]
                region = where.get("region", {"startLine": 1})
                last = region.get("endLine", region["startLine"])
                yield where["artifactLocation"]["uri"], last, region["startLine"]
    else:
        for found in document:
            lines = found["location"]["lines"]
            yield found["location"]["path"], lines.get("end", lines["begin"]), lines["begin"]


def _off_the_text(format_: str, path: str, last: int, first: int, folder: str) -> Iterator[Fault]:
    file = Path(folder, path.rsplit("/", 1)[-1])
    if file.is_file() and not 1 <= first <= last <= file.read_bytes().count(b"\n") + 1:
        yield Fault("invalid document", str(file), f"{format_}: lines {first} to {last} are not in the file")


def _facts_faults(text: str, names: Sequence[str], folder: str) -> Iterator[Fault]:
    try:
        document = json.loads(text)
        jsonschema.validate(document, _schema("facts"))
    except (ValueError, jsonschema.ValidationError) as error:
        yield Fault("invalid document", folder, f"facts: {type(error).__name__}: {str(error)[:300]}")
        return
    left = {os.path.basename(name) for name in names} - {os.path.basename(f["path"]) for f in document["files"]}
    if left:
        yield Fault("lost run", folder, f"facts of {len(left)} files are missing: {', '.join(sorted(left)[:3])}")


def _schema(name: str) -> Any:
    from importlib import resources

    return json.loads(resources.files("cudalint").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
