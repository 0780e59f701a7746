"""Hooks of mkdocs: the site's first page, and links to files of the repository that are no pages."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_START = "index.md"


def on_files(files: Any, config: Any) -> Any:
    """The README is the first page, and the rules stand in the navigation by their titles."""
    from mkdocs.structure.files import File

    root = Path(config["config_file_path"]).parent
    readme = (root / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, _START, content=_outside_code(readme, _from_the_root)))
    rules = sorted(file.src_uri for file in files if file.src_uri.startswith("rules/") and file.src_uri.endswith(".md"))
    for entry in config["nav"]:
        if entry.get("Rules") == "rules/":
            entry["Rules"] = ["rules/README.md", *(rule for rule in rules if rule != "rules/README.md")]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """What a page links to that is not in docs/ is in the repository."""
    here = posixpath.dirname(page.file.src_uri)
    root = Path(config["config_file_path"]).parent

    def led(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        path = posixpath.normpath(posixpath.join("docs", here, target))
        within = path.removeprefix("docs/")
        if path.startswith("docs/") and files.get_file_from_path(within) is not None:
            return match[0]
        kind = "tree" if (root / path).is_dir() else "blob"
        return f"]({config['extra']['repository']}/{kind}/main/{path}{anchor})"

    return _outside_code(markdown, lambda text: _LINK.sub(led, text))


def _from_the_root(text: str) -> str:
    """The README's links, and its pictures, as they are from docs/ on."""
    text = re.sub(r'(src|srcset)="docs/', r'\1="', text)

    def moved(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        return f"]({target.removeprefix('docs/') if target.startswith('docs/') else f'../{target}'}{anchor})"

    return _LINK.sub(moved, text)


def _outside_code(markdown: str, change: Any) -> str:
    parts: list[str] = []
    end = 0
    for block in _CODE.finditer(markdown):
        parts += [change(markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(markdown[end:])])
