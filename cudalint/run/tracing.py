"""What became of one line: its IR, its executions, what the compiler is taken to make of its accesses, the numbers that
stand for what is open and why, and the figures that came of it. `cudalint trace` prints it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct, field

from cudalint.execute.trace import AccessEvent
from cudalint.execute.trace import Trace as Executions
from cudalint.execute.values import Data
from cudalint.facts import AccessResult, FileFacts, KernelFacts, LaunchFacts, Race
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.text import expression_text
from cudalint.ir.walk import walk
from cudalint.measure.executed import Executed
from cudalint.measure.machine_accesses import MachineSite, SiteKey
from cudalint.measure.providers.provider import Run
from cudalint.worlds.records import Basis, Choice

_MOST_ADDRESSES = 8
"""That are written out of a warp's."""


class Trace(Struct):
    """Collects what executions leave at one line of one file."""

    path: str
    line: int
    through: str | None = None
    """The file that is analysed, where that is one which includes it."""
    executed: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    """The lines of text of each launch (by its index) of each instantiation."""
    worlds: dict[tuple[str, int], Mapping[str, Choice]] = field(default_factory=dict)
    """The first world of each."""

    def watch(self, run: Run) -> None:
        """Is called after each execution of a kernel under a launch (`cudalint.run.kernel_analysis.Watch`)."""
        lines = list(self._execution(run))
        if lines:
            key = run.executed.function.instantiation, run.index
            self.executed[key] = lines
            self.worlds[key] = run.executed.batch.worlds[0]

    def report(self, facts: FileFacts) -> Iterator[str]:
        """All of it, with what the facts say of the line."""
        is_empty = True
        through = f"in {self.through}, which includes it: " if self.through is not None else ""
        for kernel in facts.kernels:
            for index, launch in enumerate(kernel.launches):
                lines = [*self.executed.get((kernel.instantiation, index), ()), *self._figures(kernel, index)]
                if lines:
                    is_empty = False
                    yield f"{through}{kernel.instantiation}, {_launch(launch)}"
                    yield from _arguments(launch, self.worlds.get((kernel.instantiation, index), {}))
                    yield from (f"  {line}" for line in lines)
                    yield ""
            yield from self._gaps(kernel)
        if is_empty and self.through is None:
            yield f"{self.path}:{self.line}: nothing of a kernel was executed here"

    def _is_here(self, path: str, line: int) -> bool:
        return line == self.line and os.path.realpath(path) == os.path.realpath(self.path)

    def _execution(self, run: Run) -> Iterator[str]:
        function, executed = run.executed.function, run.executed
        texts = (_code(each) for each in walk(function.body) if isinstance(each, st.Stmt) and self._is_at(each))
        for text in dict.fromkeys(texts):
            if text:
                yield f"code        {text}"
        trace = executed.trace
        by_site: dict[SiteKey, AccessEvent] = {}
        for event in trace.accesses:
            if self._is_at(event.node):
                by_site.setdefault((event.node, event.stack, event.operation, event.bytes), event)
        for key, event in by_site.items():
            yield from _access(event, trace)
            yield f"  machine   {_machine(executed.machine.get(key))}"
        for barrier in {event.node: event for event in trace.barriers if self._is_at(event.node)}.values():
            yield f"barrier     of {_lanes_of(barrier.mask, trace)}"
        for branch in {event.node: event for event in trace.branches if self._is_at(event.node)}.values():
            yield f"branch      {_lanes_of(branch.taken, trace)} of {_lanes_of(branch.mask, trace)} go where it holds"
        nodes = [event.node for event in trace.barriers] + [event.node for event in trace.branches]
        if by_site or any(map(self._is_at, nodes)):
            yield from _values(executed)

    def _is_at(self, node: Any) -> bool:
        span = getattr(node, "span", None)
        return span is not None and self._is_here(span.path, span.line)

    def _figures(self, kernel: KernelFacts, index: int) -> Iterator[str]:
        for access in kernel.accesses:
            if self._is_here(access.place.path, access.place.line):
                for result in access.results:
                    if result.launch == index:
                        yield f"figure      {access.expression or access.array}, {access.operation}: {_figure(result)}"
        for branch in kernel.branches or ():
            for verdict in branch.results if branch.place.line == self.line else ():
                if verdict.launch == index:
                    yield _verdict("branch", verdict.verdict, verdict.reason)
        for barrier in kernel.barriers or ():
            for come in barrier.results if barrier.place.line == self.line else ():
                if come.launch == index:
                    yield _verdict("barrier", come.verdict, come.reason)
        for race in kernel.races or ():
            if race.launch == index and self.line in (race.first.place.line, race.second.place.line):
                yield from _race(race)

    def _gaps(self, kernel: KernelFacts) -> Iterator[str]:
        for gap in kernel.gaps:
            if gap.line == self.line:
                yield f"{kernel.instantiation}: not evaluated: {gap.reason}"


def _launch(launch: LaunchFacts) -> str:
    block, grid = ("x".join(map(str, extents)) for extents in (launch.block, launch.grid))
    where = f" at {launch.path}:{launch.line}" if launch.path is not None else ""
    taken = f"; taken for granted: {', '.join(launch.assumptions)}" if launch.assumptions else ""
    called = launch.called_from
    call = f", called at {called.path}:{called.line}" if called is not None else ""
    return f"grid {grid} of blocks {block} ({launch.source}{where}{call}){taken}"


def _arguments(launch: LaunchFacts, world: Mapping[str, Choice]) -> Iterator[str]:
    """The scalar arguments: what the launch passes, and what stands for what it leaves open, for the reason for which
    the number is in the first world, where it may go by the host code's name."""
    reasons = {str(choice.value): _why(choice) for choice in world.values()}
    reasons |= {name: _why(choice) for name, choice in world.items()}
    for name, value in launch.arguments.items():
        if name in launch.parameters:
            yield f"  argument    {name} = {launch.parameters[name]} (the launch passes it)"
        elif value is not None and name not in launch.allocated and value:
            reason = reasons.get(name) or reasons.get(f"{value}", _REASONS["default"])
            yield f"  argument    {name} = {value} ({reason})"


def _code(code: st.Stmt | ir.Expr) -> str:
    match code:
        case st.ExprStmt(expr=expr):
            return expression_text(expr)
        case st.Declare(symbol=symbol, initializer=initializer):
            given = f" = {expression_text(initializer)}" if initializer is not None else ""
            return f"{ir.type_name(symbol.type)} {symbol.name}{given}"
        case st.If(condition=condition):
            return f"if {expression_text(condition)}"
        case st.Return(value=value):
            return f"return {expression_text(value)}".rstrip()
        case st.For(condition=condition):
            return f"for {expression_text(condition)}"
    return expression_text(code) if isinstance(code, ir.Expr) else ""


def _access(event: AccessEvent, trace: Executions) -> Iterator[str]:
    size = f"{event.bytes} byte{'s' if event.bytes != 1 else ''}"
    array = event.allocation
    yield f"{event.operation:11} {size} of {array.space} `{array.name}` by {_lanes_of(event.mask, trace)}"
    yield f"  addresses {_addresses(event, trace)}"
    for call in event.stack:
        yield f"  called from line {call.span.line}"


def _addresses(event: AccessEvent, trace: Executions) -> str:
    """Of the first warp with an active lane, in the first world."""
    if isinstance(event.offset, Data):
        return "data that is loaded says them"
    shape = trace.lanes.full.shape
    mask, offset = np.broadcast_to(event.mask, shape), np.broadcast_to(np.asarray(event.offset), shape)
    rows = np.flatnonzero(mask.any(axis=1))
    if not rows.size:
        return "none: no lane comes here"
    first = int(rows[0])
    warp = int(np.flatnonzero(mask[first])[0]) // WARP_LANES
    lanes = slice(warp * WARP_LANES, (warp + 1) * WARP_LANES)
    bytes_ = [int(each) for each in offset[first, lanes][mask[first, lanes]]]
    steps = {after - before for before, after in pairwise(bytes_)}
    if len(steps) <= 1:
        distance = f", each {steps.pop()} bytes behind the one before" if steps else ""
        return f"from byte {bytes_[0]}{distance}"
    text = ", ".join(map(str, bytes_[:_MOST_ADDRESSES]))
    return f"bytes {text}{', ...' if len(bytes_) > _MOST_ADDRESSES else ''}"


def _lanes_of(mask: Any, trace: Executions) -> str:
    active = int(np.broadcast_to(mask, trace.lanes.full.shape)[: trace.lanes.blocks].sum())
    return f"{active} of {int(trace.lanes.full[: trace.lanes.blocks].sum())} threads"


def _machine(site: MachineSite | None) -> str:
    if site is None:
        return "as it stands, not merged with others"
    if site.reason:
        return f"none: {site.reason}"
    texts = [
        f"one of {made.wide.bytes} bytes, with its neighbours" if made.wide is not None else "as it stands"
        for made in site.made
    ]
    if site.copies > 1:
        texts.append(f"{site.copies} times, as loops around it are unrolled")
    return "; ".join(texts)


def _values(executed: Executed) -> Iterator[str]:
    """What stands for the numbers that nothing gives, in each world."""
    worlds = executed.batch.worlds
    for name in dict.fromkeys(name for world in worlds for name in world):
        choices = [world[name] for world in worlds if name in world]
        numbers = ", ".join(f"{each.value}" for each in dict.fromkeys(choices))
        yield f"  value     {name} = {numbers} ({_why(choices[0])})"


def _why(choice: Choice) -> str:
    if choice.place is not None and choice.basis == "given":
        return f"given at {choice.place.path}:{choice.place.line}"
    return _REASONS[choice.basis]


_REASONS: Mapping[Basis, str] = {
    "given": "given by the user, the launch, or the program, as its default for example",
    "use": "the kernel does something with it that this number matters for",
    "default": "nothing gives it: a large size that stands for any",
}


def _figure(result: AccessResult) -> str:
    parts: list[str] = [result.status]
    if result.sectors_per_request is not None:
        parts.append(f"{result.sectors_per_request:g} sectors per request (ideal {result.ideal_sectors or 0:g})")
    if result.wavefronts_per_request is not None:
        parts.append(f"{result.wavefronts_per_request:g} wavefronts (ideal {result.ideal_wavefronts or 0:g})")
    if result.active_lanes is not None:
        parts.append(f"{result.active_lanes:g} lanes active")
    if result.assumptions:
        parts.append(f"assuming {', '.join(result.assumptions)}")
    if result.reason:
        parts.append(result.reason)
    return "; ".join(parts)


def _verdict(what: str, verdict: str, reason: str | None) -> str:
    return f"{what:11} {verdict}{f': {reason}' if reason else ''}"


def _race(race: Race) -> Iterator[str]:
    ends = f"lines {race.first.place.line} and {race.second.place.line}"
    yield f"race        {race.certainty}, {ends}, on {race.element}{f': {race.reason}' if race.reason else ''}"
