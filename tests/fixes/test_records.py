"""What the accesses of one record move, against counting byte by byte."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.fixes.records import Together, moved

_UNITS = st.sampled_from([1, 2, 4, 8, 12, 16])


@settings(max_examples=60, deadline=None)
@given(st.data(), _UNITS)
def test_as_many_sectors_as_bytes_tell(data: st.DataObject, unit: int) -> None:
    lanes = st.lists(st.integers(-60, 4000), min_size=4, max_size=4)
    starts = np.array(data.draw(st.lists(lanes, min_size=1, max_size=3)), dtype=np.int64) * unit
    active = data.draw(st.lists(st.booleans(), min_size=starts.size, max_size=starts.size))
    mask = np.array(active).reshape(starts.shape)
    spans = data.draw(st.sets(st.tuples(st.integers(-8, 8), st.integers(1, 4)), min_size=1, max_size=5))
    taken = {(begin * unit, width * unit) for begin, width in spans}
    offsets = {byte for begin, width in taken for byte in range(begin, begin + width)}
    sectors = ideal = 0
    for row, of_row in zip(starts, mask, strict=True):
        bytes_ = {int(start) + offset for start in row[of_row] for offset in offsets}
        sectors += len({byte // 32 for byte in bytes_})
        ideal += -(-len(bytes_) // 32)
    expected = Together(len(starts), sectors, ideal, max(offsets) - min(offsets) + 1) if mask.any() else None
    assert moved(starts, mask, taken) == expected
