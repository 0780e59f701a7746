"""Rooms import one another in one direction, types included, and no module has to be imported before another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import networkx as nx

_ROOT = Path(__file__).parents[1]
_PACKAGES = {"cudalint": _ROOT / "cudalint", "cudalint.rules": _ROOT / "rules"}
_TERMS = ("reasons", "kinds", "numerals", "regexes", "shortfalls", "catalogue", "guide", "heuristics")
_FOR_RULES = ("rule", "rulekit", "racekit", "launchkit", "hostkit", "registry")
_ORDER = (
    *_TERMS, "facts", "diagnostics", "hardware", "system", "source", "options", *_FOR_RULES, "ir", "toolchain",
    "frontend", "execute", "worlds", "host", "launches", "measure", "fixes", "report", "project", "rules", "run",
    "confirm", "editor", "cli", "testing", "__main__",
)  # fmt: skip
"""The rooms, and the modules that stand beside them: each imports those before it. Modules of `_TERMS` and of
`_FOR_RULES` import one another as they like; that these have no cycles is the other test."""
_EXCEPTIONS = {("cudalint.facts", "cudalint.run.api.figures"): "`cudalint.facts` is the public function `facts`, too"}


def test_rooms_import_one_another_in_one_direction() -> None:
    modules = _modules()
    place = {name: position for position, name in enumerate(_ORDER)}
    place |= dict.fromkeys(_TERMS, place[_TERMS[0]]) | dict.fromkeys(_FOR_RULES, place[_FOR_RULES[0]])
    assert {_room(name) for name in modules if name != "cudalint"} == set(_ORDER)
    against = []
    for name, path in modules.items():
        if name == "cudalint":
            continue
        named = set(_named_anywhere(ast.parse(path.read_text(encoding="utf-8")), modules)) - {"cudalint"}
        later = [other for other in named if place[_room(other)] > place[_room(name)]]
        against.extend(f"{name} imports {other}" for other in later if (name, other) not in _EXCEPTIONS)
    assert against == []


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


def _room(module: str) -> str:
    return module.split(".")[1]


def _named_anywhere(tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules of the program that a file imports at any place, in functions and for types, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            below = [name for alias in node.names if (name := f"{node.module}.{alias.name}") in modules]
            yield from below or ([node.module] if node.module in modules else [])


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
