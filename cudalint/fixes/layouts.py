"""Other layouts of a shared array, tried on the model over every access of the array.

A layout says where the element with given subscripts lies. The search knows padding, transposition and the XOR
swizzle, of declared matrices and of flat arrays that are used as such. It proposes a layout only if the model
can evaluate every access of the array under every launch, and none of them gets worse: what helps one access
often hurts another (the classic `t[16][17]` leaves a 2-way conflict in both directions of a 16x16 block).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import Protocol, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.facts import Access, AccessResult, ArrayFacts, KernelFacts, Sample, Strides
from cudalint.hardware.banks import BANK_BYTES, BANKS
from cudalint.rulekit import array_key, is_repeat, mean_wavefronts, thread_indices

Indices = tuple[NDArray[np.int64], ...]
Spelled = tuple[str, ...]

_Part = TypeVar("_Part")

MOST_PADDING = 32
"""Elements added to a row at most; with 32 more, every bank has come round."""
_MOST_OUTER_PADDING = 4
_LEAST_PITCH = 8
"""Elements of the shortest row that a flat array is taken to have."""
_SAME = 1e-3
"""Relative difference up to which two mean figures are the same."""
_WORTH_IT = 0.8
"""A layout has to bring all accesses together under this share of the wavefronts."""
_MOST_GROWTH = 1.5
"""By what factor an array may grow; shared memory is too scarce for more."""
EXPLAINED = "`cudalint explain swizzle`"
"""Where the guide says what a swizzle is, which fewer have heard of than of padding."""


class Layout(Protocol):
    """Where the elements of an array lie."""

    @property
    def elements(self) -> int:
        """How many elements the array has room for."""

    @property
    def is_larger(self) -> bool:
        """Whether it takes more room than the array as it is."""

    def keeps_distinct(self, uses: Sequence[Use], declaration: ArrayFacts) -> bool:
        """Whether what it makes of the subscripts of these uses is right for an array of these extents, which may be
        others than those it was found for."""

    def offsets(self, indices: Indices) -> NDArray[np.int64]:
        """The number of each element from the start of the array."""

    def advice(self, name: str) -> str:
        """What to change in the source, as an imperative."""

    def spelled(self, subscripts: Spelled) -> Spelled:
        """The subscripts of an access as the source has to spell them, which may be those that stand there."""


class Padded(Struct, frozen=True):
    """The declared array with some extents enlarged; no padding at all is the layout as it is."""

    extents: tuple[int, ...]
    padding: tuple[int, ...]

    @property
    def enlarged(self) -> tuple[int, ...]:
        return tuple(extent + more for extent, more in zip(self.extents, self.padding, strict=True))

    @property
    def elements(self) -> int:
        return prod(self.enlarged)

    @property
    def is_larger(self) -> bool:
        return any(self.padding)

    def keeps_distinct(self, uses: Sequence[Use], declaration: ArrayFacts) -> bool:
        return _within(uses, declaration.extents)

    def offsets(self, indices: Indices) -> NDArray[np.int64]:
        return _row_major(self.enlarged, indices)

    def advice(self, name: str) -> str:
        spelled = "".join(f"[{extent}]" for extent in self.enlarged)
        if self.padding[-1] and not any(self.padding[:-1]):
            return f"pad the rows to {self.enlarged[-1]} elements, `{name}{spelled}`"
        return f"declare it as `{name}{spelled}`"

    def spelled(self, subscripts: Spelled) -> Spelled:
        return subscripts


class _InPlace(Struct, frozen=True):
    """A layout that takes as much room as extents say, and no more."""

    extents: tuple[int, ...]

    @property
    def elements(self) -> int:
        return prod(self.extents)

    @property
    def is_larger(self) -> bool:
        return False


class Transposed(_InPlace, frozen=True):
    """The last two dimensions exchanged, in the declaration and in every access, perhaps with padded rows."""

    def keeps_distinct(self, uses: Sequence[Use], declaration: ArrayFacts) -> bool:
        return _within(uses, declaration.extents)

    def offsets(self, indices: Indices) -> NDArray[np.int64]:
        return _row_major(_last_two_exchanged(self.extents), _last_two_exchanged(indices))

    def advice(self, name: str) -> str:
        spelled = "".join(f"[{extent}]" for extent in _last_two_exchanged(self.extents))
        return f"declare it transposed, `{name}{spelled}`, and exchange the last two subscripts of every access"

    def spelled(self, subscripts: Spelled) -> Spelled:
        return _last_two_exchanged(subscripts)


class Swizzled(_InPlace, frozen=True):
    """Column `c` of row `r` stored in column `c ^ ((r >> shift) % columns)`; takes no more room."""

    shift: int

    def keeps_distinct(self, uses: Sequence[Use], declaration: ArrayFacts) -> bool:
        return declaration.extents == self.extents and _within(uses, declaration.extents)

    def offsets(self, indices: Indices) -> NDArray[np.int64]:
        row, column = indices[-2:]
        swizzled = column ^ ((row >> self.shift) & (self.extents[-1] - 1))
        return _row_major(self.extents, (*indices[:-1], swizzled))

    def advice(self, name: str) -> str:
        row = f"(row >> {self.shift})" if self.shift else "row"
        if self.extents[-2] >> self.shift > self.extents[-1]:
            row = f"({row} % {self.extents[-1]})"
        return f"swizzle the columns, column `c` as `c ^ {row}`, in every access of `{name}` ({EXPLAINED})"

    def spelled(self, subscripts: Spelled) -> Spelled:
        *outer, row, column = subscripts
        row_bits = f"({_factor(row)} >> {self.shift})" if self.shift else _factor(row)
        if self.extents[-2] >> self.shift > self.extents[-1]:
            row_bits += f" % {self.extents[-1]}"
        return (*outer, row, f"{_factor(column)} ^ {row_bits}")


class Flat(Struct, frozen=True):
    """A flat array that the source uses as a matrix with rows of `pitch` elements, in another layout of the matrix."""

    pitch: int
    matrix: Padded | Swizzled

    @property
    def elements(self) -> int:
        return self.matrix.elements

    @property
    def is_larger(self) -> bool:
        return self.matrix.is_larger

    def keeps_distinct(self, uses: Sequence[Use], declaration: ArrayFacts) -> bool:
        whole_rows = isinstance(self.matrix, Padded) or declaration.extents[0] % self.pitch == 0
        return whole_rows and _within(uses, declaration.extents)

    def offsets(self, indices: Indices) -> NDArray[np.int64]:
        (index,) = indices
        return self.matrix.offsets((index // self.pitch, index % self.pitch))

    def advice(self, name: str) -> str:
        if isinstance(self.matrix, Swizzled):
            return f"{self.matrix.advice(name)} (rows of {self.pitch} elements)"
        [index] = self.spelled(("i",))
        return f"pad the rows of {self.pitch} elements to {self.matrix.enlarged[-1]}, `{name}[{index}]` for `{name}[i]`"

    def spelled(self, subscripts: Spelled) -> Spelled:
        (index,) = map(_factor, subscripts)
        if isinstance(self.matrix, Swizzled):
            row = f"{index} / {self.pitch}"
            row = f"({row} >> {self.matrix.shift})" if self.matrix.shift else row
            return (f"{index} ^ {row} % {self.pitch}",)
        more = self.matrix.padding[-1]
        return (f"{index} + {index} / {self.pitch}" + (f" * {more}" if more > 1 else ""),)


class Skewed(Struct, frozen=True):
    """A flat array with one unused element after every `every` elements, whatever its indices mean."""

    size: int
    every: int

    @property
    def elements(self) -> int:
        return self.size + max(self.size - 1, 0) // self.every

    @property
    def is_larger(self) -> bool:
        return True

    def keeps_distinct(self, uses: Sequence[Use], declaration: ArrayFacts) -> bool:
        return _within(uses, declaration.extents)

    def offsets(self, indices: Indices) -> NDArray[np.int64]:
        (index,) = indices
        return index + index // self.every

    def advice(self, name: str) -> str:
        return f"skew the index in every access, `{name}[i + i / {self.every}]` for `{name}[i]`"

    def spelled(self, subscripts: Spelled) -> Spelled:
        (index,) = map(_factor, subscripts)
        return (f"{index} + {index} / {self.every}",)


def _factor(text: str) -> str:
    """As an operand of any operator."""
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


def _row_major(extents: Sequence[int], indices: Indices) -> NDArray[np.int64]:
    offset = indices[0]
    for extent, index in zip(extents[1:], indices[1:], strict=True):
        offset = offset * extent + index
    return offset


def _last_two_exchanged(parts: tuple[_Part, ...]) -> tuple[_Part, ...]:
    return (*parts[:-2], parts[-1], parts[-2])


# --- the accesses of an array, as a layout sees them -------------------------------------------------------


class Use(Struct, frozen=True, eq=False):
    """One access of the array under one launch."""

    access: Access
    result: AccessResult
    sample: Sample
    block: tuple[int, int, int]
    wavefronts: float
    """Per request, as the facts have it."""
    indices: Indices
    """The subscripts of the first element that each lane touches."""
    elements: int
    """How many neighbouring elements that is; more than one where the compiler merges scalar accesses."""

    @property
    def weight(self) -> float:
        return self.result.requests or 1.0


def uses_of(kernel: KernelFacts, array: Access) -> list[Use] | None:
    """All accesses of the array of `array` under all launches, or None if one of them can't be followed."""
    declaration = array.declaration
    uses: list[Use] = []
    for access in kernel.accesses:
        if access.space not in ("shared", "generic") or array_key(access) != array_key(array):
            continue
        for result in access.results:
            if result.status == "unreached" or is_repeat(result):
                continue
            block = kernel.launches[result.launch].block
            use = _use(access, result, block, declaration) if declaration is not None else None
            if use is None:
                return None
            uses.append(use)
    return uses


def _use(access: Access, result: AccessResult, block: tuple[int, int, int], declaration: ArrayFacts) -> Use | None:
    sample, wavefronts = result.sample, result.wavefronts_per_request
    if result.status not in ("exact", "assumed") or sample is None or wavefronts is None:
        return None
    if access.bytes not in (1, 2, 4, 8, 16) or not (declaration.extents and declaration.element_bytes):
        return None
    # The sample may leave out executions that the figure covers; then it proves nothing about them.
    if not _about_equal(mean_wavefronts(sample.addresses, sample, access.bytes, access.operation), wavefronts):
        return None
    elements = max(1, access.bytes // declaration.element_bytes)
    indices = _first_elements(sample, declaration, elements)
    return Use(access, result, sample, block, wavefronts, indices, elements) if indices is not None else None


def _first_elements(sample: Sample, declaration: ArrayFacts, elements: int) -> Indices | None:
    """The subscripts of where each lane's bytes begin, None if subscripts and addresses don't fit together.

    A merged access begins before the element that the source names, at a multiple of its width.
    """
    if len(sample.subscripts) != len(declaration.extents):
        return None
    named = _row_major(declaration.extents, sample.subscripts) * declaration.element_bytes + sample.inner_offset
    before = named - sample.addresses
    further = before // declaration.element_bytes
    fits = (before % declaration.element_bytes == 0) & (further >= 0) & (further < elements)
    if np.any(~fits & sample.mask):
        return None
    return (*sample.subscripts[:-1], sample.subscripts[-1] - further)


def _about_equal(a: float, b: float) -> bool:
    return abs(a - b) <= _SAME * max(a, b)


# --- the search --------------------------------------------------------------------------------------------


class Proposal(Struct, frozen=True, eq=False):
    """A layout that the model proves better, with the wavefronts per request of every access before and after."""

    layout: Layout
    uses: tuple[Use, ...]
    after: tuple[float, ...]

    def figures_of(self, access: Access, result: AccessResult) -> tuple[float, float] | None:
        """Wavefronts per request of one access under one launch, before and after: the mean over all instructions that
        unrolling makes of it."""
        pairs = zip(self.uses, self.after, strict=True)
        own = [(use, after) for use, after in pairs if use.access is access and use.result.launch == result.launch]
        requests = sum(use.weight for use, _ in own)
        if not requests:
            return None
        before = sum(use.weight * use.wavefronts for use, _ in own) / requests
        return before, sum(use.weight * after for use, after in own) / requests

    @property
    def totals(self) -> tuple[float, float]:
        """The sum over all accesses of their wavefronts per request, before and after; launches count once each."""
        launches = len({use.result.launch for use in self.uses})
        return sum(use.wavefronts for use in self.uses) / launches, sum(self.after) / launches


def propose_layout(uses: Sequence[Use], declaration: ArrayFacts, room: int) -> Proposal | None:
    """The cheapest of the layouts with the fewest wavefronts over all uses, if that is worth a change.

    `room` is how many bytes of shared memory the array may take at most.
    """
    best: tuple[float, Layout, tuple[float, ...]] | None = None
    now = sum(use.weight * use.wavefronts for use in uses)
    least = sum(use.weight * (use.result.ideal_wavefronts or 1.0) for use in uses)
    for layout in _candidates(uses, declaration):
        if layout.elements * declaration.element_bytes > room:
            continue
        after = _wavefronts_under(layout, uses, declaration.element_bytes)
        if after is None:
            continue
        total = sum(use.weight * figure for use, figure in zip(uses, after, strict=True))
        if total < (best[0] * (1 - _SAME) if best else now * _WORTH_IT):
            best = total, layout, after
        if best and best[0] <= least * (1 + _SAME):
            break
    return Proposal(best[1], tuple(uses), best[2]) if best else None


def _wavefronts_under(layout: Layout, uses: Sequence[Use], element_bytes: int) -> tuple[float, ...] | None:
    """The wavefronts of every use, or None if one gets worse or is no longer aligned."""
    figures: list[float] = []
    for use in uses:
        figure = _wavefronts_of(layout, use, element_bytes)
        if figure is None or figure > use.wavefronts * (1 + _SAME):
            return None
        figures.append(figure)
    return tuple(figures)


def _wavefronts_of(layout: Layout, use: Use, element_bytes: int) -> float | None:
    """The wavefronts of what is now one request, None if its address would no longer be aligned."""
    access, sample = use.access, use.sample
    first = layout.offsets(use.indices) * element_bytes + sample.inner_offset
    aligned = not np.any((first % access.bytes != 0) & sample.mask)
    others = [_next_columns(layout, use.indices, i) * element_bytes for i in range(1, use.elements)]
    if aligned and all(np.all((o == first + i * element_bytes) | ~sample.mask) for i, o in enumerate(others, 1)):
        return mean_wavefronts(first, sample, access.bytes, access.operation)
    if not others:
        return None
    # The compiler had merged neighbouring elements into one wide access, and no longer can.
    return sum(mean_wavefronts(each, sample, element_bytes, access.operation) for each in (first, *others))


def _next_columns(layout: Layout, indices: Indices, further: int) -> NDArray[np.int64]:
    return layout.offsets((*indices[:-1], indices[-1] + further))


def _candidates(uses: Sequence[Use], declaration: ArrayFacts) -> Iterator[Layout]:
    """Layouts in the order of what they cost: one changed extent first, changes of every access last."""
    extents = declaration.extents
    if len(extents) >= 2 and all(extents) and _within(uses, extents):
        yield from _paddings(extents)
        yield Transposed(extents)
        yield from _swizzles(extents)
    elif len(extents) == 1:
        for pitch in _pitches(uses, declaration.element_bytes):
            # Of an array of unknown size, the number of rows is not known either; it moves nothing.
            matrix = (max(1, -(-extents[0] // pitch)), pitch)
            yield from (Flat(pitch, padded) for padded in _paddings(matrix))
            yield from (Flat(pitch, swizzled) for swizzled in _swizzles(matrix))
        yield Skewed(extents[0], max(1, BANKS * BANK_BYTES // declaration.element_bytes))


def _paddings(extents: tuple[int, ...]) -> Iterator[Padded]:
    none = (0,) * len(extents)
    for more in range(1, MOST_PADDING + 1):
        yield from _if_affordable(Padded(extents, (*none[:-1], more)))
    # The first extent only says how many there are; enlarging it moves nothing.
    for dimension in range(len(extents) - 2, 0, -1):
        for outer in range(1, _MOST_OUTER_PADDING + 1):
            for inner in range(_MOST_OUTER_PADDING + 1):
                changed = list(none)
                changed[dimension], changed[-1] = outer, inner
                yield from _if_affordable(Padded(extents, tuple(changed)))


def _if_affordable(layout: Padded) -> Iterator[Padded]:
    if layout.elements <= _MOST_GROWTH * prod(layout.extents):
        yield layout


def _swizzles(extents: tuple[int, ...]) -> Iterator[Swizzled]:
    columns = extents[-1]
    # Only then does the exclusive or of two columns stay in the row.
    if columns > 1 and columns & (columns - 1) == 0:
        yield from (Swizzled(extents, shift) for shift in range(3))


def _within(uses: Sequence[Use], extents: tuple[int, ...]) -> bool:
    """Whether every subscript stays in its dimension; where one runs on into the next row, rows can't be moved."""
    for use in uses:
        *outer, column = use.indices
        for index, extent in zip((*outer, column, column + use.elements - 1), (*extents, extents[-1]), strict=True):
            if np.any(((index < 0) | (index >= extent)) & use.sample.mask):
                return False
    return True


# --- flat arrays that are used as matrices -----------------------------------------------------------------


def _pitches(uses: Sequence[Use], element_bytes: int) -> list[int]:
    """Row lengths that the accesses agree on, shortest first."""
    steps = {abs(step) // element_bytes for use in uses for step in _steps(use.result.strides)}
    worst = BANKS * BANK_BYTES
    return [
        pitch
        for pitch in sorted(steps)
        if _LEAST_PITCH <= pitch <= worst and all(_has_rows(use, pitch) for use in uses)
    ]


def _steps(strides: Strides | None) -> tuple[int, ...]:
    return tuple(step for step in (strides.x, strides.y, strides.z) if step) if strides else ()


def _has_rows(use: Use, pitch: int) -> bool:
    """Whether the index is `row * pitch + column` with a column under `pitch`, whichever thread indices are in each.

    Then, and only then, the source spells a row and a column, and the pitch between them can be changed there.
    """
    if use.result.strides is None:
        return False
    (index,), sample = use.indices, use.sample
    element = max(use.access.declaration.element_bytes if use.access.declaration else use.access.bytes, 1)
    rows = index // pitch
    threads = thread_indices(sample, use.block)
    for extent, step, thread in zip(use.block, _as_tuple(use.result.strides), threads, strict=True):
        if extent == 1:
            continue
        if step is None:
            return False
        if step % (pitch * element) == 0:
            rows = rows - step // (pitch * element) * thread
    first = rows[np.arange(len(rows)), sample.mask.argmax(axis=1)]
    return bool(np.all((rows == first[:, None]) | ~sample.mask))


def _as_tuple(strides: Strides) -> tuple[int | None, int | None, int | None]:
    return strides.x, strides.y, strides.z
