"""Text for terminals as a piece of HTML, for notebooks: colours and links as elements, and all else escaped.

Styles stand in the elements themselves, since what shows notebooks drops style sheets.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from cudalint.regexes import regex

_SEQUENCE = regex(r"\x1b\[([0-9;]*)m|\x1b\]8;;([^\x1b]*)\x1b\\")
_STYLES = {
    "0": "",
    "1": "font-weight:bold",
    "2": "opacity:0.6",
    "31": "color:#c33",
    "32": "color:#2a7",
    "33": "color:#b80",
    "34": "color:#47b",
    "36": "color:#199",
}
_PRE = "white-space:pre;overflow-x:auto;line-height:1.25;font-family:monospace"
_SCHEMES = ("https://", "http://", "file://")


def page_of(lines: Iterable[str]) -> str:
    """One element with lines that may have the control sequences that `Style` writes."""
    text = "\n".join(map(_line, lines))
    return f'<pre style="{_PRE}">{text}</pre>'


def _line(text: str) -> str:
    """Whatever a sequence opens is closed at the end of the line."""
    written, last = "", 0
    is_styled = is_linked = False
    for match in _SEQUENCE.finditer(text):
        written += _escaped(text[last : match.start()])
        last = match.end()
        written += "</span>" if is_styled else ""
        if match[1] is None:
            written += "</a>" if is_linked else ""
            is_styled, is_linked = False, match[2].startswith(_SCHEMES)
            written += f'<a href="{_escaped(match[2])}">' if is_linked else ""
            continue
        style = ";".join(filter(None, (_STYLES.get(code, "") for code in match[1].split(";"))))
        is_styled = bool(style)
        written += f'<span style="{style}">' if is_styled else ""
    written += _escaped(text[last:])
    return written + ("</span>" if is_styled else "") + ("</a>" if is_linked else "")


def _escaped(text: str) -> str:
    """Without control characters, which HTML has no place for."""
    return html.escape("".join(c if c.isprintable() or c in "\t" else "\ufffd" for c in text))
