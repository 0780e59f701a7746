"""Wide accesses in place of several narrow ones: vectors of neighbours and of rows, and records as a whole."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from cudalint.diagnostics import Applicability, Suggestion
from cudalint.facts import Access, KernelFacts, LaunchFacts, Sample
from cudalint.fixes.obstacles import Obstacle, edited
from cudalint.fixes.one_access import WIDEST, WORTH_IT, Texts, if_better, with_unit_stride
from cudalint.fixes.patterns import ALONG_ROWS, Pattern, done_with_structs, pattern_of
from cudalint.fixes.record_edits import aligned_record, is_declared
from cudalint.fixes.row_edits import row_edits, turns_of
from cudalint.fixes.vector_edits import is_safe_as_vector, vector_edits
from cudalint.hardware.warps import warp_count
from cudalint.regexes import regex
from cudalint.rulekit import Evaluated, array_key, evaluated, mean_sectors

_MOST = 0.9
"""The share of warps from which on all but those at the end of an array do something."""
_SHORT_RUN = 64
"""Bytes of a thread that a few vectors hold."""
_VECTOR = regex(r"\b(?:u?(?:char|short|int|long|longlong)|float|double)[2-4](?:_\w+)?$")


def is_a_vector(one: Evaluated) -> bool:
    """Whether what is copied is one of CUDA's vectors, whose components are no fields of the user's."""
    return any(_VECTOR.search(type_) is not None for type_ in (one.access.element_type, one.access.record))


def narrower_vectors(one: Evaluated) -> Suggestion | None:
    """A `double4` is copied in two halves, between each of which lies the other one. One that is computed with is not
    for other lanes to move."""
    if not one.access.is_copy or one.access.bytes != WIDEST:
        return None
    text = f"copy {WIDEST} bytes in each lane, such as a `float4`, and let neighbouring lanes copy neighbouring ones"
    return if_better(one, text, with_unit_stride(one))


def aligned_records(one: Evaluated, texts: Texts) -> Suggestion | None:
    """A struct is copied in pieces as wide as its alignment; a wider alignment makes fewer requests."""
    access, sample, before = one.access, one.result.sample, one.result.sectors_per_request
    record = access.record_bytes or 0
    piece = min(record & -record, WIDEST)
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
    if then > now * WORTH_IT:
        return None
    if record > piece:
        # Pieces with gaps between them take more sectors than they fill, so that the finding stays, if a milder one.
        return Suggestion(text, (), {"sectors": now}, {"sectors": then})
    advice = Suggestion(text, (), {"sectors": now}, {"sectors": then}, rewrites=True)
    return edited(advice, lambda: aligned_record(access.record, piece, texts.paths, texts.text_of), "unsafe")


def as_one_vector(
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
    figures = {distance: other.result.sectors_per_request or 0.0 for distance, other in neighbours}
    # A store must not write what the program doesn't; a load may read what is left of its record.
    filled = len(figures) * access.bytes == width
    is_record = access.operation == "load" and width == abs(pattern.step or 0)
    if len(figures) < 2 or not (filled or is_record):
        return None
    addresses = sample.addresses + start
    now, then = sum(figures.values()), mean_sectors(addresses, sample, width)
    parts = "fields of a struct" if pattern.kind == "field" else "neighbouring elements of a thread"
    text = f"{access.operation} the {len(figures)} {parts} at once, as one {width}-byte vector"
    text += _if_aligned(access, width)
    if then > now * WORTH_IT:
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


def run_as_vectors(one: Evaluated, pattern: Pattern) -> Suggestion | None:
    """The elements of each thread's own short run, which a loop takes one by one, as vectors: fewer requests for the
    same sectors. The runs have to lie at multiples of their length, and the loop has to take all of each."""
    access, sample, before = one.access, one.result.sample, one.result.sectors_per_request
    run = abs(pattern.step or 0)
    width = min(run & -run, WIDEST)
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
    return Suggestion(text, (), {"sectors": now}, {"sectors": then}) if then <= now * WORTH_IT else None


def row_in_vectors(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, texts: Texts, words: Suggestion | None
) -> Suggestion | None:
    """Several elements at once in each turn of the loop along a thread's own row or run; else some words."""
    access, sample, before = one.access, one.result.sample, one.result.sectors_per_request
    step, bytes_ = abs(pattern.step or 0), access.bytes
    numbers = [width // bytes_ for width in (WIDEST, 8, 4) if width > bytes_ and step % width == 0]
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
    if then > now * WORTH_IT:
        return words
    text = f"{access.operation} {number} elements of a thread at once, as one {width}-byte vector"
    if not all(access.array in launch.allocated for launch in kernel.launches):
        text += f", if `{access.array}` begins at a multiple of {width} bytes"
    advice = Suggestion(text, (), {"sectors": now}, {"sectors": then}, rewrites=True, otherwise=words)
    uniform = {parameter.name for parameter in kernel.parameters if parameter.bytes in (4, 8)}
    others = [other.access for other in evaluated(kernel, "global") if walks_beside(other, one)]
    advice = edited(advice, lambda: row_edits([access, *others], width, uniform, texts.text_of), "unsafe")
    return advice if advice.edits or words is None else replace(words, no_edit=advice.no_edit)


def _number(spelled: str, launch: LaunchFacts) -> int | None:
    """What a bound comes to, if it is a number or an argument that something gives one."""
    if spelled.isdecimal():
        return int(spelled)
    value = launch.parameters.get(spelled)
    return value if type(value) is int else None


def walks_beside(other: Evaluated, one: Evaluated) -> bool:
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
        distances = (sample.addresses - mine.addresses)[both]
        same_lanes = np.array_equal(sample.mask, mine.mask)
        # What only some lanes load lies in the same aligned bytes as what the others do.
        some_lanes = one.access.operation == "load" and (both.sum() == min(mine.mask.sum(), sample.mask.sum()))
        is_one = distances.size and abs(int(distances[0])) < width and np.all(distances == distances[0])
        if (same_lanes or some_lanes) and is_one:
            found.append((int(distances[0]), other))
    return found


def _kind(one: Evaluated) -> tuple[object, ...]:
    return array_key(one.access), one.access.operation, one.access.bytes, one.result.launch
