"""Figures of whole batches against those of one world after the other, with random events."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_requests import plain_figures, requests_of
from random_cases import cases

from cudalint.execute.lanes import Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import LOADED
from cudalint.measure.requests import AccessSite, Figures, figures, sites, unit_of
from cudalint.measure.samples import sample

QUIET = settings(
    max_examples=cases(150), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
BLOCKS = ((32, 1, 1), (64, 1, 1), (40, 1, 1), (16, 6, 1), (5, 3, 4), (1, 1, 1), (1, 48, 1))


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """A few sites, each executed a few times; offsets, masks and weights of all shapes that an executor leaves."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    block = draw(st.sampled_from(BLOCKS))
    worlds, blocks = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    lanes = Lanes(block, [[blocks] * worlds, 1, 1], [(number, 0, 0) for number in range(blocks)])
    trace = Trace(lanes)
    memory = {space: Allocation(space, space) for space in ("global", "shared")}  # type: ignore[arg-type]
    masks = [lanes.full, *(_mask(rng, lanes) for _ in range(3))]
    for node in range(draw(st.integers(1, 3))):
        space = draw(st.sampled_from(("global", "shared")))
        operation = draw(st.sampled_from(("load", "store", "atomic")))
        bytes_ = draw(st.sampled_from((1, 2, 4, 8, 16)))
        base = _offset(rng, lanes, bytes_)
        for turn in range(draw(st.integers(1, 6))):
            how = draw(st.sampled_from(("again", "moved", "moved", "moved", "new", "data")))
            base = _offset(rng, lanes, bytes_) if how == "new" else base
            moved = base + turn * bytes_ * int(draw(st.sampled_from((1, 8, 32, 100)))) if how == "moved" else base
            offset = LOADED if how == "data" else moved
            mask = masks[draw(st.integers(0, 3))]
            weight = _weight(rng, lanes) if draw(st.booleans()) else float(draw(st.integers(1, 5)))
            trace.accesses.append(
                AccessEvent(node, operation, bytes_, memory[space], offset, mask, weight, 0, (), 0)  # type: ignore[arg-type]
            )
    return trace


def _mask(rng: np.random.Generator, lanes: Lanes) -> np.ndarray:
    """Of the threads: any, the same in all rows, or of some rows only."""
    some = rng.random((lanes.rows, lanes.lanes)) < rng.choice((0.3, 0.9))
    if rng.random() < 0.4:
        some[:] = some[0]
    if rng.random() < 0.3:
        some[rng.integers(lanes.rows)] = False
    found: np.ndarray = some & lanes.full
    found[0, 0] |= not found.any()
    return found


def _offset(rng: np.random.Generator, lanes: Lanes, bytes_: int) -> int | np.ndarray:
    rows = lanes.rows if rng.random() < 0.5 else 1
    if rng.random() < 0.2:
        return int(rng.integers(1000)) * bytes_
    thread = np.arange(lanes.lanes) if rng.random() < 0.8 else np.zeros(1, np.int64)
    stride = rng.choice((1, 2, 3, 33), (rows, 1)) if rng.random() < 0.5 else rng.integers(5)
    offset = rng.integers(-50, 300, (rows, 1)) + stride * thread[None]
    if rng.random() < 0.3:
        offset = rng.integers(0, 200, (rows, lanes.lanes))
    return np.asarray(offset, np.int64) * bytes_


def _weight(rng: np.random.Generator, lanes: Lanes) -> np.ndarray:
    return rng.integers(1, 7, (lanes.rows, lanes.warps)).astype(float)


@QUIET
@given(traces())
def test_figures_of_a_batch_are_those_of_each_world(trace: Trace) -> None:
    found = figures(trace)
    reached: set[AccessSite] = set()
    for world in range(trace.lanes.worlds):
        expected = requests_of(trace, world)
        reached |= set(expected)
        for site, own in found.items():
            if site not in expected:
                assert own.status[world] == "unreached"
                continue
            requests, plain = expected[site], plain_figures(site, expected[site])
            assert own.by_data[world] == pytest.approx(requests.by_data)
            assert own.status[world] == ("by data" if requests.by_data else "exact")
            if plain is None:
                assert own.requests[world] == 0 and np.isnan(own.cost[world])
                continue
            actual = [each[world] for each in (own.requests, own.cost, own.ideal, own.lanes)]
            assert actual == pytest.approx([plain.requests, plain.cost, plain.ideal, plain.lanes])
            addresses = requests.addresses[requests.mask]
            assert (own.lowest[world], own.highest[world]) == (addresses.min(), addresses.max() + site.bytes)
    assert set(found) == reached


@QUIET
@given(traces())
def test_strides_are_those_of_every_pair_of_neighbours(trace: Trace) -> None:
    for site, own in figures(trace).items():
        for world in range(trace.lanes.worlds):
            for axis, strides in enumerate((own.strides.x, own.strides.y, own.strides.z)):
                steps = set(_steps(trace, site, world, axis))
                assert strides[world] == (steps.pop() if len(steps) == 1 else None)


def _steps(trace: Trace, site: AccessSite, world: int, axis: int) -> Iterator[int]:
    x, y, z = trace.lanes.block
    blocks = trace.lanes.blocks
    for event in sites(trace)[site]:
        if event.offset is LOADED:
            continue
        wide = np.broadcast_to(np.asarray(event.offset), (trace.lanes.rows, trace.lanes.lanes))
        for row in range(world * blocks, (world + 1) * blocks):
            for place in itertools.product(range(x), range(y), range(z)):
                after = tuple(index + (number == axis) for number, index in enumerate(place))
                if after[axis] == (x, y, z)[axis]:
                    continue
                here, there = (a + x * (b + y * c) for a, b, c in (place, after))
                if event.mask[row, here] and event.mask[row, there]:
                    yield int(wide[row, there] - wide[row, here])


@QUIET
@given(traces(), st.integers(1, 5))
def test_a_sample_has_requests_of_its_world(trace: Trace, most: int) -> None:
    by_site = sites(trace)
    for world in range(trace.lanes.worlds):
        expected = requests_of(trace, world)
        for site, events in by_site.items():
            shown = sample(events, trace, world, unit_of(site), most)
            if site not in expected or not len(expected[site].weights):
                assert shown is None
                continue
            assert shown is not None and 0 < len(shown.weights) <= 2 * most
            made = {
                (tuple(mask), tuple(addresses[mask]))
                for addresses, mask in zip(expected[site].addresses, expected[site].mask, strict=True)
            }
            for addresses, mask in zip(shown.addresses, shown.mask, strict=True):
                assert (tuple(mask), tuple(addresses[mask])) in made
            if len(shown.weights) < most:
                assert shown.weights.sum() == pytest.approx(expected[site].weights.sum())


def _moving(worlds: list[int], turns: int, moves: int, inner: int) -> Figures:
    """`a[turn * moves + lane * stride]` with a stride for each world, each executed `inner` times."""
    lanes = Lanes((32, 1, 1), [[1] * len(worlds), 1, 1], [(0, 0, 0)])
    trace, memory = Trace(lanes), Allocation("a", "global")
    offset = 4 * np.array(worlds)[:, None] * np.arange(32)[None]
    for turn, _ in itertools.product(range(turns), range(inner)):
        moved = offset + turn * moves
        trace.accesses.append(AccessEvent(0, "load", 4, memory, moved, lanes.full, 1.0, 0, (), 0))
    (found,) = figures(trace).values()
    return found


def test_a_stride_by_world_costs_by_world() -> None:
    found = _moving([1, 2, 8, 0], turns=3, moves=128, inner=1)
    assert found.cost.tolist() == [4, 8, 32, 1]
    assert found.ideal.tolist() == [4, 4, 4, 1]
    assert found.strides.x == (4, 8, 32, 0)
    assert found.strides.turn == (128,) * 4
    assert found.lowest.tolist() == [0] * 4
    assert found.highest.tolist() == [2 * 128 + 31 * 4 * stride + 4 for stride in (1, 2, 8, 0)]
    assert found.status == ("exact",) * 4


def test_the_turn_is_that_of_the_innermost_loop_that_moves_it() -> None:
    assert _moving([1], turns=4, moves=20, inner=5).strides.turn == (20,)
    assert _moving([1], turns=4, moves=0, inner=5).strides.turn == (None,)


def test_many_turns_are_few_requests() -> None:
    found = _moving([1, 3], turns=1000, moves=4, inner=1)
    assert found.requests.tolist() == [1000, 1000]
    # One in eight begins with a sector: 4 sectors, and all others 5.
    assert found.cost[0] == (4 + 7 * 5) / 8


def _executed(
    block: tuple[int, int, int], *offsets: np.ndarray, masks: list[np.ndarray] | None = None, bytes_: int = 4,
    memory: Allocation | None = None,
) -> Figures:  # fmt: skip
    """A load in one world and one block by all threads, or those of a mask each time."""
    lanes = Lanes(block, (1, 1, 1), [(0, 0, 0)])
    trace, memory = Trace(lanes), memory or Allocation("a", "global")
    for offset, mask in zip(offsets, masks or [lanes.full] * len(offsets), strict=True):
        trace.accesses.append(AccessEvent(0, "load", bytes_, memory, offset, mask, 1.0, 0, (), 0))
    (found,) = figures(trace).values()
    return found


def test_active_lanes_count_where_all_read_one_place() -> None:
    lane = np.arange(32)[None]
    for shape in ((1, 1), (1, 32)):
        place = np.full(shape, 64)
        found = _executed((32, 1, 1), place, place, masks=[lane < 32, lane < 8])
        assert found.lanes.tolist() == [20]
        assert found.cost.tolist() == [1]


def test_bytes_share_words_of_the_banks() -> None:
    lane = np.arange(32)[None]
    shared = Allocation("tile", "shared")
    # Words 0 and 32 are in one bank, words 0 and 33 in two.
    same, other = np.where(lane == 0, 1, 130), np.where(lane == 0, 3, 132)
    assert _executed((32, 1, 1), same, bytes_=1, memory=shared).cost.tolist() == [2]
    assert _executed((32, 1, 1), same, other, bytes_=1, memory=shared).cost.tolist() == [1.5]


def test_warps_that_move_apart_have_no_stride() -> None:
    lane = np.arange(64)[None]
    near, far = (4 * (lane % 32) + distance * (lane // 32) for distance in (128, 256))
    assert _executed((32, 2, 1), near).strides.y == (128,)
    assert _executed((32, 2, 1), near, far).strides.y == (None,)
    assert _executed((32, 2, 1), near, far).strides.x == (4,)
