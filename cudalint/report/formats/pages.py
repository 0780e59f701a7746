"""Where the rules' pages are: beside the program in a checkout, or at the address that an installation names."""

from __future__ import annotations

import socket
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from cudalint.catalogue import NAME_OF_CODE

_PAGES = Path(__file__).resolve().parents[3] / "docs" / "rules"
_LABEL = "rules"
"""What the project's metadata calls the address of the pages, in small letters."""


def page_of(code: str) -> str:
    """The address of a rule's page, for programs on this machine; empty where none is known."""
    return page_in(_PAGES.as_uri() if _PAGES.is_dir() else address_of_pages(), code)


def page_in(folder: str, code: str) -> str:
    """The address of a rule's page in a folder of pages; empty for no folder, and for a rule of others."""
    name = NAME_OF_CODE.get(code)
    return f"{folder}/{code}-{name}.md" if name and folder else ""


def address_of_pages() -> str:
    """The address of the folder in which each rule has its page, without a slash at the end; empty where none is
    known."""
    if _PAGES.is_dir():
        # A terminal may show what another machine prints, and must not look for the file on its own.
        return _PAGES.as_uri().replace("file://", f"file://{socket.gethostname()}", 1)
    return address_on_network()


def address_on_network() -> str:
    """The address of that folder that the installation names, for reports that others read."""
    try:
        urls = metadata("cudalint").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    for url in urls:
        label, _, address = url.partition(",")
        if label.strip().lower() == _LABEL:
            return str(address).strip().rstrip("/")
    return ""
