"""Records that a kernel copies into variables of its own: of those it loads the fields that it reads, and of one that
is stored back to where it came from it stores the fields that it changed.

Counters of an H200 (nvcc 13.0 -O3, sm_90) for records of ten floats, `Particle own = p[i]; ... p[i] = own;`: six loads
where six fields are read, three stores where three are assigned to; and four loads in a loop over `Particle other =
p[j]` of which four are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, EscapeEvent, FenceEvent, LibraryAccess
from cudalint.ir import nodes as ir
from cudalint.ir import walk

_UNUSED_FIELDS = heuristic("unused-fields", "counters: fields of copied records that nobody reads or changes")
_UNREAD = "nobody reads this field of the copy, so it is not loaded"
_UNCHANGED = "the record's field is what is there already, so it is not stored"


class _Part(NamedTuple):
    """Bytes of a variable."""

    symbol: ir.Symbol
    start: int
    end: int


class _Uses(Struct, eq=False):
    """What becomes of a variable that holds a record."""

    read: set[int] = field(default_factory=set)
    """Bytes."""
    written: set[int] = field(default_factory=set)
    loads: set[ir.Span] = field(default_factory=set)
    """Places in memory that it is copied from."""
    stores: set[ir.Span] = field(default_factory=set)
    """Those that it is copied to."""


def without_unused_fields(accesses: Sequence[AccessEvent], execution: Execution) -> list[AccessEvent]:
    """The accesses, where those to fields that are of no use are left out."""
    found = list(accesses)
    if not _UNUSED_FIELDS.is_on or not any(map(_is_piece, found)):
        return found
    for uses in _uses(execution.function):
        loads = [i for i, event in enumerate(found) if _is_of(event, uses.loads, "load")]
        stores = [i for i, event in enumerate(found) if _is_of(event, uses.stores, "store")]
        if not loads or any(_is_aside(event, uses) for event in found):
            continue
        back = bool(stores) and _is_stored_back([found[i] for i in loads], [found[i] for i in stores], execution)
        kept = uses.read if back or not uses.stores else {*range(found[loads[0]].element.bytes)}
        # What may be stored as it was, where it is changed on some paths only, is loaded.
        kept = kept | uses.written if stores else kept
        for i in loads:
            if kept.isdisjoint(_bytes_of(found[i])):
                found[i] = replace(found[i], left_out=_UNREAD)
        for i in stores if back else ():
            if uses.written.isdisjoint(_bytes_of(found[i])):
                found[i] = replace(found[i], left_out=_UNCHANGED)
    return found


def _is_piece(event: AccessEvent) -> bool:
    """Whether an access is to a part of a record that is copied in pieces."""
    is_record = isinstance(event.element, ir.RecordType) and event.record is not None
    return is_record and event.bytes < event.element.bytes and event.left_out is None and not event.is_verbatim


def _is_of(event: AccessEvent, places: set[ir.Span], operation: str) -> bool:
    return _is_piece(event) and event.operation == operation and event.context.span in places and _is_own(event)


def _is_own(event: AccessEvent) -> bool:
    """Whether it is code of the kernel itself, whose variables are looked at."""
    return not event.context.frames and not event.context.library


def _is_aside(event: AccessEvent, uses: _Uses) -> bool:
    """Whether what stands at one of the places is no copy in pieces."""
    return event.context.span in uses.loads | uses.stores and _is_own(event) and not _is_piece(event)


def _bytes_of(event: AccessEvent) -> range:
    assert event.record is not None
    return range(event.record.offset, event.record.offset + event.bytes)


def _is_stored_back(loads: Sequence[AccessEvent], stores: Sequence[AccessEvent], execution: Execution) -> bool:
    """Whether a record goes back to where it came from, and nothing else can have changed it in between."""
    places = {(id(event.target), event.offset.index) for event in loads}
    if places != {(id(event.target), event.offset.index) for event in stores}:
        return False
    restricted = {p.name for p in execution.function.parameters if p.is_restrict}
    own, spans = loads[0].target, {event.context.span for event in stores}
    for event in execution.events:
        if isinstance(event, (BarrierEvent, FenceEvent, EscapeEvent, LibraryAccess)):
            return False
        if isinstance(event, AccessEvent) and event.operation != "load" and event.context.span not in spans:
            is_alone = not {own.name, event.target.name}.isdisjoint(restricted) and own is not event.target
            if event.target.space in ("global", "generic") and not is_alone:
                return False
    return True


# --- the variables of a kernel ------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _uses(function: ir.Function) -> tuple[_Uses, ...]:
    """Of the variables that hold copies of records in memory."""
    reader = _Reader()
    reader.read(function.body)
    return tuple(uses for uses in reader.found.values() if uses.loads)


class _Reader:
    """Goes through a kernel's code, and notes what it does with its records."""

    def __init__(self) -> None:
        self.found: dict[ir.Symbol, _Uses] = {}

    def read(self, node: Any) -> None:
        if isinstance(node, ir.Declare) and _is_record(node.symbol):
            self._copied(node.symbol, node.initializer)
        elif isinstance(node, ir.Assign):
            self._assigned(node)
        elif isinstance(node, (ir.Name, ir.Member, ir.Index)) and (part := _part(node)) is not None:
            self._uses(part.symbol).read.update(range(part.start, part.end))
            self._read_all(_indices(node))
        else:
            for part in _handed_out(node):
                uses = self._uses(part.symbol)
                uses.read.update(range(part.start, part.end))
                uses.written.update(range(part.start, part.end))
            self._read_all(walk.children(node))

    def _read_all(self, nodes: Iterable[Any]) -> None:
        for each in nodes:
            self.read(each)

    def _copied(self, symbol: ir.Symbol, value: ir.Expr | None) -> None:
        source = _copy_of(value, symbol.type)
        if source is None or _part(source) is not None:
            self._read_all(() if value is None else (value,))
            return
        self._uses(symbol).loads.add(source.span)
        self._read_all(walk.children(source))

    def _assigned(self, node: ir.Assign) -> None:
        target, value = _part(node.target), node.value
        source = _copy_of(value, node.target.type) if isinstance(node.target.type, ir.RecordType) else None
        if target is None:
            self._read_all(walk.children(node.target))
            whole = _part(source) if source is not None else None
            if whole is not None and isinstance(source, ir.Name) and not node.op:
                self._uses(whole.symbol).stores |= {node.target.span, node.span}
                return
            self.read(value)
            return
        self._read_all(_indices(node.target))
        if isinstance(node.target, ir.Name) and source is not None and _part(source) is None and not node.op:
            self._copied(target.symbol, value)
            return
        uses, bytes_ = self._uses(target.symbol), range(target.start, target.end)
        uses.written.update(bytes_)
        if node.op:
            uses.read.update(bytes_)
        self.read(value)

    def _uses(self, symbol: ir.Symbol) -> _Uses:
        return self.found.setdefault(symbol, _Uses())


def _handed_out(node: Any) -> Iterator[_Part]:
    """What others may read and change from here on: by an address, a reference, or a step."""
    parts: tuple[Any, ...] = ()
    if isinstance(node, ir.Lambda):
        found = (capture.symbol for capture in node.captures)
        yield from (_Part(symbol, 0, symbol.type.bytes) for symbol in found if _is_record(symbol))
    elif isinstance(node, (ir.Call, ir.Construct, ir.Asm, ir.UnknownExpr, ir.UnknownStmt)):
        parts = tuple(walk.children(node))
    elif isinstance(node, ir.Unary) and node.op in ("&", *walk.STEPS):
        parts = (node.operand,)
    yield from (part for each in parts if (part := _part(walk.without_casts(each))) is not None)


def _is_record(symbol: ir.Symbol) -> bool:
    return symbol.storage == "local" and isinstance(symbol.type, ir.RecordType) and not symbol.type.is_union


def _copy_of(value: ir.Expr | None, type_: ir.Type) -> ir.Expr | None:
    """The object that a value of a record's type is a plain copy of."""
    while isinstance(value, (ir.Cast, ir.Construct)):
        if isinstance(value, ir.Construct) and (value.constructor is not None or len(value.arguments) != 1):
            return None
        value = value.operand if isinstance(value, ir.Cast) else value.arguments[0]
    is_object = isinstance(value, (ir.Name, ir.Member, ir.Index)) or (isinstance(value, ir.Unary) and value.op == "*")
    if value is None or not is_object:
        return None
    return value if isinstance(value.type, ir.RecordType) and value.type.bytes == type_.bytes else None


def _part(expr: ir.Expr) -> _Part | None:
    """The bytes of a record of the kernel's own that an expression names; None where it names something else."""
    if isinstance(expr, ir.Cast):
        return _part(expr.operand) if isinstance(expr.operand.type, ir.ArrayType) else None
    if isinstance(expr, ir.Name):
        return _Part(expr.symbol, 0, expr.symbol.type.bytes) if _is_record(expr.symbol) else None
    if isinstance(expr, ir.Member):
        base = None if expr.arrow else _part(expr.base)
        record = expr.base.type
        own = record.field(expr.field) if isinstance(record, ir.RecordType) else None
        if base is None or own is None or own.bits is not None:
            return base
        return _Part(base.symbol, base.start + own.offset, base.start + own.offset + own.type.bytes)
    if isinstance(expr, ir.Index):
        base = _part(expr.base)
        if base is None or not isinstance(expr.index, ir.Constant):
            return base
        start = base.start + int(expr.index.value) * expr.type.bytes
        return _Part(base.symbol, start, start + expr.type.bytes)
    return None


def _indices(expr: Any) -> Iterator[ir.Expr]:
    while isinstance(expr, (ir.Member, ir.Index, ir.Cast)):
        if isinstance(expr, ir.Index):
            yield expr.index
        expr = expr.operand if isinstance(expr, ir.Cast) else expr.base
