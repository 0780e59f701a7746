"""Colours on a terminal, as few escape codes as it takes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.catalogue import page_in
from cudalint.diagnostics import Severity

Look = Literal["bold", "dim", "red", "yellow", "blue", "green", "cyan"]

_CODES: dict[Look, str] = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "green": "32",
    "yellow": "1;33",
    "blue": "1;34",
    "cyan": "36",
}
_LINK, _END = "]8;;", "\\"
"""What begins and ends the address of a hyperlink, behind an escape: the control sequence OSC 8. An empty address ends
the link."""
_LOOK_OF_SEVERITY: dict[Severity, Look] = {"error": "red", "warning": "yellow", "info": "cyan"}


class Style(Struct, frozen=True):
    """Paints text, or leaves it alone where colours are off."""

    enabled: bool = False
    unicode: bool = True
    """Whether block characters can be shown."""
    pages: str = ""
    """Where the rules' pages are (`page_in`), for terminals that follow links; empty for others."""
    escape: str = "\x1b"
    """Begins a control sequence; `plain.MARK` where `plain.line` distinguishes those from what a repository says."""

    def paint(self, text: str, look: Look) -> str:
        return f"{self.escape}[{_CODES[look]}m{text}{self.escape}[0m" if self.enabled and text else text

    def rule(self, text: str, code: str, severity: Severity) -> str:
        """What names a rule: painted, and with a link to its page."""
        painted = self.severity(text, severity)
        page = page_in(self.pages, code)
        if not page:
            return painted
        link, end = f"{self.escape}{_LINK}", f"{self.escape}{_END}"
        return f"{link}{page}{end}{painted}{link}{end}"

    def severity(self, text: str, severity: Severity) -> str:
        return self.paint(text, _LOOK_OF_SEVERITY[severity])
