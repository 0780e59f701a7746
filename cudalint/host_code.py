"""The launches that the host code of a program makes of one file's kernels, whichever of its files they stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, field

from cudalint import ir
from cudalint.evaluate.host.execution import HostExecutor, HostLaunch, run_host
from cudalint.evaluate.host.memory import Generics
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import Node
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import lower_unit
from cudalint.frontend.parse import parse_file
from cudalint.frontend.reading import SourceError
from cudalint.neighbours import callers, launchers


class HostCode(Struct, eq=False):
    """Executes it, from the outside in: a program starts in the `main` of some file of the folder."""

    unit: ir.Unit
    graph: Graph
    generics: Generics
    properties: Mapping[str, int]
    """What host code learns about the device."""
    parse_options: Callable[[str], ParseOptions]
    """For another file."""
    opt_ins: dict[str, list[Node]] = field(default_factory=dict)
    """By a kernel's key: the bytes to which its limit of dynamic shared memory is raised."""

    unfollowed: set[ir.Span] = field(default_factory=set)
    """Launches of loops that go on to make others there."""

    def launches(self) -> list[HostLaunch]:
        found, executed = self._called_elsewhere()
        found += self._launched_here(executed)
        if executed and self._missing(found):
            # With the arguments that it gives, the other file's `main` doesn't lead to all of them.
            missing = self._missing(found)
            found += [launch for launch in self._launched_here(set()) if launch.kernel.name in missing]
        return found + self._launched_elsewhere(self._missing(found))

    def _launched_here(self, executed: set[str]) -> list[HostLaunch]:
        own = run_host(self.graph, self.unit.host_functions, self.generics, self.properties, executed=executed)
        self._note(own)
        return own.launches

    def _missing(self, found: Iterable[HostLaunch]) -> set[str]:
        """The kernels without launches."""
        return {ref.name for ref in self.unit.kernels} - {launch.kernel.name for launch in found}

    def _called_elsewhere(self) -> tuple[list[HostLaunch], set[str]]:
        """The launches of functions that the `main` of another file calls, with the arguments that it gives, and the
        keys of those functions."""
        open_ = {ref.usr: ref for ref in self.unit.host_functions if ref.has_launch()}
        if not open_ or any(ref.name == "main" for ref in self.unit.host_functions):
            return [], set()
        names = frozenset(ref.name for ref in open_.values())
        found: list[HostLaunch] = []
        executed: set[str] = set()
        for unit in self._units(callers(self.unit.path, names), names):
            mains = tuple(ref for ref in unit.host_functions if ref.name == "main")
            executor = run_host(self.graph, mains, self.generics, self.properties, linked=open_)
            self._add(executor, {ref.name for ref in self.unit.kernels}, found)
            executed |= executor.executed
        return found, executed

    def _launched_elsewhere(self, names: set[str]) -> list[HostLaunch]:
        """The launches in other files of kernels that this one only defines."""
        found: list[HostLaunch] = []
        for unit in self._units(launchers(self.unit.path, names)):
            self._add(run_host(self.graph, unit.host_functions, self.generics, self.properties), names, found)
        return found

    def _add(self, executor: HostExecutor, kernels: set[str], found: list[HostLaunch]) -> None:
        self._note(executor)
        found += [launch for launch in executor.launches if launch.kernel.name in kernels]

    def _note(self, executor: HostExecutor) -> None:
        self.opt_ins |= executor.opt_ins
        self.unfollowed |= executor.unfollowed

    def _units(self, paths: list[str], launching: frozenset[str] = frozenset()) -> Iterator[ir.Unit]:
        for path in paths:
            try:
                yield lower_unit(parse_file(path, self.parse_options(path)), launching)
            except SourceError:
                continue
