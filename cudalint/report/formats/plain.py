"""Text that comes out of a repository, written so that it is nothing but text: one function for each kind of reader.

Names of files, messages and lines of sources may hold anything: what steers a terminal, what turns text around, what a
runner of continuous integration takes for a command, what Markdown takes for a link.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import Any, Final

from cudalint.regexes import regex

MARK: Final = f"\x1b{secrets.token_hex(8)}"
"""Begins a control sequence of this program's own (`Style.escape`), until `line` has made one of it. Nobody can know it
before a run, and nothing from a repository begins so."""

_UNSEEN: Final = regex(
    "[\0-\x08\x0a-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""Control characters but for tabs, ends of lines, and what has no width or turns text around (Unicode's categories Cc,
Zl, Zp and Cf, but for the joiners that emojis and some scripts need)."""
_RUNNERS: Final = regex(r"##(?=\[|vso\[|teamcity\[)")
"""Begins a command wherever it stands in a line, for runners of GitHub, Azure and TeamCity."""
_COMMAND: Final = regex(r"\A(\s*):(?=:(?!: ))")
"""Begins a workflow command of GitHub's; `::: ` begins none, and is how reports name a further file."""
_MARKDOWN: Final = regex(
    r"[&<>\\`*\[\]#|~$@]|(?<![^\W_])_|_(?![^\W_])|(?<=\w):(?=//)|(?<=www)\."
)
"""What means something in Markdown, or to what makes links of addresses (`https://`, `www.`) and names. A `_` within a
word means nothing."""
_SPAN: Final = regex(r"[^\s|](?:[^|]*[^\s|])?")
"""What can stand in a code span of Markdown in a table: a bar would end the cell, and spaces at the ends go."""
_TAB: Final = 4
_CODE: Final = regex(r"`([^`]*)`")


def line(text: str, mark: str = "") -> str:
    """One line for people, on a terminal or in a log; `mark` is what the program's own control sequences begin with."""
    if mark and mark in text:
        shown = "\x1b".join(map(_visible, text.split(mark)))
    elif text.isprintable() and "##" not in text and "::" not in text:
        return text
    else:
        shown = _visible(text)
    return _COMMAND.sub(r"\1\\x3a", _RUNNERS.sub(r"\\x23#", shown))


def command(text: str) -> str:
    """The message of a workflow command; lines end with line feeds."""
    shown = _RUNNERS.sub(r"\\x23#", "\n".join(map(_visible, text.split("\n"))))
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """A property of a workflow command, such as the name of a file."""
    return command(text).replace(":", "%3A").replace(",", "%2C")


def cell(text: str) -> str:
    """A cell of a table in Markdown: what stands between backticks is shown as code, where nothing is escaped, and all
    else as it is."""
    one_line = " ".join(_visible(" ".join(text.split())).split())
    written, last = "", 0
    for match in _CODE.finditer(one_line):
        written += f"{_markdown(one_line[last : match.start()])}{_code(match[1])}"
        last = match.end()
    return written + _markdown(one_line[last:])


def sarif(text: str) -> str:
    """A message of SARIF, in which brackets before parentheses would be a link (SARIF 2.1.0, section 3.11.6)."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", text) if "](" in text else text


def json_text(value: Any, indent: int | None = None) -> str:
    """A document of JSON, in whose texts all but ASCII is escaped and nothing begins a command for a runner: numbers,
    names and brackets of JSON itself have no `#`."""
    return _RUNNERS.sub(r"\\u0023#", json.dumps(value, indent=indent)).replace("\x7f", "\\u007f")


def xml(text: str) -> str:
    """Text of an XML document, which whoever writes it escapes, in attributes as in elements."""
    return "\n".join(map(line, text.split("\n")))


def page(text: str) -> str:
    """Text of a page of HTML, which whoever writes it escapes; tabs as spaces."""
    return _visible(text.expandtabs(_TAB))


def _code(text: str) -> str:
    return f"`{text}`" if _SPAN.fullmatch(text) else f"<code>{_markdown(text)}</code>"


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(_as_entity, text)


def _as_entity(match: re.Match[str]) -> str:
    """Entities mean the letter everywhere, also where a backslash does not, as in addresses."""
    return f"&#{ord(match[0])};"


def _visible(text: str) -> str:
    return text if text.isprintable() else _UNSEEN.sub(_as_escape, text)


def _as_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
