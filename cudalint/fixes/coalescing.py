"""Ways out of uncoalesced accesses, each tried on the model before it is suggested."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from cudalint.diagnostics import Applicability, Suggestion
from cudalint.facts import Access, AccessResult, KernelFacts, LaunchFacts, Sample, Space
from cudalint.fixes.exchange_edits import exchange_edits
from cudalint.fixes.obstacles import Obstacle, edited
from cudalint.fixes.patterns import Pattern, done_with_structs, pattern_of
from cudalint.fixes.record_edits import aligned_record, is_declared
from cudalint.fixes.records import takes_most
from cudalint.fixes.row_edits import row_edits, turns_of
from cudalint.fixes.staging_edits import staging_edits
from cudalint.fixes.tile_edits import tile_edits
from cudalint.fixes.turn_edits import turn_edits
from cudalint.fixes.vector_edits import is_safe_as_vector, vector_edits
from cudalint.hardware.banks import shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES, global_request
from cudalint.hardware.warps import thread_index, warp_count
from cudalint.rulekit import Evaluated, array_key, evaluated, is_repeat, mean_sectors, thread_indices

_WORTH_IT = 0.8
"""A remedy has to bring the figure under this share of what it was."""
_WORTH_A_NUMBER = 0.9
"""The same for remedies that only change a number."""
_AS_BEFORE = 1.001
"""What is under this share of what it was is no worse."""
_WIDEST = 16
"""Bytes that one instruction moves per lane at most."""
_MOST = 0.9
"""The share of warps from which on all but those at the end of an array do something."""
_SHORT_RUN = 64
"""Bytes of a thread that a few vectors hold."""
_BASES = 16
"""Different places in memory at which a block is tried."""
_COMMON_TURN = 128
"""Bytes after which both sectors and banks repeat."""


ALONG_ROWS = ("own-row", "own-run", "strided", "column")
"""What loops along rows are, as far as the model tells it."""
_VECTOR = re.compile(r"\b(?:u?(?:char|short|int|long|longlong)|float|double)[2-4](?:_\w+)?$")


class Texts(Struct, frozen=True):
    """The texts that edits are made in."""

    paths: tuple[str, ...]
    """Of all that a kernel may call something of."""
    text_of: Callable[[str], str]
    kernels: tuple[KernelFacts, ...] = ()
    """All of the file: of a template each instantiation."""


def suggest(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, texts: Texts, absorbed: bool = False
) -> Suggestion | None:
    """The remedy that fits the pattern, None where the model knows of none that helps. Of records that L1 has absorbed
    none but a load of all of it would bring anything."""
    found = _suggested(kernel, one, pattern, texts, absorbed)
    if absorbed or pattern.kind not in ALONG_ROWS or (found is not None and found.edits):
        return found
    return _through_a_tile(kernel, one, texts, found)


def _suggested(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, texts: Texts, absorbed: bool
) -> Suggestion | None:
    if (dealt := _dealt_out(one, texts)) is not None:
        return dealt
    match pattern.kind:
        case "reversed":
            return _exchange_or_stage(kernel, one, texts)
        case "field":
            if (vector := _as_one_vector(kernel, one, pattern, texts, absorbed)) is not None:
                return vector
            return None if takes_most(kernel, one, abs(pattern.step or 0)) else _fields_apart(one)
        case "copy":
            if _is_a_librarys(one):
                return None
            return _narrower_vectors(one) if is_a_vector(one) or one.access.is_view else _aligned_record(one, texts)
        case "own-row" | "own-run":
            if pattern.kind == "own-row" and (changed := _exchange_alone(kernel, one, texts)) is not None:
                return changed
            words = _run_as_vectors(one, pattern) or _neighbouring_elements(one, pattern)
            vector = _as_one_vector(kernel, one, pattern, texts, absorbed)
            return vector or _row_in_vectors(kernel, one, pattern, texts, words)
        case "strided" | "column":
            vector = _as_one_vector(kernel, one, pattern, texts, absorbed)
            if vector is not None and vector.edits:
                return vector
            words = vector or _exchange_alone(kernel, one, texts)
            if absorbed or (words is not None and words.edits):
                return words
            return _row_in_vectors(kernel, one, pattern, texts, words)
        case "short-rows" | "misaligned":
            return _wider_block(kernel, one)
        case _:
            return None


def by_hand(kernel: KernelFacts, one: Evaluated, pattern: Pattern) -> str:
    """Why there is no edit for an access, whichever words there are."""
    array, line = f"`{one.access.array}`", one.access.place.line
    match pattern.kind:
        case "field" | "copy":
            return f"how {array} lies is up to all that fill it and read it, which are not all in sight"
        case "own-row" | "own-run":
            return f"the loop around line {line} would have to be shared out among the threads of a warp"
        case "strided" | "column":
            return f"the stride is the layout of {array}, or what each thread of `{kernel.name}` is there for"
        case "reversed":
            return f"x and y of the block can't be exchanged without other accesses of `{kernel.name}` getting worse"
        case "short-rows":
            return f"the shape of the block is part of what `{kernel.name}` computes"
        case "misaligned":
            return f"where rows of {array} begin is up to its pitch, or to a neighbour that is meant at line {line}"
        case "reduced":
            return f"which threads take part at line {line} is what `{kernel.name}` is about"
        case "scattered":
            return f"no order of the threads makes neighbours of what line {line} touches"


def _exchange_or_stage(kernel: KernelFacts, one: Evaluated, texts: Texts) -> Suggestion | None:
    """Exchanging x and y costs nothing, so it is preferred where the kernel's other accesses don't lose by it."""
    staged = _stage(kernel, one, texts)
    changed = _exchange(kernel, one)
    if changed is not None and _exchange_pays(changed, one, staged):
        return _exchange_suggestion(kernel, changed, one, texts)
    return staged


def _exchange_alone(kernel: KernelFacts, one: Evaluated, texts: Texts) -> Suggestion | None:
    """Where a loop walks along the row, staging would take more than an exchange of indices."""
    changed = _exchange(kernel, one)
    if changed is None or not _exchange_pays(changed, one, None):
        return None
    return _exchange_suggestion(kernel, changed, one, texts)


# --- remedies for one access -----------------------------------------------------------------------------


def _fields_apart(one: Evaluated) -> Suggestion | None:
    """A plain array that a cast makes structs of has no fields: what each lane takes at once is too wide then."""
    if not one.access.is_view:
        return _structure_of_arrays(one)
    return _narrower_vectors(one) if one.access.bytes == _WIDEST else None


def _structure_of_arrays(one: Evaluated) -> Suggestion | None:
    after = _with_unit_stride(one)
    text = f"keep the fields of `{one.access.array}` in arrays of their own (structure of arrays)"
    suggestion = _if_better(one, text, after)
    return replace(suggestion, moves_data=True) if suggestion is not None else None


def _neighbouring_elements(one: Evaluated, pattern: Pattern) -> Suggestion | None:
    """Threads that each walk along a run of their own can walk along it together."""
    after = _with_unit_stride(one)
    index = "index `j * blockDim.x + threadIdx.x`"
    text = f"let neighbouring threads take neighbouring elements ({index} in place of a run for each thread)"
    if pattern.kind == "own-row":
        text = "let the threads of a warp take neighbouring elements of one row"
    if one.access.operation != "atomic":
        text += ", or stage the runs through shared memory"
    return _if_better(one, text, after)


def _is_a_librarys(one: Evaluated) -> bool:
    """Whether the struct is one that users can't declare anew: the states of cuRAND's generators."""
    return one.access.element_type.removeprefix("struct ").startswith("curandState")


def is_a_vector(one: Evaluated) -> bool:
    """Whether what is copied is one of CUDA's vectors, whose components are no fields of the user's."""
    return any(_VECTOR.search(type_) is not None for type_ in (one.access.element_type, one.access.record))


def _narrower_vectors(one: Evaluated) -> Suggestion | None:
    """A `double4` is copied in two halves, between each of which lies the other one. One that is computed with is not
    for other lanes to move."""
    if not one.access.is_copy or one.access.bytes != _WIDEST:
        return None
    text = f"copy {_WIDEST} bytes in each lane, such as a `float4`, and let neighbouring lanes copy neighbouring ones"
    return _if_better(one, text, _with_unit_stride(one))


def _aligned_record(one: Evaluated, texts: Texts) -> Suggestion | None:
    """A struct is copied in pieces as wide as its alignment; a wider alignment makes fewer requests."""
    access, sample, before = one.access, one.result.sample, one.result.sectors_per_request
    record = access.record_bytes or 0
    piece = min(record & -record, _WIDEST)
    if sample is None or before is None or piece <= access.bytes:
        return None
    # The sample has all the pieces of the copy, so that the first of them tells how the struct lies.
    if int(sample.addresses[sample.mask].min()) % piece:
        return None
    now = before * (record // access.bytes)
    then = mean_sectors(sample.addresses // piece * piece, sample, piece) * (record // piece)
    if not is_declared(access.record, texts.paths, texts.text_of):
        return None
    text = f"declare the struct `__align__({piece})`, so that it is {done_with_structs(access)} {piece} bytes at a time"
    if then > now * _WORTH_IT:
        return None
    if record > piece:
        # Pieces that are apart take more sectors than they fill, so that the finding stays, if a milder one.
        return Suggestion(text, (), {"sectors": now}, {"sectors": then})
    advice = Suggestion(text, (), {"sectors": now}, {"sectors": then}, rewrites=True)
    return edited(advice, lambda: aligned_record(access.record, piece, texts.paths, texts.text_of), "unsafe")


def _dealt_out(one: Evaluated, texts: Texts) -> Suggestion | None:
    """The turns of a loop of which each thread has a run, dealt out to neighbouring threads."""
    after, before = _with_unit_stride(one), one.result.sectors_per_request
    if after is None or before is None or after > before * _WORTH_IT:
        return None
    try:
        head, edits = turn_edits(one.access, texts.text_of)
    except Obstacle:
        return None
    text = f"let neighbouring threads make neighbouring turns of the loop: `{head}`"
    return Suggestion(
        text, edits, {"sectors_per_request": before}, {"sectors_per_request": after}, applicability="unsafe"
    )


def _as_one_vector(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, texts: Texts, whole: bool
) -> Suggestion | None:
    """Accesses that fill each other's gaps become one wide access, if its address is aligned."""
    access, sample = one.access, one.result.sample
    if sample is None or access.operation not in ("load", "store") or not sample.mask.any():
        return None
    step = abs(pattern.step or 0)
    widths = [width for width in (16, 8, 4) if width > access.bytes and step and step % width == 0]
    widths = [width for width in widths if width == step or not whole]
    tried = (_as_vector_of(kernel, one, sample, pattern, width, texts) for width in widths)
    found = [suggestion for suggestion in tried if suggestion is not None]
    return next((suggestion for suggestion in found if suggestion.edits), found[0] if found else None)


def _as_vector_of(
    kernel: KernelFacts, one: Evaluated, sample: Sample, pattern: Pattern, width: int, texts: Texts
) -> Suggestion | None:
    """The accesses in the same aligned bytes, `width` of them, as one."""
    access = one.access
    within = np.unique(sample.addresses[sample.mask] % width)
    if len(within) > 1:
        return None
    start = -int(within[0])
    neighbours = [each for each in _neighbours(kernel, one, width) if start <= each[0] <= start + width - access.bytes]
    apart = {distance: other.result.sectors_per_request or 0.0 for distance, other in neighbours}
    # A store must not write what the program doesn't; a load may read what is left of its record.
    filled = len(apart) * access.bytes == width
    is_record = access.operation == "load" and width == abs(pattern.step or 0)
    if len(apart) < 2 or not (filled or is_record):
        return None
    addresses = sample.addresses + start
    now, then = sum(apart.values()), mean_sectors(addresses, sample, width)
    parts = "fields of a struct" if pattern.kind == "field" else "neighbouring elements of a thread"
    text = f"{access.operation} the {len(apart)} {parts} at once, as one {width}-byte vector"
    text += _if_aligned(access, width)
    if then > now * _WORTH_IT:
        return None
    advice = Suggestion(text, (), {"sectors": now}, {"sectors": then}, rewrites=True)
    accesses = [(distance, other.access) for distance, other in neighbours]
    safety: Applicability = "unsafe"
    if access.known_modulo % width == 0 and is_safe_as_vector(kernel, [other.access for _, other in neighbours]):
        safety = "safe"
    return edited(advice, lambda: vector_edits(accesses, width, texts.text_of), safety)


def _if_aligned(access: Access, width: int) -> str:
    """What has to hold for a wider access where sizes that nothing gives decide where it begins."""
    return "" if access.known_modulo % width == 0 else f", if all of them begin at multiples of {width} bytes"


def _run_as_vectors(one: Evaluated, pattern: Pattern) -> Suggestion | None:
    """The elements of each thread's own short run, which a loop takes one by one, as vectors: fewer requests for the
    same sectors. The runs have to lie at multiples of their length, and the loop has to take all of each."""
    access, sample, before = one.access, one.result.sample, one.result.sectors_per_request
    run = abs(pattern.step or 0)
    width = min(run & -run, _WIDEST)
    if sample is None or before is None or access.operation not in ("load", "store"):
        return None
    if run > _SHORT_RUN or width <= access.bytes:
        return None
    if one.result.offset_range is None or one.result.offset_range[0] % run:
        return None
    taken, count = sample.addresses[sample.mask] % run, run // access.bytes
    turns = (one.result.requests or 0.0) / (warp_count(one.launch.block) * math.prod(one.launch.grid))
    if int(taken.min()) != 0 or int(taken.max()) != run - access.bytes or not count * _MOST < turns <= count:
        return None
    now = before * count
    then = mean_sectors(sample.addresses // width * width, sample, width) * (run // width)
    vectors = f"one {width}-byte vector" if width == run else f"vectors of {width} bytes"
    text = f"{access.operation} the {count} elements of a thread at once, as {vectors}"
    return Suggestion(text, (), {"sectors": now}, {"sectors": then}) if then <= now * _WORTH_IT else None


def _row_in_vectors(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, texts: Texts, words: Suggestion | None
) -> Suggestion | None:
    """Several elements at once in each turn of the loop along a thread's own row or run; else some words."""
    access, sample, before = one.access, one.result.sample, one.result.sectors_per_request
    step, bytes_ = abs(pattern.step or 0), access.bytes
    numbers = [width // bytes_ for width in (_WIDEST, 8, 4) if width > bytes_ and step % width == 0]
    if access.operation not in ("load", "store") or sample is None or before is None or not numbers:
        return words
    if one.result.reached_otherwise:
        return words
    try:
        bound, most = turns_of(access, numbers[0], texts.text_of)
        given = _number(bound, one.launch)
        number = next((n for n in numbers if n <= most and (given is None or given % n == 0)), 0)
        if not number:
            raise Obstacle(f"the {given} turns of its loop make no whole vectors")
    except Obstacle as obstacle:
        return words and replace(words, no_edit=str(obstacle))
    width = number * bytes_
    now, then = before * number, mean_sectors(sample.addresses // width * width, sample, width)
    if then > now * _WORTH_IT:
        return words
    text = f"{access.operation} {number} elements of a thread at once, as one {width}-byte vector"
    if not all(access.array in launch.allocated for launch in kernel.launches):
        text += f", if `{access.array}` begins at a multiple of {width} bytes"
    advice = Suggestion(text, (), {"sectors": now}, {"sectors": then}, rewrites=True, otherwise=words)
    uniform = {parameter.name for parameter in kernel.parameters if parameter.bytes in (4, 8)}
    others = [other.access for other in evaluated(kernel, "global") if _walks_beside(other, one)]
    advice = edited(advice, lambda: row_edits([access, *others], width, uniform, texts.text_of), "unsafe")
    return advice if advice.edits or words is None else replace(words, no_edit=advice.no_edit)


def _through_a_tile(
    kernel: KernelFacts, one: Evaluated, texts: Texts, words: Suggestion | None
) -> Suggestion | None:
    """The rows of a warp, of which each lane has one, stored by all of its lanes together; else some words. Rows that
    are loaded alone stay what they are: L1 keeps their sectors until the next lines of the loop ask for the rest, and
    on an H100 kernels that load rows through a tile take 1.1 to 1.4 times as long as before, where one that stores
    them takes a quarter (`benchmarks/edited_kernels.cu`)."""
    access, result = one.access, one.result
    after, before = _with_unit_stride(one), result.sectors_per_request
    if access.operation != "store" or after is None or before is None or after > before * _WORTH_IT:
        return words
    text = "store the rows of a warp's threads by all of its lanes together, through a tile in shared memory"
    figures = {"sectors_per_request": before}, {"sectors_per_request": after}
    advice = Suggestion(text, (), *figures, rewrites=True, otherwise=words)
    others = [
        other.access for other in evaluated(kernel, "global")
        if other.access.operation == "store" and _walks_beside(other, one)
    ]  # fmt: skip
    alike = [each for each in texts.kernels if each.place == kernel.place] or [kernel]
    warps = max(warp_count(launch.block) for each in alike for launch in each.launches)
    sizes = {other.bytes for each in alike for other in each.accesses if other.place == access.place}
    advice = edited(advice, lambda: tile_edits(kernel, [access, *others], sizes, warps, texts.text_of), "unsafe")
    if advice.edits:
        return advice
    return replace(words, no_edit=advice.no_edit) if words is not None else None


def _number(spelled: str, launch: LaunchFacts) -> int | None:
    """What a bound comes to, if it is a number or an argument that something gives one."""
    if spelled.isdecimal():
        return int(spelled)
    value = launch.parameters.get(spelled)
    return value if type(value) is int else None


def _walks_beside(other: Evaluated, one: Evaluated) -> bool:
    """Whether another load or store under the same launch takes each thread along a row of its own, too."""
    if other.result.launch != one.result.launch or other.access.place == one.access.place:
        return False
    return other.access.operation in ("load", "store") and pattern_of(other).kind in ALONG_ROWS


def _neighbours(kernel: KernelFacts, one: Evaluated, width: int) -> list[tuple[int, Evaluated]]:
    """Accesses that are made by the same lanes less than `width` bytes away, each behind its distance in bytes."""
    mine = one.result.sample
    assert mine is not None
    found: list[tuple[int, Evaluated]] = []
    for other in evaluated(kernel, "global"):
        sample = other.result.sample
        if sample is None or _kind(other) != _kind(one) or sample.addresses.shape != mine.addresses.shape:
            continue
        both = mine.mask & sample.mask
        apart = (sample.addresses - mine.addresses)[both]
        same_lanes = np.array_equal(sample.mask, mine.mask)
        # What only some lanes load lies in the same aligned bytes as what the others do.
        some_lanes = one.access.operation == "load" and (both.sum() == min(mine.mask.sum(), sample.mask.sum()))
        if (same_lanes or some_lanes) and apart.size and abs(int(apart[0])) < width and np.all(apart == apart[0]):
            found.append((int(apart[0]), other))
    return found


def _kind(one: Evaluated) -> tuple[object, ...]:
    return array_key(one.access), one.access.operation, one.access.bytes, one.result.launch


def _stage(kernel: KernelFacts, one: Evaluated, texts: Texts) -> Suggestion | None:
    """A tile in shared memory takes the exchange of x and y, so that global memory sees rows."""
    access = one.access
    if access.operation in ("atomic", "async-copy"):
        return None
    block = one.launch.block
    steps = _steps(one.result, block)
    if steps is None or block[0] * one.access.bytes < SECTOR_BYTES:
        return None
    after = _block_figure(one, (steps[1], steps[0], steps[2]), block)
    verb = "read" if one.access.operation == "load" else "write"
    text = f"stage a tile through shared memory: {verb} `{one.access.array}` with `threadIdx.x` along the row"
    advice = _if_better(one, f"{text}, and exchange x and y in the tile", after)
    if advice is None:
        return None
    advice = replace(advice, rewrites=True)
    return edited(advice, lambda: staging_edits(kernel, access, texts.text_of), "unsafe")


def _with_unit_stride(one: Evaluated) -> float | None:
    """Sectors per request if lane n, with the same mask, touched the n-th element of an aligned array."""
    sample = one.result.sample
    if sample is None:
        return None
    lanes = np.broadcast_to(np.arange(WARP_LANES, dtype=np.int64) * one.access.bytes, sample.addresses.shape)
    return mean_sectors(lanes, sample, one.access.bytes)


def _if_better(one: Evaluated, text: str, after: float | None) -> Suggestion | None:
    before = one.result.sectors_per_request
    if after is None or before is None or after > before * _WORTH_IT:
        return None
    return Suggestion(text, (), {"sectors_per_request": before}, {"sectors_per_request": after})


# --- other blocks, and x and y exchanged in the whole kernel ------------------------------------------------

Block = tuple[int, int, int]


class _Changed(Struct, frozen=True):
    """What a change does to one access: its cost per request, before and after."""

    one: Evaluated
    before: float
    after: float

    @property
    def requests(self) -> float:
        return self.one.result.requests or 1.0

    @property
    def is_worse(self) -> bool:
        """Whether a request takes more than before, and more than neighbouring elements would."""
        least = self.one.access.bytes * WARP_LANES / SECTOR_BYTES if self.one.access.space == "global" else 1.0
        return self.after > max(self.before, least) * _AS_BEFORE


class _Tried(Struct, eq=False):
    """What changes of the kernel that was looked at last do to its accesses: each of its findings asks for the same."""

    kernel: KernelFacts | None = None
    changed: dict[tuple[int, Block, bool], list[_Changed] | None] = field(default_factory=dict)


_TRIED = _Tried()


def _all_changed(
    kernel: KernelFacts, launch: LaunchFacts, number: int, block: Block, exchange: bool
) -> list[_Changed] | None:
    """All accesses of the kernel under a launch in a block of another shape, with x and y exchanged or not.

    None if the model can't tell what becomes of one of them.
    """
    if _TRIED.kernel is not kernel:
        _TRIED.kernel, _TRIED.changed = kernel, {}
    key = (number, block, exchange)
    if key not in _TRIED.changed:
        _TRIED.changed[key] = _try_all(kernel, launch, number, block, exchange)
    return _TRIED.changed[key]


def _try_all(
    kernel: KernelFacts, launch: LaunchFacts, number: int, block: Block, exchange: bool
) -> list[_Changed] | None:
    changed: list[_Changed] = []
    for access in kernel.accesses:
        for result in access.results:
            if result.launch != number or result.status == "unreached" or is_repeat(result):
                continue
            after = _changed(Evaluated(access, result, launch), block, exchange)
            if after is None:
                return None
            changed.append(after)
    return changed


def _changed(one: Evaluated, block: Block, exchange: bool) -> _Changed | None:
    access, result, launch = one
    if access.space not in ("global", "shared") or result.status not in ("exact", "assumed"):
        return None
    before = result.wavefronts_per_request if access.space == "shared" else result.sectors_per_request
    steps = _steps(result, launch.block)
    if before is None or steps is None:
        return None
    x, y, z = steps
    after = _block_figure(one, (y, x, z) if exchange else steps, block)
    return _Changed(one, before, after) if after is not None else None


def _total(changed: Sequence[_Changed], space: Space) -> tuple[float, float]:
    """What all accesses of a memory space cost together, before and after."""
    here = [c for c in changed if c.one.access.space == space]
    return sum(c.before * c.requests for c in here), sum(c.after * c.requests for c in here)


def _wider_block(kernel: KernelFacts, one: Evaluated) -> Suggestion | None:
    """Where rows are as short as the block is narrow, a block as wide as a warp makes longer ones."""
    x, y, z = one.launch.block
    if x >= WARP_LANES or x * y % WARP_LANES or any(access.space == "shared" for access in kernel.accesses):
        return None
    block = (WARP_LANES, x * y // WARP_LANES, z)
    changed = _all_changed(kernel, one.launch, one.result.launch, block, exchange=False)
    if changed is None or any(c.is_worse for c in changed):
        return None
    mine = next(c for c in changed if c.one.result is one.result)
    before, after = _total(changed, "global")
    if mine.after > mine.before * _WORTH_A_NUMBER or after > before * _WORTH_A_NUMBER:
        return None
    text = f"launch blocks of {_spelled(block)} in place of {_spelled((x, y, z))}, with tiles of that shape"
    return Suggestion(text, (), {"sectors_per_request": mine.before}, {"sectors_per_request": mine.after})


def _spelled(block: Block) -> str:
    x, y, z = block
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}"


def _exchange(kernel: KernelFacts, one: Evaluated) -> list[_Changed] | None:
    """Renaming x to y and y to x everywhere is always right, but only advised where it makes no access worse under any
    launch."""
    mine = None
    for number, launch in enumerate(kernel.launches):
        x, y, z = launch.block
        changed = _all_changed(kernel, launch, number, (y, x, z), exchange=True)
        if changed is None or any(c.is_worse for c in changed):
            return None
        if number == one.result.launch:
            mine = changed
    return mine


def _exchange_pays(changed: Sequence[_Changed], one: Evaluated, staged: Suggestion | None) -> bool:
    """Whether the exchange helps this access and the kernel, and doesn't leave much more than staging would."""
    mine = next(c for c in changed if c.one.result is one.result)
    before, after = _total(changed, "global")
    if mine.after > mine.before * _WORTH_IT or after > before * _WORTH_IT:
        return False
    wavefronts_before, wavefronts_after = _total(changed, "shared")
    if wavefronts_after > wavefronts_before:
        return False
    if staged is None:
        return True
    saved_by_staging = (mine.before - staged.after["sectors_per_request"]) * mine.requests
    return after * _WORTH_IT <= before - saved_by_staging


def _exchange_suggestion(kernel: KernelFacts, changed: Sequence[_Changed], one: Evaluated, texts: Texts) -> Suggestion:
    """Launches elsewhere may have blocks that are not square, so that the edits are not to be made unseen."""
    mine = next(c for c in changed if c.one.result is one.result)
    before, after = _total(changed, "global")
    x, y, z = one.launch.block
    also = "" if x == y else f", and launch blocks of {_spelled((y, x, z))}"
    text = (
        f"exchange `threadIdx.x` and `threadIdx.y` throughout the kernel{also}; its global accesses take"
        f" {1 - after / before:.0%} fewer sectors together"
    )
    figures = {"sectors_per_request": mine.before}, {"sectors_per_request": mine.after}
    advice = Suggestion(text, (), *figures, relaunches=x != y, of_launches=True)
    return edited(advice, lambda: exchange_edits(kernel, texts.paths, texts.text_of), "unsafe")


def _steps(result: AccessResult, block: Block) -> tuple[int, int, int] | None:
    """The strides along the axes of the block; along an axis of one thread any will do. None if one isn't constant."""
    if result.strides is None:
        return None
    strides = (result.strides.x, result.strides.y, result.strides.z)
    x, y, z = (step if extent > 1 else 0 for step, extent in zip(strides, block, strict=True))
    return None if x is None or y is None or z is None else (x, y, z)


def _block_figure(one: Evaluated, steps: tuple[int, int, int], block: Block) -> float | None:
    """Cost per request of a block whose threads are this far apart, over the places where blocks begin.

    None where not all lanes take part: then the figure would rest on a mask that the change moves as well.
    """
    access, result, launch = one
    sample = result.sample
    if sample is None or not _all_lanes_active(sample, launch.block):
        return None
    bases = _bases(one, sample)
    linear = np.arange(warp_count(block) * WARP_LANES, dtype=np.int64)
    offsets = _moved(linear, block, steps)
    addresses = (bases[:, None] + offsets).reshape(len(bases), -1, WARP_LANES)
    mask = np.broadcast_to((linear < math.prod(block)).reshape(-1, WARP_LANES), addresses.shape)
    if access.space == "shared":
        if np.any(addresses % access.bytes):
            return None
        return float(shared_request(addresses, mask, access.bytes, access.operation)[0].mean())
    return float(global_request(addresses, mask, access.bytes)[0].mean())


def _moved(linear: NDArray[np.int64], block: Block, steps: tuple[int, int, int]) -> NDArray[np.int64]:
    """Bytes from thread (0, 0, 0) to the threads of these numbers."""
    x, y, z = thread_index(linear, block)
    return x * steps[0] + y * steps[1] + z * steps[2]


def _all_lanes_active(sample: Sample, block: Block) -> bool:
    exists = thread_indices(sample, block)[2] < block[2]
    return bool(np.all(sample.mask == exists))


def _bases(one: Evaluated, sample: Sample) -> NDArray[np.int64]:
    """Where thread (0, 0, 0) of each of the sample's blocks is, as far as sectors and banks can tell."""
    block = one.launch.block
    steps = _steps(one.result, block)
    assert steps is not None
    first = sample.addresses[:, 0] - _moved(sample.warps * WARP_LANES, block, steps)
    return np.flatnonzero(np.bincount(first % _COMMON_TURN))[:_BASES]
