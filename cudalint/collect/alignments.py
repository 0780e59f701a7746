"""The accesses of a kernel whose address is no multiple of their width, or not for all arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.codegen.shared_layout import shared_layout
from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of, made_at
from cudalint.evaluate.checks.alignment import Declared, alignment_verdict, natural_width
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import KernelFacts, Misalignment, Place
from cudalint.interpreter.device.events import AccessEvent
from cudalint.interpreter.device.memory import alignment
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.values.nodes import Node
from cudalint.values.residue import Residue
from cudalint.values.residues import Residues

_MAX_EVALUATED = 48
"""Accesses of one launch that are evaluated because nothing simpler proves them aligned."""


class AlignmentCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "alignments"
    found: dict[object, Misalignment] = field(default_factory=dict)
    """By place and launch; the first execution of an access that goes wrong stands for the others."""

    def add(self, run: Run) -> None:
        if not run.is_refused:
            self._add(run)

    def _add(self, run: Run) -> None:
        execution = run.execution
        bases, units, counts = shared_layout(execution), _units(execution.function), _counts(execution)
        tried: set[object] = set()
        for event, width in _candidates(run, bases):
            base = bases.get(event.target.symbol, 0) if event.target.symbol is not None else 0
            key = (event.target.name, event.offset.index, width, base, tuple(c.index for c in event.context.conditions))
            if key in tried or len(tried) >= _MAX_EVALUATED:
                continue
            tried.add(key)
            declared = Declared(units.get(event.target.name, 0), counts)
            verdict = alignment_verdict(event, width, base, execution.view, declared)
            if verdict is not None:
                span, calls = made_at(event)
                place = (span, calls, event.target.name, execution.view.index)
                offender = verdict.offender
                finding = Misalignment(
                    Place(*span),
                    frames_of(calls),
                    event.target.space,
                    event.operation,
                    event.target.name,
                    width,
                    execution.view.index,
                    verdict.condition,
                    offender.thread,
                    offender.block,
                    None if event.offset.bits & execution.view.graph.opaque_bits else offender.offset,
                    base,
                    verdict.values,
                    execution.view.assumptions,
                )
                self.found.setdefault(place, finding)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = sorted(self.found.values(), key=lambda m: (m.place, m.inlined_from, m.launch))
        return replace(facts, misalignments=tuple(found))


def _candidates(run: Run, bases: Mapping[ir.Symbol, int]) -> Iterator[tuple[AccessEvent, int]]:
    """The accesses that their offset alone does not prove aligned, with the width of the machine's access."""
    residues = Residues()
    execution = run.execution
    graph = execution.view.graph
    events = [event for event in execution.events if isinstance(event, AccessEvent)]
    for position, event in enumerate(events):
        if event.one_of or not _is_known(event.target) or dependence(event.context, event.offset, graph).is_astray:
            continue
        base = bases.get(event.target.symbol, 0) if event.target.symbol is not None else 0
        width = natural_width(event.bytes)
        if event.record is not None and event.record.align:
            # The fields of a packed record are put together from parts that are as wide as it is aligned.
            width = min(width, event.record.align)
        merged = width if event.record is None else max(width, min(event.record.align, 16))
        address = _shifted(residues.of(event.offset), base)
        if address.is_multiple_of(merged):
            continue
        if merged > width:
            # A field of a vector is loaded together with others where the compiler merges them, else by itself.
            made = run.machine[position]
            if made.bytes > event.bytes:
                event, width = made, min(merged, natural_width(made.bytes))
                address = _shifted(residues.of(event.offset), base)
        if not address.is_multiple_of(width):
            yield event, width


def _shifted(residue: Residue, by: int) -> Residue:
    return residue._replace(rest=(residue.rest + by) % residue.modulus)


def _counts(execution: Execution) -> tuple[Node, ...]:
    """The grid's extents and all conditions."""
    contexts = [event.context for event in execution.events if isinstance(event, AccessEvent)]
    loops = (loop.condition for context in contexts for loop in context.loops)
    conditions = (condition for context in contexts for condition in context.conditions)
    return tuple(dict.fromkeys((*execution.view.grid, *loops, *conditions)))


def _units(function: ir.Function) -> dict[str, int]:
    """The alignment of what each parameter points to, and what the fields of structures do that are passed."""
    found: dict[str, int] = {}
    left = [(symbol.name, symbol.type) for symbol in function.parameters]
    while left:
        name, type_ = left.pop()
        if isinstance(type_, ir.PointerType):
            found[name] = alignment(type_.pointee) if type_.pointee.bytes else 0
        elif isinstance(type_, ir.RecordType):
            left += [(f"{name}.{field.name}", field.type) for field in type_.fields]
    return found


def _is_known(target: Allocation) -> bool:
    """Whether the alignment of an array's start is known: allocations start at multiples of 256 bytes."""
    return target.space in ("global", "shared") and target.opaque is None and not target.is_null
