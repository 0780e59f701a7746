"""What a parse of a file has to be given for its includes to be found and for its headers to be there in full: folders,
stand-ins for libraries, and macros that only its build gives.

All of that shows when the file is preprocessed, which costs a tenth of a parse. So it is preprocessed again and again
until it needs nothing more, and then parsed once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from cudalint.frontend import recovery
from cudalint.frontend.attempts import Attempt, Setting, Source, refused_by
from cudalint.frontend.conditions import BuildCondition, conditions_asked_for, dispatches_left_out
from cudalint.frontend.flags import LIBRARIES_ROOT, is_bundled
from cudalint.frontend.problems import missing_headers
from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.arguments import paths_in
from cudalint.toolchain.buildfiles.build import BuildMacro
from cudalint.toolchain.buildfiles.reading import build_of

_ROUNDS: Final = 12
"""A header that was found may include others from a further folder, and a macro may stand within another one."""
_OF_LIBRARIES: Final = regex(r"[/\\](?:ATen|c10|opencv2)[/\\]")
"""The folders without which no part of PyTorch or OpenCV is there."""


def prepared(source: Source) -> Attempt:
    """The file parsed with all that it turns out to need."""
    search = source.search()
    search.force(source.path, paths_in(source.options.extra))
    search.follow(source.path, source.text, (*source.options.defines, *source.options.extra))
    source.allow(search)
    refused = refused_by(search)
    setting = Setting(
        macros=tuple(_macros(source)), respelled=dict.fromkeys(refused, b""), refused=tuple(refused.values())
    )
    if not (search.misses_something or search.may_ask):
        return _parsed_at_once(source, setting)
    read = _ready(source, source.read(setting))
    attempt = _parsed(source, read.setting)
    if read.setting.macros and attempt.errors and not source.is_over():
        # What they choose may need what isn't here.
        other = _ready(source, source.read(replace(setting, macros=())))
        if len(other.problems) < len(read.problems):
            attempt = attempt.better_of(_parsed(source, other.setting))
    return attempt


def parsed_ready(source: Source, setting: Setting) -> Attempt:
    """The file parsed in a setting, with all that it then needs."""
    return _parsed(source, _ready(source, source.read(setting)).setting)


def _parsed_at_once(source: Source, setting: Setting) -> Attempt:
    """The file parsed in a setting, and once more if it turns out to need something all the same."""
    attempt = source.parse(setting)
    if source.is_over() or _next_need(source, attempt) is None:
        return attempt
    read = _ready(source, source.read(attempt.setting))
    return attempt if read.setting == attempt.setting else _parsed(source, read.setting)


def with_conditions(source: Source, attempt: Attempt, conditions: Sequence[BuildCondition]) -> Setting | None:
    """The setting of an attempt with further macros of the build and what they need; None where there are none, or
    where they bring in more that isn't there."""
    setting = _asked(source, attempt.setting, conditions)
    if setting is None:
        return None
    before = source.read(attempt.setting)
    read = _ready(source, source.read(setting))
    return None if len(read.problems) > len(before.problems) else read.setting


def _ready(source: Source, read: Attempt) -> Attempt:
    """What the preprocessor makes of the file with all that it needs."""
    for _ in range(_ROUNDS):
        setting = None if source.is_over() else _next_need(source, read)
        if setting is None:
            break
        other = source.read(setting)
        if len(setting.conditions) > len(read.setting.conditions) and not _is_worth_it(source, read, other):
            break
        read = other
    return read


def _is_worth_it(source: Source, read: Attempt, other: Attempt) -> bool:
    """Whether macros that were asked for leave less to ask for; a dispatch has no cases without its own."""
    new = other.setting.conditions[len(read.setting.conditions) :]
    if all(condition.is_dispatch for condition in new):
        return True
    return len(_ready_for_includes(source, other).problems) < len(read.problems)


def _ready_for_includes(source: Source, read: Attempt) -> Attempt:
    for _ in range(_ROUNDS):
        setting = _with_folders(source, read) or _with_libraries(source, read)
        if setting is None:
            break
        read = source.read(setting)
    return read


def _next_need(source: Source, attempt: Attempt) -> Setting | None:
    """The setting of an attempt with what the file turns out to need next; None where it needs nothing more."""
    return (
        _with_folders(source, attempt)
        or _with_libraries(source, attempt)
        or _with_switches(source, attempt)
        or _asked(source, attempt.setting, dispatches_left_out(attempt.own_files(), source.text_of, attempt.left_out))
        or _asked(source, attempt.setting, _by_errors(source, attempt))
    )


def _by_errors(source: Source, attempt: Attempt) -> tuple[BuildCondition, ...]:
    """The macros that `#error` asks for."""
    return conditions_asked_for(attempt.problems, attempt.own_files(), source.text_of, built_macros(source))


def _parsed(source: Source, setting: Setting) -> Attempt:
    """The file parsed with what was found; without the macros of dispatches, if their cases cost the file more than
    they are worth."""
    attempt = source.parse(setting)
    dispatches = [condition for condition in attempt.setting.conditions if condition.is_dispatch]
    if not dispatches or not attempt.errors or source.is_over():
        return attempt
    plain = [condition for condition in setting.conditions if not condition.is_dispatch]
    without = source.parse(replace(setting, conditions=tuple(plain)))
    return attempt.better_of(without)


def built_macros(source: Source) -> dict[str, str]:
    """What the project's build files define under conditions, by name."""
    return {macro.name: macro.definition for macro in build_of(source.path).possible}


def _macros(source: Source) -> Iterator[BuildMacro]:
    """What build files define, but for what the options define or take back themselves."""
    said = source.macros_said()
    return (macro for macro in build_of(source.path).macros if macro.name not in said)


def _asked(source: Source, setting: Setting, conditions: Iterable[BuildCondition]) -> Setting | None:
    """With further macros; None where there are none."""
    known = {*source.macros_said(), *(macro.name for macro in setting.macros)}
    known |= {condition.macro.partition("=")[0] for condition in setting.conditions}
    asked = tuple([condition for condition in conditions if condition.macro.partition("=")[0] not in known])
    return replace(setting, conditions=(*setting.conditions, *asked)) if asked else None


def _with_switches(source: Source, attempt: Attempt) -> Setting | None:
    """With the macros without which the file has none of its kernels."""
    names = recovery.switches(source.text, attempt.left_out(source.path))
    names = tuple([name for name in names if name not in attempt.setting.switches])
    return replace(attempt.setting, switches=(*attempt.setting.switches, *names)) if names else None


def _with_folders(source: Source, attempt: Attempt) -> Setting | None:
    """With folders around the file in which includes are found that were not."""
    known = attempt.setting.folders
    names = missing_headers(attempt.problems)
    folders = tuple([folder for folder in _folders_with(source, names) if folder not in known])
    return replace(attempt.setting, folders=known + folders) if folders else None


def _folders_with(source: Source, names: Iterable[str]) -> tuple[str, ...]:
    """Folders near the file in which included names exist."""
    found = [recovery.folder_with(source.path, name) for name in dict.fromkeys(names)]
    border = source.border
    # The project may be this one, where stand-ins are among its files.
    return tuple(dict.fromkeys(
        [each for each in found if each and not is_bundled(each) and border.problem_of(each) is None]
    ))  # fmt: skip


def _with_libraries(source: Source, attempt: Attempt) -> Setting | None:
    """With stand-ins for the headers of a library of which the file finds none. Where it finds some, those are the
    library's own, and what they declare must not be declared twice."""
    setting = attempt.setting
    if any(_OF_LIBRARIES.search(path) and not path.startswith(LIBRARIES_ROOT) for path in attempt.included()):
        return replace(setting, libraries=False) if setting.libraries else None
    missing = [p for p in attempt.problems if p.kind == "missing-include" and is_of_libraries(p.name)]
    respelled = dict(setting.respelled)
    for problem in missing:
        # Of a submodule that isn't there: `extern/library/include/library/types.h`.
        text = respelled.get(problem.path) or source.text_of(problem.path)
        header = _header_of_library(problem.name)
        if header != problem.name:
            respelled[problem.path] = text.replace(problem.name.encode(), header.encode())
    if not missing or (setting.libraries and respelled == setting.respelled):
        return None
    return replace(setting, libraries=True, respelled=respelled)


def is_of_libraries(name: str) -> bool:
    """Whether there is a stand-in for a header of a library."""
    return disk.is_file(os.path.join(LIBRARIES_ROOT, _header_of_library(name)))


def _header_of_library(name: str) -> str:
    """What a library calls a header of its own, whose path leads through the folder that it is kept in."""
    return name.rpartition("/include/")[2]
