"""Parse options from a compilation database, `compile_commands.json`.

The commands are nvcc's or clang's. Only what changes the meaning of the source is taken over:
include folders, macros, forced includes, the standard and the architecture. Nothing is run. No folder
and no file outside of the source's project and of the system is taken, wherever the database was found; one that the
user names is the user's own.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.frontend.flags import ParseOptions
from cudalint.numerals import whole
from cudalint.options.analysis import is_standard
from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.arguments import paths_in
from cudalint.system.disk.border import Border, border_around, searched_upwards
from cudalint.system.disk.documents import DocumentError, json_of
from cudalint.system.disk.regular import read_regular

FILE_NAME: Final = "compile_commands.json"
_BUILD_FOLDERS: Final = ("", "build", "out", "_build")
_RESPONSE_DEPTH: Final = 8
"""Response files may name further ones, and a file that names itself must come to an end."""

_ARCHITECTURE: Final = regex(r"(?:sm|compute|lto)_(\d{2,3}(?!\d)[a-z]?)|^(\d{2,3}[a-z]?)$")
# Options of nvcc and of clang whose next argument is a value that does not matter here, and so is no option.
_VALUED: Final = frozenset(
    {
        "-o", "--output-file", "-MF", "-MT", "-MQ", "-x", "--x", "-Xlinker", "-Xnvlink",
        "-Xfatbin", "-Xclang", "-ccbin", "--compiler-bindir", "-t", "--threads",
        "-L", "-l", "-cudart", "--cudart", "-odir", "-target", "-diag-suppress", "--diag-suppress",
    }
)  # fmt: skip


_REGISTERS: Final = ("-maxrregcount", "--maxrregcount")
_MOST_REGISTERS: Final = 255


class DatabaseError(Exception):
    """A compilation database that cannot be used: one line that names the file and the reason."""


class _Entry(NamedTuple):
    """One command, which is split when it is asked for: a project has thousands, and shell syntax takes time."""

    number: int
    folder: str
    """The working folder."""
    command: str | tuple[str, ...]


class CompileCommands(Struct, frozen=True):
    """The entries of a compilation database, by absolute path of the source file."""

    path: str
    entries: dict[str, _Entry]
    is_named: bool = False
    """Whether the user has named it."""

    def refused_for(self, source: str) -> tuple[str, ...]:
        """What the command names that leads out of the project."""
        translation = self._translation(source)
        return tuple(translation.refused) if translation is not None else ()

    def options_for(self, source: str) -> ParseOptions | None:
        """The options that a source file is compiled with, or None where the database does not have it."""
        translation = self._translation(source)
        return translation.options() if translation is not None else None

    def architecture_for(self, source: str) -> str | None:
        """The newest architecture that a source file is compiled for, such as `sm_90a`, where the command says so."""
        translation = self._translation(source)
        return f"sm_{translation.architecture}" if translation is not None and translation.architecture else None

    def max_registers_for(self, source: str) -> int | None:
        """What `-maxrregcount` leaves each thread of a source file's kernels."""
        translation = self._translation(source)
        return translation.max_registers if translation is not None else None

    def has(self, source: str) -> bool:
        """Whether the database says how a source file is compiled."""
        return disk.resolved(source) in self.entries

    def _translation(self, source: str) -> _Translation | None:
        entry = self.entries.get(disk.resolved(source))
        if entry is None:
            return None
        border = border_around(source)
        if self.is_named:
            border = Border(everything=True)
        return _translated(_arguments(self.path, entry), entry.folder, border)


def find_compile_commands(start: str) -> str | None:
    """The database nearest to a file or folder, looked for in its parents and their build folders."""
    for folder in searched_upwards(os.path.abspath(start)):
        border = border_around(os.path.join(folder, FILE_NAME))
        for name in _BUILD_FOLDERS:
            candidate = os.path.join(folder, name, FILE_NAME)
            # A build folder may be a link that the repository brought along.
            if disk.is_file(candidate) and (not name or border.problem_of(candidate) is None):
                return candidate
    return None


def load_compile_commands(path: str) -> CompileCommands:
    """Reads a database; a folder means the database in it. Of several entries for a file the first counts."""
    if disk.is_folder(path):
        path = os.path.join(path, FILE_NAME)
    try:
        version = os.stat(path).st_mtime_ns
    except OSError as error:
        raise DatabaseError(f"{path}: cannot read it: {error.strerror or error}") from error
    return _load(path, version)


@disk.remembered(4)
def _load(path: str, version: int) -> CompileCommands:
    """Each file of a run asks for the same database; `version` tells when it was written anew."""
    try:
        content = json_of(read_regular(path))
    except OSError as error:
        raise DatabaseError(f"{path}: cannot read it: {error.strerror or error}") from error
    except DocumentError as error:
        raise DatabaseError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(content, list):
        raise DatabaseError(f"{path}: not a compilation database: a list of entries was expected")
    entries: dict[str, _Entry] = {}
    for number, entry in enumerate(content, 1):
        source, read = _read(path, number, entry)
        entries.setdefault(source, read)
    return CompileCommands(path, entries)


def _read(path: str, number: int, entry: Any) -> tuple[str, _Entry]:
    """The absolute path of a source, and how it is compiled."""
    try:
        folder = os.path.join(os.path.dirname(os.path.abspath(path)), entry["directory"])
        source = disk.resolved(os.path.join(folder, entry["file"]))
        arguments = entry.get("arguments")
        command = str(entry["command"]) if arguments is None else tuple(map(str, arguments))
        return source, _Entry(number, folder, command)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DatabaseError(f"{path}: entry {number} is no compile command: {error!r}") from error


def _arguments(path: str, entry: _Entry) -> tuple[str, ...]:
    if isinstance(entry.command, tuple):
        return entry.command
    try:
        return tuple(shlex.split(entry.command))
    except ValueError as error:
        raise DatabaseError(f"{path}: entry {entry.number} is no compile command: {error}") from error


def database_for(source: str, named: str | None, strict: bool = False) -> CompileCommands | None:
    """The database that the user names, or else the nearest one; raises `DatabaseError`. One that nobody named may be
    unreadable in silence, if the caller is not strict."""
    try:
        found = database_path(source, named)
        if found is None:
            return None
        commands = load_compile_commands(found)
        return replace(commands, is_named=True) if named else commands
    except DatabaseError:
        if named or strict:
            raise
        return None


def database_path(source: str, named: str | None) -> str | None:
    """Where the database for a source file is, if there is one."""
    return named or _nearest(os.path.dirname(os.path.abspath(source)))


_nearest = disk.remembered(256)(find_compile_commands)


# --- arguments --------------------------------------------------------------------------------------------


def options_from_arguments(arguments: Iterable[str], folder: str, border: Border) -> ParseOptions:
    """Translates a compile command, the compiler's name included, that runs in `folder`; what is beyond the border is
    left out."""
    translation = _translated(arguments, folder, border)
    return replace(translation.options(), refused=tuple(translation.refused))


def _translated(arguments: Iterable[str], folder: str, border: Border) -> _Translation:
    translation = _Translation(folder, border)
    rest = iter(_expanded(list(arguments)[1:], translation))
    for argument in rest:
        translation.take(argument, rest)
    translation.place_forced_includes()
    return translation


def _expanded(arguments: Iterable[str], translation: _Translation, depth: int = 0) -> Iterator[str]:
    """The arguments with those of response files in place of `@file` and `--options-file file`."""
    rest = iter(arguments)
    for argument in rest:
        names: list[str] = []
        if argument.startswith("@"):
            names = [argument[1:]]
        elif argument in ("--options-file", "-optf"):
            names = next(rest, "").split(",")
        elif argument.startswith(("--options-file=", "-optf=")):
            names = argument.partition("=")[2].split(",")
        else:
            yield argument
        if depth < _RESPONSE_DEPTH:
            for path in map(translation.path, filter(None, names)):
                if translation.may_read(path):
                    yield from _expanded(_response(path), translation, depth + 1)


def _response(path: str) -> list[str]:
    try:
        return shlex.split(read_regular(path).decode("utf-8", "replace"), comments=True)
    except (OSError, ValueError):
        # A generated file that is not there before the build: its options are simply not known.
        return []


class _Translation(Struct):
    """Gathers the options of one command."""

    folder: str
    border: Border
    refused: list[str] = field(default_factory=list)
    """Folders and files beyond the border."""
    include_dirs: list[str] = field(default_factory=list)
    system_dirs: list[str] = field(default_factory=list)
    """Searched after the others, as compilers do."""
    defines: list[str] = field(default_factory=list)
    std: str | None = None
    architecture: str | None = None
    max_registers: int | None = None
    forced: list[str] = field(default_factory=list)
    """Files to include, as they are called."""
    extra: list[str] = field(default_factory=list)

    def options(self) -> ParseOptions:
        arch = f"sm_{self.architecture}" if self.architecture else ParseOptions().arch
        folders = (*self.include_dirs, *self.system_dirs)
        users = (*folders, *paths_in(self.extra)) if self.border.everything else ()
        return ParseOptions(folders, tuple(self.defines), self.std, None, arch, tuple(self.extra), users)

    def take(self, argument: str, rest: Iterator[str]) -> None:
        """Takes one argument over, with its value from `rest` where that is an argument of its own."""
        for names, joined, action in _OPTIONS:
            for name in names:
                if argument == name:
                    action(self, next(rest, ""))
                    return
                if argument.startswith(name + "="):
                    action(self, argument[len(name) + 1 :])
                    return
                if joined and argument.startswith(name):
                    action(self, argument[len(name) :])
                    return
        if argument in _VALUED:
            next(rest, None)

    def add_include(self, value: str) -> None:
        self.include_dirs += filter(self.may_read, map(self.path, _listed(value)))

    def add_system_include(self, value: str) -> None:
        self.system_dirs += filter(self.may_read, map(self.path, _listed(value)))

    def add_forced_include(self, value: str) -> None:
        self.forced += _listed(value)

    def place_forced_includes(self) -> None:
        """As compilers do, they are looked for in the working folder, and then where headers are. A name that is found
        nowhere stays as it is, for a header that comes with this package."""
        for name in self.forced:
            places = (os.path.join(folder, name) for folder in (*self.include_dirs, *self.system_dirs))
            found = next(filter(disk.exists, (self.path(name), *places)), name)
            if self.may_read(found if os.path.isabs(found) else self.path(found)):
                self.extra += ["-include", found]

    def add_define(self, value: str) -> None:
        self.defines += _listed(value)

    def add_undefine(self, value: str) -> None:
        self.extra += [f"-U{name}" for name in _listed(value)]

    def set_standard(self, value: str) -> None:
        """A standard of another language, or one that only comes, leaves it at what there is."""
        if is_standard(value):
            self.std = value

    def set_architecture(self, value: str) -> None:
        """Keeps the newest: nvcc may build for several, and each value may name several."""
        for part in re.split(r"[,\[\]= ]", value):
            match = _ARCHITECTURE.search(part)
            number = match and (match[1] or match[2])
            if number and (self.architecture is None or _order(number) > _order(self.architecture)):
                self.architecture = number

    def set_max_registers(self, value: str) -> None:
        """As ptxas does, the last counts; a macro of the build that was left in place of the number says nothing."""
        number = whole(value)
        if number is not None and 1 <= number <= _MOST_REGISTERS:
            self.max_registers = number

    def set_assembler(self, value: str) -> None:
        """Of what nvcc hands to ptxas only the registers count."""
        options = iter(value.replace("=", ",").split(","))
        for option in options:
            if option in _REGISTERS:
                self.set_max_registers(next(options, ""))

    def forward(self, value: str) -> None:
        """The options that nvcc hands to the host compiler: only its include folders and macros count."""
        inner = iter(value.split(","))
        for argument in inner:
            if argument.startswith(("-I", "-D", "-U", "-isystem")):
                self.take(argument, inner)

    def path(self, name: str) -> str:
        return os.path.normpath(os.path.join(self.folder, name))

    def may_read(self, path: str) -> bool:
        """Whether a folder or file is one that the command may name; others are noted."""
        if self.border.problem_of(path) is None:
            return True
        self.refused.append(path)
        return False


def _listed(value: str) -> list[str]:
    """nvcc takes several values, with commas between; commas in parentheses belong to a macro's value."""
    return [part for part in re.split(r",(?![^()]*\))", value) if part]


def _order(number: str) -> tuple[int, str]:
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits), number


_Action = Callable[[_Translation, str], None]
_OPTIONS: Final[tuple[tuple[tuple[str, ...], bool, _Action], ...]] = (
    # Names, whether the value may follow the name directly, and what to do with it. Longer names come first.
    (("-isystem", "--system-include", "-idirafter"), True, _Translation.add_system_include),
    (("-include", "--pre-include"), False, _Translation.add_forced_include),
    (("--include-path", "-iquote"), False, _Translation.add_include),
    (("-I",), True, _Translation.add_include),
    (("--define-macro",), False, _Translation.add_define),
    (("-D",), True, _Translation.add_define),
    (("--undefine-macro",), False, _Translation.add_undefine),
    (("-U",), True, _Translation.add_undefine),
    (("-std", "--std"), False, _Translation.set_standard),
    (
        (
            "-gencode",
            "--generate-code",
            "-arch",
            "--gpu-architecture",
            "-code",
            "--gpu-code",
            "--cuda-gpu-arch",
            "--offload-arch",
        ),
        False,
        _Translation.set_architecture,
    ),
    (_REGISTERS, False, _Translation.set_max_registers),
    (("-Xptxas", "--ptxas-options"), False, _Translation.set_assembler),
    (("-Xcompiler", "--compiler-options"), False, _Translation.forward),
)
