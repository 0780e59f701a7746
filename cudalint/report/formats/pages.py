"""Where the rules' pages and the guide are: where the user says, beside the program in a checkout, or at the address
that an installation names.

`CUDALINT_RULE_PAGES` is the address of a folder that `cudalint pages --html` has written, or an address in which
`{page}` stands for a page's name, such as `CL201-bank-conflict`. It is a variable and no setting of projects: where a
click leads is no matter of whoever wrote the code.
"""

from __future__ import annotations

import os
import re
import socket
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from cudalint.catalogue import page_in
from cudalint.regexes import regex

VARIABLE = "CUDALINT_RULE_PAGES"
_DOCS = Path(__file__).resolve().parents[3] / "docs"
_PAGES = _DOCS / "rules"
_GUIDE = _DOCS / "guide"
_NETWORK = ("https://", "http://")


def page_of(code: str) -> str:
    """The address of a rule's page, for programs on this machine; empty where none is known."""
    beside = _PAGES.as_uri() if _PAGES.is_dir() else ""
    return page_in(_of_the_user() or beside or address_on_network(), code)


def address_of_pages() -> str:
    """Where each rule has its page, as `page_in` takes it; empty where that is not known."""
    given = _of_the_user()
    if not given and _PAGES.is_dir():
        # A terminal may show what another machine prints, and must not look for the file on its own.
        return _PAGES.as_uri().replace("file://", f"file://{socket.gethostname()}", 1)
    return given or address_on_network()


def address_on_network() -> str:
    """Where they are for reports that others read."""
    given = _of_the_user()
    if given.startswith(_NETWORK):
        return given
    return of_the_project("rules")


def guide_page(name: str) -> str:
    """Where a page of the guide is, or a section of one (`banks#swizzled-columns`): a file beside the program in a
    checkout, or an address; empty where none is known."""
    page, mark, section = name.partition("#")
    if _GUIDE.is_dir():
        return f"{_GUIDE / page}.md{mark}{section}"
    address = of_the_project("documentation")
    return f"{address}/guide/{page}.md{mark}{section}" if address else ""


def guide_section(name: str) -> str:
    """The text of a section of a page, without its heading and pictures, from a guide beside the program; empty where
    there is none, and for whole pages."""
    page, _, section = name.partition("#")
    try:
        text = (_GUIDE / f"{page}.md").read_text(encoding="utf-8")
    except OSError:
        return ""
    parts = _HEADING.split(text)
    found = (body for heading, body in zip(parts[1::2], parts[2::2], strict=True) if anchor_of(heading) == section)
    return _PICTURE.sub("", next(found, "")).strip()


def anchor_of(heading: str) -> str:
    """What links to a heading call it."""
    return _NO_PART_OF_ANCHORS.sub("", heading.lower()).replace(" ", "-")


_PICTURE = regex(r"^!\[.*\n+", re.MULTILINE)
_HEADING = regex(r"^#+ (.*)$", re.MULTILINE)
_NO_PART_OF_ANCHORS = regex(r"[^\w -]")


def of_the_project(label: str) -> str:
    """An address that the project's metadata has, by what it is called there in small letters."""
    try:
        urls = metadata("cudalint").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = (url.partition(",") for url in urls)
    return next((str(a).strip().rstrip("/") for name, _, a in named if name.strip().lower() == label), "")


def _of_the_user() -> str:
    """A folder may be given as a path, too."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return ""
    address = given if "://" in given else Path(os.path.abspath(given)).as_uri().replace("%7Bpage%7D", "{page}")
    return address if "{page}" in address else f"{address.rstrip('/')}/{{page}}.html"
