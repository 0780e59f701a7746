"""The facts of a file, or why there are none."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec.structs import replace

from cudalint.facts import FileFacts
from cudalint.kinds import Kinds
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import Failure

if TYPE_CHECKING:
    from cudalint.run.baseline import Baseline
    from cudalint.run.file_analysis import Keeper
    from cudalint.run.kernel_analysis import Watch


def analyse(
    path: str, options: AnalysisOptions, watch: Watch | None = None, keeper: Keeper | None = None,
    baseline: Baseline | None = None,
) -> FileFacts | Failure:  # fmt: skip
    """The facts of a file, or why there are none; the others as in `Hooks`."""
    # libclang and numpy are loaded here, in the worker, and not by whoever wants to name a job.
    from cudalint.frontend.reading import SourceError
    from cudalint.run.analysis import Hooks, analyse_file

    try:
        return analyse_file(path, options, Hooks(watch, keeper, baseline))
    except SourceError as error:
        return Failure(path, _message_without_path(str(error), path))


def with_kinds(
    facts: FileFacts, kinds: Kinds, kernels: Collection[str], options: AnalysisOptions, baseline: Baseline
) -> FileFacts | Failure:
    """The facts with some kinds of the kernels of some names, which are measured once more for those that were not
    collected; of the whole file where the baseline of its analysis is not of one piece."""
    from cudalint.fixes.edits import MovedLines
    from cudalint.run.analysis import analyse_edited

    lacking = {kernel.name for kernel in facts.kernels if kernel.name in kernels and not kinds <= kernel.collected}
    if not lacking:
        return facts
    options = replace(options, kinds=kinds)
    further = analyse_edited(
        facts.path, replace(options, only=tuple(sorted(lacking))), baseline, {}, MovedLines.of(())
    )
    if further is None:
        baseline.forget()
        return analyse(facts.path, options, baseline=baseline)
    measured = {(kernel.place, kernel.instantiation): kernel for kernel in further.kernels}
    found = tuple(measured.get((kernel.place, kernel.instantiation), kernel) for kernel in facts.kernels)
    return replace(facts, kernels=found)


def _message_without_path(message: str, path: str) -> str:
    """`a.cu:3:7: reason` becomes `reason (line 3, column 7)`, since whoever prints it names the path."""
    rest = message.removeprefix(path).lstrip(": ")
    match = re.match(r"(\d+):(\d+): (.*)", rest, re.DOTALL)
    if match:
        rest = f"{match[3]} (line {match[1]}, column {match[2]})"
    return " ".join(rest.split())
