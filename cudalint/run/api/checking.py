"""`cudalint.check`: files linted by a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cudalint.report.findings.causes import with_causes_merged
from cudalint.report.findings.results import CheckResult, FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.run.api.configuration import Configuration
from cudalint.run.api.paths import NONE, Paths, checked_texts, found_files
from cudalint.run.api.report import Report
from cudalint.run.runs import Lint, Run, configure, result_of, target_of


class Check:
    """A run over files that hasn't begun. Iterating lints them, and gives a report of each as soon as it is done; what
    they come to together is `report()`.

    Worker processes run only while it is iterated. Whoever leaves the iteration early may go on with another.
    """

    def __init__(
        self, paths: Paths = NONE, config: Configuration | None = None, *, texts: Mapping[str, str] | None = None
    ) -> None:
        """`texts` are CUDA or Python sources that are linted as if they were files of these names.

        Raises ConfigurationError, and `cudalint.project.config.ConfigError` for a named configuration file
        that can't be used. Whatever is wrong with single files is a failure of the report."""
        config = config or Configuration()
        settings = config.settings()
        self._texts = checked_texts(paths, texts)
        found = found_files(paths, self._texts, settings)
        configured, failures = configure(found.files, settings)
        lint = Lint(config.limits(), pictures=True, cache=config.results_folder(), shows_kernels=True)
        self.run = Run(lint, configured, [*found.failures, *failures], target_of(configured, settings))

    def __iter__(self) -> Iterator[Report]:
        """A report of each file as it gets done; findings in headers that several files include come with each."""
        for answer in self.run:
            reports, failures = ([answer], []) if isinstance(answer, FileReport) else ([], [answer])
            yield self._report(result_of(reports, failures, self.run.target))

    def so_far(self) -> Report:
        """What the files come to that are done; the others are failures."""
        return self._report(self.run.result(), self.run.is_done)

    def _report(self, result: CheckResult, is_complete: bool = True) -> Report:
        """With findings of one cause reported once, as the command line does; their places are in `also`."""
        result = with_causes_merged(result, SourceLines(self._texts))
        return Report(result, self._texts, is_complete)

    def report(self) -> Report:
        """What all files come to, once those that are left are done: each finding once."""
        self.run.finish()
        return self.so_far()


def check(
    paths: Paths = NONE, config: Configuration | None = None, *, texts: Mapping[str, str] | None = None
) -> Report:
    """Lints files, folders and patterns, and `texts` as if they were files of these names, as `cudalint check` does.

    Raises ConfigurationError, and `cudalint.project.config.ConfigError` for a named configuration file that
    can't be used. Whatever is wrong with single files is a failure of the report."""
    return Check(paths, config, texts=texts).report()
