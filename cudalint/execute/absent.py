"""What lanes get of lanes that don't take part in an exchange: it is undefined (CUDA C++ Programming Guide, "Warp
Shuffle Functions"), and so is what they compute of it, until it is stored or thrown away."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cudalint.execute.values import Data, InPart, Value

if TYPE_CHECKING:
    from cudalint.execute.lanes import Mask


class Shuffle(NamedTuple):
    """One in which lanes read from lanes that are not there."""

    node: Any
    stack: Any
    readers: Mask
    """[R, L] those that do."""
    sources: Any
    """[1 or R, 1 or warps, 32] the lane of its warp that each lane reads from."""


class Absent(Data):
    """Data that is undefined in some lanes."""

    __slots__ = ("inner", "lanes", "shuffle")

    def __init__(self, inner: Data, lanes: Mask, shuffle: Shuffle) -> None:
        super().__init__(inner.kind, inner.reason, inner.origin)
        self.inner, self.lanes, self.shuffle = inner, lanes, shuffle

    @property
    def derived(self) -> Data:
        return Absent(self.inner.derived, self.lanes, self.shuffle)


class Undefined(NamedTuple):
    """The lanes in which a value is undefined, and since when."""

    lanes: Mask
    shuffle: Shuffle


def undefined_in(value: Value) -> Undefined | None:
    if type(value) is Absent:
        return Undefined(value.lanes, value.shuffle)
    if type(value) is not InPart:
        return None
    new, old = undefined_in(value.new), undefined_in(value.old)
    if new is None:
        return None if old is None else Undefined(old.lanes & ~value.mask, old.shuffle)
    inside = new.lanes & value.mask
    return Undefined(inside if old is None else inside | (old.lanes & ~value.mask), new.shuffle)


def defined(value: Value) -> Value:
    """A value as if all lanes had taken part."""
    return value.inner if type(value) is Absent else value


def undefined_as(found: Value, values: Iterable[Value]) -> Value:
    """What is computed of values, which is undefined where one of them is; a plain number that comes of it is none of
    them."""
    if not isinstance(found, Data):
        return found
    parts = [part for value in values if (part := undefined_in(value)) is not None and part.lanes.any()]
    if not parts:
        return found
    lanes = parts[0].lanes
    for part in parts[1:]:
        lanes = lanes | part.lanes
    return Absent(found, lanes, parts[0].shuffle)


def after_shuffle(
    found: Value, value: Value, node: Any, stack: Any, active: Any, sources: Any, shape: tuple[int, int]
) -> Value:
    """What a shuffle gives: undefined in lanes that read from one that is not active, or that has what is undefined.
    `active` are the lanes that take part, [R, warps, 32]."""
    if not isinstance(found, Data):
        return found
    before = undefined_in(value)
    if before is None and (active.all(axis=2) | ~active.any(axis=2)).all():
        return found
    wide = np.broadcast_to(sources, active.shape)
    readers = active & ~np.take_along_axis(active, wide, axis=2)
    lanes = readers
    if before is not None:
        lanes = lanes | (active & np.take_along_axis(before.lanes.reshape(active.shape), wide, axis=2))
    if not lanes.any():
        return found
    shuffle = Shuffle(node, stack, readers.reshape(shape), sources)
    if before is not None and not readers.any():
        shuffle = before.shuffle
    return Absent(found, lanes.reshape(shape), shuffle)
