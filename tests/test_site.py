"""The documentation as a site, and the page that is made from the schemas."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parent.parent


def test_the_page_of_json_is_up_to_date() -> None:
    """`python docs/site/json_reference.py` writes it anew."""
    found = importlib.util.spec_from_file_location("json_reference", _ROOT / "docs" / "site" / "json_reference.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    assert module.page() == (_ROOT / "docs" / "json.md").read_text(encoding="utf-8")


def _built(target: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("zensical", reason="zensical comes with the extra `docs`")
    command = [sys.executable, "docs/site/build.py", str(target)]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)


def test_the_site_is_built(tmp_path: Path) -> None:
    """Every link leads somewhere, and pages load nothing from elsewhere."""
    done = _built(tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.relative_to(tmp_path / "site").as_posix(): path for path in (tmp_path / "site").rglob("*.html")}
    sources = {path.relative_to(_ROOT / "docs").as_posix() for path in (_ROOT / "docs").rglob("*.md")}
    expected = {re.sub(r"\bREADME\.md$", "index.md", name).replace(".md", ".html") for name in sources}
    assert expected | {"index.html"} <= set(pages)
    for page in pages.values():
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|source)[^>]* src(?:set)?=\"?([^\" >]+)", text)
        loaded += re.findall(r"<link[^>]* href=\"?([^\" >]+)[^>]* rel=\"?stylesheet", text)
        assert [address for address in loaded if "://" in address] == []
        # Links to pages are to their HTML, those to files outside of docs/ to the repository.
        assert not re.search(r'href="?[^":> ]+\.(?:md|py)["# >]', text), page
    assert "examples/transpose.cu" in pages["guide/transpose.html"].read_text(encoding="utf-8")
    assert 'src="images/losses-light.svg"' in pages["index.html"].read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation() -> None:
    """Rules are put there by their names, the README as the first page."""
    settings = tomllib.loads((_ROOT / "docs" / "site" / "zensical.toml").read_text(encoding="utf-8"))
    named = set(_pages_in(settings["project"]["nav"]))
    pages = {path.relative_to(_ROOT / "docs").as_posix() for path in (_ROOT / "docs").rglob("*.md")}
    assert named - {"index.md", "rules/", "REPOSITORY"} == {page for page in pages if not page.startswith("rules/")}


def _pages_in(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for each in entry.values() if isinstance(entry, dict) else entry:
            yield from _pages_in(each)


def test_what_leads_nowhere_is_no_site(tmp_path: Path) -> None:
    """The generator is asked to be strict, and is."""
    pytest.importorskip("zensical", reason="zensical comes with the extra `docs`")
    found = importlib.util.spec_from_file_location("site_build", _ROOT / "docs" / "site" / "build.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    for wrong in ("[x](nowhere.md)", "[x](fixes.md#nowhere)"):
        folder = tmp_path / str(len(wrong))
        module.stage(folder)
        with (folder / "pages" / "limits.md").open("a", encoding="utf-8") as file:
            file.write(f"\n{wrong}\n")
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode != 0, wrong
