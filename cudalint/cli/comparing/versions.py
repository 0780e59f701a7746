"""One version of kernels: its files, and what is known of them once they are linted; and two versions of one folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Place
from cudalint.project.discovery import discover
from cudalint.project.settings import Settings
from cudalint.report.findings.results import Failure, ShownKernel
from cudalint.report.findings.sources import SourceLines
from cudalint.run.copies import Counterpart, same_files
from cudalint.run.limits import Limits
from cudalint.run.runs import Configured, Lint, Run, configure, target_of
from cudalint.system.disk.moved import Move


class Version(Struct, frozen=True, eq=False):
    """The kernels and findings of one side of a comparison."""

    root: str
    """From where on paths of both sides are the same. A file that is compared with one of another name is it."""
    kernels: tuple[ShownKernel, ...]
    findings: tuple[Diagnostic, ...]
    failures: tuple[Failure, ...]
    target: str
    sources: SourceLines
    unknown: frozenset[str] = frozenset()
    """Files that are there and of which nothing is known, as paths from the root on."""
    cut: frozenset[tuple[str, str]] = frozenset()
    """Kernels whose evaluation the time limit cut short, each by its file, from the root on, and its name: what is
    known of them may be something else in another run."""
    work_tree: str | None = None
    """Where the paths are shown that are below the root, for a root that is gone afterwards."""

    def key_of(self, path: str) -> str:
        """The path from the root on."""
        return key_in(self.root, path)

    def shown(self, path: str) -> str:
        """A path as users write it."""
        return path if self.work_tree is None else _from_here(os.path.join(self.work_tree, self.key_of(path)))

    def shown_key(self, key: str) -> str:
        """A path from the root on as users write it."""
        return _from_here(os.path.join(self.work_tree or os.path.realpath(self.root), key)) if key else self.root

    def place_text(self, place: Place) -> str:
        return f"{self.shown(place.path)}:{place.line}"


def _from_here(path: str) -> str:
    """What is below the current folder without it."""
    below = os.path.relpath(path, os.path.realpath(os.curdir))
    return path if below.startswith(os.pardir) else below


def key_in(root: str, path: str) -> str:
    """A path from a folder on; nothing for what is itself the root."""
    real, root = os.path.realpath(path), os.path.realpath(root)
    return "" if real == root else os.path.relpath(real, root if os.path.isdir(root) else os.path.dirname(root))


class Side(Struct, frozen=True, eq=False):
    """The files of one version, before they are linted."""

    root: str
    configured: Sequence[Configured]
    files: frozenset[str]
    """All that were found, as paths from the root on."""
    failures: Sequence[Failure]
    target: str
    lint: Lint
    work_tree: str | None = None

    @classmethod
    def of(
        cls, paths: Sequence[str], root: str, settings: Settings, limits: Limits, cache: str | None,
        work_tree: str | None = None,
    ) -> Side:  # fmt: skip
        """Raises `cudalint.project.config.ConfigError` for a configuration that is named."""
        found = discover(paths, settings.excludes)
        configured, failures = configure(found.files, settings)
        lint = Lint(limits, shows_kernels=True, cache=cache, tries_edits=False, preloads=True)
        files = frozenset(key_in(root, file.path) for file in found.files)
        return cls(
            root, configured, files, [*found.failures, *failures], target_of(configured, settings), lint, work_tree
        )

    def by_key(self) -> dict[str, Configured]:
        return {key_in(self.root, each.file.path): each for each in self.configured}

    def linted(self, is_wanted: Callable[[str], bool], failures: Sequence[Failure] | None = None) -> Version:
        """What is known of some of the files. The failures are those that are known before."""
        chosen = {key: each for key, each in self.by_key().items() if is_wanted(key)}
        run = Run(self.lint, list(chosen.values()), self.failures if failures is None else failures, self.target)
        run.finish()
        result = run.result()
        failed = {key_in(self.root, failure.path) for failure in run.failures}
        failed |= {key_in(self.root, report.path) for report in run.reports if report.status == "failed"}
        unknown = (self.files & failed) | (self.files - self.by_key().keys())
        late = [failure for failure in result.failures if failure.is_late]
        cut = frozenset(
            (key_in(self.root, kernel.facts.place.path), kernel.facts.name)
            for kernel in result.kernels
            if any(gap.kind == "time" for gap in kernel.facts.gaps) or any(is_cut(each, kernel) for each in late)
        )
        return Version(
            self.root, result.kernels, result.diagnostics, result.failures, self.target, SourceLines(), unknown, cut,
            self.work_tree,
        )  # fmt: skip


def is_cut(failure: Failure, kernel: ShownKernel) -> bool:
    """Whether something of a kernel is missing for lack of time: it is named, or may be one of those that are not."""
    facts = kernel.facts
    is_named = facts.name in failure.kernels or failure.number == 0 or failure.number > len(failure.kernels)
    paths = {facts.place.path, *(launch.path for launch in facts.launches if launch.path is not None)}
    return is_named and os.path.realpath(failure.path) in map(os.path.realpath, paths)


class Sides(Struct, frozen=True, eq=False):
    """Both versions, and the files that nothing tells apart, whose kernels are not evaluated unless somebody asks for
    them."""

    old: Version
    new: Version
    same: tuple[str, ...] = ()
    """As users write their paths."""
    the_same: Callable[[], Version] | None = None
    """Evaluates those."""


def both(old: Side, new: Side) -> Sides:
    """Both versions, of which files that are the same with all that counts for them are left out."""
    same = _same(old, new)

    def differs(key: str) -> bool:
        return key not in same

    found = Sides(old.linted(differs), new.linted(differs))
    shown = sorted(each.file.path for key, each in new.by_key().items() if key in same)
    return Sides(found.old, found.new, tuple(shown), lambda: new.linted(same.__contains__, ()))


def _same(old: Side, new: Side) -> Collection[str]:
    if not os.path.isdir(new.root):
        return ()
    before, after = old.by_key(), new.by_key()
    files: dict[str, Counterpart] = {}
    for key in (*after, *(key for key in before if key not in after)):
        one, other = before.get(key), after.get(key)
        files[key] = Counterpart(
            new.lint.job(other) if other is not None else None,
            old.lint.job(one) if one is not None else None,
            all(each is None or each.file.is_optional for each in (one, other)),
        )
    move = Move(os.path.realpath(new.root), os.path.realpath(old.root))
    if not any(each.old is not None and each.new is not None for each in files.values()):
        return ()
    return same_files(files, move, new.lint.limits)
