"""What the setup.py of an extension and the BUILD files of Bazel say of its sources, read as Python and never run.

Both are parsed by `ast`. Of expressions only those are followed that put texts and lists together: literals,
names that are assigned such, `+`, and the usual ways of joining paths. What is made of anything else is left out.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import border_around, surroundings
from cudalint.system.disk.folders import small_text, top_of_project
from cudalint.toolchain.buildfiles.build import Build, folders_among, macro_of, macros_among, standard_among, together

_LEVELS: Final = 8
_LARGEST: Final = 1 << 18
_DEEPEST: Final = 24
_MOST_STEPS: Final = 20_000
_LONGEST: Final = 4_000
"""Letters of a text, and parts of a list."""
_MOST_CALLS: Final = 400
_MOST_DEPENDENCIES: Final = 3
"""A rule's dependencies are followed so far."""
_BUILD_FILES: Final = ("BUILD.bazel", "BUILD")
_EXTENSIONS: Final = frozenset({"include_dirs", "define_macros", "extra_compile_args"})
_RULES: Final = frozenset({"copts", "includes", "defines", "local_defines"})
_FOR_HIP: Final = regex(r"HIP|ROCM", re.IGNORECASE)
_THIS_FOLDER: Final = regex(r"\b(?:__file__|getcwd|cwd)\b")
_JOINS: Final = frozenset({"join", "joinpath", "Path", "str", "abspath", "realpath", "normpath", "resolve", "dirname"})

Value = str | list["Value"] | dict[str, "Value"] | None
"""What an expression comes to, as far as that is followed."""


def setup_build(path: str) -> Build:
    """What the nearest setup.py above a file says of all sources of its extensions."""
    folder = os.path.dirname(os.path.abspath(path))
    files = (os.path.join(base, "setup.py") for base in surroundings(folder, _LEVELS))
    found = next((each for each in files if disk.is_file(each)), None)
    return _of_setup(found) if found is not None else Build()


def bazel_build(path: str) -> Build:
    """What the BUILD file of a file's folder, or the nearest one above it, says of the file."""
    path = os.path.abspath(path)
    for base in surroundings(os.path.dirname(path), _LEVELS):
        for name in _BUILD_FILES:
            if disk.is_file(os.path.join(base, name)):
                return _of_bazel(os.path.join(base, name), os.path.basename(path))
    return Build()


@disk.remembered(16)
def _of_setup(path: str) -> Build:
    file = _File(path)
    macros, folders, words = [], [], []
    for call in file.calls(_EXTENSIONS):
        for pair in _listed(call.get("define_macros")):
            name, value = (*_listed(pair), None, None)[:2]
            if isinstance(name, str):
                macros.append(macro_of(f"{name}={value}" if isinstance(value, str) and value else name))
        folders += _texts(call.get("include_dirs"))
        options = call.get("extra_compile_args")
        for key, listed in options.items() if isinstance(options, dict) else [("", options)]:
            if key in ("", "nvcc", "nvcc_args"):
                words += [text for text in _texts(listed) if not _FOR_HIP.search(text)]
    # Which extension a source is of, and under which conditions, is seldom written down.
    possible = [macro for macro in (*macros, *macros_among(words)) if macro and not _FOR_HIP.search(macro.name)]
    placed = tuple(file.placed(each) for each in (*folders, *folders_among(words)))
    return Build((), tuple(possible), placed, standard_among(words))


@disk.remembered(16)
def _of_bazel(path: str, source: str) -> Build:
    file = _File(path)
    top = top_of_project(os.path.dirname(path)) or os.path.dirname(path)
    own: list[Build] = []
    others: list[Build] = []
    for call in file.calls(_RULES | {"deps"}):
        words = _texts(call.get("copts"))
        defined = map(macro_of, [text for each in ("defines", "local_defines") for text in _texts(call.get(each))])
        folders = [os.path.normpath(os.path.join(top, each)) for each in folders_among(words)]
        folders += [file.placed(each) for each in _texts(call.get("includes"))]
        macros = (*macros_among(words), *filter(None, defined))
        listed = (text for each in ("srcs", "hdrs") for text in _texts(call.get(each)))
        sources = [os.path.basename(text.rpartition(":")[2]) for text in listed]
        build = Build(macros, (), tuple(folders), standard_among(words))
        if source in sources:
            exported = [_exported(label, os.path.dirname(path), top, 0) for label in _texts(call.get("deps"))]
            build = together([build, *exported])
        (own if source in sources else others).append(build)
    rest = [Build((), build.macros, build.folders) for build in others]
    return together([*own, *rest])


def _exported(label: str, folder: str, top: str, depth: int) -> Build:
    """The `defines` and `includes` that a rule of the project, and those that it depends on, have for what depends on
    them."""
    package, _, name = label.partition(":")
    if package.startswith("//"):
        folder, name = os.path.join(top, package[2:]), name or package.rpartition("/")[2]
    elif package or depth > _MOST_DEPENDENCIES:
        return Build()
    files = (os.path.join(folder, each) for each in _BUILD_FILES)
    path = next((each for each in files if disk.is_file(each)), None)
    if path is None or border_around(os.path.join(top, _BUILD_FILES[0])).problem_of(path) is not None:
        return Build()
    file = _File(path)
    found: list[Build] = []
    for call in file.calls(_RULES | {"deps"}):
        if call.get("name") == name:
            macros = tuple(filter(None, map(macro_of, _texts(call.get("defines")))))
            found.append(Build(macros, (), tuple(file.placed(each) for each in _texts(call.get("includes")))))
            found += [_exported(each, folder, top, depth + 1) for each in _texts(call.get("deps"))[:_MOST_CALLS]]
    return together(found)


def _listed(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


def _texts(value: Value) -> list[str]:
    return [each for each in _listed(value) if isinstance(each, str)]


class _File:
    """A file of Python with the values of its names."""

    def __init__(self, path: str) -> None:
        self._folder = os.path.dirname(path)
        self._steps = 0
        self._values: dict[str, list[ast.expr]] = {}
        try:
            self._tree: ast.AST = ast.parse(small_text(path)[:_LARGEST])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = ast.Module([], [])
        for node in ast.walk(self._tree):
            self._note(node)

    def placed(self, folder: str) -> str:
        return os.path.normpath(os.path.join(self._folder, folder))

    def calls(self, keywords: frozenset[str]) -> Iterator[Mapping[str, Value]]:
        """The arguments that calls are given by name, of those that are given one of some names; and what such a name
        is assigned, as it may be passed in other ways."""
        yield {name: self._of_name(name, 0) for name in keywords}
        calls = (node for node in ast.walk(self._tree) if isinstance(node, ast.Call))
        wanted = (call for call in calls if any(each.arg in keywords for each in call.keywords))
        for call in itertools.islice(wanted, _MOST_CALLS):
            yield {each.arg: self._value(each.value, 0) for each in call.keywords if each.arg is not None}

    def _note(self, node: ast.AST) -> None:
        """What a name is assigned, and what is added to it."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._values.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add):
            self._values.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.Call) and len(node.args) == 1:
            match node.func:
                case ast.Attribute(value=ast.Name(id=name), attr="append"):
                    self._values.setdefault(name, []).append(ast.List([node.args[0]], ast.Load()))
                case ast.Attribute(value=ast.Name(id=name), attr="extend"):
                    self._values.setdefault(name, []).append(node.args[0])

    def _value(self, node: ast.expr, depth: int) -> Value:
        self._steps += 1
        if depth > _DEEPEST or self._steps > _MOST_STEPS:
            return None
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self._value(element, depth + 1) for element in elements]
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {
                    key.value: self._value(value, depth + 1)
                    for key, value in pairs
                    if isinstance(key, ast.Constant) and isinstance(key.value, str)
                }
            case ast.Name(id=name):
                return self._of_name(name, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _added(self._value(left, depth + 1), self._value(right, depth + 1))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return _joined([self._value(left, depth + 1), self._value(right, depth + 1)])
            case ast.Attribute(value=inner, attr=attribute):
                if _THIS_FOLDER.search(attribute):
                    return self._folder
                return self._value(inner, depth + 1) if attribute == "parent" else None
            case ast.Call():
                return self._of_call(node, depth)
        return None

    def _of_name(self, name: str, depth: int) -> Value:
        if name == "__file__":
            return self._folder
        parts = [self._value(each, depth + 1) for each in self._values.get(name, ())]
        lists = [each for each in parts if isinstance(each, list)]
        if lists:
            return [value for each in lists for value in each][:_LONGEST]
        return parts[-1] if parts else None

    def _of_call(self, node: ast.Call, depth: int) -> Value:
        """The usual ways to a folder; that of the file itself stands for the file."""
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name in ("getcwd", "cwd"):
            return self._folder
        if name == "list" and len(node.args) == 1:
            return self._value(node.args[0], depth + 1)
        if name not in _JOINS:
            return None
        parts = [self._value(each, depth + 1) for each in node.args]
        if name in ("joinpath", "resolve") and isinstance(function, ast.Attribute):
            parts.insert(0, self._value(function.value, depth + 1))
        joined = _joined(parts)
        is_own = joined == self._folder
        return os.path.dirname(joined) if name == "dirname" and joined and not is_own else joined


def _added(left: Value, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str):
        return left + right if len(left) + len(right) < _LONGEST else None
    if isinstance(left, list) or isinstance(right, list):
        return [*_listed(left), *_listed(right)][:_LONGEST]
    return None


def _joined(parts: list[Value]) -> str | None:
    texts = [part for part in parts if isinstance(part, str)]
    return os.path.join(*texts) if texts and len(texts) == len(parts) else None
