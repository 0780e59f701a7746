"""Rows that are too long or too short: `row * S + col` where the program itself bounds `col` by another size than `S`.

A kernel is executed in worlds of their own, in which no two of its sizes are equal, and in others in which one of them
is larger by one: what an address moves by then is the row that this size is multiplied with, and what is left is the
column. How far both go is seen in the same worlds.

This is a property of the kernel, whichever numbers a launch gives it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.execute.budget import Limits
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.facts import KernelFacts, PitchMismatch, Place
from cudalint.host.executor.checked_sizes import equal
from cudalint.host.values.nodes import without_cast
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import nodes_in
from cudalint.measure.arrays import Integers
from cudalint.measure.faults import Site, sites_of
from cudalint.measure.numbers import amount_of, numbers_of, parameters_of
from cudalint.measure.places import declared_type, frames_of
from cudalint.measure.providers.provider import Provider, Run
from cudalint.worlds.origins import numbers_of as parameters_in
from cudalint.worlds.records import Batch, Parameter, in_first_world


class PitchCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "pitches"
    found: list[PitchMismatch] = field(default_factory=list)

    def add(self, run: Run) -> None:
        if run.is_refused:
            return
        configuration, function = run.configuration, run.subject.function
        # Launches of one block are equivalent, those of threads along one axis, and all instantiations of a template.
        block = configuration.block
        like = function.span, block if sum(extent > 1 for extent in block) > 1 else None
        if not run.subject.right_pitches.isdisjoint((like, function.span)):
            return
        known = configuration.source != "default"
        found = pitch_mismatches(function, run.executed.batch, run.compiled.program, known)
        if not found:
            run.subject.right_pitches.add(like)
            return
        facts: dict[object, PitchMismatch] = {}
        for each in found:
            if not _are_equal(each, configuration):
                fact = _fact(each, run)
                facts.setdefault((fact.place, fact.inlined_from), fact)
        self.found += facts.values()

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, pitches=tuple(self.found))


def _fact(each: Mismatch, run: Run) -> PitchMismatch:
    other = each.by_other.node.span if each.by_other is not None else None
    return PitchMismatch(
        Place(*each.site.node.span),
        frames_of(each.site.stack),
        each.site.operation,
        each.site.allocation.name,
        run.index,
        each.pitch.name,
        each.length.name,
        Place(*other) if other is not None else None,
    )


def _are_equal(each: Mismatch, configuration: Configuration) -> bool:
    """Whether the host only goes on to the launch where both are one number."""
    nodes = {
        parameter: without_cast(node)
        for symbol, value in configuration.arguments.items()
        for parameter, node in nodes_in(value, Parameter(symbol))
        if parameter is not None
    }
    both = {nodes.get(each.pitch), nodes.get(each.length)}
    sides = (pair for guard in configuration.guards for pair in equal(guard))
    return any({without_cast(side) for side in pair} == both for pair in sides)


# --- rows and columns in worlds of their own -----------------------------------------------------------


_MOST_SIZES = 8
_UNIT = 64
"""Sizes are multiples of tiles, and differ by as much."""
_FEWEST = 2
_MOST_STEPS = {True: 20_000, False: 2_000}
"""Of an execution in full, and of one that leaves out turns: it takes so many if it learns nothing of its loops."""
_CHOICES = 2
"""In which no size is what it is in the other one."""


class Mismatch(Struct, frozen=True, eq=False):
    """An access whose pitch is `pitch`, although its row has `length` elements."""

    site: Site
    pitch: Parameter
    length: Parameter
    by_other: Site | None
    """Another access of the array, with rows of that length; None where the row's own bound says it."""


def sizes_of(kernel: ir.Function) -> list[Parameter]:
    """The sizes of a kernel that its rows may be as long as: none if it multiplies nothing by any of them."""
    found = [p for p in parameters_in(kernel) if _is_size(p)]
    if not 2 <= len(found) <= _MOST_SIZES:
        return []
    return found if _scales_by(kernel, found) else []


def pitch_mismatches(
    kernel: ir.Function, batch: Batch, program: Program, block_is_known: bool
) -> list[Mismatch]:
    """The accesses of arrays in global memory that are indexed with the wrong pitch, as far as that is beyond doubt and
    does not take too long to tell."""
    sizes = sizes_of(kernel)
    if not sizes:
        return []
    worlds = _Worlds(sizes)
    trace = _execute(kernel, batch, worlds, program)
    if trace is None:
        return []
    # A block that was made up may fill a part of its last tile only.
    slack = 1 if block_is_known else _UNIT
    by_array: dict[str, list[_Indexed]] = {}
    for site, events in sites_of(trace.accesses).items():
        if site.allocation.space == "global" and not site.is_conditional and site.bytes:
            declared = declared_type(site.allocation, kernel)
            element = declared.bytes if declared is not None and declared.bytes else site.bytes
            indexed = _indexed(site, events, trace, worlds, element, slack)
            if indexed is not None:
                by_array.setdefault(site.allocation.name, []).append(indexed)
    return [each for accesses in by_array.values() for each in _of_array(accesses, batch)]


class _Indexed(NamedTuple):
    """`row * pitch + column`, with the sizes up to which both go."""

    site: Site
    pitch: Parameter
    rows: Parameter | None
    length: Parameter | None


def _of_array(accesses: Sequence[_Indexed], batch: Batch) -> Iterator[Mismatch]:
    """What one array is indexed with wrongly. A pitch is right if the columns of any access go up to it."""
    right: dict[Parameter, Site] = {}
    for one in accesses:
        if one.length == one.pitch:
            right.setdefault(one.pitch, one.site)
    for one in accesses:
        length = one.length
        if length is None or one.pitch in right:
            continue
        if (one.rows == one.pitch or length in right) and not _holds_squares(one, batch):
            yield Mismatch(one.site, one.pitch, length, None if one.rows == one.pitch else right[length])


def _holds_squares(one: _Indexed, batch: Batch) -> bool:
    """Whether the allocation is made for rows of the pitch's length after all, as many of them as there are."""
    array = next((a for a in batch.sizes if a.name == one.site.allocation.name), None)
    if array is None:
        return False
    numbers, given = numbers_of(batch), parameters_of(batch)
    amount = amount_of(batch.sizes[array].bytes, numbers | given)
    if amount is None or len(amount.names) < 2:
        return False
    known = numbers | given
    wanted = [given.get(p.name, known.get(p.name)) for p in (one.pitch, one.rows or one.pitch)]
    return all(values in [known[name] for name in amount.names] for values in wanted)


# --- worlds --------------------------------------------------------------------------------------------


class _Worlds:
    """For each choice of sizes, one world, and one for each size in which that is larger by one."""

    def __init__(self, sizes: Sequence[Parameter]) -> None:
        self.sizes = sizes
        count = len(sizes)
        self.numbers: list[dict[Parameter, int]] = []
        for choice in range(_CHOICES):
            base = {
                size: _UNIT * (_FEWEST + (number + choice * (count // 2 + 1)) % (count + 1) + choice)
                for number, size in enumerate(sizes)
            }
            self.numbers.append(base)
            self.numbers += [{**base, size: base[size] + 1} for size in sizes]

    def base(self, choice: int) -> int:
        return choice * (1 + len(self.sizes))

    def moved(self, choice: int, size: Parameter) -> int:
        return self.base(choice) + 1 + self.sizes.index(size)


def _execute(kernel: ir.Function, batch: Batch, worlds: _Worlds, program: Program) -> Trace | None:
    """Of blocks at the ends that sizes may have along each axis."""
    count = len(worlds.numbers)
    largest = max(max(numbers.values()) for numbers in worlds.numbers)
    grid = tuple(-(-largest // extent) + 1 for extent in batch.block)
    ends = [
        sorted({min((size - 1) // extent, blocks - 1) for own in worlds.numbers for size in own.values()})
        for extent, blocks in zip(batch.block, grid, strict=True)
    ]
    x, y, z = (_asked(kernel, axis) for axis in "xyz")
    places = [(0, 0, 0)]
    places += [(end, 0, 0) for end in ends[0] if x] + [(0, end, 0) for end in ends[1] if y]
    places += [(0, 0, end) for end in ends[2] if z]
    extents = tuple(blocks if asked else 1 for blocks, asked in zip(grid, (x, y, z), strict=True))
    own = replace(
        batch, grid=((extents[0], extents[1], extents[2]),) * count, arguments=_arguments(batch, worlds),
        places=(tuple(dict.fromkeys(places)),) * count, weights=((1.0,) * len(dict.fromkeys(places)),) * count,
        shared=(max(batch.shared),) * count, worlds=({},) * count,
    )  # fmt: skip
    # How far an index goes is seen in the last turn of each loop, if all of them take no more than others would.
    for in_full in (True, False):
        trace = Machine(own.lanes(), program, Limits(_MOST_STEPS[in_full]), in_full).run(kernel, dict(own.arguments))
        if not trace.is_cut:
            return trace
    return None


def _asked(kernel: ir.Function, axis: str) -> bool:
    return any(
        isinstance(node, ir.Member) and node.field == axis and isinstance(node.base, ir.Name)
        and node.base.symbol.name == "blockIdx"
        for node in walk.nodes_in(kernel)
    )  # fmt: skip


def _arguments(batch: Batch, worlds: _Worlds) -> dict[ir.Symbol, Any]:
    """The batch's own, in its first world, with other sizes."""
    found = {symbol: in_first_world(value) for symbol, value in batch.arguments.items()}
    for size in worlds.sizes:
        values = [numbers[size] for numbers in worlds.numbers]
        if not size.path:
            found[size.symbol] = values
            continue
        fields = found.get(size.symbol)
        if not isinstance(fields, dict):
            fields = found[size.symbol] = {}
        for name in size.path[:-1]:
            fields = fields.setdefault(name, {})
        fields[size.path[-1]] = values
    return found


# --- rows and columns ----------------------------------------------------------------------------------


def _indexed(
    site: Site, events: Sequence[AccessEvent], trace: Trace, worlds: _Worlds, element: int, slack: int
) -> _Indexed | None:
    """An offset of one row, times one size, plus a column."""
    whole = [_whole(event) for event in events if not isinstance(event.offset, Data)]
    if len(whole) < len(events):
        return None
    parts: list[tuple[Parameter, Integers, Integers]] = []
    for choice in range(_CHOICES):
        found = _parts(whole, trace, worlds, choice)
        if found is None:
            return None
        parts.append(found)
    pitches = {pitch for pitch, _, _ in parts}
    if len(pitches) != 1 or any(len(set(own.tolist())) < 2 for _, *both in parts for own in both):
        return None
    rows, length = (
        _reached([own[place] for own in parts], worlds, element, slack) for place in (1, 2)
    )
    return _Indexed(site, pitches.pop(), rows, length)


def _parts(
    events: Iterable[_Whole], trace: Trace, worlds: _Worlds, choice: int
) -> tuple[Parameter, Integers, Integers] | None:
    """The size that rows are multiplied with, and the rows and columns of all lanes, in bytes."""
    base, blocks = worlds.base(choice), trace.lanes.blocks
    pitch: Parameter | None = None
    rows: list[Integers] = []
    columns: list[Integers] = []
    for event in events:
        offsets, mask = event.in_world(base, blocks)
        moving: dict[Parameter, Integers] = {}
        for size in worlds.sizes:
            moved, its_mask = event.in_world(worlds.moved(choice, size), blocks)
            moved_by = np.where(mask & its_mask, moved - offsets, 0)
            if moved_by.any():
                moving[size] = moved_by
        if len(moving) > 1 or (moving and pitch is not None and pitch not in moving):
            return None
        for size, moved_by in moving.items():
            pitch = size
            rows.append(moved_by[mask])
            columns.append((offsets - moved_by * worlds.numbers[base][size])[mask])
        if not moving and mask.any():
            rows.append(np.zeros(int(mask.sum()), np.int64))
            columns.append(offsets[mask])
    if pitch is None:
        return None
    return pitch, np.concatenate(rows), np.concatenate(columns)


class _Whole(NamedTuple):
    """An execution of an access, of all lanes in all worlds."""

    offsets: Integers
    mask: Any

    def in_world(self, world: int, blocks: int) -> tuple[Integers, Any]:
        rows = slice(world * blocks, (world + 1) * blocks)
        return self.offsets[rows], self.mask[rows]


def _whole(event: AccessEvent) -> _Whole:
    return _Whole(np.broadcast_to(np.asarray(event.offset, np.int64), event.mask.shape), event.mask)


def _reached(parts: Sequence[Any], worlds: _Worlds, element: int, slack: int) -> Parameter | None:
    """The size that is one more than the largest value of an index, in all choices."""
    candidates = set(worlds.sizes)
    for choice, own in enumerate(parts):
        numbers = worlds.numbers[worlds.base(choice)]
        end = int(own.max()) // element + 1
        candidates = {size for size in candidates if 0 <= numbers[size] - end < slack}
    return candidates.pop() if len(candidates) == 1 else None


def _is_size(parameter: Parameter) -> bool:
    type_ = parameter.symbol.type
    for name in parameter.path:
        field = type_.field(name) if isinstance(type_, ir.RecordType) else None
        type_ = field.type if field is not None else ir.OpaqueType("?")
    return isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint") and type_.bytes >= 4


def _scales_by(kernel: ir.Function, sizes: Sequence[Parameter]) -> bool:
    """Whether the body multiplies anything by one of the sizes: most kernels don't, and need no second look."""
    symbols = {size.symbol: size for size in sizes if not size.path}
    fields: Mapping[ir.Symbol, set[str]] = {
        size.symbol: {other.path[0] for other in sizes if other.path and other.symbol is size.symbol}
        for size in sizes
        if size.path
    }

    def names(expression: ir.Expr) -> bool:
        bare = walk.without_casts(expression)
        if isinstance(bare, ir.Member) and isinstance(bare.base, ir.Name):
            return bare.field in fields.get(bare.base.symbol, ())
        return isinstance(bare, ir.Name) and bare.symbol in symbols

    for node in walk.nodes_in(kernel):
        if isinstance(node, ir.Binary) and node.op == "*":
            if isinstance(node.type, ir.Scalar) and node.type.kind == "float":
                continue  # No place in an array.
            operands: Sequence[ir.Expr] = (node.left, node.right)
        elif isinstance(node, ir.Call) and node.function is not None and node.function.is_user:
            operands = node.arguments
        else:
            continue
        if any(map(names, operands)):
            return True
    return False
