"""The rules' pages: taken apart as they are meant, shown by `explain`, and up to date in `docs/rules`."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cudalint.cli import run
from cudalint.cli.authoring import html_pages, pages
from cudalint.diagnostics import Diagnostic
from cudalint.facts import KernelFacts
from cudalint.registry import RuleClass, all_rules, find_rule
from cudalint.report.formats.style import Style
from cudalint.rule import Rule, RuleContext

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "docs" / "rules"
_ADVICE = "run `cudalint pages` in the root of the repository and read what it changes"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_pages_are_up_to_date(rule: RuleClass) -> None:
    page = _FOLDER / pages.file_name(rule)
    assert page.exists(), _ADVICE
    assert page.read_text(encoding="utf-8") == pages.markdown(rule), _ADVICE


def test_the_list_of_pages_is_up_to_date() -> None:
    assert (_FOLDER / pages.INDEX_NAME).read_text(encoding="utf-8") == pages.index(all_rules()), _ADVICE
    assert {p.name for p in _FOLDER.glob("CL*.md")} == {pages.file_name(rule) for rule in all_rules()}, _ADVICE


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_examples_show_their_rule(rule: RuleClass) -> None:
    source = pages.example_of(rule)
    if source is None:
        pytest.skip("the rule has no example")
    assert "expect:" not in source
    lines = list(pages.findings_in(rule, source, Style()))
    assert f"[{rule.code}]: " in lines[0]


def test_examples_belong_to_rules() -> None:
    names = {rule.name for rule in all_rules()}
    assert {path.stem for path in (_ROOT / "rules" / "examples").iterdir()} <= names


class Described(Rule):
    """A sentence, over
    two lines.

    What it does
        Looks.

        And looks again.

    Example
        int a = 1;

        int b = 2;

        A word about this.

    Use instead
        Something that is said in words.

    A paragraph at the margin.
    """

    code, name, severity, summary = "XY123", "described", "info", "a double"
    thresholds = {"ways": 2.0}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())


def test_sections() -> None:
    page = pages.page_of(Described)
    assert page.lead == "A sentence, over two lines."
    assert [(s.heading, s.text, s.is_code) for s in page.sections] == [
        ("What it does", "Looks.\n\nAnd looks again.", False),
        ("Example", "int a = 1;\n\nint b = 2;", True),
        ("", "A word about this.", False),
        ("Use instead", "Something that is said in words.", False),
        ("", "A paragraph at the margin.", False),
    ]


def test_a_rule_without_a_docstring_or_an_example() -> None:
    class Bare(Described):
        __doc__ = None

    assert pages.page_of(Bare) == pages.Page("a double.", ())
    assert pages.example_of(Bare) is None
    assert "# XY123: described\n\n*info, on by default*\n\na double.\n\n## Options" in pages.markdown(Bare)


def test_families_cover_the_list() -> None:
    text = pages.index([*all_rules(), Described])
    assert "## Others\n" in text
    assert all(f"[{rule.code}](" in text for rule in (*all_rules(), Described))


def test_explain_draws_the_banks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "CL201", "--no-color"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("CL201 bank-conflict (warning)\n\n")
    assert "\n   0  1  2  3  4  5  6  7  8  9 10" in out
    assert "\nHow to suppress it\n    // cudalint: allow(bank-conflict) -- " in out


def test_rules_about_comments_cannot_be_suppressed_by_comments() -> None:
    assert pages.suppressions(find_rule("CL901")) == ()
    assert pages.suppressions(find_rule("CL902")) != ()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "a" / "pages")
    assert run(["pages", folder, "--check", "--select", "CL202"]) == 1
    assert run(["pages", folder, "--select", "CL202"]) == 0
    assert run(["pages", folder, "--check", "--select", "CL202"]) == 0
    page = tmp_path / "a" / "pages" / "CL202-shared-memory-limit.md"
    page.rename(page.with_name("CL202-old-name.md"))
    (tmp_path / "a" / "pages" / "mine.md").write_text("not a page")
    capsys.readouterr()
    assert run(["pages", folder, "--check", "--select", "CL202"]) == 1
    assert "CL202-shared-memory-limit.md: not up to date" in capsys.readouterr().out
    assert run(["pages", folder, "--select", "CL202"]) == 0
    assert sorted(p.name for p in (tmp_path / "a" / "pages").iterdir()) == [
        "CL202-shared-memory-limit.md", "README.md", "mine.md"
    ]  # fmt: skip


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run(["pages", str(tmp_path / "file" / "pages"), "--select", "CL202"]) == 2
    assert "cannot be written" in capsys.readouterr().err


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.targets += [value or "" for name, value in attributes if name in ("href", "src")]


def test_pages_as_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They need nothing but one another."""
    assert run(["pages", "--html", str(tmp_path), "--select", "CL201,CL904"]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"CL201-bank-conflict.html", "CL904-invalid-code.html", "index.html"}
    assert run(["pages", "--html", str(tmp_path), "--select", "CL201,CL904", "--check"]) == 0
    for path in tmp_path.iterdir():
        page = _Page(path.read_text(encoding="utf-8"))
        assert {"h1", "table"} <= set(page.tags) or "h1" in page.tags
        assert not {"script", "img", "link", "iframe"} & set(page.tags)
        assert [t for t in page.targets if not (t.startswith(("https://", "CL")) or t in names)] == []
        assert [t for t in page.targets if t.endswith(".md") and not t.startswith("https://")] == []
    capsys.readouterr()
    assert run(["explain", "bank-conflict", "--html"]) == 0
    assert capsys.readouterr().out == (tmp_path / "CL201-bank-conflict.html").read_text(encoding="utf-8")
    assert run(["explain", "CL3", "--html"]) == 2
    assert "`--html` prints one page" in capsys.readouterr().err


def test_html_in_a_rules_text_is_text() -> None:
    class Hostile(Rule):
        """<script>alert(1)</script> [x](javascript:alert(1))"""

        code, name, severity, summary = "XY124", "hostile", "info", "x"
        reads = frozenset()

    page = _Page(html_pages.html(Hostile))
    assert "script" not in page.tags
    assert page.targets == []
