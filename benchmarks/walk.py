"""How far one access walks through the program: the functions, files and folders that handle it.

    python benchmarks/walk.py examples/transpose.cu:11 --array out [--list]

Lints the file in this process under `sys.setprofile` and counts the functions of the program that are called with a
form of the access that stands at the line: its IR expression (an `ir.Index`, or `ir.Unary` for `*p`, of that line
whose base names the array), its event (`AccessEvent`), the event's offset (an array of lanes, or data, by identity),
its site (`AccessSite`), and its fact (`Access`). A form is seen where it is an argument, an element of a tuple or a
list of at most 64, or a field of a record that is one of these; not deeper. Functions are ordered by their first such
call; a change of folder is a pair of neighbours in that order whose files lie in different folders. Less of each is
better: whoever wants to understand a finding opens these files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
from msgspec import Struct, field

import cudalint
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.facts import Access
from cudalint.ir import nodes as ir
from cudalint.measure.requests import AccessSite
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_ROOT = Path(cudalint.__file__).parent.parent
_HOMES = (f"{_ROOT / 'cudalint'}/", f"{_ROOT / 'rules'}/")
_LONGEST = 64


class Walk(Struct):
    """The functions that handled an access, in the order of their first call."""

    line: int
    array: str
    offsets: set[int] = field(default_factory=set)
    kept: list[object] = field(default_factory=list)
    """The offsets, held so that no other object takes their identity."""
    functions: dict[CodeType, None] = field(default_factory=dict)
    calls: int = 0

    def profile(self, frame: FrameType, event: str, argument: object) -> None:
        """What `sys.setprofile` calls."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(_HOMES) or code.co_name.startswith("<"):
            return
        count = code.co_argcount + code.co_kwonlyargcount
        values = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
        if any(self._is_form(value) for value in _flat(values)):
            self.calls += 1
            self.functions.setdefault(code)

    def _is_form(self, value: object) -> bool:
        if isinstance(value, (np.ndarray, Data)):
            return id(value) in self.offsets
        if isinstance(value, AccessEvent):
            is_it = bool(value.node.span.line == self.line and value.allocation.name == self.array)
            if is_it and id(value.offset) not in self.offsets:
                self.offsets.add(id(value.offset))
                self.kept.append(value.offset)
            return is_it
        if isinstance(value, AccessSite):
            return bool(value.node.span.line == self.line and value.array == self.array)
        if isinstance(value, Access):
            return value.place.line == self.line and value.array == self.array
        if isinstance(value, ir.Index | ir.Unary):
            base = value.base if isinstance(value, ir.Index) else value.operand
            return isinstance(base, ir.Name) and base.symbol.name == self.array and value.span.line == self.line
        return False

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(code.co_filename for code in self.functions))

    @property
    def changes(self) -> int:
        """How often the next function lies in another folder."""
        folders = [str(Path(code.co_filename).parent) for code in self.functions]
        return sum(a != b for a, b in pairwise(folders))


def _flat(values: list[object]) -> Iterator[object]:
    """The values, the elements of short sequences among them, and the fields of records among these."""
    for value in values:
        parts = value if isinstance(value, tuple | list) and len(value) <= _LONGEST else (value,)
        for part in parts:
            yield part
            if isinstance(part, Struct):
                for name in part.__struct_fields__:
                    yield getattr(part, name, None)


def walk_of(path: str, line: int, array: str) -> Walk:
    """Lints the file with all rules and returns what handled the access of `array` at the line."""
    walk = Walk(line, array)
    job = CheckJob(path, AnalysisOptions(), Selection(), pictures=True)
    sys.setprofile(walk.profile)
    try:
        check_file(job)
    finally:
        sys.setprofile(None)
    return walk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("place", help="FILE:LINE")
    parser.add_argument("--array", required=True, help="the array that is accessed there")
    parser.add_argument("--list", action="store_true", help="name the functions, in order")
    options = parser.parse_args()
    path, _, line = options.place.rpartition(":")
    walk = walk_of(path, int(line), options.array)
    if options.list:
        for code in walk.functions:
            print(f"{Path(code.co_filename).relative_to(_ROOT)}:{code.co_firstlineno} {code.co_qualname}")
    print(f"{len(walk.functions)} functions in {len(walk.files)} files, {walk.changes} changes of folder")


if __name__ == "__main__":
    main()
