"""The HTML report: parsed as a browser would, with nothing in it from a repository that is more than text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hostile_page import ANCHOR, HOSTILE, hostile_result, page_of
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.facts import Place
from cudalint.report.findings.results import CheckResult, Failure
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.html.source import diff_of
from cudalint.report.formats.pages import address_on_network

_VOID = frozenset({"meta", "input", "img", "br", "path", "use", "rect", "circle"})
_UNCLOSED = frozenset({"td", "th", "tr", "li", "dt", "dd"})


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.of: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID | _UNCLOSED:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID | _UNCLOSED:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside in ("script", "style"):
            self.of[inside] = self.of.get(inside, "") + data
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def result() -> CheckResult:
    return hostile_result()


@pytest.fixture(scope="module")
def text(result: CheckResult) -> str:
    return page_of(result)


@pytest.fixture(scope="module")
def page(text: str) -> _Page:
    return _Page(text)


def test_what_a_repository_says_is_text(page: _Page, text: str) -> None:
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert f"// {HOSTILE}" in page.text
    assert "\u202e" not in text
    assert "\\u202e" in page.text
    assert "##[" not in text


def test_only_its_own_script_and_style_are_allowed(page: _Page) -> None:
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    assert policy.startswith("default-src 'none';")
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.of[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert not [attributes for _, attributes in page.tags if "style" in attributes or "src" in attributes]


def test_links_lead_somewhere(page: _Page) -> None:
    ids = Counter(attributes["id"] for _, attributes in page.tags if "id" in attributes)
    assert max(ids.values()) == 1
    targets = {a["href"] for tag, a in page.tags if "href" in a}
    inside = {target for target in targets if target.startswith("#")}
    assert {target[1:] for target in inside} <= set(ids)
    # Of all others, the page names those of its rules alone, and these where the installation has their address.
    pages = address_on_network()
    rules = ("CL101-uncoalesced-access", "CL201-bank-conflict", "CL301-shared-race")
    assert targets - inside == {f"{pages}/{rule}.md" for rule in rules if pages}
    # The line of the load, as anybody would link to it.
    assert f"{ANCHOR}-L7" in ids


def test_every_picture_says_what_it_shows(text: str) -> None:
    for opening, rest in re.findall(r"(<svg[^>]*>)(.{0,7})", text):
        assert "aria-label=" in opening or 'aria-hidden="true"' in opening or rest == "<title>", opening


def test_findings_stand_below_their_lines(result: CheckResult, text: str) -> None:
    rows = {int(row.split('">', 1)[0]): row for row in text.split(f'<tr id="{ANCHOR}-L')[1:]}
    codes = {line: re.findall(r'data-code="(CL\d+)"', row) for line, row in rows.items()}
    expected: dict[int, set[str]] = {}
    for diagnostic in result.diagnostics:
        expected.setdefault(diagnostic.place.line, set()).add(diagnostic.code)
    assert {line: set(found) for line, found in codes.items() if found} == expected
    assert {"CL101", "CL201", "CL301"} <= {code for found in expected.values() for code in found}
    assert "nothing orders them" in text
    # 32 wavefronts of the load, one of the store, 4 and 32 sectors, four of which are
    # as much as a wavefront: 40 of 42 on one line, 2 on the other.
    assert '<td class="h t9">95<' in rows[7]
    assert '<td class="h t2">5<' in rows[6]


def test_a_kernel_takes_at_most_60_kilobytes(text: str) -> None:
    (section,) = re.findall(r'<section class="kernel".*?</section>', text, re.DOTALL)
    symbols = text[text.index('<svg class="pic" width="0"') : text.index("<script>")]
    assert len(section.encode()) + len(symbols.encode()) < 60_000


def test_what_was_not_linted_is_said_before_all_kernels(result: CheckResult) -> None:
    failures = (Failure("a.cu", "given up"), Failure("c.cu", "not a text file"), Failure(HOSTILE, "given up"))
    text = page_of(replace(result, failures=failures))
    names = _Page(text).text
    assert names.index("given up: a.cu, ") < names.index("not a text file: c.cu") < names.index("Kernels")
    assert names.count("Not linted") == 1
    assert HOSTILE in names[: names.index("Kernels")]
    assert not _Page(text).all("img")


def test_a_report_without_kernels_has_the_findings(result: CheckResult) -> None:
    bare = replace(result, kernels=())
    page = _Page(page_of(bare))
    codes = sorted(attributes["data-code"] for attributes in page.all("article"))
    assert codes == sorted(diagnostic.code for diagnostic in result.diagnostics)


def test_hostile_names_in_findings(result: CheckResult) -> None:
    first: Diagnostic = result.diagnostics[0]
    hostile = replace(
        first, message=f"`{HOSTILE}`", kernel=HOSTILE, instantiation=HOSTILE, assumptions=(HOSTILE,),
        suggestion=Suggestion(HOSTILE, (Edit(first.place, HOSTILE),)),
    )  # fmt: skip
    page = _Page(page_of(replace(result, diagnostics=(hostile,))))
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert page.text.count(HOSTILE) >= 5


def test_the_change_is_shown_with_a_line_around(tmp_path: Path) -> None:
    path = str(tmp_path / "a.cu")
    Path(path).write_bytes("one\nt\u00e9wo\nthree\nfour\n".encode())
    edits = (Edit(Place(path, 2, 4, 2, 5), "W\nnew"), Edit(Place(path, 3, 1, 3, 6), "3"))
    lines = [(line.kind, line.text) for line in diff_of(edits, SourceLines())]
    assert lines == [
        ("@", f"{path}:1"), (" ", "one"), ("-", "t\u00e9wo"), ("-", "three"),
        ("+", "t\u00e9W"), ("+", "newo"), ("+", "3"), (" ", "four"),
    ]  # fmt: skip
