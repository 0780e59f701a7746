"""Where a project ends: what its files name is read inside of it, in folders of the system, or where the user says so.

A repository may come from anybody. Its sources include files, its build files name folders, and its links lead
anywhere: what they reach beyond the project is the reader's own, and none of it belongs into a report.
"""

from __future__ import annotations

import itertools
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct

from cudalint.system.disk import recorder as disk

LICENCES: Final = (
    "LICENSE", "LICENSE.txt", "LICENSE.TXT", "LICENSE.md", "LICENSE.rst", "LICENSES", "LICENCE", "COPYING",
    "COPYING.txt", "COPYING.md", "LICENSE-MIT", "LICENSE-APACHE",
)  # fmt: skip
_RUNNERS: Final = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Where GitHub's and GitLab's runners put the repository."""
_OF_SYSTEM: Final = (
    "/usr", "/opt", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/Library", "/Applications",
    "C:\\Program Files", "C:\\Program Files (x86)",
)  # fmt: skip
"""Where programs and their headers are installed, which anybody may read."""
_HOMES: Final = ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "VIRTUAL_ENV")
"""Toolkits and environments, as their users name them."""
_NO_FILES: Final = ("/proc", "/sys", "/dev")
"""What the system makes up when it is read."""
_LEVELS: Final = 4
"""A file's own folder and those above it that count as its project, where nothing says how far that goes."""
_MOST_BESIDE: Final = 10_000
"""Folders beside a project that is where programs are installed."""
_OUTSIDE: Final = "leads out of the project"
_NEVER: Final = "leads to what is no file of a disk"


class Border(Struct, frozen=True):
    """What may be read for the files of a project."""

    folders: tuple[str, ...] = ()
    """Without links."""
    everything: bool = False
    """For what the user alone decides on."""

    def problem_of(self, path: str) -> str | None:
        """Why a path may not be read; None where it may."""
        if self.everything:
            return None
        real = os.path.realpath(path)
        is_never = _is_in(real, _NO_FILES)
        if not is_never and (_is_in(real, self.folders) or _is_in(real, _installed())):
            return None
        disk.resolved(path)  # Where it leads has a say in the result; what is read tells itself when it changes.
        return _NEVER if is_never else _OUTSIDE

    def is_own(self, path: str) -> bool:
        """Whether a file is of the project itself, and not of an installed library."""
        real = os.path.realpath(path)
        return _is_in(real, self.folders) and not _is_in(real, _installed())

    def and_also(self, *paths: str) -> Border:
        """With folders or files that the user names."""
        return Border((*self.folders, *(disk.resolved(path) for path in paths)))


    def whole_folders(self, named: Iterable[str]) -> tuple[str, ...]:
        """The folders of which everything may be read, wherever links in them lead: those of installed programs and
        those that the user names, as far as nothing of the project is in them, nor they in it."""
        users = [each for each in map(os.path.abspath, named) if not _is_in(os.path.realpath(each), self.folders)]
        wanted = (*_installed(), *users)
        # Those within another one are covered by that.
        tops = [each for each in wanted if not _is_in(each, tuple(other for other in wanted if other != each))]
        return tuple(dict.fromkeys(each for folder in tops for each in _beside(folder, self.folders)))


@disk.remembered(64)
def _beside(folder: str, projects: tuple[str, ...]) -> tuple[str, ...]:
    """A folder, or those in it, and in these, that a project is not in."""
    real = os.path.realpath(folder)
    if real in projects or not os.path.isdir(folder):
        return ()
    if not any(_is_in(each, (real,)) for each in projects):
        return (folder,)
    names = disk.folders_in(folder, _MOST_BESIDE)
    return tuple(each for name in names for each in _beside(os.path.join(folder, name), projects))


def border_around(path: str) -> Border:
    """That of the project that a file or folder is in, be it that there is none yet."""
    return _border(os.path.abspath(os.path.dirname(path)), os.getcwd())


def problem_of_link(path: str) -> str | None:
    """Why a file may not be read that a link, or a link in its path, leads to; None where it may. A path without links
    is the user's own, or has been looked at where it came from."""
    real = os.path.realpath(path)
    if real == os.path.abspath(path):
        return _NEVER if _is_in(real, _NO_FILES) else None
    return border_around(path).problem_of(path)


@disk.remembered(1024)
def _border(folder: str, here: str) -> Border:
    """The project's top. Where there is none, what is below the folder that the user is in belongs together, and
    otherwise the file's folder and what is below those above it, where the rest of a program often is."""
    top = project_top(folder)
    if top is not None:
        return Border((os.path.realpath(top), os.path.realpath(folder)))
    real, here = os.path.realpath(folder), os.path.realpath(here)
    if _is_in(real, (here,)) and not _is_shared(here):
        return Border((here,))
    around = itertools.takewhile(lambda each: not _is_shared(each), itertools.islice(upwards(real), _LEVELS))
    return Border((real, *around))


def project_top(folder: str) -> str | None:
    """The folder that a runner checks out, or the nearest one upwards that git keeps something in, or else the
    outermost with a licence; None where there is none. The `.git` of a submodule is a file, and the project goes on
    above it."""
    found: str | None = None
    for each in upwards(folder):
        if _is_shared(each):
            break
        kind = disk.kind_of(os.path.join(each, ".git"))
        if kind == "folder":
            return each
        if kind == "file":
            found = each
    runners = (os.environ.get(name) for name in _RUNNERS)
    given = next((each for each in runners if each and _is_in(folder, (os.path.abspath(each),))), None)
    if given is not None or found is not None:
        return given or found
    for each in upwards(folder):
        if _is_shared(each):
            break
        if any(disk.exists(os.path.join(each, name)) for name in LICENCES):
            found = each
    return found


def surroundings(folder: str, levels: int) -> Iterator[str]:
    """A folder and those that it is in, as far as the project goes, and no more than so many."""
    border = border_around(os.path.join(folder, os.curdir))
    for each in itertools.islice(upwards(folder), levels):
        if border.problem_of(each) is not None:
            return
        yield each


def upwards(folder: str) -> Iterator[str]:
    """A folder, the one that it is in, and so on to the root."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def searched_upwards(folder: str) -> Iterator[str]:
    """A folder and those above it, as far as what is found there may say how its files are built and linted: up to the
    user's home, or before the first that is nobody's own, such as one that everybody may put files into."""
    for each in upwards(folder):
        if _is_home(each) or not _is_shared(each):
            yield each
        elif os.path.exists(each):
            return


def is_at_home(path: str) -> bool:
    """Whether a file lies in the user's home itself, and so came with no repository."""
    return _is_home(os.path.dirname(os.path.realpath(path)))


def _is_home(folder: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(os.path.expanduser("~"))


def _is_shared(folder: str) -> bool:
    """Whether a folder is no project's: the root, the user's home or what that is in, or one that everybody may put
    files into."""
    home = os.path.realpath(os.path.expanduser("~"))
    if os.path.dirname(folder) == folder or _is_in(home, (os.path.realpath(folder),)):
        return True
    try:
        return bool(os.stat(folder).st_mode & stat.S_ISVTX)
    except OSError:
        return True


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    named = [*_OF_SYSTEM, sys.prefix, sys.base_prefix, own, *(os.environ.get(name) or "" for name in _HOMES)]
    known = [each for each in named if os.path.isabs(each)]
    folders = dict.fromkeys((*known, *map(os.path.realpath, known)))
    return tuple(folder for folder in folders if os.path.dirname(folder) != folder)


def _is_in(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(os.path.join(folder, "")) for folder in folders)
