"""What the analysis of a file leaves for trials of edits.

An edit within the bodies of kernels changes nothing of the host code, and of the parse nothing but what these bodies
are. So the edited text is parsed once, in the setting in which the text before was understood; its kernels are given
what the host code came to, and executed in the worlds and blocks in which they were executed before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from cudalint.fixes.edits import MovedLines
from cudalint.frontend.lower.context import Elsewhere, nowhere
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import ParsedFile
from cudalint.host.executor.launching import HostLaunch
from cudalint.host.executor.values import Allocation
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir.units import Unit
from cudalint.launches.opt_in import OptIns
from cudalint.launches.program.needs import NeedsOfCode
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.file_analysis import FileAnalysis
from cudalint.system.disk.encoding import to_bytes


class Baseline(Struct, eq=False):
    """Of one file as it is; its analysis fills it in."""

    analysis: FileAnalysis | None = None
    """None where it was not analysed as one piece, for one GPU."""
    host_seconds: float = 0.0
    """What the host code took."""
    _parsed: ParsedFile | None = None
    _constant: Elsewhere = nowhere
    _pieces: int = 0

    def keep(self, analysis: FileAnalysis, parsed: ParsedFile, constant: Elsewhere, seconds: float) -> None:
        """Keeps what came of one piece of the file; `constant` as in `Listing`."""
        self._pieces += 1
        self.analysis = analysis if self._pieces == 1 else None
        self._parsed, self._constant, self.host_seconds = parsed, constant, seconds

    def forget(self) -> None:
        """The file is to be analysed again."""
        self.analysis, self._parsed, self._pieces = None, None, 0

    def reparsed(self, texts: Mapping[str, str]) -> Unit | None:
        """The file with other texts, if any, by their paths; None where it isn't understood in the same way."""
        if self.analysis is None or self._parsed is None:
            return None
        if not texts:
            return self.analysis.unit
        parsed = self._parsed.with_texts({path: to_bytes(text) for path, text in texts.items()})
        return Listing(parsed, constant=self._constant).unit() if parsed is not None else None

    def resumed(
        self, unit: Unit, moved: MovedLines, options: AnalysisOptions, deadline: float
    ) -> FileAnalysis | None:
        """The state of an analysis of a text in which nothing is new but the bodies of the kernels that the options
        name, as if its host code was executed; None where that has to be."""
        known = self.analysis
        refs = _kernels(unit, options.only)
        if known is None or known.is_cut or refs is None or not options.only:
            return None
        launches = [each for each in known.launches if each.kernel.name in options.only]
        if any(each.kernel.usr not in refs or _is_of_the_file(each.arguments) for each in launches):
            return None
        keys = {each.kernel.key: refs[each.kernel.usr].key for each in launches}
        amounts = {keys[key]: nodes for key, nodes in known.opt_ins.amounts.items() if key in keys}
        return FileAnalysis(
            unit, options, known.constants, known.usage, deadline, known.graph, known.shared,
            [_moved(each, refs[each.kernel.usr], moved) for each in launches],
            frozenset(_span(span, moved) for span in known.unfollowed),
            is_cut=False, opt_ins=OptIns(amounts, known.opt_ins.paths, options), given=known.given,
            recorded=known.recorded, needs=NeedsOfCode(known.needs.architecture), before=known,
            is_edited=unit is not known.unit,
        )  # fmt: skip


def _kernels(unit: Unit, names: Collection[str]) -> Mapping[str, ir.FunctionRef] | None:
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
