"""Fills in the Homebrew formula and the conda recipe of a release, with what pyproject.toml and the sdist say.

    python distribution/fill.py out/packages/cudalint-0.1.0.tar.gz out

writes `out/cudalint.rb` and `out/recipe.yaml`. `.ci/package` does so for each release.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TEMPLATES = ("cudalint.rb", "recipe.yaml")
_NAMES = {"libclang": "python-clang"}
"""What conda-forge calls distributions that have another name there."""
_REQUIREMENT = re.compile(r"([\w.-]+)(.*)")
_HOLE = re.compile(r"@[A-Z0-9]+@")


def filled(template: str, sdist: Path, project: Mapping[str, Any]) -> str:
    """Raises ValueError for a hole that nothing fills."""
    version = sdist.name.removeprefix("cudalint-").removesuffix(".tar.gz")
    values = {
        "VERSION": version,
        "URL": f"https://files.pythonhosted.org/packages/source/c/cudalint/{sdist.name}",
        "SHA256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        "DESCRIPTION": project["description"],
        "HOMEPAGE": project["urls"]["Homepage"],
        "LICENSE": project["license"],
        "PYTHON": project["requires-python"].removeprefix(">="),
        "REQUIREMENTS": "\n".join(f"    - {requirement(text)}" for text in project["dependencies"]),
    }
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    if left := _HOLE.search(template):
        raise ValueError(f"nothing fills {left[0]}")
    return template


def requirement(text: str) -> str:
    """`click>=8.1` as conda has it: `click >=8.1`."""
    found = _REQUIREMENT.fullmatch(text)
    if found is None or "[" in text or ";" in text:
        raise ValueError(f"{text} is no plain requirement")
    return f"{_NAMES.get(found[1].lower(), found[1].lower())} {found[2]}".rstrip()


def main(sdist: Path, folder: Path) -> None:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in TEMPLATES:
        text = filled((HERE / name).read_text(encoding="utf-8"), sdist, project)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
