"""The repository has one address, that of pyproject.toml, and all that leads there is made from it."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cudalint import __version__

_ROOT = Path(__file__).parent.parent


def _module() -> ModuleType:
    found = importlib.util.spec_from_file_location("address", _ROOT / "docs" / "site" / "address.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


address = _module()


def _project() -> Any:
    return tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_addresses_of_the_project_are_one() -> None:
    urls = _project()["urls"]
    assert address.owner(urls["Homepage"])
    assert [url for url in urls.values() if not url.startswith(urls["Homepage"])] == []


def test_no_file_names_another() -> None:
    """`python docs/site/address.py` writes what pyproject.toml says into all of them."""
    expected = {address.owner(address.repository())}
    named = {path: address.owners_in(text) for path, text in address.files()}
    assert {path: owners for path, owners in named.items() if owners - expected} == {}
    leading = {path.relative_to(_ROOT).as_posix() for path, owners in named.items() if owners}
    assert leading >= {
        ".github/ISSUE_TEMPLATE/config.yml", "CITATION.cff", "CONTRIBUTING.md", "docs/configuration.md",
        "docs/continuous-integration.md", "editors/vscode/package.json", "pyproject.toml",
    }  # fmt: skip


def test_no_place_holder_is_left() -> None:
    assert [path for path, text in address.files() if re.search(r"\bOWNER\b/", text)] == []


@pytest.mark.parametrize("text", ["https://github.com/x", "http://github.com/cudalint/cudalint", "https://github.com/x/y"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="no address such as"):
        address.owner(text)


def test_the_extension_names_it() -> None:
    document = json.loads((_ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    assert document["repository"]["url"] == address.repository()


def _long_description() -> str:
    """As building a package makes it."""
    found = importlib.util.spec_from_file_location("setup_script", _ROOT / "setup.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return str(module._description())


def test_links_on_the_package_index_are_absolute() -> None:
    """It has no other files; whatever the README names beside itself is there at the tag of this version."""
    text = re.sub(r"^```.*?^```$", "", _long_description(), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#]+)", text)
    pictures = re.findall(r'\b(?:src|srcset)="([^"]+)"', text)
    assert [link for link in [*links, *pictures] if not link.startswith("https://")] == []
    here = f"{address.repository()}/blob/v{__version__}/"
    raw = here.replace("github.com", "raw.githubusercontent.com").replace("/blob/", "/")
    led = [link.removeprefix(here) for link in links if link.startswith(here)]
    shown = [picture.removeprefix(raw) for picture in pictures]
    assert len(led) > 20 and len(shown) == 4
    assert [path for path in [*led, *shown] if not (_ROOT / path).exists()] == []
