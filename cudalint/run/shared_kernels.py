"""Kernels of headers, evaluated once for all files that include them and launch them in the same way.

What one file came to is kept in a folder, by what it rests on (`kernel_keys.py`), from where workers of the same run
take it, and those of later runs where results are kept at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from cudalint.facts import KernelFacts
from cudalint.host.executor.launching import HostLaunch
from cudalint.host.values.nodes import Choice, Node
from cudalint.ir import nodes as ir
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.cache.kernels import KeptKernel, read_kernel, write_kernel
from cudalint.run.file_analysis import FileAnalysis
from cudalint.run.kernel_keys import Codes, key_of
from cudalint.run.launched import Launched, NoKey, by_position
from cudalint.run.sharing import InUse
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.disk.recorder import digest


class SharedKernels(Struct):
    """For one analysis of a file: a `Sharing`."""

    folder: str
    around: bytes
    """What tells this program and its surroundings from others."""
    codes: Codes

    def facts(
        self, analysis: FileAnalysis, ref: ir.FunctionRef, sites: Sequence[HostLaunch], found: Callable[[], KernelFacts]
    ) -> KernelFacts:
        if analysis.watch is not None or ref.span.path == analysis.unit.path:
            return found()
        try:
            key, given = key_of(analysis, self.codes, ref, sites)
        except NoKey:
            return found()
        # A trial's facts are for trials: they are measured in the worlds of the text before.
        key = digest(self.around + key + (b"edited" if analysis.is_edited else b""))
        kept = read_kernel(self.folder, key)
        if kept is not None:
            kernel, seen = kept
            disk.note(seen)
            analysis.graph.work += kernel.work
            choose(analysis, {given.symbols[at]: choice for at, choice in kernel.chosen.items()})
            return kernel.facts
        work, failures = analysis.graph.work, _failures(analysis)
        before = analysis.graph.chosen_for_all(analysis.shared)
        with disk.noting() as seen:
            facts = found()
        work = analysis.graph.work - work
        is_whole = _failures(analysis) == failures and not any(gap.kind == "time" for gap in facts.gaps)
        if is_whole and seen.is_repeatable and not seen.is_timed:
            # What other kernels have chosen before of sizes that this one isn't given is theirs.
            after = analysis.graph.chosen_for_all(analysis.shared)
            chosen = by_position({size: choice for size, choice in after.items() if before.get(size) != choice}, given)
            if chosen is not None:
                path = analysis.unit.path
                seen.texts.pop(path, None)
                write_kernel(self.folder, key, KeptKernel(facts, chosen, work), seen, _naming(path, given))
        return facts


def shared_kernels(options: AnalysisOptions) -> SharedKernels | None:
    """What an analysis with these options shares with others; None where nothing is shared."""
    return None if InUse.folder is None else SharedKernels(InUse.folder, InUse.around, Codes(options))


def _naming(path: str, given: Launched) -> re.Pattern[bytes]:
    """What is in facts that name the file itself, or a line of it."""
    lines = "|".join(map(str, given.lines)) or "(?!)"
    return re.compile(to_bytes(rf"{re.escape(os.path.basename(path))}|\blines? (?:{lines})\b"))


def _failures(analysis: FileAnalysis) -> tuple[int, int]:
    return len(analysis.given_up), len(analysis.broken)


def choose(analysis: FileAnalysis, chosen: dict[Node, Choice]) -> None:
    """Chooses numbers for sizes of the host code, for the kernels that follow, too."""
    common = analysis.graph.chosen_for_all(analysis.shared)
    analysis.graph.valuation = analysis.shared.valuation.having({**common, **chosen})
