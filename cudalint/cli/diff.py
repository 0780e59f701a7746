"""`cudalint diff`: two versions of kernels beside each other, and gates that the new one has to pass."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from cudalint.cli import FAILED, FINDINGS, NOTHING_FOUND, completion
from cudalint.cli.analysis_options import analysis_options, limits_from, rule_options, settings_from
from cudalint.cli.headed import HeadedCommand, color_option, format_option
from cudalint.cli.terminal import output_style, print_failures, write_lines, write_text
from cudalint.project.changes import ChangesError
from cudalint.project.settings import Settings
from cudalint.report.findings.results import Failure, ShownKernel, are_errors
from cudalint.report.formats import plain
from cudalint.report.formats.plain import json_text
from cudalint.report.formats.style import Style
from cudalint.run.api.rendering import Output, outputs_of
from cudalint.system.disk.replacing import write_whole

if TYPE_CHECKING:
    from cudalint.cli.comparing.gates import Gate
    from cudalint.cli.comparing.pairing import Comparison
    from cudalint.cli.comparing.reported import Report
    from cudalint.cli.comparing.versions import Sides

_FORMATS = ("text", "markdown", "json")


def _gates(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[Gate, ...]:
    from cudalint.cli.comparing.gates import GateError, parse

    try:
        return tuple(map(parse, texts))
    except GateError as error:
        raise click.BadParameter(str(error)) from None


@click.command("diff", cls=HeadedCommand)
@click.argument("paths", nargs=-1, metavar="OLD NEW | --base REV [PATH...]",
                shell_complete=completion.files)  # fmt: skip
@click.option(
    "--base", metavar="REV",
    help="Compare paths of the work tree with where the branch left this revision of git (their merge base).",
)  # fmt: skip
@click.option("--kernel", "kernels", multiple=True, metavar="PATTERN", help="Compare kernels of this name only.")
@click.option(
    "--gate", "gates", callback=_gates, multiple=True, metavar="EXPR",
    help="Exit with 1 where a new kernel doesn't keep this, such as 'registers <= 168'; may be repeated.",
)  # fmt: skip
@format_option("A table for each kernel, one of all for a pull request, or JSON for programs.", *_FORMATS)
@click.option(
    "--output", "outputs", callback=outputs_of(_FORMATS), multiple=True, metavar="FORMAT=FILE",
    help="Write the comparison into a file too; may be repeated.",
)  # fmt: skip
@color_option
@rule_options
@analysis_options
def command(
    paths: Sequence[str],
    base: str | None,
    kernels: Sequence[str],
    gates: tuple[Gate, ...],
    format_: str,
    outputs: Sequence[Output],
    color: bool | None,
    **values: Any,
) -> int:
    """Compare two versions of kernels: files, folders, or what a revision of git has.

    --base compares with where the branch left a revision, their merge base, as `git diff REV...` and `check --diff`
    do. Of folders, only files are evaluated that something tells apart: their text, headers, configuration or launches.

    Printed is what differs: the time by the model, registers where they are known (--ptxas, --cubin), shared memory,
    occupancy, sectors and wavefronts per request, how many requests there are, and findings that came (+) and went
    (-). Kernels are the same by file and name, and one that is left alone in a file by that; launches by block, grid
    and arguments.

    A gate is `[KERNEL:] FIGURE SIGN VALUE`. The sign is one of <= < >= > ==. The value is a number, or `base`, `base *
    1.1`, `base + 8` for what the old version has. Figures are time_us, registers, spills, stack, shared (bytes),
    occupancy (0.5 or 50%), blocks_per_sm, sectors_per_request, wavefronts_per_request, findings and new_findings; a
    plain number after time, requests, sectors, shared_requests, wavefronts, instructions or dram is a multiple of the
    old version's: `time <= 1.05` allows 5% more. What isn't known can't be checked.

    Exit status: 0, 1 where a gate fails, 2 where one can't be checked or something could not be analysed.

    \b
    Examples:
      cudalint diff old.cu new.cu
      cudalint diff before/ after/ --format json > diff.json
      cudalint diff --base origin/main src
      cudalint diff --base HEAD~1 sgemm.cu --ptxas --gate 'registers <= 168' --gate 'time <= 1.05'
      cudalint diff old.cu new.cu --gate 'sgemm: sectors_per_request <= base' --gate 'new_findings == 0'
    """
    from cudalint.cli.comparing.gates import judged
    from cudalint.cli.comparing.pairing import compare
    from cudalint.cli.comparing.reported import Report

    settings = settings_from(values)
    try:
        with _versions(paths, base, values, settings) as (sides, revision):
            comparison = compare(sides.old, sides.new, lambda kernel: _is_named(kernel, kernels))
            same = sides.same
            if sides.the_same is not None and same and _need_all(gates, comparison):
                unchanged = sides.the_same()
                comparison = comparison.with_same(
                    compare(unchanged, unchanged, lambda kernel: _is_named(kernel, kernels))
                )
                same = ()
            for gate in gates:
                if gate.kernel is not None and not any(map(gate.is_for, comparison.pairs)):
                    raise click.UsageError(f"--gate '{gate.text}': no kernel is called `{gate.kernel}`")
            how = "" if values["ptxas"] or values["cubins"] else "; --ptxas compiles to learn them, --cubin reads them"
            verdicts = list(judged(gates, comparison, how))
            report = Report(comparison, sides.old, sides.new, same, gates, verdicts, revision)
            write = write_text if format_ == "text" else write_lines
            write(_lines(format_, report, output_style(color)))
            unwritten = list(_written(outputs, report))
            unread = dict.fromkeys(
                replace(failure, path=version.shown(failure.path))
                for version in (sides.old, sides.new)
                for failure in version.failures
            )
            print_failures((*unread, *unwritten))
    except ChangesError as error:
        raise click.ClickException(str(error)) from None
    if are_errors((*unread, *unwritten)) or not all(each.is_checked for each in verdicts):
        return FAILED
    return FINDINGS if verdicts else NOTHING_FOUND


def _need_all(gates: Iterable[Gate], comparison: Comparison) -> bool:
    """Whether gates are about kernels of files that are the same, too: they don't pass by that alone, or name what
    isn't among the others."""
    return any(
        not gate.is_kept_by_the_same or (gate.kernel is not None and not any(map(gate.is_for, comparison.pairs)))
        for gate in gates
    )


def _lines(format_: str, report: Report, style: Style) -> Iterator[str]:
    if format_ == "json":
        from cudalint.cli.comparing.comparison_json import document

        return iter([json_text(document(report), indent=2)])
    if format_ == "markdown":
        from cudalint.cli.comparing.markdown import lines

        return lines(report)
    from cudalint.cli.comparing.tables import text_lines

    return text_lines(report, style)


def _written(outputs: Iterable[Output], report: Report) -> Iterator[Failure]:
    for output in outputs:
        lines = (plain.line(part) for line in _lines(output.format, report, Style()) for part in line.split("\n"))
        try:
            write_whole(output.path, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
        except OSError as error:
            yield Failure(output.path, f"cannot be written: {error.strerror}")


def _is_named(kernel: ShownKernel, patterns: Sequence[str]) -> bool:
    names = (kernel.facts.name, kernel.facts.instantiation)
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


@contextmanager
def _versions(
    paths: Sequence[str], base: str | None, values: dict[str, Any], settings: Settings
) -> Iterator[tuple[Sides, str | None]]:
    """Both versions, and the revision that the old one is. Raises ChangesError, and a usage error for paths that are no
    two versions."""
    from cudalint.cli.comparing.versions import Side, both
    from cudalint.project.revisions import revision_files
    from cudalint.system.disk.cache_folder import results_folder

    limits, cache = limits_from(values), results_folder(None)
    if base is not None and not paths:
        paths = (os.curdir,)
    for path in paths:
        if not os.path.exists(path):
            hint = f"; `--base {path}` compares with a revision" if base is None else ""
            raise click.UsageError(f"{path}: no such file or folder{hint}")
    if base is None:
        if len(paths) != 2:
            raise click.UsageError("two versions are expected, OLD and NEW, or --base REV and paths")
        if os.path.isdir(paths[0]) != os.path.isdir(paths[1]):
            raise click.UsageError("a file is compared with a file, and a folder with a folder")
        new = Side.of(paths[1:], paths[1], settings, limits, cache)
        yield both(Side.of(paths[:1], paths[0], _for_target(values, new.target), limits, cache), new), None
        return
    with revision_files(base, paths[0]) as revision:
        new = Side.of(paths, revision.top, settings, limits, cache)
        places = [revision.place_of(path) for path in paths]
        there = [place for place in places if os.path.exists(place)]
        folders = [revision.place_of(path) if revision.holds(path) else path for path in values["include_dirs"]]
        before = _for_target({**values, "include_dirs": tuple(folders)}, new.target)
        old = Side.of(there, revision.folder, before, limits, cache, revision.top)
        yield both(old, new), revision.name


def _for_target(values: dict[str, Any], target: str) -> Settings:
    """Both versions are judged by one GPU, where the new one's configuration names one."""
    return settings_from({**values, "target": target} if "," not in target else values)
