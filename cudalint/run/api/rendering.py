"""From a result to the lines of a report in any format, on stdout and into files."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, cast

import click
from msgspec.structs import replace

from cudalint.project.formats import OUTPUT_FORMATS, Format
from cudalint.report.findings.results import CheckResult, Failure
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import plain
from cudalint.report.formats.each_alone import lines_of
from cudalint.report.formats.presentation import Presentation, by_cost
from cudalint.report.formats.style import Style
from cudalint.system.disk.replacing import write_whole
from cudalint.system.processes.faults import described


class Output(NamedTuple):
    """A report that goes into a file."""

    format: str
    path: str


def outputs_of(formats: Sequence[str]) -> Callable[..., tuple[Output, ...]]:
    """Takes `FORMAT=FILE` for an option that may be repeated, checked before any work is done."""

    def outputs(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[Output, ...]:
        found = tuple(_output(text, formats) for text in texts)
        paths = [os.path.realpath(output.path) for output in found]
        for output, path in zip(found, paths, strict=True):
            if paths.count(path) > 1 and not _is_device(path):
                raise click.BadParameter(f"`{output.path}` is named for more than one report")
        return found

    return outputs


def _output(text: str, formats: Sequence[str]) -> Output:
    format_, separator, path = text.partition("=")
    if not separator or not path:
        example = f"{formats[-1]}=cudalint.{formats[-1]}" if "sarif" not in formats else "sarif=cudalint.sarif"
        raise click.BadParameter(f"`{text}` has not the form FORMAT=FILE, such as {example}")
    if format_ not in formats:
        raise click.BadParameter(f"`{format_}` is no format; there are {', '.join(formats)}")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise click.BadParameter(f"`{path}`: the folder does not exist")
    if path == "-":
        raise click.BadParameter(f"`{text}`: what is printed is up to --format; a report needs a file")
    if os.path.isdir(path):
        raise click.BadParameter(f"`{path}` is a folder")
    return Output(format_, path)


def spare_sources(written: Iterable[str | None], sources: Iterable[str]) -> None:
    """Raises a usage error if a file to be written is one that is linted: a slip must not cost a source."""
    read = {os.path.realpath(path) for path in sources}
    for path in written:
        if path is not None and os.path.realpath(path) in read:
            raise click.UsageError(f"{path} is linted; name another file for what is to be written")


def _is_device(path: str) -> bool:
    """`/dev/stdout` takes several reports one after the other."""
    return os.path.exists(path) and not os.path.isfile(path)


def default_format() -> str:
    """On GitHub's runners findings become annotations; elsewhere people read them."""
    return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"


def write_outputs(
    outputs: Sequence[Output], result: CheckResult, sources: SourceLines, shown: Presentation
) -> Iterator[Failure]:
    """Writes the reports that go into files, without colours and pictures; one that can't be written costs no other."""
    unpainted = replace(shown, style=Style(), pictures=0)
    for output in outputs:
        try:
            lines, failures = rendered(output.format, result, sources, unpainted)
            yield from failures
            write_whole(output.path, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
        except OSError as error:
            yield Failure(output.path, f"cannot be written: {error.strerror}")


def append_step_summary(result: CheckResult) -> Failure | None:
    """GitHub shows what is in this file on the page of the run. Without it there still are the annotations."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return None
    from cudalint.report.formats.github import step_summary

    try:
        summary = step_summary(result)
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(summary)
    except OSError as error:
        return Failure(path, f"GITHUB_STEP_SUMMARY cannot be written: {error.strerror}")
    except Exception as error:
        return Failure(path, f"GITHUB_STEP_SUMMARY cannot be written: {described(error)}")
    return None


def rendered(
    format_: str, result: CheckResult, sources: SourceLines, shown: Presentation
) -> tuple[Sequence[str], tuple[Failure, ...]]:
    """The lines of a report, and what of it could not be written."""
    return lines_of(lambda part: _rendered(format_, part, sources, shown), result, f"--format {format_}")


def _rendered(format_: str, result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    """The lines of a report. Each format's module is imported when it is asked for."""
    entry = OUTPUT_FORMATS[cast("Format", format_)]
    if entry.is_sorted and shown.asked_order == "cost":
        result = replace(result, diagnostics=tuple(by_cost(result.diagnostics)))
    name = "statistics" if shown.statistics and entry.is_for_people else entry.reporter
    reporter = cast("_Reporter", importlib.import_module(f"cudalint.report.formats.{name}"))
    lines = reporter.render(result, sources, shown)
    if not entry.is_for_people:
        return lines
    mark = shown.style.escape if shown.style.enabled else ""
    return (plain.line(line, mark) for line in lines)


class _Reporter(Protocol):
    """A module of `cudalint.report.formats` that a format names."""

    def render(self, result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]: ...
