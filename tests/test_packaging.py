"""The package's own list of its parts, which setuptools can't find out by itself because of `rules/`."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent


def _settings() -> Any:
    return tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_every_package_is_listed() -> None:
    folders = {init.parent for init in (_ROOT / "cudalint").rglob("__init__.py")}
    expected = {".".join(folder.relative_to(_ROOT).parts) for folder in folders} | {"cudalint.rules"}
    assert set(_settings()["packages"]) == expected


def test_every_data_file_is_listed() -> None:
    for name, folder in (("cudalint", "cudalint"), ("cudalint.rules", "rules")):
        package = _ROOT / folder
        listed = {path for pattern in _settings()["package-data"][name] for path in package.glob(pattern)}
        data = {
            path
            for path in package.rglob("*")
            if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
        }
        assert data - listed == set()


def test_data_files_are_installed() -> None:
    schemas = [f"schemas/{name}.schema.json" for name in ("facts", "diagnostics", "confirm")]
    for name in ("py.typed", *schemas, "hardware/targets.json"):
        assert resources.files("cudalint").joinpath(*name.split("/")).is_file()
