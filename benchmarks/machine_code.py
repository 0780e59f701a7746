"""Sets the accesses of the facts beside those of compiled code: the lines that have some, and how wide they are.

usage: python benchmarks/machine_code.py FILES... [--list FILE] [--cache FOLDER] [-I FOLDER] [--nvdisasm PATH]

Needs nvcc and nvdisasm (package nvidia-cuda-nvdisasm), and no GPU. Prints each line of the code that has an access
which the facts have not, and each line on which an access has another width, then how many there are of both. The
machine code is kept in the folder of --cache.

A line is compared within one instantiation of a kernel: what is compiled for other types or sizes than those that the
facts are for is left out, and counted, and so are kernels that the facts don't have. A line of the facts that the code
has not is no fault, since the compiler leaves out what nobody uses.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from compiled import Compiler
from msgspec import Struct
from programs import run_facts
from scoring import plain_name

_FUNCTION = re.compile(r"^\.text\.(?P<name>\S+):")
_LINE = re.compile(r'//## File "(?P<path>[^"]+)", line (?P<line>\d+)(?P<inlined> inlined)?')
_ACCESS = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?(?P<opcode>(?:LDG|STG|LDS|STS)(?:\.\w+)*) ")
_WIDTHS = {"128": 16, "64": 8, "U16": 2, "S16": 2, "16": 2, "U8": 1, "S8": 1, "8": 1}


class Site(Struct, frozen=True):
    """Where accesses of a kind are: a line of a file, by its bare name."""

    kernel: str
    file: str
    line: int
    space: str
    operation: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.space} {self.operation} in {self.kernel}"


Widths = Mapping[Site, set[int]]
"""The bytes of the accesses that are there."""


class Counts(Struct):
    files: int = 0
    failed: int = 0
    sites: int = 0
    missing: int = 0
    other: int = 0
    uninstantiated: int = 0
    """Sites in instantiations of kernels that the facts have with other arguments."""

    def __str__(self) -> str:
        share = self.other / max(self.sites - self.missing, 1)
        return (
            f"{self.files} files compared, {self.failed} more do not compile or give no facts; {self.sites} sites in "
            f"the code, {self.missing} not in the facts, {self.other} of another width ({share:.1%} of the others); "
            f"left out: {self.uninstantiated} sites of other instantiations"
        )


def main() -> None:
    arguments = _arguments()
    files = [*arguments.files, *(Path(line) for line in _listed(arguments.list))]
    options = [part for folder in arguments.include for part in ("-I", folder)] + [f"-D{m}" for m in arguments.define]
    compiler = Compiler(arguments.arch, arguments.nvdisasm, options, arguments.cache)
    counts = Counts()
    for path in files:
        _compare(path, compiler, counts)
    print(counts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--list", type=Path, help="a file with names of more files, one on each line")
    parser.add_argument("--arch", default="sm_80")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("-D", dest="define", action="append", default=[])
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "sass")
    return parser.parse_args()


def _listed(path: Path | None) -> Sequence[str]:
    return path.read_text().split() if path is not None else ()


def _compare(path: Path, compiler: Compiler, counts: Counts) -> None:
    said = compiler.disassembly(path)
    facts = _of_facts(path, compiler) if said is not None else {}
    if said is None or not facts:
        counts.failed += 1
        return
    counts.files += 1
    code = _accesses(said)
    kernels = {site.kernel for site in facts}
    bare = {plain_name(name) for name in kernels}
    for site in sorted(code, key=str):
        if site.kernel not in kernels:
            counts.uninstantiated += plain_name(site.kernel) in bare
            continue
        counts.sites += 1
        if site not in facts:
            counts.missing += 1
            print(f"{path}: {site}: not in the facts")
        elif facts[site] != code[site]:
            counts.other += 1
            print(f"{path}: {site}: {sorted(code[site])} bytes, {sorted(facts[site])} in the facts")


def _accesses(disassembly: str) -> Widths:
    found: dict[Site, set[int]] = defaultdict(set)
    kernel, place, follows = "", ("", 0), False
    names = _demangled(sorted({m[1] for m in map(_FUNCTION.match, disassembly.splitlines()) if m}))
    for text in disassembly.splitlines():
        if match := _FUNCTION.match(text):
            kernel = names[match["name"]]
        elif match := _LINE.search(text):
            # The innermost line stands first; where it was inlined follows.
            if not follows:
                place = os.path.basename(match["path"]), int(match["line"])
            follows = match["inlined"] is not None
        elif match := _ACCESS.search(text):
            opcode, *parts = match["opcode"].split(".")
            space = "global" if opcode.endswith("G") else "shared"
            operation = "load" if opcode.startswith("LD") else "store"
            found[Site(kernel, *place, space, operation)].add(next((_WIDTHS[p] for p in parts if p in _WIDTHS), 4))
    return found


def _demangled(names: Sequence[str]) -> Mapping[str, str]:
    said = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, map(instantiation, said.splitlines()), strict=True))


def _of_facts(path: Path, compiler: Compiler) -> Widths:
    target = compiler.arch.replace("sm_80", "a100").replace("sm_90", "h100")
    facts = run_facts([str(path), *compiler.options, "--target", target])
    if facts.document is None:
        print(f"{path}: {facts.error}")
        return {}
    found: dict[Site, set[int]] = defaultdict(set)
    for kernel in (kernel for file in facts.document["files"] for kernel in file["kernels"]):
        name = instantiation(kernel["instantiation"] or kernel["name"])
        for access in filter(_is_made, kernel["accesses"]):
            place = os.path.basename(access["path"]), access["line"]
            found[Site(name, *place, access["space"], access["operation"])].add(access["bytes"])
    return found


def _is_made(access: Mapping[str, Any]) -> bool:
    """Whether the machine has an instruction of its own for it."""
    reasons: Iterator[str] = (result["reason"] or "" for result in access["results"])
    return not any(reason.startswith(("it repeats the load", "it is one load")) for reason in reasons)


_SPELLINGS = (
    (re.compile(r"\(anonymous namespace\)::|\b(?:struct|class|enum) |\((?:[\w:]+ ?)+\)(?=-?\d|[tf])"), ""),
    (re.compile(r"\b(\d+)(?:ull|ul|u|ll|l)\b"), r"\1"),
    (re.compile(r"\bunsigned\b(?! (?:int|long|short|char))"), "unsigned int"),
    (re.compile(r"\b(?:__half|half)\b"), "half"),
    (re.compile(r"\b(?:nv_bfloat16|__nv_bfloat16)\b"), "bfloat16"),
    (re.compile(r"\b(?:\w+::)+(?=\w)"), ""),
    (re.compile(r"\s+"), ""),
)


def instantiation(name: str) -> str:
    """A kernel with its template arguments, as both sides spell them: `void ns::f<(int)3, float>(float *)` becomes
    `f<3,float>`."""
    depth = 0
    kept: list[str] = []
    name = name.replace("(anonymous namespace)::", "")
    for place, character in enumerate(name):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if depth == 0 and character == "(" and place:
            break
        kept.append(" " if depth == 0 and character == " " else character)
    whole = "".join(kept)
    start = whole.find("<")
    head, rest = (whole, "") if start < 0 else (whole[:start], whole[start:])
    whole = plain_name(head) + rest
    for pattern, text in _SPELLINGS:
        whole = pattern.sub(text, whole)
    return whole


if __name__ == "__main__":
    main()
