"""The access facts of a kernel, collected launch by launch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.codegen.machine import machine_accesses
from cudalint.collect.provider import Provider, Run, Subject
from cudalint.collect.sites import frames_of, made_at
from cudalint.evaluate.requests.figures import evaluate_access
from cudalint.facts import Access, AccessResult, ArrayFacts, KernelFacts, LibraryCall, Place
from cudalint.frontend.extents import extent_places
from cudalint.frontend.source_text import Spellings
from cudalint.interpreter.device.events import AccessEvent
from cudalint.interpreter.device.values import Allocation, Within
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.launches.configuration import Block
from cudalint.launches.variants import not_with, other_shapes
from cudalint.values.nodes import Reason
from cudalint.values.residues import Residues

NO_TIME = "the kernel takes too long"
_EXCEEDS = 1.25
"""How many times one launch's excess over the ideal another one's has to be to be told of by itself."""


class _Site(Struct, frozen=True, eq=False):
    """A place in the source, as it is reached by some calls, and what is touched there."""

    event: AccessEvent
    made_at: ir.Span
    """Where its address is made."""
    made_through: tuple[ir.Span, ...]
    """The calls that lead there."""
    is_copy: bool
    """Whether a struct is loaded as a whole and stored as it is."""
    results: list[AccessResult] = field(default_factory=list)
    moduli: list[int] = field(default_factory=list)
    """Of each execution, modulo what its offset is known whatever the sizes are."""

    def excess(self, launch: int) -> float:
        """How many times the ideal it takes under a launch at most."""
        return max((_excess(result) for result in self.results if result.launch == launch), default=0.0)

    def compare(self, launch: int, others: Iterable[AccessResult], block: Block) -> None:
        """Takes its figures under a launch for estimates where it is a good access with a block of another shape."""
        if not 0 < max(map(_excess, others), default=0.0) <= _EXCEEDS:
            return
        self.results[:] = [
            replace(result, reason=not_with(block), reason_kind="estimate") if result.launch == launch else result
            for result in self.results
        ]


class AccessCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "accesses"
    spellings: Spellings
    _sites: dict[object, _Site] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(Spellings(subject.options))

    def add(self, run: Run) -> None:
        execution = run.execution
        copied = _copies_among(event for event in execution.events if isinstance(event, AccessEvent))
        residues = Residues()
        for key, events in _by_site(run.machine).items():
            if key not in self._sites:
                is_copy = events[0].record is not None and _is_copy(events[0], copied)
                self._sites[key] = _Site(events[0], *made_at(events[0]), is_copy)
            results = self._sites[key].results
            self._sites[key].moduli.append(min(residues.of(event.offset).modulus for event in events))
            if execution.deadline.is_over():
                results.append(AccessResult(execution.view.index, "unknown", reason=NO_TIME))
                continue
            results.extend(evaluate_access(events, execution.view))
            execution.view.trim()
        self._doubt_made_up_block(run)

    def _doubt_made_up_block(self, run: Run) -> None:
        """Where nobody says which block the kernel is launched with, and it may be one of several shapes, a figure that
        is a good one with another says nothing certain."""
        for other in other_shapes(run.configuration, run.subject.function):
            exceeding = {key for key, site in self._sites.items() if _is_doubtful(site, run.index)}
            if not exceeding or run.execution.deadline.is_over():
                return
            configuration = replace(run.configuration, block=other)
            execution = run.subject.again(run.index, configuration)
            there = _by_site(machine_accesses(execution))
            for key in exceeding:
                results = list(evaluate_access(there[key], execution.view)) if key in there else []
                self._sites[key].compare(run.index, results, run.configuration.block)
            execution.view.trim()

    def forget(self, launch: int) -> None:
        """Takes back what is known of a launch."""
        for site in self._sites.values():
            site.results[:] = [result for result in site.results if result.launch != launch]
        self._sites = {key: site for key, site in self._sites.items() if site.results}

    def is_exceeded_by(self, other: AccessCollector, index: int) -> bool:
        """Whether the traffic of some access is more beyond its ideal in `other` than under a launch that is here."""
        for key, site in other._sites.items():
            own = self._sites[key].results if key in self._sites else ()
            here = max((_excess(result) for result in own if result.launch == index), default=None)
            there = max(map(_excess, site.results), default=0.0)
            if here is not None and there > _EXCEEDS * here:
                return True
        return False

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        accesses = (_access(site, self.spellings) for site in self._sites.values())
        found = sorted(accesses, key=lambda a: (a.place, a.inlined_from, a.operation, a.space))
        return replace(facts, accesses=tuple(found))


def _is_doubtful(site: _Site, launch: int) -> bool:
    """Whether figures are beyond the ideal that nothing else makes estimates yet."""
    own = [result for result in site.results if result.launch == launch]
    return site.excess(launch) > _EXCEEDS and all(result.reason_kind == "other" for result in own)


def _excess(result: AccessResult) -> float:
    """How many times the ideal an access takes; 0 where that is not known."""
    if result.status not in ("exact", "assumed"):
        return 0.0
    sectors = (result.sectors_per_request or 0) / (result.ideal_sectors or 1)
    return max(sectors, (result.wavefronts_per_request or 0) / (result.ideal_wavefronts or 1))


def _by_site(accesses: Sequence[AccessEvent]) -> dict[object, list[AccessEvent]]:
    """The accesses of one execution by the place in the source and what they touch."""
    sites: dict[object, list[AccessEvent]] = {}
    for event in accesses:
        if event.target.space in ("global", "shared", "generic"):
            key = (
                event.context.span,
                event.context.frames,
                event.target.space,
                event.operation,
                event.target.name,
                event.bytes,
                event.made_by,
            )
            sites.setdefault(key, []).append(event)
    return sites


def _access(site: _Site, spellings: Spellings) -> Access:
    event = site.event
    symbol, place = event.target.symbol, Place(*event.context.span)
    return Access(
        place=place,
        function=event.context.function,
        inlined_from=frames_of(event.context.frames),
        space=event.target.space,
        operation=event.operation,
        array=event.target.name,
        element_type=ir.type_name(event.element),
        bytes=event.bytes,
        results=tuple(site.results),
        expression=spellings.of(place),
        declaration=_declaration(symbol, spellings) if symbol is not None else None,
        record_bytes=event.record.bytes if event.record is not None else None,
        record=event.record.name if event.record is not None else "",
        is_view=event.record is not None and _is_view(event.target, event.record),
        is_copy=site.is_copy,
        compiled_at=_moved_to(event) or spellings.compiled_at(place),
        made_at=Place(*site.made_at),
        made_through=frames_of(site.made_through),
        known_modulo=min(site.moduli),
        made_by=event.made_by or _library_function(event.context.library),
    )


def _is_view(target: Allocation, record: Within) -> bool:
    """Whether a cast has made a struct of what the array is declared to hold, such as 16 bytes of eight numbers."""
    type_ = target.element or (target.symbol.type if target.symbol is not None else None)
    while isinstance(type_, ir.ArrayType):
        type_ = type_.element
    return type_ is not None and type_.bytes != record.bytes


def _moved_to(event: AccessEvent) -> tuple[int, int] | None:
    """Line and column of the statement to which the compiler moved an access, if that is in the same file."""
    at = event.noted_at
    return (at.line, at.column) if at is not None and at.path == event.context.span.path else None


def _library_function(name: str) -> LibraryCall | None:
    return LibraryCall(name, None) if name else None


def _declaration(symbol: ir.Symbol, spellings: Spellings) -> ArrayFacts:
    extents: list[int] = []
    type_ = symbol.type
    while isinstance(type_, ir.ArrayType):
        extents.append(type_.count or 0)
        type_ = type_.element
    known = symbol.type.bytes if symbol.storage == "shared" else None
    places = extent_places(symbol, len(extents), spellings)
    return ArrayFacts(symbol.name, Place(*symbol.span), tuple(extents), places, type_.bytes, known or None)


# --- structs that are loaded as a whole and stored as they are --------------------------------------------

Loaded = tuple[object, int]
"""An array, and the number of the node that says where in it."""


def _copied_from(event: AccessEvent) -> Loaded | None:
    """Where the struct that is stored was loaded; None where any of its numbers comes from elsewhere."""
    places = {_origin(value.op, value.payload, [a.index for a in value.args]) for value in event.values or ()}
    return places.pop() if len(places) == 1 else None


def _copies_among(events: Iterable[AccessEvent]) -> frozenset[Loaded]:
    """Where the structs were loaded that are stored as they are."""
    found = (_copied_from(event) for event in events if event.operation == "store" and event.record is not None)
    return frozenset(place for place in found if place is not None)


def _is_copy(event: AccessEvent, copied: frozenset[Loaded]) -> bool:
    """Whether an access to a struct is one half of a copy in memory."""
    if event.operation == "store":
        return _copied_from(event) is not None
    return event.operation != "load" or (event.target, event.offset.index) in copied


def _origin(op: str, payload: object, args: list[int]) -> Loaded | None:
    if op != "opaque" or not isinstance(payload, Reason) or payload.kind != "loaded" or not payload.memory:
        return None
    return payload.memory[0], args[0]


# --- where the extents of an array are spelled in its declaration: what a fix has to change ---------------


