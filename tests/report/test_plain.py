"""Text of a repository comes out as text, whatever it is: drawn letters, with those that mean something more often."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cudalint.report.formats import plain

_PIECES = (
    "::error::", "::set-output name=x::", "##[", "##vso[task]", "%0A", "\n", "\r", "\x1b[31m", "\x1b]8;;http://x\x1b\\",
    "\u202e", "\u2066", "\u200b", "\u2028", "\x85", "\0", "\t", "`", "``", "|", "\\", "<img src=x>", "<!--", "&lt;",
    "[a](http://b)", "![a](b)", "**", "_a_", "~~", "http://a.b", "www.a.b", "@user", "$x$", "# ", "- ", "1. ", ":a:",
    plain.MARK[:9],
)  # fmt: skip
_TEXT = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=4)), max_size=8).map("".join)
_SETTINGS = settings(max_examples=80, deadline=None)


def _unseen(text: str) -> list[str]:
    """What has no shape of its own, or ends a line."""
    kinds = {character: unicodedata.category(character) for character in text}
    return [c for c, kind in kinds.items() if kind in ("Cc", "Zl", "Zp") and c != "\t"] + [
        c for c, kind in kinds.items() if kind == "Cf" and unicodedata.bidirectional(c) not in ("AN", "L", "R", "AL")
        and c not in "\u200c\u200d\u070f" and unicodedata.name(c, "").find("ANNOTATION") < 0
        and not 0x1BCA0 <= ord(c) <= 0x1BCA3 and not 0x1D173 <= ord(c) <= 0x1D17A
    ]  # fmt: skip


@_SETTINGS
@given(_TEXT)
def test_a_line_is_one_line_and_steers_nothing(text: str) -> None:
    shown = plain.line(text)
    assert _unseen(shown) == []
    assert not re.match(r"\s*::(?!: )", shown)
    assert not re.search(r"##(\[|vso\[|teamcity\[)", shown)
    assert plain.line(shown) == shown


@_SETTINGS
@given(_TEXT, _TEXT)
def test_a_lines_own_colours_are_all_that_is_left(text: str, other: str) -> None:
    shown = plain.line(f"{text}{plain.MARK}[1m{other}{plain.MARK}[0m", plain.MARK)
    assert shown.count("\x1b") == 2
    assert _unseen(shown.replace("\x1b[1m", "").replace("\x1b[0m", "")) == []


def test_plain_text_stays_as_it_is() -> None:
    text = "k.cu:3:1: CL101 32 sectors for `a[i]`, std::max<int>(1, x) é 中 \U0001f600 100%"
    assert plain.line(text) == text
    assert plain.line("   ::: other.h:3") == "   ::: other.h:3"


@_SETTINGS
@given(_TEXT, _TEXT)
def test_a_command_is_one_command(message: str, name: str) -> None:
    """Read as GitHub's runner reads it."""
    written = f"::error file={plain.command_property(name)}::{plain.command(message)}"
    assert _unseen(written) == []
    assert not re.search(r"##(\[|vso\[|teamcity\[)", written)
    found = re.fullmatch(r"::error file=([^:,]*)::(.*)", written)
    assert found is not None
    codes = {"%0A": "\n", "%0D": "\r", "%3A": ":", "%2C": ",", "%25": "%"}
    read = [re.sub("%(0A|0D|3A|2C|25)", lambda code: codes[code[0]], each) for each in found.groups()]
    assert [_unseen(each.replace("\n", "")) for each in read] == [[], []]
    assert read[1].count("\n") == message.count("\n")


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@_SETTINGS
@given(_TEXT)
def test_a_cell_of_markdown_is_text_and_code(text: str) -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(f"| a | b |\n|---|---|\n| x{plain.cell(text)}x | y |\n")
    read = _Elements()
    read.feed(html)
    assert set(read.found) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    assert read.found.count("td") == 2
    backticks = re.sub(r"`([^`]*)`", r"\1", " ".join(plain.line(" ".join(text.split())).split()))
    assert "x" in read.text and len(read.text.split()) >= len(backticks.split())


@pytest.mark.parametrize("text", ["https://a.b", "www.a.b", "@user", "mail@a.b", "#1"])
def test_no_cell_has_what_a_service_makes_a_link_of(text: str) -> None:
    assert not re.search(r"://|www\.|@|#\d", re.sub(r"&#\d+;", "?", plain.cell(text)))


@_SETTINGS
@given(_TEXT)
def test_a_message_of_sarif_has_no_links(text: str) -> None:
    written = plain.sarif(text)
    assert not re.search(r"(?<!\\)\[[^\]\[]*(?<!\\)\]\(", written.replace("\\\\", ""))
    assert re.sub(r"\\([\\\[\]])", r"\1", written) == text or "](" not in text
