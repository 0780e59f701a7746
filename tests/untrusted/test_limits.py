"""Limits that hold: what passes one is told in a line, and costs its file or what was too much."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint.frontend.reading import SourceError
from cudalint.frontend.text_limits import check_size
from cudalint.run.limits import Done, Limits, Lost
from cudalint.run.pool import run_jobs

Check = Callable[..., Any]
_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"


def _hold(megabytes: int) -> int:
    """A double of an analysis that needs so much; a negative number stands for a library that ends its process."""
    if megabytes < 0:
        faulthandler.disable()
        os.abort()
    return len(bytearray(megabytes << 20)) >> 20


@pytest.mark.skipif(sys.platform != "linux", reason="only there the system sees to it")
def test_memory_is_limited_for_each_worker() -> None:
    outcomes = {o.index: o for o in run_jobs(_hold, [50, 900, 60, -1], Limits(1, 10, most_megabytes=600))}
    assert outcomes == {
        0: Done(0, 50),
        1: Lost(1, "it needs more than 600 MB of memory; --memory-limit gives more"),
        2: Done(2, 60),
        3: Lost(3, "the analysis crashed (SIGABRT), perhaps for lack of memory; --memory-limit gives more"),
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"x" * 50, None),
        (b"\n" * 500 + b"y\n" * 500, None),
        (b"a\n" + b"x" * 51 + b"\nb", "a.cu:2:1: a line of 51 bytes; --max-line allows longer ones"),
        (b"a\n\n" + b"x" * 60, "a.cu:3:1: a line of 60 bytes; --max-line allows longer ones"),
        (b"a\n" * 50 + b"x" * 49 + b"\r\n" + b"b\n" * 50, None),
        (b"i =" + b"\n-" * 10, "a.cu:1:1: an expression of 11 operators and brackets; --max-nesting allows more"),
        (b"int i;\n i =" + b"-\n" * 10, "a.cu:1:7: an expression of 11 operators and brackets"),
        (b"i =" + b"\n-" * 9, None),
        (b"int i[] = {" + b"-1,\n" * 99 + b"};", None),
        (b"// " + b"-" * 40 + b"\n// " + b"=" * 40 + b"\nf(\"---------------------\")", None),
    ],
)  # fmt: skip
def test_texts_that_are_too_much(text: bytes, problem: str | None) -> None:
    """A line of more than 50 bytes, or more than 10 operators with neither commas nor statements between them."""
    if problem is None:
        check_size("a.cu", text, 50, 10)
        return
    with pytest.raises(SourceError, match=problem.replace(".", r"\.")):
        check_size("a.cu", text, 50, 10)


def test_a_text_that_is_too_much_costs_its_file(folder: Path, check: Check) -> None:
    """Clang's parser calls itself for each of these, and uses the stack up."""
    (folder / "a.cu").write_text(_STRIDED)
    (folder / "b.cu").write_text(f"__global__ void k(float *p) {{ p[0] = {'- ' * 200_000}1; }}\n")
    result = check("a.cu", "b.cu")
    assert "a.cu:1:37: warning: CL101" in result.out
    message = "an expression of 200002 operators and brackets; --max-nesting allows more (line 1, column 30)"
    assert (result.status, result.err) == (2, f"cudalint: error: b.cu: {message}\n")


def test_the_worst_findings_of_a_file_are_told(folder: Path, check: Check) -> None:
    (folder / "a.cu").write_text(_STRIDED + _STRIDED.replace("strided", "other").replace("32", "4"))
    result = check("a.cu", "--max-findings", "1")
    # All of the file was linted, and what is told of it is a warning.
    assert result.status == 1
    assert [line.split()[0] for line in result.out.splitlines()] == ["a.cu:1:37:"]
    assert result.err == "cudalint: warning: a.cu: 2 more findings left out; --max-findings tells more\n"
    assert check("a.cu", "--max-findings", "3").status == 1
