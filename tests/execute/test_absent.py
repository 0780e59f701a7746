"""What shuffles give of lanes that take no part, against the definition: lane by lane."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cudalint.execute.absent import Absent, Shuffle, after_shuffle, defined, undefined_as, undefined_in
from cudalint.execute.library.warps import lanes_of
from cudalint.execute.values import COMPUTED, InPart

_SHAPE = (1, 32)
_MASKS = st.lists(st.booleans(), min_size=32, max_size=32).map(lambda bits: np.array([bits]))
_NODE: Any = SimpleNamespace()


def _undefined(bits: Any) -> Absent:
    return Absent(COMPUTED, bits, Shuffle(_NODE, (), bits, np.zeros((1, 1, 32), np.int64)))


@given(
    active=_MASKS, before=_MASKS, mode=st.sampled_from(["idx", "up", "down", "xor"]), distance=st.integers(0, 31),
    width=st.sampled_from([8, 16, 32]),
)  # fmt: skip
def test_a_lane_has_what_is_undefined_from_who_is_away_or_has_such(
    active: Any, before: Any, mode: str, distance: int, width: int
) -> None:
    sources = lanes_of(mode, distance, width)
    value = _undefined(before) if before.any() else COMPUTED
    found = after_shuffle(
        COMPUTED, value, _NODE, (), active.reshape(1, 1, 32), sources[None, None], _SHAPE
    )  # fmt: skip
    pairs = zip(active[0], sources, strict=True)
    wanted = [bool(there and (not active[0, of] or before[0, of])) for there, of in pairs]
    part = undefined_in(found)
    assert (part.lanes[0].tolist() if part is not None else [False] * 32) == wanted


@given(one=_MASKS, other=_MASKS)
def test_what_is_computed_is_undefined_where_an_operand_is(one: Any, other: Any) -> None:
    values = [_undefined(one), _undefined(other)]
    part = undefined_in(undefined_as(COMPUTED, values))
    assert (part.lanes if part is not None else np.zeros(_SHAPE, bool)).tolist() == (one | other).tolist()
    assert undefined_as(0, values) == 0


@given(mask=_MASKS, new=_MASKS, old=_MASKS)
def test_what_part_of_the_lanes_stored_hides_what_they_had(mask: Any, new: Any, old: Any) -> None:
    part = undefined_in(InPart(mask, _undefined(new), _undefined(old)))
    assert part is not None
    assert part.lanes.tolist() == np.where(mask, new, old).tolist()


def test_a_value_is_defined_again_where_all_took_part() -> None:
    assert defined(_undefined(np.ones(_SHAPE, bool))) is COMPUTED
    assert undefined_in(COMPUTED) is None
