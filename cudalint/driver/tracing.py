"""What became of one line: its IR, its executions, what the compiler is taken to make of its accesses, the numbers that
stand for what is open and why, and the figures that came of it. `cudalint trace` prints it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from cudalint.codegen.machine import machine_accesses
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import AccessResult, FileFacts, KernelFacts, LaunchFacts, Race
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, BranchEvent, Context
from cudalint.ir import nodes as ir
from cudalint.ir.text import expression_text
from cudalint.values.nodes import Basis, Choice, Node, Uniform, below, bits_of, render

_DEPTH = 24
"""How deep expressions are written out."""


class Trace(Struct):
    """Collects what executions leave at one line of one file."""

    path: str
    line: int
    executed: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    """The lines of text of each launch (by its index) of each instantiation."""

    def watch(self, execution: Execution) -> None:
        """Is called after each execution of a kernel under a launch (`cudalint.driver.kernel_analysis.Watch`)."""
        lines = list(self._execution(execution))
        if lines:
            self.executed[execution.function.instantiation, execution.view.index] = lines

    def report(self, facts: FileFacts) -> Iterator[str]:
        """All of it, with what the facts say of the line."""
        is_empty = True
        for kernel in facts.kernels:
            for index, launch in enumerate(kernel.launches):
                lines = [*self.executed.get((kernel.instantiation, index), ()), *self._figures(kernel, index)]
                if lines:
                    is_empty = False
                    yield f"{kernel.instantiation}, {_launch(launch)}"
                    yield from _arguments(launch)
                    yield from (f"  {line}" for line in lines)
                    yield ""
            yield from self._gaps(kernel)
        if is_empty:
            yield f"{self.path}:{self.line}: nothing of a kernel was executed here"

    def _is_here(self, path: str, line: int) -> bool:
        return line == self.line and os.path.realpath(path) == os.path.realpath(self.path)

    def _execution(self, execution: Execution) -> Iterator[str]:
        steps = [step.code for step in execution.steps if self._is_here(step.code.span.path, step.code.span.line)]
        for text in dict.fromkeys(map(_code, steps)):
            if text:
                yield f"code        {text}"
        sources = [event for event in execution.events if isinstance(event, AccessEvent)]
        for source, made in zip(sources, machine_accesses(execution), strict=True):
            if self._is_at(source.context):
                yield from _access(source, made)
                yield from _values(execution, (source.offset, *source.context.conditions))
        for event in execution.events:
            if isinstance(event, BarrierEvent | BranchEvent) and self._is_at(event.context):
                yield f"{'barrier' if isinstance(event, BarrierEvent) else event.kind}"
                condition = () if isinstance(event, BarrierEvent) else (event.condition,)
                for node in condition:
                    yield f"  condition {_text(node)}"
                yield from _conditions(event.context.conditions)
                yield from _values(execution, (*condition, *event.context.conditions))

    def _is_at(self, context: Context) -> bool:
        return self._is_here(context.span.path, context.span.line)

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
    return f"grid {grid} of blocks {block} ({launch.source}{where}){taken}"


def _arguments(launch: LaunchFacts) -> Iterator[str]:
    """The scalar arguments: what the launch passes, and what stands for what it leaves open."""
    for name, value in launch.arguments.items():
        if name in launch.parameters:
            yield f"  argument    {name} = {launch.parameters[name]} (the launch passes it)"
        elif value is not None and name not in launch.allocated and value:
            yield f"  argument    {name} = {value} (made up: nothing in sight gives it)"


def _code(code: ir.Stmt | ir.Expr) -> str:
    match code:
        case ir.ExprStmt(expr=expr):
            return expression_text(expr)
        case ir.Declare(symbol=symbol, initializer=initializer):
            given = f" = {expression_text(initializer)}" if initializer is not None else ""
            return f"{ir.type_name(symbol.type)} {symbol.name}{given}"
        case ir.If(condition=condition):
            return f"if {expression_text(condition)}"
        case ir.Return(value=value):
            return f"return {expression_text(value)}".rstrip()
        case ir.For(condition=condition):
            return f"for {expression_text(condition)}"
    return expression_text(code) if isinstance(code, ir.Expr) else ""


def _access(event: AccessEvent, made: AccessEvent) -> Iterator[str]:
    size = f"{event.bytes} byte{'s' if event.bytes != 1 else ''}"
    yield f"{event.operation:11} {size} of {event.target.space} `{event.target.name}` at byte {_text(event.offset)}"
    yield from _conditions(event.context.conditions)
    for loop in event.context.loops:
        yield f"  in a loop at line {loop.span.line}, while {_text(loop.condition)}"
    for call in event.context.frames:
        yield f"  called from line {call.line}"
    yield f"  machine   {_machine(event, made)}"


def _machine(event: AccessEvent, made: AccessEvent) -> str:
    if made.left_out is not None:
        return f"none: {made.left_out}"
    changes = []
    if made.bytes != event.bytes:
        changes.append(f"one of {made.bytes} bytes, with its neighbours")
    if made.offset is not event.offset:
        changes.append(f"at byte {_text(made.offset)}")
    if len(made.context.loops) < len(event.context.loops):
        changes.append("before the loop, which does not change it")
    if made.noted_at is not None and made.noted_at != event.noted_at:
        changes.append(f"noted at line {made.noted_at.line}")
    return "; ".join(changes) or "as it stands, not merged with others"


def _conditions(conditions: Sequence[Node]) -> Iterator[str]:
    for condition in conditions:
        yield f"  reached if {_text(condition)}"


def _values(execution: Execution, nodes: Sequence[Node]) -> Iterator[str]:
    """What stands for the uniform symbols that nothing determines."""
    graph = execution.view.graph
    for node in below(nodes, bits_of(nodes) & graph.uniform_bits):
        if isinstance(node.payload, Uniform):
            yield f"  value     {_text(node)} = {graph.choice(node).value} ({_why(graph.choice(node), node.payload)})"


def _why(choice: Choice, symbol: Uniform) -> str:
    if choice.place:
        return f"given at {choice.place}"
    if choice.basis != "default":
        return _REASONS[choice.basis]
    if symbol.stride is not None:
        return f"a distance between elements ({symbol.stride}): nothing gives it, 1 is tried as well"
    return "nothing gives it: a large size that stands for any"


_REASONS: Mapping[Basis, str] = {
    "given": "given by the user",
    "annotation": "a statement about the program asks for it",
    "launch": "the launch leaves its block open, and this makes one",
    "program": "the program's own default",
    "check": "host code checks it before the launch",
    "guard": "the kernel does nothing for others, or asks of it only whether it is some number",
    "name": "it is called what is few of something",
    "use": "what it is used as: a stride, a radius, a part of another size or a factor of a product that has to fit",
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


def _text(node: Node) -> str:
    return render(node, most=_DEPTH)
