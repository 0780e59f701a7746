"""Decoded literals: the value is Python's, and every character knows its place."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.frontend.python.literals import NotALiteral, decode
from cudalint.frontend.python.located import LocatedText, PlaceMap, PythonText, generated


def _decode(source: str) -> LocatedText:
    return decode(source, 0, len(source), lambda first, last: generated("?", first, last))


@pytest.mark.parametrize(
    "source",
    [
        "'plain'",
        '"""three\nlines\r\nof text"""',
        r"'\n\t\\\'\"\x41\101\u00e9\N{BULLET}\
continued'",
        r"r'\n\'still in'",
        r"'no \qescape'",
        "'a' \"b\" '''c'''",
        "'a'  # a comment with a ' in it\n  'b' \\\n r'\\c'",
        "u'old'",
        "''",
        r"'\7\12x'",
    ],
)
def test_values_are_pythons(source: str) -> None:
    assert _decode(source).text == ast.literal_eval(f"({source})")


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=1, max_size=4))
def test_values_of_any_text(texts: list[str]) -> None:
    source = " ".join(map(repr, texts))
    assert _decode(source).text == "".join(texts)


@given(st.text(st.sampled_from("ab\n\t\\'\"é\u2028\x7f{}"), max_size=12))
def test_each_character_stands_for_its_spelling(text: str) -> None:
    """What lies between the start and the end of a character's place is a spelling of that character alone."""
    source = repr(text)
    found = _decode(source)
    for character, start, end in zip(found.text, found.starts, found.ends, strict=True):
        quote = "'" if character == '"' else '"'
        assert ast.literal_eval(f"{quote}{source[start:end]}{quote}") == character


def test_holes_of_formatted_literals() -> None:
    source = "f'a{x}b{{c}}{d[\"k\"]!r:>{w}}e'"
    found = _decode(source)
    assert found.text == "a?b{c}?e"
    assert [source[s:e] for c, s, e in zip(found.text, found.starts, found.ends, strict=True) if c == "?"] == [
        "{x}",
        '{d["k"]!r:>{w}}',
    ]


@pytest.mark.parametrize("source", ["'open", "f'{a'", "name", "'a' + 'b'"])
def test_what_is_no_literal(source: str) -> None:
    with pytest.raises(NotALiteral):
        _decode(source)


def test_places_count_bytes_of_the_files_encoding() -> None:
    """`ast` counts UTF-8 bytes; an editor of a Latin-1 file, and whoever reads its bytes, does not."""
    text = "x = 'é' 'ab'\n"
    python = PythonText(text, "latin-1")
    offset = python.offset(1, len("x = 'é' '".encode()))
    assert text[offset] == "a"
    assert python.position(offset) == (1, 10)
    assert PythonText(text).position(offset) == (1, 11)


def test_a_byte_order_mark_takes_bytes_of_the_first_line() -> None:
    python = PythonText("a\nb", "utf-8", 3)
    assert python.position(0) == (1, 4)
    assert python.position(2) == (2, 1)


def test_spans_of_a_text_from_several_literals() -> None:
    source = "'éa' 'bc'"
    places = PlaceMap(_decode(source), PythonText(source))
    assert places.data.decode() == "éabc"
    # In the source, é takes the bytes in columns 2 and 3, a is in column 4, b in 8 and c in 9.
    assert places.span(2, 4) == (1, 4, 1, 9)
    assert places.position(1, 4) == (1, 8)
    assert places.span(99, 120) == (1, 9, 1, 10)
    assert PlaceMap(generated("", 0), PythonText("")).span(0, 1) == (1, 1, 1, 1)
