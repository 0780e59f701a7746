"""What a pyproject.toml says of how extensions are compiled: the variables that scikit-build-core calls CMake with, and
the extension modules of setuptools."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import surroundings
from cudalint.system.disk.documents import DocumentError, toml_of
from cudalint.system.disk.folders import small_text
from cudalint.toolchain.buildfiles.build import Build, folders_among, macro_of, macros_among, standard_among

_NAME: Final = "pyproject.toml"
_LEVELS: Final = 8
_VARIABLE: Final = regex(r"-D\s*(\w+)(?::\w+)?=(.*)", re.DOTALL)


def cmake_variables(folder: str) -> dict[str, str]:
    """The variables that scikit-build-core sets when it calls CMake in a folder."""
    tables = _tool(os.path.join(folder, _NAME), "scikit-build"), _tool(os.path.join(folder, _NAME), "py-build-cmake")
    found: dict[str, str] = {}
    for table in tables:
        of_cmake = table.get("cmake")
        of_cmake = of_cmake if isinstance(of_cmake, dict) else {}
        for word in _texts(of_cmake.get("args")):
            match = _VARIABLE.fullmatch(word)
            if match is not None:
                found[match[1]] = match[2]
        for options in (of_cmake.get("define"), of_cmake.get("options")):
            for name, value in options.items() if isinstance(options, dict) else ():
                text = _text(value)
                if text is not None:
                    found[name] = text
    return found


def pyproject_build(path: str) -> Build:
    """What the nearest pyproject.toml above a file says of all sources of setuptools' extension modules."""
    folder = os.path.dirname(os.path.abspath(path))
    places = (os.path.join(base, _NAME) for base in surroundings(folder, _LEVELS))
    found = next((each for each in places if disk.is_file(each)), None)
    modules = _tool(found, "setuptools").get("ext-modules") if found is not None else None
    macros, folders, words = [], list[str](), list[str]()
    for module in modules if isinstance(modules, list) else ():
        if isinstance(module, dict):
            macros += [macro_of(text) for text in _definitions(module.get("define-macros"))]
            folders += _texts(module.get("include-dirs"))
            words += _texts(module.get("extra-compile-args"))
    placed = [os.path.normpath(os.path.join(os.path.dirname(found or ""), each)) for each in folders]
    possible = (*filter(None, macros), *macros_among(words))
    return Build((), possible, (*placed, *folders_among(words)), standard_among(words))


def _definitions(pairs: Any) -> Iterator[str]:
    for pair in pairs if isinstance(pairs, list) else ():
        texts = [_text(part) for part in pair] if isinstance(pair, list) else []
        if texts and texts[0]:
            value = texts[1] if len(texts) > 1 else None
            yield f"{texts[0]}={value}" if value else texts[0]


@disk.remembered(16)
def _tool(path: str, name: str) -> Mapping[str, Any]:
    """A tool's table; an empty one where that can't be read."""
    if not disk.is_file(path):
        return {}
    try:
        table = toml_of(small_text(path)).get("tool", {})
    except DocumentError:
        return {}
    found = table.get(name) if isinstance(table, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str | None:
    """As CMake takes it."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if isinstance(value, list):
        return ";".join(_texts(value))
    return str(value) if isinstance(value, (str, int)) else None


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
