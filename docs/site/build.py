"""Builds the documentation as a site, with Zensical: `pip install '.[docs]'`, then

    python docs/site/build.py [FOLDER]

writes it into FOLDER, or else build/site. The pages are those that GitHub shows. Here the README becomes the first one,
the rules stand in the navigation by their titles, and what pages link to outside of docs/ leads to the repository.
`docs/site/zensical.toml` has the settings.
"""

from __future__ import annotations

import importlib.util
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_DOCS = ROOT / "docs"
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_KINDS = (".md", ".png", ".svg")
_START = "index.md"


def stage(folder: Path) -> None:
    """Writes the pages with their pictures, and the settings, into a folder that Zensical builds from."""
    repository = _repository()
    pages = folder / "pages"
    for source in sorted(_DOCS.rglob("*")):
        if source.suffix not in _KINDS or HERE in source.parents:
            continue
        target = pages / source.relative_to(_DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = source.read_text(encoding="utf-8")
            target.write_text(_led(text, source.relative_to(_DOCS).as_posix(), repository), encoding="utf-8")
        else:
            shutil.copy(source, target)
    readme = _outside_code((ROOT / "README.md").read_text(encoding="utf-8"), _from_the_root)
    (pages / _START).write_text(_led(readme, _START, repository), encoding="utf-8")
    (folder / "zensical.toml").write_text(_settings(repository), encoding="utf-8")


def build(target: Path) -> int:
    """Builds it; whatever Zensical warns of is a failure."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        stage(folder)
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        done = subprocess.run(command, cwd=folder, check=False)  # noqa: S603
        if done.returncode == 0:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder / "site", target)
    return done.returncode


def _repository() -> str:
    found = importlib.util.spec_from_file_location("address", HERE / "address.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return str(module.repository())


def _settings(repository: str) -> str:
    """With the pages of rules in the navigation."""
    text = (HERE / "zensical.toml").read_text(encoding="utf-8")
    rules = sorted(page.name for page in (_DOCS / "rules").glob("CL*.md"))
    named = ", ".join(f'"rules/{name}"' for name in ("README.md", *rules))
    text = text.replace('"rules/"', f"[{named}]").replace('"REPOSITORY"', f'"{repository}"')
    tomllib.loads(text)
    return text


def _led(text: str, page: str, repository: str) -> str:
    """What a page links to that is no page or picture is in the repository."""

    def led(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
        if path.startswith("docs/") and path.endswith(_KINDS) and (ROOT / path).is_file():
            return match[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"]({repository}/{kind}/main/{path}{anchor})"

    return _outside_code(text, lambda prose: _LINK.sub(led, prose))


def _from_the_root(text: str) -> str:
    """The README's links, and its pictures, as they are from docs/ on."""
    text = re.sub(r'(src|srcset)="docs/', r'\1="', text)

    def moved(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        return f"]({target.removeprefix('docs/') if target.startswith('docs/') else f'../{target}'}{anchor})"

    return _LINK.sub(moved, text)


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    return "".join(_changed(markdown, change))


def _changed(markdown: str, change: Callable[[str], str]) -> Iterator[str]:
    end = 0
    for block in _CODE.finditer(markdown):
        yield change(markdown[end : block.start()])
        yield block[0]
        end = block.end()
    yield change(markdown[end:])


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"))
