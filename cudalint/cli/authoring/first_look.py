"""What a repository shows of itself before anything is configured: the folders that its includes count from, code of
others that it carries along, and the GPUs that it is built for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from cudalint.hardware.targets import Target, UnknownTarget, find_target
from cudalint.project.path_patterns import GitIgnored
from cudalint.regexes import regex
from cudalint.system.disk.folders import small_text

_SOURCES: Final = (".cu", ".cuh")
_HEADERS: Final = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc")
_OF_OTHERS: Final = regex(
    r"(third|3rd)[-_]?part(y|ies)|externals?|extern|vendor(ed)?|deps|dependencies|submodules|contrib/external",
    re.IGNORECASE,
)
_OF_BUILDS: Final = regex(r"_?builds?([-_.].*)?|cmake-build-.*|out|dist|_deps|_skbuild|generated", re.IGNORECASE)
_BUILD_FILES: Final = regex(r"CMakeLists\.txt|.*\.cmake|[Mm]akefile.*|.*\.mk|setup\.py|meson\.build")
_INCLUDE: Final = regex(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_SUBMODULE: Final = regex(r"^\s*path\s*=\s*(\S.*?)\s*$", re.MULTILINE)
_ARCHITECTURE: Final = regex(r"\b(?:sm|compute)_(\d{2,3})[af]?\b")
_LISTED: Final = regex(r"CUDA_ARCHITECTURES\"?[\s=]+((?:\"?\d{2,3}[af]?(?:-real|-virtual)?\"?[\s;]*)+)")
_MOST_FILES: Final = 50_000
_MOST_FOLDERS: Final = 8
_USUAL_FOLDERS: Final = ("include", "includes", "inc")


class FirstLook(Struct, frozen=True):
    """Paths have slashes and count from the repository's folder on."""

    sources: tuple[str, ...]
    """The CUDA files that are the repository's own."""
    include_dirs: tuple[str, ...]
    """The folder that resolves most of the includes that nothing else does comes first."""
    excludes: tuple[str, ...]
    """Folders with CUDA files of others."""
    built: tuple[str, ...]
    """Folders with CUDA files that builds seem to have made, by their names; they are among the sources."""
    architectures: tuple[int, ...]
    """80 for compute capability 8.0; all that build files name."""

    @property
    def target(self) -> str | None:
        """The GPU with the fastest memory that it is built for and that the model knows."""
        known: list[Target] = []
        for number in self.architectures:
            with suppress(UnknownTarget):
                known.append(find_target(f"sm_{number}"))
        return max(known, key=lambda target: target.bandwidth_gb_s).name if known else None


def look_at(folder: str) -> FirstLook:
    """Looks through a folder, without what git ignores and hidden folders. Nothing is executed."""
    files = list(_files(folder))
    others = _folders_called(_OF_OTHERS, files, _SUBMODULE.findall(small_text(os.path.join(folder, ".gitmodules"))))
    sources = [file for file in files if file.endswith(_SOURCES)]
    own = [file for file in sources if not _is_below(file, others)]
    with_sources = tuple(each for each in others if any(_is_below(file, (each,)) for file in sources))
    made = [each for each in _folders_called(_OF_BUILDS, own) if not _is_below(f"{each}/", others)]
    built = [file for file in files if _BUILD_FILES.fullmatch(file.rpartition("/")[2]) and not _is_below(file, others)]
    return FirstLook(
        tuple(own), tuple(_include_dirs(folder, own, files)), with_sources, tuple(made),
        tuple(_architectures(folder, built)),
    )  # fmt: skip


def _files(folder: str) -> Iterator[str]:
    ignored = GitIgnored()
    number = 0
    for parent, folders, names in os.walk(folder):
        visible = sorted(name for name in folders if not name.startswith("."))
        folders[:] = [name for name in visible if not ignored(os.path.join(parent, name), True)]
        for name in sorted(names):
            path = os.path.join(parent, name)
            if not ignored(path, False) and os.path.isfile(path) and _is_text(name):
                number += 1
                if number > _MOST_FILES:
                    return
                yield os.path.relpath(path, folder).replace(os.sep, "/")


def _is_text(name: str) -> bool:
    """Whether a configuration, which is UTF-8, can have the name."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _folders_called(names: re.Pattern[str], files: Iterable[str], known: Sequence[str] = ()) -> tuple[str, ...]:
    """The known folders, such as submodules, and those whose names say what is in them; of those within another the
    outer one."""
    found = set(known)
    for file in files:
        parts = file.split("/")[:-1]
        found |= {"/".join(parts[: n + 1]) for n, part in enumerate(parts) if names.fullmatch(part)}
    return tuple(sorted(each for each in found if not any(each.startswith(f"{other}/") for other in found)))


def _is_below(file: str, folders: Iterable[str]) -> bool:
    return any(file.startswith(f"{folder}/") for folder in folders)


def _include_dirs(folder: str, sources: Sequence[str], files: Sequence[str]) -> Iterator[str]:
    """Folders that resolve includes which nothing beside the file does: those that resolve most, until none is left.

    A header that several folders have says nothing of where includes count from. Nor does one that a single source
    asks for, unless its folder is called as such folders are: each program of a collection has a folder of its own.
    """
    by_name: dict[str, list[str]] = {}
    for file in files:
        if file.endswith(_HEADERS):
            by_name.setdefault(file.rpartition("/")[2], []).append(file)
    asking: dict[str, set[str]] = {}
    """The sources that need a folder."""
    for source in sources:
        base = source.rpartition("/")[0]
        for match in _INCLUDE.finditer(small_text(os.path.join(folder, source))):
            name = match[1] or match[2]
            if match[1] and os.path.exists(os.path.join(folder, base, name)):
                continue
            roots = {root for file in by_name.get(name.rpartition("/")[2], ()) if (root := _root(file, name))}
            if len(roots) == 1:
                asking.setdefault(roots.pop(), set()).add(source)
    needed = max(2, len(sources) // 20)
    counts = {r: len(a) for r, a in asking.items() if len(a) >= needed or r.rpartition("/")[2] in _USUAL_FOLDERS}
    yield from sorted(counts, key=lambda root: (-counts[root], root))[:_MOST_FOLDERS]


def _root(file: str, name: str) -> str | None:
    """The folder from which on a file is called so."""
    if file == name:
        return "."
    return file.removesuffix(f"/{name}") if file.endswith(f"/{name}") else None


def _architectures(folder: str, files: Iterable[str]) -> Iterator[int]:
    found: set[int] = set()
    for file in files:
        text = re.sub(r"#.*", "", small_text(os.path.join(folder, file)))
        found |= {int(number) for number in _ARCHITECTURE.findall(text)}
        for numbers in _LISTED.findall(text):
            found |= {int(number) for number in re.findall(r"\d{2,3}", numbers)}
    yield from sorted(found)


# --- as a configuration --------------------------------------------------------------------------------------


def configuration(look: FirstLook, baseline: str | None) -> str:
    """The text of a `cudalint.toml`: what was found, and what most projects decide for themselves."""
    return "\n".join(_lines(look, baseline))


def _lines(look: FirstLook, baseline: str | None) -> Iterator[str]:
    yield "# Settings of cudalint; `cudalint config` prints what is in force, docs/configuration.md has all of them."
    yield ""
    if look.target is not None:
        named = ", ".join(f"sm_{number}" for number in look.architectures)
        yield f"# The one with the fastest memory of those that the build files name ({named})."
        yield f"target = {_text(look.target)}"
    else:
        yield "# The GPU; no build file names one that is known."
        yield '# target = "a100"'
    if look.include_dirs:
        yield ""
        yield "# Headers that sources name and that stand elsewhere were found from these on."
        yield f"include-dirs = [{_texts(look.include_dirs)}]"
    if look.excludes:
        yield ""
        yield "# Code of others."
        yield f"exclude = [{_texts(f'/{each}/' for each in look.excludes)}]"
    if look.built:
        yield ""
        yield "# CUDA files of these may be what a build has written; if so, they belong to what is left out, too."
        yield f"# exclude = [{_texts(f'/{each}/' for each in (*look.excludes, *look.built))}]"
    yield ""
    yield "# From which severity on a finding fails a run: `error` is for wrong results and what can't run, `warning`"
    yield "# also for what is slower than need be, `info` for all. `--fail-on` on a command line, as of a CI job, wins."
    yield 'fail-on = "warning"'
    yield "# Kernels of which nothing could be evaluated fail no run by themselves; with `--fail-on-incomplete` in a CI"
    yield "# job they do, so that a header that is not found any more does not look like clean code."
    if baseline is not None:
        yield ""
        yield f"# What was there before, which fails no run; `cudalint check . --write-baseline {baseline}`"
        yield "# writes it anew. Errors are left out of it, and fail each run until they are mended; with"
        yield "# `--include-errors` behind that command the baseline takes them in, too."
        yield f"baseline = {_text(baseline)}"
    yield ""


def _texts(texts: Iterable[str]) -> str:
    return ", ".join(map(_text, texts))


_ESCAPES: Final[Mapping[str, str]] = {'"': '\\"', "\\": "\\\\"}


def _text(text: str) -> str:
    """A basic string of TOML."""
    letters = (_ESCAPES.get(c, c if c.isprintable() else f"\\U{ord(c):08X}") for c in text)
    return f'"{"".join(letters)}"'
