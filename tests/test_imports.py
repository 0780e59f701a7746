"""No module needs another one to be imported first: what they import at their tops has no cycles."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import networkx as nx

_ROOT = Path(__file__).parents[1]
_PACKAGES = {"cudalint": _ROOT / "cudalint", "cudalint.rules": _ROOT / "rules"}


def test_imports_have_no_cycles() -> None:
    modules = _modules()
    imports = nx.DiGraph()
    for name, path in modules.items():
        named = _imported(ast.parse(path.read_text(encoding="utf-8")).body)
        imports.add_edges_from((name, other) for other in named if other in modules and other != name)
    assert imports.number_of_edges() > len(modules)
    assert [sorted(part) for part in nx.strongly_connected_components(imports) if len(part) > 1] == []


def _modules() -> dict[str, Path]:
    """The files of the program by their modules' names."""
    found = {}
    for package, folder in _PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join([package, *parts]).removesuffix(".__init__")] = path
    return found


def _imported(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """What is imported while a module is, so neither in functions nor for types only."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            assert statement.module is not None and not statement.level
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" not in ast.unparse(statement.test):
            yield from _imported([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            yield from _imported([*statement.body, *statement.orelse, *statement.finalbody])
