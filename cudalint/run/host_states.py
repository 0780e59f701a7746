"""What the host code of a file came to, for the trials of edits: within the bodies of kernels they change none of it.

To execute host code again, with that of the program's other files, takes up to nine tenths of a trial.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from cudalint.fixes.edits import MovedLines
from cudalint.host.executor.launching import HostLaunch
from cudalint.host.executor.values import Allocation
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.opt_in import OptIns
from cudalint.launches.program.needs import NeedsOfCode
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.file_analysis import FileAnalysis


class HostStates(Struct, eq=False):
    """Of one file as it is: a `HostSource` for its analysis."""

    known: FileAnalysis | None = None
    is_one: bool = True
    """Whether the file was analysed as one piece, for one GPU."""
    seconds: float = 0.0
    """What the host code took."""

    def analysis(
        self, unit: ir.Unit, options: AnalysisOptions, deadline: float, needs: NeedsOfCode,
        found: Callable[[], FileAnalysis],
    ) -> FileAnalysis:  # fmt: skip
        start = time.process_time()
        analysis = found()
        self.seconds = time.process_time() - start
        self.is_one = self.known is None
        self.known = analysis
        return analysis

    def forget(self) -> None:
        """The file is to be analysed again."""
        self.known, self.is_one = None, True


class Resumed(Struct, frozen=True, eq=False):
    """A `HostSource` for a text in which nothing is new but the bodies of the kernels that the options name."""

    states: HostStates
    """Of the text before."""
    moved: MovedLines

    def analysis(
        self, unit: ir.Unit, options: AnalysisOptions, deadline: float, needs: NeedsOfCode,
        found: Callable[[], FileAnalysis],
    ) -> FileAnalysis:  # fmt: skip
        """What is `found` by executing the host code, where that of the text before tells nothing."""
        known = self.states.known if self.states.is_one else None
        refs = _kernels(unit, options.only)
        if known is None or known.is_cut or refs is None or not options.only:
            return found()
        launches = [each for each in known.launches if each.kernel.name in options.only]
        if any(each.kernel.usr not in refs or _is_of_the_file(each.arguments) for each in launches):
            return found()
        keys = {each.kernel.key: refs[each.kernel.usr].key for each in launches}
        amounts = {keys[key]: nodes for key, nodes in known.opt_ins.amounts.items() if key in keys}
        return FileAnalysis(
            unit, options, known.constants, known.usage, deadline, known.graph, known.shared,
            [_moved(each, refs[each.kernel.usr], self.moved) for each in launches],
            frozenset(_span(span, self.moved) for span in known.unfollowed),
            is_cut=False, opt_ins=OptIns(amounts, known.opt_ins.paths, options), given=known.given, needs=needs,
            chosen_before=known.chosen_before, is_resumed=True,
        )  # fmt: skip


def _kernels(unit: ir.Unit, names: Collection[str]) -> Mapping[str, ir.FunctionRef] | None:
    """The kernels of some names with their instantiations, by their USRs; None where one stands for several."""
    refs: list[ir.FunctionRef] = []
    for ref in unit.kernels:
        if ref.name in names:
            refs += [ref, *(unit.instantiations(ref.key) if ref.templated else ())]
    found = {ref.usr: ref for ref in refs}
    return found if len(found) == len({ref.key for ref in refs}) else None


def _is_of_the_file(value: object) -> bool:
    """Whether a value leads to variables of the file's own, which are others in the text of a trial."""
    if isinstance(value, Allocation) and value.symbol is not None:
        return True
    if isinstance(value, tuple | list):
        return any(map(_is_of_the_file, value))
    if isinstance(value, Mapping):
        return any(map(_is_of_the_file, value.values()))
    if isinstance(value, Struct) and not isinstance(value, Node) and type(value).__module__ != ir.__name__:
        return any(_is_of_the_file(getattr(value, name)) for name in value.__struct_fields__)
    return False


def _moved(launch: HostLaunch, kernel: ir.FunctionRef, moved: MovedLines) -> HostLaunch:
    return replace(launch, kernel=kernel, span=_span(launch.span, moved))


def _span(span: ir.Span, moved: MovedLines) -> ir.Span:
    return span._replace(line=moved.line(span.path, span.line), end_line=moved.line(span.path, span.end_line))
