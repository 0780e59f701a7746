"""Comments, literals and directives of C++ texts."""

from __future__ import annotations

import pytest

from cudalint.source.brackets import closing, list_in_angles, outside
from cudalint.source.lexing import blanked, comments_in


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a = 1'000'000 / b; // c", "a = 1'000'000 / b;     "),
        ("f(u8'x', L'\\'', 'a')", "f(u8   , L    ,    )"),
        ('x = R"(a " // )" + y', 'x = R            + y'),
        ('PAR"(" /* c */ b', "PAR            b"),
        ('"a\\\nb" c', "   \n   c"),
        ('s = "no end // c\nt', 's = "no end // c\nt'),
        ("# define A \\\n  b\nc", "            \n   \nc"),
        ("a /* no end", "a          "),
    ],
)
def test_what_is_no_code_is_blank(text: str, code: str) -> None:
    assert blanked(text) == code


def test_directives_are_code_where_nobody_wants_them_blank() -> None:
    assert blanked('#define A "b" // c\n', directives=False) == "#define A         \n"


def test_comments_are_found_with_their_delimiters() -> None:
    text = 'a("//"); // one\n/* two\n*/ \'"\' /* three */ "'
    assert [match[0] for match in comments_in(text)] == ["// one", "/* two\n*/", "/* three */"]


@pytest.mark.parametrize(
    ("text", "parts", "behind"),
    [
        ("<int, 4> x", ["int", "4"], " x"),
        ("<A<int, 2>, (1 > 0), {3, 4}>", ["A<int, 2>", "(1 > 0)", "{3, 4}"], ""),
        ("<>(", [], "("),
        ("<int, 4", [], ""),
    ],
)
def test_lists_in_angle_brackets(text: str, parts: list[str], behind: str) -> None:
    found, end = list_in_angles(text, 0)
    assert (found, text[end:]) == (parts, behind)


def test_brackets() -> None:
    code = "f(a, b[i, j], g(c))"
    assert closing(code, 1) == len(code)
    assert closing("(a]", 0, "()") is None
    assert [code[:at] for at in outside(code, ",", 2, len(code) - 1)] == ["f(a", "f(a, b[i, j]"]
