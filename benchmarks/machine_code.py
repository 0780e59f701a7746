"""Sets the accesses of the facts beside those of compiled code: the lines that have some, and how wide they are.

usage: python benchmarks/machine_code.py FILES... [--arch sm_90] [--nvdisasm PATH]

Needs nvcc and nvdisasm (package nvidia-cuda-nvdisasm), and no GPU. Prints each line of the code that has an access
which the facts have not, and each line on which an access has another width, then how many there are of both. Kernels
are compared by their bare names, all instantiations together; a line of the facts that the code has not is no fault,
since the compiler leaves out what nobody uses.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    arguments = parser.parse_args()
    missing = other = sites = 0
    for path in arguments.files:
        code = _compiled(path, arguments.arch, arguments.nvdisasm)
        facts = _of_facts(path)
        kernels = {site.kernel for site in facts}
        for site in sorted((site for site in code if site.kernel in kernels), key=str):
            sites += 1
            if site not in facts:
                missing += 1
                print(f"{path}: {site}: not in the facts")
            elif facts[site] != code[site]:
                other += 1
                print(f"{path}: {site}: {sorted(code[site])} bytes, {sorted(facts[site])} in the facts")
    print(f"{sites} sites in the code, {missing} not in the facts, {other} of another width")


def _compiled(path: Path, arch: str, nvdisasm: str) -> Widths:
    """The accesses of the compiled file; none, and a message, where it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "code.cubin")
        build = ["nvcc", "-O3", "-lineinfo", f"-arch={arch}", "-std=c++17", "-cubin", str(path), "-o", cubin]
        if subprocess.run(build, capture_output=True, check=False).returncode:
            print(f"{path}: nvcc failed")
            return {}
        said = subprocess.run([nvdisasm, "-g", "-c", cubin], capture_output=True, text=True, check=True).stdout
    return _accesses(said)


def _accesses(disassembly: str) -> Widths:
    found: dict[Site, set[int]] = defaultdict(set)
    kernel, place, follows = "", ("", 0), False
    for text in disassembly.splitlines():
        if match := _FUNCTION.match(text):
            kernel = _demangled(match["name"])
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


def _demangled(name: str) -> str:
    said = subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout
    return plain_name(said.strip())


def _of_facts(path: Path) -> Widths:
    facts = run_facts([str(path)])
    if facts.document is None:
        print(f"{path}: {facts.error}")
        return {}
    found: dict[Site, set[int]] = defaultdict(set)
    for kernel in (kernel for file in facts.document["files"] for kernel in file["kernels"]):
        for access in filter(_is_made, kernel["accesses"]):
            place = os.path.basename(access["path"]), access["line"]
            site = Site(plain_name(kernel["name"]), *place, access["space"], access["operation"])
            found[site].add(access["bytes"])
    return found


def _is_made(access: Mapping[str, Any]) -> bool:
    """Whether the machine has an instruction of its own for it."""
    reasons: Iterator[str] = (result["reason"] or "" for result in access["results"])
    return not any(reason.startswith(("it repeats the load", "it is one load")) for reason in reasons)


if __name__ == "__main__":
    main()
