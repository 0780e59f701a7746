"""Sectors and wavefronts against the rules in plain Python, on random requests.

The plain rules take one lane after the other; they share no code with `cudalint.hardware`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import get_args

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.hardware.banks import SharedOperation, shared_request
from cudalint.hardware.sectors import global_request

Lanes = list[tuple[int, int]]
"""The active lanes of a request: lane number and byte address."""


def active_lanes(addresses: Iterable[int], mask: Iterable[bool]) -> Lanes:
    return [(lane, address) for lane, (address, on) in enumerate(zip(addresses, mask, strict=True)) if on]


def plain_sectors(lanes: Lanes, width: int) -> tuple[int, int]:
    """All 32-byte sectors that some active lane's byte lies in."""
    touched = {byte // 32 for _, address in lanes for byte in range(address, address + width)}
    return len(touched), min(len(touched), math.ceil(len(lanes) * width / 32))


def one_pass(lanes: Lanes, width: int, *, shared: bool = True) -> int:
    """The most words that one bank must serve for these lanes; every lane counts for itself if not shared."""
    words = defaultdict(list)
    for _, address in lanes:
        for word in sorted({byte // 4 for byte in range(address, address + width)}):
            words[word % 32].append(word)
    return max((len(set(bank) if shared else bank) for bank in words.values()), default=0)


def between(lanes: Lanes, first: int, count: int) -> Lanes:
    return [(lane, address) for lane, address in lanes if first <= lane < first + count]


def paired(lanes: Lanes, distance: int) -> bool:
    """Whether every active lane whose partner is active reads the same address as the partner."""
    at = dict(lanes)
    return all(at.get(lane ^ distance, address) == address for lane, address in lanes)


def joined_load(lanes: Lanes, width: int, first: int, count: int) -> int:
    """The two halves of these lanes as one wavefront if they pair up and have no conflict, else their sum."""
    whole = between(lanes, first, count)
    if whole and (paired(whole, 1) or paired(whole, 2)) and one_pass(whole, width) == 1:
        return 1
    half = count // 2
    return sum(one_pass(between(lanes, start, half), width) for start in (first, first + half))


def plain_wavefronts(lanes: Lanes, width: int, operation: str) -> tuple[int, int]:
    shared = operation != "async-copy"
    if width <= 4:
        total = one_pass(lanes, width, shared=shared)
    elif operation == "load" and width == 8:
        total = joined_load(lanes, width, 0, 32)
    elif operation == "load":
        total = joined_load(lanes, width, 0, 16) + joined_load(lanes, width, 16, 16)
    else:
        part = 128 // width
        total = sum(
            one_pass(between(lanes, first, part), width, shared=shared) for first in range(0, 32, part)
        )
    return total, min(total, math.ceil(len(lanes) * width / 128))


# What kernels do (affine in the lane, from any base), what lanes share, and anything at all. Small ranges are
# drawn often, since equal words and equal banks are what the rules are about.
@st.composite
def warp_addresses(draw: st.DrawFn, width: int) -> list[int]:
    base = draw(st.integers(-(2**40), 2**40)) if draw(st.booleans()) else draw(st.integers(-64, 64))
    kind = draw(st.sampled_from(["affine", "halves", "paired", "any"]))
    if kind == "affine":
        stride, divisor = draw(st.integers(-70, 70)), draw(st.sampled_from([1, 2, 4, 8, 16, 32]))
        units = [stride * (lane // divisor) for lane in range(32)]
    elif kind == "halves":
        stride, turn, skip = (
            draw(st.integers(0, 40)),
            draw(st.sampled_from([4, 8, 16])),
            draw(st.integers(0, 64)),
        )
        units = [stride * (lane % turn) + skip * (lane // turn) for lane in range(32)]
    else:
        span = draw(st.sampled_from([2, 8, 16, 40, 300, 5000]))
        units = draw(st.lists(st.integers(0, span), min_size=32, max_size=32))
        if kind == "paired":
            distance = draw(st.sampled_from([1, 2, 3, 4]))
            units = [units[lane & ~distance] for lane in range(32)]
    return [(base + unit) * width for unit in units]


def masks() -> st.SearchStrategy[list[bool]]:
    bits = st.one_of(
        st.just(0xFFFFFFFF),
        st.sampled_from([0, 1, 0x80000001, 0xFFFF, 0xFF00FF00, 0x55555555, 0x33333333]),
        st.integers(0, 0xFFFFFFFF),
    )
    return bits.map(lambda value: [bool(value >> lane & 1) for lane in range(32)])


@st.composite
def batches(draw: st.DrawFn, widths: tuple[int, ...]) -> tuple[int, list[list[int]], list[list[bool]]]:
    width = draw(st.sampled_from(widths))
    count = draw(st.integers(1, 6))
    addresses = [draw(warp_addresses(width)) for _ in range(count)]
    return width, addresses, [draw(masks()) for _ in range(count)]


@settings(max_examples=cases(250), deadline=None)
@given(batches((1, 2, 4, 8, 16)), st.sampled_from([0, 0, 0, 1, 2, 4, 13]))
def test_sectors_equal_the_plain_rules(
    batch: tuple[int, list[list[int]], list[list[bool]]], misalignment: int
) -> None:
    width, rows, row_masks = batch
    rows = [[address + misalignment for address in row] for row in rows]
    sectors, ideal = global_request(np.array(rows), np.array(row_masks), width)
    expected = [
        plain_sectors(active_lanes(row, mask), width) for row, mask in zip(rows, row_masks, strict=True)
    ]
    assert list(zip(sectors.tolist(), ideal.tolist(), strict=True)) == expected


@settings(max_examples=cases(250), deadline=None)
@given(batches((1, 2, 4, 8, 16)), st.sampled_from(get_args(SharedOperation)))
def test_wavefronts_equal_the_plain_rules(
    batch: tuple[int, list[list[int]], list[list[bool]]], operation: SharedOperation
) -> None:
    width, rows, row_masks = batch
    if operation == "async-copy" and width == 16:
        return
    wavefronts, ideal = shared_request(np.array(rows), np.array(row_masks), width, operation)
    expected = [
        plain_wavefronts(active_lanes(row, mask), width, operation)
        for row, mask in zip(rows, row_masks, strict=True)
    ]
    assert list(zip(wavefronts.tolist(), ideal.tolist(), strict=True)) == expected
