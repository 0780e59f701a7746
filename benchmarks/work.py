"""Counts what the analysis of ten files does, and compares it with a table: seconds differ between machines, calls of
functions don't.

usage: python benchmarks/work.py [--write]

Each file is linted twice in this process, and the calls of Python functions are counted the second time, when all is
imported; of libclang, the parses. A file fails whose calls are more than a tenth above the table (`work.json`), or that
is parsed more often: then either something is computed that nobody asked for, or the table has to be written anew, with
a word on what the work is for. The table is of one version of Python: others count comprehensions otherwise.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from clang.cindex import TranslationUnit

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_HERE: Final = Path(__file__).parent
_TABLE: Final = _HERE / "work.json"
_FILES: Final = (
    "examples/matmul.cu", "examples/transpose.cu", "examples/naive_product.cu", "examples/annotated.cu",
    "fixtures/bank-conflict/matmul.cu", "fixtures/bank-conflict/few_lanes.cu", "fixtures/divergent-loop/loaded.cu",
    "fixtures/global-race/histograms.cu", "fixtures/global-race/kernels.cu", "fixtures/divergent-loop/remainders.cu",
)  # fmt: skip
_MORE: Final = 1.10


class Work(NamedTuple):
    calls: int
    """Of Python functions."""
    parses: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table")
    arguments = parser.parse_args()
    found = {path: work_of(str(_HERE.parent / path)) for path in _FILES}
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if arguments.write:
        written = {"python": version, "files": {path: work._asdict() for path, work in found.items()}}
        _TABLE.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    known = {path: Work(**own) for path, own in table["files"].items()}
    failed = 0
    print(f"{'calls':>10} {'table':>10} {'parses':>7}")
    for path, work in found.items():
        is_more = work.calls > _MORE * known[path].calls or work.parses > known[path].parses
        failed += is_more
        print(f"{work.calls:10} {known[path].calls:10} {work.parses:7}  {path}{'  MORE' if is_more else ''}")
    if version != table["python"]:
        print(f"the table is of Python {table['python']}: nothing is compared")
        return 0
    return 1 if failed else 0


def work_of(path: str) -> Work:
    """What a file takes when it is linted for the second time."""
    job = CheckJob(path, AnalysisOptions(), Selection((), ()), pictures=False)
    check_file(job)
    gc.collect()
    calls = parses = 0
    parse: Callable[..., Any] = TranslationUnit.from_source

    def parsed(*arguments: Any, **options: Any) -> Any:
        nonlocal parses
        parses += 1
        return parse(*arguments, **options)

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    setattr(TranslationUnit, "from_source", parsed)  # noqa: B010
    sys.setprofile(seen)
    try:
        check_file(job)
    finally:
        sys.setprofile(None)
        setattr(TranslationUnit, "from_source", parse)  # noqa: B010
    return Work(calls, parses)


if __name__ == "__main__":
    sys.exit(main())
