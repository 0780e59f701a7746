"""Files reduced to what shows a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.cli import run
from cudalint.cli.reducing.faults import Fault, fault_in
from cudalint.cli.reducing.headers import with_headers
from cudalint.cli.reducing.pieces import pieces_of, without, without_comments
from cudalint.cli.reducing.reduction import Budget, reduced, stripped
from cudalint.report.findings.results import Coverage, Failure, FileReport

SOURCE = """\
#include <cstdio>
// What it is for.
struct Size { int width; int height; };
int unused(int a) { return a + 1; }
__global__ void k(float *out, int n) {
    for (int i = 0; i < n; ++i) {
        out[0] = 1.0f; /* { */
        if (n > 3) { out[i * 32] = 2.0f; } else { out[1] = 3.0f; }
    }
    printf("; }");
}
"""


def _texts(depth: int) -> set[str]:
    return {SOURCE[piece.start : piece.end] for piece in pieces_of(SOURCE) if piece.depth == depth}


def test_pieces_are_declarations_and_statements() -> None:
    assert "int unused(int a) { return a + 1; }" in _texts(0)
    assert "struct Size { int width; int height; };" in _texts(0)
    assert "#include <cstdio>\n" in _texts(0)
    assert {"int width;", "return a + 1;", 'printf("; }");'} <= _texts(1)
    assert "out[0] = 1.0f;" in _texts(2)
    # A branch goes with its `else`.
    assert "if (n > 3) { out[i * 32] = 2.0f; } else { out[1] = 3.0f; }" in _texts(2)


def test_of_nested_pieces_the_outer_one_counts() -> None:
    outer = next(piece for piece in pieces_of(SOURCE) if SOURCE[piece.start : piece.end].startswith("int unused"))
    inner = next(piece for piece in pieces_of(SOURCE) if SOURCE[piece.start : piece.end] == "return a + 1;")
    assert without(SOURCE, [inner, outer]) == without(SOURCE, [outer])


def test_only_what_shows_the_fault_is_left() -> None:
    tried = []

    def shows(text: str) -> bool:
        tried.append(text)
        return "__global__" in text and "out[i * 32] = 2.0f;" in text

    left = reduced(SOURCE, shows, Budget(30.0))
    # The loop and the branch around the statement are of no matter, nor is anything else.
    assert " ".join(left.split()) == "__global__ void k(float *out, int n) { out[i * 32] = 2.0f; }"
    assert len(tried) < 100


def test_time_that_is_over_leaves_a_text_that_shows_it() -> None:
    assert reduced(SOURCE, lambda text: False, Budget(0.0)) == SOURCE


def test_names_change_as_far_as_the_fault_stays() -> None:
    left = stripped(SOURCE, lambda text, names: "printf" in text and "unused" in text, Budget(30.0))
    assert "unused(int v" in left
    assert 'printf("; }");' in left
    assert "Size" not in left
    assert "width" not in left
    assert "#include <cstdio>" in left
    assert "__global__ void f" in left


def test_comments_for_the_linter_stay() -> None:
    text = "// cudalint: launch(block = 32)\nint a; // gone\n"
    assert without_comments(text) == "// cudalint: launch(block = 32)\nint a;\n"


def test_headers_are_put_in_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#pragma once\n#include "b.h"\nint a;')
    (tmp_path / "b.h").write_text('#include "a.h"\nint b;')
    whole = with_headers('#include "a.h"\n#include "b.h"\n#include "none.h"\n', str(tmp_path / "k.cu"), ())
    assert whole.split() == ["int", "b;", "int", "a;", "#include", '"none.h"']


def test_a_failure_is_reported_without_its_particulars() -> None:
    before = Failure("k.cu", "internal error in `gemm` at 42")
    fault = fault_in(before, SOURCE, None, None)
    assert fault is not None
    assert fault.is_shown_by(Failure("k.cu", "internal error in `f1` at 7"), "")
    assert not fault.is_shown_by(Failure("k.cu", "cannot be read"), "")
    report = FileReport("k.cu", "ok", (), (), (), (), Coverage(), frozenset())
    assert not fault.is_shown_by(report, "")
    assert fault_in(report, SOURCE, None, None) is None


def test_another_fault_is_none() -> None:
    fault = Fault("CL101", "out[i] = 1;", is_whole=True)
    partial = FileReport("k.cu", "partial", (), (), (), (), Coverage(), frozenset())
    assert not fault.is_shown_by(partial, "out[i] = 1;")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.h").write_text("#define STEP 32\n")
    (tmp_path / "k.cu").write_text(
        '#include "secret.h"\n'
        "__global__ void confidential(float *plain) { plain[threadIdx.x] = 1.0f; }\n"
        "__global__ void internal(float *salary) {\n"
        "    salary[threadIdx.x * STEP] = 1.0f;\n"
        "    salary[0] = 2.0f;\n"
        "}\n"
    )
    line = ["bug-report", "--rule", "CL101", "--strip-names", "--no-config", "-o", "small.cu", "k.cu:4"]
    assert run(line) == 0
    issue = capfd.readouterr().out
    small = (tmp_path / "small.cu").read_text()
    assert small in issue
    assert issue.startswith("CL101: ")
    assert not {"confidential", "internal", "salary", "STEP", "secret"} & set(small.replace("(", " ").split())
    assert "secret" not in issue
    assert small.count("__global__") == 1
    assert len(small.splitlines()) <= 5
    assert run(["bug-report", "--rule", "CL201", "--no-config", "k.cu"]) == 2
    assert "there is no finding of CL201 to report" in capfd.readouterr().err


def test_a_source_is_one_block_of_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With backticks in a text that has to stay, and what steers a terminal."""
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(
        '__global__ void kernel(float *p) { p[threadIdx.x * sizeof("```\x1b[31m##[error]````12345678901")] = 1.0f; }\n'
    )
    assert run(["bug-report", "--rule", "CL101", "--no-config", "--seconds", "1", "k.cu"]) == 0
    issue = capfd.readouterr().out
    assert issue.count("\n`````cuda\n") == 1
    assert issue.endswith("\n`````\n")
    assert r"```\x1b[31m\x23#[error]````" in issue
