"""Colours on a terminal, as few escape codes as it takes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.catalogue import NAME_OF_CODE
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
_LINK, _END = "\x1b]8;;", "\x1b\\"
"""What begins and ends the address of a hyperlink, the control sequence OSC 8; an empty address ends the link."""
_LOOK_OF_SEVERITY: dict[Severity, Look] = {"error": "red", "warning": "yellow", "info": "cyan"}


class Style(Struct, frozen=True):
    """Paints text, or leaves it alone where colours are off."""

    enabled: bool = False
    unicode: bool = True
    """Whether block characters can be shown."""
    pages: str = ""
    """The address of the folder with the rules' pages, for terminals that follow links; empty for others."""

    def paint(self, text: str, look: Look) -> str:
        return f"\x1b[{_CODES[look]}m{text}\x1b[0m" if self.enabled and text else text

    def rule(self, text: str, code: str, severity: Severity) -> str:
        """What names a rule: painted, and with a link to its page."""
        painted = self.severity(text, severity)
        name = NAME_OF_CODE.get(code)
        if not self.pages or name is None:
            return painted
        return f"{_LINK}{self.pages}/{code}-{name}.md{_END}{painted}{_LINK}{_END}"

    def severity(self, text: str, severity: Severity) -> str:
        return self.paint(text, _LOOK_OF_SEVERITY[severity])
