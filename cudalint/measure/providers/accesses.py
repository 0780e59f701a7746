"""The access facts of a kernel, collected launch by launch."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.execute.trace import AccessEvent, Stack
from cudalint.facts import Access, AccessResult, ArrayFacts, KernelFacts, Place, Status
from cudalint.frontend.extents import extent_places
from cudalint.frontend.source_text import Spellings
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.launches.configuration import Block, Configuration
from cudalint.launches.variants import NOT_ALL_TRIED, not_with, other_shapes
from cudalint.measure import places
from cudalint.measure.accesses import known_modulo, results_of
from cudalint.measure.executed import Executed
from cudalint.measure.machine_accesses import copied_records, unreached
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.requests import AccessSite, site_of

_EXCEEDS = 1.25
"""How many times one launch's excess over the ideal another one's has to be to be reported by itself."""
Key = tuple[Any, ...]
"""What distinguishes an access from others in any launch; bytes of the machine's access come last."""


class _Site(Struct, frozen=True, eq=False):
    """A place in the source, as it is reached by some calls, and what is touched there."""

    event: AccessEvent
    bytes: int
    """Of one access of the machine, which may be several of the source's."""
    made_at: tuple[ir.Span, Stack]
    """Where its address is made, and the calls that lead there."""
    is_copy: bool
    """Whether a struct is loaded as a whole and stored as it is."""
    results: list[AccessResult] = field(default_factory=list)
    moduli: list[int] = field(default_factory=list)
    """Of each launch, modulo what its offset is known whatever the sizes are."""

    def excess(self, launch: int) -> float:
        """How many times the ideal it takes under a launch at most."""
        return max((_excess(result) for result in self.results if result.launch == launch), default=0.0)

    def compare(self, launch: int, others: Iterable[AccessResult], block: Block) -> None:
        """Takes its figures under a launch for estimates where it is a good access with a block of another shape."""
        if 0 < max(map(_excess, others), default=0.0) <= _EXCEEDS:
            self.estimate(launch, not_with(block))

    def estimate(self, launch: int, reason: str) -> None:
        """Takes its figures under a launch for estimates."""
        self.results[:] = [
            replace(result, reason=reason, reason_kind="estimate") if result.launch == launch else result
            for result in self.results
        ]


class AccessCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "accesses"
    function: ir.Function
    spellings: Spellings
    _sites: dict[Key, _Site] = field(default_factory=dict)
    _launches: list[int] = field(default_factory=list)
    _unreached: dict[int, frozenset[ir.Span]] = field(default_factory=dict)
    """By launch: where it begins what no numbers were found for that lead there."""

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.function, Spellings(subject.options))

    def add(self, run: Run) -> None:
        self._launches.append(run.index)
        self._unreached[run.index] = frozenset(run.chosen.worlds.unreached)
        copied = copied_records(run.executed.laid)
        for key, (events, results) in _by_key(run.executed, run.index).items():
            if key not in self._sites:
                first = events[0]
                # Of a number of which one half is used no more than that is accessed.
                first = first._replace(bytes=min(first.bytes, key[-1]))
                self._sites[key] = _Site(first, key[-1], places.made_at(first), first.node in copied)
            site = self._sites[key]
            site.moduli.append(known_modulo(events, run.executed))
            site.results.extend(_under(result, run.configuration) for result in results)
        for event in unreached(run.executed.laid, run.executed.trace):
            key = _key(site_of(event))
            if key not in self._sites:
                self._sites[key] = _Site(event, event.bytes, places.made_at(event), event.node in copied)
        self._doubt_made_up_block(run)

    def _doubt_made_up_block(self, run: Run) -> None:
        """Where nobody says which block the kernel is launched with, and it may be one of several shapes, a figure that
        is a good one with another says nothing certain."""
        for other in other_shapes(run.configuration, run.subject.function):
            exceeding = {key for key, site in self._sites.items() if _is_doubtful(site, run.index)}
            if not exceeding:
                return
            if not run.may_be_tried():
                for key in exceeding:
                    self._sites[key].estimate(run.index, NOT_ALL_TRIED)
                return
            there = run.chosen.with_block(replace(run.configuration, block=other), run.compiled)
            for key, (_, results) in _by_key(there, run.index, exceeding).items():
                self._sites[key].compare(run.index, results, run.configuration.block)

    def finish(self, subject: Subject) -> None:
        nowhere = frozenset[ir.Span]().union(*self._unreached.values())
        for span in sorted(nowhere):
            if all(span in own for own in self._unreached.values()):
                subject.has_gap(f"what begins at line {span.line}: no sizes were found that lead there", "other")

    def forget(self, launch: int) -> None:
        """Takes back what is known of a launch."""
        self._unreached.pop(launch, None)
        self._launches = [each for each in self._launches if each != launch]
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
        accesses = [self._access(site) for site in self._sites.values()]
        accesses.sort(key=lambda a: (a.place, a.inlined_from, a.operation, a.space))
        return replace(facts, accesses=tuple(accesses))

    def _access(self, site: _Site) -> Access:
        event, spellings = site.event, self.spellings
        symbol, place = event.allocation.symbol, Place(*event.node.span)
        record = places.record_of(event)
        span, through = site.made_at
        declared = places.declared_type(event.allocation, self.function)
        # Launches under which nothing of the kernel comes there, too.
        known = {result.launch for result in site.results}
        others = [AccessResult(launch, "unreached") for launch in self._launches if launch not in known]
        return Access(
            place=place,
            function=places.function_of(event.stack, self.function.name),
            inlined_from=places.frames_of(event.stack),
            space=places.space_of(event.allocation),
            operation=event.operation,
            array=places.named(event, self.function),
            element_type=places.element_of(event),
            bytes=site.bytes,
            results=tuple(sorted((*site.results, *others), key=lambda result: result.launch)),
            expression=spellings.of(place),
            declaration=_declaration(symbol, spellings) if symbol is not None else None,
            record_bytes=record.type.bytes if record is not None else None,
            record=ir.type_name(record.type) if record is not None else "",
            is_view=record is not None and places.is_view(event, record, declared),
            is_copy=record is not None and site.is_copy,
            compiled_at=spellings.compiled_at(place),
            made_at=Place(*span),
            made_through=places.frames_of(through),
            made_by=places.made_by(event, self.function),
            known_modulo=min(site.moduli, default=1),
        )


def _under(result: AccessResult, configuration: Configuration) -> AccessResult:
    """A result with what had to be taken for granted about the launch, which its figure rests on as well."""
    if not configuration.assumptions:
        return result
    assumptions = tuple(dict.fromkeys((*configuration.assumptions, *result.assumptions)))
    status: Status = "assumed" if result.status == "exact" else result.status
    return replace(result, status=status, assumptions=assumptions)


def _by_key(
    executed: Executed, launch: int, keys: Set[Key] | None = None
) -> dict[Key, tuple[list[AccessEvent], list[AccessResult]]]:
    """The accesses of one launch, or some of them, with their figures."""
    # Whatever width the compiler makes of them.
    asked = {key[:-1] for key in keys} if keys is not None else set()
    found: dict[Key, tuple[list[AccessEvent], list[AccessResult]]] = {}
    for site, events, results in results_of(executed, launch, lambda site: keys is None or _key(site)[:-1] in asked):
        own = found.setdefault(_key(site), ([], []))
        own[0].extend(events)
        own[1].extend(results)
    return found if keys is None else {key: own for key, own in found.items() if key in keys}


def _key(site: AccessSite) -> Key:
    frames = tuple(call.span for call in site.stack)
    # What stands in a macro has its span.
    called = (site.node.name, ir.type_name(site.node.type)) if isinstance(site.node, ir.Call) else None
    return site.node.span, frames, site.space, site.operation, site.array, called, site.bytes


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


def _declaration(symbol: ir.Symbol, spellings: Spellings) -> ArrayFacts:
    extents: list[int] = []
    type_ = symbol.type
    while isinstance(type_, ir.ArrayType):
        extents.append(type_.count or 0)
        type_ = type_.element
    known = symbol.type.bytes if symbol.storage == "shared" else None
    places_of_extents = extent_places(symbol, len(extents), spellings)
    return ArrayFacts(symbol.name, Place(*symbol.span), tuple(extents), places_of_extents, type_.bytes, known or None)
