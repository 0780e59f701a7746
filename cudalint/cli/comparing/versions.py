"""One version of kernels: what is known of its files, once they are linted."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Place
from cudalint.project.discovery import discover
from cudalint.project.settings import Settings
from cudalint.report.findings.results import Failure, ShownKernel
from cudalint.report.findings.sources import SourceLines
from cudalint.run.limits import Limits
from cudalint.run.runs import Lint, Run, configure, target_of


class Version(Struct, frozen=True, eq=False):
    """The kernels and findings of one side of a comparison."""

    root: str
    """From where on paths of both sides are the same. A file that is compared with one of another name is it."""
    kernels: tuple[ShownKernel, ...]
    findings: tuple[Diagnostic, ...]
    failures: tuple[Failure, ...]
    target: str
    sources: SourceLines
    shows_own_paths: bool = True
    """False where the files are in a folder that is gone afterwards."""

    def key_of(self, path: str) -> str:
        """The path from the root on."""
        real, root = os.path.realpath(path), os.path.realpath(self.root)
        return "" if real == root else os.path.relpath(real, root if os.path.isdir(root) else os.path.dirname(root))

    def place_text(self, place: Place) -> str:
        path = place.path if self.shows_own_paths else self.key_of(place.path)
        return f"{path}:{place.line}"


def linted(
    paths: Sequence[str], root: str, settings: Settings, limits: Limits, cache: str | None, is_temporary: bool = False
) -> Version:
    """What is known of some files. Raises `cudalint.project.config.ConfigError` for a configuration that is named."""
    found = discover(paths, settings.excludes)
    configured, failures = configure(found.files, settings)
    lint = Lint(limits, shows_kernels=True, cache=cache, tries_edits=False, preloads=True)
    run = Run(lint, configured, [*found.failures, *failures], target_of(configured, settings))
    run.finish()
    result = run.result()
    return Version(
        root, result.kernels, result.diagnostics, result.failures, result.target, SourceLines(), not is_temporary
    )
