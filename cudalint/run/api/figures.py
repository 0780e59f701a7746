"""`cudalint.facts`: what the analysis knows, before any rule has an opinion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from cudalint.facts.files import FileFacts, KernelFacts
from cudalint.kinds import SHOWN_KINDS, Kinds, shown_kinds
from cudalint.numerals import count
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import Failure
from cudalint.run.api.configuration import Configuration
from cudalint.run.api.paths import NONE, Paths, checked_texts, found_files
from cudalint.run.file_facts import analyse
from cudalint.run.limits import Lost
from cudalint.run.runs import configure, run_all


class FactsJob(Struct, frozen=True):
    """One file to be described; travels to a worker."""

    path: str
    options: AnalysisOptions


class Facts(Struct, frozen=True, eq=False):
    """The facts of some files, in the order of the paths. Iterating gives those of each file."""

    files: tuple[FileFacts, ...]
    failures: tuple[Failure, ...]
    """Paths that could not be analysed, and why."""

    @property
    def kernels(self) -> tuple[KernelFacts, ...]:
        """Of all files, each instantiation by itself."""
        return tuple(kernel for file in self.files for kernel in file.kernels)

    def __iter__(self) -> Iterator[FileFacts]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        found = f"{count(len(self.kernels), 'kernel')}, {count(len(self.failures), 'failure')}"
        return f"<cudalint.Facts of {count(len(self.files), 'file')}: {found}>"

    def __str__(self) -> str:
        return "\n".join(self._lines(colors=False))

    def _repr_html_(self) -> str:
        from cudalint.report.formats.notebooks import page_of

        return page_of(self._lines(colors=True))

    def _lines(self, colors: bool) -> Iterator[str]:
        from cudalint.report.formats import facts_text, plain
        from cudalint.report.formats.style import Style

        for file in self.files:
            for line in facts_text.render(file, Style(enabled=colors, escape=plain.MARK)):
                yield plain.line(line, plain.MARK)
        yield from (plain.line(f"{failure.path}: {failure.message}") for failure in self.failures)


def facts(
    paths: Paths = NONE,
    config: Configuration | None = None,
    *,
    texts: Mapping[str, str] | None = None,
    only: str | Sequence[str] | None = None,
    kernel: str | None = None,
) -> Facts:
    """The facts of the kernels of files, folders and patterns, and of `texts` as if they were files of these names.
    `only` names the kinds that are wanted, as for `cudalint facts --only` (`"accesses"`, `"accesses,costs"` or a list);
    all are collected without it. `kernel` is a name, or a pattern of names such as `"sgemm*"`: others are left out.

    Raises ConfigurationError, `cudalint.project.config.ConfigError` for a named configuration file that can't be used,
    and ValueError for a kind that there is not."""
    named = only.split(",") if isinstance(only, str) else only
    kinds: Kinds = SHOWN_KINDS if named is None else shown_kinds(named)
    config = config or Configuration()
    settings = config.settings()
    found = found_files(paths, checked_texts(paths, texts), settings)
    configured, broken = configure(found.files, settings)
    jobs = [FactsJob(each.file.path, replace(each.options, kinds=kinds)) for each in configured]
    answers: dict[int, FileFacts | Failure] = {}
    for index, value in run_all(analyse_job, jobs, config.limits(), ()):
        answers[index] = Failure(jobs[index].path, value.reason) if isinstance(value, Lost) else value
    ordered = [answers[index] for index in sorted(answers)]
    files = tuple(_of_kernel(answer, kernel) for answer in ordered if isinstance(answer, FileFacts))
    lost = (answer for answer in ordered if isinstance(answer, Failure))
    own = (Failure.of(file.path, each) for file in files for each in file.failures)
    return Facts(files, (*found.failures, *broken, *lost, *own))


def _of_kernel(file: FileFacts, pattern: str | None) -> FileFacts:
    """With those kernels alone whose name fits."""
    if pattern is None:
        return file
    return replace(file, kernels=tuple(each for each in file.kernels if fnmatchcase(each.name, pattern)))


def analyse_job(job: FactsJob) -> FileFacts | Failure:
    """Describes a file in a worker."""
    return analyse(job.path, job.options)
