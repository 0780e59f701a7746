"""The rules' pages as HTML that needs nothing else: no network, no script, no other file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from html import escape

from markdown_it import MarkdownIt

from cudalint.cli.authoring.pages import INDEX_NAME, file_name, index, markdown
from cudalint.regexes import regex
from cudalint.registry import RuleClass
from cudalint.report.formats.pages import of_the_project

INDEX = "index.html"
_LINK = regex(r"\]\(((?!https?:|#)[^)\s#]+)\.md(#[^)\s]*)?\)")
_CODE = regex(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_STYLE = """
:root { color-scheme: light dark }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875em }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid #8886; border-radius: 6px; line-height: 1.35 }
table { border-collapse: collapse } th, td { border: 1px solid #8886; padding: 0.25rem 0.6rem; text-align: left }
"""


def html(rule: RuleClass) -> str:
    """The page of a rule."""
    return _document(f"{rule.code}: {rule.name}", markdown(rule))


def all_html(rules: Sequence[RuleClass]) -> Iterator[tuple[str, str]]:
    """Name and text of each file."""
    for rule in rules:
        yield file_name(rule).replace(".md", ".html"), html(rule)
    yield INDEX, _document("Rules of cudalint", index(rules))


def _document(title: str, text: str) -> str:
    # No HTML of a rule's text gets through.
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(_led(text))
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}</body>\n</html>\n"
    )


def _led(text: str) -> str:
    """Links to other rules lead to their HTML, and those to the rest of the documentation to where the installation
    says that it is."""
    documentation = of_the_project("documentation") or ".."

    def led(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        if "/" not in target:
            name = INDEX if f"{target}.md" == INDEX_NAME else f"{target}.html"
            return f"]({name}{anchor})"
        return f"]({documentation}/{posixpath.normpath(posixpath.join('rules', target))}.md{anchor})"

    parts: list[str] = []
    end = 0
    for block in _CODE.finditer(text):
        parts += [_LINK.sub(led, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, _LINK.sub(led, text[end:])])
