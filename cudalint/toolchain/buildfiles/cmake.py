"""What the CMakeLists.txt of a project say of its sources, read as text: nothing of them is executed.

Commands are read as they stand, from the outermost folder of the project to that of the file. What stands within `if`,
a loop, a function or a macro may hold or not; a variable that only CMake could know leaves what is made of it unknown.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import border_around, upwards
from cudalint.system.disk.folders import small_text, top_of_project
from cudalint.toolchain.buildfiles.build import Build, BuildMacro, folders_among, macro_of, macros_among, standard_among
from cudalint.toolchain.buildfiles.pyproject import cmake_variables

_NAME: Final = "CMakeLists.txt"
_MOST_LEVELS: Final = 12
_MOST_COMMANDS: Final = 5_000
_MOST_WORDS: Final = 2_000
_LONGEST: Final = 4_000
"""Letters of a value that is made of variables."""
_TOKEN: Final = regex(
    r"""(?P<space>\s+)|(?P<note>\#\[(?P<marks>=*)\[.*?\](?P=marks)\]|\#[^\n]*)|(?P<open>\()|(?P<close>\))"""
    r"""|\[(?P<equals>=*)\[(?P<bracket>.*?)\](?P=equals)\]|"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<word>(?:\\.|"[^"\n]*"|[^\s()#"\\])+)|.""",
    re.DOTALL,
)
_OPENS: Final = frozenset({"if", "foreach", "while", "function", "macro"})
_CLOSES: Final = frozenset(f"end{word}" for word in _OPENS)
_REFERENCE: Final = regex(r"\$\{([\w.+/-]+)\}")
_OPTIONS: Final = frozenset({"add_compile_options", "target_compile_options", "add_definitions"})
_FOR_CUDA: Final = regex(r"\$<\$<COMPILE_LANGUAGE:CUDA>:([^<>]*)>")
_GENERATOR: Final = regex(r"\$<[^<>]*>")
_MOST_NESTED: Final = 4
_DEFINED: Final = regex(
    r"^[ \t]*#[ \t]*(define|cmakedefine01|cmakedefine)[ \t]+(\w+)(?!\()[ \t]*([^\n]*)$", re.MULTILINE
)
_BUILD_FOLDERS: Final = ("build", "", "cmake-build-release", "cmake-build-debug", "out/build")
_MOST_BELOW: Final = 64
"""Folders and files that are read beside those around the source."""
_TARGETS: Final = regex(r"(?:cuda_)?add_(?:library|executable)|\w*add_(?:\w+_)?(?:module|library|executable)")
_SCOPES: Final = frozenset({"PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER"})
_HERE: Final = ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR")
_TOP: Final = ("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR", "CMAKE_HOME_DIRECTORY")
_FEATURE: Final = regex(r"cuda_std_(\d\d)")


class _Interface(Struct):
    """What a target hands on to those that are linked with it."""

    folders: list[str] = field(default_factory=list)
    macros: list[BuildMacro] = field(default_factory=list)


class Command(Struct, frozen=True):
    """One command, with its arguments as they are written."""

    name: str
    arguments: tuple[str, ...]
    is_certain: bool
    """Whether it stands outside of all that may not be executed."""


@disk.remembered(64)
def commands_of(path: str) -> tuple[Command, ...]:
    """The commands of a file of CMake."""
    found: list[Command] = []
    arguments: list[str] = []
    name, depth, blocks = "", 0, 0
    for match in _TOKEN.finditer(small_text(path)):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= depth > 0
            if depth == 0 and name:
                blocks -= name in _CLOSES and blocks > 0
                found.append(Command(name, tuple(arguments), blocks == 0))
                blocks += name in _OPENS
                name, arguments = "", []
        elif kind in ("word", "quoted", "bracket", "equals"):
            text = match["word"] or match["quoted"] or match["bracket"] or ""
            if depth:
                arguments += [text] if len(arguments) < _MOST_WORDS else []
            else:
                name = text.lower()
        if len(found) >= _MOST_COMMANDS:
            break
    return tuple(found)


def cmake_build(path: str) -> Build:
    """What the CMakeLists.txt of a file's folder, and those around it, say of it."""
    path = os.path.abspath(path)
    return _build_of(os.path.dirname(path), os.path.basename(path))


@disk.remembered(64)
def _build_of(folder: str, name: str) -> Build:
    """The same for all files of a folder that no target is made of by name."""
    build, named = _read(folder, "")
    return _read(folder, name)[0] if name in named else build


@disk.remembered(64)
def _read(folder: str, name: str) -> tuple[Build, frozenset[str]]:
    """What is said of a source, and the names of those that targets are made of."""
    top = top_of_project(folder)
    chain: list[str] = []
    for each in upwards(folder):
        if len(chain) < _MOST_LEVELS and disk.is_file(os.path.join(each, _NAME)):
            chain.insert(0, each)
        if each == top:
            break
    reading = _Reading(chain[0] if chain else folder, name)
    for each in chain:
        reading.read(each, is_own=each == folder)
    if chain:
        reading.read_below()
    return reading.build, frozenset(reading.named)


class _Reading:
    """One way through the files, from the outermost one on."""

    def __init__(self, top: str, source: str) -> None:
        self._given = cmake_variables(top)
        """What is said where CMake is called, which goes before what is in its cache."""
        self._variables: dict[str, str] = {**self._given, **dict.fromkeys(_TOP, top)}
        self._border = border_around(os.path.join(top, _NAME))
        self._included: set[str] = set()
        self._below: list[str] = []
        """Folders that are added to the build."""
        self._interfaces: dict[str, _Interface] = {}
        """Of targets, what they hand on to those that are linked with them."""
        self._linked: dict[str, list[str]] = {}
        self._own: set[str] = set()
        """The targets that the source may be of."""
        self._source = source
        self.named: set[str] = set()
        """The sources that targets are made of, without their folders."""
        self._macros: dict[str, BuildMacro] = {}
        self._possible: dict[str, BuildMacro] = {}
        self._folders: dict[str, None] = {}
        self._standard: int | None = None
        self._here = top

    @property
    def build(self) -> Build:
        for interface in self._reached():
            self._folders |= dict.fromkeys(interface.folders)
            for macro in interface.macros:
                self._macros.setdefault(macro.name, macro)
        flags = _words(self._variables.get("CMAKE_CUDA_FLAGS", ""))
        macros = {**{macro.name: macro for macro in macros_among(flags)}, **self._macros}
        standard = self._standard or _number(self._variables.get("CMAKE_CUDA_STANDARD", "")) or standard_among(flags)
        possible = tuple(macro for macro in self._possible.values() if macro.name not in macros)
        folders = (*self._folders, *map(self._placed, folders_among(flags)))
        return Build(tuple(macros.values()), possible, folders, standard)

    def read(self, folder: str, *, is_own: bool) -> None:
        self._here = folder
        self._variables |= dict.fromkeys(_HERE, folder)
        commands = commands_of(os.path.join(folder, _NAME))
        targets = self._targets_of(commands)
        self._own |= targets
        for command in commands:
            self._command(command, targets if is_own or targets else None)

    def read_below(self) -> None:
        """Reads the folders that are added to the build, for what targets there hand on to others."""
        if not any(self._linked.get(target) for target in self._own):
            return
        kept = (self._macros, self._possible, self._folders, self._standard)
        seen: set[str] = set()
        while self._below and len(seen) < _MOST_BELOW:
            folder = self._below.pop(0)
            if folder not in seen and self._may_read(os.path.join(folder, _NAME)):
                seen.add(folder)
                self._macros, self._possible, self._folders = {}, {}, {}
                variables = dict(self._variables)
                self.read(folder, is_own=False)
                self._variables = variables
        self._macros, self._possible, self._folders, self._standard = kept

    def _reached(self) -> Iterator[_Interface]:
        """What targets hand on that those of the source are linked with, directly or through others."""
        waiting = [name for target in self._own for name in self._linked.get(target, ())]
        seen: set[str] = set()
        while waiting and len(seen) < _MOST_BELOW:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += self._linked.get(name, ())
                if name in self._interfaces:
                    yield self._interfaces[name]

    def _targets_of(self, commands: tuple[Command, ...]) -> frozenset[str]:
        """The targets that the source is named for; else the only one that there is."""
        made: dict[str, None] = {}
        named: set[str] = set()
        for command in commands:
            is_target = _TARGETS.fullmatch(command.name) is not None or command.name == "target_sources"
            if is_target and command.arguments:
                made[command.arguments[0]] = None
                sources = set(map(os.path.basename, command.arguments[1:])) - {""}
                self.named |= sources
                if self._source in sources:
                    named.add(command.arguments[0])
        return frozenset(named or (made if len(made) == 1 else ()))

    def _command(self, command: Command, targets: frozenset[str] | None) -> None:
        name = command.name
        if name in ("set", "option", "list", "string", "unset"):
            self._assign(command)
            return
        if name == "project" and command.arguments:
            self._variables[f"{command.arguments[0]}_SOURCE_DIR"] = self._here
            return
        if name in _OPTIONS:
            command = replace(command, arguments=tuple(_without_generators(command.arguments)))
        arguments = [word for argument in command.arguments for word in self._expanded(argument)]
        if name in ("include", "add_subdirectory", "fetchcontent_declare", "configure_file") and arguments:
            self._further(name, arguments, targets)
        elif name in ("add_library", "add_executable") and arguments[1:2] == ["ALIAS"] and len(arguments) > 2:
            self._linked[arguments[0]] = [arguments[2]]
        elif name == "target_link_libraries" and len(arguments) > 1:
            self._linked.setdefault(arguments[0], []).extend(word for word in arguments[1:] if word not in _SCOPES)
        elif name == "target_compile_options" and arguments:
            is_own = targets is not None and arguments[0] in targets
            self._define(arguments[1:], command.is_certain and is_own, are_options=True)
        elif name in ("add_definitions", "add_compile_definitions", "add_compile_options"):
            self._define(arguments, command.is_certain, are_options=name != "add_compile_definitions")
        elif name in ("include_directories", "target_include_directories", "cuda_include_directories"):
            words = arguments[1:] if name.startswith("target") else arguments
            if name.startswith("target") and words:
                public = self._interface(arguments[0]).folders
                public += [self._placed(word) for word in _public_among(words)]
            self._folders |= dict.fromkeys(self._placed(word) for word in words if word not in _SCOPES)
        elif name == "target_compile_definitions" and arguments:
            is_own = targets is not None and (command.arguments[0] in targets)
            self._interface(arguments[0]).macros += filter(None, map(macro_of, _public_among(arguments[1:])))
            self._define(arguments[1:], command.is_certain and is_own, are_options=False)
        elif name == "target_compile_features" and command.is_certain:
            found = [int(match[1]) for match in map(_FEATURE.fullmatch, arguments) if match]
            self._standard = max([*found, self._standard or 0]) or None
        elif name in ("set_target_properties", "set_property") and "CUDA_STANDARD" in arguments[:-1]:
            value = _number(arguments[arguments.index("CUDA_STANDARD") + 1])
            self._standard = max(value or 0, self._standard or 0) or None

    def _interface(self, target: str) -> _Interface:
        return self._interfaces.setdefault(target, _Interface())

    def _further(self, name: str, arguments: list[str], targets: frozenset[str] | None) -> None:
        """What leads to other files and folders."""
        if name == "add_subdirectory":
            self._below.append(self._placed(arguments[0]))
        elif name == "fetchcontent_declare":
            self._variables.setdefault(f"{arguments[0].lower()}_SOURCE_DIR", self._fetched(arguments))
        elif name == "configure_file":
            for macro in self._configured(self._placed(arguments[0])):
                self._macros.setdefault(macro.name, macro)
        else:
            self._include(arguments[0], targets)

    def _include(self, name: str, targets: frozenset[str] | None) -> None:
        """Executes the commands of another file, which is called by its path or is a module of the project."""
        modules = self._variables.get("CMAKE_MODULE_PATH", "").split(";")
        places = [self._placed(name), *(self._placed(os.path.join(each, f"{name}.cmake")) for each in modules if each)]
        path = next((each for each in places if self._may_read(each)), None)
        if path is None or path in self._included or len(self._included) >= _MOST_BELOW:
            return
        self._included.add(path)
        around = self._variables.get("CMAKE_CURRENT_LIST_DIR", self._here)
        self._variables["CMAKE_CURRENT_LIST_DIR"] = os.path.dirname(path)
        for command in commands_of(path):
            self._command(command, targets)
        self._variables["CMAKE_CURRENT_LIST_DIR"] = around

    def _may_read(self, path: str) -> bool:
        """Whether there is such a file, and in the project."""
        return self._border.problem_of(path) is None and disk.is_file(path)

    def _fetched(self, arguments: list[str]) -> str:
        """Where CMake puts what it fetches: the folder that somebody names, or that of a build beside the sources."""
        name, top = arguments[0], self._variables[_TOP[0]]
        given = self._variables.get(f"FETCHCONTENT_SOURCE_DIR_{name.upper()}")
        if given is None and "SOURCE_DIR" in arguments[:-1]:
            given = arguments[arguments.index("SOURCE_DIR") + 1]
        if given is not None:
            return self._placed(given)
        folders = [os.path.join(top, build, "_deps", f"{name.lower()}-src") for build in _BUILD_FOLDERS]
        return next((folder for folder in folders if disk.is_folder(folder)), folders[0])

    def _configured(self, path: str) -> Iterator[BuildMacro]:
        """The macros of a header that CMake writes, as its template has them."""
        for match in _DEFINED.finditer(small_text(path) if self._may_read(path) else ""):
            how, name = match[1], match[2]
            value = re.sub(r"@(\w+)@", r"${\1}", match[3]).strip()
            is_on = self._variables.get(name, "").upper() not in ("", "0", "OFF", "FALSE", "NO", "N")
            if how == "cmakedefine01":
                yield BuildMacro(name, str(int(is_on)))
            elif how == "define" or is_on:
                whole = self._whole(value)
                macro = macro_of(f"{name}={whole}" if whole else name) if whole is not None else None
                if macro is not None and (whole or how == "cmakedefine"):
                    yield macro

    def _assign(self, command: Command) -> None:
        """A variable that is set under a condition is what it was before, if it was anything, or the first of its
        values: such is the way of a default."""
        words = list(command.arguments)
        if command.name == "option" and len(words) > 2:
            self._variables.setdefault(words[0], words[2])
        elif command.name == "set" and words:
            values = words[1:]
            if words[0] in self._given and "CACHE" in values:
                return
            for end in ("CACHE", "PARENT_SCOPE"):
                values = values[: values.index(end)] if end in values else values
            if values and (command.is_certain or words[0] not in self._variables):
                self._put(words[0], ";".join(values))
        elif command.name in ("list", "string") and len(words) > 2 and words[0] == "APPEND" and command.is_certain:
            between = ";" if command.name == "list" else ""
            self._put(words[1], self._variables.get(words[1], "") + between + between.join(words[2:]))

    def _put(self, name: str, value: str) -> None:
        whole = self._whole(value)
        if whole is None:
            # What flags add to themselves is known all the same, as far as it is known.
            whole = _REFERENCE.sub(lambda match: self._variables.get(match[1], ""), value) if "FLAGS" in name else None
        if whole is None or "$" in whole:
            self._variables.pop(name, None)
        else:
            self._variables[name] = whole[:_LONGEST]

    def _whole(self, text: str) -> str | None:
        """A text without references to variables; None where one is not known."""
        if any(name not in self._variables for name in _REFERENCE.findall(text)):
            return None
        return _REFERENCE.sub(lambda match: self._variables[match[1]], text)

    def _expanded(self, argument: str) -> Iterator[str]:
        argument = re.sub(r"\A\$<BUILD_INTERFACE:([^<>]*)>\Z", r"\1", argument)
        whole = self._whole(argument)
        if whole is not None and "$" not in whole:
            yield from (word for word in whole[:_LONGEST].split(";") if word)

    def _define(self, words: list[str], is_certain: bool, *, are_options: bool) -> None:
        kept = [word for word in words if word not in _SCOPES]
        options = [part for word in kept for part in _words(word)] if are_options else []
        found = macros_among(options) if are_options else filter(None, map(macro_of, kept))
        for macro in found:
            (self._macros if is_certain else self._possible).setdefault(macro.name, macro)

    def _placed(self, folder: str) -> str:
        return os.path.normpath(os.path.join(self._here, folder))


def _public_among(words: list[str]) -> Iterator[str]:
    """Those of a target's properties that hold for others, too."""
    scope = ""
    for word in words:
        if word in _SCOPES:
            scope = word
        elif scope in ("PUBLIC", "INTERFACE"):
            yield word


def _without_generators(arguments: tuple[str, ...]) -> list[str]:
    """Options of which those that CMake has for CUDA alone are there without their condition, and those with another
    one are not."""
    text = _FOR_CUDA.sub(r"\1", " ".join(arguments))
    for _ in range(_MOST_NESTED):
        text = _GENERATOR.sub("", text)
    return text.split()


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)[:_MOST_WORDS]
    except ValueError:
        return []


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d\d", text) else None
