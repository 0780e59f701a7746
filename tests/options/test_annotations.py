"""Annotations in comments: their forms, their places, and what is wrong with bad ones."""

from __future__ import annotations

import pytest

from cudalint.options.annotations import (
    Annotation,
    annotations_of_kernel,
    assumptions_of,
    launch_of,
    read_annotations,
)
from cudalint.options.expressions import CallOp, NameRef, Number, parse_expression

_KERNEL = """\
// cudalint: launch(block = dim3(32, 8), grid = N / 32, shared = 4096)
// Does something.
#pragma nothing
__global__ void k(int N)
{
    // cudalint: assume(N % 4 == 0, N >= 1024)
    a[N] = 0;  // cudalint: allow(bank-conflict, CL101) -- fine: measured
}
"""


def _only(source: str) -> Annotation:
    (annotation,) = read_annotations(source).annotations
    return annotation


def _complaint(comment: str) -> str:
    source = read_annotations(comment)
    assert source.annotations == ()
    (malformed,) = source.malformed
    return malformed.message


def test_kinds_arguments_and_targets() -> None:
    launch, assume, allow = read_annotations(_KERNEL).annotations
    assert (launch.kind, launch.line, launch.target_line, launch.above_kernel) == ("launch", 1, 4, True)
    assert (assume.arguments, assume.target_line) == (("N % 4 == 0", "N >= 1024"), 7)
    assert (allow.arguments, allow.reason) == (("bank-conflict", "CL101"), "fine: measured")
    assert (allow.stands_alone, allow.target_line) == (False, 7)
    assert _KERNEL.splitlines()[6][allow.column - 1 : allow.end_column - 1].startswith("cudalint: allow(")


def test_launch_expressions() -> None:
    launch = launch_of(read_annotations(_KERNEL).annotations[0])
    assert launch.block == CallOp("dim3", (Number(32), Number(8)))
    assert launch.grid == parse_expression("N / 32")
    assert launch.shared == Number(4096)
    assert launch_of(_only("// cudalint: launch(block = N)")) == (NameRef("N"), None, None)


def test_assumptions() -> None:
    assert assumptions_of(read_annotations(_KERNEL).annotations[1]) == (
        parse_expression("N % 4 == 0"),
        parse_expression("N >= 1024"),
    )


def test_annotations_of_a_kernel() -> None:
    annotations = read_annotations(_KERNEL + _KERNEL).annotations
    assert [a.line for a in annotations_of_kernel(annotations, "launch", 4, 8)] == [1]
    assert [a.line for a in annotations_of_kernel(annotations, "assume", 12, 16)] == [14]


@pytest.mark.parametrize(
    "comment",
    [
        "/* cudalint: allow(x, y) -- two lines */",
        "/* cudalint: allow(x,\n *   y) -- two\n *   lines\n */",
        "/**\n * Text.\n * cudalint: allow(x, y) -- two lines\n **/",
        "/// cudalint:allow ( x , y )   --   two lines",
        "//! cudalint: allow(x, y) --two lines",
        "///< cudalint: allow(x, y) -- two lines\r",
    ],
)
def test_shapes_of_comments(comment: str) -> None:
    annotation = _only(comment + "\ncode;")
    assert (annotation.kind, annotation.arguments, annotation.reason) == ("allow", ("x", "y"), "two lines")


def test_several_in_one_comment() -> None:
    source = read_annotations("/* cudalint: allow-file(x) -- a\n * cudalint: assume(N > 0)\n */")
    kinds = [annotation.kind for annotation in source.annotations]
    assert kinds == ["allow-file", "assume"]


@pytest.mark.parametrize(
    "source", ["// see cudalint: allow(x)", 's = "// cudalint: x";', "// cudalints: x", "int cudalint;"]
)
def test_what_is_no_annotation(source: str) -> None:
    found = read_annotations(source)
    assert not found.annotations
    assert not found.malformed


@pytest.mark.parametrize(
    ("comment", "complaint"),
    [
        ("// cudalint: alow(x) -- y", "`alow` is no annotation"),
        ("// cudalint: this kernel is hot", "`this` is no annotation"),
        ("// cudalint:", "nothing is no annotation"),
        ("// cudalint: allow", "needs its arguments in parentheses"),
        ("// cudalint: allow(x", "a closing parenthesis is missing"),
        ("// cudalint: allow() -- y", "has an empty argument"),
        ("// cudalint: allow(x,) -- y", "has an empty argument"),
        ("// cudalint: allow(x)", "`allow(x)` gives no reason; write `allow(x) -- why this is fine`"),
        ("// cudalint: allow-file(x) --", "gives no reason"),
        ("// cudalint: allow(x) because", "`because` after the annotation means nothing"),
        ("// cudalint: assume(K + 1)", "`K + 1` is not a condition"),
        ("// cudalint: assume(K %)", "`K %` is not a C expression"),
        ("// cudalint: launch(32, 8)", "`32` is no part of a launch"),
        ("// cudalint: launch(blocks = 8)", "`blocks = 8` is no part of a launch"),
        ("// cudalint: launch(grid = 8)", "`launch` needs a block"),
        ("// cudalint: launch(block = 0)", "`launch` is not possible: its block is 0 in x, and has to be at least 1"),
        ("// cudalint: launch(block = dim3(N, 1, -65))", "`launch` is not possible: its block is -65 in z"),
        ("// cudalint: launch(block = 32.5)", "its block is 32.5 in x, and has to be a whole number"),
        ("// cudalint: launch(block = 8, grid = -1)", "`launch` is not possible: its grid is -1 in x"),
        ("// cudalint: launch(block = 8, shared = -1)", "`launch` is not possible: its shared is -1, and has to be"),
        ("// cudalint: launch(block = dim3(8)", "a closing parenthesis is missing"),
        ("// cudalint: launch(block == 8)", "`block == 8` is no part of a launch"),
    ],
)
def test_complaints(comment: str, complaint: str) -> None:
    assert complaint in _complaint(comment)
