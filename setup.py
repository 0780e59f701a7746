"""What pyproject.toml can't say: the README as the package index shows it, whose links and pictures lead to the
repository at the tag of this version. There is one address, that of `[project.urls]`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

_ROOT = Path(__file__).parent
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
_PICTURE = re.compile(r'\b(src|srcset)="(?!https?:)([^"]+)"')
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def description(readme: str, repository: str, tag: str) -> str:
    """The README with absolute links."""
    raw = repository.replace("https://github.com/", "https://raw.githubusercontent.com/")

    def prose(text: str) -> str:
        text = _PICTURE.sub(lambda found: f'{found[1]}="{raw}/{tag}/{found[2]}"', text)
        return _LINK.sub(lambda found: f"]({repository}/blob/{tag}/{found[1]})", text)

    parts: list[str] = []
    end = 0
    for block in _CODE.finditer(readme):
        parts += [prose(readme[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, prose(readme[end:])])


def _description() -> str:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    program = (_ROOT / "cudalint" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', program, re.MULTILINE)
    assert version is not None
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    return description(readme, project["urls"]["Homepage"], f"v{version[1]}")


if __name__ == "__main__":
    setup(long_description=_description(), long_description_content_type="text/markdown")
