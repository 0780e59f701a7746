"""Code told from comments, literals and directives, and where its statements begin and end."""

from __future__ import annotations

import pytest

from cudalint.facts import Place
from cudalint.source.code import code_text

_TEXT = "void f()\n{\n    a(1); // ; }\n    b(';', c);\n}\n"


@pytest.mark.parametrize("offset", range(len(_TEXT) + 1))
def test_positions_are_lines_and_columns_from_one(offset: int) -> None:
    source = code_text(_TEXT)
    before = _TEXT[:offset]
    line, column = source.position(offset)
    assert (line, column) == (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
    assert source.extent(Place("a.cu", line, column, line, column)) == (offset, offset)


def test_a_statement_begins_behind_what_ends_another() -> None:
    source = code_text(_TEXT)
    at = _TEXT.index("c)")
    assert source.statement_start(at) == _TEXT.index("(1);") + len("(1);")
    assert source.semicolon(_TEXT.index("b(")) == _TEXT.index(";\n}")
    assert source.last_before(_TEXT.index("b(")) == _TEXT.index("(1);") + len("(1);")
    assert source.statement_start(3) == 0
    assert source.last_before(0) == 0
    assert source.semicolon(_TEXT.rindex("}")) is None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_directive_goes_on_behind_a_backslash(end: str) -> None:
    source = code_text(end.join(("#define A(x) ((x) + \\", "  f(x)", "int a;", "")))
    assert source.code.split() == ["int", "a;"]
