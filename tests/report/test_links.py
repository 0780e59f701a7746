"""Links to the rules' pages, in terminals that follow them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from cudalint.catalogue import page_in
from cudalint.cli.terminal import output_style
from cudalint.report.formats import pages
from cudalint.report.formats.pages import address_of_pages, address_on_network, page_of
from cudalint.report.formats.style import Style


def test_a_rule_is_linked_to_its_page() -> None:
    linked = Style(pages="https://example.org/rules").rule("CL201", "CL201", "warning")
    assert linked == "\x1b]8;;https://example.org/rules/CL201-bank-conflict.md\x1b\\CL201\x1b]8;;\x1b\\"
    # Another package's rule has no page there.
    assert Style(pages="https://example.org/rules").rule("XX100", "XX100", "warning") == "XX100"
    assert Style().rule("CL201", "CL201", "warning") == "CL201"


def test_the_user_says_where_pages_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder or an address, for whatever links to a page; a report for others only links to what they can reach."""
    monkeypatch.setenv("CUDALINT_RULE_PAGES", str(tmp_path))
    local = f"{tmp_path.as_uri()}/CL201-bank-conflict.html"
    assert page_of("CL201") == page_in(address_of_pages(), "CL201") == local
    assert not address_on_network().startswith("file:")
    monkeypatch.setenv("CUDALINT_RULE_PAGES", f"{tmp_path}/{{page}}.txt")
    assert page_of("CL201") == local.replace(".html", ".txt")
    monkeypatch.setenv("CUDALINT_RULE_PAGES", "https://example.org/rules/")
    assert page_of("CL201") == page_in(address_on_network(), "CL201") == (
        "https://example.org/rules/CL201-bank-conflict.html"
    )
    assert page_of("XX100") == ""


def test_without_a_checkout_an_installation_names_the_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUDALINT_RULE_PAGES", raising=False)
    monkeypatch.setattr(pages, "_PAGES", tmp_path / "none")
    assert page_of("CL201") == page_in(address_on_network(), "CL201")
    assert page_of("CL201").startswith("https://")


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
