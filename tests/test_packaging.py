"""The package's own list of its parts, which setuptools can't find out by itself because of `rules/`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from checkout import clean_environment, fresh_clone

from cudalint import __version__

_ROOT = Path(__file__).parent.parent


_DISTRIBUTIONS = {
    "clang": "libclang", "cupy": "cupy-cuda12x", "elftools": "pyelftools", "lsprotocol": "pygls",
    "markdown_it": "markdown-it-py",
}  # fmt: skip
"""Modules whose distribution has another name."""
_EXTRA_ROOMS = {"editor": "lsp"}
"""Folders that need an extra, which only one command imports."""


def _document() -> Any:
    return tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _settings() -> Any:
    return _document()["tool"]["setuptools"]


def _imported(nodes: Iterator[ast.AST]) -> set[str]:
    """The distributions of the modules that these statements import, but for Python's own and this one."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return {_DISTRIBUTIONS.get(name, name) for name in names - sys.stdlib_module_names - {"cudalint"}}


def test_what_is_imported_is_declared() -> None:
    """A module's own imports are dependencies; those of functions may be extras."""
    project = _document()["project"]
    needed = {re.split("[<>=]", text)[0] for text in project["dependencies"]}
    extras = project["optional-dependencies"]
    extra = {re.split("[<>=]", text)[0] for text in extras["gpu"] + extras["lsp"]}
    for path in (*(_ROOT / "cudalint").rglob("*.py"), *(_ROOT / "rules").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        of_room = extras.get(_EXTRA_ROOMS.get(path.parent.name, ""), [])
        assert _imported(ast.iter_child_nodes(tree)) <= needed | {re.split("[<>=]", text)[0] for text in of_room}, path
        assert _imported(ast.walk(tree)) <= needed | extra, path


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
    schemas = [f"schemas/{name}.schema.json" for name in ("facts", "diagnostics", "diff", "confirm")]
    headers = [f"frontend/headers/{name}" for name in ("include/cuda_fp16.h", "libraries/ATen/ATen.h")]
    for name in ("py.typed", *schemas, "hardware/targets.json", *headers):
        assert resources.files("cudalint").joinpath(*name.split("/")).is_file()


def test_a_clone_runs_as_it_is(tmp_path: Path) -> None:
    """With its own rules, whatever else is installed; and says what is missing."""
    clone = fresh_clone(tmp_path)
    command = [sys.executable, "-c", "import cudalint.rules as r, cudalint.cli as c; print(r.__file__, c.__file__)"]
    done = subprocess.run(command, cwd=clone, env=clean_environment(), capture_output=True, text=True, check=True)
    rules, program = done.stdout.split()
    assert (Path(rules), Path(program)) == (clone / "rules" / "__init__.py", clone / "cudalint" / "cli" / "__init__.py")
    # Without any packages.
    command = [sys.executable, "-S", "-m", "cudalint", "--version"]
    done = subprocess.run(command, cwd=clone, env=clean_environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr[:46]) == (1, "cudalint: error: click is not installed; `pip ")


def test_the_version_stands_in_one_place() -> None:
    document = _document()
    assert document["project"]["dynamic"] == ["version", "readme"]
    assert f"## [{__version__}]" in (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f'version: "{__version__}"' in (_ROOT / "CITATION.cff").read_text(encoding="utf-8")
