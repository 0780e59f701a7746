"""Scores cudalint on faults that people reported: told at their place, silent once they are mended.

usage: python benchmarks/reported.py CASES [--real CHECKOUTS] [--only ID] [--verbose]

CASES is a folder with `index.json`: stand-alone files, each wrong (`file`) and right (`file_good`), with the rule that
should tell it (the first word of `expect`; words without a code: any rule) and its `line`. With `--real` the list is
`real.json`: CHECKOUTS holds folders `ID-bad` (the parent of the commit that mends the fault) and `ID-good`, of which
`files` are linted; `lines` of `file` are the places (0: anywhere in it; no `code`: any rule).

A fault is *told* if a finding of that rule that is shown by default has its place, or a related place, within two lines
of it. A right version is *accused* if a finding of the rule is there that names the same place; where the lines moved
with the mending, what it says of the file's kernels is printed for reading with `--verbose`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

NEAR = 2
"""Lines that a place may be off: a loop and its head, a call and its arguments."""


class Case(NamedTuple):
    identity: str
    bad: tuple[Path, ...]
    good: tuple[Path, ...]
    code: str
    """Empty where any rule may tell it."""
    file: str
    """The end of the path that holds it; empty for any."""
    lines: tuple[int, ...]
    """Empty for any place."""


def stand_alone(folder: Path) -> Iterator[Case]:
    for entry in json.loads((folder / "index.json").read_text()):
        first = str(entry["expect"]).split()[0]
        yield Case(
            entry["id"],
            (folder / entry["file"],),
            (folder / entry["file_good"],),
            first if first.startswith("CL") else "",
            entry["file"],
            (int(entry["line"]),),
        )


def real(folder: Path, checkouts: Path) -> Iterator[Case]:
    for entry in json.loads((folder / "real.json").read_text()):
        versions = [[checkouts / f"{entry['id']}-{kind}" / file for file in entry["files"]] for kind in ("bad", "good")]
        bad, good = (tuple(path for path in paths if path.is_file()) for paths in versions)
        yield Case(entry["id"], bad, good, entry["code"], entry["file"], tuple(filter(None, entry["lines"])))


def findings(files: Sequence[Path]) -> list[dict[str, Any]]:
    """What is shown of `files` by default."""
    command = [sys.executable, "-m", "cudalint", "check", "--no-cache", "--format", "json", *map(str, files)]
    done = subprocess.run(command, cwd=files[0].parent, capture_output=True, text=True, check=False)
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)["diagnostics"]
    except (ValueError, KeyError):
        sys.exit(f"{files[0]}: no findings could be read: {done.stderr.strip()[:300]}")
    return found


def names(finding: Mapping[str, Any], case: Case, lines: Sequence[int]) -> bool:
    """Whether a finding is of the case's rule and at one of `lines` (none: anywhere in the case's file)."""
    if case.code and finding["code"] != case.code:
        return False
    places = [(finding["path"], finding["line"]), *((p["path"], p["line"]) for p in finding["related"])]
    places += [(p["path"], p["line"]) for p in finding["also"] if "line" in p]
    return any(
        str(path).endswith(case.file) and (not lines or any(abs(line - wanted) <= NEAR for wanted in lines))
        for path, line in places
    )


def _folder(text: str) -> Path:
    return Path(text).resolve()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=_folder)
    parser.add_argument("--real", type=_folder, metavar="CHECKOUTS")
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    cases = list(real(options.cases, options.real) if options.real else stand_alone(options.cases))
    told = accused = tried = 0
    for case in cases:
        if options.only and not any(case.identity.startswith(only) for only in options.only):
            continue
        tried += 1
        bad, good = findings(case.bad), findings(case.good)
        is_told = any(names(finding, case, case.lines) for finding in bad)
        is_accused = any(names(finding, case, case.lines if options.real else ()) for finding in good)
        told, accused = told + is_told, accused + is_accused
        verdict = "told" if is_told else "missed"
        print(f"{case.identity:28} {case.code:6} {verdict:7} {'ACCUSED' if is_accused else ''}", flush=True)
        for kind, found in (("bad", bad), ("good", good)) if options.verbose else ():
            for each in found:
                print(f"    {kind:4} {each['code']} {Path(each['path']).name}:{each['line']} {each['message'][:150]}")
    print(f"told {told} of {tried}, right versions accused {accused} of {tried}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
