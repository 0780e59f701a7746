"""One line on stderr for each option or setting that is of no use in this run: a misspelt name must not pass in
silence, nor a compilation database that says nothing of a file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from cudalint.cli.terminal import print_line
from cudalint.options.analysis import ParameterValue
from cudalint.project.config import ConfigError
from cudalint.project.settings import Settings

_MOST_NAMES = 8

Known = Collection[tuple[str, str]]
"""Each kernel of the run with each of its scalar parameters."""


def warn_of_options(values: Mapping[str, Any], known: Known) -> None:
    """Takes the options as click gives them."""
    note_programs(("nvcc",) if values["ptxas"] else (), values["cuda_path"])
    _warn(_folders(values["include_dirs"]))
    _warn(_parameters(values["params"], known))
    if known:
        _warn(_assumptions(values["assumes"], known))


def note_programs(names: Iterable[str], cuda_path: str | None) -> None:
    """Which other programs are run, and from where."""
    from cudalint.system.disk.tools import tool
    from cudalint.toolchain.toolkit.nvcc import find_nvcc

    found = [find_nvcc(cuda_path) if name == "nvcc" else tool(name) for name in names]
    known = [path for path in found if path is not None]
    if known:
        print_line(f"note: runs {' and '.join(known)}")


def warn_of_settings(paths: Iterable[str], settings: Settings) -> None:
    """What the configurations and compilation databases of these files name in vain."""
    paths = list(paths)
    _warn(_configured_folders(paths, settings))
    _warn(_databases(paths, settings.command_line.options.compile_commands))
    _warn(_without_recordings(paths, settings))


def _warn(texts: Iterable[str]) -> None:
    for text in texts:
        print_line(f"warning: {text}")


def _folders(folders: Iterable[str]) -> Iterator[str]:
    """Compilers pass over an `-I` that leads nowhere."""
    for folder in folders:
        if not os.path.isdir(folder):
            yield f"-I {folder}: no such folder"


def _configured_folders(paths: Iterable[str], settings: Settings) -> Iterator[str]:
    seen: set[str] = set()
    for path in paths:
        try:
            config = settings.of(path).config
        except ConfigError:
            continue  # The files below it have failed.
        if config is None or config.path in seen:
            continue
        seen.add(config.path)
        outside = () if settings.command_line.config is not None else config.folders_outside(path)
        for folder in config.include_dirs:
            named = f"{config.place_of('include-dirs')}: `include-dirs` names {folder}"
            if folder in outside:
                yield f"{named}, which leads out of the project, and is not searched; -I on the command line may"
            elif not os.path.isdir(folder):
                yield f"{named}: no such folder"


def _without_recordings(paths: Iterable[str], settings: Settings) -> Iterator[str]:
    """Files of which recorded launches alone are wanted, where there are none."""
    without: list[str] = []
    for path in paths:
        try:
            options = settings.of(path).options
        except ConfigError:
            continue
        if options.only_recorded and not options.recordings:
            without.append(path)
    if without:
        first, *others = without
        more = f" and {len(others)} more" if others else ""
        yield f"only recorded launches are wanted, and there are none for {first}{more}; `cudalint record` makes them"


def _databases(paths: Iterable[str], named: str | None) -> Iterator[str]:
    """A database that can't be used, and sources that one has no entry for: they are read without their options."""
    from cudalint.frontend.compile_commands import DatabaseError, database_for, database_path

    refused: dict[str, dict[str, None]] = {}
    broken: dict[str, str] = {}
    without: dict[str, list[str]] = {}
    for path in paths:
        found = database_path(path, named)
        # Headers are compiled with whatever includes them, and have no entries.
        if found is None or found in broken or not path.endswith(".cu"):
            continue
        try:
            commands = database_for(path, found if named else None, strict=True)
            if commands is not None and not commands.has(path):
                without.setdefault(found, []).append(path)
            elif commands is not None:
                refused.setdefault(found, {}).update(dict.fromkeys(commands.refused_for(path)))
        except DatabaseError as error:
            broken[found] = str(error)
    if named is None:
        yield from (f"{text}; files are read without it" for text in broken.values())
    for database, (first, *others) in without.items():
        more = f" and {len(others)} more" if others else ""
        yield f"{database}: no entry for {first}{more}; read without the options of a compile command"
    for database, (first, *others) in ((database, names) for database, names in refused.items() if names):
        more = f" and {len(others)} more" if others else ""
        yield f"{database}: {first}{more} leads out of the project and is left out; --compile-commands takes it"


def _parameters(params: Iterable[ParameterValue], known: Known) -> Iterator[str]:
    """Each `--param` that names nothing in the files of this run, which may be too few."""
    for kernel, name, _ in params:
        own = sorted({parameter for owner, parameter in known if kernel in (None, owner)})
        if name in own:
            continue
        if kernel is None:
            text = f"no kernel of these files has a scalar parameter `{name}`"
        elif own:
            text = f"`{kernel}` has no scalar parameter `{name}`"
        else:
            text = f"these files have no kernel `{kernel}` with scalar parameters"
        yield f"--param {f'{kernel}:' if kernel else ''}{name}: {text}{_there_are(own)}"


def _assumptions(texts: Iterable[str], known: Known) -> Iterator[str]:
    """Each `--assume` that speaks of no parameter. Fields of records are not looked into."""
    if not texts:
        return
    from cudalint.options.expressions import names_in, parse_expression

    parameters = sorted({parameter for _, parameter in known})
    for text in texts:
        names = set(names_in(parse_expression(text)))
        if "." not in text and names.isdisjoint(parameters):
            yield f"--assume '{text}': no kernel of these files has such a parameter{_there_are(parameters)}"


def _there_are(names: list[str]) -> str:
    return f"; there are {', '.join(names[:_MOST_NAMES])}" if names else ""
