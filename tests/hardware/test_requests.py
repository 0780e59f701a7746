"""Sectors and wavefronts against what the hardware measured, and at the edges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudalint.hardware.banks import SharedOperation, async_copies, async_copy_range, bank_map, shared_request
from cudalint.hardware.sectors import global_request, sector_map

PATTERNS_FILE = Path(__file__).parent.parent / "data" / "patterns.json"
SHARED_OPERATIONS: dict[str, SharedOperation] = {
    "LDS": "load",
    "STS": "store",
    "ATOMS": "atomic",
    "LDGSTS": "async-copy",
}


PATTERNS: list[dict[str, Any]] = json.loads(PATTERNS_FILE.read_text(encoding="utf-8"))


def arrays(pattern: dict[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    bits = int(pattern["mask"], 16)
    mask = np.array([bool(bits >> lane & 1) for lane in range(32)])
    return np.array(pattern["byte_offsets"], dtype=np.int64), mask


def measured(kind: str) -> list[dict[str, Any]]:
    return [pattern for pattern in PATTERNS if kind in pattern]


def describe(pattern: dict[str, Any]) -> str:
    return f"{pattern['op']} {pattern['pattern']} {pattern['mask']}"


def test_measured_sectors() -> None:
    patterns = measured("sectors")
    assert len(patterns) == 430
    wrong = []
    for pattern in patterns:
        sectors, ideal = global_request(*arrays(pattern), pattern["bytes"])
        if (sectors, ideal) != (pattern["sectors"], pattern["ideal_sectors"]):
            wrong.append(describe(pattern))
    assert wrong == []


def test_measured_wavefronts() -> None:
    patterns = [p for p in measured("wavefronts") if p["op"] != "LDGSTS.128"]
    assert len(patterns) == 538
    wrong = []
    for pattern in patterns:
        operation = SHARED_OPERATIONS[pattern["op"].split(".")[0]]
        wavefronts, ideal = shared_request(*arrays(pattern), pattern["bytes"], operation)
        if (wavefronts, ideal) != (pattern["wavefronts"], pattern["ideal_wavefronts"]):
            wrong.append(describe(pattern))
    assert wrong == []


def test_wide_async_copies_are_unknown_but_within_their_range() -> None:
    patterns = [p for p in measured("wavefronts") if p["op"] == "LDGSTS.128"]
    assert len(patterns) == 48
    for pattern in patterns:
        wavefronts, ideal = shared_request(*arrays(pattern), 16, "async-copy")
        assert np.isnan(wavefronts) and np.isnan(ideal)
        low, high = async_copy_range(*arrays(pattern))
        assert low <= pattern["wavefronts"] <= high, describe(pattern)


def test_wide_async_copies_by_where_they_read_and_write() -> None:
    copies = json.loads((PATTERNS_FILE.parent / "copies.json").read_text(encoding="utf-8"))
    lanes = np.arange(32)
    to, from_ = (16 * np.array([copy[end] for copy in copies], dtype=np.int64) for end in ("to", "from"))
    mask = np.array([int(copy["mask"], 16) >> lanes & 1 for copy in copies], dtype=np.bool_)
    low, high, ideal = async_copies(to, from_, mask)
    found = np.array([copy["wavefronts"] for copy in copies])
    assert ((low <= found) & (found <= high)).all()
    assert (low == high).sum() == 416
    assert ideal.tolist() == [copy["ideal_wavefronts"] for copy in copies]


def test_all_patterns_of_an_instruction_in_one_batch() -> None:
    loads = [pattern for pattern in PATTERNS if pattern["op"] == "LDS.64"]
    addresses, masks = zip(*map(arrays, loads), strict=True)
    wavefronts, _ = shared_request(np.stack(addresses), np.stack(masks), 8, "load")
    assert wavefronts.tolist() == [pattern["wavefronts"] for pattern in loads]


LANES = np.arange(32, dtype=np.int64)
ALL = np.ones(32, dtype=np.bool_)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 5)])
def test_any_batch_shape(shape: tuple[int, ...]) -> None:
    addresses = np.broadcast_to(LANES * 128, (*shape, 32))
    mask = np.ones((*shape, 32), dtype=np.bool_)
    assert [figure.shape for figure in global_request(addresses, mask, 4)] == [shape, shape]
    for width in (4, 8, 16):
        for operation in SHARED_OPERATIONS.values():
            figures = shared_request(addresses, mask, width, operation)
            assert [figure.shape for figure in figures] == [shape, shape]


def test_addresses_and_mask_broadcast() -> None:
    addresses = np.stack([LANES * 4, LANES * 128])
    sectors, ideal = global_request(addresses, ALL, 4)
    assert (sectors.tolist(), ideal.tolist()) == ([4, 32], [4, 4])
    wavefronts, _ = shared_request(LANES * 128, np.stack([ALL, LANES < 8]), 4, "load")
    assert wavefronts.tolist() == [32, 8]


def test_no_active_lane_costs_nothing() -> None:
    off = np.zeros(32, dtype=np.bool_)
    assert [int(figure) for figure in global_request(LANES * 4, off, 4)] == [0, 0]
    for width in (4, 8, 16):
        for operation in SHARED_OPERATIONS.values():
            if (operation, width) != ("async-copy", 16):
                assert [int(figure) for figure in shared_request(LANES * 4, off, width, operation)] == [0, 0]


def test_inputs_stay_as_they_are() -> None:
    addresses, mask = (31 - LANES) * 64, LANES % 2 == 0
    before = addresses.copy(), mask.copy()
    global_request(addresses, mask, 4)
    for operation in SHARED_OPERATIONS.values():
        shared_request(addresses, mask, 8, operation)
    assert np.array_equal(addresses, before[0]) and np.array_equal(mask, before[1])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="32 lanes"):
        global_request(LANES[:16], ALL[:16], 4)
    with pytest.raises(ValueError, match="12 bytes"):
        shared_request(LANES, ALL, 12, "load")


def test_sector_map() -> None:
    picture = sector_map(LANES * 4 - 16, LANES < 20, 4)
    assert [sector.number for sector in picture] == [-1, 0, 1]
    assert [sector.lanes for sector in picture] == [
        tuple(range(4)),
        tuple(range(4, 12)),
        tuple(range(12, 20)),
    ]


def test_bank_map() -> None:
    picture = bank_map(LANES * 64, ALL, 4)
    assert len(picture) == 32
    assert [len(words) for words in picture] == [16] + 15 * [0] + [16] + 15 * [0]
    assert picture[16][0].number == 16 and picture[16][0].lanes == (1,)
    broadcast = bank_map(LANES * 0 + 8, ALL, 8)
    assert [bank for bank, words in enumerate(broadcast) if words] == [2, 3]
    assert broadcast[3][0].lanes == tuple(range(32))
