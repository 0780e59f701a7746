"""The lexer that tells comments from the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.source.comments import code_of, read_comments


def _texts(source: str) -> list[str]:
    return [comment.text for comment in read_comments(source).comments]


@pytest.mark.parametrize(
    ("source", "comments"),
    [
        ("a; // one\nb; /* two */ c;", ["// one", "/* two */"]),
        ('s = "// no"; // yes', ["// yes"]),
        (r's = "a\"// no"; // yes', ["// yes"]),
        ("c = '\"'; // yes", ["// yes"]),
        ("c = '\\''; // yes", ["// yes"]),
        ("n = 1'000'000; // yes", ["// yes"]),
        ("n = 0x1'F; m = 'a'; // yes", ["// yes"]),
        ('r = R"(// no " // no)"; // yes', ["// yes"]),
        ('r = u8R"x(// no )" // no)x"; // yes', ["// yes"]),
        ('r = PAR"(// no"; // yes', ["// yes"]),
        ('r = R"(never closed // no', []),
        ("/* never closed // no", ["/* never closed // no"]),
        ("// continued \\\n line\nb;", ["// continued \\\n line"]),
        ("// continued \\\r\n line\r\nb;", ["// continued \\\r\n line\r"]),
        ("// ends with a backslash \\", ["// ends with a backslash \\"]),
        ("a /// doc\n//! doc", ["/// doc", "//! doc"]),
        ('#error "never closed\n// yes', ["// yes"]),
        ("a / b // c", ["// c"]),
        ("/**/ // b", ["/**/", "// b"]),
        ("", []),
    ],
)
def test_comments(source: str, comments: list[str]) -> None:
    assert _texts(source) == comments


def test_lines_and_standing_alone() -> None:
    source = read_comments("/* a\n b */\n  // c\nd; // e\n/* f */ g;\nh; /* i\n j */\n/* k */ /* l */\n")
    seen = [(c.line, c.end_line, c.stands_alone) for c in source.comments]
    assert seen == [(1, 2, True), (3, 3, True), (4, 4, False), (5, 5, False), (6, 7, False), (8, 8, True), (8, 8, True)]


def test_next_code_line_passes_comments_and_directives() -> None:
    source = read_comments("// a\n\n/* b\n*/\n#define X \\\n  1\n#pragma unroll // c\n  #\ncode;\n")
    assert source.next_code_line(1) == 9
    assert source.next_code_line(9) is None


def test_columns_count_bytes() -> None:
    source = read_comments("größe; // a")
    assert source.position(source.comments[0].start) == (1, 10)


@given(st.text(alphabet="ab/*\"'\\\nR()u81 \r"))
def test_any_text_is_taken(text: str) -> None:
    """Whatever the text, comments lie in it, in order, and don't overlap."""
    source = read_comments(text)
    end = 0
    for comment in source.comments:
        assert end <= comment.start < comment.end
        assert text[comment.start : comment.end] == comment.text
        assert comment.line <= comment.end_line
        end = comment.end


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("a; // one\nb;\n", "a;\nb;\n"),
        ("a;\nb;\n// more\n\n/* and\nmore */\n", "a;\nb;\n"),
        ("f(/* é */ 1); // one", "f(" + " " * 8 + " 1);\n"),
        ("a; /* one\ntwo */ b;", "a;       \n       b;\n"),
        ("a; // one \\\n two\nb;", "a;\n\nb;\n"),
        ('s = R"(a  \n// no)";', 's = R"(a  \n// no)";\n'),
        ("#define A \\ // no line goes on\nb;", "#define A \\ // no line goes on\nb;\n"),
        ("// cudalint: assume(n > 0)\na;", "// cudalint: assume(n > 0)\na;\n"),
    ],
)
def test_code_stands_where_it_stood(source: str, code: str) -> None:
    assert code_of(source) == code
