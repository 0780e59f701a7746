"""Links to the rules' pages, in terminals that follow them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from cudalint.cli.terminal import output_style
from cudalint.report.formats.pages import address_of_pages
from cudalint.report.formats.style import Style


def test_a_rule_is_linked_to_its_page() -> None:
    linked = Style(pages="https://example.org/rules").rule("CL201", "CL201", "warning")
    assert linked == "\x1b]8;;https://example.org/rules/CL201-bank-conflict.md\x1b\\CL201\x1b]8;;\x1b\\"
    # Another package's rule has no page there.
    assert Style(pages="https://example.org/rules").rule("XX100", "XX100", "warning") == "XX100"
    assert Style().rule("CL201", "CL201", "warning") == "CL201"


def test_pages_of_a_checkout() -> None:
    folder = Path(url2pathname(urlparse(address_of_pages()).path))
    assert (folder / "CL201-bank-conflict.md").is_file()


def test_links_are_for_terminals_that_are_known_to_follow_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_HYPERLINK", raising=False)
    monkeypatch.setenv("TERM_PROGRAM", "vscode")
    assert not output_style(True).pages  # No terminal.
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("STY", raising=False)
    assert output_style(True).pages
    assert not output_style(False).pages
    monkeypatch.setenv("FORCE_HYPERLINK", "0")
    assert not output_style(True).pages
