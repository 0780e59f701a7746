"""The documentation as a site, and the page that is made from the schemas."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

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


def test_the_site_is_built(tmp_path: Path) -> None:
    """Every page is in the navigation, every link leads somewhere, and pages load nothing from elsewhere."""
    pytest.importorskip("material", reason="mkdocs-material comes with the extra `docs`")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert {"index.html", "guide/banks.html", "rules/CL201-bank-conflict.html", "json.html"} <= {
        page.relative_to(tmp_path).as_posix() for page in pages
    }
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|source)[^>]* src(?:set)?=\"?([^\" >]+)", text)
        loaded += re.findall(r"<link[^>]* href=\"?([^\" >]+)[^>]* rel=\"?stylesheet", text)
        assert [address for address in loaded if "://" in address] == []
        # Links to pages are to their HTML, those to files outside of docs/ to the repository.
        assert not re.search(r'href="?[^":> ]+\.(?:md|py)["# >]', text), page
    assert "examples/transpose.cu" in (tmp_path / "guide" / "transpose.html").read_text(encoding="utf-8")
