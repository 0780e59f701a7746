"""The repository's address, which `[project.urls]` in pyproject.toml alone decides.

    python docs/site/address.py [https://github.com/SOMEBODY/cudalint]

writes it into all files that name it; with an address behind it, pyproject.toml is given that one first.
`tests/test_address.py` fails where another one is left.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_ADDRESS = re.compile(r"https://github\.com/([\w.-]+)/cudalint")
_NAMED = re.compile(r"(github\.com/|githubusercontent\.com/|\buses: |-R[ \n]|ghcr\.io/)([\w.-]+)(/cudalint\b)")
"""What comes before the owner where files name the repository: in links, workflows and commands."""
_HIDDEN = {".ci", ".github"}
_MADE = {"build", "dist", "node_modules", "__pycache__"}
"""Folders that are no part of the repository, beside those with a dot."""
_SUFFIXES = {".cff", ".js", ".json", ".md", ".py", ".rb", ".sh", ".toml", ".yaml", ".yml"}
_NAMES = {"Dockerfile", "package", "run"}


def repository() -> str:
    """`https://github.com/SOMEBODY/cudalint`."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(document["project"]["urls"]["Homepage"])


def owner(address: str) -> str:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ValueError(f"{address} is no address such as https://github.com/SOMEBODY/cudalint")
    return found[1]


def owners_in(text: str) -> set[str]:
    """Whose repository a text takes for that of the project."""
    return {match[2] for match in _NAMED.finditer(text)}


def files() -> Iterator[tuple[Path, str]]:
    """The files of the repository that may name it, but for this one."""
    for folder, names, found in os.walk(ROOT):
        names[:] = [name for name in names if name in _HIDDEN or not (name in _MADE or name[0] == ".")]
        for path in (Path(folder, name) for name in found):
            if (path.suffix in _SUFFIXES or path.name in _NAMES) and path != Path(__file__).resolve():
                yield path, path.read_text(encoding="utf-8")


def write(name: str) -> None:
    """Everything that names the repository names that of `name`."""
    for path, text in files():
        if owners_in(text) - {name}:
            path.write_text(_NAMED.sub(rf"\g<1>{name}\g<3>", text), encoding="utf-8")


if __name__ == "__main__":
    write(owner(sys.argv[1] if len(sys.argv) > 1 else repository()))
