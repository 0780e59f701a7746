"""What a check comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import overload

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.numerals import count
from cudalint.project.formats import Format
from cudalint.report.findings.results import CheckResult, Failure, Note


class Report(Struct, frozen=True, eq=False):
    """The findings of some files, and what of them could not be linted. Iterating gives the findings, `len` their
    number; `str` and notebooks show the report that the command line prints."""

    result: CheckResult
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of what is no file, by its path."""
    is_complete: bool = True
    """False while files are still to be linted."""

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """In the order in which the command line has them."""
        return self.result.diagnostics

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Paths that could not be linted, or (`severity` says so: warnings) not in full, and why."""
        return self.result.failures

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is worth knowing of files that were linted, such as headers that are missing."""
        return self.result.notes

    @property
    def suppressed(self) -> tuple[Diagnostic, ...]:
        """Findings that annotations allow, each with its justification."""
        return self.result.suppressed

    @property
    def target(self) -> str:
        return self.result.target

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that were linted."""
        return self.result.paths

    def count(self, severity: Severity) -> int:
        """The number of findings of exactly this severity."""
        return self.result.count(severity)

    def reaches(self, threshold: Severity) -> bool:
        """Whether any finding is at least as bad."""
        return self.result.reaches(threshold)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, which: int) -> Diagnostic: ...

    @overload
    def __getitem__(self, which: slice) -> Report: ...

    def __getitem__(self, which: int | slice) -> Diagnostic | Report:
        """The finding of a number, or a report of some: notebooks show `report[:1]` as they show a whole one."""
        if isinstance(which, slice):
            return replace(self, result=replace(self.result, diagnostics=self.findings[which]))
        return self.findings[which]

    def render(
        self,
        format: Format = "text",  # noqa: A002  # As the option of the command line.
        *,
        pictures: int | None = 0,
        colors: bool = False,
    ) -> str:
        """The report as `cudalint check --format FORMAT` prints it. `pictures` is for how many of the worst findings of
        a text report one is drawn, None for all. Raises ValueError for a format that there is not."""
        from cudalint.project.formats import FORMATS

        if format not in FORMATS:
            raise ValueError(f"`{format}` is no format; there are {', '.join(FORMATS)}")
        from cudalint.report.findings.sources import SourceLines
        from cudalint.report.formats.plain import MARK
        from cudalint.report.formats.presentation import Presentation
        from cudalint.report.formats.style import Style
        from cudalint.run.api.rendering import rendered

        shown = Presentation(Style(enabled=colors, escape=MARK), pictures, quiet=False, fail_on="warning")
        lines, _ = rendered(format, self.result, SourceLines(self.texts), shown)
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        left = "" if self.is_complete else ", not complete"
        found, failed = count(len(self.findings), "finding"), count(len(self.failures), "failure")
        return f"<cudalint.Report of {count(len(self.paths), 'file')}: {found}, {failed}{left}>"

    def _repr_html_(self) -> str:
        from cudalint.report.formats.notebooks import page_of

        failures = (f"{failure.path}: {failure.message}" for failure in self.failures)
        return page_of([*self.render(pictures=None, colors=True).splitlines(), *failures])
