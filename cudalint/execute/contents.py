"""Small integers in shared memory: what lanes have stored there and others find behind a barrier.

Kept for each word and row of blocks: the number, who has stored it, and in which interval. A load finds it if that lane
has stored it itself, or in an earlier interval than the lane is in now, or, in the same warp, before a barrier of the
warp; what another lane has stored in the same interval is a race or as good as one, and what is found there is data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cudalint.execute.arithmetic import dtype_of
from cudalint.execute.values import COMPUTED, Aggregate, Data, Value, leaves
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_MOST_BYTES: Final = 1 << 16
"""Of an array whose contents are kept."""
_MOST_WORDS: Final = 1 << 21
"""In all rows."""
_SEVERAL: Final = -1
"""Lanes that have stored a word, all of them the same number."""
_FILLERS: Final = {"values": 0, "known": False, "writer": _SEVERAL, "interval": -1, "of_warp": -1}
"""What is where nothing was stored."""
_INTEGERS: Final = frozenset({"int", "uint", "bool"})


class Contents:
    """The words of one array."""

    def __init__(self, rows: int, words: int, width: int) -> None:
        self.width, self._shift = width, width.bit_length() - 1
        self._mask: Any = None
        self._places_of_mask: tuple[Any, Any] = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.values = np.zeros((rows, words), np.int64)
        self.known = np.zeros((rows, words), bool)
        self.writer = np.full((rows, words), _SEVERAL, np.int32)
        self.interval = np.full((rows, words), -1, np.int32)
        self.of_warp = np.full((rows, words), -1, np.int32)
        """How many barriers of the warp who has stored it had passed."""
        self.touched = 0
        """How many steps the execution had taken when something was stored last."""

    def forget(self) -> None:
        """Nobody knows what was stored meanwhile, nor where."""
        self.known[:] = False

    # --- where ---------------------------------------------------------------------------------------

    def _places(self, m: Machine, offset: Any, bytes_: int) -> tuple[Any, Any, Any] | None:
        """Rows, words and lanes of the active lanes; None where they are not words, or not within."""
        mask = m.mask
        assert mask is not None
        if bytes_ != self.width:
            return None
        rows, lanes = self._active(mask)
        if type(offset) is np.ndarray:
            offset = np.broadcast_to(offset, mask.shape)[rows, lanes].astype(np.int64)
        else:
            offset = np.full(len(rows), offset, np.int64)
        words = offset >> self._shift
        if (offset & (self.width - 1)).any() or int(words.min(initial=0)) < 0:
            return None
        if words.size and int(words.max()) >= self.values.shape[1] and not self._grow(int(words.max()) + 1):
            return None
        return rows, words, lanes

    def _active(self, mask: Any) -> tuple[Any, Any]:
        """Rows and lanes of a mask; one access often comes after another under the same."""
        if mask is not self._mask:
            rows, lanes = np.nonzero(mask)
            self._mask, self._places_of_mask = mask, (rows, lanes)
        return self._places_of_mask

    def _grow(self, words: int) -> bool:
        """Of arrays without an extent nobody knows how large they are."""
        rows, own = self.values.shape
        new = max(words, 2 * own)
        if new * self.width > _MOST_BYTES or new * rows > _MOST_WORDS:
            return False
        added = ((0, 0), (0, new - own))
        for name, filler in _FILLERS.items():
            setattr(self, name, np.pad(getattr(self, name), added, constant_values=filler))
        return True

    def _intervals(self, m: Machine, interval: Any, rows: Any, lanes: Any) -> Any:
        if type(interval) is not np.ndarray:
            return np.int32(interval)
        assert m.mask is not None
        return np.broadcast_to(interval, m.mask.shape)[rows, lanes]

    # --- what ----------------------------------------------------------------------------------------

    def store(self, m: Machine, offset: Any, bytes_: int, value: Value) -> None:
        """What the active lanes store; data, for whatever is no integer."""
        mask = m.mask
        assert mask is not None
        self.touched = m.trace.steps
        if isinstance(offset, Data):
            self.known[mask.any(axis=1)] = False
            return
        places = self._places(m, offset, bytes_)
        if places is None:
            self._forget_bytes(m, offset, bytes_)
            return
        rows, words, lanes = places
        now = self._intervals(m, m.interval, rows, lanes)
        of_warp = self._intervals(m, m.warp_interval, rows, lanes)
        if not _is_integer(value) or m.data:
            self.known[rows, words] = False
            self._sign(rows, words, lanes, now, of_warp)
            return
        new = np.broadcast_to(np.asarray(value), mask.shape)[rows, lanes].astype(np.int64)
        writer = self.writer[rows, words]
        in_interval = (self.interval[rows, words] == now) & (
            (writer // WARP_LANES != lanes // WARP_LANES) | (self.of_warp[rows, words] == of_warp)
        )
        differs = ~self.known[rows, words] | (self.values[rows, words] != new)
        wrong = in_interval & (writer != lanes) & differs
        self.values[rows, words] = new
        self.known[rows, words] = True
        self._sign(rows, words, lanes, now, of_warp)
        # Several lanes that store one word store the same, or nobody knows what.
        again = self.writer[rows, words] != lanes
        wrong |= again & (self.values[rows, words] != new)
        self.writer[rows[again], words[again]] = _SEVERAL
        self.known[rows[wrong], words[wrong]] = False

    def _sign(self, rows: Any, words: Any, lanes: Any, now: Any, of_warp: Any) -> None:
        self.writer[rows, words] = lanes
        self.interval[rows, words] = now
        self.of_warp[rows, words] = of_warp

    def _forget_bytes(self, m: Machine, offset: Any, bytes_: int) -> None:
        """Accesses of other widths, or beyond the array."""
        assert m.mask is not None
        rows, lanes = self._active(m.mask)
        wide = np.broadcast_to(np.asarray(offset, np.int64), m.mask.shape)[rows, lanes]
        first, last = wide // self.width, (wide + bytes_ - 1) // self.width
        for distance in range(int((last - first).max()) + 1 if len(rows) else 0):
            word = np.minimum(first + distance, last)
            within = (word >= 0) & (word < self.values.shape[1])
            self.known[rows[within], word[within]] = False

    def load(self, m: Machine, offset: Any, type_: ir.Type) -> Any:
        """What all of the active lanes find; None if it is not known."""
        if isinstance(offset, Data) or not isinstance(type_, ir.Scalar) or type_.kind not in _INTEGERS:
            return None
        places = self._places(m, offset, type_.bytes)
        if places is None:
            return None
        rows, words, lanes = places
        if not self.known[rows, words].all():
            return None
        writer = self.writer[rows, words]
        is_safe = (self.interval[rows, words] < self._intervals(m, m.interval, rows, lanes)) | (writer == lanes)
        of_warp = self._intervals(m, m.warp_interval, rows, lanes)
        is_safe |= (writer // WARP_LANES == lanes // WARP_LANES) & (self.of_warp[rows, words] < of_warp)
        if not is_safe.all():
            return None
        found = self.values[rows, words]
        if (found == found[0]).all():
            return bool(found[0]) if type_.kind == "bool" else int(found[0])
        assert m.mask is not None
        wide = np.zeros(m.mask.shape, dtype_of(type_))
        wide[rows, lanes] = found.astype(wide.dtype)
        return wide


def _is_integer(value: Value) -> bool:
    return type(value) in (int, bool) or (type(value) is np.ndarray and value.dtype.kind in "iub")


def note_store(m: Machine, to: Any, offset: Any, type_: ir.Type, value: Value) -> None:
    """A store, or what else changes shared memory, of the active lanes."""
    if type(value) is Aggregate:
        for own, cell in value.cells.items():
            leaf = next((leaf for at, leaf in leaves(value.type) if at == own), None)
            if leaf is not None:
                note_store(m, to, _plus(offset, own), leaf, cell)
        return
    if not isinstance(type_, ir.Scalar):
        value = COMPUTED
    contents = to.contents
    if contents is None:
        if not _is_integer(value) or isinstance(offset, Data) or m.data:
            return
        if not isinstance(type_, ir.Scalar) or type_.kind not in _INTEGERS:
            return
        contents = to.contents = _made_for(m, to.type, type_.bytes)
    if contents is None:
        return
    if not _is_integer(value) and not contents.known.any():
        to.contents = None
        m.contents.remove(contents)
    else:
        contents.store(m, offset, type_.bytes, value)


def _made_for(m: Machine, array: ir.Type | None, width: int) -> Contents | None:
    """None for an array that is too large."""
    bytes_ = array.bytes if array is not None else 0
    words = max(1, bytes_ // width)
    if bytes_ > _MOST_BYTES or words * m.lanes.rows > _MOST_WORDS:
        return None
    made = Contents(m.lanes.rows, words, width)
    m.contents.append(made)
    return made


def _plus(offset: Any, added: int) -> Any:
    return offset if isinstance(offset, Data) else offset + added
