"""Draws programs at random from checkouts, for a sample that nobody has looked at.

usage: python benchmarks/draw.py CHECKOUTS --seed N [--each N] [--share OWNER+NAME=N]... > programs.json

A program is a `.cu` file with a `main`; in HeCBench it is a folder `src/NAME-cuda` with a Makefile. What is written are
the entries that `measure.py` builds and runs: their set, name, sources and how they are built.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from programs import HECBENCH, SAMPLES

Program = dict[str, Any]

_MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*\bmain\s*\(", re.MULTILINE)
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?P<path>[^"]+\.cu)"', re.MULTILINE)
_RUN = re.compile(r"^\s*(?:\S+=\S+\s+)*\./\S+(?P<arguments>.*)$", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, help="folder with checked-out repositories, as owner+name")
    parser.add_argument("--seed", type=int, required=True, help="the same programs are drawn for the same seed")
    parser.add_argument("--each", type=int, default=20, help="programs of a repository at most (20)")
    parser.add_argument("--share", action="append", default=[], metavar="OWNER+NAME=N", help="another number for one")
    arguments = parser.parse_args()
    shares = {name: int(number) for name, _, number in (share.partition("=") for share in arguments.share)}
    drawn: list[Program] = []
    for repository in sorted(arguments.checkouts.iterdir()):
        found = list(programs_of(repository))
        number = min(len(found), shares.get(repository.name, arguments.each))
        # One generator for each repository: another one beside it changes nothing about what is drawn here.
        drawn += random.Random(f"{arguments.seed} {repository.name}").sample(found, number)
    json.dump(drawn, sys.stdout, indent=1)


def programs_of(repository: Path) -> Iterator[Program]:
    """Everything in a repository that can be built and run by itself."""
    if repository.name == HECBENCH:
        for makefile in sorted((repository / "src").glob("*-cuda/Makefile")):
            yield _of_makefile(repository, makefile)
        return
    with_main = [path for path in sorted(repository.rglob("*.cu")) if path.is_file() and _MAIN.search(_text(path))]
    folders = Counter(path.parent for path in with_main)
    for path in with_main:
        yield _of_file(repository, path, is_alone=folders[path.parent] == 1)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _of_makefile(repository: Path, makefile: Path) -> Program:
    folder = makefile.parent
    return {
        "set": "hec",
        "program": folder.name,
        "source": repository.name,
        "files": [_relative(repository, path) for path in sorted(folder.glob("*.cu"))],
        "make": _relative(repository, folder),
        "args": _arguments(folder),
    }


def _arguments(folder: Path) -> str:
    """What `make run` gives to the program, at last if it runs it several times: the small cases come first."""
    said = subprocess.run(["make", "-n", "run"], cwd=folder, capture_output=True, text=True, check=False)
    runs = [match["arguments"].strip() for match in _RUN.finditer(said.stdout.replace("\\\n", " "))]
    return runs[-1] if runs else ""


def _of_file(repository: Path, path: Path, is_alone: bool) -> Program:
    """A file with a `main`, with the others of its folder that it does not include if no other one has a `main`."""
    included = {path.parent / match["path"] for match in _INCLUDED.finditer(_text(path))}
    beside = [other for other in sorted(path.parent.glob("*.cu")) if is_alone and other not in {path, *included}]
    host = [other for other in sorted(path.parent.glob("*.cpp")) if is_alone and not _MAIN.search(_text(other))]
    is_sample = repository.name == SAMPLES and path.parent.name == path.stem
    include = [f"ROOT/{SAMPLES}/Common"] if repository.name == SAMPLES else []
    include += [f"ROOT/{_relative(repository, folder)}" for folder in [repository / "include"] if folder.is_dir()]
    return {
        "set": "samples" if is_sample else repository.name,
        "program": path.name if is_sample else str(path.relative_to(repository)),
        "source": repository.name,
        "files": [_relative(repository, file) for file in (path, *beside)],
        "host": [_relative(repository, file) for file in host],
        "options": [word for folder in include for word in ("-I", folder)],
        "args": "",
    }


def _relative(repository: Path, path: Path) -> str:
    return str(path.relative_to(repository.parent))


if __name__ == "__main__":
    main()
