"""The guide is found by who looks for it: by its pages' words, and from the rules that it is behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudalint import guide
from cudalint.cli import run
from cudalint.registry import all_rules
from cudalint.report.formats import pages

_GUIDE = Path(__file__).parents[1] / "docs" / "guide"


def _headings(page: str) -> dict[str, str]:
    """The headings of a page by what links to them are called."""
    found = re.findall(r"^#+ (.*)$", (_GUIDE / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {pages.anchor_of(heading): heading for heading in found}


@pytest.mark.parametrize("page", guide.PAGES, ids=lambda page: page.name)
def test_what_is_named_is_there(page: guide.GuidePage) -> None:
    name, _, section = page.name.partition("#")
    headings = _headings(name)
    if section:
        assert section in headings
    else:
        assert next(iter(headings.values())) == page.title


def test_no_page_is_missing() -> None:
    files = {path.stem for path in _GUIDE.glob("*.md")}
    assert {page.name.partition("#")[0] for page in guide.PAGES} == files - {"README", "comparison"}


def test_rules_name_pages_that_there_are() -> None:
    assert all(guide.named(name).title for rule in all_rules() for name in rule.guide)


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (("transpose",), "transpose.md"),
        (("swizzle",), "banks.md#swizzled-columns"),
        (("padding",), "banks.md#the-cure-one-more-word-in-each-row"),
        (("matrix", "product"), "product.md"),
        (("CL101",), "transpose.md"),
        (("CL201",), "faults.md"),
        (("barrier",), "barriers.md"),
    ],
)
def test_explain_says_where_the_guide_is(
    words: tuple[str, ...], page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(("explain", *words)) == 0
    name, mark, section = page.partition("#")
    assert f": {_GUIDE / name}{mark}{section}\n" in capsys.readouterr().out
    # An installation brings no guide, and names the address.
    monkeypatch.setattr(pages, "_GUIDE", _GUIDE / "none")
    assert run(("explain", *words)) == 0
    assert re.search(rf": https://\S+/docs/guide/{re.escape(page)}\n", capsys.readouterr().out)


def test_what_the_guide_does_not_explain_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("explain", "nothing")) == 2
    assert "no rule's code or name has `nothing` in it" in capsys.readouterr().err


def test_explain_prints_a_section(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout that of the guide, elsewhere in short."""
    assert run(("explain", "swizzle")) == 0
    assert "    tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];" in capsys.readouterr().out
    monkeypatch.setattr(pages, "_GUIDE", Path("nowhere"))
    assert run(("explain", "swizzle")) == 0
    assert "`c ^ r` would be (`tile[r][c ^ r]`)" in capsys.readouterr().out


@pytest.mark.parametrize("page", guide.PAGES, ids=lambda page: page.name)
def test_sections_have_a_few_words(page: guide.GuidePage) -> None:
    assert bool(page.brief) == ("#" in page.name)
